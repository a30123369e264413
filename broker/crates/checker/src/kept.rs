//! What a check of a whole folder found, kept so that a comparison of two views over it looks only at the files about
//! which the two may have different answers.
//!
//! Each file has its entry with what its answers rest on. Where that is not known, the file is looked at each time: links,
//! files of linters that look beyond what they read, answers that are not the last word. What the folder's changes touch
//! is learned anew, and nothing else. Keeps no findings.

mod checks;
mod configuration;
mod entry;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::Arc,
};

use lint::Identity;
use overlay::{ChangeLog, KeptWalk, Moment, ReadSet, View, WorkspacePath};
use scheduler::ReadIndex;

use self::configuration::{Configuration, look};
pub(crate) use self::{
    checks::{KeptChecks, SharedAnswers},
    entry::{FileFacts, Sums},
};
use super::{MissingLinter, Router, contents::Contents};

/// What is known of the files of one folder, for one way to ask.
pub(crate) struct KeptAnswers {
    moment: Moment,
    walk: KeptWalk,
    router: Arc<Router>,
    /// By linter that is missed: the files that it would be asked about.
    missed: Vec<usize>,
    files: BTreeMap<WorkspacePath, entry::Entry>,
    /// Files that are looked at each time, and whether their answers were looked for once more in vain.
    uncertain: BTreeMap<WorkspacePath, bool>,
    contents: Contents,
    sums: Sums,
    index: ReadIndex,
    /// By set: the files whose answers rest on it, sorted.
    resting: Vec<Vec<WorkspacePath>>,
    configuration: Configuration,
}

/// What was learned of some files.
pub(crate) struct Lesson {
    pub(crate) router: Arc<Router>,
    /// Sorted. `None` if what the answers are, or rest on, is not known.
    pub(crate) files: Vec<(WorkspacePath, Option<FileFacts>)>,
    pub(crate) configuration: Arc<ReadSet>,
}

/// What two views have in common with what is kept.
pub(crate) struct Common {
    pub(crate) sums: Sums,
    pub(crate) contents: Contents,
    pub(crate) linters: Vec<Identity>,
}

impl KeptAnswers {
    pub(crate) fn new(moment: Moment, walk: KeptWalk, lesson: Lesson, log: &dyn ChangeLog) -> Self {
        let wants = lesson.router.wanted_by_missing();
        let mut missed = vec![0; lesson.router.missing().len()];
        for path in walk.files() {
            wants(path).for_each(|it| missed[it] += 1);
        }
        drop(wants);
        let answered = |(path, facts): &(WorkspacePath, Option<FileFacts>)| {
            let facts = facts.as_ref().filter(|it| it.entry.is_answered())?;
            Some((path.clone(), Some(facts.content)))
        };
        let mut kept = Self {
            moment,
            walk,
            missed,
            files: BTreeMap::new(),
            uncertain: BTreeMap::new(),
            contents: lesson.files.iter().filter_map(answered).collect(),
            sums: Sums::of_linters(lesson.router.linters().len()),
            index: ReadIndex::default(),
            resting: Vec::new(),
            configuration: Configuration::default(),
            router: lesson.router,
        };
        kept.configuration.add(&lesson.configuration, log);
        lesson.files.into_iter().for_each(|(path, facts)| kept.add(path, facts, false, log));
        kept
    }

    fn add(&mut self, path: WorkspacePath, facts: Option<FileFacts>, is_again: bool, log: &dyn ChangeLog) {
        let Some(mut facts) = facts else {
            self.uncertain.insert(path, is_again);
            return;
        };
        for (place, reads) in facts.reads.iter().enumerate() {
            let set = self.index.add(reads, |read| log.covers(look(read)));
            facts.entry.rests_on(place, set);
            let resting = self.resting.len().max(set as usize + 1);
            self.resting.resize_with(resting, Vec::new);
            let resting = &mut self.resting[set as usize];
            if let Err(index) = resting.binary_search(&path) {
                resting.insert(index, path.clone());
            }
        }
        self.sums.add(&facts.entry);
        self.files.insert(path, facts.entry);
    }

    fn forget(&mut self, path: &WorkspacePath) {
        self.uncertain.remove(path);
        let Some(entry) = self.files.remove(path) else { return };
        self.sums.subtract(&entry);
        self.contents.remove(path);
        for set in entry.sets() {
            let resting = &mut self.resting[set as usize];
            if let Ok(index) = resting.binary_search(path) {
                resting.remove(index);
            }
            if resting.is_empty() {
                self.index.remove(set);
            }
        }
    }

