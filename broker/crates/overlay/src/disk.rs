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
#[cfg(target_os = "linux")]
mod local;
mod portable;
mod stamp;

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use bytes::Bytes;
#[cfg(target_os = "linux")]
pub(crate) use local::is_local;
pub(crate) use stamp::Stamp;

use crate::{ContentHash, FileKind, Listing, Metadata, View, WorkspacePath};

/// Bytes of a file that are in memory while it is hashed.
const READ_CHUNK_SIZE: usize = 256 << 10;

/// A way to the files of a folder that follows no link.
trait Door: View {
    /// Returns the stamp of a path, which differs if the path has changed.
    fn stamp(&self, path: &WorkspacePath) -> io::Result<Stamp>;

    /// Returns the stamps of many names of one directory, in their order.
    fn stamps(&self, directory: &WorkspacePath, names: &[&str]) -> Vec<io::Result<Stamp>> {
        names.iter().map(|it| self.stamp(&directory.child(it))).collect()
    }

    /// Reads like [`View::read`].
    fn read_stamped(&self, path: &WorkspacePath) -> io::Result<Stamped<Bytes>>;

    /// The hash of a file of at most `largest` bytes, read in pieces; `FileTooLarge` for others, which are not read.
    fn hash_stamped(&self, path: &WorkspacePath, largest: u64) -> io::Result<Stamped<ContentHash>>;

    /// Returns the hashes of many files of one directory, in the order of their names.
    fn hashes_stamped(
        &self,
        directory: &WorkspacePath,
        names: &[&str],
        largest: u64,
    ) -> Vec<io::Result<Stamped<ContentHash>>> {
        names.iter().map(|it| self.hash_stamped(&directory.child(it), largest)).collect()
    }

    /// Lists like [`View::list`].
    fn list_stamped(&self, path: &WorkspacePath) -> io::Result<Stamped<Listing>>;
}

/// A value that was read, with the stamps of just the file or directory that was opened for it.
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

    pub(crate) fn hash_stamped(&self, path: &WorkspacePath) -> io::Result<Stamped<ContentHash>> {
        self.door.hash_stamped(path, u64::MAX)
    }

    pub(crate) fn hashes_stamped(
        &self,
        directory: &WorkspacePath,
        names: &[&str],
        largest: u64,
    ) -> Vec<io::Result<Stamped<ContentHash>>> {
        self.door.hashes_stamped(directory, names, largest)
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

    /// Reads in pieces, so that a file of any size takes no memory.
    fn hash(&self, path: &WorkspacePath) -> io::Result<ContentHash> {
        self.hash_stamped(path).map(|it| it.value)
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
fn read_regular(mut file: &File, metadata: Metadata) -> io::Result<Bytes> {
    expect_file(metadata)?;
    let size = u32::try_from(metadata.size).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let size = size as usize;
    let mut bytes = vec![0; size + 1];
    let read = match file.read(&mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
        read => read?,
    };
    bytes.truncate(read);
    // A read of one byte less than the buffer holds is complete. Otherwise the file has grown since, even beyond the
    // limit, for which one byte more than allowed is the sign, or the file system returns it in parts.
    if read != size {
        file.take(u64::from(u32::MAX) + 1 - read as u64).read_to_end(&mut bytes)?;
    }
    if u32::try_from(bytes.len()).is_err() {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes.into())
}

/// Hashes an open file, which is like this, to its end, unless it has more than `largest` bytes. The buffer grows to a
/// piece of it at most.
fn hash_regular(
    mut file: &File,
    metadata: Metadata,
    largest: u64,
    buffer: &mut Vec<u8>,
) -> io::Result<ContentHash> {
    expect_file(metadata)?;
    if metadata.size > largest {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    // A buffer of one byte more than the file has: a read that leaves room is complete.
    let room =
        usize::try_from(metadata.size.saturating_add(1)).unwrap_or(READ_CHUNK_SIZE).min(READ_CHUNK_SIZE);
    if buffer.len() < room {
        buffer.resize(room, 0);
    }
    let mut hasher = blake3::Hasher::new();
    let mut total = 0;
    loop {
        match file.read(&mut buffer[..room]) {
            Ok(0) => break,
            Ok(read) => {
                hasher.update(&buffer[..read]);
                total += read as u64;
                if read < room && total == metadata.size {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(ContentHash::from_bytes(*hasher.finalize().as_bytes()))
}

fn expect_file(metadata: Metadata) -> io::Result<()> {
    match metadata.kind {
        FileKind::File => Ok(()),
        FileKind::Directory => Err(io::ErrorKind::IsADirectory.into()),
        FileKind::Symlink | FileKind::Other => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// The error of a look at a path of so many bytes. A name that is too long for the file system is one that it does not
/// have; where the whole path is too long, it may well be there.
fn with_long_names_missing(error: io::Error, path: usize) -> io::Error {
    /// `PATH_MAX` of Linux; nowhere else is it more.
    const LONGEST_PATH: usize = 4096;
    match error.kind() {
        io::ErrorKind::InvalidFilename if path < LONGEST_PATH => io::ErrorKind::NotFound.into(),
        _ => error,
    }
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
