//! Makes a folder anew in its place, so that all of it is in the upper layer of an overlayfs.
//!
//! The folder's entries are moved into a new folder beside it, one by one: a file stays the same one for programs that have it
//! open, and a folder that cannot be moved, since a lower layer has a part of it, is made anew in the same way. The new one takes
//! the place of the old one, which is empty then. If any of it is not possible, all is moved back. Nothing is removed but empty
//! folders. One [`Budget`] bounds all of it, however deep the folder is and whatever other programs do meanwhile.

use std::{
    cell::Cell,
    ffi::{CStr, CString},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use rustix::{
    fs::{
        AtFlags, Gid, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps, Uid, XattrFlags, fchmod, fchown,
        fgetxattr, flistxattr, fsetxattr, fstat, futimens, mkdirat, openat, renameat, renameat_with,
        unlinkat,
    },
    io::{Errno, Result},
};

use super::call::Place;
use crate::removal::{names, set_mode};

/// Begins the names of new folders; the number of the supervisor's process, one of its own and the old folder's name follow.
pub(super) const PREFIX: &str = ".broker-renamed-";

/// Entry of a new folder as long as it is not known whether the old one can be moved.
pub(super) const TRIAL: &CStr = c".broker-trial";

/// Limit on further passes over folders to which other programs add entries meanwhile, of all folders together.
const RETRIES: usize = 16;

/// Limit on folders within each other, so that the stack and the handles of a thread are enough for them: two for each.
const DEPTH: usize = 1000;

/// Bytes of the stack of a thread that makes folders anew.
pub(super) const STACK: usize = DEPTH * (16 << 10);

/// Work that may be done for one folder.
pub(super) struct Budget {
    retries: Cell<usize>,
    depth: Cell<usize>,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { retries: Cell::new(RETRIES), depth: Cell::new(DEPTH) }
    }

    /// Counts another pass. Returns whether it may be made.
    fn take_retry(&self) -> bool {
        let left = self.retries.get();
        self.retries.set(left.saturating_sub(1));
        left > 0
    }

    /// Does the work for a folder within the one that is worked on.
    fn deeper<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let left = self.depth.get();
        // The kernel's error for the folder as a whole.
        self.depth.set(left.checked_sub(1).ok_or(Errno::XDEV)?);
        let done = work();
        self.depth.set(left);
        done
    }
}

/// Whether a name is that of a new folder which has not taken its place yet.
pub(in crate::linux) fn is_temporary(name: &[u8]) -> bool {
    name.starts_with(PREFIX.as_bytes())
}

/// A new folder beside another one.
pub(super) struct Temporary<'p> {
    place: &'p Place,
    name: CString,
}

impl<'p> Temporary<'p> {
    pub(super) fn beside(place: &'p Place) -> Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Relaxed);
        let mut name = format!("{PREFIX}{}-{number}-", std::process::id()).into_bytes();
        name.extend(place.name.to_bytes());
        let name = CString::new(name).map_err(|_| Errno::INVAL)?;
        mkdirat(&place.parent, &name, Mode::RWXU)?;
        Ok(Self { place, name })
    }

    /// Whether the kernel refuses to move the other folder (`EXDEV`), which it checks before it finds that this one is not empty.
    pub(super) fn shows_that_it_is_stuck(&self) -> Result<bool> {
        let (parent, trial) = (&self.place.parent, self.trial()?);
        mkdirat(parent, &trial, Mode::RWXU)?;
        let moved = renameat(parent, &self.place.name, parent, &self.name);
        unlinkat(parent, &trial, AtFlags::REMOVEDIR)?;
        match moved {
            Err(Errno::XDEV) => Ok(true),
            Err(Errno::NOTEMPTY) => Ok(false),
            moved => moved.and(Err(Errno::NOTEMPTY)),
        }
    }

    fn trial(&self) -> Result<CString> {
        let path = [self.name.to_bytes(), b"/", TRIAL.to_bytes()].concat();
        CString::new(path).map_err(|_| Errno::INVAL)
    }

    /// Makes the other folder anew.
    pub(super) fn take_the_place(self) -> Result<()> {
        let parent = self.place.parent.as_fd();
        anew((parent, &self.place.name), (parent, &self.name), replace, &Budget::new())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        // The folder has taken the place of the other one, or is empty.
        let _ = unlinkat(&self.place.parent, &self.name, AtFlags::REMOVEDIR);
    }
}

/// A folder's parent, and its name there.
type At<'a> = (BorrowedFd<'a>, &'a CStr);

pub(super) fn replace(old: At<'_>, new: At<'_>) -> Result<()> {
    renameat(new.0, new.1, old.0, old.1)
}

fn remove((parent, name): At<'_>, _: At<'_>) -> Result<()> {
    unlinkat(parent, name, AtFlags::REMOVEDIR)
}

