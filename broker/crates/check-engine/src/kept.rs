//! Facts about each file of a folder from a check of all of it, kept so that a comparison of two views over the folder looks
//! only at the files about which the two may have different answers.
//!
//! Each file has its entry with what its answers rest on. Where that is not known, the file is looked at in each comparison:
//! links that an answer does not name, files of linters that look beyond what they read, answers that are not final. What
//! the folder's changes touch is recorded again, and nothing else. Of a file whose changes are not reported, the stamp is
//! compared each time. Keeps no findings.

mod checks;
mod configuration;
mod entry;
mod facts;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use lint::Identity;
use overlay::{ChangeLog, ContentHash, KeptWalk, Look, Moment, Observation, Read, View, WorkspacePath};
use scheduler::ReadIndex;

pub(crate) use self::{
    checks::{KeptChecks, SharedAnswers},
    entry::{FileFacts, FindingCounts, FolderTotals},
    facts::{FactCollector, FolderFacts, Unknown},
};
use self::{
    configuration::{Configuration, look},
    entry::{Entry, LinterEntry, LinterFacts},
};
use super::{MissingLinter, Router, contents::Contents, engine::RetryEntries};

/// Facts about the files of one folder, for one question.
pub(crate) struct FolderIndex {
    moment: Moment,
    walk: KeptWalk,
    router: Arc<Router>,
    /// By missing linter: the number of files that it would be asked about.
    missed: Vec<usize>,
    files: BTreeMap<WorkspacePath, Entry>,
    /// Files that are looked at in each comparison.
    uncertain: BTreeMap<WorkspacePath, Retry>,
    /// Content of the files that may change unreported.
    unwatched: BTreeMap<WorkspacePath, ContentHash>,
    /// Counts comparisons.
    comparisons: AtomicU32,
    contents: Contents,
    sums: FolderTotals,
    index: ReadIndex,
    /// By number of a read set: the files whose answers rest on it, sorted.
    files_by_set: Vec<Vec<WorkspacePath>>,
    configuration: Configuration,
    /// Failures of uncertain files that are given again until those are recorded once more.
    failures: Arc<RetryEntries>,
}

/// Time at which a file whose answers are not known is recorded once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Retry {
    Never,
    /// From this comparison on, after so many attempts.
    From {
        comparison: u32,
        attempts: u32,
    },
}

/// Limit of the attempts after which the time to the next one is doubled.
const MAX_DOUBLINGS: u32 = 16;

impl Retry {
    fn after(attempts: u32, comparison: u32) -> Self {
        let wait = 1 << attempts.min(MAX_DOUBLINGS);
        Self::From { comparison: comparison.saturating_add(wait), attempts }
    }

    fn attempts(self) -> u32 {
        match self {
            Self::Never => 0,
            Self::From { attempts, .. } => attempts,
        }
    }
}

/// A folder between two moments: what changed in it.
pub(crate) struct FolderChange {
    pub(crate) then: Moment,
    pub(crate) now: Moment,
    /// The folder's files now.
    pub(crate) walk: KeptWalk,
    /// Files whose answers may have changed.
    pub(crate) outdated: BTreeSet<WorkspacePath>,
    /// Files whose answers were not known, and may be now.
    pub(crate) retried: BTreeSet<WorkspacePath>,
}

/// Kept facts that two views have in common.
pub(crate) struct SharedFiles {
    pub(crate) sums: FolderTotals,
    pub(crate) contents: Contents,
    pub(crate) linters: Vec<Identity>,
}

impl FolderIndex {
    pub(crate) fn new(moment: Moment, walk: KeptWalk, facts: FolderFacts, log: &dyn ChangeLog) -> Self {
        let facts = facts.told_by(log);
        let wants = facts.router.wanted_by_missing();
        let mut missed = vec![0; facts.router.missing().len()];
        for path in walk.files() {
            wants(path).for_each(|it| missed[it] += 1);
        }
        drop(wants);
        let answered = |(path, facts): &(WorkspacePath, Result<FileFacts, Unknown>)| {
            let facts = facts.as_ref().ok().filter(|it| it.is_answered())?;
            Some((path.clone(), facts.content))
        };
        let mut kept = Self {
            moment,
            walk,
            missed,
            files: BTreeMap::new(),
            uncertain: BTreeMap::new(),
            unwatched: BTreeMap::new(),
            comparisons: AtomicU32::new(0),
            contents: facts.files.iter().filter_map(answered).collect(),
            sums: FolderTotals::of_linters(facts.router.linters().len()),
            index: ReadIndex::default(),
            files_by_set: Vec::new(),
            configuration: Configuration::default(),
            failures: Arc::default(),
            router: facts.router,
        };
        kept.configuration.add(&facts.configuration, log);
        facts.files.into_iter().for_each(|(path, facts)| kept.add(path, facts, 1, log));
        kept.failures.update(&facts.retries, &BTreeSet::new(), |it| kept.is_retried(it));
        kept
    }

