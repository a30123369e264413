//! Findings as data. How they look is decided elsewhere.

use std::sync::Arc;

use overlay::WorkspacePath;

/// Byte offsets into a text, end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    Hint,
    Info,
    Warning,
    Error,
}

impl Severity {
    /// The lower-case name, as reports have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hint => "hint",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tag {
    Unnecessary,
    Deprecated,
    /// The file cannot be parsed, so that other findings may be missing.
    SyntaxError,
    /// The fix of the finding is made before all others, since other findings appear after it.
    FixFirst,
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule, in the linter's own words: `F401`.
    pub code: String,
    /// The rule's readable name where it has one: `unused-import`.
    pub name: Option<String>,
    pub message: String,
    pub severity: Severity,
    /// The notebook cell that `span` (and every span of `fixes`) counts in: an index into
    /// [`Outcome::cells`](crate::Outcome::cells). `None`: the file itself.
    pub cell: Option<u32>,
    pub span: Span,
    pub tags: Vec<Tag>,
    /// Address of the rule's explanation.
    pub url: Option<String>,
    /// Name that the rule shares with rules of other linters that find the same: `undefined-name`.
    pub shared_name: Option<String>,
    pub fixes: Vec<Fix>,
    pub related: Vec<Related>,
}

/// Confidence of a linter in a fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Applicability {
    /// Shown to a person, never applied by a machine.
    DisplayOnly,
    /// May change what the program means.
    Unsafe,
    /// Keeps what the program means.
    Safe,
}

/// A change that removes the finding. Its edits do not overlap and are sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    pub message: Option<String>,
    pub applicability: Applicability,
    pub edits: Vec<Edit>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub span: Span,
    pub replacement: String,
}

/// Another place that explains the finding; `path` is `None` for the same file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    pub path: Option<WorkspacePath>,
    pub span: Span,
    pub message: String,
}

/// The text of one notebook cell, in which diagnostics of that cell count their spans.
pub type CellText = Arc<str>;
