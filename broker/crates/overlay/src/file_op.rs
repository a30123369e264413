//! The changes to a workspace folder that a branch asks for and a commit makes.

use bytes::Bytes;

use crate::{ContentHash, Permissions, WorkspacePath};

/// A change to the workspace folder. Each path is changed at most once, but a removed entry may be replaced by one of
/// another kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileOp {
    /// A file's new contents, or a new file with the directories it needs. The file keeps its permissions
    /// but for being executable; a directory that `before` says is there goes, if it is emptied.
    Write {
        path: WorkspacePath,
        bytes: Bytes,
        executable: bool,
        before: Expected,
        /// The file that stands there until the commit, if one does, gives permissions and owner.
        moved_from: Option<WorkspacePath>,
        /// Permissions of the file if it is made anew and no other file gives them.
        permissions: Option<Permissions>,
    },
    /// Removes a file or a link.
    Remove {
        path: WorkspacePath,
        before: Expected,
    },
    /// A symbolic link, made or replacing what is there. Where `target` leads is not looked at.
    Symlink {
        path: WorkspacePath,
        target: String,
        before: Expected,
    },
    SetExecutable {
        path: WorkspacePath,
        executable: bool,
        before: Expected,
    },
    /// A directory, with those above it that are missing. One that is there already stays.
    CreateDir {
        path: WorkspacePath,
        /// Like that of a file.
        moved_from: Option<WorkspacePath>,
        permissions: Option<Permissions>,
    },
    /// Removes a directory that the other changes empty. Anything else in it is a conflict.
    RemoveDir {
        path: WorkspacePath,
    },
}

/// State that a change was made on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    Missing,
    File(ContentHash, /* executable */ bool),
    Symlink(String),
    Directory,
    /// Whatever file or link is there may be lost. A directory is never lost in this way.
    Anything,
}
