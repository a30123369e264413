//! Asks the daemon what a change brings.

use std::time::{Duration, Instant};

use agents::{Call, Preview, Reply};
use overlay::WorkspacePath;
use serde_json::{Value, json};
use workspaces::{ErrorKind, RequestError};

use super::change::Change;
use crate::{CliError, client::Opened};

/// Findings of the daemon, as text for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Findings {
    pub(super) text: String,
    /// Whether nothing was found, and all was checked.
    pub(super) is_clean: bool,
    /// Whether nothing was found, even if not all was checked.
    pub(super) is_empty: bool,
    pub(super) has_errors: bool,
    /// Whether the findings are only the ones that the change brings.
    pub(super) is_new_only: bool,
}

/// The name of the session of calls that are about no branch.
const SESSION: &str = "hook";

/// `None` if the edit cannot be made, as its agent will find out by itself.
pub(super) fn ask(change: &Change, opened: &Opened, until: Instant) -> Result<Option<Findings>, CliError> {
    let (before, edits, paths) = match change {
        Change::Now(paths) => return now(paths, opened, until).map(Some),
        Change::Between { before, edits, paths } => (before.clone(), edits.clone(), paths),
    };
    let is_ahead = before.is_empty();
    let deadline = Some(left(until));
    let preview = Preview { workspace: opened.id.clone(), before, edits, deadline };
    let answer = opened.client.wait(opened.client.tools().preview_edits(preview));
    match answer {
        Ok(answer) => Ok(Some(Findings::of(answer, true))),
        Err(error) if cannot_be_made(&error) && is_ahead => Ok(None),
        // The edited file has changed since, for example by a formatter.
        Err(error) if cannot_be_made(&error) => now(paths, opened, until).map(Some),
        Err(error) => Err(late(error)),
    }
}

/// Whether the error is an edit that does not fit the files, as against a daemon that cannot take it.
fn cannot_be_made(error: &RequestError) -> bool {
    error.reason == "INVALID_FIELD"
}

fn now(paths: &[WorkspacePath], opened: &Opened, deadline: Instant) -> Result<Findings, CliError> {
    let paths: Vec<_> = paths.iter().map(WorkspacePath::as_str).collect();
    let arguments = json!({ "paths": paths, "all": true });
    let call = Call {
        workspace: opened.id.clone(),
        session: SESSION.to_owned(),
        branch: None,
        tool: "check".to_owned(),
        arguments: arguments.as_object().cloned().unwrap_or_default(),
        deadline: Some(left(deadline)),
        traceparent: None,
    };
    let answer = opened.client.wait(opened.client.tools().call_tool(call)).map_err(late)?;
    if answer.is_error {
        return Err(CliError::files(answer.text));
    }
    Ok(Findings::of(answer, false))
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

fn late(error: RequestError) -> CliError {
    match error.kind {
        ErrorKind::DeadlineExceeded => {
            CliError::files("the linters have not answered in time").hint("give them longer with `--timeout`")
        }
        _ => error.into(),
    }
}

impl Findings {
    fn of(reply: Reply, is_new_only: bool) -> Self {
        let (text, answer) = (reply.text, Value::Object(reply.structured));
        let is_error = |it: &Value| it["severity"] == "error";
        let has_errors = answer["findings"].as_array().is_some_and(|it| it.iter().any(is_error));
        let is_empty = answer["total"] == 0 && answer["since_last_call"].is_null();
        Self { text, is_clean: answer["ok"] == true && is_empty, is_empty, has_errors, is_new_only }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_edit_that_does_not_fit_is_passed() {
        assert!(cannot_be_made(&RequestError::invalid("edits", "there is no such text")));
        let too_large = RequestError::new(ErrorKind::Exhausted, "MESSAGE_TOO_LARGE", "it is too large");
        assert!(!cannot_be_made(&too_large));
    }
}
