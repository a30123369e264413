//! Sources of a directory's ignore rules, by which it is known when these must be made again.

use std::{collections::BTreeSet, io, sync::Arc};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::{
    ContentHash, Entry, Listing, Metadata, Read, ReadSet, Skipped, View, WorkspacePath,
    walk::{Rules, marks},
};

/// Sources of a directory's own part of its rules.
pub(super) struct Sources {
    marks: Vec<Entry>,
    reads: ReadSet,
}

impl Sources {
    /// Whether one of `changed` is among the paths read; an ignore file may be a link to anywhere.
    pub(super) fn touch(&self, changed: &BTreeSet<WorkspacePath>) -> bool {
        let touches =
            |read: &Read| changed.iter().any(|it| it.starts_with(read.path()) || read.path().starts_with(it));
        self.reads.iter().any(|(read, _)| touches(read))
    }
}

/// Whether a directory would have just the same sources again.
pub(super) fn hold(old: Option<&Arc<Sources>>, view: &dyn View, listing: &Listing) -> bool {
    let marks = marks(listing);
    match old {
        Some(old) => old.marks == marks && old.reads.holds_in(view),
        None => marks.is_empty(),
    }
}

/// The rules inside of a directory, with their sources if it has any of its own.
pub(super) fn enter(
    view: &dyn View,
    directory: &WorkspacePath,
    listing: &Listing,
    above: &Rules,
) -> (Rules, Option<Arc<Sources>>) {
    let marks = marks(listing);
    let noting = Noting { view, reads: Mutex::default() };
    // An unreadable file gives no rules; the walk reports it.
    let rules = above.enter(&noting, directory, listing, &mut Skipped::default());
    let reads = std::mem::take(&mut *noting.reads.lock());
    let observed = |read: Read| {
        let observation = read.observe(view);
        (read, observation)
    };
    let reads = reads.into_iter().map(observed).collect();
    let sources = (!marks.is_empty()).then(|| Arc::new(Sources { marks, reads }));
    (rules, sources)
}

/// Notes what is read through it. As `Traced`, but of a view that is borrowed.
struct Noting<'v> {
    view: &'v dyn View,
    reads: Mutex<BTreeSet<Read>>,
}

impl Noting<'_> {
    fn note(&self, read: Read) {
        self.reads.lock().insert(read);
    }
}

impl View for Noting<'_> {
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        self.note(Read::Content(path.clone()));
        self.view.read(path)
    }

    fn hash(&self, path: &WorkspacePath) -> io::Result<ContentHash> {
        self.note(Read::Content(path.clone()));
        self.view.hash(path)
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        self.note(Read::Metadata(path.clone()));
        self.view.metadata(path)
    }

    fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
        self.note(Read::Listing(path.clone()));
        self.view.list(path)
    }

    fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
        self.note(Read::Link(path.clone()));
        self.view.read_link(path)
    }
}
