//! Paths of parts of the old and of the new root, and the making of places for mounts.

use std::{
    ffi::CString,
    fs::{self, File},
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink},
    path::{Path, PathBuf},
};

use rustix::{
    fs::Mode,
    mount::{MountFlags, mount},
    process::geteuid,
};

use super::{During as _, NEW, OLD, Result};
use crate::linux::wire::Failure;

pub(super) fn in_old(path: &Path) -> PathBuf {
    Path::new(OLD).join(path.strip_prefix("/").unwrap_or(path))
}

pub(super) fn in_new(path: &Path) -> PathBuf {
    Path::new(NEW).join(path.strip_prefix("/").unwrap_or(path))
}

pub(super) fn temporary(path: &Path, options: &str) -> Result<()> {
    mount("tmpfs", path, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, &*text(options)?)
        .during(|| format!("cannot mount a folder in memory at {}", path.display()))
}

pub(super) fn text(options: &str) -> Result<CString> {
    CString::new(options).map_err(|error| Failure::new("options of a mount", &error.into()))
}

/// A place of the same kind as `from`, to be mounted on.
pub(super) fn make_place(from: &Path, to: &Path) -> Result<()> {
    if fs::metadata(from).is_ok_and(|it| it.is_dir()) {
        return make_all(to);
    }
    if let Some(parent) = to.parent() {
        make_all(parent)?;
    }
    if fs::symlink_metadata(to).is_ok() { Ok(()) } else { make_file(to) }
}

pub(super) fn make(path: &Path) -> Result<()> {
    fs::create_dir(path).during(|| format!("cannot make {}", path.display()))
}

pub(super) fn make_all(path: &Path) -> Result<()> {
    fs::create_dir_all(path).during(|| format!("cannot make {}", path.display()))
}

pub(super) fn make_file(path: &Path) -> Result<()> {
    File::create(path).map(drop).during(|| format!("cannot make {}", path.display()))
}

/// A folder in which everyone may write, and remove only what is theirs.
pub(super) fn make_open(path: &Path) -> Result<()> {
    make(path)?;
    rustix::fs::chmod(path, Mode::from_raw_mode(0o1777)).during(|| format!("cannot open {}", path.display()))
}

pub(super) fn link(to: &str, path: &Path) -> Result<()> {
    symlink(to, path).during(|| format!("cannot make {}", path.display()))
}

pub(super) fn copy_mode(from: &Path, to: &Path) -> Result<()> {
    let copy = || {
        let metadata = fs::metadata(from)?;
        if geteuid().is_root() {
            chown(to, Some(metadata.uid()), Some(metadata.gid()))?;
        }
        fs::set_permissions(to, fs::Permissions::from_mode(metadata.mode() & 0o7777))
    };
    copy().during(|| format!("cannot set the mode of {}", to.display()))
}

pub(super) fn copy_time(from: &Path, to: &Path) -> Result<()> {
    let copy = || File::open(to)?.set_modified(fs::metadata(from)?.modified()?);
    copy().during(|| format!("cannot set the time of {}", to.display()))
}
