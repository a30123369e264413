//! Answers that can be used again.
//!
//! An answer holds in a view if everything that its linter looked at shows the same there; then the linter need not run. So
//! one answer serves every branch that agrees on what was read, and dependencies need not be declared. The cache does not
//! depend on the contents of an answer.
//!
//! Answers are found by linter and path, and there by the hash of the file's own text; of those, the
//! newest whose read set holds is taken. They are kept in a folder too, if one is given: see `folder.rs`.

mod folder;
mod format;
mod index;
mod observations;
mod parent;
mod persist;
mod read_checker;
mod shard;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
};

use parking_lot::{Mutex, MutexGuard};

pub use folder::surplus as surplus_files;
pub use index::{ReadIndex, Reads};
use observations::Interner;
use overlay::{ContentHash, ReadSet, WorkspacePath};
pub use parent::{Inherited, Seen};
use persist::Persister;
pub use read_checker::ReadChecker;
use shard::{Candidate, Shard};

/// Number of parts that directories are divided into, in memory as in the folder.
const SHARDS: usize = 64;

/// Divisor of the part that an eviction takes: one in so many.
const EVICTED_PART: usize = 8;

/// Key of an answer: the linter and the unit that it was asked about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// Hash of the linter's name, version, code and settings: of everything but files that may change its answers.
    pub linter: ContentHash,
    pub path: WorkspacePath,
    /// File or folder under which the unit was found, as in [`lint::Unit`].
    pub named: WorkspacePath,
}

/// An answer of a linter, and all that it rests on.
#[derive(Debug, Clone)]
pub struct Answer<V> {
    /// The hash of the unit's own text, links followed.
    pub content: ContentHash,
    /// Everything else that the linter looked at.
    pub reads: Arc<ReadSet>,
    pub value: Arc<V>,
}

#[derive(Debug, Clone)]
pub struct CacheOptions {
    /// Bytes that answers, keys and read sets may take in memory.
    pub memory: usize,
    /// Folder in which answers outlive the program. It is made if it is missing, and not used if others may write to it.
    pub folder: Option<PathBuf>,
    /// Bytes that all files in the folder may take together; the oldest go first.
    pub disk: u64,
    /// Days after which an answer that was not used is dropped from the folder.
    pub max_age: u32,
}

impl Default for CacheOptions {
    fn default() -> Self {
        Self { memory: 256 << 20, folder: None, disk: 512 << 20, max_age: 30 }
    }
}

/// Encoding of values in files. Only asked where there is a folder.
pub trait Codec<V>: Send + Sync {
    /// To be raised whenever what [`encode`](Codec::encode) writes changes.
    fn version(&self) -> u32;

    /// `None` for a value that is not to outlive the program.
    fn encode(&self, value: &V) -> Option<Vec<u8>>;

    /// `None` for what [`encode`](Codec::encode) cannot have written.
    fn decode(&self, bytes: &[u8]) -> Option<V>;
}

/// Counters of the cache since it was made, and its contents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    pub hits: u64,
    pub misses: u64,
    /// Answers that were for the same text and did not hold.
    pub invalid: u64,
    /// Answers in memory.
    pub entries: usize,
    /// An estimate of what they take with their keys and read sets.
    pub bytes: usize,
    /// Answers dropped from memory to make room.
    pub evicted: u64,
    /// Files, or the folder, that could not be used, and why: the first hundred.
    pub unreadable: Vec<(PathBuf, String)>,
}

/// Answers of many linters, shared by all branches and threads.
pub struct Cache<V> {
    shards: Box<[Mutex<Shard<V>>]>,
    interner: Interner,
    codec: Box<dyn Codec<V>>,
    persister: Option<Persister>,
    memory: usize,
    /// Counts uses.
    clock: AtomicU64,
    /// Counted from 1970.
    today: AtomicU32,
    counts: Counts,
    unreadable: Mutex<Vec<(PathBuf, String)>>,
    /// Held by the thread that evicts.
    evicting: Mutex<()>,
}

#[derive(Default)]
struct Counts {
    hits: AtomicU64,
    misses: AtomicU64,
    invalid: AtomicU64,
    evicted: AtomicU64,
    /// Bytes of all shards.
    bytes: AtomicU64,
}