    /// Takes what was learned at `now` of the files that are outdated since `then`, and of those that are tried again.
    /// `None`, and no change, if that does not fit what is kept.
    pub(crate) fn renew(
        &mut self,
        (then, now): (Moment, Moment),
        walk: KeptWalk,
        [outdated, again]: [&BTreeSet<WorkspacePath>; 2],
        lesson: Lesson,
        log: &dyn ChangeLog,
    ) -> Option<()> {
        // Without files it is not known who would be asked.
        let is_alike = lesson.files.is_empty() || self.router.is_alike(&lesson.router);
        if self.moment != then || !is_alike {
            return None;
        }
        self.missed = self.missed_in(&walk);
        (self.moment, self.walk) = (now, walk);
        self.configuration.add(&lesson.configuration, log);
        outdated.union(again).for_each(|it| self.forget(it));
        for (path, facts) in lesson.files {
            if let Some(facts) = facts.as_ref().filter(|it| it.entry.is_answered()) {
                self.contents.insert(path.clone(), Some(facts.content));
            }
            let is_again = !outdated.contains(&path);
            self.add(path, facts, is_again, log);
        }
        Some(())
    }

    pub(crate) fn moment(&self) -> Moment {
        self.moment
    }

    /// The number of files.
    pub(crate) fn len(&self) -> usize {
        self.files.len() + self.uncertain.len()
    }

    /// Where the folder may differ from what is kept; `None` if that is not known any more.
    pub(crate) fn told(&self, log: &dyn ChangeLog) -> Option<Vec<WorkspacePath>> {
        log.changed_since(self.moment)
    }

    /// Whether the same linters are asked about the files that stay, and the same of their answers is reported, in
    /// views that differ from what is kept at `changed` alone.
    pub(crate) fn is_configured_alike(&self, changed: &[WorkspacePath], views: &[&dyn View]) -> bool {
        self.configuration.is_alike(changed, views)
    }

    /// Whether what configures the file was looked at, which may be new in a directory that is.
    pub(crate) fn knows_configuration_of(&self, path: &WorkspacePath) -> bool {
        let directory = path.parent().unwrap_or_else(WorkspacePath::root);
        at_or_below(&self.files, &directory).next().is_some()
    }

    /// The files whose answers may be others since the folder changed at `told`; it is as `walk` says now.
    pub(crate) fn outdated(
        &self,
        told: &[WorkspacePath],
        walk: &KeptWalk,
        folder: &dyn View,
    ) -> BTreeSet<WorkspacePath> {
        let mut files = self.touched(told);
        files.extend(self.resting_on(self.index.moved(folder)));
        files.extend(self.walk.difference(walk));
        files
    }

    /// The files whose answers may be others where something else may stand at `changed`.
    pub(crate) fn touched(&self, changed: &[WorkspacePath]) -> BTreeSet<WorkspacePath> {
        let mut files: BTreeSet<_> = self.resting_on(self.index.touched(changed)).collect();
        for path in changed {
            files.extend(at_or_below(&self.files, path).map(|(it, _)| it.clone()));
            files.extend(at_or_below(&self.uncertain, path).map(|(it, _)| it.clone()));
        }
        files
    }

    fn resting_on(&self, sets: BTreeSet<u32>) -> impl Iterator<Item = WorkspacePath> {
        sets.into_iter().flat_map(|it| &self.resting[it as usize]).cloned()
    }

    /// The files that are looked at each time.
    pub(crate) fn uncertain(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.uncertain.keys()
    }

    /// Those of them whose answers may be there now, since they were looked at meanwhile.
    pub(crate) fn to_be_tried(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.uncertain.iter().filter(|(_, is_again)| !**is_again).map(|(path, _)| path)
    }

    /// The linters that are missed where these files are. `None` if it is not known for whom new files are.
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
    pub(crate) fn without(&self, differing: &BTreeSet<WorkspacePath>) -> Common {
        let (mut sums, mut contents) = (self.sums.clone(), self.contents.clone());
        for path in differing {
            if let Some(entry) = self.files.get(path) {
                sums.subtract(entry);
                contents.remove(path);
            }
        }
        let linters = self.router.linters().iter().map(|it| it.identity().clone());
        Common { sums, contents, linters: linters.collect() }
    }
}

/// What a map has for `path` and all below it.
fn at_or_below<'m, T>(
    map: &'m BTreeMap<WorkspacePath, T>,
    path: &'m WorkspacePath,
) -> impl Iterator<Item = (&'m WorkspacePath, &'m T)> {
    let from = (Bound::Included(path.as_str()), Bound::Unbounded);
    // `a-b` and `a/b` both begin with `a`: the first is passed over, not the end.
    let later = map.range::<str, _>(from).take_while(|(it, _)| it.as_str().starts_with(path.as_str()));
    later.filter(|(it, _)| it.starts_with(path))
}
