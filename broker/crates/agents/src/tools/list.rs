//! The tool that lists a folder.

use overlay::FileKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workspaces::{DaemonError, PageRequest, Side};

use crate::{
    context::{CallView, Context, path},
    limits,
    reply::{Answer, ToolError},
};

pub(super) const LIST_DIR: &str = "List a directory.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListDir {
    relative_workspace_path: Option<String>,
    branch: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Directory {
    branch: Option<String>,
    path: String,
    /// Directories end with `/`.
    entries: Vec<String>,
    is_all: bool,
}

pub(super) async fn list_dir(context: Context, request: ListDir) -> Result<Directory, ToolError> {
    let CallView { target, branch, .. } = context.seen(request.branch.as_deref()).await?;
    let path =
        path("relative_workspace_path", request.relative_workspace_path.as_deref().unwrap_or_default())?;
    let page = PageRequest { size: limits::ENTRIES, token: String::new() };
    let listed = context.daemon.list_directory(&target, path.as_str(), &page, Side::Now).await;
    let listed = listed.map_err(|error| match error {
        DaemonError::File { source, .. } if source.kind() == std::io::ErrorKind::NotADirectory => {
            ToolError::new(format!("`{path}` is a file")).hint("`read_file` shows it")
        }
        error => error.into(),
    })?;
    let entry = |(entry, target): &(overlay::Entry, Option<String>)| match (entry.kind, target) {
        (FileKind::Directory, _) => format!("{}/", entry.name),
        (_, Some(target)) => format!("{} -> {target}", entry.name),
        (_, None) => entry.name.to_string(),
    };
    Ok(Directory {
        branch,
        path: path.to_string(),
        entries: listed.entries.items.iter().map(entry).collect(),
        is_all: listed.entries.next_token.is_empty() && listed.not_utf8 == 0,
    })
}

impl Answer for Directory {
    fn text(&self) -> String {
        let rest = if self.is_all { "" } else { "\n… and more, or names that are not UTF-8" };
        match self.entries.is_empty() {
            true => "empty".to_owned(),
            false => format!("{}{rest}", self.entries.join("\n")),
        }
    }
}