    /// Adds a file that was recorded `attempts` times since it changed.
    fn add(
        &mut self,
        path: WorkspacePath,
        facts: Result<FileFacts, Unknown>,
        attempts: u32,
        log: &dyn ChangeLog,
    ) {
        let facts = match facts {
            Ok(facts) => facts,
            Err(unknown) => {
                let retry = match unknown {
                    Unknown::Yet => Retry::after(attempts, self.comparisons.load(Relaxed)),
                    Unknown::Ever => Retry::Never,
                };
                self.uncertain.insert(path, retry);
                return;
            }
        };
        let FileFacts { content, linters, is_clean, suppressed, baselined, .. } = facts;
        if let Some(content) = content
            && !log.covers(Look::At(&path))
        {
            self.unwatched.insert(path.clone(), content);
        }
        let linters = linters.into_iter().map(|it| self.linter_entry(&path, it, log)).collect();
        let entry = Entry { linters, is_clean, suppressed, baselined };
        self.sums.add(&entry);
        self.files.insert(path, entry);
    }

    fn linter_entry(&mut self, path: &WorkspacePath, facts: LinterFacts, log: &dyn ChangeLog) -> LinterEntry {
        let LinterFacts { linter, is_left_out, reads } = facts;
        let set = self.index.add(&reads, |read| log.covers(look(read)));
        let sets = self.files_by_set.len().max(set as usize + 1);
        self.files_by_set.resize_with(sets, Vec::new);
        let files = &mut self.files_by_set[set as usize];
        if let Err(index) = files.binary_search(path) {
            files.insert(index, path.clone());
        }
        LinterEntry { linter, is_left_out, set }
    }

    fn forget(&mut self, path: &WorkspacePath) {
        self.uncertain.remove(path);
        self.unwatched.remove(path);
        let Some(entry) = self.files.remove(path) else { return };
        self.sums.subtract(&entry);
        self.contents.remove(path);
        for set in entry.sets() {
            let files = &mut self.files_by_set[set as usize];
            if let Ok(index) = files.binary_search(path) {
                files.remove(index);
            }
            if files.is_empty() {
                self.index.remove(set);
            }
        }
    }

    /// Takes the facts of the files that `change` names. `None`, and no change, if they do not fit what is kept.
    pub(crate) fn update(
        &mut self,
        change: FolderChange,
        facts: FolderFacts,
        log: &dyn ChangeLog,
    ) -> Option<()> {
        let FolderChange { then, now, walk, outdated, retried } = change;
        let facts = facts.told_by(log);
        // Without files it is not known who would be asked.
        let is_alike = facts.files.is_empty() || self.router.is_alike(&facts.router);
        if self.moment != then || !is_alike {
            return None;
        }
        self.missed = self.missed_in(&walk);
        (self.moment, self.walk) = (now, walk);
        self.configuration.add(&facts.configuration, log);
        let attempts = |path: &WorkspacePath| {
            let retry = self.uncertain.get(path).filter(|_| !outdated.contains(path));
            retry.map_or(1, |it| it.attempts().saturating_add(1))
        };
        let attempts: Vec<_> = facts.files.iter().map(|(path, _)| attempts(path)).collect();
        let renewed = &outdated | &retried;
        renewed.iter().for_each(|it| self.forget(it));
        for ((path, facts), attempts) in facts.files.into_iter().zip(attempts) {
            if let Some(facts) = facts.as_ref().ok().filter(|it| it.is_answered()) {
                self.contents.insert(path.clone(), facts.content);
            }
            self.add(path, facts, attempts, log);
        }
        self.failures.update(&facts.retries, &renewed, |it| self.is_retried(it));
        Some(())
    }

    pub(crate) fn moment(&self) -> Moment {
        self.moment
    }

    /// The number of files.
    pub(crate) fn len(&self) -> usize {
        self.files.len() + self.uncertain.len()
    }

    /// Paths at which the folder may differ from what is kept; `None` if they are not known any more.
    pub(crate) fn changes(&self, log: &dyn ChangeLog) -> Option<Vec<WorkspacePath>> {
        log.changed_since(self.moment)
    }

    /// Whether the same linters are asked about the files that stay, and the same of their answers is reported, in
    /// views that differ from what is kept at `changed` alone.
    pub(crate) fn is_configured_alike(&self, changed: &[WorkspacePath], views: &[&dyn View]) -> bool {
        self.configuration.is_alike(changed, views)
    }

    /// Whether the configuration of the file was looked at, which may be new in a new directory.
    pub(crate) fn knows_configuration_of(&self, path: &WorkspacePath) -> bool {
        let directory = path.parent().unwrap_or_else(WorkspacePath::root);
        self.configuration.has_looked_in(&directory)
    }

