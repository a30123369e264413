//! What a branch need not look at again, because its parent was looked at and nothing there was changed.

use std::{
    collections::{BTreeMap, HashMap, HashSet, hash_map},
    ops::Bound,
    sync::{Arc, LazyLock},
};

use overlay::{Memory, Observation, Read, WorkspacePath};

use super::facts::{ByAddress, Fact, FactSet, address};

/// What was seen in a part of a view, and which read sets held there: see [`Looks::into_seen`].
///
/// [`Looks::into_seen`]: super::Looks::into_seen
pub struct Seen {
    pub(super) observations: HashMap<Read, Observation>,
    pub(super) held: Vec<Arc<FactSet>>,
}

/// What was seen in all of a view. It keeps read sets in memory, beyond the cache's budget.
struct ParentVerdicts {
    observations: HashMap<Read, Observation>,
    /// The sets that held, by number.
    held: ByAddress<FactSet, u32>,
    /// Which sets contain which fact, by the path that was looked at.
    by_path: BTreeMap<WorkspacePath, Vec<Contained>>,
}

/// A fact, and the numbers of the sets that contain it.
type Contained = (Arc<Fact>, Vec<u32>);

impl ParentVerdicts {
    fn new(parts: Vec<Seen>) -> Self {
        let mut observations = HashMap::new();
        let mut held = ByAddress::default();
        let mut containing: ByAddress<Fact, Vec<u32>> = ByAddress::default();
        for part in parts {
            observations.extend(part.observations);
            for set in part.held {
                let number = held.len() as u32;
                // Another part may have seen it, too.
                let hash_map::Entry::Vacant(place) = held.entry(address(&set)) else { continue };
                for fact in &set.facts {
                    let entry = containing.entry(address(fact));
                    entry.or_insert_with(|| (Arc::clone(fact), Vec::new())).1.push(number);
                }
                place.insert((set, number));
            }
        }
        let mut by_path: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (fact, sets) in containing.into_values() {
            by_path.entry(fact.read.path().clone()).or_default().push((fact, sets));
        }
        Self { observations, held, by_path }
    }

    /// The sets with a fact that a change at `path` may have made untrue.
    fn touched_by<'a>(&'a self, path: &'a WorkspacePath) -> impl Iterator<Item = u32> {
        let from = (Bound::Included(path.as_str()), Bound::Unbounded);
        let below = self.by_path.range::<str, _>(from);
        // `a-b` and `a/b` both begin with `a`: the first is passed over, not the end.
        let below = below.take_while(|(it, _)| it.as_str().starts_with(path.as_str()));
        let below = below.filter(|(it, _)| it.starts_with(path)).flat_map(|(_, facts)| facts);
        let above = path.ancestors().skip(1).filter_map(|it| self.by_path.get(&it)).flatten();
        let above = above.filter(|(fact, _)| !remains_a_directory(&fact.read, fact.observation));
        below.chain(above).flat_map(|(_, sets)| sets).copied()
    }
}

/// What was seen in a parent, and what may no longer be as it was there.
pub struct Inherited {
    parent: ParentVerdicts,
    touched: HashSet<u32>,
    changed: HashSet<WorkspacePath>,
    /// Every directory above a change.
    above: HashSet<WorkspacePath>,
}

impl Inherited {
    /// For views that differ from the parent, of which `parts` were seen, by `changed` alone.
    ///
    /// `changed` must name every path where something else stands than in the parent: other bytes, another
    /// kind, another link text, another permission to execute, something where nothing stood, or nothing
    /// where something stood. A directory that was moved here, moved away or removed stands for all that is
    /// or was in it. Only a directory where nothing stood, and that came into being because something
    /// named lies in it, need not be named. The parent must still be as it was when it was looked at.
    pub fn new(parts: Vec<Seen>, changed: &[WorkspacePath]) -> Self {
        let parent = ParentVerdicts::new(parts);
        let touched = changed.iter().flat_map(|it| parent.touched_by(it)).collect();
        let above = changed.iter().flat_map(|it| it.ancestors().skip(1)).collect();
        Self { touched, above, changed: changed.iter().cloned().collect(), parent }
    }

    /// Whether `set` held in the parent and nothing it rests on was changed. `false` says nothing.
    pub(super) fn holds(&self, set: &Arc<FactSet>) -> bool {
        let number = self.parent.held.get(&address(set)).map(|(_, number)| number);
        number.is_some_and(|it| !self.touched.contains(it))
    }

    /// What the parent showed, if it was looked at and nothing was changed that matters.
    pub(super) fn observation(&self, read: &Read) -> Option<Observation> {
        let observation = *self.parent.observations.get(read)?;
        let is_above = self.above.contains(read.path()) && !remains_a_directory(read, observation);
        (!is_above && !self.is_changed(read.path().as_str())).then_some(observation)
    }

    /// Whether `path` or a directory above it was changed.
    fn is_changed(&self, mut path: &str) -> bool {
        loop {
            if self.changed.contains(path) {
                return true;
            }
            if path.is_empty() {
                return false;
            }
            path = path.rfind('/').map_or("", |slash| &path[..slash]);
        }
    }
}

/// Whether a look shows the same however things change below the directory that it showed.
///
/// Only its listing does not. And what was no directory, or was missing, may have become one.
fn remains_a_directory(read: &Read, observation: Observation) -> bool {
    static DIRECTORY: LazyLock<Observation> =
        LazyLock::new(|| Read::Metadata(WorkspacePath::root()).observe(&Memory::default()));
    match read {
        Read::Metadata(_) => observation == *DIRECTORY,
        Read::Content(_) => observation == Observation::IsADirectory,
        Read::Link(_) => observation == Observation::NotALink,
        Read::Listing(_) => false,
    }
}
