//! Projects: the folders that a checker runs in, found by their markers.

use std::collections::BTreeMap;

use overlay::{View, WorkspacePath};

use crate::checker::Checker;

/// Looks for markers, each folder once.
pub(crate) struct Projects<'v> {
    view: &'v dyn View,
    roots: &'v [String],
    known: BTreeMap<(WorkspacePath, usize), bool>,
}

impl<'v> Projects<'v> {
    pub(crate) fn new(checker: &'v Checker, view: &'v dyn View) -> Self {
        Self { view, roots: &checker.roots, known: BTreeMap::new() }
    }

    /// The folder of a file's project; `None` if it is in none.
    pub(crate) fn of(&mut self, path: &WorkspacePath) -> Option<WorkspacePath> {
        let root = WorkspacePath::root();
        if self.roots.is_empty() {
            return Some(root);
        }
        let folders: Vec<_> = path.ancestors().skip(1).collect();
        let markers = 0..self.roots.len();
        let holding = |marker| folders.iter().find(|it| self.holds(it, marker)).cloned();
        markers.filter_map(holding).next()
    }

    fn holds(&mut self, folder: &WorkspacePath, marker: usize) -> bool {
        let (view, roots) = (self.view, self.roots);
        let look = || is_there(view, folder, &roots[marker]);
        *self.known.entry((folder.clone(), marker)).or_insert_with(look)
    }
}

/// A marker is the name of a file, with `#` and a key that it must have: in TOML with the tables around it. Nothing stands for the
/// workspace's root.
pub(crate) fn is_there(view: &dyn View, folder: &WorkspacePath, marker: &str) -> bool {
    if marker.is_empty() {
        return folder.is_root();
    }
    let (file, key) = marker.split_once('#').map_or((marker, None), |(file, key)| (file, Some(key)));
    let Ok(file) = folder.join(file) else { return false };
    let Some(key) = key else { return view.resolve(&file).is_ok_and(|it| view.metadata(&it).is_ok()) };
    let Some(text) = view.open(&file).ok().and_then(|it| String::from_utf8(it.to_vec()).ok()) else {
        return false;
    };
    if !file.as_str().ends_with(".toml") {
        return text
            .lines()
            .any(|it| it.strip_prefix(key).is_some_and(|it| it.trim_start().starts_with(['=', ':'])));
    }
    let Ok(table) = text.parse::<toml::Table>() else { return false };
    let (tables, last) = key.rsplit_once('.').map_or((None, key), |(tables, last)| (Some(tables), last));
    let around = tables.into_iter().flat_map(|it| it.split('.'));
    let inner = around.into_iter().try_fold(&table, |table, name| table.get(name)?.as_table());
    inner.is_some_and(|it| it.contains_key(last))
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::new(text).unwrap()
    }

    #[test]
    fn the_first_marker_that_a_folder_above_has() {
        let files = [
            ("Cargo.toml", "[workspace]\nmembers = ['a']\n"),
            ("a/Cargo.toml", "[package]\n"),
            ("other/Cargo.toml", "[workspace]\n"),
            ("go.mod", ""),
            ("x/go.mod", ""),
        ];
        let view = Memory::from_files(files).unwrap();
        let of = |checker: &str, file: &str| {
            let found = Projects::new(Checker::named(checker).unwrap(), &view).of(&path(file));
            found.map(|it| it.as_str().to_owned())
        };
        let some = |it: &str| Some(it.to_owned());
        assert_eq!(of("cargo-check", "a/src/lib.rs"), some(""));
        assert_eq!(of("cargo-check", "other/src/lib.rs"), some("other"));
        assert_eq!(of("go-vet", "x/y/z.go"), some("x"));
        assert_eq!(of("tsc", "a.ts"), None);
        assert_eq!(of("mypy", "p/a.py"), some(""));
        assert_eq!(of("shellcheck", "p/a.sh"), some(""));
        let view = Memory::from_files([("Cargo.toml", "[package]\n")]).unwrap();
        let found = Projects::new(Checker::named("cargo-check").unwrap(), &view).of(&path("src/lib.rs"));
        assert_eq!(found, Some(WorkspacePath::root()));
    }

    #[test]
    fn keys_of_files() {
        let files = [("p.toml", "[tool.mypy]\nfiles = ['src']\n"), ("mypy.ini", "[mypy]\nfiles = src\n")];
        let view = Memory::from_files(files).unwrap();
        let has = |marker: &str| is_there(&view, &WorkspacePath::root(), marker);
        assert!(
            has("p.toml#tool.mypy.files") && has("p.toml#tool") && has("mypy.ini#files") && has("p.toml")
        );
        assert!(!has("p.toml#tool.mypy.packages") && !has("mypy.ini#file") && !has("none#a") && !has("none"));
    }
}
