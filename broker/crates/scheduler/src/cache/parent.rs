//! Looks that a branch need not repeat, because they were made in its parent and nothing there was changed.

use std::{collections::HashSet, sync::Arc};

use overlay::{Observation, Read, WorkspacePath};

use super::{
    index::{ByPath, remains_a_directory},
    observations::{ByAddress, ObservedSet, address},
    read_checker::Observations,
};

/// Observations made in a part of a view, and the read sets that held there: see [`ReadChecker::into_seen`].
///
/// [`ReadChecker::into_seen`]: super::ReadChecker::into_seen
pub struct Seen {
    pub(super) observations: Observations,
    pub(super) held: Vec<Arc<ObservedSet>>,
}

/// Observations made in all of a view. They keep read sets in memory, beyond the cache's budget.
struct ParentVerdicts {
    observations: Observations,
    /// The sets that held, by number.
    held: ByAddress<ObservedSet, u32>,
    by_path: ByPath,
}

impl ParentVerdicts {
    fn new(parts: Vec<Seen>) -> Self {
        let mut observations = Observations::default();
        let mut held = ByAddress::default();
        for part in parts {
            observations.extend(part.observations);
            for set in part.held {
                let number = held.len() as u32;
                // Another part may have seen it, too.
                held.entry(address(&set)).or_insert((set, number));
            }
        }
        let by_path = ByPath::of(held.values().map(|(set, number)| (&**set, *number)));
        Self { observations, held, by_path }
    }
}

/// Observations made in a parent, and the places that may have changed since.
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
        let touched = changed.iter().flat_map(|it| parent.by_path.touched_by(it)).collect();
        let above = changed.iter().flat_map(|it| it.ancestors().skip(1)).collect();
        Self { touched, above, changed: changed.iter().cloned().collect(), parent }
    }

    /// Whether `set` held in the parent and nothing it rests on was changed. `false` leaves it open whether it holds.
    pub(super) fn holds(&self, set: &Arc<ObservedSet>) -> bool {
        let number = self.parent.held.get(&address(set)).map(|(_, number)| number);
        number.is_some_and(|it| !self.touched.contains(it))
    }

    /// Returns the parent's observation, if the look was made there and nothing was changed that matters.
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
