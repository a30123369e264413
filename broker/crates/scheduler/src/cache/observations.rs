//! Observations that answers rest on, kept once however many answers share them.
//!
//! An instance's reads accumulate over a batch, so that thousands of answers have large and nearly equal
//! read sets. Here each look with what it showed is an [`Observed`], and a set is a list of references to them:
//! a tenth of the memory, and an observation that was verified in a view needs no second look there.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasherDefault, Hash, Hasher},
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use dashmap::DashMap;
use overlay::{Observation, Read, ReadSet};
use parking_lot::Mutex;

/// A look and what it showed, which is never [`Observation::Failed`].
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Observed {
    pub(super) read: Read,
    pub(super) observation: Observation,
}

/// The observations of a read set, in its order. Two of one interner are equal if they have the same observations by address.
#[derive(Debug)]
pub(super) struct ObservedSet {
    pub(super) observations: Box<[Arc<Observed>]>,
}

impl PartialEq for ObservedSet {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = self.observations.iter().zip(&other.observations);
        self.observations.len() == other.observations.len() && pairs.all(|(a, b)| Arc::ptr_eq(a, b))
    }
}

impl Eq for ObservedSet {}

impl Hash for ObservedSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.observations.iter().for_each(|it| state.write_usize(address(it)));
    }
}

/// Number of read sets remembered with their interned form: as many as batches run at once, and some more.
const RECENT: usize = 32;

/// Bytes that a reference count and a slot in a map cost besides what is in them.
const OVERHEAD: usize = 32;

/// Gives equal observations and equal sets one place in memory.
#[derive(Default)]
pub(super) struct Interner {
    observations: DashMap<Arc<Observed>, ()>,
    sets: DashMap<Arc<ObservedSet>, ()>,
    /// Consecutive answers of a batch often have the very same set.
    recent: Mutex<VecDeque<(Weak<ReadSet>, Weak<ObservedSet>)>>,
    bytes: AtomicUsize,
}

impl Interner {
    /// An estimate, in bytes, of all observations and sets.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// `None` if one of the reads failed: such a set holds nowhere.
    pub(super) fn read_set(&self, reads: &Arc<ReadSet>) -> Option<Arc<ObservedSet>> {
        if let Some(known) = self.recall(reads) {
            return Some(known);
        }
        let observations = reads.iter().map(|(read, observation)| self.observed(read.clone(), observation));
        let set = self.set(observations.collect::<Option<_>>()?);
        let mut recent = self.recent.lock();
        recent.truncate(RECENT - 1);
        recent.push_front((Arc::downgrade(reads), Arc::downgrade(&set)));
        Some(set)
    }

    /// An address is not used again while something weakly refers to it.
    fn recall(&self, reads: &Arc<ReadSet>) -> Option<Arc<ObservedSet>> {
        let recent = self.recent.lock();
        let known = recent.iter().find(|(it, _)| std::ptr::eq(it.as_ptr(), Arc::as_ptr(reads)));
        known?.1.upgrade()
    }

    /// `None` for a failure.
    pub(super) fn observed(&self, read: Read, observation: Observation) -> Option<Arc<Observed>> {
        if observation == Observation::Failed {
            return None;
        }
        let observed = Observed { read, observation };
        if let Some(known) = self.observations.get(&observed) {
            return Some(Arc::clone(known.key()));
        }
        let bytes = observed.bytes();
        let entry = self.observations.entry(Arc::new(observed));
        Some(Arc::clone(entry.or_insert_with(|| _ = self.bytes.fetch_add(bytes, Relaxed)).key()))
    }

    /// `observations` must be in the order of their reads.
    pub(super) fn set(&self, observations: Vec<Arc<Observed>>) -> Arc<ObservedSet> {
        let set = Arc::new(ObservedSet { observations: observations.into() });
        let bytes = set.bytes();
        let entry = self.sets.entry(set);
        Arc::clone(entry.or_insert_with(|| _ = self.bytes.fetch_add(bytes, Relaxed)).key())
    }

    /// Drops sets and observations without references.
    ///
    /// A thread that is about to refer to one holds a lock of the map, or a reference already.
    pub(super) fn sweep(&self) {
        self.sets.retain(|set, ()| self.keep(Arc::strong_count(set), set.bytes()));
        self.observations.retain(|observed, ()| self.keep(Arc::strong_count(observed), observed.bytes()));
    }

    fn keep(&self, references: usize, bytes: usize) -> bool {
        let keep = references > 1;
        if !keep {
            self.bytes.fetch_sub(bytes, Relaxed);
        }
        keep
    }
}

impl Observed {
    fn bytes(&self) -> usize {
        // The path's text may be the view's or another observation's, too; it is counted for each.
        size_of::<Self>() + self.read.path().as_str().len() + 2 * OVERHEAD
    }
}

impl ObservedSet {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.observations.len() * size_of::<Arc<Observed>>() + OVERHEAD
    }
}

/// Values by the address of their `Arc`. Each entry keeps its `Arc` alive, so that no other takes its address.
pub(super) type ByAddress<T, U> = HashMap<usize, (Arc<T>, U), BuildHasherDefault<AddressHasher>>;

pub(super) fn address<T>(it: &Arc<T>) -> usize {
    Arc::as_ptr(it).addr()
}

/// Spreads addresses over all bits. Addresses are not chosen from outside, so that nothing stronger is needed.
#[derive(Default, Clone, Copy)]
pub(super) struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|it| self.write_usize(usize::from(*it)));
    }

    fn write_usize(&mut self, address: usize) {
        let product = u128::from(self.0 ^ address as u64) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
