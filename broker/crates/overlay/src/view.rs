//! The one read trait, and what it answers with.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::Arc,
};

use bytes::Bytes;

use crate::{ContentHash, Extensions, WorkspacePath};

/// Read access to a tree of files.
///
/// The four required methods follow **no** symbolic link: a link anywhere in `path` (for `read` and
/// `list` also at its end) is [`io::ErrorKind::NotADirectory`]. Callers that want links followed
/// [`resolve`](View::resolve) first, or use [`open`](View::open). So a link is only ever followed
/// here, against the tree that the view shows, and can never lead out of the root.
///
/// Errors carry the kind that a disk would give: `NotFound`, `NotADirectory`, `IsADirectory`,
/// `PermissionDenied`, `Unsupported` for a socket or device.
pub trait View: Send + Sync {
    /// A regular file's bytes, shared and not copied where the view holds them already.
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes>;

    /// Returns the metadata of `path` itself (like `lstat`).
    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata>;

    /// The entries of a directory, sorted by name. Names that are not UTF-8 are left out and counted.
    fn list(&self, path: &WorkspacePath) -> io::Result<Listing>;

    /// The hash of what [`read`](View::read) gives, and the same errors, but for files that are too large to be
    /// read: a disk hashes those, too. A view that knows it already reads nothing.
    fn hash(&self, path: &WorkspacePath) -> io::Result<ContentHash> {
        self.read(path).map(|bytes| ContentHash::of(&bytes))
    }

    /// Returns the hash, with whether the file may be executed.
    fn file_hash(&self, path: &WorkspacePath) -> io::Result<FileHash> {
        let hash = self.hash(path)?;
        Ok(FileHash { hash, executable: self.metadata(path)?.executable })
    }

    /// Returns the hashes of many names of one directory, in their order. Cheaper than one after the other for a view
    /// that has to walk to the directory each time. A file of more than `largest` bytes is not read for it:
    /// `FileTooLarge`, unless the hash is known.
    fn hash_all(&self, directory: &WorkspacePath, names: &[&str], largest: u64) -> Vec<io::Result<FileHash>> {
        names.iter().map(|it| hash_within(self, &directory.child(it), largest)).collect()
    }

    /// A file's bytes and the hash of just these. A view that knows it already does not hash again.
    fn read_hashed(&self, path: &WorkspacePath) -> io::Result<(Bytes, ContentHash)> {
        self.read(path).map(|bytes| {
            let hash = ContentHash::of(&bytes);
            (bytes, hash)
        })
    }

    /// The text of a symbolic link; `InvalidInput` if `path` is none.
    fn read_link(&self, path: &WorkspacePath) -> io::Result<String>;

    /// Returns the view without the unsaved texts of editors; `None` if there are none. Writes to the disk go beneath those.
    fn saved(&self) -> Option<Arc<dyn View>> {
        None
    }

    /// Returns the paths at which this may differ from the folder on the disk that it lies over. Sorted, and none of
    /// them lies below another: each path stands for itself and everything below it.
    fn edits(&self) -> Vec<WorkspacePath> {
        Vec::new()
    }

    /// The folder that this shows, if all changes of it are told: what was learned of the view can be kept then.
    fn tracked(&self) -> Option<Tracked> {
        None
    }

    /// The link-free path that `path` leads to when every symbolic link is followed.
    ///
    /// A missing last component is kept, so that the answer can be created or reported missing. A
    /// link that leads out of the root is `PermissionDenied`, a loop is `InvalidInput`; both name the link.
    fn resolve(&self, path: &WorkspacePath) -> io::Result<WorkspacePath> {
        resolve(self, path, true)
    }

    /// Resolves like [`resolve`](View::resolve), but a link at the very end of `path` is not followed.
    fn resolve_parent(&self, path: &WorkspacePath) -> io::Result<WorkspacePath> {
        resolve(self, path, false)
    }

    /// Reads a file with links followed. Costs nothing extra where no link is in the way.
    fn open(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        match self.read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => self.read(&self.resolve(path)?),
            answer => answer,
        }
    }
}

/// A folder all of whose changes are told, so that what was learned of it at one moment is true at a later one but for
/// the paths that were told in between.
pub trait ChangeLog: Send + Sync {
    /// Waits until everything that happened before the call was told. `None` if that cannot be promised, now or ever:
    /// then everything is looked at.
    fn sync(&self) -> Option<Moment>;

    /// Returns the paths that may have changed since `moment`, even for a time only; `None` if that is not known any
    /// more. Sorted. Each path stands for everything below it, too, and for the listing of the directory that holds
    /// it.
    fn changed_since(&self, moment: Moment) -> Option<Vec<WorkspacePath>>;

