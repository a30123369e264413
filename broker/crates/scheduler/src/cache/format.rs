//! A file of answers: one linter's, for the directories of one shard.
//!
//! A magic word, the versions, a BLAKE3 checksum, and a body that postcard encodes. Facts and sets stand in it
//! once. Facts are numbered as they first appear, shortest set first, so that a batch's growing sets are a
//! few runs of numbers each, however long.

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;
use overlay::{ContentHash, Observation, Read, WorkspacePath};
use serde::{Deserialize, Serialize};

use super::{
    Key,
    observations::{ByAddress, Interner, Observed, ObservedSet, address},
};

const MAGIC: &[u8; 8] = b"broker=1";
/// To be raised when anything below, or what a hash is computed from, changes.
const VERSION: u32 = 2;
const HEADER: usize = MAGIC.len() + 4 + 4 + 32;

/// Contents that a file is for, which its header must name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) linter: ContentHash,
    pub(super) shard: usize,
    /// The codec's.
    pub(super) version: u32,
}

/// An answer, its value encoded.
#[derive(Clone)]
pub(super) struct Stored {
    pub(super) key: Key,
    pub(super) content: ContentHash,
    pub(super) set: Arc<ObservedSet>,
    /// The day of its last use, counted from 1970.
    pub(super) day: u32,
    /// Bytes that the decoded value takes.
    pub(super) weight: u64,
    pub(super) value: Bytes,
}

#[derive(Serialize, Deserialize)]
struct Body<'a> {
    linter: [u8; 32],
    shard: u64,
    #[serde(borrow)]
    observations: Vec<FactRecord<'a>>,
    /// Runs of observations: how many to pass over since the run before, and how many to take.
    sets: Vec<Vec<(u32, u32)>>,
    #[serde(borrow)]
    answers: Vec<AnswerRecord<'a>>,
}

#[derive(Serialize, Deserialize)]
struct FactRecord<'a> {
    kind: ReadRecord,
    path: &'a str,
    observation: ObservationRecord,
}

#[derive(Serialize, Deserialize)]
enum ReadRecord {
    Kind,
    Metadata,
    Link,
    Listing,
    Content,
}

#[derive(Serialize, Deserialize)]
enum ObservationRecord {
    Found([u8; 32]),
    Missing,
    NotADirectory,
    IsADirectory,
    NotALink,
    Special,
}

#[derive(Serialize, Deserialize)]
struct AnswerRecord<'a> {
    path: &'a str,
    /// `None` if it is `path`.
    named: Option<&'a str>,
    content: [u8; 32],
    set: u32,
    day: u32,
    weight: u64,
    value: &'a [u8],
}

pub(super) fn encode(subject: Subject, answers: &[Stored]) -> Result<Vec<u8>, String> {
    let mut numbers = Numbers::default();
    let mut sets: Vec<&Arc<ObservedSet>> = answers.iter().map(|it| &it.set).collect();
    sets.sort_by_key(|set| (set.observations.len(), address(set)));
    sets.dedup_by_key(|set| address(set));
    let set_numbers: HashMap<usize, u32> = sets.iter().map(|it| address(it)).zip(0..).collect();
    let runs = sets.iter().map(|it| numbers.runs(it)).collect();
    let body = Body {
        linter: *subject.linter.as_bytes(),
        shard: subject.shard as u64,
        observations: numbers.observations.iter().filter_map(|it| fact_record(it)).collect(),
        sets: runs,
        answers: answers.iter().map(|it| it.record(set_numbers[&address(&it.set)])).collect(),
    };
    let body = postcard::to_stdvec(&body).map_err(|error| error.to_string())?;
    let mut file = header(subject, &body).to_vec();
    file.extend_from_slice(&body);
    Ok(file)
}

/// The answers of a file, or what is wrong with it.
pub(super) fn decode(file: &[u8], subject: Subject, interner: &Interner) -> Result<Vec<Stored>, String> {
    let (header_there, body) = file.split_at_checked(HEADER).ok_or("is cut short")?;
    if header_there != header(subject, body) {
        return Err("is damaged, or of another version".to_owned());
    }
    let body: Body<'_> = postcard::from_bytes(body).map_err(|error| error.to_string())?;
    if (body.linter, body.shard) != (*subject.linter.as_bytes(), subject.shard as u64) {
        return Err("belongs elsewhere".to_owned());
    }
    let observations: Option<Vec<_>> =
        body.observations.into_iter().map(|it| observed(it, interner)).collect();
    let observations = Ranked::new(observations.ok_or("names an impossible path")?);
    let sets: Option<Vec<_>> = body.sets.iter().map(|runs| observations.set(runs, interner)).collect();
    let sets = sets.ok_or("refers to observations that it has not")?;
    let answers = body.answers.into_iter().map(|it| it.stored(subject.linter, &sets));
    answers.collect::<Option<_>>().ok_or_else(|| "has an impossible answer".to_owned())
}

fn header(subject: Subject, body: &[u8]) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[12..16].copy_from_slice(&subject.version.to_le_bytes());
    header[16..].copy_from_slice(ContentHash::of(body).as_bytes());
    header
}

/// Numbers observations as they come.
#[derive(Default)]
struct Numbers {
    known: ByAddress<Observed, u32>,
    observations: Vec<Arc<Observed>>,
}

