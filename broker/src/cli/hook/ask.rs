//! Asks the daemon what a change brings.

use std::time::Duration;

use broker_proto::v1 as pb;
use overlay::WorkspacePath;
use serde_json::{Value, json};
use tonic::{Code, Request, Status};

use super::change::Change;
use crate::{CliError, client::Opened};

/// What the daemon found, with words for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Findings {
    pub(super) text: String,
    /// Nothing was found, and all was checked.
    pub(super) is_clean: bool,
    pub(super) has_errors: bool,
    /// Whether only what the change brings is in it.
    pub(super) is_new_only: bool,
}

/// The name of the session of calls that are about no branch.
const SESSION: &str = "hook";

pub(super) fn ask(change: &Change, opened: &Opened, limit: Duration) -> Result<Findings, CliError> {
    match change {
        Change::Between { before, edits } => between(before.clone(), edits.clone(), opened, limit),
        Change::Now(paths) => now(paths, opened, limit),
    }
}

fn between(
    before: Vec<pb::PreviewEdit>,
    edits: Vec<pb::PreviewEdit>,
    opened: &Opened,
    limit: Duration,
) -> Result<Findings, CliError> {
    let request = pb::PreviewEditsRequest { workspace_id: opened.id.clone(), before, edits };
    let answer = opened.client.call(opened.client.tools().preview_edits(limited(request, limit)));
    let answer = answer.map_err(|status| error(status, limit))?;
    Ok(Findings::of(answer.text, &answer.structured, true))
}

fn now(paths: &[WorkspacePath], opened: &Opened, limit: Duration) -> Result<Findings, CliError> {
    let paths: Vec<_> = paths.iter().map(WorkspacePath::as_str).collect();
    let request = pb::CallToolRequest {
        workspace_id: opened.id.clone(),
        session: SESSION.to_owned(),
        tool: "check".to_owned(),
        arguments: json!({ "paths": paths, "all": true }).to_string(),
    };
    let answer = opened.client.call(opened.client.tools().call_tool(limited(request, limit)));
    let answer = answer.map_err(|status| error(status, limit))?;
    if answer.is_error {
        return Err(CliError::files(answer.text));
    }
    Ok(Findings::of(answer.text, &answer.structured, false))
}

fn limited<T>(request: T, limit: Duration) -> Request<T> {
    let mut request = Request::new(request);
    request.set_timeout(limit);
    request
}

fn error(status: Status, limit: Duration) -> CliError {
    match status.code() {
        Code::DeadlineExceeded | Code::Cancelled => {
            CliError::files(format!("the linters have not answered within {} s", limit.as_secs()))
                .hint("give them longer with `--timeout`")
        }
        _ => status.into(),
    }
}

impl Findings {
    fn of(text: String, structured: &str, is_new_only: bool) -> Self {
        let answer: Value = serde_json::from_str(structured).unwrap_or_default();
        let is_error = |it: &Value| it["severity"] == "error";
        let has_errors = answer["findings"].as_array().is_some_and(|it| it.iter().any(is_error));
        Self { text, is_clean: answer["ok"] == true, has_errors, is_new_only }
    }
}
