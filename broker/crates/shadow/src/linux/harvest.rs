//! Reads what programs wrote from overlayfs' upper layer, in which a device of number 0 stands for a removed entry.

#![expect(clippy::disallowed_methods, reason = "what programs wrote is in memory")]

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Read as _},
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _},
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Mode, OFlags, ResolveFlags, openat2},
    io::Errno,
};

use super::{
    OPAQUE, rename,
    wire::{Event, Wire},
};
use crate::layer::{Header, HeaderKind};

/// Tells what programs wrote; of files, only those of `files`.
pub(super) fn tell(written: &File, files: &BTreeSet<String>, wire: &Wire) -> io::Result<()> {
    let mut told = |header: Header| {
        let HeaderKind::File { size, .. } = header.kind else {
            return wire.send(&Event::Written(header), &[]);
        };
        if !files.contains(&header.path) {
            return Ok(());
        }
        let Some(file) = open(written, Path::new(&header.path), OFlags::NONBLOCK)? else { return Ok(()) };
        let file = File::from(file);
        // A pipe would be waited for, and what grew is more than was asked for.
        if !file.metadata()?.is_file() {
            return Ok(());
        }
        let mut bytes = Vec::new();
        file.take(size).read_to_end(&mut bytes)?;
        wire.send(&Event::Written(header.with_size(bytes.len())), &[])?;
        wire.write(&bytes)
    };
    below(written, Path::new(""), &mut told)
}

/// Tells of the files that programs wrote, without their contents.
pub(super) fn list(written: &File, wire: &Wire) -> io::Result<()> {
    below(written, Path::new(""), &mut |header| list_one(header, wire))
}

pub(super) fn list_one(header: Header, wire: &Wire) -> io::Result<()> {
    let HeaderKind::File { size, .. } = header.kind else { return Ok(()) };
    wire.send(&Event::Listed { path: header.path, size }, &[])
}

/// Programs run meanwhile, and may put a link in the place of anything: none is followed. `None` if it is gone.
fn open(written: &File, path: &Path, flags: OFlags) -> io::Result<Option<OwnedFd>> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match openat2(written, path, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty(), within) {
        Ok(file) => Ok(Some(file)),
        Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR | Errno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn below(written: &File, folder: &Path, tell: &mut impl FnMut(Header) -> io::Result<()>) -> io::Result<()> {
    let Some(opened) = open(written, folder, OFlags::DIRECTORY)? else { return Ok(()) };
    let held = PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd()));
    let mut names: Vec<_> = fs::read_dir(held)?.collect::<io::Result<_>>()?;
    names.sort_by_key(fs::DirEntry::file_name);
    for entry in names.into_iter().filter(|it| !rename::is_temporary(it.file_name().as_encoded_bytes())) {
        let path = folder.join(entry.file_name());
        // Names that are not UTF-8 cannot be in a branch.
        let Some(name) = path.to_str() else { continue };
        let at = entry.path();
        let Some(metadata) = still_there(entry.metadata())? else { continue };
        let kind = metadata.file_type();
        let header = |kind| Header { path: name.to_owned(), kind, modified: None };
        if kind.is_dir() {
            if is_opaque(&at) {
                tell(header(HeaderKind::Directory))?;
            }
            below(written, &path, tell)?;
        } else if kind.is_symlink() {
            let to = still_there(fs::read_link(&at))?;
            let Some(to) = to.and_then(|it| it.to_str().map(str::to_owned)) else { continue };
            tell(header(HeaderKind::Link(to)))?;
        } else if kind.is_char_device() && metadata.rdev() == 0 {
            tell(header(HeaderKind::Removed))?;
        } else if kind.is_file() {
            let executable = metadata.permissions().mode() & 0o111 != 0;
            tell(header(HeaderKind::File { size: metadata.size(), executable }))?;
        }
    }
    Ok(())
}

/// `None` if another program has removed it meanwhile, or put something else there.
fn still_there<T>(seen: io::Result<T>) -> io::Result<Option<T>> {
    match seen {
        Ok(it) => Ok(Some(it)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidInput) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

pub(super) fn is_opaque(path: &Path) -> bool {
    let mut value = [0; 1];
    rustix::fs::lgetxattr(path, OPAQUE, &mut value[..]).is_ok_and(|length| length == 1 && value[0] == b'y')
}
