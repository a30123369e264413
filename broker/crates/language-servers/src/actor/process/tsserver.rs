//! A server that publishes when it likes, and hands a command on to one below that answers: TypeScript's own,
//! up to version 6. Its suggestions are not asked for.

use std::time::Instant;

use lint::Cancel;
use lsp_client::{Call, Client, Position, ProtocolError, Range};
use serde::Deserialize;
use serde_json::json;

use super::RequestError;
use crate::actor::convert::{Item, Report};

pub(super) const METHOD: &str = "workspace/executeCommand";
const COMMAND: &str = "typescript.tsserverRequest";
const QUESTIONS: [&str; 2] = ["syntacticDiagnosticsSync", "semanticDiagnosticsSync"];

/// Calls for one document's diagnostics, under way.
pub(super) struct PendingReport([Call<CommandReply>; 2]);

#[derive(Deserialize)]
pub(super) struct CommandReply {
    success: bool,
    message: Option<String>,
    body: Option<Vec<TsDiagnostic>>,
}

#[derive(Deserialize)]
struct TsDiagnostic {
    start: TsPosition,
    end: TsPosition,
    text: String,
    code: Option<u32>,
    category: String,
}

/// Counted from 1, in UTF-16.
#[derive(Deserialize)]
struct TsPosition {
    line: u32,
    offset: u32,
}

pub(super) fn ask(
    client: &Client,
    uri: &str,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<PendingReport, RequestError> {
    let call = |question: &str| {
        let params = json!({ "command": COMMAND, "arguments": [question, { "file": uri }] });
        client.call(METHOD, &params, deadline, cancel)
    };
    let [syntactic, semantic] = QUESTIONS;
    Ok(PendingReport([call(syntactic)?, call(semantic)?]))
}

impl PendingReport {
    pub(super) fn wait(self, deadline: Instant, cancel: &Cancel) -> Result<Report, RequestError> {
        let mut items = Vec::new();
        for call in self.0 {
            items.extend(call.wait(deadline, cancel)?.items()?);
        }
        Ok(Report::Full { items })
    }
}

impl CommandReply {
    fn items(self) -> Result<Vec<Item>, RequestError> {
        match self.body {
            Some(body) if self.success => Ok(body.into_iter().map(TsDiagnostic::into).collect()),
            _ => {
                let reason = self.message.unwrap_or_else(|| "tsserver has no answer".to_owned());
                Err(ProtocolError::BadAnswer { method: COMMAND.to_owned(), reason }.into())
            }
        }
    }
}

impl From<TsDiagnostic> for Item {
    fn from(it: TsDiagnostic) -> Self {
        let severity = match &*it.category {
            "error" => 1,
            "warning" => 2,
            "suggestion" => 4,
            _ => 3,
        };
        let range = Range { start: it.start.into(), end: it.end.into() };
        Self::plain(range, severity, it.code.map_or(String::new(), |it| it.to_string()), it.text)
    }
}

impl From<TsPosition> for Position {
    fn from(it: TsPosition) -> Self {
        Self { line: it.line.saturating_sub(1), character: it.offset.saturating_sub(1) }
    }
}
