//! Completes what a supervisor that was killed left half done.

use std::{
    ffi::{CStr, CString, OsStr},
    fs::File,
    os::{fd::AsFd as _, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, RenameFlags, ResolveFlags, openat2, renameat_with, unlinkat},
    io::{Errno, Result},
    process::Pid,
    thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities},
};

use super::anew::{PREFIX, TRIAL, anew, replace};
use crate::removal::names;

const WITHIN: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Completes it for process 1, in the folder at `root` with this upper layer. It does without its rights meanwhile: what it finds
/// may be a program's.
pub(in crate::linux) fn complete(written: &File, root: &Path, supervisor: Pid) -> Result<()> {
    let prefix = format!("{PREFIX}{}-", supervisor.as_raw_nonzero());
    let mut found = Vec::new();
    find(written, Path::new(""), prefix.as_bytes(), &mut found)?;
    if found.is_empty() {
        return Ok(());
    }
    let own = capabilities(None)?;
    set_capabilities(None, CapabilitySets { effective: CapabilitySet::empty(), ..own })?;
    let result = found.iter().try_for_each(|(parent, name)| complete_one(root, parent, name));
    set_capabilities(None, own)?;
    result
}

/// New folders whose names begin so, each as its parent and its name.
fn find(written: &File, folder: &Path, prefix: &[u8], found: &mut Vec<(PathBuf, CString)>) -> Result<()> {
    let opened = match openat2(written, within(folder), FOLDER, Mode::empty(), WITHIN) {
        // It is no folder, or gone.
        Err(Errno::NOTDIR | Errno::NOENT | Errno::LOOP) => return Ok(()),
        opened => opened?,
    };
    for name in names(opened.as_fd())? {
        if name.to_bytes().starts_with(prefix) {
            found.push((folder.to_owned(), name));
        } else {
            find(written, &folder.join(OsStr::from_bytes(name.to_bytes())), prefix, found)?;
        }
    }
    Ok(())
}

fn within(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

fn complete_one(root: &Path, parent: &Path, new: &CStr) -> Result<()> {
    let root = rustix::fs::open(root, FOLDER, Mode::empty())?;
    let parent = openat2(&root, within(parent), FOLDER, Mode::empty(), WITHIN)?;
    // After the numbers of the supervisor and its own.
    let old = new.to_bytes()[PREFIX.len()..].splitn(3, |it| *it == b'-').nth(2).unwrap_or_default();
    let old = CString::new(old).map_err(|_| Errno::INVAL)?;
    let trial = CString::new([new.to_bytes(), b"/", TRIAL.to_bytes()].concat()).map_err(|_| Errno::INVAL)?;
    // It is not there but at the beginning.
    let _ = unlinkat(&parent, &trial, AtFlags::REMOVEDIR);
    match renameat_with(&parent, new, &parent, &old, RenameFlags::NOREPLACE) {
        Err(Errno::EXIST) => anew((parent.as_fd(), &old), (parent.as_fd(), new), replace),
        renamed => renamed,
    }
}
