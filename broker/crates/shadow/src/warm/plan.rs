//! The time of each file that a view shows otherwise than the disk, or otherwise than the run before did.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use overlay::ContentHash;

use super::state::{Content, Shown, State};
use crate::{
    EntryKind, Layer,
    scan::{Kind, Tree},
};

#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Files that a view shows otherwise than the disk, if only with another time.
    pub(crate) shown: BTreeMap<PathBuf, Shown>,
    /// Whether a file has another content than in the run before.
    pub(crate) is_moved: bool,
}

impl Plan {
    /// `then` is the state that the caches are of, if there are any; `now` what the disk has.
    pub(super) fn new(then: Option<&State>, now: &State, root: &Path, layer: &Layer, start: i64) -> Self {
        let edits = edits(layer, &now.sources);
        let Some(then) = then else { return Self::of_edits(edits, start) };
        let stamp = start.max(then.newest + 1);
        let changed: BTreeSet<&PathBuf> = now.changed_since(then, root).into_iter().collect();
        let paths: BTreeSet<&PathBuf> =
            edits.keys().chain(then.shown.keys()).chain(changed.iter().copied()).collect();
        let mut plan = Self::default();
        for path in paths {
            let on_disk = now.sources.get(path).map_or(Content::Removed, |it| Content::Disk(*it));
            let is = edits.get(path).copied().unwrap_or(on_disk);
            let was = then.shown.get(path).map(|it| it.content);
            // Files that did not change on the disk have the same content as then.
            let was = was.or_else(|| (!changed.contains(path)).then_some(on_disk));
            if was.is_some_and(|it| is_same(&it, &is, changed.contains(path))) {
                plan.shown.extend(then.shown.get(path).map(|it| (path.clone(), *it)));
                continue;
            }
            plan.is_moved = true;
            let is_newer_by_itself = matches!(is, Content::Disk(it) if it.modified > then.newest);
            if !is_newer_by_itself {
                plan.shown.insert(path.clone(), Shown { content: is, modified: stamp });
            }
        }
        plan
    }

    /// Returns the plan if there are no caches and nothing is known of the disk.
    pub(super) fn without_caches(layer: &Layer, start: i64) -> Self {
        Self::of_edits(edits(layer, &Tree::new()), start)
    }

    fn of_edits(edits: BTreeMap<PathBuf, Content>, start: i64) -> Self {
        let shown = edits.into_iter().map(|(path, content)| (path, Shown { content, modified: start }));
        Self { shown: shown.collect(), is_moved: false }
    }

    /// Returns what is shown over a disk that is known by now: what lies below a path that is no folder of the disk's any more is
    /// removed with it.
    pub(super) fn shown_over(&self, disk: &Tree) -> BTreeMap<PathBuf, Shown> {
        let mut all = self.shown.clone();
        for (path, shown) in &self.shown {
            let removed = Shown { content: Content::Removed, modified: shown.modified };
            for below in below(disk, path).filter(|it| *it != path) {
                all.entry(below.clone()).or_insert(removed);
            }
        }
        all
    }

    /// Files that are the disk's but for their time.
    pub(crate) fn restamped(&self) -> impl Iterator<Item = (&Path, i64)> {
        let is_file = |it: &Shown| matches!(it.content, Content::Disk(stamp) if stamp.kind == Kind::File);
        self.shown.iter().filter(move |(_, it)| is_file(it)).map(|(path, it)| (path.as_path(), it.modified))
    }

    /// Files that were there in the run before, or are removed by a branch.
    pub(crate) fn removed(&self) -> impl Iterator<Item = (&Path, i64)> {
        let is_removed = |it: &Shown| it.content == Content::Removed;
        self.shown
            .iter()
            .filter(move |(_, it)| is_removed(it))
            .map(|(path, it)| (path.as_path(), it.modified))
    }

    pub(crate) fn time_of(&self, path: &Path) -> Option<i64> {
        self.shown.get(path).map(|it| it.modified)
    }
}

/// Whether two contents are the same; `is_changed` if the disk's is not what it was.
fn is_same(was: &Content, is: &Content, is_changed: bool) -> bool {
    match (was, is) {
        (Content::Disk(was), Content::Disk(is)) if is.kind == Kind::Folder => was.kind == Kind::Folder,
        (Content::Disk(_), Content::Disk(_)) => !is_changed && was == is,
        _ => was == is,
    }
}

/// Returns the edits that a layer makes to the disk, by path.
fn edits(layer: &Layer, disk: &Tree) -> BTreeMap<PathBuf, Content> {
    let mut edits = BTreeMap::new();
    for entry in &layer.entries {
        let path = PathBuf::from(entry.path.as_str());
        let is_other = !matches!(entry.kind, EntryKind::File { .. });
        if is_other || disk.get(&path).is_some_and(|it| it.kind == Kind::Folder) {
            edits.extend(below(disk, &path).map(|it| (it.clone(), Content::Removed)));
        }
        edits.insert(path, content(&entry.kind));
    }
    edits
}

fn below<'a>(disk: &'a Tree, path: &'a Path) -> impl Iterator<Item = &'a PathBuf> {
    disk.range(path.to_owned()..).map(|(it, _)| it).take_while(move |it| it.starts_with(path))
}

pub(crate) fn content(kind: &EntryKind) -> Content {
    match kind {
        EntryKind::Removed => Content::Removed,
        EntryKind::Directory => Content::Folder,
        EntryKind::Link(to) => Content::Link(*ContentHash::of(to.as_bytes()).as_bytes()),
        EntryKind::File { bytes, executable } => {
            Content::File { hash: *ContentHash::of(bytes).as_bytes(), executable: *executable }
        }
    }
}

/// Forgets all that lies below a path that a run removed, or replaced by something else: it was removed with it.
pub(super) fn forget_below(state: &mut State, written: &super::Written) {
    let gone: Vec<_> = written
        .iter()
        .filter(|(_, it)| it.content == Content::Removed || it.content == Content::Folder)
        .flat_map(|(path, it)| below(&state.sources, path).skip(1).map(|below| (below.clone(), it.modified)))
        .collect();
    let removed = |modified| Shown { content: Content::Removed, modified };
    state.shown.extend(gone.into_iter().map(|(path, modified)| (path, removed(modified))));
}
