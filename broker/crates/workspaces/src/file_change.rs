//! Changed paths as clients see them.

use overlay::{Change, ChangeKind, FileState, WorkspacePath};

/// A path that differs between two states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    pub path: WorkspacePath,
    /// Over gRPC, [`ChangeKind::TypeChanged`] is a modification.
    pub kind: ChangeKind,
    /// Whether the path is a directory, or was one if it was deleted. Its contents have changes of their own.
    pub is_directory: bool,
}

impl FileChange {
    pub(super) fn all(changes: Vec<Change>) -> Vec<Self> {
        changes.into_iter().map(Self::from).collect()
    }
}

impl From<Change> for FileChange {
    fn from(it: Change) -> Self {
        let state = it.after.or(it.before);
        Self { path: it.path, kind: it.kind, is_directory: state == Some(FileState::Directory) }
    }
}
