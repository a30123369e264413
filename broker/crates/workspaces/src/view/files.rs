//! Files of a view that a check is about, and those that they are compared with or used by.

use std::{collections::BTreeSet, sync::Arc};

use check_engine::{
    Dependents, Files, Wanted, collect, is_file,
    pipeline::{Comparison, Scope, is_there},
    with_file_settings,
};
use overlay::{Skipped, WalkOptions, WorkspacePath};

use super::{LocalView, ViewChanges, ViewFiles};
use crate::{ask::Ask, options::walk_options};

impl LocalView {
    /// Options for finding files; if every path is a file, nothing has to be read for them.
    pub(crate) fn walk_options(&self, paths: &[String]) -> WalkOptions {
        let is_file = |it: &String| WorkspacePath::new(it).is_ok_and(|it| is_file(&*self.view, &it));
        let are_files = !paths.is_empty() && paths.iter().all(is_file);
        if are_files { WalkOptions::default() } else { walk_options() }
    }

    pub(crate) fn files(&self, scope: &Scope) -> Files {
        match &self.files {
            ViewFiles::Named(path) => Files::of_named([path.clone()]),
            ViewFiles::Requested if scope.paths.is_empty() => self.below(&[WorkspacePath::root()], scope),
            ViewFiles::Requested => self.below(&scope.paths, scope),
            ViewFiles::Changed(changes) => {
                // Files that only the older state has are gone, which is no error.
                let is_gone = |it: &&WorkspacePath| changes.before.is_some() && !is_there(&*self.view, it);
                let there: Vec<_> = scope.paths.iter().filter(|it| !is_gone(it)).cloned().collect();
                changes.only(self.below(&there, scope))
            }
        }
    }

    fn below(&self, paths: &[WorkspacePath], scope: &Scope) -> Files {
        match scope.configured {
            true => collect(&*self.view, paths, &with_file_settings(&scope.walk, &*self.view)),
            false => collect(&*self.view, paths, &scope.walk),
        }
    }

    /// The files that are asked about because they use `files`, or what is gone.
    pub(crate) fn dependents(&self, scope: &Scope, files: &Files) -> Dependents {
        let (within, gone) = match &self.files {
            ViewFiles::Changed(changes) => (scope.paths.clone(), changes.gone.iter()),
            ViewFiles::Requested | ViewFiles::Named(_) => (Vec::new(), Default::default()),
        };
        let gone = gone.filter(|it| within.iter().any(|above| it.starts_with(above))).cloned().collect();
        Dependents::new(Arc::clone(&self.view), Wanted::Files(files.clone()), gone, within)
    }

    /// The comparison with the older state, if there is one.
    pub(crate) fn comparison<T>(&self, ask: &Ask<T>) -> Option<Comparison> {
        let ViewFiles::Changed(changes) = &self.files else { return None };
        let before = Arc::clone(changes.before.as_ref()?);
        let only: BTreeSet<_> = changes.paths.union(&changes.gone).cloned().collect();
        let differing = only.iter().cloned().collect();
        let scope = Scope { only, ..ask.scope.clone() };
        Some(Comparison::of_views(before, &*self.view, differing, scope))
    }
}

impl ViewChanges {
    /// Keeps only the files that changed.
    fn only(&self, files: Files) -> Files {
        let Files { mut units, skipped, .. } = files;
        units.retain(|it| self.paths.contains(&it.path));
        // Sockets and links that lead nowhere are no news.
        let Skipped { unreadable, .. } = skipped;
        let skipped = Skipped { unreadable, not_utf8: self.not_utf8, ..Skipped::default() };
        Files { units, skipped, ..Files::default() }
    }
}

#[cfg(test)]
mod tests {
    use lint::Cancel;
    use overlay::Memory;

    use super::*;

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::new(text).unwrap()
    }

    /// Compares the files that are asked about with `want`.
    #[track_caller]
    fn check(files: ViewFiles, paths: &[&str], want: &[&str]) {
        let view = LocalView {
            root: std::env::temp_dir(),
            view: Arc::new(Memory::from_files(["a", "b", "d/c"].map(|it| (it, ""))).unwrap()),
            files,
            finds_unknown_rules: false,
            cancel: Cancel::default(),
            progress: Arc::new(|_, _| ()),
        };
        let paths: Vec<_> = paths.iter().map(|it| path(it)).collect();
        let excludes = vec!["b".to_owned()];
        let walk = WalkOptions { excludes, force_excludes: true, ..WalkOptions::default() };
        let scope = Scope { paths, only: BTreeSet::new(), walk, configured: true };
        let found = view.files(&scope);
        assert_eq!(found.units.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), want);
    }

    #[test]
    fn files_are_found_as_the_command_says() {
        let changed = |paths: &[&str], before: bool| {
            let before = before.then(|| Arc::new(Memory::default()) as _);
            let paths = paths.iter().map(|it| path(it)).collect();
            ViewFiles::Changed(ViewChanges { paths, before, ..ViewChanges::default() })
        };
        check(ViewFiles::Requested, &[], &["a", "d/c"]);
        check(ViewFiles::Requested, &[""], &["a", "d/c"]);
        check(ViewFiles::Requested, &["b", "d"], &["d/c"]);
        check(ViewFiles::Named(path("b")), &["b"], &["b"]);
        check(changed(&["d/c", "none"], false), &[""], &["d/c"]);
        check(changed(&["a"], false), &[], &[]);
        check(changed(&["a"], true), &["a", "none"], &["a"]);
    }
}
