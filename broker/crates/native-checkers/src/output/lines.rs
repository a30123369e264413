//! Lines for people, such as `file:line:col: message`, by regular expressions.

use std::path::{Path, PathBuf};

use regex::Captures;

use super::{Extent, Message, Note, Position, Printed};
use crate::checker::{Checker, Columns};

pub(super) fn read(text: &str, checker: &Checker) -> Result<Printed, String> {
    let Some(pattern) = &checker.pattern else { return Err("it has no `pattern`".to_owned()) };
    let mut messages: Vec<Message> = Vec::new();
    // Whether the line before belongs to a message.
    let mut is_inside = false;
    let mut errors = Errors::None;
    for line in text.lines() {
        let note = checker.note_pattern.as_ref().and_then(|it| it.captures(line));
        if let (Some(note), Some(message)) = (&note, messages.last_mut()) {
            message.notes.push(Note {
                path: note["path"].to_owned(),
                extent: extent(note, checker),
                text: note["message"].to_owned(),
            });
        } else if let Some(found) = pattern.captures(line).filter(|_| note.is_none()) {
            messages.push(message(&found, checker, errors.hold(&found["path"])));
            is_inside = true;
        } else if let (true, true, Some(message)) =
            (is_inside && checker.continued, line.starts_with([' ', '\t']), messages.last_mut())
        {
            message.text = format!("{}\n{}", message.text, line.trim());
        } else {
            is_inside = false;
            let is_heading = checker.error_heading.as_ref().is_some_and(|it| it.is_match(line));
            errors = if is_heading { Errors::Begin } else { Errors::None };
        }
    }
    Ok(Printed { messages, ..Printed::default() })
}

/// State of errors below a heading: they are in the folder of the first one, which is the package that the heading names.
enum Errors {
    None,
    Begin,
    In(PathBuf),
}

impl Errors {
    /// Whether the next message is one of the errors.
    fn hold(&mut self, path: &str) -> bool {
        let folder = Path::new(path.trim_start_matches("./")).parent().unwrap_or(Path::new(""));
        *self = match self {
            Self::Begin => Self::In(folder.to_owned()),
            Self::In(of) if of == folder => return true,
            Self::In(_) | Self::None => Self::None,
        };
        matches!(self, Self::In(_))
    }
}

fn message(found: &Captures<'_>, checker: &Checker, is_error: bool) -> Message {
    let group = |name: &str| found.name(name).map(|it| it.as_str());
    let mut message = Message::new(&found["path"], extent(found, checker), &found["message"]);
    message.code = group("code").map(|code| format!("{}{code}", checker.code_prefix));
    message.severity = match group("error") {
        Some(_) => lint::Severity::Error,
        None if is_error => lint::Severity::Error,
        None => checker.severity_of(group("severity")),
    };
    message
}

fn extent(found: &Captures<'_>, checker: &Checker) -> Option<Extent> {
    let number = |name: &str| found.name(name)?.as_str().parse::<u64>().ok();
    let at = |line, column| Position::counted(line, column, checker.first_line, checker.first_column);
    let start = at(number("line")?, number("column"));
    let end_column = number("end-column");
    let end = number("end-line").or(end_column.and(number("line"))).map(|line| at(line, end_column));
    Some(Extent::Lines { start, end, columns: checker.columns.unwrap_or(Columns::Utf8) })
}
