//! Branches on the disk, in a folder outside the workspace: they outlive the program, and `kill -9`.
//!
//! A single thread owns the database. It takes all requests that wait, makes them one transaction, and answers them
//! when the disk has it: many callers share one wait for the disk. A text is kept once, however many branches hold
//! it.
//!
//! Unreadable data is never deleted or overwritten: opening a damaged file changes no byte of it. The database may
//! panic on damaged files, so it is only called where panics are caught; their message is still printed to standard
//! error.

mod database;
mod error;
mod medium;
mod record;
mod staged;
#[cfg(test)]
mod tests;
mod writer;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    path::Path,
    sync::mpsc::{self, Sender},
    thread::JoinHandle,
    time::Duration,
};

use database::Database;
pub use error::StoreError;
use medium::Medium;
pub use medium::{expect_own, expect_private};
use record::Change;
use writer::Request;

use crate::Step;

/// The saved branches of one workspace. Dropping it waits until all that was asked for is done.
pub struct Store {
    requests: Option<Sender<Request>>,
    writer: Option<JoinHandle<()>>,
    /// Held as long as the store is open.
    _lock: File,
}

/// A branch as it was saved.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedBranch {
    pub id: String,
    pub record: BranchRecord,
    /// Steps in the order in which they were saved. Equal texts share their bytes, in all branches of a load.
    pub steps: Vec<Step>,
}

/// Metadata of a branch: all but its steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchRecord {
    pub name: String,
    /// The id of the branch it was forked from.
    pub parent: Option<String>,
    /// Milliseconds since 1970.
    pub created_ms: u64,
    pub labels: BTreeMap<String, String>,
}

/// Branches that can be read, by id, and an error for each that cannot.
#[derive(Debug, Default)]
pub struct Loaded {
    pub branches: Vec<SavedBranch>,
    pub damaged: Vec<(String, StoreError)>,
}

/// Size and contents of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreStats {
    /// The size of the file. Room that was freed is used again, but not given back.
    pub bytes: u64,
    pub branches: u64,
    /// Distinct texts.
    pub blobs: u64,
}

