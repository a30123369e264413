//! Storage of copies of workspaces and of caches of runs: folders of this user alone, each with a lock and a size, of which the
//! one that was not used for the longest time is removed first.

#![expect(clippy::disallowed_methods, reason = "Broker's own cache folder")]

mod clean;

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::SystemTime,
};

use overlay::{ContentHash, private_folder};
use rustix::fs::{FlockOperation, flock};

pub use self::clean::{Cleaned, Extent, StorageKind};
use crate::{
    removal::remove_all,
    scan::{Stamp, has_own_clock, now},
};

const CACHES: &str = "caches";
const COPIES: &str = "copies";

/// Folder for copies and caches, and limits of each.
#[derive(Debug, Clone)]
pub struct Storage {
    /// Broker's cache folder. Made if it is not there, for its user alone.
    pub folder: PathBuf,
    /// Bytes that copies of workspaces may take together.
    pub copies: u64,
    /// Bytes that caches of runs may take together.
    pub caches: u64,
}

impl Storage {
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), copies: 20 << 30, caches: 10 << 30 }
    }

    pub(crate) fn of_caches(&self) -> io::Result<Shelf> {
        Shelf::open(&self.folder, CACHES, self.caches)
    }

    pub(crate) fn of_copies(&self) -> io::Result<Shelf> {
        Shelf::open(&self.folder, COPIES, self.copies)
    }
}

impl Storage {
    /// Opens the shelf of merged folders. What is written to them takes no more than each of them may.
    pub(crate) fn of_merged(&self) -> io::Result<Shelf> {
        Shelf::open(&self.folder, "merged", u64::MAX)
    }
}

/// Folders of one kind.
pub(crate) struct Shelf {
    folder: PathBuf,
    limit: u64,
}

/// A folder that is in use by this process.
pub(crate) struct LockedFolder {
    pub(crate) folder: PathBuf,
    size: PathBuf,
    _lock: Lock,
}

/// A lock that is held by this process. It is let go of by name: a process that another thread is just starting has the file
/// open as well, for a moment.
pub(crate) struct Lock(File);

