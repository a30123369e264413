//! Errors of requests as every client sees them, whether the daemon is in its process or behind a connection.

use std::{collections::BTreeMap, fmt};

use super::{DaemonError, ErrorKind, OPEN_FOR_WRITING, Obstacle};

/// Why a request was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestError {
    pub kind: ErrorKind,
    /// Stable name, for programs.
    pub reason: String,
    /// Further values for programs, by name.
    pub facts: BTreeMap<String, String>,
    /// Paths that stand in the way.
    pub obstacles: Box<[Obstacle]>,
    /// The error for people, with its remedy if that is known where it was made.
    pub sentence: String,
    /// The remedy alone. Errors of the daemon have it in the sentence, too.
    pub hint: Option<String>,
}

impl RequestError {
    /// An error without facts.
    pub fn new(kind: ErrorKind, reason: impl Into<String>, sentence: impl Into<String>) -> Self {
        let (reason, sentence) = (reason.into(), sentence.into());
        Self { kind, reason, facts: BTreeMap::new(), obstacles: Box::default(), sentence, hint: None }
    }

    /// The error with a remedy beside its sentence.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// A field that makes no sense.
    pub fn invalid(field: &'static str, message: impl ToString) -> Self {
        DaemonError::invalid(field, message).into()
    }

    /// Fails if a file has more bytes than the caller takes. The limit is the caller's own, so the error has no reason for programs.
    pub fn expect_size(path: &str, bytes: usize, max_bytes: Option<usize>) -> Result<(), Self> {
        match max_bytes {
            Some(limit) if bytes > limit => {
                let sentence = format!("{path} has more than {limit} bytes");
                Err(Self::new(ErrorKind::Exhausted, "", sentence))
            }
            _ => Ok(()),
        }
    }

    pub fn fact(&self, name: &str) -> Option<&str> {
        self.facts.get(name).map(String::as_str)
    }

    /// The sentence without the remedy.
    pub fn message(&self) -> &str {
        let remedy = self.hint.as_ref().map(|it| format!(" ({it})"));
        let message = remedy.and_then(|it| self.sentence.strip_suffix(it.as_str()));
        message.unwrap_or(&self.sentence)
    }

    /// Whether two sides could not be brought together, which a rebase can help with, or overwriting one of them.
    pub fn is_conflict(&self) -> bool {
        self.reason == DaemonError::CONFLICT && !self.is_only_open()
    }

    /// Whether the only obstacles are files that other programs have open for writing.
    pub fn is_only_open(&self) -> bool {
        !self.obstacles.is_empty() && self.obstacles.iter().all(|it| it.kind == OPEN_FOR_WRITING)
    }
}

impl From<DaemonError> for RequestError {
    fn from(error: DaemonError) -> Self {
        let facts = error.facts().into_iter().map(|(name, value)| (name.to_owned(), value));
        Self {
            kind: error.kind(),
            reason: error.reason().to_owned(),
            facts: facts.collect(),
            obstacles: error.obstacles().into(),
            sentence: error.sentence(),
            hint: error.hint().map(str::to_owned),
        }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for RequestError {}

#[cfg(test)]
mod tests {
    use overlay::{CommitConflict, CommitError, DiskState, Expected, WorkspacePath};

    use super::*;

    #[test]
    fn an_error_has_what_the_table_says_of_it() {
        let (message, hint) = ("not installed".to_owned(), Some("install it".to_owned()));
        let error: RequestError =
            DaemonError::NoServer { server: Some("ty".to_owned()), message, hint }.in_edit(3).into();
        assert_eq!((error.kind, error.reason.as_str()), (ErrorKind::Refused, "SERVER_UNAVAILABLE"));
        assert_eq!((error.fact("server"), error.fact("edit_index")), (Some("ty"), Some("3")));
        assert_eq!((error.message(), error.hint.as_deref()), ("not installed", Some("install it")));
        assert_eq!(error.to_string(), "not installed (install it)");
    }

    #[test]
    fn a_file_that_is_open_is_no_conflict_to_be_forced() {
        let conflict = |found| {
            let path = WorkspacePath::new("a").unwrap();
            CommitConflict { path, expected: Expected::Directory, found }
        };
        let error =
            |all: Vec<CommitConflict>| RequestError::from(DaemonError::Commit(CommitError::Conflicts(all)));
        let open = error(vec![conflict(DiskState::OpenForWriting)]);
        assert!(open.is_only_open() && !open.is_conflict());
        let both = error(vec![conflict(DiskState::OpenForWriting), conflict(DiskState::Missing)]);
        assert!(!both.is_only_open() && both.is_conflict());
        assert!(!error(Vec::new()).is_only_open());
    }
}
