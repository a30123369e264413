//! Warm caches: what runs wrote to caches of tools, kept by Broker as read-only layers between the workspace and a branch.
//!
//! The layers and the state that they are of go together: what every source file was when they were written, by its stamp on the disk
//! or by the content that a branch showed, and its time. The next run is as if all of it took place in one folder, one run after
//! the other: a file with the content of then has the time of then, and one with another content is newer than
//! everything in the layers. So each tool finds out by itself what it may use, as it does after a `git checkout`.
//!
//! The user's own caches lie below. Where they have changed since, the layers over them are dropped.

mod plan;
mod state;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use self::state::{Group, State};
pub(crate) use self::{
    plan::Plan,
    state::{Content, Origin, Shown},
};
use crate::{
    Layer, Storage, caches,
    scan::{SECOND, Scan, now},
    storage::{Lock, LockedFolder, Shelf, name_of},
};

/// Files that are caches are in a group of this name, which no folder has.
pub(crate) const FILES: &str = "/files";

/// Layers in use by one shadow folder, and what is to be known to keep new ones.
pub(crate) struct Warm {
    shelf: Shelf,
    name: String,
    root: PathBuf,
    /// Layers that are shown, by the name of the caches in them.
    used: BTreeMap<String, LockedFolder>,
    ground: Ground,
    pub(crate) plan: Plan,
    published: AtomicBool,
}

/// State of the workspace before programs run, as far as it is known.
enum Ground {
    /// All, since layers are shown that must fit.
    Known(State),
    /// Nothing, as no layer is shown: setting up costs nothing by the size of the workspace. It is looked at when something is kept, by what
    /// was changed since the first program began, at this time.
    Unknown(OnceLock<i64>),
}

/// A group of caches after a run.
pub(crate) struct NewGroup {
    kept: LockedFolder,
    folder: String,
    name: String,
}

/// Changes of sources by a run, by path.
pub(crate) type Written = BTreeMap<PathBuf, Shown>;

impl Warm {
    /// Opens the caches that may be used for a view that shows `layer` over the workspace at `root`.
    pub(crate) fn open(storage: &Storage, root: &Path, layer: &Layer) -> io::Result<Self> {
        let (shelf, name) = (storage.of_caches()?, name_of(root));
        let start = now();
        let before = State::read(&shelf.file(&name));
        let used = before.as_ref().map(|it| held(&shelf, it)).unwrap_or_default();
        let before = before.filter(|_| !used.is_empty());
        let (ground, plan) = (Ground::Unknown(OnceLock::new()), Plan::without_caches(layer, start));
        let root = root.to_owned();
        let mut warm = Self { shelf, name, root, used, ground, plan, published: AtomicBool::new(false) };
        if before.is_some() || !warm.shelf.has_the_clock_of(&warm.root) {
            warm.look(before, layer, start)?;
        }
        Ok(warm)
    }

    /// Looks at the workspace, and leaves out the layers of `before` that are not of it.
    fn look(&mut self, before: Option<State>, layer: &Layer, start: i64) -> io::Result<()> {
        let mut state = State::new(&self.root, Scan::of(&self.root)?, start)?;
        let is_same = |name: &String, it: &Group| it.disk == state.disk.get(name).copied();
        let then = before.and_then(|mut it| {
            it.groups.retain(|name, group| self.used.contains_key(name) && is_same(name, group));
            (!it.groups.is_empty()).then_some(it)
        });
        self.used.retain(|name, _| then.as_ref().is_some_and(|it| it.groups.contains_key(name)));
        self.plan = Plan::new(then.as_ref(), &state, &self.root, layer, start);
        if let Some(then) = then {
            self.take_over(&mut state, then, start);
        }
        state.shown = self.plan.shown.clone();
        self.ground = Ground::Known(state);
        Ok(())
    }

