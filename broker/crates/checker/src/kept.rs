//! What a check of a whole folder found, kept so that a comparison of two views over it looks only at the files about
//! which the two may have different answers.
//!
//! Each file has its entry with what its answers rest on. Where that is not known, the file is looked at each time: links,
//! files of linters that look beyond what they read, answers that are not the last word. Keeps no findings.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use lint::Completeness;
use overlay::{
    ChangeLog, ContentHash, KeptWalk, Look, Moment, Observation, Read, ReadSet, View, WorkspacePath,
};
use scheduler::ReadIndex;

use super::{Excluded, Lack, Router, engine::Learned};

/// What is known of the files of one folder, for one way to ask.
pub(crate) struct Kept {
    moment: Moment,
    pub(crate) walk: KeptWalk,
    pub(crate) router: Arc<Router>,
    pub(crate) lacks: Vec<Lack>,
    /// `None`: to be looked at each time.
    files: BTreeMap<WorkspacePath, Option<Entry>>,
    index: ReadIndex,
    /// By set: the files whose answers rest on it.
    resting: Vec<Vec<WorkspacePath>>,
    /// What decides which linters are asked, and what of their answers is reported.
    configuration: BTreeMap<WorkspacePath, Vec<(Read, Observation)>>,
    /// That of it whose changes are not told.
    untold_configuration: Vec<(Read, Observation)>,
    pub(crate) sums: Sums,
}

/// What a file adds to the sums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) content: ContentHash,
    /// By linter, and whether it leaves the file out.
    pub(crate) linters: Box<[(u16, bool)]>,
    pub(crate) suppressed: u32,
    pub(crate) baselined: u32,
    pub(crate) excluded: Box<[Excluded]>,
}

/// Over many files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    /// Files that a linter is asked about.
    pub(crate) asked: usize,
    /// Files that a linter does not leave out.
    pub(crate) files: usize,
    /// By linter: the answers that are complete, and those that leave the file out.
    pub(crate) linters: Vec<(u32, u32)>,
    pub(crate) suppressed: usize,
    pub(crate) baselined: usize,
}

impl Entry {
    /// `None` if an answer is not the last word.
    pub(crate) fn of(
        learned: &Learned,
        file: usize,
        names: &[String],
        suppressed: usize,
        baselined: usize,
    ) -> Option<Self> {
        let known = learned.answers[file].as_ref()?;
        let path = &learned.files.units[file].path;
        let mut linters = Vec::with_capacity(known.answers.len());
        let mut excluded = Vec::new();
        for (place, answer) in &known.answers {
            let is_left_out = match answer.completeness {
                Completeness::Complete => false,
                Completeness::Excluded => true,
                _ => return None,
            };
            linters.push((u16::try_from(*place).ok()?, is_left_out));
            excluded.extend(Excluded::of_answer(path, &names[*place], answer));
        }
        Some(Self {
            content: known.content,
            linters: linters.into(),
            suppressed: u32::try_from(suppressed).ok()?,
            baselined: u32::try_from(baselined).ok()?,
            excluded: excluded.into(),
        })
    }

    pub(crate) fn is_answered(&self) -> bool {
        self.linters.iter().any(|(_, is_left_out)| !is_left_out)
    }
}

impl Sums {
    pub(crate) fn add(&mut self, entry: &Entry) {
        self.change(entry, |sum, more| *sum += more);
    }

    pub(crate) fn subtract(&mut self, entry: &Entry) {
        self.change(entry, |sum, less| *sum -= less);
    }

    fn change(&mut self, entry: &Entry, change: impl Fn(&mut usize, usize)) {
        change(&mut self.asked, usize::from(!entry.linters.is_empty()));
        change(&mut self.files, usize::from(entry.is_answered()));
        change(&mut self.suppressed, entry.suppressed as usize);
        change(&mut self.baselined, entry.baselined as usize);
        for (linter, is_left_out) in &entry.linters {
            let (complete, left_out) = &mut self.linters[usize::from(*linter)];
            let sum = if *is_left_out { left_out } else { complete };
            let mut count = *sum as usize;
            change(&mut count, 1);
            // It was no more than that before one was added, or taken away.
            *sum = u32::try_from(count).unwrap_or(u32::MAX);
        }
    }
}

