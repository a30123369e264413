//! Announcements of changes, and the watches that receive them.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::Sender,
    },
};

use parking_lot::Mutex;

use super::{
    journal::Journal,
    watch::{Message, Promise},
};
use crate::WorkspacePath;

/// A batch of changes. Each may be one more than really happened, and is never an answer by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Paths that were added, removed or changed; a directory stands for everything below it, too.
    pub paths: BTreeSet<WorkspacePath>,
    /// Events were lost: anything may have changed.
    pub overflow: bool,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && !self.overflow
    }
}

/// The watches of a base, and how many batches they announced.
#[derive(Default)]
pub(super) struct Announcements {
    watches: Mutex<Vec<Sender<Message>>>,
    generation: Arc<AtomicU64>,
    journal: Arc<Journal>,
    promise: Mutex<Option<Promise>>,
}

impl Announcements {
    pub(super) fn generation(&self) -> &Arc<AtomicU64> {
        &self.generation
    }

    pub(super) fn journal(&self) -> &Arc<Journal> {
        &self.journal
    }

    /// Promise of the newest watch.
    pub(super) fn promise(&self) -> Option<Promise> {
        self.promise.lock().clone()
    }

    pub(super) fn add(&self, watch: Sender<Message>, promise: Promise) {
        *self.promise.lock() = Some(promise);
        self.watches.lock().push(watch);
    }

    /// Tells all watches that the buffer at `place` changed, and forgets those that are gone.
    pub(super) fn buffer(&self, place: WorkspacePath) {
        let mut watches = self.watches.lock();
        watches.retain(|watch| watch.send(Message::Buffer(place.clone())).is_ok());
    }
}

/// Counts one more batch. Called before the batch is announced, so that its receivers find it counted.
pub(super) fn count(generation: &AtomicU64) {
    generation.fetch_add(1, Ordering::AcqRel);
}
