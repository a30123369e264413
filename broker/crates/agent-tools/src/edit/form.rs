//! The forms that an edit may have.

use std::fmt;

/// The forms that an edit may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// Changed pieces of a file with markers such as `... existing code ...` between them.
    Sketch,
    /// Text without markers: a whole file, or one piece of it.
    Whole,
    /// `<<<<<<< SEARCH`, `=======`, `>>>>>>> REPLACE`.
    SearchReplace,
    /// A diff as `diff -u` and git print it, with or without names and line numbers.
    UnifiedDiff,
    /// `*** Begin Patch`.
    CodexPatch,
}

impl Form {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sketch => "sketch",
            Self::Whole => "whole file or part",
            Self::SearchReplace => "SEARCH/REPLACE blocks",
            Self::UnifiedDiff => "unified diff",
            Self::CodexPatch => "codex patch",
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
