//! Trees and edits, and what differs between two trees.

use std::{collections::BTreeSet, sync::Arc};

use overlay::{Branch, FileKind, Memory, View, WorkspacePath};
use proptest::prelude::*;

pub(crate) fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

/// Every path of up to three names, the root first.
pub(crate) fn universe() -> Vec<WorkspacePath> {
    let mut paths = vec![WorkspacePath::root()];
    let mut from = 0;
    for _ in 0..3 {
        let longest = paths[from..].to_vec();
        from = paths.len();
        // The names sort around `/`, as `a-`, `a/` and `a0` do.
        paths.extend(longest.iter().flat_map(|path| ["a", "a-", "b"].map(|name| path.child(name))));
    }
    paths
}

pub(crate) fn base() -> Arc<dyn View> {
    let files = [("a", "\x03Aq"), ("b/a", "xyz"), ("b/b/a", "\x11\x21\x31"), ("a-/b", "0Zz"), ("b/a-", "kl")];
    let mut memory = Memory::from_files(files).unwrap();
    memory.insert_symlink(&path("a-/a"), "../b/a");
    Arc::new(memory)
}

#[derive(Debug, Clone)]
pub(crate) enum Edit {
    Write(WorkspacePath, Vec<u8>),
    CreateDir(WorkspacePath),
    Remove(WorkspacePath),
    Rename(WorkspacePath, WorkspacePath),
    Symlink(WorkspacePath, &'static str),
    SetExecutable(WorkspacePath, bool),
}

pub(crate) fn edits() -> impl Strategy<Value = Edit> {
    let paths = || prop::sample::select(universe());
    let target = prop::sample::select(vec!["a", "b", "../b", "a-/b", "b/b", "../.."]);
    prop_oneof![
        5 => (paths(), prop::collection::vec(any::<u8>(), 0..4)).prop_map(|(path, text)| Edit::Write(path, text)),
        1 => paths().prop_map(Edit::CreateDir),
        2 => paths().prop_map(Edit::Remove),
        3 => (paths(), paths()).prop_map(|(from, to)| Edit::Rename(from, to)),
        1 => (paths(), target).prop_map(|(path, target)| Edit::Symlink(path, target)),
        1 => (paths(), any::<bool>()).prop_map(|(path, value)| Edit::SetExecutable(path, value)),
    ]
}

/// Applies an edit; a refused one is left out.
pub(crate) fn apply(branch: &mut Branch, edit: &Edit) {
    let edited = match edit {
        Edit::Write(path, text) => branch.write(path, text.clone().into()),
        Edit::CreateDir(path) => branch.create_dir(path),
        Edit::Remove(path) => branch.remove(path),
        Edit::Rename(from, to) => branch.rename(from, to),
        Edit::Symlink(path, target) => branch.symlink(path, target),
        Edit::SetExecutable(path, value) => branch.set_executable(path, *value),
    };
    _ = edited;
}

/// Returns the changed paths, as few as may be named.
pub(crate) fn changed(parent: &dyn View, child: &dyn View) -> Vec<WorkspacePath> {
    let mut paths = BTreeSet::new();
    collect(parent, &WorkspacePath::root(), &mut paths);
    collect(child, &WorkspacePath::root(), &mut paths);
    let mut changed: Vec<WorkspacePath> = Vec::new();
    for path in paths {
        let (before, after) = (look(parent, &path), look(child, &path));
        let is_said = changed.iter().any(|it| path.starts_with(it));
        let follows = before.is_none() && is_filled(child, &path);
        if before != after && !is_said && !follows {
            changed.push(path);
        }
    }
    changed
}

fn collect(view: &dyn View, path: &WorkspacePath, paths: &mut BTreeSet<WorkspacePath>) {
    for entry in view.list(path).unwrap().entries {
        let child = path.child(&entry.name);
        if entry.kind == FileKind::Directory {
            collect(view, &child, paths);
        }
        paths.insert(child);
    }
}

fn look(view: &dyn View, path: &WorkspacePath) -> Option<String> {
    let metadata = view.metadata(path).ok()?;
    Some(format!("{metadata:?} {:?} {:?}", view.read(path).ok(), view.read_link(path).ok()))
}

fn is_filled(view: &dyn View, path: &WorkspacePath) -> bool {
    view.list(path).is_ok_and(|it| !it.entries.is_empty())
}
