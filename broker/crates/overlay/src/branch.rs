//! Edits laid over a base, forked and snapshot at no cost.
//!
//! A branch is a persistent tree over its base. An edit copies the nodes on the way to what it changes
//! and shares the rest, so a fork or a snapshot is one more reference to the tree as it is. A fork is of
//! that moment: later edits of either side are not seen by the other, and there are no chains to walk.
//!
//! Contents of the base are not remembered: where a branch holds no edit, the base shows through as it is at the
//! moment of reading. The base's state of a path when an edit first touched it is kept as the path's [`Origin`], so
//! that a change of the base under an edit is noticed.

mod changed_lines;
mod changes;
#[cfg(unix)]
mod commit_plan;
mod edit;
mod history;
mod lines;
mod origin;
mod patch;
mod rebase;
mod repository;
mod snapshot;
mod steps;
mod taken;
mod text;
mod tree;
mod undo;
mod unified;

use std::{fmt, io, sync::Arc};

pub use changed_lines::{ChangedLines, changed_lines};
pub use changes::{Change, ChangeKind, FileState};
#[cfg(unix)]
pub use commit_plan::{CommitPlan, PlanError};
use history::{History, State};
pub use history::{KEPT_STEPS, LogEntry, StepKind};
pub use origin::Origin;
pub use patch::{MAX_PATCH, MovedHunk, PatchApplied, PatchError};
pub use rebase::{
    Conflict, ConflictHunk, ConflictKind, MergeOptions, Merged, OnConflict, RebaseError, RebaseOnto, Rebased,
    Resolution, Side as ConflictSide, SyntaxMerge, UnknownSide, marked_lines, merge_texts,
};
pub use snapshot::Snapshot;
pub use steps::{NodeRecord, RestoreError, Step};
pub use text::TextEdit;
pub use unified::unified;

use crate::{ContentHash, View, WorkspacePath};

/// Copy-on-write edits over a base. Nothing of them ever reaches the base.
#[derive(Clone)]
pub struct Branch {
    /// Ends with the present state.
    history: History,
    /// Whether files of version control can be edited like others.
    edits_repositories: bool,
}

/// Counts a branch's edits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Revision(pub u64);

