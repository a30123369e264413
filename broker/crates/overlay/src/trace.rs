//! Recording what was looked at, so that an answer can be used again where a look shows the same.

use std::{io, sync::Arc};

use bytes::Bytes;
use parking_lot::Mutex;
use rpds::RedBlackTreeMapSync;

use crate::{ContentHash, FileKind, Listing, Metadata, View, WorkspacePath};

/// A look at a view. Ordered so that the looks that are cheap to repeat, and most likely to differ, come first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Read {
    /// Kind, size and executable bit.
    Metadata(WorkspacePath),
    /// The kind alone, which an edit of a file leaves as it is.
    Kind(WorkspacePath),
    Link(WorkspacePath),
    Listing(WorkspacePath),
    Content(WorkspacePath),
}

/// Result of a look.
///
/// Each way in which a path can differ from the kind asked for is a variant of its own: for the reader, a missing
/// file is not the same as a link in its place, which can be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Observation {
    Found(ContentHash),
    Missing,
    /// A link stands there, or something that is no directory is in the way.
    NotADirectory,
    IsADirectory,
    /// Asked for a link, found something else.
    NotALink,
    /// A socket, device or pipe.
    Special,
    /// An error that says nothing of the tree. It is never the same as another, not even as itself.
    Failed,
}

/// Set of looks with their results. Cloning it copies nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadSet {
    reads: RedBlackTreeMapSync<Read, Observation>,
}

/// A view that records what is read through it.
///
/// [`View::resolve`] and [`View::open`] record every component they look at.
pub struct Traced {
    view: Arc<dyn View>,
    is_of_kinds: bool,
    record: Mutex<Record>,
}

#[derive(Default)]
struct Record {
    reads: Arc<ReadSet>,
    changed: Option<Read>,
}

impl Traced {
    pub fn new(view: Arc<dyn View>) -> Self {
        Self { view, is_of_kinds: false, record: Mutex::default() }
    }

    /// Creates a view for a reader that uses only the kind of what it does not read: [`metadata`](View::metadata) reports a size
    /// of 0 and no executable bit, and holds after an edit of the file.
    pub fn of_kinds(view: Arc<dyn View>) -> Self {
        Self { is_of_kinds: true, ..Self::new(view) }
    }

    /// Adds `reads` to the record. They hold in its view and count as recorded.
    #[must_use]
    pub fn after(self, reads: Arc<ReadSet>) -> Self {
        Self { record: Mutex::new(Record { reads, changed: None }), ..self }
    }

    /// The view itself; what is read through it is not recorded.
    pub fn view(&self) -> &Arc<dyn View> {
        &self.view
    }

    /// Reads like `read`, and returns the hash that was computed for the record, too.
    pub fn read_hashed(&self, path: &WorkspacePath) -> io::Result<(Bytes, ContentHash)> {
        let answer = self.view.read(path).map(|bytes| {
            let hash = ContentHash::of(&bytes);
            (bytes, hash)
        });
        self.record(Read::Content(path.clone()), Observation::of(&answer, |(_, hash)| *hash));
        answer
    }

    /// Metadata with size and executable bit, also for a reader of kinds.
    pub fn whole_metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        let answer = self.view.metadata(path);
        self.record(Read::Metadata(path.clone()), Observation::of(&answer, hash_metadata));
        answer
    }

    /// Returns everything recorded so far. The same `Arc` as before if nothing was added.
    pub fn read_set(&self) -> Arc<ReadSet> {
        Arc::clone(&self.record.lock().reads)
    }

    /// The first read that showed two different things during this trace, if any did. Then the view
    /// moved, and what was concluded from it is true of no single state.
    pub fn changed(&self) -> Option<Read> {
        self.record.lock().changed.clone()
    }

    fn record(&self, read: Read, observation: Observation) {
        let mut record = self.record.lock();
        match record.reads.get(&read) {
            Some(before) if before == observation => {}
            Some(_) => {
                record.changed.get_or_insert(read);
            }
            None => Arc::make_mut(&mut record.reads).reads.insert_mut(read, observation),
        }
    }
}

impl View for Traced {
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        Ok(self.read_hashed(path)?.0)
    }

    fn hash(&self, path: &WorkspacePath) -> io::Result<ContentHash> {
        let answer = self.view.hash(path);
        self.record(Read::Content(path.clone()), Observation::of(&answer, |it| *it));
        answer
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        if !self.is_of_kinds {
            return self.whole_metadata(path);
        }
        let answer = self.view.metadata(path).map(only_kind);
        self.record(Read::Kind(path.clone()), Observation::of(&answer, hash_metadata));
        answer
    }

    fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
        let answer = self.view.list(path);
        self.record(Read::Listing(path.clone()), Observation::of(&answer, hash_listing));
        answer
    }

    fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
        let answer = self.view.read_link(path);
        self.record(Read::Link(path.clone()), Observation::of(&answer, |it| ContentHash::of(it.as_bytes())));
        answer
    }

    /// Returns the edits. Not recorded: they only show where to look, and those looks are recorded.
    fn edits(&self) -> Vec<WorkspacePath> {
        self.view.edits()
    }
}

