//! Errors of texts that cannot be read as a patch.

/// Error of a patch, with its line counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the patch: {problem}")]
pub struct Error {
    pub line: usize,
    pub problem: Problem,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("{0}")]
    Malformed(String),
    /// Numbers of old and new lines.
    #[error("the hunk states {stated:?} old and new lines but has {found:?}")]
    HunkLength { stated: (usize, usize), found: (usize, usize) },
    #[error("the hunk belongs to no file")]
    LostHunk,
    #[error("what is no text is not edited")]
    Binary { file: String },
}

impl Error {
    pub(crate) fn malformed(line: usize, message: impl Into<String>) -> Self {
        Self { line, problem: Problem::Malformed(message.into()) }
    }
}
