//! Output of commands, read into messages: places as they are printed, in lines and columns of files that are named as they are
//! printed. Knows no view.

mod cargo;
mod checkstyle;
mod json;
mod lines;
mod rdjson;
mod sarif;
mod tsgolint;

pub(crate) use cargo::read_dep_info;

use std::collections::BTreeSet;

use lint::{Applicability, Severity};

use crate::checker::{Checker, Columns, Format};

/// All that was printed, as far as it is findings.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Printed {
    pub(crate) messages: Vec<Message>,
    /// Packages that were built, where the format says which.
    pub(crate) packages: Option<Packages<String>>,
    /// Files that were looked at, where it names them.
    pub(crate) listed: Option<Vec<String>>,
    /// Files that were not looked at, with reasons.
    pub(crate) refused: Vec<(String, String)>,
    /// Files that it was asked about, and of which it does not say whether it looked at them.
    pub(crate) unanswered: Vec<String>,
    /// Reason for which there may be more to report.
    pub(crate) partial: Option<String>,
}

/// Packages of a build, by their folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Packages<P> {
    pub(crate) reached: Vec<P>,
    /// Packages with errors.
    pub(crate) failed: Vec<P>,
    /// Places where the compiler noted which files it read: such files, and folders with them.
    pub(crate) dep_info: Vec<P>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Message {
    pub(crate) path: String,
    pub(crate) extent: Option<Extent>,
    pub(crate) code: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) text: String,
    pub(crate) severity: Severity,
    pub(crate) url: Option<String>,
    pub(crate) notes: Vec<Note>,
    pub(crate) fixes: Vec<Repair>,
}

/// Another place that belongs to a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Note {
    pub(crate) path: String,
    pub(crate) extent: Option<Extent>,
    pub(crate) text: String,
}

/// A fix as it is printed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Repair {
    pub(crate) text: Option<String>,
    pub(crate) applicability: Applicability,
    pub(crate) edits: Vec<Replacement>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Replacement {
    pub(crate) path: String,
    pub(crate) extent: Extent,
    pub(crate) text: String,
}

/// A part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Range from one place to another, or as far as the word there goes.
    Lines { start: Position, end: Option<Position>, columns: Columns },
    /// Offsets from the start of the file, end exclusive.
    Offsets { start: u32, end: u32, columns: Columns },
}

/// Both count from 1. Without a column it is the whole line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) line: u32,
    pub(crate) column: Option<u32>,
}

/// The files that lines of either stream name as looked at; `None` if none does.
pub(crate) fn listed(checker: &Checker, streams: [&[u8]; 2]) -> Option<Vec<String>> {
    let pattern = checker.listed_pattern.as_ref()?;
    let texts = streams.map(String::from_utf8_lossy);
    let lines = texts.iter().flat_map(|it| it.lines());
    let paths: Vec<_> =
        lines.filter_map(|it| Some(pattern.captures(it)?.name("path")?.as_str().to_owned())).collect();
    (!paths.is_empty()).then_some(paths)
}

/// Reads what was printed, beside the `log` on standard error. Fails if it is not in the checker's format.
pub(crate) fn read(
    checker: &Checker,
    printed: &[u8],
    log: &[u8],
    asked: &BTreeSet<String>,
) -> Result<Printed, String> {
    let text = String::from_utf8_lossy(printed);
    let mut read = match checker.output {
        Format::Cargo => cargo::read(&text),
        Format::Sarif => sarif::read(&text, checker),
        Format::Checkstyle => checkstyle::read(&text, checker),
        Format::Rdjson => rdjson::read(&text, checker),
        Format::Rdjsonl => rdjson::read_lines(&text, checker),
        Format::Json => json::read(&text, checker),
        Format::Jsonl => json::read_lines(&text, checker),
        Format::Regex => lines::read(&text, checker),
        Format::Tsgolint => tsgolint::read(printed, &String::from_utf8_lossy(log), asked),
    }?;
    read.leave_out(&checker.left_out_by);
    if let Some(found) = checker.cut_short.as_ref().and_then(|it| it.find(&text)) {
        read.partial
            .get_or_insert_with(|| format!("{} stopped looking: {}", checker.tool.name, found.as_str()));
    }
    Ok(read)
}

impl Printed {
    /// Takes out messages with one of these parts, and their files.
    fn leave_out(&mut self, parts: &[String]) {
        let is_left_out = |it: &mut Message| parts.iter().any(|part| it.text.contains(part));
        let left_out: BTreeSet<_> = self.messages.extract_if(.., is_left_out).map(|it| it.path).collect();
        if let Some(listed) = &mut self.listed {
            listed.retain(|it| !left_out.contains(it));
        }
    }
}

impl Message {
    fn new(path: impl Into<String>, extent: Option<Extent>, text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            extent,
            code: None,
            name: None,
            text: text.into(),
            severity: Severity::Error,
            url: None,
            notes: Vec::new(),
            fixes: Vec::new(),
        }
    }
}

impl Position {
    /// Returns the position of numbers that count from these.
    fn counted(line: u64, column: Option<u64>, first_line: u32, first_column: u32) -> Self {
        let from_1 =
            |it: u64, first: u32| u32::try_from(it + 1).unwrap_or(u32::MAX).saturating_sub(first).max(1);
        Self { line: from_1(line, first_line), column: column.map(|it| from_1(it, first_column)) }
    }
}

/// Reads one value from each line that is not blank.
fn json_lines<T: serde::de::DeserializeOwned>(text: &str) -> Result<Vec<T>, String> {
    let lines = text.lines().filter(|it| !it.trim().is_empty());
    lines.map(|it| serde_json::from_str(it).map_err(|error| unreadable(it, &error))).collect()
}

fn unreadable(text: &str, error: &dyn std::fmt::Display) -> String {
    let start: String = text.trim().chars().take(80).collect();
    format!("what it printed cannot be read: {error}: `{start}`")
}
