//! What an edit comes to: a text, or a reason and the readings that there are.

use std::fmt;

use overlay::{ContentHash, WorkspacePath};
use thiserror::Error;

use super::{diff, form::Form, syntax_errors::SyntaxError};

/// An edit that could be read in one way only, or whose reading was picked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    pub form: Form,
    /// The whole text of the file.
    pub text: String,
    /// The change with little context, shortened in its middle where it is long.
    pub diff: String,
    /// What was done otherwise than it is written, such as lines found at another indentation.
    pub notes: Vec<String>,
    /// Errors that the file did not have before.
    pub new_syntax_errors: Vec<SyntaxError>,
}

/// An edit that was not applied.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct Refused {
    /// How the edit was understood.
    pub form: Option<Form>,
    pub reason: Reason,
    /// What the edit may mean, the likeliest first. Empty where it fits nowhere.
    pub readings: Vec<Reading>,
}

/// One way to understand an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    pub id: ReadingId,
    /// What is done in this reading, as a sentence.
    pub what: String,
    pub diff: String,
    text: String,
}

/// Names a reading by the file and the text that it leads to, so that one of another file, or of another text of it, is
/// never taken for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReadingId(String);

/// Why an edit is not applied. Lines are counted from 1; those of the edit are those of what the agent sent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Reason {
    #[error("the edit is empty")]
    Empty,
    #[error("{bytes} bytes are more than can be edited this way")]
    TooLarge { bytes: usize },
    #[error("the edit changes nothing: the file reads like this already")]
    ChangesNothing,
    #[error("line {line} of the edit: {message}")]
    Malformed { line: usize, message: String },
    #[error("lines {first}-{last} of the edit have no line that the file has, so their place is unknown")]
    NoAnchor { first: usize, last: usize },
    #[error("line {line} of the edit stands next to a marker, but is no line of the file: `{text}`")]
    EdgeIsNew { line: usize, text: String },
    #[error("lines {first}-{last} of the edit fit the file at several places")]
    SeveralPlaces { first: usize, last: usize },
    #[error(
        "lines {first}-{last} of the edit fit nowhere between what stands before and after them in the edit"
    )]
    OutOfOrder { first: usize, last: usize },
    #[error(
        "{count} lines of the file would be removed from line {line} on, with nothing or little in their place"
    )]
    LargeDeletion { line: usize, count: usize },
    #[error("{count} lines at the {end} of the file are not in the edit, and no marker stands for them")]
    OpenEnd { end: &'static str, count: usize },
    #[error("lines {first}-{last} of the edit stand below a head whose block has them not in the file")]
    OtherBlock { first: usize, last: usize },
    #[error("the edit has no marker: it may be the whole file or a part of it")]
    WholeOrPart,
    #[error("line {line} of the edit may be a marker or a line of its own: `{text}`")]
    UnclearMarker { line: usize, text: String },
    #[error("line {line} of the edit leaves something out within a line: `{text}`")]
    MarkerInLine { line: usize, text: String },
    #[error("lines {first}-{last} of the edit have other whitespace than the file, in no regular way")]
    Indentation { first: usize, last: usize },
    #[error(
        "lines {first}-{last} of the edit differ from the file in whitespace at their ends, which may be meant or not"
    )]
    TrailingWhitespace { first: usize, last: usize },
    #[error("a blank line stands between a marker and lines {first}-{last} of the edit, but not in the file")]
    BlankLines { first: usize, last: usize },
    #[error("what part {part} of the edit replaces is not in the file: `{text}`")]
    NotFound { part: usize, text: String },
    #[error("what part {part} of the edit replaces is in the file {count} times, first at lines {lines:?}")]
    FoundOften { part: usize, count: usize, lines: Vec<usize> },
    #[error("the edit is of `{named}`, not of this file")]
    OtherFile { named: String },
    #[error("the edit may be of `{first}` or of `{second}`")]
    TwoNames { first: String, second: String },
    #[error("the edit is of several files")]
    SeveralFiles,
    #[error("`{0}` is no path in the workspace")]
    Path(String),
    #[error("`{path}`: {why}")]
    Unreadable { path: String, why: String },
    #[error("there is no such reading of the edit and this text any more")]
    NoSuchReading,
    #[error("the result would have syntax errors that the file has not, and the place was not found exactly")]
    BreaksSyntax,
}

impl Refused {
    pub(super) fn with_readings(reason: Reason, before: &str, readings: Vec<(String, String)>) -> Self {
        let mut shown: Vec<Reading> = Vec::new();
        for (what, text) in readings {
            if text != before && !shown.iter().any(|it| it.text == text) {
                let (id, diff) = (ReadingId::of("", &text), diff::short(before, &text));
                shown.push(Reading { id, what, diff, text });
            }
        }
        Self { form: None, reason, readings: shown }
    }

