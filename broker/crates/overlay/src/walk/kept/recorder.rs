//! Looks of a walk besides the listing of its directory, with their results.

use std::io;

use bytes::Bytes;
use parking_lot::Mutex;

use crate::{
    ContentHash, FileKind, Listing, Metadata, Observation, Read, View, WorkspacePath, trace::hash_metadata,
};

/// A look and what it showed, and whether that was a directory.
pub(super) type Recorded = (Read, Observation, bool);

/// Recorder like [`Traced`](crate::Traced), over a view that is borrowed; listings are not recorded.
pub(super) struct Recorder<'v> {
    view: &'v dyn View,
    looks: Mutex<Vec<Recorded>>,
}

impl<'v> Recorder<'v> {
    pub(super) fn new(view: &'v dyn View) -> Self {
        Self { view, looks: Mutex::default() }
    }

    pub(super) fn into_looks(self) -> Vec<Recorded> {
        self.looks.into_inner()
    }

    fn record(&self, read: Read, observation: Observation, is_directory: bool) {
        let mut looks = self.looks.lock();
        looks.push((read, observation, is_directory));
    }
}

impl View for Recorder<'_> {
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        let answer = self.view.read(path);
        let observation = Observation::of(&answer, |it| ContentHash::of(it));
        self.record(Read::Content(path.clone()), observation, observation == Observation::IsADirectory);
        answer
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        let answer = self.view.metadata(path);
        let is_directory = answer.as_ref().is_ok_and(|it| it.kind == FileKind::Directory);
        self.record(Read::Metadata(path.clone()), Observation::of(&answer, hash_metadata), is_directory);
        answer
    }

    fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
        self.view.list(path)
    }

    fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
        let answer = self.view.read_link(path);
        let observation = Observation::of(&answer, |it| ContentHash::of(it.as_bytes()));
        self.record(Read::Link(path.clone()), observation, false);
        answer
    }
}
