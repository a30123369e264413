//! Completes what a supervisor that was killed left half done.

use std::{
    ffi::{CStr, CString, OsStr},
    fs::File,
    io,
    os::{fd::AsFd as _, unix::ffi::OsStrExt as _},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, RenameFlags, ResolveFlags, openat2, renameat_with, unlinkat},
    io::{Errno, Result},
    process::{Pid, Signal, WaitOptions, kill_process, waitpid},
    thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities},
};

use super::{
    anew::{Budget, PREFIX, STACK, TRIAL, anew, replace},
    raise_limit_of_files,
};
use crate::removal::names;

const WITHIN: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Time for all of it. What is not completed then stays as it is.
const LIMIT: Duration = Duration::from_secs(30);

/// A process that completes what one supervisor left, while process 1 goes on.
pub(in crate::linux) struct Repair {
    process: Pid,
    until: Instant,
}

impl Repair {
    /// For process 1, in the folder at `root` with this upper layer. The process has none of its rights: what it finds may be a
    /// program's.
    pub(in crate::linux) fn start(written: &File, root: &Path, supervisor: Pid) -> io::Result<Self> {
        // SAFETY: process 1 has no other thread where there are layers, so that the child finds locks and memory whole.
        #[expect(unsafe_code, reason = "see above")]
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                let complete = || complete(written, root, supervisor).is_ok();
                let is_done = catch_unwind(AssertUnwindSafe(complete)).unwrap_or(false);
                // SAFETY: it ends this process, whose parent puts in order what both have in memory.
                unsafe { libc::_exit(i32::from(!is_done)) }
            }
            child => {
                let process = Pid::from_raw(child).ok_or(io::ErrorKind::InvalidData)?;
                Ok(Self { process, until: Instant::now() + LIMIT })
            }
        }
    }

    pub(in crate::linux) fn pid(&self) -> Pid {
        self.process
    }

    /// Whether the process has ended, as it does when its time is up. Never waits.
    pub(in crate::linux) fn is_over(&self) -> bool {
        if Instant::now() >= self.until {
            let _ = kill_process(self.process, Signal::KILL);
        }
        !matches!(waitpid(Some(self.process), WaitOptions::NOHANG), Ok(None) | Err(Errno::INTR))
    }
}

fn complete(written: &File, root: &Path, supervisor: Pid) -> Result<()> {
    let prefix = format!("{PREFIX}{}-", supervisor.as_raw_nonzero());
    let own = capabilities(None)?;
    set_capabilities(None, CapabilitySets { effective: CapabilitySet::empty(), ..own })?;
    raise_limit_of_files();
    let complete_all = || {
        let mut found = Vec::new();
        find(written, Path::new(""), prefix.as_bytes(), &mut found)?;
        found.iter().try_for_each(|(parent, name)| complete_one(root, parent, name))
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, complete_all);
        thread.map_err(|_| Errno::AGAIN)?.join().unwrap_or(Err(Errno::IO))
    })
}

/// New folders whose names begin so, each as its parent and its name.
fn find(written: &File, folder: &Path, prefix: &[u8], found: &mut Vec<(PathBuf, CString)>) -> Result<()> {
    let opened = match openat2(written, within(folder), FOLDER, Mode::empty(), WITHIN) {
        // The path is no folder, or gone, or too deep to be reached by a path.
        Err(Errno::NOTDIR | Errno::NOENT | Errno::LOOP | Errno::NAMETOOLONG | Errno::ACCESS) => return Ok(()),
        opened => opened?,
    };
    let all = names(opened.as_fd())?;
    drop(opened);
    for name in all {
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
    // The trial folder is there only at the beginning.
    let _ = unlinkat(&parent, &trial, AtFlags::REMOVEDIR);
    match renameat_with(&parent, new, &parent, &old, RenameFlags::NOREPLACE) {
        Err(Errno::EXIST) => anew((parent.as_fd(), &old), (parent.as_fd(), new), replace, &Budget::new()),
        renamed => renamed,
    }
}
