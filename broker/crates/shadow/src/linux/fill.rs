//! Writes a layer's entries into a folder: as a layer below the one that programs write to, or through the merged
//! folder while programs run in it.

#![expect(clippy::disallowed_methods, reason = "inside of a shadow folder, where everything is in memory")]

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use rustix::fs::{CWD, FileType, Mode, XattrFlags, makedev, mknodat, setxattr};

use super::OPAQUE;
use crate::layer::{Header, HeaderKind};

/// A layer that is not mounted yet. `below` is the folder that it will lie over.
pub(super) struct Filler<'p> {
    pub(super) layer: &'p Path,
    pub(super) below: &'p Path,
}

impl Filler<'_> {
    pub(super) fn add(&self, header: &Header, bytes: &[u8]) -> io::Result<()> {
        let to = self.layer.join(header.path());
        self.make_parents(header.path())?;
        match &header.kind {
            HeaderKind::Removed if fs::symlink_metadata(self.below.join(header.path())).is_err() => Ok(()),
            HeaderKind::Removed => {
                mknodat(CWD, &to, FileType::CharacterDevice, Mode::empty(), makedev(0, 0))?;
                Ok(())
            }
            HeaderKind::Directory => {
                self.make_directory(header.path())?;
                setxattr(&to, OPAQUE, b"y", XattrFlags::empty())?;
                Ok(())
            }
            HeaderKind::File { executable, .. } => {
                write_file(&to, bytes, self.mode_of(header.path(), *executable))
            }
            HeaderKind::Link(target) => symlink(target, &to),
        }
    }

    /// Directories of a layer show their own mode in the merged folder.
    fn make_parents(&self, path: &Path) -> io::Result<()> {
        let Some(parent) = path.parent() else { return Ok(()) };
        if parent.as_os_str().is_empty() || self.layer.join(parent).is_dir() {
            return Ok(());
        }
        self.make_parents(parent)?;
        self.make_directory(parent)
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        let to = self.layer.join(path);
        if !to.is_dir() {
            fs::create_dir(&to)?;
        }
        match fs::symlink_metadata(self.below.join(path)) {
            Ok(it) if it.is_dir() => fs::set_permissions(&to, it.permissions()),
            _ => Ok(()),
        }
    }

    fn mode_of(&self, path: &Path, executable: bool) -> u32 {
        let below = fs::symlink_metadata(self.below.join(path)).ok().filter(fs::Metadata::is_file);
        mode(below.map(|it| it.permissions().mode()), executable)
    }
}

/// The mode of a file that had `before`.
fn mode(before: Option<u32>, executable: bool) -> u32 {
    let mode = before.unwrap_or(0o644) & 0o777;
    // All who may read it may execute it.
    if executable { mode | ((mode & 0o444) >> 2) } else { mode & !0o111 }
}

fn write_file(to: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file: File = OpenOptions::new().write(true).create_new(true).mode(mode).open(to)?;
    file.write_all(bytes)?;
    // The mask does not count.
    file.set_permissions(Permissions::from_mode(mode))
}

/// Makes an entry in the merged folder at `root`, where programs see it at once: a new file takes the place of the old
/// one. A link that one of them puts in the way leads to what is shown inside.
pub(super) fn apply(root: &Path, header: &Header, bytes: &[u8]) -> io::Result<()> {
    let to = root.join(header.path());
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    let before = fs::symlink_metadata(&to).ok();
    match &header.kind {
        HeaderKind::File { executable, .. } => {
            let mode = mode(
                before.as_ref().filter(|it| it.is_file()).map(|it| it.permissions().mode()),
                *executable,
            );
            if before.is_some_and(|it| it.is_dir()) {
                fs::remove_dir_all(&to)?;
            }
            let beside = beside(&to);
            write_file(&beside, bytes, mode)?;
            fs::rename(&beside, &to)
        }
        kind => {
            remove(&to)?;
            match kind {
                HeaderKind::Directory => fs::create_dir(&to),
                HeaderKind::Link(target) => symlink(target, &to),
                HeaderKind::Removed | HeaderKind::File { .. } => Ok(()),
            }
        }
    }
}

fn beside(to: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".broker-");
    name.push(to.file_name().unwrap_or_default());
    to.with_file_name(name)
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(it) if it.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}