impl Numbers {
    fn number(&mut self, observed: &Arc<Observed>) -> u32 {
        let next = self.observations.len() as u32;
        let entry = self.known.entry(address(observed));
        entry
            .or_insert_with(|| {
                self.observations.push(Arc::clone(observed));
                (Arc::clone(observed), next)
            })
            .1
    }

    fn runs(&mut self, set: &ObservedSet) -> Vec<(u32, u32)> {
        let mut numbers: Vec<u32> = set.observations.iter().map(|it| self.number(it)).collect();
        numbers.sort_unstable();
        let mut runs: Vec<(u32, u32)> = Vec::new();
        let mut next = 0;
        for number in numbers {
            match runs.last_mut() {
                Some((_, length)) if number == next => *length += 1,
                _ => runs.push((number - next, 1)),
            }
            next = number + 1;
        }
        runs
    }
}

/// A file's observations, and where each stands in the order of reads.
struct Ranked {
    sorted: Vec<Arc<Observed>>,
    /// By number.
    ranks: Vec<u32>,
}

impl Ranked {
    fn new(observations: Vec<Arc<Observed>>) -> Self {
        let mut order: Vec<u32> = (0..observations.len() as u32).collect();
        order.sort_by(|a, b| observations[*a as usize].read.cmp(&observations[*b as usize].read));
        let mut ranks = vec![0; observations.len()];
        order.iter().zip(0..).for_each(|(number, rank)| ranks[*number as usize] = rank);
        Self { sorted: order.iter().map(|it| Arc::clone(&observations[*it as usize])).collect(), ranks }
    }

    fn set(&self, runs: &[(u32, u32)], interner: &Interner) -> Option<Arc<ObservedSet>> {
        let mut ranks = Vec::new();
        let mut next = 0_usize;
        for (gap, length) in runs {
            let start = next.checked_add(*gap as usize)?;
            next = start.checked_add(*length as usize)?;
            ranks.extend_from_slice(self.ranks.get(start..next)?);
        }
        ranks.sort_unstable();
        Some(interner.set(ranks.iter().map(|it| Arc::clone(&self.sorted[*it as usize])).collect()))
    }
}

impl Stored {
    fn record(&self, set: u32) -> AnswerRecord<'_> {
        let named = (self.key.named != self.key.path).then(|| self.key.named.as_str());
        AnswerRecord {
            path: self.key.path.as_str(),
            named,
            content: *self.content.as_bytes(),
            set,
            day: self.day,
            weight: self.weight,
            value: &self.value,
        }
    }
}

impl AnswerRecord<'_> {
    fn stored(self, linter: ContentHash, sets: &[Arc<ObservedSet>]) -> Option<Stored> {
        let path = path(self.path)?;
        let named = self.named.map_or(Some(path.clone()), self::path)?;
        Some(Stored {
            key: Key { linter, path, named },
            content: ContentHash::from_bytes(self.content),
            set: Arc::clone(sets.get(self.set as usize)?),
            day: self.day,
            weight: self.weight,
            value: Bytes::copy_from_slice(self.value),
        })
    }
}

/// A path as it was written: already normalised.
fn path(text: &str) -> Option<WorkspacePath> {
    WorkspacePath::new(text).ok().filter(|it| it.as_str() == text)
}

fn observed(record: FactRecord<'_>, interner: &Interner) -> Option<Arc<Observed>> {
    let path = path(record.path)?;
    let read = match record.kind {
        ReadRecord::Kind => Read::Kind(path),
        ReadRecord::Metadata => Read::Metadata(path),
        ReadRecord::Link => Read::Link(path),
        ReadRecord::Listing => Read::Listing(path),
        ReadRecord::Content => Read::Content(path),
    };
    interner.observed(
        read,
        match record.observation {
            ObservationRecord::Found(hash) => Observation::Found(ContentHash::from_bytes(hash)),
            ObservationRecord::Missing => Observation::Missing,
            ObservationRecord::NotADirectory => Observation::NotADirectory,
            ObservationRecord::IsADirectory => Observation::IsADirectory,
            ObservationRecord::NotALink => Observation::NotALink,
            ObservationRecord::Special => Observation::Special,
        },
    )
}

fn fact_record(observed: &Observed) -> Option<FactRecord<'_>> {
    let kind = match observed.read {
        Read::Kind(_) => ReadRecord::Kind,
        Read::Metadata(_) => ReadRecord::Metadata,
        Read::Link(_) => ReadRecord::Link,
        Read::Listing(_) => ReadRecord::Listing,
        Read::Content(_) => ReadRecord::Content,
    };
    let observation = match observed.observation {
        Observation::Found(hash) => ObservationRecord::Found(*hash.as_bytes()),
        Observation::Missing => ObservationRecord::Missing,
        Observation::NotADirectory => ObservationRecord::NotADirectory,
        Observation::IsADirectory => ObservationRecord::IsADirectory,
        Observation::NotALink => ObservationRecord::NotALink,
        Observation::Special => ObservationRecord::Special,
        Observation::Failed => return None, // no observed, as the interner sees to it
    };
    Some(FactRecord { kind, path: observed.read.path().as_str(), observation })
}