impl Kept {
    pub(crate) fn new(
        moment: Moment,
        walk: KeptWalk,
        learned: Learned,
        entries: Vec<Option<Entry>>,
        reads: &ReadSet,
        log: &dyn ChangeLog,
    ) -> Self {
        let (mut configuration, mut untold_configuration) = (BTreeMap::<_, Vec<_>>::new(), Vec::new());
        for (read, seen) in reads.iter() {
            let look = match read {
                Read::Listing(path) => Look::Listing(path),
                Read::Metadata(path) | Read::Link(path) | Read::Content(path) => Look::At(path),
            };
            if log.covers(look) && seen != Observation::Failed {
                configuration.entry(read.path().clone()).or_default().push((read.clone(), seen));
            } else {
                untold_configuration.push((read.clone(), seen));
            }
        }
        let mut sums = Sums { linters: vec![(0, 0); learned.router.linters().len()], ..Sums::default() };
        let mut resting: Vec<Vec<WorkspacePath>> = vec![Vec::new(); learned.index.sizes().0];
        let mut files = BTreeMap::new();
        for ((unit, known), entry) in learned.files.units.into_iter().zip(&learned.answers).zip(entries) {
            if let (Some(known), Some(entry)) = (known, &entry) {
                sums.add(entry);
                known.sets.iter().for_each(|it| resting[*it as usize].push(unit.path.clone()));
            }
            files.insert(unit.path, entry);
        }
        let Learned { router, lacks, index, .. } = learned;
        Self { moment, walk, router, lacks, files, index, resting, configuration, untold_configuration, sums }
    }

    /// How many files there are, and how many of them are looked at each time.
    pub(crate) fn sizes(&self) -> (usize, usize) {
        (self.files.len(), self.files.values().filter(|it| it.is_none()).count())
    }

    pub(crate) fn entry(&self, path: &WorkspacePath) -> Option<&Entry> {
        self.files.get(path)?.as_ref()
    }

    /// Those that are known, in the order of their paths.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&WorkspacePath, &Entry)> {
        self.files.iter().filter_map(|(path, entry)| Some((path, entry.as_ref()?)))
    }

    /// Where a view with `edits` may differ from what is kept; `None` if that is not known any more.
    pub(crate) fn changed(&self, log: &dyn ChangeLog, edits: &[WorkspacePath]) -> Option<Vec<WorkspacePath>> {
        let told = log.changed_since(self.moment)?;
        Some(told.into_iter().chain(edits.iter().cloned()).collect())
    }

    /// Whether the same linters are asked about the files that stay, and the same of their answers is reported, in
    /// views that differ from what is kept at `changed` alone.
    pub(crate) fn is_configured_alike(&self, changed: &[WorkspacePath], views: [&dyn View; 2]) -> bool {
        let shows = |(read, then): &(Read, Observation)| {
            *then != Observation::Failed && views.iter().all(|it| read.observe(*it) == *then)
        };
        let at_or_below = |path| at_or_below(&self.configuration, path).map(|(_, reads)| reads);
        let above = |path: &WorkspacePath| {
            let above: Vec<_> = path.ancestors().skip(1).collect();
            above.into_iter().filter_map(|it| self.configuration.get(&it))
        };
        let touched = changed.iter().flat_map(|it| at_or_below(it).chain(above(it))).flatten();
        touched.chain(&self.untold_configuration).all(shows)
    }

    /// The files of which views that differ from what is kept at `changed` alone may have other answers, or that only
    /// one of the walks finds. `folder` is the folder without edits.
    pub(crate) fn differing(
        &self,
        changed: &[WorkspacePath],
        walks: [&KeptWalk; 2],
        folder: &dyn View,
    ) -> BTreeSet<WorkspacePath> {
        let sets = self.index.touched(changed, folder);
        let mut files: BTreeSet<_> =
            sets.into_iter().flat_map(|it| &self.resting[it as usize]).cloned().collect();
        files.extend(self.files.iter().filter(|(_, it)| it.is_none()).map(|(path, _)| path.clone()));
        for path in changed {
            files.extend(at_or_below(&self.files, path).map(|(it, _)| it.clone()));
        }
        walks.iter().for_each(|it| files.extend(self.walk.difference(it)));
        files
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

/// What is kept of a folder, by the way to ask.
#[derive(Default)]
pub(crate) struct KeptChecks(Mutex<Vec<Stored>>);

struct Stored {
    question: ContentHash,
    kept: Arc<Kept>,
    made: Instant,
    took: Duration,
}

/// Ways to ask of which something is kept: that of the configuration, and a few of clients that select rules.
const QUESTIONS: usize = 3;

/// What is not of use any more is made again only if that takes a small part of the time.
const SPARING: u32 = 20;

impl KeptChecks {
    pub(crate) fn find(&self, question: &ContentHash) -> Option<Arc<Kept>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|it| it.question == *question).map(|it| Arc::clone(&it.kept))
    }

    /// Whether it is worth while to learn everything anew.
    pub(crate) fn may_learn(&self, question: &ContentHash) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = all.iter().find(|it| it.question == *question);
        last.is_none_or(|it| it.made.elapsed() > it.took * SPARING)
    }

    pub(crate) fn keep(&self, question: ContentHash, kept: Arc<Kept>, took: Duration) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|it| it.question != question);
        all.insert(0, Stored { question, kept, made: Instant::now(), took });
        all.truncate(QUESTIONS);
    }
}
