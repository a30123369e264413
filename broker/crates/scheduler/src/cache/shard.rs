//! The answers for some of all directories, in memory.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
};

use bytes::Bytes;
use overlay::ContentHash;

use super::{Codec, Key, format::Stored, observations::ObservedSet};

/// Answers kept for one key: branches disagree, but not in more ways than are worth trying.
const CANDIDATES: usize = 16;

/// An answer that may hold in a view.
pub(super) struct Candidate<V> {
    pub(super) content: ContentHash,
    pub(super) set: Arc<ObservedSet>,
    value: Value<V>,
    /// The cache's clock at the last use.
    pub(super) used: AtomicU64,
    /// The day of the last use, counted from 1970.
    pub(super) day: AtomicU32,
}

struct Value<V> {
    /// `None` inside if it could not be decoded.
    decoded: OnceLock<Option<Arc<V>>>,
    encoded: Option<Bytes>,
    weight: u64,
}

impl<V> Candidate<V> {
    pub(super) fn new(content: ContentHash, set: Arc<ObservedSet>, value: Arc<V>, weight: u64) -> Self {
        let value = Value { decoded: OnceLock::from(Some(value)), encoded: None, weight };
        Self { content, set, value, used: AtomicU64::new(0), day: AtomicU32::new(0) }
    }

    /// Makes a candidate of a stored answer; the value is decoded when it is asked for.
    pub(super) fn stored(it: Stored) -> Self {
        let value = Value { decoded: OnceLock::new(), encoded: Some(it.value), weight: it.weight };
        let (used, day) = (AtomicU64::new(0), AtomicU32::new(it.day));
        Self { content: it.content, set: it.set, value, used, day }
    }

    pub(super) fn value(&self, codec: &dyn Codec<V>) -> Option<Arc<V>> {
        let encoded = self.value.encoded.as_ref();
        let decode = || encoded.and_then(|it| codec.decode(it)).map(Arc::new);
        self.value.decoded.get_or_init(decode).clone()
    }

    /// `None` if it cannot be encoded, or could not be decoded.
    pub(super) fn to_stored(&self, key: &Key, codec: &dyn Codec<V>) -> Option<Stored> {
        let value = match (&self.value.encoded, self.value.decoded.get()) {
            (_, Some(None)) | (None, None) => return None,
            (Some(encoded), _) => encoded.clone(),
            (None, Some(Some(value))) => codec.encode(value)?.into(),
        };
        let (day, weight) = (self.day.load(Relaxed), self.value.weight);
        Some(Stored {
            key: key.clone(),
            content: self.content,
            set: Arc::clone(&self.set),
            day,
            weight,
            value,
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        self.content == other.content && Arc::ptr_eq(&self.set, &other.set)
    }

    fn bytes(&self, key: &Key) -> usize {
        // The key is counted for each of its candidates: most have but one. What is encoded is counted as if
        // it were decoded already.
        let encoded = self.value.encoded.as_ref().map_or(0, Bytes::len);
        // A file may say anything; no sum of these is too large to count.
        let weight = self.value.weight.min(1 << 40) as usize;
        size_of::<Self>() + 64 + encoded + weight + key.bytes()
    }
}

impl Key {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.path.as_str().len() + self.named.as_str().len() + 64
    }
}

/// Every key's candidates, newest first.
pub(super) struct Shard<V> {
    entries: HashMap<Key, Vec<Arc<Candidate<V>>>>,
    /// Linters whose file was looked at.
    pub(super) loaded: HashSet<ContentHash>,
    /// Linters with something that is not in their file.
    pub(super) dirty: HashSet<ContentHash>,
    /// An estimate of what all candidates take, without their read sets.
    bytes: usize,
    len: usize,
}

impl<V> Default for Shard<V> {
    fn default() -> Self {
        let (loaded, dirty) = (HashSet::new(), HashSet::new());
        Self { entries: HashMap::new(), loaded, dirty, bytes: 0, len: 0 }
    }
}

impl<V> Shard<V> {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the candidates for the same text.
    pub(super) fn candidates(&self, key: &Key, content: ContentHash) -> Vec<Arc<Candidate<V>>> {
        let all = self.entries.get(key).into_iter().flatten();
        all.filter(|it| it.content == content).cloned().collect()
    }

