//! Checks of read sets in one view: each look is made once, and each read set is judged once.

mod names;

use std::{collections::HashMap, io, sync::Arc};

use foldhash::fast::RandomState;
use overlay::{ContentHash, Observation, Read, View, WorkspacePath};

use self::names::Names;
use super::{
    Reads,
    observations::{ByAddress, Observed, ObservedSet, address},
    parent::{Inherited, Seen},
};

/// Looks that were made, by what was looked at.
pub(super) type Observations = HashMap<Read, Observation, RandomState>;

/// Looks made in one view during one check. The view should not change meanwhile; if it does, the first observation counts
/// for the whole check.
///
/// Each thread has its own: nearly every question is one look into a map, for which a lock would cost more than it saves. A
/// thread that joins later starts with a clone of a warm one.
#[derive(Clone)]
pub struct ReadChecker<'v> {
    view: &'v dyn View,
    /// Bytes of a file whose content is looked at for its own sake.
    largest: u64,
    observations: Observations,
    /// The names in directories in which something was missing.
    names: HashMap<WorkspacePath, Option<Names>, RandomState>,
    judged: ByAddress<Observed, bool>,
    sets: ByAddress<ObservedSet, bool>,
    inherited: Option<Arc<Inherited>>,
}

impl<'v> ReadChecker<'v> {
    pub fn new(view: &'v dyn View) -> Self {
        let (judged, sets) = (ByAddress::default(), ByAddress::default());
        let (observations, names) = (HashMap::default(), HashMap::default());
        Self { view, largest: u64::MAX, observations, names, judged, sets, inherited: None }
    }

    /// Looks at `view`. What no change to the parent can have touched is as it was there, and is not looked at
    /// again.
    pub fn over_parent(view: &'v dyn View, parent: Arc<Inherited>) -> Self {
        Self { inherited: Some(parent), ..Self::new(view) }
    }

    /// Reads no file of more than `largest` bytes, unless a read set names its content.
    #[must_use]
    pub fn limited(self, largest: u64) -> Self {
        Self { largest, ..self }
    }

    /// Returns the observations, for the children of this view.
    pub fn into_seen(self) -> Seen {
        let held = self.sets.into_values().filter(|(_, holds)| *holds).map(|(set, _)| set);
        Seen { observations: self.observations, held: held.collect() }
    }

    /// Looks at the contents of many files of one directory at once, so that none of them is looked at alone.
    pub fn prepare<'f>(&mut self, directory: &WorkspacePath, files: impl Iterator<Item = &'f WorkspacePath>) {
        let reads = files.map(|it| Read::Content(it.clone()));
        let reads: Vec<_> = reads.filter(|it| !self.is_known(it)).collect();
        let names: Vec<_> = reads.iter().filter_map(|it| it.path().file_name()).collect();
        let seen = Read::observe_contents(self.view, directory, &names, self.largest);
        self.observations.extend(reads.into_iter().zip(seen));
    }

    fn is_known(&self, read: &Read) -> bool {
        self.observations.contains_key(read)
            || self.inherited.as_ref().is_some_and(|it| it.observation(read).is_some())
    }

    /// The hash of a file's bytes, with links followed as [`View::open`] does. `FileTooLarge` for more than is read.
    pub fn content(&mut self, path: &WorkspacePath) -> io::Result<ContentHash> {
        match self.observe_content(path) {
            Observation::NotADirectory => {
                let resolved = self.view.resolve(path)?;
                let observation = self.observe_content(&resolved);
                self.found(&resolved, observation)
            }
            observation => self.found(path, observation),
        }
    }

    fn observe_content(&mut self, path: &WorkspacePath) -> Observation {
        let read = Read::Content(path.clone());
        if let Some(directory) = path.parent().filter(|_| !self.is_known(&read)) {
            self.prepare(&directory, std::iter::once(path));
        }
        self.observe(&read)
    }

    /// Returns the hash; the error has more detail than the observation.
    fn found(&self, path: &WorkspacePath, observation: Observation) -> io::Result<ContentHash> {
        match observation {
            Observation::Found(hash) => Ok(hash),
            _ if self.view.metadata(path)?.size > self.largest => Err(io::ErrorKind::FileTooLarge.into()),
            _ => self.view.hash(path),
        }
    }

    /// Returns the hash of a file at `path` itself; `None` for a link, and for what cannot be read.
    pub fn own_content(&mut self, path: &WorkspacePath) -> Option<ContentHash> {
        match self.observe(&Read::Content(path.clone())) {
            Observation::Found(hash) => Some(hash),
            _ => None,
        }
    }

    /// Whether this view shows everything that `reads` holds. For an answer outside of the cache: where few files are
    /// looked at, to list their directories would take longer than to look for each name.
    pub fn holds_reads(&mut self, reads: &Reads) -> bool {
        self.judge(&reads.0, |own, observed| own.observe(&observed.read) == observed.observation)
    }

    /// Whether every observation shows in this view.
    pub(super) fn holds(&mut self, set: &Arc<ObservedSet>) -> bool {
        self.judge(set, Self::shows)
    }

    fn judge(&mut self, set: &Arc<ObservedSet>, shows: impl Fn(&mut Self, &Arc<Observed>) -> bool) -> bool {
        if let Some((_, holds)) = self.sets.get(&address(set)) {
            return *holds;
        }
        let inherits = self.inherited.as_ref().is_some_and(|it| it.holds(set));
        let holds = inherits || set.observations.iter().all(|observed| shows(self, observed));
        self.sets.insert(address(set), (Arc::clone(set), holds));
        holds
    }

    fn shows(&mut self, observed: &Arc<Observed>) -> bool {
        if let Some((_, shows)) = self.judged.get(&address(observed)) {
            return *shows;
        }
        if observed.observation == Observation::Missing {
            self.look_for(&observed.read);
        }
        let shows = self.observe(&observed.read) == observed.observation;
        self.judged.insert(address(observed), (Arc::clone(observed), shows));
        shows
    }

    /// Notes which file is missing by the names in its directory: linters ask for dozens of configuration files in each
    /// directory, and one listing answers for all of them.
    fn look_for(&mut self, read: &Read) {
        if self.is_known(read) {
            return;
        }
        let (Some(directory), Some(name)) = (read.path().parent(), read.path().file_name()) else { return };
        let view = self.view;
        let names = self.names.entry(directory).or_insert_with_key(|it| Names::of(&view.list(it).ok()?));
        if names.as_ref().is_some_and(|it| it.lacks(name)) {
            self.observations.insert(read.clone(), Observation::Missing);
        }
    }

    fn observe(&mut self, read: &Read) -> Observation {
        if let Some(known) = self.observations.get(read) {
            return *known;
        }
        let inherited = self.inherited.as_ref().and_then(|it| it.observation(read));
        let observation = inherited.unwrap_or_else(|| read.observe(self.view));
        self.observations.insert(read.clone(), observation);
        observation
    }
}
