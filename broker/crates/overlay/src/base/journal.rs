//! Journal of reported paths, in their order, with which earlier results are brought up to date.

use std::collections::{BTreeSet, VecDeque};

use parking_lot::Mutex;

use crate::{Moment, WorkspacePath};

/// Paths that are remembered; to look at more one by one is no better than to look at everything.
const MAX_JOURNAL_PATHS: usize = 8192;

/// Paths reported by a watch, in batches.
#[derive(Default)]
pub(super) struct Journal(Mutex<Told>);

#[derive(Default)]
struct Told {
    /// Batches, each with the moment after it.
    batches: VecDeque<(Moment, BTreeSet<WorkspacePath>)>,
    now: u64,
    /// The earliest moment since which all changes are remembered.
    known_from: u64,
    paths: usize,
}

impl Journal {
    pub(super) fn now(&self) -> Moment {
        Moment(self.0.lock().now)
    }

    pub(super) fn add(&self, paths: BTreeSet<WorkspacePath>) {
        let mut told = self.0.lock();
        told.now += 1;
        told.paths += paths.len();
        let now = Moment(told.now);
        told.batches.push_back((now, paths));
        while told.paths > MAX_JOURNAL_PATHS
            && let Some((moment, paths)) = told.batches.pop_front()
        {
            told.paths -= paths.len();
            told.known_from = moment.0;
        }
    }

    /// Records that anything may have changed.
    pub(super) fn lose(&self) {
        let mut told = self.0.lock();
        told.now += 1;
        told.known_from = told.now;
        told.paths = 0;
        told.batches.clear();
    }

    /// Returns the paths reported since `moment`, sorted. `None` if that is not known any more.
    pub(super) fn since(&self, moment: Moment) -> Option<Vec<WorkspacePath>> {
        let told = self.0.lock();
        if moment.0 < told.known_from {
            return None;
        }
        let later = told.batches.iter().rev().take_while(|(at, _)| *at > moment);
        let paths: BTreeSet<_> = later.flat_map(|(_, paths)| paths).collect();
        Some(paths.into_iter().cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> BTreeSet<WorkspacePath> {
        names.iter().map(|it| WorkspacePath::new(it).unwrap()).collect()
    }

    #[test]
    fn tells_what_came_after_a_moment() {
        let journal = Journal::default();
        let start = journal.now();
        assert_eq!(journal.since(start), Some(vec![]));
        journal.add(paths(&["b", "a"]));
        let middle = journal.now();
        journal.add(paths(&["b", "c"]));
        let names =
            |it: Option<Vec<WorkspacePath>>| it.map(|it| it.iter().map(ToString::to_string).collect());
        assert_eq!(names(journal.since(start)), Some(vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]));
        assert_eq!(names(journal.since(middle)), Some(vec!["b".to_owned(), "c".to_owned()]));
        journal.lose();
        assert_eq!(journal.since(middle), None);
        assert_eq!(journal.since(journal.now()), Some(vec![]));
    }

    #[test]
    fn remembers_no_more_than_is_worth_it() {
        let journal = Journal::default();
        let start = journal.now();
        let many = (0..MAX_JOURNAL_PATHS).map(|it| WorkspacePath::new(&it.to_string()).unwrap()).collect();
        journal.add(many);
        assert!(journal.since(start).is_some());
        let middle = journal.now();
        journal.add(paths(&["a"]));
        assert_eq!(journal.since(start), None);
        assert_eq!(journal.since(middle).map(|it| it.len()), Some(1));
    }
}