    /// Whether a change of the result of `look` would be reported.
    fn covers(&self, look: Look<'_>) -> bool;

    /// Data that others keep with the folder, for as long as it is open.
    fn extensions(&self) -> &Extensions;
}

/// Counts what a [`ChangeLog`] was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub u64);

/// Subject of a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look<'a> {
    /// The entry at the path itself: its kind, its bytes, its target.
    At(&'a WorkspacePath),
    /// The names in a directory.
    Listing(&'a WorkspacePath),
}

/// A view as edits over a folder.
#[derive(Clone)]
pub struct Tracked {
    pub log: Arc<dyn ChangeLog>,
    pub folder: Arc<dyn View>,
    /// Paths at which the view may differ from the folder, in the form of [`ChangeLog::changed_since`].
    pub edits: Vec<WorkspacePath>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileKind {
    File,
    Directory,
    Symlink,
    /// A socket, device or pipe: listed, never read.
    Other,
}

/// Metadata of an entry in a view. Deliberately without times and inode numbers: an answer must not depend on
/// differences between two trees of equal content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Metadata {
    pub kind: FileKind,
    /// Bytes; 0 for anything but a file.
    pub size: u64,
    /// Whether any user may execute the file; false for anything but a file.
    pub executable: bool,
}

/// All that tells a file from another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileHash {
    pub hash: ContentHash,
    /// Whether any user may execute it.
    pub executable: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Entry {
    pub name: String,
    pub kind: FileKind,
}

/// A directory's entries, sorted by name, with what could not be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Listing {
    pub entries: Vec<Entry>,
    /// Names that are not UTF-8.
    pub not_utf8: u64,
}

/// Entries that a walk passed over, counted by reason and so never lost silently.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Names that are not UTF-8.
    pub not_utf8: u64,
    /// Directories or files that could not be read, with the reason.
    pub unreadable: BTreeMap<WorkspacePath, String>,
    /// Sockets, devices and pipes.
    pub special: u64,
    /// Symbolic links that lead nowhere, in a circle, or out of the workspace.
    pub broken_links: u64,
    /// Files that are larger than what is checked.
    pub too_large: u64,
}

impl Skipped {
    pub fn total(&self) -> u64 {
        self.not_utf8 + self.unreadable.len() as u64 + self.special + self.broken_links + self.too_large
    }
}

/// Returns the paths, sorted, and without those that lie below another.
pub(crate) fn outermost(paths: impl IntoIterator<Item = WorkspacePath>) -> Vec<WorkspacePath> {
    let all: BTreeSet<_> = paths.into_iter().collect();
    let is_below = |it: &WorkspacePath| it.ancestors().skip(1).any(|above| all.contains(&above));
    all.iter().filter(|it| !is_below(it)).cloned().collect()
}

/// [`View::file_hash`] of a file of at most `largest` bytes, whose size is looked at first.
pub(crate) fn hash_within<V: View + ?Sized>(
    view: &V,
    path: &WorkspacePath,
    largest: u64,
) -> io::Result<FileHash> {
    if view.metadata(path)?.size > largest {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    view.file_hash(path)
}

/// Greatest number of links followed in resolving one path, as on Linux.
const MAX_LINKS: u32 = 40;

fn resolve<V: View + ?Sized>(view: &V, path: &WorkspacePath, follow_last: bool) -> io::Result<WorkspacePath> {
    let mut todo: Vec<String> = path.components().rev().map(str::to_owned).collect();
    let mut done = WorkspacePath::root();
    let mut links = 0;
    while let Some(name) = todo.pop() {
        if name == ".." {
            done = done.parent().ok_or_else(|| leads_out(path))?;
            continue;
        }
        let next = done.child(&name);
        let is_last = todo.is_empty();
        match view.metadata(&next) {
            Ok(metadata) if metadata.kind == FileKind::Symlink && (follow_last || !is_last) => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidInput,
                        format!("`{path}` is a loop of symbolic links"),
                    ));
                }
                let target = view.read_link(&next)?;
                if target.starts_with('/') {
                    return Err(leads_out(&next));
                }
                todo.extend(target.split('/').rev().filter(|it| !matches!(*it, "" | ".")).map(str::to_owned));
            }
            Ok(metadata) if metadata.kind != FileKind::Directory && !is_last => {
                return Err(io::Error::new(
                    io::ErrorKind::NotADirectory,
                    format!("`{next}` is not a directory"),
                ));
            }
            Ok(_) => done = next,
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_last => done = next,
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

fn leads_out(link: &WorkspacePath) -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!("the symbolic link `{link}` leads out of the workspace"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_below_another_goes() {
        let paths = ["a/b", "c/d", "a-b", "a", "a/b/c"].map(|it| WorkspacePath::new(it).unwrap());
        let left: Vec<_> = outermost(paths).iter().map(WorkspacePath::to_string).collect();
        assert_eq!(left, ["a", "a-b", "c/d"]);
    }
}