    fn take_over(&mut self, state: &mut State, then: State, start: i64) {
        let is_same_second = start / SECOND <= then.newest / SECOND;
        // Two contents within one second may seem the same to these.
        let is_doubtful = |name: &str| is_same_second && caches::is_by_seconds(name);
        let is_moved = self.plan.is_moved;
        self.used.retain(|name, _| !(is_moved && is_doubtful(name)));
        state.groups = then.groups;
        state.groups.retain(|name, _| self.used.contains_key(name));
        state.newest = then.newest;
    }

    /// To be called before a program runs.
    pub(crate) fn begin_run(&self) {
        if let Ground::Unknown(start) = &self.ground {
            // Without a clock, all may have been changed since.
            start.get_or_init(|| self.shelf.clock().unwrap_or(i64::MIN));
        }
    }

    /// Returns the state of the workspace from which programs wrote caches.
    pub(crate) fn origin(&self) -> io::Result<Origin> {
        match &self.ground {
            Ground::Known(state) => Ok(Origin::known(state.clone())),
            Ground::Unknown(start) => {
                let mut origin = Origin::in_hindsight(&self.root, start.get().copied().unwrap_or(i64::MIN))?;
                origin.state.shown = self.plan.shown_over(&origin.state.sources);
                Ok(origin)
            }
        }
    }

    /// Folders with the layers that are shown.
    pub(crate) fn layers(&self) -> Vec<PathBuf> {
        self.used.values().map(|it| it.folder.clone()).collect()
    }

    /// The layer with caches of this name, if one is shown.
    pub(crate) fn layer(&self, name: &str) -> Option<&Path> {
        self.used.get(name).map(|it| it.folder.as_path())
    }

    /// An empty folder for caches of this name.
    pub(crate) fn new_group(&self, name: &str) -> io::Result<NewGroup> {
        let (kept, folder) = self.shelf.take_new(&self.name)?;
        Ok(NewGroup { kept, folder, name: name.to_owned() })
    }

    /// Makes these groups what the next run finds, all or none. `written` is what the run wrote to sources, which is gone with it.
    pub(crate) fn publish(
        &self,
        origin: Origin,
        groups: Vec<(NewGroup, u64)>,
        written: Written,
        newest: i64,
    ) -> io::Result<()> {
        let mut state = origin.state;
        for (group, size) in &groups {
            group.kept.record_size(*size)?;
            let disk = state.disk.get(&group.name).copied();
            state.groups.insert(group.name.clone(), Group { folder: group.folder.clone(), disk });
        }
        plan::forget_below(&mut state, &written);
        state.shown.extend(written);
        state.newest = newest.max(state.newest).max(now());
        let _turn = self.turn()?;
        state.write(&self.shelf.file(&self.name))?;
        self.published.store(true, Relaxed);
        drop(groups);
        self.shelf.evict()
    }

    /// Publishing and removing go one after the other.
    fn turn(&self) -> io::Result<Option<Lock>> {
        self.shelf.lock(&format!("{}.turn", self.name))
    }

    /// Removes layers that no state names any more and no folder shows.
    fn remove_others(&self) -> io::Result<()> {
        let _turn = self.turn()?;
        let state = State::read(&self.shelf.file(&self.name));
        let groups = state.iter().flat_map(|it| it.groups.values());
        let kept: Vec<_> = groups.map(|it| it.folder.as_str()).collect();
        self.shelf.remove_others(&format!("{}-", self.name), &kept)
    }
}

impl Drop for Warm {
    /// The folder that showed the layers is gone by then.
    fn drop(&mut self) {
        self.used.clear();
        if self.published.load(Relaxed) {
            // Layers that are left are removed by the next run.
            let _ = self.remove_others();
        }
    }
}

impl NewGroup {
    pub(crate) fn folder(&self) -> &Path {
        &self.kept.folder
    }

    pub(crate) fn discard(self) {
        // A layer that cannot be removed is evicted later.
        let _ = self.kept.remove();
    }
}

/// Layers that are still there, each locked against removal.
fn held(shelf: &Shelf, before: &State) -> BTreeMap<String, LockedFolder> {
    let kept = |group: &Group| shelf.share(&group.folder).ok().flatten();
    before.groups.iter().filter_map(|(name, group)| Some((name.clone(), kept(group)?))).collect()
}
