//! Which files may have other findings when some files change: those that import them, directly or through
//! others. The nearest come first.
//!
//! A plain look for import statements in the view, for Python, JavaScript and TypeScript, Go, Rust, and C; files
//! of other languages stand alone. No server is asked, since what it takes to ask for the uses of all that a file
//! defines is more than to check all files. Where a statement may mean several files, it means all of them:
//! rather a file too many is checked. It takes about a tenth of a millisecond a file, and nothing is remembered.
//!
//! Not seen is what is imported by a name that is computed, what is global without an import (declarations of
//! TypeScript, what a build system adds), and aliases of paths that do not end like the file they stand for.

mod c;
mod go;
mod python;
mod rust;
mod script;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use overlay::{View, WalkOptions, WorkspacePath, walk};

use crate::Profile;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dependents {
    /// Without the changed files themselves. The nearest first.
    pub paths: Vec<WorkspacePath>,
    /// Why there may be more.
    pub partial: Option<String>,
}

/// Of a workspace with more files than that, only so many are looked at.
const LOOKED_AT: usize = 20_000;

/// What comes later in a file is not looked at.
const READ: usize = 1 << 20;

/// At most `limit` of them, of the files that the profile's server checks. A changed file need not be there.
pub fn dependents(profile: &Profile, view: &dyn View, changed: &[WorkspacePath], limit: usize) -> Dependents {
    let (files, is_all) = Files::of(profile, view, changed);
    let importers = importers(view, &files);
    let mut found = Dependents::default();
    let mut seen: BTreeSet<_> = changed.iter().collect();
    let mut todo: VecDeque<_> = changed.iter().collect();
    while let Some(path) = todo.pop_front() {
        for importer in importers.get(path).into_iter().flatten() {
            if !seen.insert(importer) {
                continue;
            } else if found.paths.len() == limit {
                found.partial = Some(format!("more than {limit} files import what has changed"));
                return found;
            }
            found.paths.push((*importer).clone());
            todo.push_back(importer);
        }
    }
    if !is_all {
        found.partial = Some(format!("only {LOOKED_AT} files were looked at for what they import"));
    }
    found
}

/// Who imports what.
fn importers<'f>(view: &dyn View, files: &'f Files) -> BTreeMap<WorkspacePath, Vec<&'f WorkspacePath>> {
    let mut importers: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for path in &files.all {
        let Ok(bytes) = view.open(path) else { continue };
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(READ)]);
        let imported: BTreeSet<_> = imports(path, &text, files).into_iter().collect();
        for it in imported.into_iter().filter(|it| it != path) {
            importers.entry(it).or_default().push(path);
        }
    }
    importers
}

/// The files that one may import.
fn imports(path: &WorkspacePath, text: &str, files: &Files) -> Vec<WorkspacePath> {
    match path.extension() {
        Some("py" | "pyi") => python::imports(path, text, files),
        Some("ts" | "tsx" | "mts" | "cts" | "js" | "jsx" | "mjs" | "cjs") => {
            script::imports(path, text, files)
        }
        Some("go") => go::imports(path, text, files),
        Some("rs") => rust::imports(path, text, files),
        Some("c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx") => c::imports(path, text, files),
        _ => Vec::new(),
    }
}

/// The files that there are, with those that have changed.
struct Files {
    all: BTreeSet<WorkspacePath>,
    /// By the last component.
    by_name: HashMap<String, Vec<WorkspacePath>>,
    by_directory: HashMap<WorkspacePath, Vec<WorkspacePath>>,
    manifests: Manifests,
}

/// What directories are called, by those files in them that say so.
#[derive(Default)]
struct Manifests {
    /// Of Go, with the path that it begins.
    modules: Vec<(String, WorkspacePath)>,
    /// Of Rust.
    crates: HashMap<String, Vec<WorkspacePath>>,
    crate_directories: BTreeSet<WorkspacePath>,
}

