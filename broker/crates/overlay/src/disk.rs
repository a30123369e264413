//! A folder on the disk as a [`View`].
//!
//! On Linux every path is opened by `openat2` beneath a held handle of the root, with links refused by
//! the kernel, so that no moment exists in which a link could lead out. Elsewhere, and where `openat2`
//! is forbidden, each component is looked at before it is passed.
//!
//! Nothing is cached and nothing is ever written.

#![allow(clippy::disallowed_methods, reason = "this is the one door to the disk")]

#[cfg(target_os = "linux")]
mod beneath;
mod portable;
mod stamp;

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use bytes::Bytes;
pub(crate) use stamp::Stamp;

use crate::{ContentHash, FileKind, Listing, Metadata, View, WorkspacePath};

/// A way to the files of a folder that follows no link.
trait Door: View {
    /// What tells whether a path is still what it was.
    fn stamp(&self, path: &WorkspacePath) -> io::Result<Stamp>;

    /// The same for many names of one directory, in their order.
    fn stamps(&self, directory: &WorkspacePath, names: &[&str]) -> Vec<io::Result<Stamp>> {
        names.iter().map(|it| self.stamp(&directory.child(it))).collect()
    }

    /// As [`View::read`].
    fn read_stamped(&self, path: &WorkspacePath) -> io::Result<Stamped<Bytes>>;

    /// The hashes of many files of one directory, in the order of their names. Keeps no text.
    fn hashes_stamped(
        &self,
        directory: &WorkspacePath,
        names: &[&str],
    ) -> Vec<io::Result<Stamped<ContentHash>>> {
        let hash = |name: &&str| {
            let Stamped { value, before, after } = self.read_stamped(&directory.child(name))?;
            Ok(Stamped { value: ContentHash::of(&value), before, after })
        };
        names.iter().map(hash).collect()
    }

    /// As [`View::list`].
    fn list_stamped(&self, path: &WorkspacePath) -> io::Result<Stamped<Listing>>;
}

/// What was read, with the stamps of just the file or directory that was opened for it.
pub(crate) struct Stamped<T> {
    pub(crate) value: T,
    pub(crate) before: Stamp,
    pub(crate) after: Stamp,
}

/// A real folder, as it is at the moment of each read.
pub struct Disk {
    root: PathBuf,
    /// The root as it was given, for links that spell it so.
    spelled: PathBuf,
    door: Box<dyn Door>,
}

impl Disk {
    /// Opens a workspace folder, which must exist.
    pub fn new(root: &Path) -> io::Result<Self> {
        let canonical = fs::canonicalize(root)?;
        let door = open_door(&canonical)?;
        Ok(Self { root: canonical, spelled: std::path::absolute(root)?, door })
    }

    #[cfg(all(test, target_os = "linux"))]
    fn without_openat2(root: &Path) -> io::Result<Self> {
        let canonical = fs::canonicalize(root)?;
        let door = Box::new(portable::Portable::new(&canonical)?);
        Ok(Self { root: canonical, spelled: std::path::absolute(root)?, door })
    }

    /// The folder's absolute path, free of symbolic links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn stamp(&self, path: &WorkspacePath) -> io::Result<Stamp> {
        self.door.stamp(path)
    }

    pub(crate) fn stamps(&self, directory: &WorkspacePath, names: &[&str]) -> Vec<io::Result<Stamp>> {
        self.door.stamps(directory, names)
    }

    pub(crate) fn read_stamped(&self, path: &WorkspacePath) -> io::Result<Stamped<Bytes>> {
        self.door.read_stamped(path)
    }

    pub(crate) fn hashes_stamped(
        &self,
        directory: &WorkspacePath,
        names: &[&str],
    ) -> Vec<io::Result<Stamped<ContentHash>>> {
        self.door.hashes_stamped(directory, names)
    }

    pub(crate) fn list_stamped(&self, path: &WorkspacePath) -> io::Result<Stamped<Listing>> {
        self.door.list_stamped(path)
    }
}

/// The `target` of the link at `path` as it is told: relative to the link, if it is absolute and leads under
/// one of the `roots`, which are spellings of the same folder.
pub(crate) fn told_link(roots: [&Path; 2], path: &WorkspacePath, target: String) -> String {
    let absolute = Path::new(&target);
    let Some(rest) = roots.iter().find_map(|it| absolute.strip_prefix(it).ok()?.to_str()) else {
        return target;
    };
    let depth = path.components().count().saturating_sub(1);
    format!("{}{rest}", if depth == 0 { "./".to_owned() } else { "../".repeat(depth) })
}

#[cfg(target_os = "linux")]
fn open_door(root: &Path) -> io::Result<Box<dyn Door>> {
    Ok(match beneath::Beneath::new(root)? {
        Some(beneath) => Box::new(beneath),
        None => Box::new(portable::Portable::new(root)?),
    })
}

#[cfg(not(target_os = "linux"))]
fn open_door(root: &Path) -> io::Result<Box<dyn Door>> {
    Ok(Box::new(portable::Portable::new(root)?))
}

impl View for Disk {
    /// Files over 4 GiB are `FileTooLarge`: spans count in 32 bits.
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        self.door.read(path)
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        self.door.metadata(path)
    }

    fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
        self.door.list(path)
    }

    /// An absolute target under the root is told relative to the link, so that it can be followed.
    /// A target that is not UTF-8 is `InvalidData`.
    fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
        let target = self.door.read_link(path)?;
        Ok(told_link([&self.root, &self.spelled], path, target))
    }
}

/// Reads an open file, which is like this, to its end, into a buffer of just its size.
fn read_regular(file: &File, metadata: Metadata) -> io::Result<Bytes> {
    let mut bytes = Vec::new();
    read_into(&mut bytes, file, metadata)?;
    Ok(bytes.into())
}

/// The same into a buffer, in place of what it held.
fn read_into(bytes: &mut Vec<u8>, mut file: &File, metadata: Metadata) -> io::Result<()> {
    match metadata.kind {
        FileKind::File => {}
        FileKind::Directory => return Err(io::ErrorKind::IsADirectory.into()),
        FileKind::Symlink | FileKind::Other => return Err(io::ErrorKind::Unsupported.into()),
    }
    let size = u32::try_from(metadata.size).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let size = size as usize;
    bytes.clear();
    bytes.reserve_exact(size + 1);
    bytes.resize(size + 1, 0);
    let read = match file.read(bytes) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
        read => read?,
    };
    bytes.truncate(read);
    // One byte less than there was room for: that is all. Otherwise the file has grown since, even beyond the
    // limit, for which one byte more than allowed tells, or the file system gives it in parts.
    if read != size {
        file.take(u64::from(u32::MAX) + 1 - read as u64).read_to_end(bytes)?;
    }
    if u32::try_from(bytes.len()).is_err() {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(())
}

/// Reads with a look at the open file or directory before and after.
fn stamped<T>(
    look: impl Fn() -> io::Result<Stamp>,
    read: impl FnOnce(Metadata) -> io::Result<T>,
) -> io::Result<Stamped<T>> {
    let before = look()?;
    let value = read(before.metadata())?;
    Ok(Stamped { value, before, after: look()? })
}

/// Link texts are kept in UTF-8, as paths are.
fn link_text(target: Vec<u8>) -> io::Result<String> {
    String::from_utf8(target)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the link's target is not UTF-8"))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
