//! The loop of a watch: events in, batches out, and new directories watched as they appear.

use std::{
    collections::BTreeSet,
    io,
    ops::ControlFlow,
    path::{Component, Path},
    sync::{
        Arc, OnceLock,
        atomic::AtomicU64,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use notify::{
    Event, EventKind, RecursiveMode, Watcher,
    event::{AccessKind, AccessMode, ModifyKind, RenameMode},
};

use super::{Blind, Degraded, Message, OnChange, WatchError, settle::Cookies, share::Share};
use crate::{
    FileKind, View as _, WorkspacePath,
    base::{changes, changes::Changes, journal::Journal, live::Live},
    walk::is_excluded_by_name,
};

/// A batch ends when nothing happened for this long,
const QUIET: Duration = Duration::from_millis(5);
/// or when its first change is this old.
const LONGEST: Duration = Duration::from_millis(50);

/// Build directory of compilers: vast, and usually ignored by git.
const BUILD_OUTPUT: &str = "target";

/// Whether each directory has a watch of its own. On other systems one watch on the root is cheaper, and covers new
/// directories by itself.
const ONE_BY_ONE: bool = cfg!(any(target_os = "linux", target_os = "android"));

pub(super) struct Pump {
    pub(super) live: Arc<Live>,
    pub(super) watcher: Box<dyn Watcher + Send>,
    pub(super) share: Share,
    pub(super) cookies: Arc<Cookies>,
    pub(super) degraded: Arc<OnceLock<Degraded>>,
    pub(super) blind: Arc<Blind>,
    pub(super) generation: Arc<AtomicU64>,
    pub(super) journal: Arc<Journal>,
    pub(super) pending: Changes,
    /// Paths of the current batch that are to be remembered: more than are announced.
    pub(super) told: BTreeSet<WorkspacePath>,
    pub(super) on_change: OnChange,
}

/// Whether an event can be about a change. Reads, by this process first of all, are not.
pub(super) fn matters(event: &notify::Result<Event>) -> bool {
    let Ok(event) = event else { return true };
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => event.need_rescan(),
        _ => true,
    }
}

impl Pump {
    /// Watches all there is. Without a watch on the private folder and the root there is none at all.
    pub(super) fn begin(&mut self) -> Result<(), WatchError> {
        let folder = self.cookies.folder().to_owned();
        self.watcher.watch(&folder, RecursiveMode::NonRecursive).map_err(WatchError::Unavailable)?;
        let root = self.live.disk().root();
        let mode = if ONE_BY_ONE { RecursiveMode::NonRecursive } else { RecursiveMode::Recursive };
        self.watcher.watch(root, mode).map_err(WatchError::Unavailable)?;
        // Entries found by the first scan are not news.
        let _ = self.watch_tree(WorkspacePath::root());
        Ok(())
    }

    pub(super) fn run(mut self, inbox: &Receiver<Message>) {
        // Also when the callback panics.
        let _closing = Closing(Arc::clone(&self.cookies));
        while let Ok(message) = inbox.recv() {
            if self.handle(message).is_break() || self.collect(inbox).is_break() {
                return;
            }
        }
    }

    /// Takes in what belongs to the batch that has begun, and announces it.
    fn collect(&mut self, inbox: &Receiver<Message>) -> ControlFlow<()> {
        let deadline = Instant::now() + LONGEST;
        while !self.pending.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            match inbox.recv_timeout(left.min(QUIET)) {
                Ok(message) => self.handle(message)?,
                Err(RecvTimeoutError::Timeout) => self.announce(),
                Err(RecvTimeoutError::Disconnected) => return ControlFlow::Break(()),
            }
            if Instant::now() >= deadline {
                self.announce();
            }
        }
        ControlFlow::Continue(())
    }

    fn handle(&mut self, message: Message) -> ControlFlow<()> {
        match message {
            Message::Event(Ok(event)) => self.take_in(&event),
            Message::Event(Err(error)) => {
                self.pending.overflow = true;
                self.degrade(error.to_string());
            }
            Message::Buffer(place) => {
                self.told.insert(place.clone());
                self.pending.paths.insert(place);
            }
            Message::Stop => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    fn take_in(&mut self, event: &Event) {
        if event.need_rescan() {
            self.pending.overflow = true;
            // News of directories may be among what is lost. What is in them is told by the flag.
            let _ = self.watch_tree(WorkspacePath::root());
        }
        for path in &event.paths {
            if self.cookies.owns(path) {
                self.take_in_cookie(path);
                continue;
            }
            self.told.extend(self.to_remember(path));
            if let Some(path) = self.in_workspace(path) {
                if matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))) {
                    self.share.give_back(&path);
                }
                if may_be_new(event.kind) && self.is_directory(&path) {
                    let found = self.watch_tree(path.clone());
                    self.told.extend(found.iter().cloned());
                    self.pending.paths.extend(found);
                }
                self.pending.paths.insert(path);
            }
        }
    }

    /// Announces the events that came before a cookie, then wakes the thread that waits for it.
    fn take_in_cookie(&mut self, cookie: &Path) {
        if self.cookies.is_awaited(cookie) {
            self.announce();
            self.cookies.came(cookie);
        }
    }

    /// `None` for names that no view shows, and for what a walk does not visit.
    fn in_workspace(&self, path: &Path) -> Option<WorkspacePath> {
        let relative = path.strip_prefix(self.live.disk().root()).ok()?.to_str()?;
        let path = WorkspacePath::new(&relative.replace(std::path::MAIN_SEPARATOR, "/")).ok()?;
        let is_watched = path.components().all(is_watched);
        is_watched.then_some(path)
    }

    /// Returns the path remembered for a changed one: the path up to a name that no view shows, or below which
    /// nothing is watched.
    fn to_remember(&self, path: &Path) -> Option<WorkspacePath> {
        let mut at = WorkspacePath::root();
        for component in path.strip_prefix(self.live.disk().root()).ok()?.components() {
            let Component::Normal(name) = component else { return None };
            let Some(name) = name.to_str() else { break };
            at = at.child(name);
            if !is_watched(name) {
                break;
            }
        }
        Some(at)
    }

    fn is_directory(&self, path: &WorkspacePath) -> bool {
        self.live.disk().metadata(path).is_ok_and(|it| it.kind == FileKind::Directory)
    }

    /// Watches a directory and all below it. Gives what is there, which may have come before the watch.
    fn watch_tree(&mut self, top: WorkspacePath) -> Vec<WorkspacePath> {
        let mut found = Vec::new();
        let mut pending = vec![top];
        while ONE_BY_ONE && let Some(directory) = pending.pop() {
            if self.watch_directory(&directory).is_break() {
                break;
            }
            // Only now, so that nothing can come between the list and the watch.
            let listing = match self.live.disk().list(&directory) {
                Ok(listing) => listing,
                Err(error) => {
                    // A directory that is gone hides nothing.
                    if !is_gone(&error) {
                        self.blind.add(&directory);
                    }
                    continue;
                }
            };
            for entry in listing.entries.iter().filter(|it| is_watched(&it.name)) {
                let path = directory.child(&entry.name);
                found.push(path.clone());
                pending.extend((entry.kind == FileKind::Directory).then_some(path));
            }
        }
        found
    }

    /// Breaks if there are no more watches to be had.
    fn watch_directory(&mut self, directory: &WorkspacePath) -> ControlFlow<()> {
        if !self.share.take(directory) {
            self.degrade(format!(
                "more directories than are watched ({} in all workspaces, to leave some of the system's watches \
                 to other programs); a change elsewhere is noticed when it is asked about",
                self.share.limit
            ));
            return ControlFlow::Break(());
        }
        let place = self.live.disk().root().join(directory.as_str());
        let Err(error) = self.watcher.watch(&place, RecursiveMode::NonRecursive) else {
            return ControlFlow::Continue(());
        };
        match &error.kind {
            notify::ErrorKind::MaxFilesWatch => {
                self.degrade(error.to_string());
                return ControlFlow::Break(());
            }
            notify::ErrorKind::PathNotFound => {}
            notify::ErrorKind::Io(error) if is_gone(error) => {}
            notify::ErrorKind::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.blind.add(directory);
            }
            _ => self.degrade(error.to_string()),
        }
        ControlFlow::Continue(())
    }

    fn degrade(&self, reason: String) {
        // The first reason is told; what follows from it is of no interest.
        let _ = self.degraded.set(Degraded { reason });
    }

    fn announce(&mut self) {
        if self.pending.overflow {
            self.told.clear();
            self.journal.lose();
        } else if !self.told.is_empty() {
            self.journal.add(std::mem::take(&mut self.told));
        }
        if !self.pending.is_empty() {
            changes::count(&self.generation);
            (self.on_change)(std::mem::take(&mut self.pending));
        }
    }
}

struct Closing(Arc<Cookies>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
    }
}

pub(super) fn is_watched(name: &str) -> bool {
    !is_excluded_by_name(name) && name != BUILD_OUTPUT
}

fn may_be_new(kind: EventKind) -> bool {
    match kind {
        EventKind::Create(_) | EventKind::Any | EventKind::Other => true,
        EventKind::Modify(ModifyKind::Name(mode)) => mode != RenameMode::From,
        // Permissions may let this process in that did not before. The end of a directory is told when the last program
        // has left it, and takes with it the watch of another that has its name by then.
        EventKind::Modify(ModifyKind::Metadata(_)) | EventKind::Remove(_) => true,
        EventKind::Modify(_) | EventKind::Access(_) => false,
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::NotFound)
}

#[cfg(test)]
mod tests;
