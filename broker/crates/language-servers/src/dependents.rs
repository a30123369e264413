//! Which files may have other findings when some files change: those that import them, directly or through
//! others. The nearest come first.
//!
//! A plain look for import statements in the view, for Python, JavaScript and TypeScript, Go, Rust, and C; files
//! of other languages stand alone. No server is asked, since what it takes to ask for the uses of all that a file
//! defines is more than to check all files. Where a statement may mean several files, it means all of them:
//! rather a file too many is checked. What a text imports is remembered: only what changed is read again.
//!
//! Not seen is what is imported by a name that is computed, what is global without an import (declarations of
//! TypeScript, what a build system adds), and aliases of paths that do not end like the file they stand for.

mod c;
mod go;
mod python;
mod rust;
mod script;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use overlay::{ContentHash, Observation, Read, View, WalkOptions, WorkspacePath, walk};

use crate::{Profile, configs};

/// What comes later in a file is not looked at.
const READ: usize = 1 << 20;

/// What the files of a workspace import.
#[derive(Default)]
pub(crate) struct Imports {
    /// Of the texts that were there at the last look.
    said: Mutex<Arc<Said>>,
}

/// The names that a text imports, one in each line.
type Said = HashMap<(Language, ContentHash), Arc<str>>;

/// Who imports a file.
type Importers<'f> = HashMap<WorkspacePath, Vec<&'f WorkspacePath>>;

impl Imports {
    /// Those of the files that the profile's server checks: all if what configures it has changed. Without the
    /// changed files themselves, which need not be there.
    pub(crate) fn dependents(
        &self,
        profile: &Profile,
        view: &dyn View,
        changed: &[WorkspacePath],
    ) -> Vec<WorkspacePath> {
        let files = Files::of(profile, view, changed);
        let mut seen: BTreeSet<_> = changed.iter().collect();
        if configures(profile, view, changed) {
            return files.all.iter().filter(|it| !seen.contains(it)).cloned().collect();
        }
        let importers = self.importers(view, &files);
        let mut found = Vec::new();
        let mut todo: VecDeque<_> = changed.iter().collect();
        while let Some(path) = todo.pop_front() {
            for importer in importers.get(path).into_iter().flatten() {
                if seen.insert(importer) {
                    found.push((*importer).clone());
                    todo.push_back(importer);
                }
            }
        }
        found
    }

    fn importers<'f>(&self, view: &dyn View, files: &'f Files) -> Importers<'f> {
        let before = Arc::clone(&self.said.lock().unwrap_or_else(PoisonError::into_inner));
        let (mut said, mut importers) = (Said::new(), Importers::new());
        for (path, language, content) in files.contents(view) {
            let key = (language, content);
            let known = before.get(&key).cloned();
            let Some(names) = known.or_else(|| Some(language.said(&view.open(path).ok()?))) else { continue };
            let imported: BTreeSet<_> = names
                .lines()
                .flat_map(|it| language.targets(path, it, files))
                .filter(|it| it != path)
                .collect();
            for it in imported {
                importers.entry(it).or_default().push(path);
            }
            said.insert(key, names);
        }
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(said);
        importers
    }
}

/// Whether what a server does about all files may have changed.
fn configures(profile: &Profile, view: &dyn View, changed: &[WorkspacePath]) -> bool {
    let may_be_named = changed.iter().any(|it| profile.is_config_if_named(it));
    let named = if may_be_named { configs::named(profile, view, changed) } else { BTreeSet::new() };
    changed.iter().any(|it| profile.is_config_of_all(it) || named.contains(it))
}

/// How files say what they import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Language {
    C,
    Go,
    Python,
    Rust,
    Script,
}

impl Language {
    fn of(path: &WorkspacePath) -> Option<Self> {
        Some(match path.extension()? {
            "py" | "pyi" => Self::Python,
            "ts" | "tsx" | "mts" | "cts" | "js" | "jsx" | "mjs" | "cjs" => Self::Script,
            "go" => Self::Go,
            "rs" => Self::Rust,
            "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => Self::C,
            _ => return None,
        })
    }