/// Moves what is in a folder into another one, which then is as it was and put in its place by `finish`, or moves it back.
pub(super) fn anew(
    old: At<'_>,
    new: At<'_>,
    finish: fn(At<'_>, At<'_>) -> Result<()>,
    budget: &Budget,
) -> Result<()> {
    let from = Folder::open(old)?;
    let to = Folder::open(new).or_else(|error| from.set_mode_and_times().and(Err(error)))?;
    let attempt = || {
        from.move_all(&to, budget)?;
        to.look_like(&from)?;
        finish(old, new)
    };
    let mut result = attempt();
    while matches!(result, Err(Errno::NOTEMPTY | Errno::EXIST)) && budget.take_retry() {
        result = attempt();
    }
    if result.is_err() {
        // Entries that are moved back were moved at once before.
        to.move_all(&from, budget)?;
        from.set_mode_and_times()?;
        unlinkat(new.0, new.1, AtFlags::REMOVEDIR)?;
    }
    result
}

/// A folder, and what it was like when it was opened.
struct Folder {
    file: OwnedFd,
    facts: Stat,
}

impl Folder {
    /// Opens a folder, which its user may change from then on.
    fn open((parent, name): At<'_>) -> Result<Self> {
        let how = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = openat(parent, name, how | OFlags::PATH, Mode::empty())?;
        let facts = fstat(&handle)?;
        let mode = Mode::from_raw_mode(facts.st_mode);
        if !mode.contains(Mode::RWXU) {
            set_mode(handle.as_fd(), mode | Mode::RWXU)?;
        }
        Ok(Self { file: openat(&handle, c".", how, Mode::empty())?, facts })
    }

    fn move_all(&self, to: &Self, budget: &Budget) -> Result<()> {
        names(self.file.as_fd())?.iter().try_for_each(|it| self.move_one(to, it, budget))
    }

    fn move_one(&self, to: &Self, name: &CStr, budget: &Budget) -> Result<()> {
        match self.try_to_move(to, name, budget) {
            Err(Errno::ACCESS) => self.move_unwritable(to, name, budget),
            moved => moved,
        }
    }

    /// Moves a folder into which its user may not write, as is necessary for that.
    fn move_unwritable(&self, to: &Self, name: &CStr, budget: &Budget) -> Result<()> {
        let folder = Self::open((self.file.as_fd(), name))?;
        let moved = self.try_to_move(to, name, budget);
        let parent = if moved.is_ok() { to } else { self };
        let now = Self::open((parent.file.as_fd(), name))?;
        set_mode_and_times(&now.file, &folder.facts)?;
        moved
    }

    fn try_to_move(&self, to: &Self, name: &CStr, budget: &Budget) -> Result<()> {
        let (from, to) = (self.file.as_fd(), to.file.as_fd());
        match renameat_with(from, name, to, name, RenameFlags::NOREPLACE) {
            // Another program was faster.
            Err(Errno::NOENT) => Ok(()),
            // A part of it may have been moved by a supervisor that was ended.
            Err(Errno::XDEV | Errno::EXIST) => match mkdirat(to, name, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => budget
                    .deeper(|| anew((from, name), (to, name), remove, budget))
                    .inspect_err(|_| _ = unlinkat(to, name, AtFlags::REMOVEDIR)),
                Err(error) => Err(error),
            },
            moved => moved,
        }
    }

    fn look_like(&self, other: &Self) -> Result<()> {
        let facts = &other.facts;
        let own = fstat(&self.file)?;
        if (own.st_uid, own.st_gid) != (facts.st_uid, facts.st_gid) {
            fchown(&self.file, Some(Uid::from_raw(facts.st_uid)), Some(Gid::from_raw(facts.st_gid)))?;
            // For root it seems to succeed.
            let now = fstat(&self.file)?;
            if (now.st_uid, now.st_gid) != (facts.st_uid, facts.st_gid) {
                return Err(Errno::PERM);
            }
        }
        copy_attributes(&other.file, &self.file)?;
        set_mode_and_times(&self.file, facts)
    }

    fn set_mode_and_times(&self) -> Result<()> {
        set_mode_and_times(&self.file, &self.facts)
    }
}

fn set_mode_and_times(file: &OwnedFd, facts: &Stat) -> Result<()> {
    fchmod(file, Mode::from_raw_mode(facts.st_mode))?;
    let time = |seconds, nanoseconds| Timespec { tv_sec: seconds, tv_nsec: nanoseconds as _ };
    let last_access = time(facts.st_atime, facts.st_atime_nsec);
    let last_modification = time(facts.st_mtime, facts.st_mtime_nsec);
    futimens(file, &Timestamps { last_access, last_modification })
}

/// Bytes of the most names of attributes, and of the longest value.
const LARGEST: usize = 64 << 10;

/// Extended attributes, but for those that no program inside can set.
fn copy_attributes(from: &OwnedFd, to: &OwnedFd) -> Result<()> {
    let mut names = vec![0; LARGEST];
    let length = match flistxattr(from, &mut names[..]) {
        Err(Errno::OPNOTSUPP) => 0,
        listed => listed?,
    };
    let names = names[..length].split(|it| *it == 0).filter(|it| !it.is_empty());
    let is_settable = |it: &&[u8]| !it.starts_with(b"security.") && !it.starts_with(b"trusted.");
    let mut value = Vec::new();
    for name in names.filter(is_settable) {
        value.resize(LARGEST, 0);
        let length = fgetxattr(from, name, &mut value[..])?;
        fsetxattr(to, name, &value[..length], XattrFlags::empty())?;
    }
    Ok(())
}
