//! What programs wrote: overlayfs' upper layer, in which a device of number 0 stands for what was removed.

#![expect(clippy::disallowed_methods, reason = "what programs wrote is in memory")]

use std::{
    fs::{self, File},
    io::{self, Read as _},
    os::{
        fd::AsRawFd as _,
        unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _},
    },
    path::Path,
};

use super::{
    OPAQUE,
    wire::{Event, Wire},
};
use crate::layer::{Header, HeaderKind};

pub(super) fn tell(written: &File, wire: &Wire) -> io::Result<()> {
    let root = format!("/proc/self/fd/{}", written.as_raw_fd());
    below(Path::new(&root), Path::new(""), wire)
}

fn below(root: &Path, folder: &Path, wire: &Wire) -> io::Result<()> {
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
                wire.send(&Event::Written(header(HeaderKind::Directory)), &[])?;
            }
            below(root, &path, wire)?;
        } else if kind.is_symlink() {
            let Some(to) = fs::read_link(&at)?.to_str().map(str::to_owned) else { continue };
            wire.send(&Event::Written(header(HeaderKind::Link(to))), &[])?;
        } else if kind.is_char_device() && metadata.rdev() == 0 {
            wire.send(&Event::Written(header(HeaderKind::Removed)), &[])?;
        } else if kind.is_file() {
            let executable = metadata.permissions().mode() & 0o111 != 0;
            let mut bytes = Vec::new();
            File::open(&at)?.read_to_end(&mut bytes)?;
            let size = bytes.len() as u64;
            wire.send(&Event::Written(header(HeaderKind::File { size, executable })), &[])?;
            wire.write(&bytes)?;
        }
    }
    Ok(())
}

pub(super) fn is_opaque(path: &Path) -> bool {
    let mut value = [0; 1];
    rustix::fs::lgetxattr(path, OPAQUE, &mut value[..]).is_ok_and(|length| length == 1 && value[0] == b'y')
}
