//! Caches outside of the workspace that runs keep, as Go's: they name what is in them by what it was made of, so that it fits any
//! branch, whatever changed on the disk.
//!
//! Files that runs of one workspace wrote to such a cache are one layer over the user's own, which is never written.

#![expect(clippy::disallowed_methods, reason = "Broker's own cache folder")]

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use serde::{Deserialize, Serialize};

use crate::{
    Storage,
    scan::as_bytes,
    storage::{Lock, LockedFolder, Shelf, boot, name_of, replace},
};

/// Raised when the form or meaning of [`State`] changes.
const VERSION: u32 = 1;

/// Layers in use by one shadow folder.
pub(crate) struct Stores {
    shelf: Shelf,
    name: String,
    shown: Vec<Store>,
    published: AtomicBool,
}

struct Store {
    path: PathBuf,
    layer: Option<LockedFolder>,
}

/// Record of what is kept of a workspace's runs: the names of layers, by the places that they lie over.
#[derive(Default, Serialize, Deserialize)]
struct State {
    version: u32,
    boot: String,
    #[serde(with = "as_bytes")]
    layers: BTreeMap<PathBuf, String>,
}

/// A layer that is to be filled.
pub(crate) struct NewLayer {
    kept: LockedFolder,
    name: String,
}

impl Stores {
    /// Opens what runs in the workspace at `root` kept of these caches. Caches that lie in it, or around it, are its own files.
    pub(crate) fn open(storage: &Storage, root: &Path, paths: &[PathBuf]) -> io::Result<Self> {
        let (shelf, name) = (storage.of_caches()?, format!("store-{}", name_of(root)));
        let state = State::read(&shelf.file(&name));
        let layer = |path: &Path| shelf.share(state.layers.get(path)?).ok().flatten();
        let is_outside = |it: &&PathBuf| !it.starts_with(root) && !root.starts_with(it);
        let store = |path: &PathBuf| Store { path: path.clone(), layer: layer(path) };
        let shown = paths.iter().filter(is_outside).map(store).collect();
        Ok(Self { shown, shelf, name, published: AtomicBool::new(false) })
    }

    /// The places of the caches, each with the layer that lies over it.
    pub(crate) fn layers(&self) -> Vec<(PathBuf, Option<PathBuf>)> {
        let layer = |it: &Store| it.layer.as_ref().map(|it| it.folder.clone());
        self.shown.iter().map(|it| (it.path.clone(), layer(it))).collect()
    }

    /// Runs that end at one time add what they wrote one after the other.
    pub(crate) fn turn(&self) -> io::Result<Option<Lock>> {
        self.shelf.lock(&format!("{}.turn", self.name))
    }

    pub(crate) fn new_layer(&self) -> io::Result<NewLayer> {
        let (kept, name) = self.shelf.take_new(&self.name)?;
        Ok(NewLayer { kept, name })
    }

    /// The newest layer over this one of the caches, which another run may have made since.
    pub(crate) fn newest(&self, number: usize) -> Option<LockedFolder> {
        let state = State::read(&self.shelf.file(&self.name));
        self.shelf.share(state.layers.get(&self.shown.get(number)?.path)?).ok().flatten()
    }

    /// Makes a layer what the next run finds over this one of the caches. To be called in the same turn as `newest`.
    pub(crate) fn publish(&self, number: usize, layer: NewLayer, size: u64) -> io::Result<()> {
        let file = self.shelf.file(&self.name);
        let Some(store) = self.shown.get(number) else { return Ok(()) };
        layer.kept.record_size(size)?;
        let mut state = State { version: VERSION, boot: boot(), ..State::read(&file) };
        state.layers.insert(store.path.clone(), layer.name.clone());
        replace(&file, &postcard::to_stdvec(&state).map_err(io::Error::other)?)?;
        self.published.store(true, Relaxed);
        drop(layer);
        self.shelf.evict()
    }

    /// Removes layers that no state names any more and no folder shows.
    fn remove_others(&self) -> io::Result<()> {
        let _turn = self.turn()?;
        let state = State::read(&self.shelf.file(&self.name));
        let kept: Vec<_> = state.layers.values().map(String::as_str).collect();
        self.shelf.remove_others(&format!("{}-", self.name), &kept)
    }
}

impl State {
    /// Reads the state; returns an empty one if none was kept since the start of the system.
    fn read(file: &Path) -> Self {
        let state = fs::read(file).ok().and_then(|it| postcard::from_bytes::<Self>(&it).ok());
        state.filter(|it| it.version == VERSION && it.boot == boot()).unwrap_or_default()
    }
}

impl NewLayer {
    pub(crate) fn folder(&self) -> &Path {
        &self.kept.folder
    }

    pub(crate) fn discard(self) {
        // A layer that cannot be removed is evicted later.
        let _ = self.kept.remove();
    }
}

impl Drop for Stores {
    /// The folder that showed the layers is gone by then.
    fn drop(&mut self) {
        self.shown.clear();
        if self.published.load(Relaxed) {
            // Layers that are left are removed by the next run.
            let _ = self.remove_others();
        }
    }
}