impl<V> Cache<V> {
    /// Never fails: a folder that cannot be used is listed in [`Stats::unreadable`].
    pub fn new(options: CacheOptions, codec: impl Codec<V> + 'static) -> Self {
        let mut unreadable = Vec::new();
        let persister = options.folder.clone().and_then(|folder| {
            let opened = Persister::open(&options, folder.clone());
            opened.map_err(|reason| unreadable.push((folder, reason))).ok()
        });
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            interner: Interner::default(),
            codec: Box::new(codec),
            persister,
            memory: options.memory,
            clock: AtomicU64::default(),
            today: AtomicU32::new(persist::today()),
            counts: Counts::default(),
            unreadable: Mutex::new(unreadable),
            evicting: Mutex::default(),
        }
    }

    /// The newest answer for this text that holds in the view of `checker`.
    ///
    /// No lock is held while the view is looked at.
    pub fn find(&self, key: &Key, content: ContentHash, checker: &mut ReadChecker<'_>) -> Option<Arc<V>> {
        self.find_with_reads(key, content, checker).map(|(value, _)| value)
    }

    /// The same, with what it rests on besides the text.
    pub fn find_with_reads(
        &self,
        key: &Key,
        content: ContentHash,
        checker: &mut ReadChecker<'_>,
    ) -> Option<(Arc<V>, Reads)> {
        let candidates = self.loaded(key).candidates(key, content);
        // A file may have been loaded.
        self.make_room();
        for candidate in candidates {
            if !checker.holds(&candidate.set) {
                self.counts.invalid.fetch_add(1, Relaxed);
                continue;
            }
            let Some(value) = candidate.value(&*self.codec) else {
                self.cannot_decode(key);
                continue;
            };
            self.counts.hits.fetch_add(1, Relaxed);
            self.touch(key, &candidate);
            return Some((value, Reads(Arc::clone(&candidate.set))));
        }
        self.counts.misses.fetch_add(1, Relaxed);
        None
    }

    /// Keeps an answer; `weight` is what its value takes in memory, in bytes. Returns what it rests on, if it is kept.
    ///
    /// Only a `Complete` or `Excluded` outcome may be kept: any other is not the last word on its unit. An
    /// answer that rests on a look that failed is not kept, nor one larger than the whole budget.
    pub fn insert(&self, key: Key, answer: Answer<V>, weight: usize) -> Option<Reads> {
        if weight >= self.memory {
            return None;
        }
        let set = self.interner.read_set(&answer.reads)?;
        let reads = Reads(Arc::clone(&set));
        let candidate = Candidate::new(answer.content, set, answer.value, weight as u64);
        self.stamp(&candidate);
        candidate.day.store(self.today.load(Relaxed), Relaxed);
        let mut shard = self.shard(&key);
        shard.dirty.insert(key.linter);
        let evicted = self.counted(&mut shard, |it| it.insert(key, candidate));
        drop(shard);
        self.counts.evicted.fetch_add(evicted as u64, Relaxed);
        self.make_room();
        Some(reads)
    }

    /// Returns the reads of an answer that is not kept here, in the form that kept answers share. `None` if a look failed:
    /// such an answer holds nowhere.
    pub fn shared_reads(&self, reads: &Arc<ReadSet>) -> Option<Reads> {
        self.interner.read_set(reads).map(Reads)
    }

    pub fn stats(&self) -> Stats {
        Stats {
            hits: self.counts.hits.load(Relaxed),
            misses: self.counts.misses.load(Relaxed),
            invalid: self.counts.invalid.load(Relaxed),
            entries: self.shards.iter().map(|it| it.lock().len()).sum(),
            bytes: self.bytes(),
            evicted: self.counts.evicted.load(Relaxed),
            unreadable: self.unreadable.lock().clone(),
        }
    }

    fn bytes(&self) -> usize {
        self.counts.bytes.load(Relaxed) as usize + self.interner.bytes()
    }

    fn shard(&self, key: &Key) -> MutexGuard<'_, Shard<V>> {
        self.shards[shard_of(&key.path)].lock()
    }

    /// No two candidates have the same stamp.
    fn stamp(&self, candidate: &Candidate<V>) {
        candidate.used.store(self.clock.fetch_add(1, Relaxed), Relaxed);
    }

    fn touch(&self, key: &Key, candidate: &Candidate<V>) {
        self.stamp(candidate);
        let today = self.today.load(Relaxed);
        // The file is to know of it, but once a day is enough.
        if candidate.day.swap(today, Relaxed) != today {
            self.shard(key).dirty.insert(key.linter);
        }
    }

    /// Does something to a shard and keeps the sum of all up to date.
    fn counted<T>(&self, shard: &mut Shard<V>, action: impl FnOnce(&mut Shard<V>) -> T) -> T {
        let before = shard.bytes();
        let answer = action(shard);
        // Wraps around as the difference does.
        self.counts.bytes.fetch_add((shard.bytes() as u64).wrapping_sub(before as u64), Relaxed);
        answer
    }

    /// Evicts what was not used for longest, a part of all at a time, down to nine tenths of the budget, so
    /// that it is not done for each insertion. One thread does it, the others go on.
    fn make_room(&self) {
        if self.bytes() <= self.memory {
            return;
        }
        let Some(_evicting) = self.evicting.try_lock() else { return };
        self.interner.sweep();
        while self.bytes() > self.memory / 10 * 9 {
            let evicted = self.evict();
            if evicted == 0 {
                return;
            }
            self.counts.evicted.fetch_add(evicted as u64, Relaxed);
            self.interner.sweep();
        }
    }

    fn evict(&self) -> usize {
        let mut uses: Vec<u64> = Vec::new();
        self.shards.iter().for_each(|it| uses.extend(it.lock().uses()));
        if uses.is_empty() {
            return 0;
        }
        let oldest = uses.len() / EVICTED_PART;
        let limit = *uses.select_nth_unstable(oldest).1;
        let evict = |shard: &Mutex<Shard<V>>| self.counted(&mut shard.lock(), |it| it.evict(limit));
        self.shards.iter().map(evict).sum()
    }
}

/// By directory: the answers for its files rest on much the same, which then stands in one file instead of in
/// all. The same in every run, since files are named by it.
fn shard_of(path: &WorkspacePath) -> usize {
    let directory = path.as_str().rsplit_once('/').map_or("", |(directory, _)| directory);
    usize::from(ContentHash::of(directory.as_bytes()).as_bytes()[0]) % SHARDS
}

#[cfg(test)]
mod tests;
