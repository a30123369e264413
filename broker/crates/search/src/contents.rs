//! Index of contents, in segments, and the content of each path in a workspace's folder.
//!
//! Contents are known by their hash. So a file that moves or comes back needs no indexing, and what a branch has in common
//! with the folder is known wherever the branch has it. A table in memory says which content each path of the folder had at a
//! moment of its change log: files that were not changed since then, as a watch guarantees, are not even looked at. Where
//! nothing is guaranteed, each file's stamp is compared, as everywhere.
//!
//! Segments are files in a folder that the caller gives, and are used again by the next process, which hashes the
//! workspace's files once for it. What is learned of a content is for a [`Kind`] of index to say.

mod files;
mod table;
mod update;

use std::{
    collections::{HashMap, HashSet},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
pub(crate) use files::{files, hashes};
use overlay::{ContentHash, View, WorkspacePath};
use parking_lot::{Mutex, RwLock};
pub(crate) use table::{Difference, Table};
use thiserror::Error;

use crate::{
    Cancelled, Options,
    store::{Mapped, Store},
};

/// Documents of a small segment, and how many of those there may be before they become one.
const SMALL: usize = 4096;
const MAX_SMALL: usize = 8;

/// Kind of an index, by what it learns of a content.
pub(crate) trait Kind: Sync {
    /// The ending of its files.
    const ENDING: &'static str;
    /// Raised with every change of a segment's form or of what is learned of a text.
    const VERSION: u32;
    /// Bytes of a content; what is larger is not indexed.
    const LARGEST: usize;

    /// State of a thread that learns one content after the other.
    type Reader;
    /// Entry that is learned of a content.
    type Document;
    /// A segment in the making.
    type Builder: Default + Send;
    type Segment: Send + Sync;

    fn reader(&self) -> Self::Reader;
    /// The path says in which language the content is.
    fn read(
        reader: &mut Self::Reader,
        path: &WorkspacePath,
        bytes: &Bytes,
        hash: ContentHash,
    ) -> Self::Document;
    /// False if there is no room for it any more.
    fn add(builder: &mut Self::Builder, hash: ContentHash, document: &Self::Document) -> bool;
    fn sections(builder: Self::Builder) -> Vec<Vec<u8>>;

    /// `None` for a file that makes no sense.
    fn segment(file: Mapped) -> Option<Self::Segment>;
    fn file(segment: &Self::Segment) -> &Mapped;
    /// The contents of its documents, in their order.
    fn hashes(segment: &Self::Segment) -> Vec<ContentHash>;
}

/// Bounds of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexOptions {
    /// Bytes of all its files, about. What does not fit is not indexed.
    pub max_bytes: u64,
}

impl Default for IndexOptions {
    fn default() -> Self {
        Self { max_bytes: 2 << 30 }
    }
}

/// Progress of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Files whose content was looked at.
    pub indexed: usize,
    pub total: usize,
}

/// Size of an index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IndexStats {
    pub segments: usize,
    /// Different contents.
    pub documents: usize,
    /// Bytes of its files.
    pub bytes: u64,
}

/// Error that keeps an index from being up to date.
#[derive(Debug, Error)]
pub enum UpdateError {
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    #[error("the index in {} cannot be written: {source}", .folder.display())]
    Write { folder: PathBuf, source: io::Error },
}

/// The contents of one workspace. Searches go on while they are brought up to date.
pub(crate) struct Contents<K: Kind> {
    pub(crate) kind: K,
    store: Store,
    options: IndexOptions,
    state: RwLock<Arc<State<K>>>,
    /// Held by the one update that is under way.
    updating: Mutex<()>,
    /// Contents that are too large.
    refused: Mutex<HashSet<ContentHash>>,
}

/// Everything that a search uses, as it is at one moment.
pub(crate) struct State<K: Kind> {
    pub(crate) segments: Vec<Arc<K::Segment>>,
    pub(crate) by_hash: HashMap<ContentHash, Document>,
    pub(crate) table: Option<Arc<Table>>,
}

/// Segment that has a content, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Document {
    pub(crate) segment: u16,
    pub(crate) number: u16,
}

impl<K: Kind> Contents<K> {
    pub(crate) fn open(kind: K, folder: &Path, options: IndexOptions) -> io::Result<Self> {
        let store = Store::open(folder, K::ENDING, K::VERSION)?;
        let mut state = State::<K>::default();
        store.load()?.into_iter().filter_map(K::segment).for_each(|it| state.add(Arc::new(it)));
        let (state, updating, refused) = (RwLock::new(Arc::new(state)), Mutex::default(), Mutex::default());
        Ok(Self { kind, store, options, state, updating, refused })
    }

    pub(crate) fn stats(&self) -> IndexStats {
        let state = self.state();
        IndexStats { segments: state.segments.len(), documents: state.by_hash.len(), bytes: state.bytes() }
    }

    pub(crate) fn update(
        &self,
        view: &dyn View,
        options: &Options<'_>,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<IndexStats, UpdateError> {
        let _only = self.updating.lock();
        update::run(self, view, options, progress)?;
        Ok(self.stats())
    }

    pub(crate) fn state(&self) -> Arc<State<K>> {
        Arc::clone(&self.state.read())
    }

    /// Whether a content was found to be too large.
    pub(crate) fn is_refused(&self, hash: ContentHash) -> bool {
        self.refused.lock().contains(&hash)
    }

    fn publish(&self, state: State<K>) {
        *self.state.write() = Arc::new(state);
    }
}

impl<K: Kind> Default for State<K> {
    fn default() -> Self {
        Self { segments: Vec::new(), by_hash: HashMap::new(), table: None }
    }
}

impl<K: Kind> Clone for State<K> {
    fn clone(&self) -> Self {
        Self { segments: self.segments.clone(), by_hash: self.by_hash.clone(), table: self.table.clone() }
    }
}

impl<K: Kind> State<K> {
    fn add(&mut self, segment: Arc<K::Segment>) {
        let Ok(number) = u16::try_from(self.segments.len()) else { return };
        let documents = (0_u16..).zip(K::hashes(&segment));
        self.by_hash.extend(documents.map(|(it, hash)| (hash, Document { segment: number, number: it })));
        self.segments.push(segment);
    }

    fn bytes(&self) -> u64 {
        self.segments.iter().map(|it| K::file(it).size()).sum()
    }

    /// The segments that are worth keeping for these contents: at least half of each, and not too many small ones. Then the
    /// others.
    fn without_dead(&self, contents: &HashSet<ContentHash>) -> (Self, Vec<Arc<K::Segment>>) {
        let lives = |it: &Arc<K::Segment>| {
            let all = K::hashes(it);
            all.iter().filter(|it| contents.contains(it)).count() * 2 >= all.len()
        };
        let (alive, mut dead): (Vec<_>, Vec<_>) = self.segments.iter().cloned().partition(lives);
        let is_small = |it: &Arc<K::Segment>| K::hashes(it).len() < SMALL;
        let (small, mut kept): (Vec<_>, Vec<_>) = alive.into_iter().partition(is_small);
        if small.len() > MAX_SMALL {
            dead.extend(small)
        } else {
            kept.extend(small)
        }
        let mut state = Self::default();
        kept.into_iter().for_each(|it| state.add(it));
        (state, dead)
    }
}
