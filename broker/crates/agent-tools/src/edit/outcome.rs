//! Outcome of an edit: a text, or a reason and the possible readings.

use std::fmt;

use overlay::{ContentHash, WorkspacePath};
use thiserror::Error;

use super::{
    diff,
    form::Form,
    parser::Parser,
    syntax_errors::{SyntaxError, new_errors},
    targeted::NoTarget,
};

/// An edit that could be read in one way only, or whose reading was picked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    pub form: Form,
    /// The whole text of the file.
    pub text: String,
    /// The change with little context, shortened in its middle where it is long.
    pub diff: String,
    /// Deviations from the edit as it is written, such as lines found at another indentation.
    pub notes: Vec<String>,
    /// Errors that the file did not have before.
    pub new_syntax_errors: Vec<SyntaxError>,
}

/// An edit that was not applied.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{reason}")]
pub struct Refused {
    /// Form as which the edit was read.
    pub form: Option<Form>,
    pub reason: Reason,
    /// Possible meanings of the edit, the likeliest first. Empty where it fits nowhere.
    pub readings: Vec<Reading>,
}

/// A possible meaning of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    pub id: ReadingId,
    /// Effect of this reading, as a sentence.
    pub what: String,
    pub diff: String,
    text: String,
}

/// Names a reading by the file and the text that it leads to, so that one of another file, or of another text of it, is
/// never taken for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReadingId(String);

