//! Asks the daemon what a change brings.

use std::time::{Duration, Instant};

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
    /// Nothing was found, whether all was checked or not.
    pub(super) is_empty: bool,
    pub(super) has_errors: bool,
    /// Whether only what the change brings is in it.
    pub(super) is_new_only: bool,
}

/// The name of the session of calls that are about no branch.
const SESSION: &str = "hook";

/// `None` if the edit cannot be made, as its agent will find out by itself.
pub(super) fn ask(change: &Change, opened: &Opened, deadline: Instant) -> Result<Option<Findings>, CliError> {
    let (before, edits, paths) = match change {
        Change::Now(paths) => return now(paths, opened, deadline).map(Some),
        Change::Between { before, edits, paths } => (before.clone(), edits.clone(), paths),
    };
    let is_ahead = before.is_empty();
    let request = pb::PreviewEditsRequest { workspace_id: opened.id.clone(), before, edits };
    let answer = opened.client.call(opened.client.tools().preview_edits(limited(request, deadline)));
    match answer {
        Ok(answer) => Ok(Some(Findings::of(answer.text, &answer.structured, true))),
        Err(status) if status.code() == Code::InvalidArgument && is_ahead => Ok(None),
        // What was edited has changed since, as a formatter does it.
        Err(status) if status.code() == Code::InvalidArgument => now(paths, opened, deadline).map(Some),
        Err(status) => Err(error(status)),
    }
}

fn now(paths: &[WorkspacePath], opened: &Opened, deadline: Instant) -> Result<Findings, CliError> {
    let paths: Vec<_> = paths.iter().map(WorkspacePath::as_str).collect();
    let request = pb::CallToolRequest {
        workspace_id: opened.id.clone(),
        session: SESSION.to_owned(),
        tool: "check".to_owned(),
        arguments: json!({ "paths": paths, "all": true }).to_string(),
    };
    let answer = opened.client.call(opened.client.tools().call_tool(limited(request, deadline)));
    let answer = answer.map_err(error)?;
    if answer.is_error {
        return Err(CliError::files(answer.text));
    }
    Ok(Findings::of(answer.text, &answer.structured, false))
}

fn limited<T>(request: T, deadline: Instant) -> Request<T> {
    let mut request = Request::new(request);
    request.set_timeout(deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)));
    request
}

fn error(status: Status) -> CliError {
    match status.code() {
        Code::DeadlineExceeded | Code::Cancelled => {
            CliError::files("the linters have not answered in time").hint("give them longer with `--timeout`")
        }
        _ => status.into(),
    }
}

impl Findings {
    fn of(text: String, structured: &str, is_new_only: bool) -> Self {
        let answer: Value = serde_json::from_str(structured).unwrap_or_default();
        let is_error = |it: &Value| it["severity"] == "error";
        let has_errors = answer["findings"].as_array().is_some_and(|it| it.iter().any(is_error));
        Self { text, is_clean: answer["ok"] == true, is_empty: answer["total"] == 0, has_errors, is_new_only }
    }
}
