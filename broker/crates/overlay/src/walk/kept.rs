//! A whole walk that is kept, and brought up to date where something changed.
//!
//! Each directory remembers what it looked at besides its own listing: ignore files, and where links lead. It is
//! visited again where a change touches any of that; what lies below it is walked anew only if its rules are others
//! now. Walks of some paths alone are not kept.

mod folder;
mod recorder;

use std::{collections::BTreeSet, ops::Bound, sync::Arc};

use folder::{Folder, Item, Visit};
use parking_lot::Mutex;
use rpds::RedBlackTreeMapSync;

use super::{Rules, WalkOptions};
use crate::{ChangeLog, FileKind, Moment, Skipped, Tracked, View, WorkspacePath};

/// The files that a [`walk`](super::walk) of everything finds.
#[derive(Clone)]
pub struct KeptWalk {
    options: Arc<WalkOptions>,
    root: Arc<Folder>,
    lookers: Lookers,
}

/// Directories that looked at a path, by that path, and whether they saw a directory, which stays one
/// whatever changes in it.
type Lookers = RedBlackTreeMapSync<WorkspacePath, (bool, BTreeSet<WorkspacePath>)>;

/// Returns the walk of all of `view`, as [`walk`](super::walk) of its root finds it: made from the kept walk of the
/// folder beneath, as far as that is known to be valid. `None` if nothing can be kept of it.
pub fn kept_walk(view: &dyn View, options: &WalkOptions) -> Option<KeptWalk> {
    let tracked = view.tracked()?;
    let (_, of_folder) = folder_walk(&tracked, options)?;
    Some(of_folder.updated(view, &tracked.edits, &*tracked.log))
}

/// Returns the walk of the folder without the view's edits, and the moment up to which it includes all changes. Walks
/// of several views over one folder are [`updated`](KeptWalk::updated) from it, so that its changes are asked for
/// once.
pub fn folder_walk(tracked: &Tracked, options: &WalkOptions) -> Option<(Moment, KeptWalk)> {
    tracked.log.extensions().get::<WalkCache>().current(tracked, options)
}

impl KeptWalk {
    /// Visits everything; `None` if there is no directory.
    fn new(view: &dyn View, options: &WalkOptions, log: &dyn ChangeLog) -> Option<Self> {
        let root = WorkspacePath::root();
        let is_directory = view.metadata(&root).is_ok_and(|it| it.kind == FileKind::Directory);
        let mut update = Update::new(view, options, log, Lookers::new_sync());
        let folder = is_directory.then(|| update.walk(&root, &Rules::new(options)))?;
        Some(Self { options: Arc::new(options.clone()), root: folder, lookers: update.lookers })
    }

    /// Yields the files, sorted by path, each once.
    pub fn files(&self) -> impl Iterator<Item = &WorkspacePath> {
        let mut pending = vec![self.root.items.iter()];
        std::iter::from_fn(move || {
            loop {
                match pending.last_mut()?.next() {
                    None => _ = pending.pop(),
                    Some(Item::File(path)) => return Some(path),
                    Some(Item::Folder(_, folder)) => pending.push(folder.items.iter()),
                }
            }
        })
    }

