//! Errors in `broker.toml` as diagnostics.

use gen_lsp_types::{Code, Diagnostic, DiagnosticSeverity, Message, Range};

use super::{document::Document, text::Text};
use crate::CliError;

/// The error as a diagnostic of `document`, if its message names that file: `PATH:LINE:COLUMN: MESSAGE`, counted from 1.
pub(super) fn diagnostic(document: &Document, text: &Text, error: &CliError) -> Option<Diagnostic> {
    let path = document.path()?;
    let rest = error.message.strip_prefix(path.as_str())?.strip_prefix(':')?;
    let (line, rest) = rest.split_once(':')?;
    let (column, message) = rest.split_once(':')?;
    let (line, column): (u32, u32) = (line.parse().ok()?, column.parse().ok()?);
    let table = lint::LineTable::new(text.as_str().as_bytes());
    let span = table.line_span(line)?;
    let slice = text.as_str().get(span.start as usize..span.end as usize)?;
    let before: usize = slice.chars().take((column as usize).saturating_sub(1)).map(char::len_utf8).sum();
    let start = span.start + u32::try_from(before).ok()?;
    let message = message.trim().to_owned();
    let message = error.hint.as_ref().map_or(message.clone(), |hint| format!("{message} ({hint})"));
    let index = text.index();
    Some(Diagnostic {
        range: Range { start: index.position(start), end: index.position(span.end.max(start)) },
        severity: Some(DiagnosticSeverity::Error),
        code: Some(Code::String("configuration".to_owned())),
        source: Some("broker".to_owned()),
        message: Message::String(message),
        ..Diagnostic::default()
    })
}
