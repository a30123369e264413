//! Telling of changes: a thread that turns the system's events into batches.
//!
//! Directories are watched one by one where the system can (inotify), so that dependencies and version
//! control, which hold most of the directories, take no watches.

mod pump;
mod settle;
mod share;

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        mpsc::{self, Sender},
    },
    thread::{self, JoinHandle},
};

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

/// Some changes are not announced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Degraded {
    /// What could not be watched first, and why.
    pub reason: String,
}

/// Why no change can be announced.
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

/// All that can happen to a watch.
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
            // Nobody listens any more when the watch was dropped.
            let _ = events.send(Message::Event(event));
        }
    };
    let watcher = notify::recommended_watcher(handler).map_err(WatchError::Unavailable)?;
    let degraded = Arc::default();
    let mut pump = Pump {
        live: Arc::clone(live),
        watcher: Box::new(watcher),
        share: Share::new(),
        cookies: Arc::clone(&cookies),
        degraded: Arc::clone(&degraded),
        generation: Arc::clone(announcements.generation()),
        pending: Changes::default(),
        on_change,
    };
    pump.begin()?;
    let thread = thread::Builder::new().name("watch".to_owned()).spawn(move || pump.run(&inbox));
    announcements.add(messages.clone());
    Ok(Watch { messages, cookies, degraded, thread: Some(thread.map_err(WatchError::Thread)?) })
}

impl Watch {
    /// What is not watched, if anything: the system allows only so many watches.
    pub fn degraded(&self) -> Option<&Degraded> {
        self.degraded.get()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.messages.send(Message::Stop);
        if let Some(thread) = self.thread.take()
            // It may be the callback itself that drops its watch.
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
