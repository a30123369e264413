//! Who rests on what: which of many read sets a change may have made untrue.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::{Arc, LazyLock},
};

use overlay::{Memory, Observation, Read, View, WorkspacePath};

use super::facts::{ByAddress, Fact, FactSet, address};

/// What an answer rests on besides the text that it is for.
#[derive(Debug, Clone)]
pub struct Reads(pub(super) Arc<FactSet>);

/// Read sets that all held in one view, by number.
#[derive(Default)]
pub struct ReadIndex {
    numbers: ByAddress<FactSet, u32>,
    by_path: ByPath,
    /// Facts whose changes are not told.
    untold: Vec<Contained>,
}

/// A fact, and the numbers of the sets that contain it.
type Contained = (Arc<Fact>, Vec<u32>);

/// Which sets contain which fact, by the path that was looked at.
#[derive(Default)]
pub(super) struct ByPath(BTreeMap<WorkspacePath, Vec<Contained>>);

impl ReadIndex {
    /// The number of a set, which it keeps. Until [`finish`](Self::finish), no set is found by what it contains.
    pub fn add(&mut self, reads: &Reads) -> u32 {
        let next = self.numbers.len() as u32;
        self.numbers.entry(address(&reads.0)).or_insert_with(|| (Arc::clone(&reads.0), next)).1
    }

    /// `is_told` says of each read whether a change of what it shows would be among those that are asked about.
    pub fn finish(&mut self, is_told: impl Fn(&Read) -> bool) {
        self.by_path = ByPath::of(self.numbers.values().map(|(set, number)| (&**set, *number)));
        let all = self.by_path.0.values().flatten();
        self.untold = all.filter(|(fact, _)| !is_told(&fact.read)).cloned().collect();
    }

    /// The sets that may not hold any more where something else may stand at `changed`, as
    /// [`Inherited::new`](super::Inherited::new) has it. What is not told is looked at, in `view`.
    pub fn touched(&self, changed: &[WorkspacePath], view: &dyn View) -> BTreeSet<u32> {
        let told = changed.iter().flat_map(|it| self.by_path.touched_by(it));
        let moved = self.untold.iter().filter(|(fact, _)| fact.read.observe(view) != fact.observation);
        told.chain(moved.flat_map(|(_, sets)| sets.iter().copied())).collect()
    }

    /// The number of sets, and of facts that are looked at each time.
    pub fn sizes(&self) -> (usize, usize) {
        (self.numbers.len(), self.untold.len())
    }
}

impl ByPath {
    pub(super) fn of<'s>(sets: impl Iterator<Item = (&'s FactSet, u32)>) -> Self {
        let mut containing: ByAddress<Fact, Vec<u32>> = ByAddress::default();
        for (set, number) in sets {
            for fact in &set.facts {
                let entry = containing.entry(address(fact));
                entry.or_insert_with(|| (Arc::clone(fact), Vec::new())).1.push(number);
            }
        }
        let mut by_path: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (fact, sets) in containing.into_values() {
            by_path.entry(fact.read.path().clone()).or_default().push((fact, sets));
        }
        Self(by_path)
    }

    /// The sets with a fact that a change at `path` may have made untrue.
    pub(super) fn touched_by<'a>(&'a self, path: &'a WorkspacePath) -> impl Iterator<Item = u32> {
        let from = (Bound::Included(path.as_str()), Bound::Unbounded);
        let below = self.0.range::<str, _>(from);
        // `a-b` and `a/b` both begin with `a`: the first is passed over, not the end.
        let below = below.take_while(|(it, _)| it.as_str().starts_with(path.as_str()));
        let below = below.filter(|(it, _)| it.starts_with(path)).flat_map(|(_, facts)| facts);
        let above = path.ancestors().skip(1).filter_map(|it| self.0.get(&it)).flatten();
        let above = above.filter(|(fact, _)| !remains_a_directory(&fact.read, fact.observation));
        below.chain(above).flat_map(|(_, sets)| sets).copied()
    }
}

/// Whether a look shows the same however things change below the directory that it showed.
///
/// Only its listing does not. And what was no directory, or was missing, may have become one.
pub(super) fn remains_a_directory(read: &Read, observation: Observation) -> bool {
    static DIRECTORY: LazyLock<Observation> =
        LazyLock::new(|| Read::Metadata(WorkspacePath::root()).observe(&Memory::default()));
    match read {
        Read::Metadata(_) => observation == *DIRECTORY,
        Read::Content(_) => observation == Observation::IsADirectory,
        Read::Link(_) => observation == Observation::NotALink,
        Read::Listing(_) => false,
    }
}
