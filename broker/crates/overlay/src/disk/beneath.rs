//! Linux: the kernel itself keeps every path beneath the root and free of links.

use std::{
    fs::File,
    io,
    mem::MaybeUninit,
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

use bytes::Bytes;
use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags, Stat},
    io::{Errno, retry_on_intr},
};

use super::{Door, Stamp, Stamped};
use crate::{ContentHash, Entry, FileKind, Listing, Metadata, View, WorkspacePath};

/// Enough for some hundred names in one system call.
const LISTING_BUFFER: usize = 32 * 1024;

/// Without `NONBLOCK`, to open a pipe would wait for someone to write into it.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

pub(super) struct Beneath {
    root: OwnedFd,
}

impl Beneath {
    /// `None` where the kernel, or a sandbox around this process, does not offer `openat2`.
    pub(super) fn new(root: &Path) -> io::Result<Option<Self>> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let beneath = Self { root: rustix::fs::open(root, flags, Mode::empty())? };
        match openat2(&beneath.root, ".", OFlags::PATH) {
            Ok(_) => Ok(Some(beneath)),
            Err(Errno::NOSYS | Errno::PERM) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    fn open(&self, path: &WorkspacePath, flags: OFlags) -> io::Result<OwnedFd> {
        open_at(&self.root, if path.is_root() { "." } else { path.as_str() }, flags)
    }

    fn open_file(&self, path: &WorkspacePath) -> io::Result<File> {
        self.open(path, READ).map(File::from)
    }

    fn open_directory(&self, path: &WorkspacePath) -> io::Result<File> {
        self.open(path, OFlags::RDONLY | OFlags::DIRECTORY).map(File::from)
    }

    /// A handle of what stands at `path` itself, even a link; links on the way are still refused.
    fn open_itself(&self, path: &WorkspacePath) -> io::Result<OwnedFd> {
        self.open(path, OFlags::PATH | OFlags::NOFOLLOW)
    }
}

fn openat2(directory: &OwnedFd, path: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let flags = flags | OFlags::CLOEXEC;
    retry_on_intr(|| rustix::fs::openat2(directory, path, flags, Mode::empty(), resolve))
}

fn open_at(directory: &OwnedFd, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
    openat2(directory, path, flags).map_err(|errno| match errno {
        Errno::LOOP => io::ErrorKind::NotADirectory.into(),
        // A socket, or a device that nothing drives.
        Errno::NXIO | Errno::NODEV => io::ErrorKind::Unsupported.into(),
        errno => super::with_long_names_missing(errno.into(), path.len()),
    })
}

fn look(file: impl AsFd) -> io::Result<Stamp> {
    let stat = rustix::fs::fstat(file)?;
    Ok(Stamp::of_stat(metadata(&stat), &stat))
}

impl Door for Beneath {
    fn stamp(&self, path: &WorkspacePath) -> io::Result<Stamp> {
        look(&self.open_itself(path)?)
    }

    /// Walks the way to the directory once: to look at a name in it is one call instead of three.
    fn stamps(&self, directory: &WorkspacePath, names: &[&str]) -> Vec<io::Result<Stamp>> {
        let Ok(handle) = self.open(directory, OFlags::PATH | OFlags::DIRECTORY) else {
            return names.iter().map(|it| self.stamp(&directory.child(it))).collect();
        };
        let look = |name: &&str| {
            let stat = rustix::fs::statat(&handle, *name, AtFlags::SYMLINK_NOFOLLOW);
            let stat = stat.map_err(|errno| super::with_long_names_missing(errno.into(), name.len()))?;
            Ok(Stamp::of_stat(metadata(&stat), &stat))
        };
        names.iter().map(look).collect()
    }

    fn read_stamped(&self, path: &WorkspacePath) -> io::Result<Stamped<Bytes>> {
        let file = self.open_file(path)?;
        super::stamped(|| look(&file), |metadata| super::read_regular(&file, metadata))
    }

    fn hash_stamped(&self, path: &WorkspacePath, largest: u64) -> io::Result<Stamped<ContentHash>> {
        let file = self.open_file(path)?;
        super::stamped(
            || look(&file),
            |metadata| super::hash_regular(&file, metadata, largest, &mut Vec::new()),
        )
    }

    /// Walks the way to the directory once, and reads into one buffer.
    fn hashes_stamped(
        &self,
        directory: &WorkspacePath,
        names: &[&str],
        largest: u64,
    ) -> Vec<io::Result<Stamped<ContentHash>>> {
        let handle = self.open(directory, OFlags::PATH | OFlags::DIRECTORY);
        let mut bytes = Vec::new();
        let hash = |name: &&str| {
            let file = match &handle {
                Ok(handle) => File::from(open_at(handle, name, READ)?),
                Err(_) => self.open_file(&directory.child(name))?,
            };
            super::stamped(
                || look(&file),
                |metadata| super::hash_regular(&file, metadata, largest, &mut bytes),
            )
        };
        names.iter().map(hash).collect()
    }

    fn list_stamped(&self, path: &WorkspacePath) -> io::Result<Stamped<Listing>> {
        let directory = self.open_directory(path)?;
        super::stamped(|| look(&directory), |_| list(&directory))
    }
}

impl View for Beneath {
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        let file = self.open_file(path)?;
        super::read_regular(&file, look(&file)?.metadata())
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        Ok(metadata(&rustix::fs::fstat(self.open_itself(path)?)?))
    }

    fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
        list(&self.open_directory(path)?)
    }

    fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
        let link = self.open_itself(path)?;
        if metadata(&rustix::fs::fstat(&link)?).kind != FileKind::Symlink {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        super::link_text(rustix::fs::readlinkat(&link, "", Vec::new())?.into_bytes())
    }
}

fn list(directory: &File) -> io::Result<Listing> {
    let mut buffer = vec![MaybeUninit::uninit(); LISTING_BUFFER];
    let mut names = RawDir::new(directory, &mut buffer);
    let mut listing = Listing::default();
    while let Some(entry) = names.next() {
        let entry = entry?;
        match entry.file_name().to_str() {
            Ok("." | "..") => {}
            Ok(name) => listing.entries.extend(named_entry(directory, name, entry.file_type())?),
            Err(_) => listing.not_utf8 += 1,
        }
    }
    listing.entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(listing)
}

/// `None` if the entry went away before its kind, which some file systems do not list, was known.
fn named_entry(directory: impl AsFd, name: &str, file_type: FileType) -> io::Result<Option<Entry>> {
    let kind = match file_type {
        FileType::Unknown => match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => metadata(&stat).kind,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        },
        known => kind(known),
    };
    Ok(Some(Entry { name: name.to_owned(), kind }))
}

fn metadata(stat: &Stat) -> Metadata {
    let kind = kind(FileType::from_raw_mode(stat.st_mode));
    let is_file = kind == FileKind::File;
    let size = if is_file { stat.st_size.unsigned_abs() } else { 0 };
    Metadata { kind, size, executable: is_file && stat.st_mode & 0o111 != 0 }
}

fn kind(file_type: FileType) -> FileKind {
    match file_type {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Symlink,
        _ => FileKind::Other,
    }
}
