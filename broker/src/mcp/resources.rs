//! Files of branches as resources: `broker://branch/ID/path`.

use rmcp::{
    ErrorData,
    model::{ListResourceTemplatesResult, ReadResourceResult, ResourceContents, ResourceTemplate},
};
use serde_json::json;

use super::Link;

const PREFIX: &str = "broker://branch/";

pub(super) fn templates() -> ListResourceTemplatesResult {
    let file = ResourceTemplate::new(format!("{PREFIX}{{branch}}/{{+path}}"), "file of a branch")
        .with_description("A file as a branch has it");
    ListResourceTemplatesResult::with_all_items(vec![file])
}

pub(super) async fn read(link: &Link, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let not_found =
        |why: &str| ErrorData::resource_not_found(format!("`{uri}`: {why}"), Some(json!({ "uri": uri })));
    let parts = uri.strip_prefix(PREFIX).and_then(|it| it.split_once('/'));
    let (branch, path) = parts.ok_or_else(|| not_found("resources are broker://branch/ID/path"))?;
    let path = percent_encoding::percent_decode_str(path).decode_utf8();
    let path = path.map_err(|_| not_found("its path is not UTF-8"))?;
    let bytes = link.read(branch, &path).await.map_err(|status| not_found(status.message()))?;
    let text = String::from_utf8(bytes).map_err(|_| not_found("the file is no text"))?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri)]))
}
