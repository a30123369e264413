//! A barrier: events come in order, so once an event comes that was made last, all others have come.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use super::Watch;

/// An event can get lost with many others. Then another is made.
const COOKIE_TIMEOUT: Duration = Duration::from_millis(250);

#[derive(Debug, thiserror::Error)]
pub enum SettleError {
    #[error("the file system's events did not come through within {0:?}")]
    TimedOut(Duration),
    /// The thread of the watch is gone, as its callback panicked.
    #[error("the watch has stopped")]
    Stopped,
    #[error("`{}` could not be written: {source}", path.display())]
    Cookie { path: PathBuf, source: io::Error },
}

impl Watch {
    /// Returns once everything that happened in the workspace before this call has been announced.
    ///
    /// A file is made and removed in the private folder of the watch; the workspace is not touched.
    /// Must not be called by the callback, which it waits for.
    pub fn settle(&self, timeout: Duration) -> Result<(), SettleError> {
        self.cookies.settle(timeout)
    }
}

/// The files that are waited for.
pub(super) struct Cookies {
    folder: PathBuf,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    last: u64,
    paths: BTreeMap<PathBuf, SyncSender<()>>,
    is_closed: bool,
}

struct Cookie {
    path: PathBuf,
    came: Receiver<()>,
}

impl Cookies {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, waiting: Mutex::default() }
    }

    pub(super) fn settle(&self, timeout: Duration) -> Result<(), SettleError> {
        let deadline = Instant::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(SettleError::TimedOut(timeout));
            }
            let cookie = self.bake()?;
            let answer = cookie.came.recv_timeout(left.min(COOKIE_TIMEOUT));
            self.clear(&cookie.path);
            match answer {
                Ok(()) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(SettleError::Stopped),
            }
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether an event of this path is about a cookie, and so of no interest elsewhere.
    pub(super) fn owns(&self, path: &Path) -> bool {
        path.starts_with(&self.folder)
    }

    pub(super) fn is_awaited(&self, path: &Path) -> bool {
        self.waiting.lock().paths.contains_key(path)
    }

    /// Wakes who waits for this cookie.
    pub(super) fn came(&self, path: &Path) {
        if let Some(waiting) = self.waiting.lock().paths.remove(path) {
            // The waiting thread may have timed out.
            let _ = waiting.send(());
        }
    }

    /// Ends all waiting, now and later, with an error.
    pub(super) fn close(&self) {
        let mut waiting = self.waiting.lock();
        waiting.paths.clear();
        waiting.is_closed = true;
    }

    /// Creates a new file, registered before it can be seen.
    #[expect(clippy::disallowed_methods, reason = "the watcher's own folder, outside the workspace")]
    fn bake(&self) -> Result<Cookie, SettleError> {
        loop {
            let (path, came) = self.register()?;
            let error = match fs::OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(_) => return Ok(Cookie { path, came }),
                Err(error) => error,
            };
            self.waiting.lock().paths.remove(&path);
            // The cookie may belong to another watch, or to a process that was killed.
            if error.kind() != io::ErrorKind::AlreadyExists {
                return Err(SettleError::Cookie { path, source: error });
            }
        }
    }

    fn register(&self) -> Result<(PathBuf, Receiver<()>), SettleError> {
        let mut waiting = self.waiting.lock();
        if waiting.is_closed {
            return Err(SettleError::Stopped);
        }
        waiting.last += 1;
        let path = self.folder.join(format!("settle-{}-{}", std::process::id(), waiting.last));
        // With room for the answer, so that sending it never waits.
        let (sender, came) = mpsc::sync_channel(1);
        waiting.paths.insert(path.clone(), sender);
        Ok((path, came))
    }

    #[expect(clippy::disallowed_methods, reason = "the watcher's own folder, outside the workspace")]
    fn clear(&self, cookie: &Path) {
        self.waiting.lock().paths.remove(cookie);
        // Should it stay, its name is passed over the next time.
        let _ = fs::remove_file(cookie);
    }
}