    fn said(self, text: &[u8]) -> Arc<str> {
        let text = String::from_utf8_lossy(&text[..text.len().min(READ)]);
        let names = match self {
            Self::C => c::names(&text),
            Self::Go => go::names(&text),
            Self::Python => python::names(&text),
            Self::Rust => rust::names(&text),
            Self::Script => script::names(&text),
        };
        names.into_iter().collect::<Vec<_>>().join("\n").into()
    }

    /// The files that one may mean by a name.
    fn targets(self, path: &WorkspacePath, name: &str, files: &Files) -> Vec<WorkspacePath> {
        match self {
            Self::C => c::targets(path, name, files),
            Self::Go => go::targets(path, name, files),
            Self::Python => python::targets(path, name, files),
            Self::Rust => rust::targets(path, name, files),
            Self::Script => script::targets(path, name, files),
        }
    }
}

/// The files that there are, with those that have changed.
struct Files {
    all: BTreeSet<WorkspacePath>,
    /// By the last component.
    by_name: HashMap<String, Vec<WorkspacePath>>,
    by_directory: BTreeMap<WorkspacePath, Vec<WorkspacePath>>,
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
    fn of(profile: &Profile, view: &dyn View, changed: &[WorkspacePath]) -> Self {
        let mut manifests = Manifests::default();
        let mut all: BTreeSet<_> = changed.iter().cloned().collect();
        for path in walk(view, &[WorkspacePath::root()], &WalkOptions::default()) {
            if matches!(path.file_name(), Some("go.mod" | "Cargo.toml")) {
                manifests.add(&path, view);
            } else if profile.covers(&path) {
                all.insert(path);
            }
        }
        let mut by_name: HashMap<_, Vec<_>> = HashMap::new();
        let mut by_directory: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for path in &all {
            by_name.entry(path.file_name().unwrap_or_default().to_owned()).or_default().push(path.clone());
        }
        for (path, directory) in all.iter().filter_map(|it| Some((it, it.parent()?))) {
            by_directory.entry(directory).or_default().push(path.clone());
        }
        Self { all, by_name, by_directory, manifests }
    }

    /// The files that are there and say what they import.
    fn contents(&self, view: &dyn View) -> Vec<(&WorkspacePath, Language, ContentHash)> {
        let mut contents = Vec::new();
        for (directory, paths) in &self.by_directory {
            let names: Vec<_> = paths.iter().filter_map(WorkspacePath::file_name).collect();
            let seen = Read::observe_contents(view, directory, &names);
            contents.extend(paths.iter().zip(seen).filter_map(|(path, seen)| match seen {
                Observation::Found(content) => Some((path, Language::of(path)?, content)),
                _ => None,
            }));
        }
        contents
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
        let imports = Imports::default();
        for _ in ["looks", "remembers"] {
            let found = imports.dependents(Profile::named(server).unwrap(), &view, &changed);
            let paths: Vec<_> = found.iter().map(WorkspacePath::as_str).collect();
            assert_eq!(paths.join(" "), want);
        }
    }

    #[test]
    fn the_nearest_come_first() {
        let files =
            [("a.py", ""), ("d.py", "import a"), ("c.py", "import d\nimport b"), ("b.py", "import c")];
        check("ty", &files, "a.py", "d.py c.py b.py");
    }

    #[test]
    fn what_a_file_no_longer_says_is_forgotten() {
        let (imports, profile) = (Imports::default(), Profile::named("ty").unwrap());
        let dependents = |text| {
            let view = Memory::from_files([("a.py", ""), ("b.py", text)]).unwrap();
            imports.dependents(profile, &view, &[WorkspacePath::new("a.py").unwrap()]).len()
        };
        assert_eq!((dependents("import a"), dependents("import c"), dependents("import a")), (1, 0, 1));
    }

    #[test]
    fn a_file_that_is_gone_has_them_too() {
        check("ty", &[("b.py", "from a import x"), ("n.txt", "import a")], "a.py", "b.py");
    }

    #[test]
    fn configuration_is_for_all() {
        check("ty", &[("a.py", ""), ("b.py", ""), ("pyproject.toml", "")], "pyproject.toml", "a.py b.py");
    }

    #[test]
    fn other_languages_stand_alone() {
        check("tombi", &[("a.toml", ""), ("b.toml", "import = 'a.toml'")], "a.toml", "");
    }
}
