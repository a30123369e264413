//! Unsaved texts: a branch over the live disk, of which readers see one snapshot after the other.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use arc_swap::{ArcSwapOption, Guard};
use bytes::Bytes;

use crate::{Branch, ContentHash, EditError, FileKind, Snapshot, View, WorkspacePath};

/// Bytes of all unsaved texts of a workspace.
const MAX_BYTES: u64 = 256 << 20;

/// Why a text cannot be laid over a path; for the same reasons as an edit.
pub type BufferError = EditError;

pub(super) struct Buffers {
    disk: Arc<dyn View>,
    open: Mutex<Open>,
    /// What readers see. `None` as long as there are no buffers, so that those cost nothing.
    current: ArcSwapOption<Snapshot>,
}

struct Open {
    /// The link-free place of each path that was opened.
    places: BTreeMap<WorkspacePath, WorkspacePath>,
    branch: Branch,
}

impl Buffers {
    pub(super) fn new(disk: Arc<dyn View>) -> Self {
        let branch = Branch::new(disk.clone());
        let open = Mutex::new(Open { places: BTreeMap::new(), branch });
        Self { disk, open, current: ArcSwapOption::empty() }
    }

    pub(super) fn current(&self) -> Guard<Option<Arc<Snapshot>>> {
        self.current.load()
    }

    /// Where the text now stands.
    pub(super) fn set(&self, path: &WorkspacePath, text: Bytes) -> Result<WorkspacePath, BufferError> {
        let mut open = self.lock();
        let known = open.places.get(path).cloned();
        open.expect_room(known.as_ref(), text.len() as u64)?;
        let place = match known {
            Some(place) => {
                open.branch.write(&place, text)?;
                place
            }
            None => open.add(path, text)?,
        };
        self.show(&open);
        Ok(place)
    }

    /// Where the text stood.
    pub(super) fn close(&self, path: &WorkspacePath) -> Option<WorkspacePath> {
        let mut open = self.lock();
        let place = open.places.remove(path)?;
        // A branch cannot take an edit back, so those that stay are made anew.
        open.branch = open.again(Branch::new(self.disk.clone()));
        self.show(&open);
        Some(place)
    }

    pub(super) fn list(&self) -> Vec<(WorkspacePath, ContentHash)> {
        let open = self.lock();
        let snapshot = open.branch.snapshot();
        let hashed = |place: WorkspacePath| snapshot.hash(&place).ok().map(|hash| (place, hash));
        open.distinct().into_iter().filter_map(hashed).collect()
    }

    fn show(&self, open: &Open) {
        let snapshot = (!open.places.is_empty()).then(|| Arc::new(open.branch.snapshot()));
        self.current.store(snapshot);
    }

    /// Every change of what is locked is whole before it can panic.
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Whether a text of so many bytes may come in place of the one at `place`.
    fn expect_room(&self, place: Option<&WorkspacePath>, bytes: u64) -> Result<(), BufferError> {
        let texts = self.branch.snapshot();
        let others = self.distinct().into_iter().filter(|it| Some(it) != place);
        let size = |it: WorkspacePath| texts.metadata(&it).map_or(0, |it| it.size);
        let bytes = others.map(size).sum::<u64>() + bytes;
        if bytes > MAX_BYTES { Err(EditError::BuffersFull { bytes, limit: MAX_BYTES }) } else { Ok(()) }
    }

    fn add(&mut self, path: &WorkspacePath, text: Bytes) -> Result<WorkspacePath, BufferError> {
        let mut branch = self.branch.clone();
        branch.write(path, text)?;
        // Now that the file is there, it tells where the links led.
        let place = branch.snapshot().resolve(path);
        let place = place.map_err(|source| EditError::Unreachable { path: path.clone(), source })?;
        self.branch = branch;
        self.places.insert(path.clone(), place.clone());
        Ok(place)
    }

    /// Two paths can lead to one place.
    fn distinct(&self) -> BTreeSet<WorkspacePath> {
        self.places.values().cloned().collect()
    }

    /// The texts of all places, on a new branch.
    fn again(&self, mut branch: Branch) -> Branch {
        let texts = self.branch.snapshot();
        for place in self.distinct() {
            // The read is of what the branch itself holds, and the write finds its way cleared, so neither
            // can fail; should the disk be unreadable there, the disk is what is left to show.
            if let Ok(text) = texts.read(&place) {
                clear_the_way(&mut branch, &place);
                let _ = branch.write(&place, text);
            }
        }
        branch
    }
}

/// Hides what came to stand in the way of a buffer since it was opened: a buffer goes before the disk.
fn clear_the_way(branch: &mut Branch, place: &WorkspacePath) {
    let mut way: Vec<_> = place.ancestors().filter(|it| !it.is_root()).collect();
    while let Some(here) = way.pop() {
        let fits = if way.is_empty() { FileKind::File } else { FileKind::Directory };
        match branch.snapshot().metadata(&here) {
            Ok(metadata) if metadata.kind == fits => {}
            Ok(_) => drop(branch.remove(&here)),
            Err(_) => return,
        }
    }
}