impl ReadSet {
    pub fn iter(&self) -> impl Iterator<Item = (&Read, Observation)> {
        self.reads.iter().map(|(read, observation)| (read, *observation))
    }

    pub fn get(&self, read: &Read) -> Option<Observation> {
        self.reads.get(read).copied()
    }

    pub fn len(&self) -> usize {
        self.reads.size()
    }

    pub fn is_empty(&self) -> bool {
        self.reads.is_empty()
    }

    /// Whether every look would have the same result in `view`.
    pub fn holds_in(&self, view: &dyn View) -> bool {
        // Before anything is read, so that a set that can never hold costs nothing.
        let may_hold = self.iter().all(|(_, observation)| observation != Observation::Failed);
        may_hold && self.iter().all(|(read, observation)| read.observe(view) == observation)
    }
}

impl FromIterator<(Read, Observation)> for ReadSet {
    fn from_iter<I: IntoIterator<Item = (Read, Observation)>>(reads: I) -> Self {
        Self { reads: reads.into_iter().collect() }
    }
}

impl Read {
    pub fn path(&self) -> &WorkspacePath {
        match self {
            Self::Metadata(path)
            | Self::Kind(path)
            | Self::Link(path)
            | Self::Listing(path)
            | Self::Content(path) => path,
        }
    }

    /// Looks at the contents of many files of one directory, as [`observe`](Self::observe) does at one. A file of more than
    /// `largest` bytes is not read for it, and is [`Observation::Failed`], unless its content is known.
    pub fn observe_contents(
        view: &dyn View,
        directory: &WorkspacePath,
        names: &[&str],
        largest: u64,
    ) -> Vec<Observation> {
        let hashes = view.hash_all(directory, names, largest);
        hashes.iter().map(|answer| Observation::of(answer, |it| it.hash)).collect()
    }

    /// Looks again, at `view`.
    pub fn observe(&self, view: &dyn View) -> Observation {
        match self {
            Self::Kind(path) => Observation::of(&view.metadata(path).map(only_kind), hash_metadata),
            Self::Metadata(path) => Observation::of(&view.metadata(path), hash_metadata),
            Self::Link(path) => Observation::of(&view.read_link(path), |it| ContentHash::of(it.as_bytes())),
            Self::Listing(path) => Observation::of(&view.list(path), hash_listing),
            Self::Content(path) => Observation::of(&view.hash(path), |it| *it),
        }
    }
}

impl Observation {
    pub(crate) fn of<T>(answer: &io::Result<T>, hash: impl FnOnce(&T) -> ContentHash) -> Self {
        match answer {
            Ok(value) => Self::Found(hash(value)),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound => Self::Missing,
                io::ErrorKind::NotADirectory => Self::NotADirectory,
                io::ErrorKind::IsADirectory => Self::IsADirectory,
                io::ErrorKind::InvalidInput => Self::NotALink,
                io::ErrorKind::Unsupported => Self::Special,
                _ => Self::Failed,
            },
        }
    }
}

fn only_kind(metadata: Metadata) -> Metadata {
    Metadata { kind: metadata.kind, size: 0, executable: false }
}

pub(crate) fn hash_metadata(metadata: &Metadata) -> ContentHash {
    let Metadata { kind, size, executable } = *metadata;
    let mut text = [0; 10];
    text[0] = kind_byte(kind);
    text[1] = executable.into();
    text[2..].copy_from_slice(&size.to_le_bytes());
    ContentHash::of(&text)
}

fn hash_listing(listing: &Listing) -> ContentHash {
    let mut text = listing.not_utf8.to_le_bytes().to_vec();
    for entry in &listing.entries {
        text.push(kind_byte(entry.kind));
        text.extend_from_slice(entry.name.as_bytes());
        // No name contains it.
        text.push(0);
    }
    ContentHash::of(&text)
}

fn kind_byte(kind: FileKind) -> u8 {
    match kind {
        FileKind::File => 0,
        FileKind::Directory => 1,
        FileKind::Symlink => 2,
        FileKind::Other => 3,
    }
}

#[cfg(test)]
mod tests;
