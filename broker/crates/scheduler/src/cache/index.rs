//! Index of read sets by what they rest on: finds those that a change may have made untrue.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    ops::Bound,
    sync::{Arc, LazyLock},
};

use overlay::{Memory, Observation, Read, View, WorkspacePath};

use super::observations::{ByAddress, Observed, ObservedSet, address};

/// Everything that an answer rests on besides the text that it is for.
#[derive(Debug, Clone)]
pub struct Reads(pub(super) Arc<ObservedSet>);

impl Reads {
    /// Returns the observation of this look; `None` if the look is not among them.
    pub fn observation(&self, read: &Read) -> Option<Observation> {
        let observations = &self.0.observations;
        let place = observations.binary_search_by(|it| it.read.cmp(read)).ok()?;
        Some(observations[place].observation)
    }

    /// Files whose contents are among them.
    pub fn contents(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.0.observations.iter().filter_map(|it| match &it.read {
            Read::Content(path) => Some(path),
            _ => None,
        })
    }
}

/// Read sets, by number.
#[derive(Default)]
pub struct ReadIndex {
    numbers: ByAddress<ObservedSet, u32>,
    /// By number.
    sets: Vec<Option<Arc<ObservedSet>>>,
    /// Numbers of sets that were removed.
    free: Vec<u32>,
    by_path: ByPath,
    /// Facts whose changes are not told.
    unwatched: Vec<Arc<Observed>>,
}

/// Sets that contain each observation, by the path that was looked at.
#[derive(Default)]
pub(super) struct ByPath {
    paths: BTreeMap<WorkspacePath, Vec<Arc<Observed>>>,
    /// Sorted numbers.
    containing: ByAddress<Observed, Vec<u32>>,
}

impl ReadIndex {
    /// Adds a set that holds in the view that is asked about; returns its number, which it keeps. `is_told` returns for
    /// each read whether a change of what it shows would be among those that are asked about.
    pub fn add(&mut self, reads: &Reads, is_told: impl Fn(&Read) -> bool) -> u32 {
        if let Some((_, known)) = self.numbers.get(&address(&reads.0)) {
            return *known;
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.sets.push(None);
            (self.sets.len() - 1) as u32
        });
        self.sets[number as usize] = Some(Arc::clone(&reads.0));
        self.numbers.insert(address(&reads.0), (Arc::clone(&reads.0), number));
        for observed in self.by_path.add(&reads.0, number) {
            if !is_told(&observed.read) {
                self.unwatched.push(Arc::clone(observed));
            }
        }
        number
    }

    /// Forgets a set, whose number another may get.
    pub fn remove(&mut self, number: u32) {
        let Some(set) = self.sets.get_mut(number as usize).and_then(Option::take) else { return };
        self.numbers.remove(&address(&set));
        for observed in self.by_path.remove(&set, number) {
            self.unwatched.retain(|it| !Arc::ptr_eq(it, observed));
        }
        self.free.push(number);
    }

    /// The sets that do not hold in one of `views`, where something else may stand at `changed`, as
    /// [`Inherited::new`](super::Inherited::new) has it, as far as that is told.
    ///
    /// Looks once at each observation that a change may have made untrue: the listing of a directory is mostly the same
    /// after an edit below it.
    pub fn touched(&self, changed: &[WorkspacePath], views: &[&dyn View]) -> BTreeSet<u32> {
        let mut looked_at = HashSet::new();
        let suspects = changed.iter().flat_map(|it| self.by_path.suspects(it));
        let suspects = suspects.filter(|it| looked_at.insert(address(it)));
        let moved = suspects.filter(|it| views.iter().any(|view| it.read.observe(*view) != it.observation));
        moved.flat_map(|it| self.by_path.containing(it)).copied().collect()
    }

    /// The sets of which something is not told and is not so in `view`.
    pub fn moved(&self, view: &dyn View) -> BTreeSet<u32> {
        let moved = self.unwatched.iter().filter(|it| it.read.observe(view) != it.observation);
        moved.flat_map(|it| self.by_path.containing(it)).copied().collect()
    }
}

