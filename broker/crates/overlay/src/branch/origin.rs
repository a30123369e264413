//! States of the base at edited paths, as of the first touch: checked by commits, and the common ancestor of merges.

use std::io;

use bytes::Bytes;
use rpds::RedBlackTreeMapSync;

use super::{EditError, edit::unreachable, tree::Tree};
use crate::{ContentHash, FileKind, Metadata, View, WorkspacePath};

/// State of the base at a path when a branch, or one that it was forked from, first touched it.
#[derive(Debug, Clone)]
pub enum Origin {
    Missing,
    File {
        /// The slice that the base gave, shared.
        bytes: Bytes,
        /// Hash of `bytes`.
        hash: ContentHash,
        executable: bool,
    },
    /// The text of the link.
    Symlink(String),
    /// A directory, without its entries.
    Directory,
    /// A socket, a device, or a link whose text is not UTF-8. Also what an edit is in conflict with, however the base is.
    Other,
}

/// Bytes of a file whose content is kept as an origin. It stays in memory, and in the store, for as long as a
/// branch that touched it.
pub(super) const MAX_KEPT: u64 = 256 << 20;

/// Origins by touched path; shared by forks.
pub(super) type Origins = RedBlackTreeMapSync<WorkspacePath, Origin>;

impl Origin {
    /// Reads the state of `path` in `view`. A file above [`MAX_KEPT`] is not read: the error is `FileTooLarge`.
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
            FileKind::File if metadata.size > MAX_KEPT => return Err(io::ErrorKind::FileTooLarge.into()),
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

    /// Whether `view` still has this at `path`. Reads no content whose hash the view has.
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
            // A file differs from this whatever its content is, so that is not read.
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
/// If the base is hidden from the branch nothing was ever seen, so that an entry that is there now came later.
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
                true => Origin::look(&*saved, &path).map_err(|error| unreachable(&path, error))?,
                false => Origin::Missing,
            };
            origins.insert_mut(path, origin);
        }
    }
    Ok(origins)
}

/// Records origins, some of which are known already.
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
        // An origin that both share is at the same place.
        if !was.is_some_and(|was| std::ptr::eq(was, origin) || was == origin) {
            differing.push((path.clone(), Some(origin.clone())));
        }
    }
    differing.extend(old.map(|(gone, _)| (gone.clone(), None)));
    differing
}

/// Whether the error means that there is no entry, under a file too, whatever the system calls that.
pub(super) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Branch, Listing, Memory, Revision, TextEdit};

    /// A base with one file that is too large to be held, and must not be read.
    struct Large(Memory);

    impl View for Large {
        fn read(&self, _: &WorkspacePath) -> io::Result<Bytes> {
            panic!("it is read")
        }

        fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
            Ok(Metadata { size: MAX_KEPT + 1, ..self.0.metadata(path)? })
        }

        fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
            self.0.list(path)
        }

        fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
            self.0.read_link(path)
        }
    }

    #[test]
    fn what_is_too_large_to_be_kept_is_neither_read_nor_edited() {
        let path = WorkspacePath::new("big").unwrap();
        let base = Large(Memory::from_files([("big", "")]).unwrap());
        let mut branch = Branch::new(Arc::new(base));
        let refused = [
            branch.write(&path, "x".into()),
            branch.write_if(&path, Some(ContentHash::of(b"")), "x".into()),
            branch.remove(&path),
            branch.rename(&path, &WorkspacePath::new("there").unwrap()),
            branch.set_executable(&path, true),
            branch.edit_text(&path, &[TextEdit { start: 0, end: 0, replacement: String::new() }]),
        ];
        let refused = refused.map(|it| it.unwrap_err());
        assert_eq!(
            refused[0].to_string(),
            "`big` has more than 268435456 bytes, too many for a branch, which keeps what it replaces; change \
             it on the disk itself"
        );
        let is_limit =
            |it: &EditError| matches!(it, EditError::TooLarge { .. } | EditError::TooManyBytes { .. });
        assert!(refused.iter().all(is_limit), "{refused:?}");
        assert_eq!(branch.revision(), Revision(0));
    }
}
