//! What the base had where a branch edits, as of the first touch: what a commit checks, and merges start from.

use std::io;

use bytes::Bytes;
use rpds::RedBlackTreeMapSync;

use super::{EditError, tree::Tree};
use crate::{ContentHash, FileKind, Metadata, View, WorkspacePath};

/// What the base had at a path when a branch, or one that it was forked from, first touched it.
#[derive(Debug, Clone)]
pub enum Origin {
    Missing,
    File {
        /// The slice that the base gave, shared.
        bytes: Bytes,
        /// Of `bytes`.
        hash: ContentHash,
        executable: bool,
    },
    /// The text of the link.
    Symlink(String),
    /// Not with what is in it.
    Directory,
    /// A socket, a device, or a link whose text is not UTF-8.
    Other,
}

/// One origin per touched path; shared by forks.
pub(super) type Origins = RedBlackTreeMapSync<WorkspacePath, Origin>;

impl Origin {
    /// What `view` has at `path` now.
    pub(super) fn look(view: &dyn View, path: &WorkspacePath) -> io::Result<Self> {
        Self::found(view, path, view.metadata(path))
    }

    /// The same, where the look is done and `metadata` is what it gave.
    pub(super) fn found(
        view: &dyn View,
        path: &WorkspacePath,
        metadata: io::Result<Metadata>,
    ) -> io::Result<Self> {
        let metadata = match metadata {
            Ok(metadata) => metadata,
            Err(error) if is_missing(&error) => return Ok(Self::Missing),
            Err(error) => return Err(error),
        };
        Ok(match metadata.kind {
            FileKind::File => {
                let (bytes, hash) = view.read_hashed(path)?;
                Self::File { bytes, hash, executable: metadata.executable }
            }
            FileKind::Symlink => match view.read_link(path) {
                Ok(target) => Self::Symlink(target),
                Err(error) if error.kind() == io::ErrorKind::InvalidData => Self::Other,
                Err(error) => return Err(error),
            },
            FileKind::Directory => Self::Directory,
            FileKind::Other => Self::Other,
        })
    }

    /// Whether `view` still has this at `path`. Reads no content that the view knows the hash of.
    pub(super) fn holds(&self, view: &dyn View, path: &WorkspacePath) -> io::Result<bool> {
        if let Self::File { hash, executable, .. } = self {
            return match view.metadata(path) {
                Ok(it) if it.kind == FileKind::File && it.executable == *executable => {
                    Ok(view.hash(path)? == *hash)
                }
                Ok(_) => Ok(false),
                Err(error) if is_missing(&error) => Ok(false),
                Err(error) => Err(error),
            };
        }
        match view.metadata(path) {
            // Its content need not be read to know that this is something else.
            Ok(metadata) if metadata.kind == FileKind::File => Ok(false),
            _ => Ok(Self::look(view, path)? == *self),
        }
    }
}

/// Contents are compared by their hashes.
impl PartialEq for Origin {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::File { hash: a, executable: a_executable, .. },
                Self::File { hash: b, executable: b_executable, .. },
            ) => a == b && a_executable == b_executable,
            (Self::Symlink(a), Self::Symlink(b)) => a == b,
            (Self::Missing, Self::Missing)
            | (Self::Directory, Self::Directory)
            | (Self::Other, Self::Other) => true,
            _ => false,
        }
    }
}

impl Eq for Origin {}

/// `origins` with what the base has at each of `paths` that is not among them yet.
///
/// Where the base is hidden from the branch nothing was ever seen, so that what is there now came later.
pub(super) fn record(
    origins: &Origins,
    tree: &Tree,
    paths: impl IntoIterator<Item = WorkspacePath>,
) -> Result<Origins, EditError> {
    let mut origins = origins.clone();
    let saved = tree.saved();
    for path in paths {
        if !origins.contains_key(&path) {
            let origin = match tree.shows_base_at(&path) {
                true => Origin::look(&*saved, &path)
                    .map_err(|source| EditError::Unreachable { path: path.clone(), source })?,
                false => Origin::Missing,
            };
            origins.insert_mut(path, origin);
        }
    }
    Ok(origins)
}

/// The same with origins that are known already.
pub(super) fn record_known(
    mut origins: Origins,
    known: impl IntoIterator<Item = (WorkspacePath, Origin)>,
) -> Origins {
    for (path, origin) in known {
        if !origins.contains_key(&path) {
            origins.insert_mut(path, origin);
        }
    }
    origins
}

/// The paths at which the two differ, each with what `after` has. Sorted.
pub(super) fn difference(before: &Origins, after: &Origins) -> Vec<(WorkspacePath, Option<Origin>)> {
    let mut differing = Vec::new();
    let mut old = before.iter().peekable();
    for (path, origin) in after {
        while let Some((gone, _)) = old.next_if(|(it, _)| *it < path) {
            differing.push((gone.clone(), None));
        }
        let was = old.next_if(|(it, _)| *it == path).map(|(_, it)| it);
        // What both share is at the same place.
        if !was.is_some_and(|was| std::ptr::eq(was, origin) || was == origin) {
            differing.push((path.clone(), Some(origin.clone())));
        }
    }
    differing.extend(old.map(|(gone, _)| (gone.clone(), None)));
    differing
}

/// Under a file there is nothing, whatever the system calls that.
pub(super) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