/// Reason why an edit is not applied. Lines are counted from 1; those of the edit are those of what the agent sent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Reason {
    #[error("the edit was given up, since its caller is gone")]
    Cancelled,
    #[error("the edit is empty")]
    Empty,
    #[error("{bytes} bytes are more than can be edited this way")]
    TooLarge { bytes: usize },
    #[error("the edit changes nothing: the file reads like this already")]
    ChangesNothing,
    #[error("the file has changed since you read it, in lines that the edit replaces")]
    Overtaken,
    #[error("the file is gone since you read it")]
    Gone,
    #[error("line {line} of the definition is a marker for lines that stay, but it replaces all of them")]
    Marked { line: usize },
    #[error("line {line} of the edit: {message}")]
    Malformed { line: usize, message: String },
    #[error("{} of the edit: no line there says where in the file they go", lines(*first, *last))]
    NoAnchor { first: usize, last: usize },
    #[error("{} of the edit can be read in two ways", lines(*first, *last))]
    SeveralPlaces { first: usize, last: usize },
    #[error(
        "{count} lines of the file would be removed from line {line} on, with nothing or little in their place"
    )]
    LargeDeletion { line: usize, count: usize },
    #[error("{} of the edit stand below a head whose block has them not in the file", lines(*first, *last))]
    OtherBlock { first: usize, last: usize },
    #[error("the edit has no marker: it may be the whole file or a part of it")]
    WholeOrPart,
    #[error("line {line} of the edit may be a marker or a line of its own: `{text}`")]
    UnclearMarker { line: usize, text: String },
    #[error("line {line} of the edit leaves something out within a line: `{text}`")]
    MarkerInLine { line: usize, text: String },
    #[error("line {line} of the edit would stand in the file twice: `{text}`")]
    Copy { line: usize, text: String },
    #[error("no marker stands {end} what the edit shows, so that the lines of the file there may stay or go")]
    OpenEnd { end: &'static str },
    #[error("`{name}` would be defined twice")]
    Twice { name: String },
    #[error("`{name}` is written out without {} that the file has in it", it_has(members))]
    Members { name: String, members: Vec<String> },
    #[error("{rows} lines are too many for a sketch of a file this large")]
    LongSketch { rows: usize },
    #[error("what part {part} of the edit replaces is not in the file: `{text}`")]
    NotFound { part: usize, text: String },
    #[error("what part {part} of the edit replaces is in the file {count} times, first at lines {lines:?}")]
    FoundOften { part: usize, count: usize, lines: Vec<usize> },
    #[error("block {part} of the edit, at line {line}, has several lines `=======`, of which {}", of_cuts(*.is_found))]
    Uncut { part: usize, line: usize, is_found: bool },
    #[error(transparent)]
    NoTarget(#[from] NoTarget),
    #[error("the edit is of `{named}`, not of this file")]
    OtherFile { named: String },
    #[error("the edit may be of `{first}` or of `{second}`")]
    TwoNames { first: String, second: String },
    #[error("the edit is of several files")]
    SeveralFiles,
    #[error("the edit may be a patch of `{named}`, or text of this file that has the patch in it")]
    PatchOrText { named: String },
    #[error("{}", of_file(path, reason))]
    InFile { path: String, reason: Box<Self> },
    #[error("`{0}` is no path in the workspace")]
    Path(String),
    #[error("`{path}`: {why}")]
    Unreadable { path: String, why: String },
    #[error("there is no such reading of the edit and this text any more")]
    NoSuchReading,
    #[error("the result would have syntax errors that the file has not, and the place was not found exactly")]
    BreaksSyntax,
}

/// Names of members that a message shows.
const SHOWN: usize = 5;

fn it_has(members: &[String]) -> String {
    let shown: Vec<_> = members.iter().take(SHOWN).map(|it| format!("`{it}`")).collect();
    let more = members.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &more
}

/// Numbers of lines as they are spoken of.
fn lines(first: usize, last: usize) -> String {
    if first == last { format!("line {first}") } else { format!("lines {first}-{last}") }
}

impl Applied {
    pub(super) fn new(form: Form, before: &str, changed: Changed, parser: &Parser<'_>) -> Self {
        let new_syntax_errors = new_errors(before, &changed.text, parser);
        let diff = diff::short(before, &changed.text);
        Self { form, diff, text: changed.text, notes: changed.notes, new_syntax_errors }
    }
}

impl Refused {
    pub(super) fn with_readings(reason: Reason, before: &str, readings: Vec<(String, String)>) -> Self {
        let mut shown: Vec<Reading> = Vec::new();
        for (what, text) in readings {
            if text != before && !shown.iter().any(|it| it.text == text) {
                let (id, diff) = (ReadingId::of("", &text), diff::brief(before, &text));
                shown.push(Reading { id, what, diff, text });
            }
        }
        Self { form: None, reason, readings: shown }
    }

    /// With one more reading.
    pub(super) fn and_reading(self, before: &str, what: &str, text: String) -> Self {
        let (form, reason) = (self.form, self.reason.clone());
        let mut readings = self.into_readings();
        readings.push((what.to_owned(), text));
        Self { form, ..Self::with_readings(reason, before, readings) }
    }

    /// Returns the refusal with the path of its file, for an edit of several files.
    pub(super) fn in_file(self, path: &str) -> Self {
        if self.reason.names(path) {
            return self;
        }
        let reason = Reason::InFile { path: path.to_owned(), reason: Box::new(self.reason) };
        Self { reason, ..self }
    }

    pub(super) fn into_readings(self) -> Vec<(String, String)> {
        self.readings.into_iter().map(|it| (it.what, it.text)).collect()
    }

    pub(super) fn of(self, form: Form) -> Self {
        Self { form: Some(form), ..self }
    }

    /// The reading of this file that was picked; the refusal itself if none was.
    pub(super) fn picked(mut self, path: &WorkspacePath, id: Option<&ReadingId>) -> Result<Changed, Self> {
        self.readings.iter_mut().for_each(|it| it.id = ReadingId::of(path.as_str(), &it.text));
        let Some(id) = id else { return Err(self) };
        match self.readings.iter().find(|it| it.id == *id) {
            Some(it) => {
                Ok(Changed { notes: vec![format!("as picked: {}", it.what)], ..it.text.clone().into() })
            }
            None => Err(Self { reason: Reason::NoSuchReading, ..self }),
        }
    }

    /// Returns advice on what to send instead, as a sentence.
    pub fn advice(&self) -> String {
        let advice = match self.reason.inner() {
            Reason::Empty | Reason::TooLarge { .. } | Reason::Unreadable { .. } | Reason::Path(_) => {
                "Send an edit of a text file of the workspace."
            }
            Reason::NoTarget(it) => it.advice(),
            Reason::Cancelled => "Send the edit again.",
            Reason::ChangesNothing => "Read the file again: it has this text.",
            Reason::Overtaken => "Read the whole file again, and send the edit for the text that it has now.",
            Reason::Marked { .. } => "Write the definition out, or send it without `symbol`.",
            Reason::Gone => "Read it again; if it is to be there, send the edit once more.",
            Reason::Malformed { .. } if self.form == Some(Form::SearchReplace) => {
                "Send that part again in its form, or as a unified diff, in which each line has its sign."
            }
            Reason::Malformed { .. } | Reason::InFile { .. } => "Send that part again in its form.",
            Reason::PatchOrText { .. } => "Send the patch alone, with its file as the target.",
            Reason::NoAnchor { .. } => {
                "Put a line of the file, unchanged, before and after what is new, or send a SEARCH/REPLACE block."
            }
            Reason::SeveralPlaces { .. } | Reason::FoundOften { .. } => {
                "Add unchanged lines around the change until they are found once, such as the head of the function."
            }
            Reason::OtherBlock { .. } => "Send the lines below the head that they stand below in the file.",
            Reason::LargeDeletion { .. }
            | Reason::WholeOrPart
            | Reason::OpenEnd { .. }
            | Reason::Members { .. } => "Put `... existing code ...` in a comment where lines stay.",
            Reason::UnclearMarker { .. } | Reason::MarkerInLine { .. } => {
                "Put `... existing code ...` in a comment on a line of its own, or write the lines out."
            }
            Reason::Copy { .. } | Reason::Twice { .. } => {
                "Put `... existing code ...` in a comment where lines stay, and unchanged lines around what is new."
            }
            Reason::LongSketch { .. } => "Send a unified diff, or fewer changes at a time.",
            Reason::NotFound { .. } => "Read the file again, and copy the lines exactly.",
            Reason::Uncut { .. } => "Send the change as a unified diff, in which each line has its sign.",
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

impl Reason {
    /// The reason itself, where it is of one of several files.
    pub(super) fn inner(&self) -> &Self {
        match self {
            Self::InFile { reason, .. } => reason,
            reason => reason,
        }
    }

    /// Whether the reason names the file already.
    fn names(&self, path: &str) -> bool {
        matches!(self, Self::InFile { .. }) || self.to_string().contains(&format!("`{path}`"))
    }
}

fn of_cuts(is_found: bool) -> &'static str {
    match is_found {
        true => "more than one may end what is searched for",
        false => "none has only lines of the file above it",
    }
}

/// A reason as one of one of several files.
fn of_file(path: &str, reason: &Reason) -> String {
    let reason = reason.to_string();
    match reason.split_once("of the edit") {
        Some((before, after)) => format!("{before}of the edit of `{path}`{after}"),
        None => format!("`{path}`: {reason}"),
    }
}

impl From<NoTarget> for Refused {
    fn from(it: NoTarget) -> Self {
        Reason::NoTarget(it).into()
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

impl Changed {
    /// With notes before its own.
    pub(super) fn with(mut self, notes: Vec<String>) -> Self {
        self.notes.splice(0..0, notes);
        self
    }

    /// With one more note before the others.
    pub(super) fn noted(mut self, note: Option<String>) -> Self {
        self.notes.splice(0..0, note);
        self
    }
}

impl From<String> for Changed {
    fn from(text: String) -> Self {
        Self { text, notes: Vec::new() }
    }
}