impl Store {
    /// Opens the store in `dir`, which is made for this user alone if it is missing.
    ///
    /// Reads the whole file, to know that it is sound, and repairs what a crash left open. Blocks until
    /// that is done.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        Self::open_on(dir, Medium::default())
    }

    fn open_on(dir: &Path, medium: Medium) -> Result<Self, StoreError> {
        let unusable = |source| StoreError::io(dir, "use the folder", source);
        medium.private_folder(dir).map_err(unusable)?;
        let lock = lock(dir)?;
        let database = Database::open(dir, medium)?;
        let (requests, waiting) = mpsc::channel();
        let run = move || writer::run(database, &waiting);
        let writer = std::thread::Builder::new().name("branch store".to_owned()).spawn(run);
        let writer = writer.map_err(|source| StoreError::io(dir, "start the writer of", source))?;
        Ok(Self { requests: Some(requests), writer: Some(writer), _lock: lock })
    }

    /// Adds steps to a branch, and makes or replaces its record. Durable when it returns.
    ///
    /// A branch that was never saved with a record is `NoSuchBranch`. Nothing of a refused request is
    /// saved; only if the disk itself failed while it was written out may it be found later nevertheless, until
    /// [`replace_with`](Self::replace_with) says what the branch has.
    pub fn save(&self, id: &str, record: Option<BranchRecord>, steps: Vec<Step>) -> Result<(), StoreError> {
        self.change(Change::save(id, record, steps))
    }

    /// Saves like [`save`](Self::save), without waiting: `done` is called, on the store's thread, which it must not block.
    ///
    /// Requests of one caller are done in their order. Those that wait are held in memory, without a limit.
    pub fn save_with(
        &self,
        id: &str,
        record: Option<BranchRecord>,
        steps: Vec<Step>,
        done: impl FnOnce(Result<(), StoreError>) + Send + 'static,
    ) {
        self.change_with(Change::save(id, record, steps), done);
    }

    /// Forgets a branch, and all texts that no other one holds. One that is not there is no error.
    pub fn discard(&self, id: &str) -> Result<(), StoreError> {
        self.change(Ok(Change::Discard { id: id.to_owned() }))
    }

    /// Discards like [`discard`](Self::discard), without waiting; see [`save_with`](Self::save_with).
    pub fn discard_with(&self, id: &str, done: impl FnOnce(Result<(), StoreError>) + Send + 'static) {
        self.change_with(Ok(Change::Discard { id: id.to_owned() }), done);
    }

    /// Makes a branch just this, whatever was saved of it before, without waiting; see [`save_with`](Self::save_with).
    pub fn replace_with(
        &self,
        id: &str,
        record: BranchRecord,
        steps: Vec<Step>,
        done: impl FnOnce(Result<(), StoreError>) + Send + 'static,
    ) {
        self.change_with(Change::replace(id, record, steps), done);
    }

    /// Reads everything. Requests made before it are done before it.
    pub fn load(&self) -> Result<Loaded, StoreError> {
        self.ask(Request::Load)
    }

    pub fn stats(&self) -> Result<StoreStats, StoreError> {
        self.ask(Request::Stats)
    }

    fn change(&self, change: Result<Change, StoreError>) -> Result<(), StoreError> {
        let (reply, answer) = mpsc::sync_channel(1);
        // A caller that is gone needs no answer.
        self.change_with(change, move |result| _ = reply.send(result));
        answer.recv().unwrap_or(Err(StoreError::Closed))
    }

    fn change_with(
        &self,
        change: Result<Change, StoreError>,
        done: impl FnOnce(Result<(), StoreError>) + Send + 'static,
    ) {
        match change {
            Ok(change) => self.send(Request::Change(change, Box::new(done))),
            Err(error) => done(Err(error)),
        }
    }

    fn ask<T: Send + 'static>(
        &self,
        request: impl FnOnce(writer::Reply<T>) -> Request,
    ) -> Result<T, StoreError> {
        let (reply, answer) = mpsc::sync_channel(1);
        self.send(request(Box::new(move |result| _ = reply.send(result))));
        answer.recv().unwrap_or(Err(StoreError::Closed))
    }

    fn send(&self, request: Request) {
        let unsent = match &self.requests {
            Some(requests) => requests.send(request).err().map(|it| it.0),
            None => Some(request),
        };
        if let Some(request) = unsent {
            request.refuse();
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(writer) = self.writer.take() {
            // The thread catches panics itself, and has answered every request.
            _ = writer.join();
        }
    }
}

/// Locks the store for one opener at a time, before the database is touched.
#[expect(clippy::disallowed_methods, reason = "the state folder lies outside the workspace")]
fn lock(dir: &Path) -> Result<File, StoreError> {
    let path = dir.join("lock");
    let opened = File::options().create(true).truncate(false).write(true).open(&path);
    let lock = opened.map_err(|source| StoreError::io(&path, "open", source))?;
    match patiently(|| lock.try_lock(), |error| matches!(error, fs::TryLockError::WouldBlock)) {
        Ok(()) => Ok(lock),
        Err(fs::TryLockError::WouldBlock) => Err(StoreError::InUse { dir: dir.to_owned() }),
        Err(fs::TryLockError::Error(source)) => Err(StoreError::io(&path, "lock", source)),
    }
}

/// Tries for a fifth of a second to get what is locked.
///
/// A lock that this process has just let go is still held by every process it is starting at that moment,
/// until that becomes another program.
pub(crate) fn patiently<T, E>(
    mut attempt: impl FnMut() -> Result<T, E>,
    is_locked: impl Fn(&E) -> bool,
) -> Result<T, E> {
    for _ in 0..20 {
        match attempt() {
            Err(error) if is_locked(&error) => std::thread::sleep(Duration::from_millis(10)),
            done => return done,
        }
    }
    attempt()
}

/// Makes a folder for this user alone, with those above it, if it is missing, and makes sure that it is that: who
/// could write into it could forge what is believed of it. It is on the disk when this returns.
pub fn private_folder(dir: &Path) -> std::io::Result<()> {
    Medium::default().private_folder(dir)
}

/// Waits until the names in a folder outside of any workspace are on the disk.
pub fn sync_folder(dir: &Path) -> std::io::Result<()> {
    Medium::default().sync_dir(dir)
}
