//! Answers of tools, and errors of calls.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use thiserror::Error;
use workspaces::DaemonError;

use crate::limits::{self, count};

/// The answer to a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The answer as text for a model, in few words.
    pub text: String,
    /// The answer as data, in the form of the tool's output schema; empty for an error.
    pub structured: Map<String, Value>,
    pub is_error: bool,
}

/// Error of a call that was not done, with the remedy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ToolError {
    pub message: String,
    pub remedy: Option<String>,
}

/// Answer of a tool, as data and in words.
pub(crate) trait Answer: Serialize + JsonSchema {
    fn text(&self) -> String;
}

impl Reply {
    pub(crate) fn of(answer: &impl Answer) -> Result<Self, ToolError> {
        let structured = match serde_json::to_value(answer) {
            Ok(Value::Object(mut fields)) => {
                fields.retain(|_, it| !it.is_null());
                fields
            }
            Ok(_) => return Err(ToolError::new("the answer is no object; this is a bug in Broker")),
            Err(error) => {
                return Err(ToolError::new(format!(
                    "the answer cannot be written: {error}; this is a bug in Broker"
                )));
            }
        };
        Ok(Self { text: limits::cut(answer.text()), structured, is_error: false })
    }

    /// The answer with notes below it.
    pub(crate) fn noting(mut self, notes: impl Iterator<Item = String>) -> Self {
        notes.for_each(|it| self.text.push_str(&format!("\nnote: {it}")));
        self
    }

    /// The answer below what came since the last one.
    pub(crate) fn after<T: Serialize>(mut self, late: &[T], text: impl Fn(&T) -> String) -> Self {
        if late.is_empty() {
            return self;
        }
        let texts: Vec<_> = late.iter().map(text).collect();
        self.text = format!("{}\n{}", texts.join("\n"), self.text);
        if !self.is_error {
            self.structured.insert("since_last_call".to_owned(), serde_json::json!(late));
        }
        self
    }

    pub(crate) fn of_error(error: &ToolError) -> Self {
        let hint = error.remedy.as_ref().map(|it| format!("\nhint: {it}")).unwrap_or_default();
        let text = limits::cut(format!("error: {}{hint}", error.message));
        Self { text, structured: Map::new(), is_error: true }
    }

    /// The branch that the call was about, if it names one.
    pub fn branch(&self) -> Option<&str> {
        self.structured.get("branch")?.as_str()
    }

    pub fn revision(&self) -> Option<u64> {
        self.structured.get("revision")?.as_u64()
    }
}

impl ToolError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), remedy: None }
    }

    pub(crate) fn hint(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }
}

impl From<DaemonError> for ToolError {
    fn from(error: DaemonError) -> Self {
        let remedy = remedy(&error);
        let error = Self::new(in_words(&error));
        match remedy {
            Some(remedy) => error.hint(remedy),
            None => error,
        }
    }
}

/// Files of a conflict that are described.
const CONFLICTS: usize = 5;

/// The error, with the lines of all sides where some conflict.
fn in_words(error: &DaemonError) -> String {
    let (DaemonError::Conflicts(_) | DaemonError::Markers(_)) = error else { return error.to_string() };
    let obstacles = error.obstacles();
    let mut text = error.to_string();
    for it in obstacles.iter().take(CONFLICTS) {
        text.push_str(&format!("\n{}", it.reason));
    }
    if obstacles.len() > CONFLICTS {
        text.push_str(&format!("\n… {} more", count(obstacles.len() - CONFLICTS, "file", "files")));
    }
    text
}

fn remedy(error: &DaemonError) -> Option<String> {
    let remedy = match error {
        DaemonError::NotFound { what: "branch", .. } => "`branch_list` has the branches of this workspace",
        DaemonError::NotFound { what: "workspace", .. } | DaemonError::WorkspaceGone { .. } => {
            "open the workspace again: start a new session in the folder"
        }
        DaemonError::Stale { .. } => "read the file again, then send the edit for the new revision",
        DaemonError::Conflicts(_) => {
            "`branch_rebase` with `resolve` takes a side, with `on_conflict: \"markers\"` it writes both for you to edit"
        }
        DaemonError::Markers(_) => "edit the lines between the markers, and remove these",
        DaemonError::Commit(error) if error.conflicts().is_some() => {
            "call `branch_rebase`, then commit again"
        }
        DaemonError::NameTaken(_) => "choose another name, or leave it out",
        DaemonError::Busy { .. } => "try again in a moment",
        DaemonError::File { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            "`file_search` finds paths by parts of them"
        }
        DaemonError::NoServer { hint, .. }
        | DaemonError::NoFolder { hint, .. }
        | DaemonError::Setup { hint, .. } => {
            return hint.clone();
        }
        _ => return None,
    };
    Some(remedy.to_owned())
}