    /// With one more reading.
    pub(super) fn and_reading(self, before: &str, what: &str, text: String) -> Self {
        let mut readings: Vec<_> = self.readings.into_iter().map(|it| (it.what, it.text)).collect();
        readings.push((what.to_owned(), text));
        Self { form: self.form, ..Self::with_readings(self.reason, before, readings) }
    }

    pub(super) fn of(self, form: Form) -> Self {
        Self { form: Some(form), ..self }
    }

    /// The reading of this file that was picked; the refusal itself if none was.
    pub(super) fn picked(mut self, path: &WorkspacePath, id: Option<&ReadingId>) -> Result<Changed, Self> {
        self.readings.iter_mut().for_each(|it| it.id = ReadingId::of(path.as_str(), &it.text));
        let Some(id) = id else { return Err(self) };
        match self.readings.iter().find(|it| it.id == *id) {
            Some(it) => Ok(Changed { text: it.text.clone(), notes: vec![format!("as picked: {}", it.what)] }),
            None => Err(Self { reason: Reason::NoSuchReading, ..self }),
        }
    }

    /// What to send instead, as a sentence.
    pub fn advice(&self) -> String {
        let advice = match &self.reason {
            Reason::Empty | Reason::TooLarge { .. } | Reason::Unreadable { .. } | Reason::Path(_) => {
                "Send an edit of a text file of the workspace."
            }
            Reason::ChangesNothing => "Read the file again: it has this text.",
            Reason::Malformed { .. } => "Send that part again in its form.",
            Reason::NoAnchor { .. } => {
                "Put a line of the file, unchanged, before and after what is new, or send a SEARCH/REPLACE block."
            }
            Reason::EdgeIsNew { .. } => {
                "Put an unchanged line of the file between the marker and what is new, or send a SEARCH/REPLACE block."
            }
            Reason::SeveralPlaces { .. } | Reason::FoundOften { .. } => {
                "Add unchanged lines around the change until they are found once, such as the head of the function."
            }
            Reason::OutOfOrder { .. } | Reason::OtherBlock { .. } => {
                "Send the parts in the order of the file, each with unchanged lines around."
            }
            Reason::LargeDeletion { .. } | Reason::OpenEnd { .. } | Reason::WholeOrPart => {
                "Put `... existing code ...` in a comment where lines stay, or pick a reading."
            }
            Reason::UnclearMarker { .. } | Reason::MarkerInLine { .. } => {
                "Put `... existing code ...` in a comment on a line of its own, or write the lines out."
            }
            Reason::Indentation { .. } => {
                "Write the unchanged lines with the whitespace that they have in the file."
            }
            Reason::BlankLines { .. } => {
                "Leave blank lines next to markers out, or write the lines of the file there."
            }
            Reason::TrailingWhitespace { .. } => {
                "Write the unchanged lines with the whitespace at their ends."
            }
            Reason::NotFound { .. } => "Read the file again, and copy the lines exactly.",
            Reason::OtherFile { .. } => {
                "Send it with that file as the target, or name the target in the edit."
            }
            Reason::TwoNames { .. } => {
                "Name the whole path as git does: `diff --git a/PATH b/PATH`, and for a rename its lines `rename from` and `rename to`."
            }
            Reason::SeveralFiles => {
                "Send each file's edit by itself, or all as one patch with one of them or none as the target."
            }
            Reason::NoSuchReading => "Pick one of the readings that are listed, or send the edit again.",
            Reason::BreaksSyntax => {
                "Send the change with more unchanged lines around it, indented as in the file."
            }
        };
        match self.readings.len() {
            0 => advice.to_owned(),
            _ => format!("{advice} Or pick a reading by its id."),
        }
    }
}

impl From<Reason> for Refused {
    fn from(reason: Reason) -> Self {
        Self { form: None, reason, readings: Vec::new() }
    }
}

impl ReadingId {
    /// Hexadecimal digits, enough to tell a few texts apart.
    const LENGTH: usize = 12;

    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    fn of(path: &str, text: &str) -> Self {
        // No path has a zero in it.
        let named = [path, text].join("\0");
        Self(ContentHash::of(named.as_bytes()).to_string()[..Self::LENGTH].to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ReadingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text that an edit leads to, before it is compared and parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Changed {
    pub(super) text: String,
    pub(super) notes: Vec<String>,
}

impl From<String> for Changed {
    fn from(text: String) -> Self {
        Self { text, notes: Vec::new() }
    }
}
