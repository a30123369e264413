//! reviewdog's format: one object with all diagnostics, or one diagnostic in each line. Columns count bytes.

use lint::{Applicability, Severity};
use serde::Deserialize;
use serde_json::Value;

use super::{Extent, Message, Note, Position, Printed, Repair, Replacement, json_lines, unreadable};
use crate::checker::{Checker, Columns};

#[derive(Deserialize)]
struct Whole {
    diagnostics: Vec<Diagnostic>,
    severity: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Diagnostic {
    message: String,
    location: Location,
    severity: Option<Value>,
    code: Option<Code>,
    #[serde(default)]
    suggestions: Vec<Suggestion>,
    #[serde(default, alias = "related_locations")]
    related_locations: Vec<Related>,
}

#[derive(Deserialize)]
struct Location {
    path: String,
    range: Option<Range>,
}

#[derive(Deserialize)]
struct Range {
    start: Point,
    end: Option<Point>,
}

#[derive(Deserialize)]
struct Point {
    #[serde(default)]
    line: u32,
    #[serde(default)]
    column: u32,
}

#[derive(Deserialize)]
struct Code {
    value: Option<String>,
    url: Option<String>,
}

#[derive(Deserialize)]
struct Suggestion {
    range: Range,
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
struct Related {
    #[serde(default)]
    message: String,
    location: Location,
}

pub(super) fn read(text: &str, checker: &Checker) -> Result<Printed, String> {
    let whole: Whole = serde_json::from_str(text.trim()).map_err(|error| unreadable(text, &error))?;
    let default = whole.severity;
    let messages =
        whole.diagnostics.into_iter().map(|it| it.into_message(default.as_ref(), checker)).collect();
    Ok(Printed { messages, ..Printed::default() })
}

pub(super) fn read_lines(text: &str, checker: &Checker) -> Result<Printed, String> {
    let lines: Vec<Diagnostic> = json_lines(text)?;
    let messages = lines.into_iter().map(|it| it.into_message(None, checker)).collect();
    Ok(Printed { messages, ..Printed::default() })
}

impl Diagnostic {
    fn into_message(self, default: Option<&Value>, checker: &Checker) -> Message {
        let columns = checker.columns.unwrap_or(Columns::Utf8);
        let extent = |it: &Location| it.range.as_ref().and_then(|it| it.extent(columns));
        let mut message = Message::new(&*self.location.path, extent(&self.location), self.message);
        message.severity = severity(self.severity.as_ref().or(default), checker);
        let code = self.code.unwrap_or(Code { value: None, url: None });
        message.code = code.value.filter(|it| !it.is_empty());
        message.url = code.url.filter(|it| !it.is_empty());
        let note =
            |it: Related| Note { extent: extent(&it.location), path: it.location.path, text: it.message };
        message.notes = self.related_locations.into_iter().map(note).collect();
        let path = &self.location.path;
        message.fixes = self.suggestions.into_iter().filter_map(|it| it.into_repair(path, columns)).collect();
        message
    }
}

impl Suggestion {
    fn into_repair(self, path: &str, columns: Columns) -> Option<Repair> {
        let extent = self.range.extent(columns)?;
        let edits = vec![Replacement { path: path.to_owned(), extent, text: self.text }];
        Some(Repair { text: None, applicability: Applicability::Unsafe, edits })
    }
}

impl Range {
    /// Returns the extent. A number 0 is not known.
    fn extent(&self, columns: Columns) -> Option<Extent> {
        let at = |it: &Point| {
            (it.line > 0).then_some(Position { line: it.line, column: Some(it.column).filter(|it| *it > 0) })
        };
        Some(Extent::Lines { start: at(&self.start)?, end: self.end.as_ref().and_then(at), columns })
    }
}

/// A name, or its number in the protocol.
fn severity(value: Option<&Value>, checker: &Checker) -> Severity {
    match value {
        Some(Value::Number(it)) if it.as_u64() == Some(1) => Severity::Error,
        Some(Value::Number(it)) if it.as_u64() == Some(2) => Severity::Warning,
        Some(Value::Number(it)) if it.as_u64() == Some(3) => Severity::Info,
        Some(Value::String(word)) => checker.severity_of(Some(word)),
        _ => checker.severity_of(None),
    }
}
