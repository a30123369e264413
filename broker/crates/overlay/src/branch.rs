//! Edits laid over a base, forked and snapshot at no cost.
//!
//! A branch is a persistent tree over its base. An edit copies the nodes on the way to what it changes
//! and shares the rest, so a fork or a snapshot is one more reference to the tree as it is. A fork is of
//! that moment: later edits of either side are not seen by the other, and there are no chains to walk.
//!
//! What the base says is not remembered: where a branch holds no edit, the base shows through as it is
//! at the moment of reading.

mod edit;
mod snapshot;
mod tree;

use std::{fmt, io, sync::Arc};

pub use snapshot::Snapshot;
use tree::Tree;

use crate::{View, WorkspacePath};

/// Copy-on-write edits over a base. Nothing of them ever reaches the base.
#[derive(Clone)]
pub struct Branch {
    tree: Tree,
    revision: Revision,
}

/// Counts a branch's edits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Revision(pub u64);

/// Why an edit was refused. The branch is then as it was.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error("the workspace root itself cannot be edited")]
    Root,
    #[error("`{0}` does not exist")]
    NotFound(WorkspacePath),
    #[error("`{0}` already exists")]
    AlreadyExists(WorkspacePath),
    /// Something other than a directory stands there, or on the way there.
    #[error("`{0}` is not a directory")]
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
    #[error("a path of {length} bytes is too long; the limit is {limit}")]
    TooLong { length: usize, limit: usize },
    #[error("`{path}` would lie, or hold something, more than {limit} directories deep")]
    TooDeep { path: WorkspacePath, limit: u32 },
    /// The base could not be read, or a link leads out of the workspace or in a circle.
    #[error("`{path}` cannot be reached: {source}")]
    Unreachable { path: WorkspacePath, source: io::Error },
}

impl Branch {
    /// A branch without edits.
    pub fn new(base: Arc<dyn View>) -> Self {
        Self { tree: Tree::new(base), revision: Revision::default() }
    }

    /// A new branch that starts from this one as it is now.
    pub fn fork(&self) -> Self {
        self.snapshot().fork()
    }

    /// The branch as it is now, for good.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.tree.clone(), self.revision)
    }

    pub fn revision(&self) -> Revision {
        self.revision
    }
}

impl Snapshot {
    /// A new branch that starts from this snapshot, at revision 0.
    pub fn fork(&self) -> Branch {
        Branch { tree: self.tree().clone(), revision: Revision::default() }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
