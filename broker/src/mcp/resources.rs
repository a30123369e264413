//! Files of branches as resources: `broker://branch/NAME/path`, with a `/` in a name as `%2F`. They are what `read_file` shows.

use percent_encoding::percent_decode_str;
use rmcp::{
    ErrorData,
    model::{ListResourceTemplatesResult, ReadResourceResult, ResourceContents, ResourceTemplate},
};
use serde_json::{Value, json};

use super::Handler;

const PREFIX: &str = "broker://branch/";

pub(super) fn templates() -> ListResourceTemplatesResult {
    let file = ResourceTemplate::new(format!("{PREFIX}{{branch}}/{{+path}}"), "file of a branch")
        .with_description("A file as a branch has it");
    ListResourceTemplatesResult::with_all_items(vec![file])
}

pub(super) async fn read(handler: &Handler, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let not_found =
        |why: &str| ErrorData::resource_not_found(format!("`{uri}`: {why}"), Some(json!({ "uri": uri })));
    let parts = uri.strip_prefix(PREFIX).and_then(|it| it.split_once('/'));
    let (branch, path) = parts.ok_or_else(|| not_found("resources are broker://branch/NAME/path"))?;
    let decoded = |it| {
        let text = percent_decode_str(it).decode_utf8();
        text.map_err(|_| not_found("it is not UTF-8"))
    };
    let whole = json!({
        "branch": decoded(branch)?, "target_file": decoded(path)?, "should_read_entire_file": true,
    });
    let call = handler.call("read_file", whole.as_object().cloned());
    let answer = handler.daemon().call_tool(call).await;
    let answer = answer.map_err(|it| ErrorData::internal_error(it.sentence, None))?;
    if answer.is_error {
        return Err(not_found(answer.text.trim_start_matches("error: ")));
    }
    let lines = Value::Object(answer.structured);
    let text = lines["text"].as_str().unwrap_or_default();
    if lines["last_line"] != lines["total_lines"] {
        let why = "it is longer than one answer; the tool `read_file` reads it in parts";
        return Err(ErrorData::invalid_params(format!("`{uri}`: {why}"), None));
    }
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri)]))
}
