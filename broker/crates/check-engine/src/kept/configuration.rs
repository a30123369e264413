//! Configuration that decides which linters are asked, and which of their findings are reported.

use std::collections::BTreeMap;

use overlay::{ChangeLog, Look, Observation, Read, ReadSet, View, WorkspacePath};

use super::at_or_below;

/// Reads of a folder's configuration.
#[derive(Default)]
pub(super) struct Configuration {
    told: BTreeMap<WorkspacePath, Vec<Fact>>,
    /// Reads whose changes are not reported.
    unwatched: Vec<Fact>,
}

type Fact = (Read, Observation);

impl Configuration {
    pub(super) fn add(&mut self, reads: &ReadSet, log: &dyn ChangeLog) {
        for (read, seen) in reads.iter() {
            let is_told = log.covers(look(read)) && seen != Observation::Failed;
            let facts = match is_told {
                true => self.told.entry(read.path().clone()).or_default(),
                false => &mut self.unwatched,
            };
            let fact = (read.clone(), seen);
            if !facts.contains(&fact) {
                facts.push(fact);
            }
        }
    }

    /// Whether something that stands, or could stand, in the directory itself is among what was read.
    pub(super) fn has_looked_in(&self, directory: &WorkspacePath) -> bool {
        let is_there = |path: &WorkspacePath| path.parent().as_ref() == Some(directory);
        at_or_below(&self.told, directory).any(|(path, _)| is_there(path))
            || self.unwatched.iter().any(|(read, _)| is_there(read.path()))
    }

    /// Whether views that differ from the folder at `changed` alone show the same configuration.
    pub(super) fn is_alike(&self, changed: &[WorkspacePath], views: &[&dyn View]) -> bool {
        let shows = |(read, then): &Fact| {
            *then != Observation::Failed && views.iter().all(|it| read.observe(*it) == *then)
        };
        let at_or_below = |path| at_or_below(&self.told, path).map(|(_, facts)| facts);
        let above = |path: &WorkspacePath| {
            let above: Vec<_> = path.ancestors().skip(1).collect();
            above.into_iter().filter_map(|it| self.told.get(&it))
        };
        let touched = changed.iter().flat_map(|it| at_or_below(it).chain(above(it))).flatten();
        touched.chain(&self.unwatched).all(shows)
    }
}

pub(super) fn look(read: &Read) -> Look<'_> {
    match read {
        Read::Listing(path) => Look::Listing(path),
        Read::Kind(path) | Read::Metadata(path) | Read::Link(path) | Read::Content(path) => Look::At(path),
    }
}