    /// The number of files.
    pub fn len(&self) -> usize {
        self.root.files
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn skipped(&self) -> &Skipped {
        &self.root.skipped
    }

    pub fn has(&self, path: &WorkspacePath) -> bool {
        let (folder, rest) = self.nearest(path);
        rest.len() == 1 && folder.has_file(path)
    }

    /// The files of this walk at and below `path`.
    pub fn files_at(&self, path: &WorkspacePath) -> Vec<WorkspacePath> {
        let (folder, rest) = self.nearest(path);
        if rest.is_empty() {
            return Self { root: Arc::clone(folder), ..self.clone() }.files().cloned().collect();
        }
        folder.has_file(path).then(|| path.clone()).into_iter().collect()
    }

    /// The files that only one of two walks finds.
    pub fn difference(&self, other: &Self) -> BTreeSet<WorkspacePath> {
        let mut found = BTreeSet::new();
        Folder::compare(&self.root, &other.root, &mut found);
        found
    }

    /// Returns the walk of a view that may differ at `changed` only.
    #[must_use]
    pub fn updated(&self, view: &dyn View, changed: &[WorkspacePath], log: &dyn ChangeLog) -> Self {
        if changed.is_empty() {
            return self.clone();
        }
        self.renewed(view, changed, log, false)
    }

    /// `loose` directories are looked at in any case.
    fn renewed(&self, view: &dyn View, changed: &[WorkspacePath], log: &dyn ChangeLog, loose: bool) -> Self {
        let mut update = Update::new(view, &self.options, log, self.lookers.clone());
        update.changed = changed.iter().cloned().collect();
        update.dirty = changed.iter().flat_map(|it| self.visited_for(it, view)).collect();
        update.looks_at_loose = loose;
        if update.dirty.is_empty() && !loose {
            return self.clone();
        }
        let root = WorkspacePath::root();
        let folder = if update.changed.contains(&root) {
            update.forget(&root, &self.root);
            update.walk(&root, &self.root.above)
        } else {
            update.renew(&root, &self.root)
        };
        Self { options: Arc::clone(&self.options), root: folder, lookers: update.lookers }
    }

    /// The directories to be visited again for a change at `path`: the one that lists it, or would, and those that
    /// looked there.
    fn visited_for(&self, path: &WorkspacePath, view: &dyn View) -> BTreeSet<WorkspacePath> {
        let above = path.parent().unwrap_or_else(WorkspacePath::root);
        let (folder, rest) = self.nearest(&above);
        // A file that stays one is listed as before, whatever it has.
        let is_file = || view.metadata(path).is_ok_and(|it| it.kind == FileKind::File);
        let is_listed_alike = rest.is_empty() && folder.has_file(path) && is_file();
        let listing = above.ancestors().nth(rest.len()).filter(|_| !is_listed_alike);
        let from = (Bound::Included(path.as_str()), Bound::Unbounded);
        let below = self.lookers.range::<str, _>(from);
        // `a-b` and `a/b` both begin with `a`: the first is passed over, not the end.
        let below = below.take_while(|(it, _)| it.as_str().starts_with(path.as_str()));
        let below = below.filter(|(it, _)| it.starts_with(path)).map(|(_, lookers)| lookers);
        let above = path.ancestors().skip(1).filter_map(|it| self.lookers.get(&it));
        let above = above.filter(|(is_directory, _)| !is_directory);
        listing.into_iter().chain(below.chain(above).flat_map(|(_, it)| it.iter().cloned())).collect()
    }

    /// The deepest directory on the way to `path`, and the names from there on.
    fn nearest<'p>(&self, path: &'p WorkspacePath) -> (&Arc<Folder>, Vec<&'p str>) {
        let mut names: Vec<_> = path.components().collect();
        let (mut folder, mut at, mut depth) = (&self.root, WorkspacePath::root(), 0);
        while let Some(name) = names.get(depth)
            && let Some(next) = folder.folder(&at.child(name))
        {
            (folder, at, depth) = (next, at.child(name), depth + 1);
        }
        (folder, names.split_off(depth))
    }
}

/// A walk of what changed.
struct Update<'a> {
    view: &'a dyn View,
    log: &'a dyn ChangeLog,
    options: &'a WalkOptions,
    changed: BTreeSet<WorkspacePath>,
    /// Directories to be visited again.
    dirty: BTreeSet<WorkspacePath>,
    looks_at_loose: bool,
    lookers: Lookers,
}

impl<'a> Update<'a> {
    fn new(view: &'a dyn View, options: &'a WalkOptions, log: &'a dyn ChangeLog, lookers: Lookers) -> Self {
        let (changed, dirty) = (BTreeSet::new(), BTreeSet::new());
        Self { view, log, options, changed, dirty, looks_at_loose: false, lookers }
    }

    /// Visits a directory and all below it.
    fn walk(&mut self, path: &WorkspacePath, above: &Rules) -> Arc<Folder> {
        self.visit(path, above, None)
    }

    fn renew(&mut self, path: &WorkspacePath, folder: &Arc<Folder>) -> Arc<Folder> {
        if self.dirty.contains(path)
            || self.looks_at_loose && folder.may_have_changed(path, self.view, self.log)
        {
            self.forget_looks(path, folder);
            return self.visit(path, &folder.above, Some(folder));
        }
        let is_above = self.is_above_dirty(path) || self.looks_at_loose && folder.has_loose;
        if !is_above {
            return Arc::clone(folder);
        }
        let renewed = folder.items.iter().map(|item| match item {
            Item::File(_) => item.clone(),
            Item::Folder(path, folder) => Item::Folder(path.clone(), self.renew(path, folder)),
        });
        let items: Box<[_]> = renewed.collect();
        // A comparison of walks passes over what they share.
        let is_same = folder.items.iter().zip(&items).all(|(then, now)| then.is_shared_with(now));
        if is_same { Arc::clone(folder) } else { Arc::new(folder.with_items(items)) }
    }