    /// Takes the place of the same answer, if there is one. Returns how many others had to go.
    pub(super) fn insert(&mut self, key: Key, candidate: Candidate<V>) -> usize {
        self.remove_where(&key, |it| it.is_same(&candidate));
        let evicted = self.make_room(&key);
        self.add(key, candidate, |all, it| all.insert(0, it));
        evicted
    }

    /// Adds what was kept, behind what is here already.
    pub(super) fn absorb(&mut self, key: Key, candidate: Candidate<V>) {
        let there = self.entries.get(&key).map_or(&[][..], Vec::as_slice);
        if there.len() < CANDIDATES && !there.iter().any(|it| it.is_same(&candidate)) {
            self.add(key, candidate, Vec::push);
        }
    }

    /// Returns the time of the last use of each candidate.
    pub(super) fn uses(&self) -> impl Iterator<Item = u64> {
        self.entries.values().flatten().map(|it| it.used.load(Relaxed))
    }

    /// Removes what was not used after `limit`. Returns how many went.
    pub(super) fn evict(&mut self, limit: u64) -> usize {
        let before = self.len;
        self.entries.retain(|key, all| {
            for gone in all.extract_if(.., |it| it.used.load(Relaxed) <= limit) {
                self.bytes -= gone.bytes(key);
                self.len -= 1;
            }
            !all.is_empty()
        });
        before - self.len
    }

    /// Returns all answers of one linter.
    pub(super) fn answers(&self, linter: ContentHash) -> Vec<(Key, Arc<Candidate<V>>)> {
        let keys = self.entries.iter().filter(|(key, _)| key.linter == linter);
        keys.flat_map(|(key, all)| all.iter().map(|it| (key.clone(), Arc::clone(it)))).collect()
    }

    fn make_room(&mut self, key: &Key) -> usize {
        let there = self.entries.get(key).map_or(&[][..], Vec::as_slice);
        if there.len() < CANDIDATES {
            return 0;
        }
        let oldest = there.iter().min_by_key(|it| it.used.load(Relaxed)).map(Arc::as_ptr);
        self.remove_where(key, |it| Some(std::ptr::from_ref(it)) == oldest);
        1
    }

    fn add(
        &mut self,
        key: Key,
        candidate: Candidate<V>,
        put: impl FnOnce(&mut Vec<Arc<Candidate<V>>>, Arc<Candidate<V>>),
    ) {
        self.bytes += candidate.bytes(&key);
        self.len += 1;
        put(self.entries.entry(key).or_default(), Arc::new(candidate));
    }

    fn remove_where(&mut self, key: &Key, remove: impl Fn(&Candidate<V>) -> bool) {
        let Some(all) = self.entries.get_mut(key) else { return };
        for gone in all.extract_if(.., |it| remove(it)) {
            self.bytes -= gone.bytes(key);
            self.len -= 1;
        }
        if all.is_empty() {
            self.entries.remove(key);
        }
    }
}

/// `answers`, and behind them those of `kept` that are not among them, as many of a key as may be.
pub(super) fn merge(mut answers: Vec<Stored>, kept: Vec<Stored>) -> Vec<Stored> {
    let mut places: HashMap<Key, Vec<usize>> = HashMap::new();
    for (place, it) in answers.iter().enumerate() {
        places.entry(it.key.clone()).or_default().push(place);
    }
    for it in kept {
        let places = places.entry(it.key.clone()).or_default();
        let is_same = |other: &Stored| other.content == it.content && Arc::ptr_eq(&other.set, &it.set);
        match places.iter().find(|place| is_same(&answers[**place])) {
            // Another program may have used it since.
            Some(place) => answers[*place].day = answers[*place].day.max(it.day),
            None if places.len() < CANDIDATES => {
                places.push(answers.len());
                answers.push(it);
            }
            None => {}
        }
    }
    answers
}
