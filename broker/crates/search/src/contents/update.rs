//! Brings an index up to date: what contents there are, which of them are new, and segments of those.

use std::{
    collections::HashSet,
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use overlay::{ContentHash, KeptWalk, Moment, Tracked, View, WorkspacePath, folder_walk};
use parking_lot::Mutex;

use super::{Contents, Kind, Progress, State, Table, UpdateError, files, hashes};
use crate::{Options, parallel};

/// New files that are worth a segment.
const WORTH_A_SEGMENT: usize = 256;

/// Update of an index for a view.
struct Update<'a, K: Kind> {
    index: &'a Contents<K>,
    options: &'a Options<'a>,
    progress: &'a (dyn Fn(Progress) + Sync),
    /// The folder without a branch's edits.
    folder: &'a dyn View,
    tracked: Option<&'a (Tracked, (Moment, KeptWalk))>,
    paths: Vec<WorkspacePath>,
    /// The contents of the paths, taken after the moment.
    hashes: Vec<Option<ContentHash>>,
}

pub(super) fn run<K: Kind>(
    index: &Contents<K>,
    view: &dyn View,
    options: &Options<'_>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<(), UpdateError> {
    let tracked = view.tracked().and_then(|it| {
        let walk = folder_walk(&it, options.walk)?;
        Some((it, walk))
    });
    let (folder, paths) = match &tracked {
        Some((tracked, (_, walk))) => (&*tracked.folder, walk.files().cloned().collect()),
        None => (view, files(view, options)?),
    };
    let hashes = hashes(folder, &paths, options)?;
    Update { index, options, progress, folder, tracked: tracked.as_ref(), paths, hashes }.run()
}

impl<K: Kind> Update<'_, K> {
    fn run(&self) -> Result<(), UpdateError> {
        let contents = self.hashes.iter().flatten().copied().collect();
        let (mut state, dead) = self.index.state().without_dead(&contents);
        self.publish(&mut state);
        dead.iter().for_each(|it| self.index.store.remove(K::file(it)));
        let new = self.new_files(&state);
        let is_full = state.bytes() >= self.index.options.max_bytes;
        if is_full || new.is_empty() || (new.len() < WORTH_A_SEGMENT && !state.segments.is_empty()) {
            return Ok(());
        }
        self.add(&new, state)
    }

    /// A file for each content that is not known yet and may be.
    fn new_files(&self, state: &State<K>) -> Vec<(&WorkspacePath, ContentHash)> {
        let refused = self.index.refused.lock();
        let mut seen = HashSet::new();
        let mut is_new =
            |it: ContentHash| !state.by_hash.contains_key(&it) && !refused.contains(&it) && seen.insert(it);
        let files = self.paths.iter().zip(&self.hashes);
        files.filter_map(|(path, hash)| hash.filter(|it| is_new(*it)).map(|it| (path, it))).collect()
    }

    /// Never searched by this index: scanned each time.
    fn refuse(&self, hash: ContentHash) {
        self.index.refused.lock().insert(hash);
    }

    fn add(&self, new: &[(&WorkspacePath, ContentHash)], state: State<K>) -> Result<(), UpdateError> {
        let (total, done) = (self.paths.len(), AtomicUsize::new(0));
        let pending = Mutex::new(Pending {
            update: self,
            state,
            builder: K::Builder::default(),
            is_empty: true,
            failed: None,
        });
        let lock = || pending.lock();
        let index = |reader: &mut K::Reader, (path, hash): (&WorkspacePath, ContentHash)| {
            if lock().failed.is_some() {
                return;
            }
            if self.folder.metadata(path).is_ok_and(|it| it.size > K::LARGEST as u64) {
                self.refuse(hash);
            } else if let Ok((bytes, hash)) = self.folder.read_hashed(path) {
                let document = K::read(reader, path, &bytes, hash);
                lock().add(hash, &document);
            }
            let left = new.len() - done.fetch_add(1, Relaxed) - 1;
            (self.progress)(Progress { indexed: total - left, total });
        };
        parallel::for_each(
            new,
            self.options,
            || self.index.kind.reader(),
            |reader, _, file| index(reader, *file),
        )?;
        let mut pending = pending.into_inner();
        pending.seal();
        let folder = self.index.store.folder().to_owned();
        pending.failed.map_or(Ok(()), |source| Err(UpdateError::Write { folder, source }))
    }

    /// Has searches use these segments, with what is known of the folder.
    fn publish(&self, state: &mut State<K>) {
        let document = |it: &Option<ContentHash>| state.by_hash.get(it.as_ref()?).copied();
        let table = |(tracked, walk): &(Tracked, (Moment, KeptWalk))| {
            let documents: Vec<_> = self.hashes.iter().map(document).collect();
            Arc::new(Table::new(tracked, walk, self.options.walk, &self.paths, &documents))
        };
        state.table = self.tracked.map(table);
        self.index.publish(state.clone());
    }
}

/// Documents that become segments.
struct Pending<'a, K: Kind> {
    update: &'a Update<'a, K>,
    state: State<K>,
    builder: K::Builder,
    is_empty: bool,
    failed: Option<io::Error>,
}

impl<K: Kind> Pending<'_, K> {
    fn add(&mut self, hash: ContentHash, document: &K::Document) {
        if !K::add(&mut self.builder, hash, document) {
            self.seal();
            K::add(&mut self.builder, hash, document);
        }
        self.is_empty = false;
    }

    /// Nothing more is written once that failed, or the index is full.
    fn seal(&mut self) {
        let builder = std::mem::take(&mut self.builder);
        let is_full = self.state.bytes() >= self.update.index.options.max_bytes;
        if std::mem::replace(&mut self.is_empty, true) || is_full || self.failed.is_some() {
            return;
        }
        match self.update.index.store.add(&K::sections(builder)) {
            Ok(file) => K::segment(file).into_iter().for_each(|it| self.state.add(Arc::new(it))),
            Err(error) => self.failed = Some(error),
        }
        self.update.publish(&mut self.state);
    }
}
