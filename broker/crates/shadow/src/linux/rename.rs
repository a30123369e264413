//! Renames of folders that overlayfs refuses (`EXDEV`): those of which a lower layer has a part.
//!
//! A seccomp filter has the kernel notify a supervisor of each rename. Where it is one that would be refused for that reason alone,
//! the supervisor first makes the folder anew in its place (`anew.rs`), wholly in the upper layer; then the kernel goes on with the
//! program's own call. The supervisor is a pair of threads of the leader with the program's rights, and not under this filter.
//! When it ends, the kernel answers calls by itself (`ENOSYS`), so that none waits.

mod anew;
mod call;
mod interrupted;
mod notice;

use std::{
    ffi::{CStr, OsStr},
    io,
    os::{
        fd::{AsFd as _, AsRawFd as _, OwnedFd},
        unix::ffi::OsStrExt as _,
    },
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use parking_lot::Mutex;
use rustix::{
    fs::{
        AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, fstatfs, openat, readlink, renameat_with, statat,
    },
    io::Errno,
    process::{Resource, Rlimit, getrlimit, setrlimit},
};

use self::{
    anew::Temporary,
    call::{Call, Place},
    notice::{Listener, Notice},
};
pub(super) use self::{anew::is_temporary, interrupted::Repair};
use super::harvest::is_opaque;
use crate::removal::names;

/// Number of overlayfs in `statfs(2)`.
const OVERLAYFS: u32 = 0x794c_7630;

/// The layers of the workspace, and where it is.
pub(super) struct Layers {
    pub(super) upper: OwnedFd,
    pub(super) lower: Vec<OwnedFd>,
    pub(super) root: PathBuf,
}

impl Layers {
    /// Whether no lower layer has a part of a folder. `false` as well where that is not seen.
    fn are_one_at(&self, place: &Place) -> bool {
        let link = |it: &OwnedFd| PathBuf::from(format!("/proc/self/fd/{}", it.as_raw_fd()));
        let Ok(parent) = readlink(link(&place.parent), Vec::new()) else { return false };
        let text = |it: &CStr| PathBuf::from(OsStr::from_bytes(it.to_bytes()));
        let folder = text(&parent).join(text(&place.name));
        let Ok(folder) = folder.strip_prefix(&self.root) else { return false };
        let is_missing = |it: &OwnedFd| {
            let looked = statat(CWD, link(it).join(folder), AtFlags::SYMLINK_NOFOLLOW);
            matches!(looked, Err(Errno::NOENT | Errno::NOTDIR))
        };
        let mut around = folder.ancestors().filter(|it| it.parent().is_some());
        self.lower.iter().all(is_missing) || around.any(|it| is_opaque(&link(&self.upper).join(it)))
    }
}

/// Has this process open as many files as it may.
pub(super) fn raise_limit_of_files() {
    let limit = getrlimit(Resource::Nofile);
    // With fewer of them, what is deep is not renamed.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// The supervisor of the renames of a thread and all that it starts.
pub(super) struct Supervisor {
    is_over: Arc<Mutex<bool>>,
}

impl Supervisor {
    /// Starts one for this thread, and what it starts from now on. An error where the kernel has no such notifications, or another
    /// supervisor has them: renames are then as overlayfs has them.
    pub(super) fn start(layers: Option<Layers>) -> io::Result<Self> {
        let (listens, listener) = channel::<OwnedFd>();
        let (folders, waiting) = channel();
        let is_over = Arc::new(Mutex::new(false));
        let over = Arc::clone(&is_over);
        let worker = thread::Builder::new().stack_size(anew::STACK);
        worker.spawn(move || prepare_each(&waiting, layers.as_ref(), &over))?;
        thread::Builder::new().spawn(move || {
            if let Ok(it) = listener.recv() {
                dispatch(&Arc::new(Listener::new(it)), &folders);
            }
        })?;
        // The threads have been started without the filter.
        listens.send(notice::install()?).map_err(io::Error::other)?;
        Ok(Self { is_over })
    }

    /// Waits for the end of a change that is being made, and lets no other begin.
    pub(super) fn stop(&self) {
        *self.is_over.lock() = true;
    }
}

/// Lets all calls go on at once but those that name a folder.
fn dispatch(listener: &Arc<Listener>, folders: &Sender<(Notice, Call)>) {
    while let Ok(notice) = Listener::receive(listener) {
        if let Some(call) = Call::of_folder(&notice) {
            // A notice that is not taken goes on as it is dropped.
            let _ = folders.send((notice, call));
        }
    }
}

fn prepare_each(calls: &Receiver<(Notice, Call)>, layers: Option<&Layers>, is_over: &Mutex<bool>) {
    for (notice, call) in calls {
        let is_over = is_over.lock();
        // The program may have ended, and its number be another's.
        if *is_over || !notice.is_valid() {
            continue;
        }
        // A call that cannot be prepared goes on, and is answered by the kernel.
        if let Ok(Some(answer)) = prepare(&call, layers) {
            notice.answer(answer);
        }
    }
}

/// Makes folders anew if the call would be refused without. The result is an answer in the place of the kernel's.
fn prepare(call: &Call, layers: Option<&Layers>) -> rustix::io::Result<Option<rustix::io::Result<()>>> {
    let (Some(old), Some(new)) = (call.old.locate()?, call.new.locate()?) else { return Ok(None) };
    if fstatfs(&old.parent)?.f_type as u32 != OVERLAYFS || !old.has_mount_of(&new)? {
        return Ok(None);
    }
    let is_exchange = call.flags.contains(RenameFlags::EXCHANGE);
    let moved = [Some(&old), Some(&new).filter(|_| is_exchange)];
    let mut stuck = Vec::new();
    let may_be_stuck = |it: &&Place| it.is_folder() && layers.is_none_or(|layers| !layers.are_one_at(it));
    for place in moved.into_iter().flatten().filter(may_be_stuck) {
        let temporary = Temporary::beside(place)?;
        if temporary.shows_that_it_is_stuck()? {
            stuck.push(temporary);
        }
    }
    if stuck.is_empty() {
        return Ok(None);
    }
    // With one of them the call has no effect: the kernel looks for other reasons to refuse it first.
    match renameat_with(&old.parent, &old.name, &new.parent, &new.name, call.flags) {
        Err(Errno::XDEV) => {}
        Err(_) => return Ok(None),
        // The entry was replaced meanwhile.
        Ok(()) => return Ok(Some(Ok(()))),
    }
    if !is_exchange && new.is_folder() && !new.is_empty()? {
        return Ok(Some(Err(Errno::NOTEMPTY)));
    }
    stuck.into_iter().try_for_each(Temporary::take_the_place)?;
    Ok(None)
}

impl Place {
    /// Whether a folder has no entries.
    fn is_empty(&self) -> rustix::io::Result<bool> {
        let how = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.parent, &self.name, how, Mode::empty())?;
        Ok(names(file.as_fd())?.is_empty())
    }

    fn is_folder(&self) -> bool {
        let facts = statat(&self.parent, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        facts.is_ok_and(|it| FileType::from_raw_mode(it.st_mode).is_dir())
    }
}