    /// The files whose answers may have changed since the folder changed at `changes`; `walk` has its files now.
    pub(crate) fn outdated(
        &self,
        changes: &[WorkspacePath],
        walk: &KeptWalk,
        folder: &dyn View,
    ) -> BTreeSet<WorkspacePath> {
        let mut files = self.touched(changes, &[folder]);
        files.extend(self.files_of_sets(self.index.moved(folder)));
        let has_moved = |(path, content): &(&WorkspacePath, &ContentHash)| {
            Read::Content((*path).clone()).observe(folder) != Observation::Found(**content)
        };
        files.extend(self.unwatched.iter().filter(has_moved).map(|(path, _)| path.clone()));
        files.extend(self.walk.difference(walk));
        files
    }

    /// The files whose answers may be others in one of `views`, where something else may stand at `changed`.
    pub(crate) fn touched(&self, changed: &[WorkspacePath], views: &[&dyn View]) -> BTreeSet<WorkspacePath> {
        let mut files: BTreeSet<_> = self.files_of_sets(self.index.touched(changed, views)).collect();
        for path in changed {
            files.extend(at_or_below(&self.files, path).map(|(it, _)| it.clone()));
            files.extend(at_or_below(&self.uncertain, path).map(|(it, _)| it.clone()));
        }
        files
    }

    fn files_of_sets(&self, sets: BTreeSet<u32>) -> impl Iterator<Item = WorkspacePath> {
        sets.into_iter().flat_map(|it| &self.files_by_set[it as usize]).cloned()
    }

    /// Whether it is known that every linter that wants the file has looked at it, and nothing is reported of it.
    pub(crate) fn is_clean(&self, path: &WorkspacePath) -> bool {
        self.files.get(path).is_some_and(|it| it.is_clean)
    }

    /// The files that are looked at in each comparison.
    pub(crate) fn uncertain(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.uncertain.keys()
    }

    /// Failures of uncertain files that may be given again. `None` where no file is recorded once more.
    pub(crate) fn failures(&self) -> Option<Arc<RetryEntries>> {
        (!self.is_grouped()).then(|| Arc::clone(&self.failures))
    }

    fn is_retried(&self, path: &WorkspacePath) -> bool {
        matches!(self.uncertain.get(path), Some(Retry::From { .. }))
    }

    /// Uncertain files that are to be recorded once more now, when another comparison begins.
    pub(crate) fn retried(&self) -> BTreeSet<WorkspacePath> {
        let now = self.comparisons.fetch_add(1, Relaxed);
        let is_due = |it: &Retry| matches!(it, Retry::From { comparison, .. } if *comparison <= now);
        self.uncertain.iter().filter(|(_, it)| is_due(it)).map(|(path, _)| path.clone()).collect()
    }

    /// Linters that are missed for the files of `walk`. `None` if the linters of new files are not known.
    pub(crate) fn missing(&self, walk: &KeptWalk) -> Option<Vec<MissingLinter>> {
        let is_same_list = self.walk.difference(walk).is_empty();
        if !is_same_list && self.router.is_grouped() {
            return None;
        }
        let missed = self.missed_in(walk);
        Some(self.router.missing_where(|it| missed[it] > 0, true))
    }

    fn missed_in(&self, walk: &KeptWalk) -> Vec<usize> {
        let (mut missed, wants) = (self.missed.clone(), self.router.wanted_by_missing());
        for path in self.walk.difference(walk) {
            let is_new = walk.has(&path);
            wants(&path).for_each(|it| if is_new { missed[it] += 1 } else { missed[it] -= 1 });
        }
        missed
    }

    pub(crate) fn is_grouped(&self) -> bool {
        self.router.is_grouped()
    }

    /// All but the files `differing`.
    pub(crate) fn without(&self, differing: &BTreeSet<WorkspacePath>) -> SharedFiles {
        let (mut sums, mut contents) = (self.sums.clone(), self.contents.clone());
        for path in differing {
            if let Some(entry) = self.files.get(path) {
                sums.subtract(entry);
                contents.remove(path);
            }
        }
        let linters = self.router.linters().iter().map(|it| it.identity().clone());
        SharedFiles { sums, contents, linters: linters.collect() }
    }
}

/// Entries of a map for `path` and all paths below it.
fn at_or_below<'m, T>(
    map: &'m BTreeMap<WorkspacePath, T>,
    path: &'m WorkspacePath,
) -> impl Iterator<Item = (&'m WorkspacePath, &'m T)> {
    let from = (Bound::Included(path.as_str()), Bound::Unbounded);
    // `a-b` and `a/b` both begin with `a`: the first is passed over, not the end.
    let later = map.range::<str, _>(from).take_while(|(it, _)| it.as_str().starts_with(path.as_str()));
    later.filter(|(it, _)| it.starts_with(path))
}

#[cfg(test)]
mod tests {
    use super::Retry;

    #[test]
    fn what_was_recorded_in_vain_is_retried_ever_more_rarely() {
        let mut retries = Vec::new();
        let (mut now, mut attempts) = (0, 1);
        while retries.len() < 4 {
            let Retry::From { comparison, .. } = Retry::after(attempts, now) else { return };
            (now, attempts) = (comparison, attempts + 1);
            retries.push(now);
        }
        assert_eq!(retries, [2, 6, 14, 30]);
    }
}
