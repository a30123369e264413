//! What programs wrote: overlayfs' upper layer, in which a device of number 0 stands for what was removed.

#![expect(clippy::disallowed_methods, reason = "what programs wrote is in memory")]

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    os::{
        fd::AsRawFd as _,
        unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _},
    },
    path::{Path, PathBuf},
};

use super::{
    OPAQUE,
    wire::{Event, Wire},
};
use crate::layer::{Header, HeaderKind};

/// Tells what programs wrote; of files, only those of `files`.
pub(super) fn tell(written: &File, files: &BTreeSet<String>, wire: &Wire) -> io::Result<()> {
    let mut told = |header: Header, at: &Path| {
        if !header.is_file() {
            return wire.send(&Event::Written(header), &[]);
        }
        if !files.contains(&header.path) {
            return Ok(());
        }
        let bytes = match fs::read(at) {
            Ok(bytes) => bytes,
            // Another program has removed it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        wire.send(&Event::Written(header.with_size(bytes.len())), &[])?;
        wire.write(&bytes)
    };
    below(&root(written), Path::new(""), &mut told)
}

/// Tells of the files that programs wrote, without their contents.
pub(super) fn list(written: &File, wire: &Wire) -> io::Result<()> {
    below(&root(written), Path::new(""), &mut |header, _| list_one(header, wire))
}

pub(super) fn list_one(header: Header, wire: &Wire) -> io::Result<()> {
    let HeaderKind::File { size, .. } = header.kind else { return Ok(()) };
    wire.send(&Event::Listed { path: header.path, size }, &[])
}

fn root(written: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", written.as_raw_fd()))
}

fn below(
    root: &Path,
    folder: &Path,
    tell: &mut impl FnMut(Header, &Path) -> io::Result<()>,
) -> io::Result<()> {
    let mut names: Vec<_> = fs::read_dir(root.join(folder))?.collect::<io::Result<_>>()?;
    names.sort_by_key(fs::DirEntry::file_name);
    for entry in names {
        let path = folder.join(entry.file_name());
        // What has no name in UTF-8 has none in a branch.
        let Some(name) = path.to_str() else { continue };
        let (at, metadata) = (root.join(&path), entry.metadata()?);
        let kind = metadata.file_type();
        let header = |kind| Header { path: name.to_owned(), kind, modified: None };
        if kind.is_dir() {
            if is_opaque(&at) {
                tell(header(HeaderKind::Directory), &at)?;
            }
            below(root, &path, tell)?;
        } else if kind.is_symlink() {
            let Some(to) = fs::read_link(&at)?.to_str().map(str::to_owned) else { continue };
            tell(header(HeaderKind::Link(to)), &at)?;
        } else if kind.is_char_device() && metadata.rdev() == 0 {
            tell(header(HeaderKind::Removed), &at)?;
        } else if kind.is_file() {
            let executable = metadata.permissions().mode() & 0o111 != 0;
            tell(header(HeaderKind::File { size: metadata.size(), executable }), &at)?;
        }
    }
    Ok(())
}

pub(super) fn is_opaque(path: &Path) -> bool {
    let mut value = [0; 1];
    rustix::fs::lgetxattr(path, OPAQUE, &mut value[..]).is_ok_and(|length| length == 1 && value[0] == b'y')
}