impl ByPath {
    pub(super) fn of<'s>(sets: impl Iterator<Item = (&'s ObservedSet, u32)>) -> Self {
        let mut all = Self::default();
        sets.for_each(|(set, number)| all.add(set, number).for_each(drop));
        all
    }

    /// Adds a set; returns those of its observations that no other set had.
    fn add<'s>(&mut self, set: &'s ObservedSet, number: u32) -> impl Iterator<Item = &'s Arc<Observed>> {
        set.observations.iter().filter(move |observed| {
            let entry = self.containing.entry(address(observed));
            let (_, sets) = entry.or_insert_with(|| (Arc::clone(observed), Vec::new()));
            if let Err(index) = sets.binary_search(&number) {
                sets.insert(index, number);
            }
            let is_first = sets.len() == 1;
            if is_first {
                let at_path = self.paths.entry(observed.read.path().clone());
                at_path.or_default().push(Arc::clone(observed));
            }
            is_first
        })
    }

    /// Removes a set; returns those of its observations that no set has any more.
    fn remove<'s>(&mut self, set: &'s ObservedSet, number: u32) -> impl Iterator<Item = &'s Arc<Observed>> {
        set.observations.iter().filter(move |observed| {
            let Some((_, sets)) = self.containing.get_mut(&address(observed)) else { return false };
            if let Ok(index) = sets.binary_search(&number) {
                sets.remove(index);
            }
            let is_last = sets.is_empty();
            if is_last {
                self.containing.remove(&address(observed));
                self.forget(observed);
            }
            is_last
        })
    }

    fn forget(&mut self, observed: &Arc<Observed>) {
        let path = observed.read.path();
        let Some(at_path) = self.paths.get_mut(path) else { return };
        at_path.retain(|it| !Arc::ptr_eq(it, observed));
        if at_path.is_empty() {
            self.paths.remove(path);
        }
    }

    /// The sets with an observation that a change at `path` may have made untrue.
    pub(super) fn touched_by<'a>(&'a self, path: &'a WorkspacePath) -> impl Iterator<Item = u32> {
        self.suspects(path).flat_map(|it| self.containing(it)).copied()
    }

    /// The observations that a change at `path` may have made untrue.
    fn suspects<'a>(&'a self, path: &'a WorkspacePath) -> impl Iterator<Item = &'a Arc<Observed>> {
        let from = (Bound::Included(path.as_str()), Bound::Unbounded);
        let below = self.paths.range::<str, _>(from);
        // `a-b` and `a/b` both begin with `a`: the first is passed over, not the end.
        let below = below.take_while(|(it, _)| it.as_str().starts_with(path.as_str()));
        let below = below.filter(|(it, _)| it.starts_with(path)).flat_map(|(_, observations)| observations);
        let above = path.ancestors().skip(1).filter_map(|it| self.paths.get(&it)).flatten();
        let above = above.filter(|it| !remains_a_directory(&it.read, it.observation));
        below.chain(above)
    }

    fn containing(&self, observed: &Arc<Observed>) -> &[u32] {
        self.containing.get(&address(observed)).map_or(&[], |(_, sets)| sets)
    }
}

/// Whether a look shows the same however things change below the directory that it showed.
///
/// Only its listing does not. And what was no directory, or was missing, may have become one.
pub(super) fn remains_a_directory(read: &Read, observation: Observation) -> bool {
    static DIRECTORY: LazyLock<Observation> =
        LazyLock::new(|| Read::Metadata(WorkspacePath::root()).observe(&Memory::default()));
    match read {
        Read::Kind(_) | Read::Metadata(_) => observation == *DIRECTORY,
        Read::Content(_) => observation == Observation::IsADirectory,
        Read::Link(_) => observation == Observation::NotALink,
        Read::Listing(_) => false,
    }
}
