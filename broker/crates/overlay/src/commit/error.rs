//! Errors of commits.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use super::{Committed, Expected, Leftover};
use crate::WorkspacePath;

/// Error of a commit. Unless noted otherwise nothing was committed, and the workspace is as it was.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Conflicts, all that were found, sorted by path.
    #[error("{}", conflicts_text(.0))]
    Conflicts(Vec<Conflict>),
    #[error("the changes contradict each other at `{path}`")]
    Contradiction { path: WorkspacePath },
    #[error("the workspace root itself cannot be changed")]
    Root,
    #[error("{}", crate::version_control::refusal(.path))]
    VersionControl { path: WorkspacePath },
    #[error("could not {doing} `{path}`: {source}")]
    Io { path: WorkspacePath, doing: &'static str, source: io::Error },
    #[error("could not {doing} {}: {source}{}", path.display(), room_for(path, source))]
    Journal { path: PathBuf, doing: &'static str, source: io::Error },
    #[error("an earlier commit was interrupted ({}); recover it before the next", journal.display())]
    Interrupted { journal: PathBuf },
    #[error("another commit to this workspace is under way ({} is locked); try again when it is done", lock.display())]
    Busy { lock: PathBuf },
    /// Nothing was touched; whether a commit is half done cannot be told.
    #[error(
        "the journal {} is damaged ({reason}): the commit that was interrupted can neither be finished nor taken back. \
         Files of the workspace whose names begin with `.broker-` have texts from before it, and new ones: put in place \
         what is missing, remove them, and move the journal away", journal.display()
    )]
    Damaged { journal: PathBuf, reason: String },
    /// Nothing was touched; that version can finish the commit, or take it back.
    #[error(
        "another version of Broker was interrupted in a commit, and only that version can finish it (the journal is \
         {}); run that version once in this workspace", journal.display()
    )]
    OtherVersion { journal: PathBuf },
    /// The workspace is in between; the journal is kept, and recovery tries again.
    #[error("{error}; to take it back did not work either: {then}; recovery from {} tries again", journal.display())]
    NotTakenBack { journal: PathBuf, error: Box<CommitError>, then: Box<CommitError> },
    /// All changes are in the workspace, as reported in `committed`.
    #[error("the changes are made, but what they left behind could not be removed: {error}; recovery from {} tries again", journal.display())]
    NotCleanedUp { journal: PathBuf, error: Box<CommitError>, committed: Box<Committed> },
    /// Taken back, except for what another program changed meanwhile.
    #[error("{error}; {}", leftovers_text(leftovers))]
    Left { error: Box<CommitError>, leftovers: Vec<Leftover> },
}

/// A path where the disk has something else than a change was made on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub path: WorkspacePath,
    pub expected: Expected,
    pub found: DiskState,
}

/// State found on the disk where another was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiskState {
    Missing,
    /// A file with this hash, executable or not.
    File(crate::ContentHash, bool),
    Symlink(String),
    Directory,
    /// A directory that was to be removed, and this entry in it that was not.
    NotEmpty(String),
    /// A socket, a device, or a link whose text is not UTF-8.
    Other,
    /// A link or a file stands where a directory is needed on the way.
    Unreachable,
    /// The file that was expected; what the program writes to it would be lost with it.
    OpenForWriting,
}

impl CommitError {
    /// Returns the differences of the workspace from the state that the changes were made on, if these stopped the commit.
    pub fn conflicts(&self) -> Option<&[Conflict]> {
        match self {
            Self::Conflicts(conflicts) => Some(conflicts),
            Self::Left { error, .. } => error.conflicts(),
            _ => None,
        }
    }

    /// Returns the places at which another program changed the workspace while a commit was taken back.
    pub fn leftovers(&self) -> &[Leftover] {
        match self {
            Self::Left { leftovers, .. } => leftovers,
            _ => &[],
        }
    }

    /// Adds leftovers to the error.
    pub(super) fn with(self, leftovers: Vec<Leftover>) -> Self {
        if leftovers.is_empty() { self } else { Self::Left { error: Box::new(self), leftovers } }
    }
    pub(super) fn io(path: &WorkspacePath, doing: &'static str, source: io::Error) -> Self {
        Self::Io { path: path.clone(), doing, source }
    }

    pub(super) fn journal(path: &Path, doing: &'static str, source: io::Error) -> Self {
        Self::Journal { path: path.to_owned(), doing, source }
    }

    pub(super) fn conflict(path: &WorkspacePath, expected: Expected, found: DiskState) -> Self {
        Self::Conflicts(vec![Conflict { path: path.clone(), expected, found }])
    }
}

/// Returns the remedy if the journal's folder is full.
fn room_for(path: &Path, source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            let folder = path.parent().unwrap_or(path);
            format!("; free some room for {}, then try again", folder.display())
        }
        _ => String::new(),
    }
}

fn leftovers_text(leftovers: &[Leftover]) -> String {
    let lines: Vec<_> = leftovers.iter().map(ToString::to_string).collect();
    lines.join("; ")
}

fn conflicts_text(conflicts: &[Conflict]) -> String {
    format!("the workspace has changed: {}", Conflict::first(conflicts))
}

/// Files that a sentence lists.
const LISTED: usize = 5;

impl Conflict {
    /// The first of them in words, and how many more there are.
    pub fn first(all: &[Self]) -> String {
        first_of_files(all.iter())
    }
}

/// The first of these in words, and how many more there are. Each is about a file of its own.
pub fn first_of_files(all: impl ExactSizeIterator<Item = impl fmt::Display>) -> String {
    let more = all.len().saturating_sub(LISTED);
    let lines: Vec<_> = all.take(LISTED).map(|it| it.to_string()).collect();
    match more {
        0 => lines.join("; "),
        1 => format!("{}; and 1 more file", lines.join("; ")),
        more => format!("{}; and {more} more files", lines.join("; ")),
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match (&self.expected, &self.found) {
            (Expected::File(was, _), DiskState::File(is, _)) if was != is => {
                write!(f, "`{path}` has another content now than the change was made on")
            }
            (Expected::Anything, DiskState::Directory | DiskState::NotEmpty(_)) => {
                write!(f, "`{path}` is a directory on the disk, which is not overwritten")
            }
            (_, DiskState::OpenForWriting) => write!(f, "`{path}` {}", DiskState::OpenForWriting),
            (expected, found) => write!(f, "`{path}` was {expected}, now it is {found}"),
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("missing"),
            Self::File(hash, executable) => write_file(f, *hash, *executable),
            Self::Symlink(target) => write!(f, "a link to `{target}`"),
            Self::Directory => f.write_str("a directory"),
            Self::Anything => f.write_str("any file"),
        }
    }
}

impl fmt::Display for DiskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("missing"),
            Self::File(hash, executable) => write_file(f, *hash, *executable),
            Self::Symlink(target) => write!(f, "a link to `{target}`"),
            Self::Directory => f.write_str("a directory"),
            Self::NotEmpty(name) => write!(f, "a directory that also holds `{name}`"),
            Self::Other => f.write_str("neither a file, a directory nor a plain link"),
            Self::Unreachable => f.write_str("out of reach: a link or a file is in the way"),
            Self::OpenForWriting => f.write_str("is open for writing in another program; close it there"),
        }
    }
}

fn write_file(f: &mut fmt::Formatter<'_>, hash: crate::ContentHash, executable: bool) -> fmt::Result {
    write!(f, "{} {hash:?}", if executable { "the executable file" } else { "the file" })
}
