//! Projects: the folders that a checker runs in, found by their markers.

use std::collections::BTreeMap;

use external_tools::is_there;
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
}
