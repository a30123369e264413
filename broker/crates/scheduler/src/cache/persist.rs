//! Between memory and folder: a shard's file is read when its first answer is asked for, and written back
//! merged with what others wrote meanwhile. Two that write at once lose the one's new answers, no more.

use std::{
    path::{Path, PathBuf},
    sync::atomic::Ordering::Relaxed,
    time::{SystemTime, UNIX_EPOCH},
};

use overlay::ContentHash;
use parking_lot::MutexGuard;

use super::{
    Cache, CacheOptions, Key,
    folder::{self, DAY, Folder},
    format::{self, Stored, Subject},
    shard::{Candidate, Shard, merge},
    shard_of,
};

/// Notes on what could not be read.
const MAX_NOTES: usize = 100;

pub(super) struct Persister {
    folder: Folder,
    /// Days.
    max_age: u32,
}

impl Persister {
    pub(super) fn open(options: &CacheOptions, folder: PathBuf) -> Result<Self, String> {
        let folder = Folder::open(folder, options.disk, DAY * options.max_age)?;
        Ok(Self { folder, max_age: options.max_age })
    }
}

/// Counted from 1970.
pub(super) fn today() -> u32 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (since.as_secs() / DAY.as_secs()) as u32
}

impl<V> Cache<V> {
    /// Writes to the folder what is not in it, and drops from it what was not used for long.
    ///
    /// A failed write is noted in [`Stats::unreadable`](super::Stats::unreadable), and not tried again until something is added.
    pub fn flush(&self) {
        let Some(persister) = &self.persister else { return };
        self.today.store(today(), Relaxed);
        self.flush_shards(persister);
        persister.folder.prune();
        // Drops observations that were only in files.
        self.interner.sweep();
    }

    /// Returns how many files were written, or should have been.
    pub(super) fn flush_shards(&self, persister: &Persister) -> usize {
        let mut written = 0;
        for (number, shard) in self.shards.iter().enumerate() {
            let dirty = std::mem::take(&mut shard.lock().dirty);
            written += dirty.len();
            dirty.into_iter().for_each(|linter| self.write(persister, self.subject(linter, number)));
        }
        written
    }

    /// The shard of `key`, with what the folder has of its linter.
    pub(super) fn loaded(&self, key: &Key) -> MutexGuard<'_, Shard<V>> {
        let mut shard = self.shard(key);
        if let Some(persister) = &self.persister
            && shard.loaded.insert(key.linter)
        {
            self.load(persister, &mut shard, self.subject(key.linter, shard_of(&key.path)));
        }
        shard
    }

    /// Until something is found, nothing of it is decoded.
    fn load(&self, persister: &Persister, shard: &mut Shard<V>, subject: Subject) {
        let file = persister.folder.file(subject.linter, subject.shard);
        match self.read(&file, subject) {
            Ok(kept) => self.counted(shard, |shard| {
                for it in kept {
                    let (key, candidate) = (it.key.clone(), Candidate::stored(it));
                    self.stamp(&candidate);
                    shard.absorb(key, candidate);
                }
            }),
            Err(reason) => {
                self.note(file, reason);
                // A file that cannot be read is replaced.
                shard.dirty.insert(subject.linter);
            }
        }
    }

    fn read(&self, file: &Path, subject: Subject) -> Result<Vec<Stored>, String> {
        let Some(bytes) = folder::read(file)? else { return Ok(Vec::new()) };
        let mut kept = format::decode(&bytes, subject, &self.interner)?;
        kept.retain(|it| shard_of(&it.key.path) == subject.shard);
        Ok(kept)
    }

    fn write(&self, persister: &Persister, subject: Subject) {
        let file = persister.folder.file(subject.linter, subject.shard);
        let answers = self.shards[subject.shard].lock().answers(subject.linter);
        let answers = answers.iter().filter_map(|(key, it)| it.to_stored(key, &*self.codec)).collect();
        let mut all = merge(answers, self.read(&file, subject).unwrap_or_default());
        let today = self.today.load(Relaxed);
        all.retain(|it| today.saturating_sub(it.day) <= persister.max_age);
        let written = format::encode(subject, &all).and_then(|bytes| {
            persister.folder.write(&file, &bytes).map_err(|error| format!("cannot be written: {error}"))
        });
        written.unwrap_or_else(|reason| self.note(file, reason));
    }

    /// Notes a value that cannot be decoded although its bytes are as they were written: the codec is to blame.
    pub(super) fn cannot_decode(&self, key: &Key) {
        let Some(persister) = &self.persister else { return };
        let file = persister.folder.file(key.linter, shard_of(&key.path));
        self.note(file, format!("has a value for {} that cannot be decoded", key.path));
    }

    fn note(&self, file: PathBuf, reason: String) {
        let mut notes = self.unreadable.lock();
        if notes.len() < MAX_NOTES {
            notes.push((file, reason));
        }
    }

    fn subject(&self, linter: ContentHash, shard: usize) -> Subject {
        Subject { linter, shard, version: self.codec.version() }
    }
}
