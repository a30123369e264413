//! Removal of kept folders that are not in use: beyond their limit, or all.

use std::{fs, io, path::PathBuf, time::SystemTime};

use rustix::fs::FlockOperation;

use super::{CACHES, COPIES, Lock, Shelf, Storage};

/// Kinds of folders that are kept after their use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageKind {
    Caches,
    Copies,
}

/// Extent of a cleaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Folders beyond the limit.
    BeyondLimit,
    All,
}

/// A folder that was to be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleaned {
    pub folder: PathBuf,
    pub bytes: u64,
    /// In use by a process, so that it stays.
    pub in_use: bool,
}

impl Storage {
    /// Bytes of the folders of a kind, as was noted when each was used last.
    pub fn size(&self, kind: StorageKind) -> io::Result<u64> {
        let kept = self.opened(kind)?.map(|it| it.kept()).transpose()?;
        Ok(kept.iter().flatten().map(|it| it.2).sum())
    }

    /// Removes folders that are not in use, or on a dry run says which these are.
    pub fn clean(&self, kind: StorageKind, extent: Extent, dry_run: bool) -> io::Result<Vec<Cleaned>> {
        let cleaned = self.opened(kind)?.map(|it| it.clean(extent, dry_run)).transpose()?;
        Ok(cleaned.unwrap_or_default())
    }

    /// `None` if there is nothing of this kind.
    fn opened(&self, kind: StorageKind) -> io::Result<Option<Shelf>> {
        let (name, limit) = match kind {
            StorageKind::Caches => (CACHES, self.caches),
            StorageKind::Copies => (COPIES, self.copies),
        };
        let is_there = self.folder.join(name).is_dir();
        is_there.then(|| Shelf::open(&self.folder, name, limit)).transpose()
    }
}

impl Shelf {
    /// Removes folders that are not in use until what is left takes no more than the limit.
    pub(crate) fn evict(&self) -> io::Result<()> {
        self.clean(Extent::BeyondLimit, false).map(drop)
    }

    /// Removes folders that are not in use, those that were not used for the longest time first, and returns all that were to go.
    fn clean(&self, extent: Extent, dry_run: bool) -> io::Result<Vec<Cleaned>> {
        let mut kept = self.kept()?;
        kept.sort();
        let mut total: u64 = kept.iter().map(|it| it.2).sum();
        let mut cleaned = Vec::new();
        for (_, name, bytes) in kept {
            if extent == Extent::BeyondLimit && total <= self.limit {
                break;
            }
            let is_free = if dry_run { self.is_free(&name)? } else { self.remove(&name)? };
            total -= if is_free { bytes } else { 0 };
            cleaned.push(Cleaned { folder: self.folder.join(name), bytes, in_use: !is_free });
        }
        Ok(cleaned)
    }

    /// The folders with a size, each with the time of its last use.
    fn kept(&self) -> io::Result<Vec<(SystemTime, String, u64)>> {
        let mut kept = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?.file_name();
            let Some(name) = entry.to_str().and_then(|it| it.strip_suffix(".size")) else { continue };
            let size = match fs::read_to_string(self.folder.join(&entry)) {
                Ok(size) => size.trim().parse().unwrap_or(0),
                // Another process has removed it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let used = fs::metadata(self.folder.join(format!("{name}.lock"))).and_then(|it| it.modified());
            kept.push((used.unwrap_or(SystemTime::UNIX_EPOCH), name.to_owned(), size));
        }
        Ok(kept)
    }

    fn is_free(&self, name: &str) -> io::Result<bool> {
        let lock = self.folder.join(format!("{name}.lock"));
        Ok(!lock.exists() || Lock::take(&lock, FlockOperation::NonBlockingLockExclusive)?.is_some())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn what_is_in_use_stays_and_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage { copies: 10, ..Storage::new(folder.path().join("cache")) };
        assert_eq!(storage.clean(StorageKind::Copies, Extent::All, false).unwrap(), []);
        assert!(!storage.folder.exists(), "nothing is made");
        let shelf = storage.of_copies().unwrap();
        shelf.take("old").unwrap().unwrap().record_size(6).unwrap();
        let old = File::options().append(true).open(shelf.file("old.lock")).unwrap();
        old.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let used = shelf.take("used").unwrap().unwrap();
        used.record_size(7).unwrap();
        let cleaned = |name: &str, bytes, in_use| Cleaned { folder: shelf.file(name), bytes, in_use };
        let clean = |extent, dry_run| storage.clean(StorageKind::Copies, extent, dry_run).unwrap();
        assert_eq!(storage.size(StorageKind::Copies).unwrap(), 13);
        assert_eq!(clean(Extent::BeyondLimit, true), [cleaned("old", 6, false)]);
        assert_eq!(clean(Extent::All, true), [cleaned("old", 6, false), cleaned("used", 7, true)]);
        assert!(shelf.file("old").exists());
        assert_eq!(clean(Extent::All, false), [cleaned("old", 6, false), cleaned("used", 7, true)]);
        assert!(!shelf.file("old").exists() && shelf.file("used").exists());
        drop(used);
        assert_eq!(clean(Extent::BeyondLimit, false), []);
        assert_eq!(clean(Extent::All, false), [cleaned("used", 7, false)]);
        assert_eq!(storage.size(StorageKind::Copies).unwrap(), 0);
    }
}