impl Lock {
    /// `None` while another process holds it.
    fn take(file: &Path, operation: FlockOperation) -> io::Result<Option<Self>> {
        let lock = OpenOptions::new().append(true).create(true).open(file)?;
        match flock(&lock, operation) {
            Ok(()) => Ok(Some(Self(lock))),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

impl Shelf {
    fn open(folder: &Path, name: &str, limit: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let folder = folder.join(name);
        private_folder(&folder)?;
        Ok(Self { folder, limit })
    }

    /// The folder of this name for this process alone; `None` while another one uses it.
    pub(crate) fn take(&self, name: &str) -> io::Result<Option<LockedFolder>> {
        let lock = self.folder.join(format!("{name}.lock"));
        let Some(lock) = Lock::take(&lock, FlockOperation::NonBlockingLockExclusive)? else {
            return Ok(None);
        };
        let folder = self.folder.join(name);
        private_folder(&folder)?;
        // The time of the last use, by which folders are chosen to go.
        lock.0.set_modified(SystemTime::now())?;
        Ok(Some(LockedFolder { folder, size: self.folder.join(format!("{name}.size")), _lock: lock }))
    }

    /// A new folder whose name begins so, and its name.
    pub(crate) fn take_new(&self, prefix: &str) -> io::Result<(LockedFolder, String)> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Relaxed);
        let name = format!("{prefix}-{}-{}-{number}", std::process::id(), now());
        self.take(&name)?.map(|it| (it, name)).ok_or_else(|| io::ErrorKind::ResourceBusy.into())
    }

    /// The folder of this name, which no process changes while it is in use; `None` if there is none.
    pub(crate) fn share(&self, name: &str) -> io::Result<Option<LockedFolder>> {
        let lock = self.folder.join(format!("{name}.lock"));
        let Some(lock) = Lock::take(&lock, FlockOperation::NonBlockingLockShared)? else { return Ok(None) };
        let folder = self.folder.join(name);
        if !folder.is_dir() {
            return Ok(None);
        }
        lock.0.set_modified(SystemTime::now())?;
        Ok(Some(LockedFolder { folder, size: self.folder.join(format!("{name}.size")), _lock: lock }))
    }

    /// Waits until no other process holds the lock of this name.
    pub(crate) fn lock(&self, name: &str) -> io::Result<Option<Lock>> {
        Lock::take(&self.folder.join(name), FlockOperation::LockExclusive)
    }

    /// A file beside the folders.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Removes folders whose names begin so and that are not in use, but for these.
    pub(crate) fn remove_others(&self, prefix: &str, kept: &[&str]) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?.file_name();
            let Some(name) = entry.to_str().and_then(|it| it.strip_suffix(".lock")) else { continue };
            if name.starts_with(prefix) && !kept.contains(&name) && self.remove(name)? {
                // A lock is made anew for a name that is used again; these never are.
                fs::remove_file(self.folder.join(&entry))?;
            }
        }
        Ok(())
    }

    /// Removes all folders that are not in use by `clear`. One that cannot be removed stays for another time.
    pub(crate) fn reclaim(&self, clear: impl Fn(&Path) -> io::Result<()>) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?.file_name();
            let Some(name) = entry.to_str().and_then(|it| it.strip_suffix(".lock")) else { continue };
            let lock = self.folder.join(&entry);
            if Lock::take(&lock, FlockOperation::NonBlockingLockExclusive)?.is_some()
                && clear(&self.folder.join(name)).is_ok()
            {
                // Another process may do the same.
                let _ = fs::remove_file(lock);
            }
        }
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<bool> {
        let lock = self.folder.join(format!("{name}.lock"));
        let lock = Lock::take(&lock, FlockOperation::NonBlockingLockExclusive)?;
        if lock.is_none() {
            return Ok(false);
        }
        remove_all(&self.folder.join(name))?;
        remove_if_there(&self.folder.join(format!("{name}.size")))?;
        Ok(true)
    }

    /// The time by the clock that stamps of files are of, which goes by steps. A change from now on has no earlier stamp.
    pub(crate) fn clock(&self) -> io::Result<i64> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("clock-{}-{}", std::process::id(), NUMBER.fetch_add(1, Relaxed));
        let trial = self.folder.join(name);
        fs::write(&trial, "")?;
        let stamp = Stamp::at(&trial);
        fs::remove_file(&trial)?;
        Ok(stamp?.changed)
    }

    /// Whether the workspace at `root` has the same clock.
    pub(crate) fn has_the_clock_of(&self, root: &Path) -> bool {
        has_own_clock(&self.folder) && has_own_clock(root)
    }

    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }
}

impl LockedFolder {
    pub(crate) fn record_size(&self, bytes: u64) -> io::Result<()> {
        fs::write(&self.size, bytes.to_string())
    }

    /// Removes the lock of a folder that is gone and whose name is not used again.
    pub(crate) fn forget(&self) -> io::Result<()> {
        remove_if_there(&self.size.with_extension("lock"))
    }

    pub(crate) fn remove(&self) -> io::Result<()> {
        remove_all(&self.folder)?;
        remove_if_there(&self.size)
    }
}

/// Gives a file this content, at once.
pub(crate) fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = file.with_extension(format!("new-{}", std::process::id()));
    fs::write(&new, bytes)?;
    fs::rename(new, file)
}

/// A number that another start of the system does not have: what was written before it broke down may be half written.
pub(crate) fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}

fn remove_if_there(file: &Path) -> io::Result<()> {
    unless_gone(fs::remove_file(file))
}

/// Success where another process was faster.
fn unless_gone(removal: io::Result<()>) -> io::Result<()> {
    match removal {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// A name for what is kept of a workspace.
pub(crate) fn name_of(root: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    let hash = ContentHash::of(root.as_os_str().as_bytes()).to_string();
    hash[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_process_removes_meanwhile_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Storage { copies: 1, ..Storage::new(folder.path()) }.of_copies().unwrap();
        shelf.take("a").unwrap().unwrap().record_size(10).unwrap();
        // The file is listed, and not there when it is read.
        std::os::unix::fs::symlink("nowhere", shelf.file("b.size")).unwrap();
        shelf.evict().unwrap();
        assert!(!shelf.file("a").exists());
    }
}