    /// Visits a directory, and reuses the unchanged parts of `old`.
    fn visit(&mut self, path: &WorkspacePath, above: &Rules, old: Option<&Arc<Folder>>) -> Arc<Folder> {
        let visit = Visit::of(self.view, self.options, path, above);
        visit.looks().for_each(|(at, is_directory)| self.add_looker(at, is_directory, path));
        let has_same_rules = old.is_some_and(|it| it.rules.is_same(&visit.rules));
        let is_kept = |path: &WorkspacePath, changed: &BTreeSet<_>| has_same_rules && !changed.contains(path);
        for (path, folder) in old.iter().flat_map(|it| it.folders()) {
            if !is_kept(path, &self.changed) || !visit.has_folder(path) {
                self.forget(path, folder);
            }
        }
        let mut items = Vec::new();
        for step in visit.steps() {
            items.push(match step {
                Item::File(path) => Item::File(path),
                Item::Folder(path, ()) => {
                    let known = old.and_then(|it| it.folder(&path));
                    let folder = match known.filter(|_| is_kept(&path, &self.changed)) {
                        Some(known) => self.renew(&path, known),
                        None => self.walk(&path, &visit.rules),
                    };
                    Item::Folder(path, folder)
                }
            });
        }
        Arc::new(visit.into_folder(path, items.into(), self.log))
    }

    fn is_above_dirty(&self, path: &WorkspacePath) -> bool {
        let from = (Bound::Excluded(path.as_str()), Bound::Unbounded);
        let mut later = self.dirty.range::<str, _>(from);
        later.by_ref().take_while(|it| it.as_str().starts_with(path.as_str())).any(|it| it.starts_with(path))
    }

    fn add_looker(&mut self, at: &WorkspacePath, is_directory: bool, folder: &WorkspacePath) {
        let (was_directory, mut folders) =
            self.lookers.get(at).cloned().unwrap_or_else(|| (true, BTreeSet::new()));
        folders.insert(folder.clone());
        self.lookers.insert_mut(at.clone(), (was_directory && is_directory, folders));
    }

    /// Removes the looks of a directory and of all below it.
    fn forget(&mut self, path: &WorkspacePath, folder: &Folder) {
        self.forget_looks(path, folder);
        folder.folders().for_each(|(path, folder)| self.forget(path, folder));
    }

    fn forget_looks(&mut self, path: &WorkspacePath, folder: &Folder) {
        for (read, _) in &folder.looks {
            let Some((is_directory, mut folders)) = self.lookers.get(read.path()).cloned() else { continue };
            folders.remove(path);
            if folders.is_empty() {
                self.lookers.remove_mut(read.path());
            } else {
                self.lookers.insert_mut(read.path().clone(), (is_directory, folders));
            }
        }
    }
}

/// The last walks of a folder, by their options.
#[derive(Default)]
struct WalkCache(Mutex<Vec<(Moment, KeptWalk)>>);

/// Number of walks kept. All callers at one time ask with the same options, but for tests.
const KEPT: usize = 4;

impl WalkCache {
    fn current(&self, tracked: &Tracked, options: &WalkOptions) -> Option<(Moment, KeptWalk)> {
        let log = &*tracked.log;
        let moment = log.sync()?;
        let known = self.find(options).and_then(|(then, walk)| Some((walk, log.changed_since(then)?)));
        let walk = match known {
            Some((walk, changed)) if changed.is_empty() && !walk.root.has_loose => walk,
            Some((walk, changed)) => walk.renewed(&*tracked.folder, &changed, log, true),
            None => KeptWalk::new(&*tracked.folder, options, log)?,
        };
        self.keep(moment, &walk);
        Some((moment, walk))
    }

    fn find(&self, options: &WalkOptions) -> Option<(Moment, KeptWalk)> {
        let kept = self.0.lock();
        kept.iter().find(|(_, it)| *it.options == *options).cloned()
    }

    /// Keeps the walk, unless another caller has kept a later one.
    fn keep(&self, moment: Moment, walk: &KeptWalk) {
        let mut kept = self.0.lock();
        if kept.iter().any(|(then, it)| it.options == walk.options && *then > moment) {
            return;
        }
        kept.retain(|(_, it)| it.options != walk.options);
        kept.insert(0, (moment, walk.clone()));
        kept.truncate(KEPT);
    }
}

#[cfg(test)]
mod tests;
