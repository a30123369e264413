//! Telling of changes: a thread that turns the system's events into batches.
//!
//! Directories are watched one by one where the system can (inotify), so that dependencies and version
//! control, which hold most of the directories, take no watches.

mod pump;
mod settle;
mod share;

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        mpsc::{self, Sender},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use parking_lot::Mutex;
use pump::Pump;
use settle::Cookies;
pub use settle::SettleError;
use share::Share;

use super::{
    changes::{Announcements, Changes},
    live::Live,
};
use crate::WorkspacePath;

/// Announces changes until it is dropped.
pub struct Watch {
    messages: Sender<Message>,
    cookies: Arc<Cookies>,
    degraded: Arc<OnceLock<Degraded>>,
    thread: Option<JoinHandle<()>>,
}

/// Error of a watch that does not announce some of the changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Degraded {
    /// The first failure of the watch, and its cause.
    pub reason: String,
}

/// Error of a watch that can announce no change.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The system has no means for it, or has given them all away.
    #[error("the system cannot watch files: {0}")]
    Unavailable(notify::Error),
    #[error("the private folder `{}` of the watch cannot be used: {source}", path.display())]
    Private { path: PathBuf, source: io::Error },
    #[error("no thread for the watch: {0}")]
    Thread(io::Error),
}

pub(super) type OnChange = Box<dyn Fn(Changes) + Send + Sync>;

/// State of a watch on which its reliability depends.
#[derive(Clone)]
pub(super) struct Promise {
    cookies: Arc<Cookies>,
    degraded: Arc<OnceLock<Degraded>>,
    blind: Arc<Blind>,
}

/// Directories that cannot be watched, as they are closed to this process.
#[derive(Default)]
pub(super) struct Blind(Mutex<BTreeSet<WorkspacePath>>);

impl Blind {
    fn add(&self, directory: &WorkspacePath) {
        self.0.lock().insert(directory.clone());
    }

    fn holds(&self, path: &WorkspacePath) -> bool {
        let blind = self.0.lock();
        !blind.is_empty() && path.ancestors().any(|it| blind.contains(&it))
    }
}

impl Promise {
    /// Whether everything that happened before this call was reported, for the paths that are [covered](Self::covers).
    pub(super) fn holds(&self, timeout: Duration) -> bool {
        self.degraded.get().is_none() && self.cookies.settle(timeout).is_ok() && self.degraded.get().is_none()
    }

    /// Whether a change at `path` is reported; with `within`, also changes of that directory's entries.
    pub(super) fn covers(&self, path: &WorkspacePath, within: bool) -> bool {
        let mut names = path.components();
        let last = if within { None } else { names.next_back() };
        let is_blind = match last {
            Some(_) => path.parent().is_some_and(|it| self.blind.holds(&it)),
            None => self.blind.holds(path),
        };
        names.all(pump::is_watched) && !is_blind
    }
}

/// Events of a watch.
pub(super) enum Message {
    Event(notify::Result<notify::Event>),
    Buffer(WorkspacePath),
    Stop,
}

pub(super) fn start(
    live: &Arc<Live>,
    announcements: &Announcements,
    private: &Path,
    on_change: OnChange,
) -> Result<Watch, WatchError> {
    let unusable = |source| WatchError::Private { path: private.to_owned(), source };
    let cookies = Arc::new(Cookies::new(fs::canonicalize(private).map_err(unusable)?));
    let (messages, inbox) = mpsc::channel();
    let events = messages.clone();
    let handler = move |event| {
        if pump::matters(&event) {
            // The receiver is gone if the watch was dropped.
            let _ = events.send(Message::Event(event));
        }
    };
    let watcher = notify::recommended_watcher(handler).map_err(WatchError::Unavailable)?;
    let (degraded, blind) = (Arc::default(), Arc::<Blind>::default());
    let mut pump = Pump {
        live: Arc::clone(live),
        watcher: Box::new(watcher),
        share: Share::new(),
        cookies: Arc::clone(&cookies),
        degraded: Arc::clone(&degraded),
        blind: Arc::clone(&blind),
        generation: Arc::clone(announcements.generation()),
        journal: Arc::clone(announcements.journal()),
        pending: Changes::default(),
        told: BTreeSet::new(),
        on_change,
    };
    pump.begin()?;
    let thread = thread::Builder::new().name("watch".to_owned()).spawn(move || pump.run(&inbox));
    let thread = Some(thread.map_err(WatchError::Thread)?);
    let promise = Promise { cookies: Arc::clone(&cookies), degraded: Arc::clone(&degraded), blind };
    announcements.add(messages.clone(), promise);
    Ok(Watch { messages, cookies, degraded, thread })
}

impl Watch {
    /// Returns the reason why some changes are not watched, if there are any: the system allows only so many watches.
    pub fn degraded(&self) -> Option<&Degraded> {
        self.degraded.get()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.messages.send(Message::Stop);
        if let Some(thread) = self.thread.take()
            // The callback itself may drop its watch.
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