/// Error of an edit that was refused. The branch is then as it was.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error("the workspace root itself cannot be edited")]
    Root,
    #[error("`{0}` does not exist")]
    NotFound(WorkspacePath),
    #[error("`{0}` already exists")]
    AlreadyExists(WorkspacePath),
    /// Something other than a directory stands there, or on the way there.
    #[error("`{0}`: it, or something on the way there, is not a directory")]
    NotADirectory(WorkspacePath),
    #[error("`{0}` is a directory")]
    IsADirectory(WorkspacePath),
    /// A socket, a device, or a link that leads to nothing.
    #[error("`{0}` is not a regular file")]
    NotAFile(WorkspacePath),
    #[error("the directory `{0}` is not empty")]
    DirectoryNotEmpty(WorkspacePath),
    #[error("`{from}` cannot be moved into itself, to `{to}`")]
    IntoItself { from: WorkspacePath, to: WorkspacePath },
    #[error("the branch is at revision {actual}, not {expected}")]
    Stale { expected: Revision, actual: Revision },
    #[error("revision {0} is not in the history of this branch")]
    NoSuchRevision(Revision),
    #[error("there is nothing to undo")]
    NothingToUndo,
    #[error("`{0}` is not UTF-8 text and can only be written whole")]
    NotText(WorkspacePath),
    /// Positions are in bytes.
    #[error("the edit of bytes {start} to {end} of `{path}` is not within its {length} bytes")]
    OutOfBounds { path: WorkspacePath, start: u32, end: u32, length: usize },
    #[error("an edit of `{path}` ends at byte {end}, before it begins, at byte {start}")]
    Reversed { path: WorkspacePath, start: u32, end: u32 },
    #[error("byte {offset} of `{path}` is inside a character")]
    InsideCharacter { path: WorkspacePath, offset: u32 },
    #[error(
        "two edits of `{path}` overlap: bytes {} to {} and {} to {}",
        .first.0, .first.1, .second.0, .second.1
    )]
    Overlap { path: WorkspacePath, first: (u32, u32), second: (u32, u32) },
    #[error("a path of {length} bytes is too long; the limit is {limit}")]
    TooLong { length: usize, limit: usize },
    /// Lengths are in bytes. `path` has a name that no file system takes.
    #[error("a name of {length} bytes is too long, in `{path}`; the limit is {limit}")]
    NameTooLong { path: WorkspacePath, length: usize, limit: usize },
    /// A target that no file system accepts.
    #[error("the target of the link `{path}` {what}")]
    BadTarget { path: WorkspacePath, what: &'static str },
    #[error("`{path}` holds more than {limit} files and directories; move or remove it in parts")]
    TooMuch { path: WorkspacePath, limit: usize },
    /// `bytes` is what was counted until it was too much.
    #[error(
        "`{path}` holds {bytes} bytes or more; one edit can move, remove or change files of {limit} bytes"
    )]
    TooManyBytes { path: WorkspacePath, bytes: u64, limit: u64 },
    /// Contents that a branch replaces are kept, in memory and on the disk, for as long as the branch.
    #[error(
        "`{path}` has more than {limit} bytes, too many for a branch, which keeps what it replaces; change it on \
         the disk itself"
    )]
    TooLarge { path: WorkspacePath, limit: u64 },
    /// Limit of the texts that are laid over files, not of a branch.
    #[error("the unsaved texts would have {bytes} bytes in all; the limit is {limit}")]
    BuffersFull { bytes: u64, limit: u64 },
    /// The edit was made for another text.
    #[error("`{path}` has another content than the edit is for")]
    OtherContent {
        path: WorkspacePath,
        /// `None`: there should be no file.
        expected: Option<ContentHash>,
        /// `None`: there is no file.
        actual: Option<ContentHash>,
    },
    /// A branch can neither take it along nor have a commit remove it.
    #[error("`{path}` cannot be moved or removed: the directory `{directory}` holds {what}")]
    CannotBeTaken { path: WorkspacePath, directory: WorkspacePath, what: String },
    #[error("`{path}` would lie, or hold something, more than {limit} directories deep")]
    TooDeep { path: WorkspacePath, limit: u32 },
    #[error("{}", crate::version_control::refusal(.0))]
    VersionControl(WorkspacePath),
    /// The base could not be read, or a link leads out of the workspace or in a circle.
    #[error("`{path}` cannot be reached: {source}")]
    Unreachable { path: WorkspacePath, source: io::Error },
}

impl Branch {
    /// A branch without edits.
    pub fn new(base: Arc<dyn View>) -> Self {
        Self::starting(State::new(base))
    }

    /// A branch in which files of version control can be edited like others, to make a view of a folder that programs wrote to. It
    /// cannot be committed with such edits.
    pub fn of_folder(base: Arc<dyn View>) -> Self {
        Self { edits_repositories: true, ..Self::new(base) }
    }

    /// A new branch that starts from this one as it is now.
    pub fn fork(&self) -> Self {
        Self::starting(self.state().forked())
    }

    /// The branch as it is now, for good.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.state().clone(), self.revision())
    }

    pub fn revision(&self) -> Revision {
        self.history.newest().entry.revision
    }

    fn starting(state: State) -> Self {
        let start = LogEntry::now(Revision(0), StepKind::Edit, "start", Vec::new());
        Self { history: History::starting(start, state), edits_repositories: false }
    }

    fn state(&self) -> &State {
        &self.history.newest().state
    }
}

impl Snapshot {
    /// A new branch that starts from this snapshot, at revision 0.
    pub fn fork(&self) -> Branch {
        Branch::starting(self.state().forked())
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