impl Files {
    /// Also returns whether these are all.
    fn of(profile: &Profile, view: &dyn View, changed: &[WorkspacePath]) -> (Self, bool) {
        let mut manifests = Manifests::default();
        let mut all: BTreeSet<_> = changed.iter().cloned().collect();
        let mut is_all = true;
        for path in walk(view, &[WorkspacePath::root()], &WalkOptions::default()) {
            if matches!(path.file_name(), Some("go.mod" | "Cargo.toml")) {
                manifests.add(&path, view);
            } else if profile.covers(&path) && all.len() < LOOKED_AT {
                all.insert(path);
            } else {
                is_all &= !profile.covers(&path);
            }
        }
        let (mut by_name, mut by_directory) = <(HashMap<_, Vec<_>>, HashMap<_, Vec<_>>)>::default();
        for path in &all {
            by_name.entry(path.file_name().unwrap_or_default().to_owned()).or_default().push(path.clone());
        }
        for (path, directory) in all.iter().filter_map(|it| Some((it, it.parent()?))) {
            by_directory.entry(directory).or_default().push(path.clone());
        }
        (Self { all, by_name, by_directory, manifests }, is_all)
    }

    fn get(&self, path: Option<WorkspacePath>) -> Option<WorkspacePath> {
        path.filter(|it| self.all.contains(it))
    }

    /// All whose path ends with these components.
    fn ending_with(&self, end: &str) -> impl Iterator<Item = WorkspacePath> {
        let name = end.rsplit('/').next().unwrap_or_default();
        let same_name = self.by_name.get(name).into_iter().flatten();
        let is_end = move |it: &&WorkspacePath| {
            let before = it.as_str().strip_suffix(end);
            before.is_some_and(|it| it.is_empty() || it.ends_with('/'))
        };
        same_name.filter(is_end).cloned()
    }

    fn within(&self, directory: &WorkspacePath) -> &[WorkspacePath] {
        self.by_directory.get(directory).map_or(&[], Vec::as_slice)
    }

    /// The directory of the crate that a file belongs to.
    fn own_crate(&self, path: &WorkspacePath) -> Option<WorkspacePath> {
        path.ancestors().skip(1).find(|it| self.manifests.crate_directories.contains(it))
    }
}

impl Manifests {
    fn add(&mut self, path: &WorkspacePath, view: &dyn View) {
        let (Some(directory), Ok(bytes)) = (path.parent(), view.open(path)) else { return };
        let text = String::from_utf8_lossy(&bytes);
        if path.file_name() == Some("go.mod") {
            self.modules.extend(go::module(&text).map(|it| (it, directory)));
        } else {
            self.crate_directories.insert(directory.clone());
            if let Some(name) = rust::crate_name(&text) {
                self.crates.entry(name).or_default().push(directory);
            }
        }
    }
}

/// The place `path` leads to from the directory of `from`.
fn beside(from: &WorkspacePath, path: &str) -> Option<WorkspacePath> {
    from.parent()?.join(path).ok()
}

fn is_of_name(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;

    /// The dependents of a file among these, the nearest first.
    #[track_caller]
    pub(super) fn check(server: &str, files: &[(&str, &str)], changed: &str, want: &str) {
        let view = Memory::from_files(files.iter().copied()).unwrap();
        let changed = [WorkspacePath::new(changed).unwrap()];
        let found = dependents(Profile::named(server).unwrap(), &view, &changed, 10);
        let paths: Vec<_> = found.paths.iter().map(WorkspacePath::as_str).collect();
        assert_eq!((paths.join(" ").as_str(), found.partial), (want, None));
    }

    #[test]
    fn the_nearest_come_first_and_no_more_than_are_wanted() {
        let files =
            [("a.py", ""), ("d.py", "import a"), ("c.py", "import d\nimport b"), ("b.py", "import c")];
        check("ty", &files, "a.py", "d.py c.py b.py");
        let view = Memory::from_files(files).unwrap();
        let changed = [WorkspacePath::new("a.py").unwrap()];
        let found = dependents(Profile::named("ty").unwrap(), &view, &changed, 2);
        assert_eq!(found.paths.len(), 2);
        assert_eq!(found.partial.as_deref(), Some("more than 2 files import what has changed"));
    }

    #[test]
    fn a_file_that_is_gone_has_them_too() {
        check("ty", &[("b.py", "from a import x"), ("n.txt", "import a")], "a.py", "b.py");
    }

    #[test]
    fn other_languages_stand_alone() {
        check("tombi", &[("a.toml", ""), ("b.toml", "import = 'a.toml'")], "a.toml", "");
    }
}
