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

use crate::{Listing, Metadata, View, WorkspacePath};

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
fn read_regular(mut file: &File, metadata: &fs::Metadata) -> io::Result<Bytes> {
    match metadata.file_type() {
        it if it.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        it if !it.is_file() => return Err(io::ErrorKind::Unsupported.into()),
        _ => {}
    }
    let size = u32::try_from(metadata.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let mut bytes = Vec::with_capacity(size as usize);
    // The file may have grown since, even beyond the limit; one byte more than allowed tells.
    file.by_ref().take(u64::from(u32::MAX) + 1).read_to_end(&mut bytes)?;
    if u32::try_from(bytes.len()).is_err() {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes.into())
}

/// Reads with a look at the open file or directory before and after.
fn stamped<T>(file: &File, read: impl FnOnce(&fs::Metadata) -> io::Result<T>) -> io::Result<Stamped<T>> {
    let before = file.metadata()?;
    let value = read(&before)?;
    Ok(Stamped { value, before: Stamp::of(&before), after: Stamp::of(&file.metadata()?) })
}

/// Link texts are kept in UTF-8, as paths are.
fn link_text(target: Vec<u8>) -> io::Result<String> {
    String::from_utf8(target)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the link's target is not UTF-8"))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
