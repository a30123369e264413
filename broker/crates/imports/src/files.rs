//! The files that one may mean: those of the view and those that have changed, which need not be there.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use overlay::{ContentHash, Observation, Read, View, WalkOptions, WorkspacePath, walk};

use super::{Language, Languages, go, rust, script};

pub(super) struct Files {
    pub all: BTreeSet<WorkspacePath>,
    /// By the last component, and by the last two: some names are in most directories.
    by_end: HashMap<String, Vec<WorkspacePath>>,
    by_directory: BTreeMap<WorkspacePath, Vec<WorkspacePath>>,
    /// Where packages of Go lie by their whole names.
    pub vendors: BTreeSet<WorkspacePath>,
    pub manifests: Manifests,
}

/// What directories are called, by those files in them that say so.
#[derive(Default)]
pub(super) struct Manifests {
    /// Modules of Go, each with the path that its packages' names begin with.
    pub modules: Vec<(String, WorkspacePath)>,
    /// Crates of Rust, each with its root file.
    pub crates: HashMap<String, Vec<WorkspacePath>>,
    /// Where the crates begin that a directory has.
    pub crate_roots: HashMap<WorkspacePath, Vec<WorkspacePath>>,
    /// Other names of crates.
    renamed: Vec<(String, String)>,
    /// Packages of JavaScript, each with its directory and its entry files.
    pub packages: HashMap<String, Vec<(WorkspacePath, Vec<String>)>>,
}

impl Files {
    pub(super) fn of(languages: &Languages, view: &dyn View, changed: &[WorkspacePath]) -> Self {
        Self::walked(languages, view, changed, &WalkOptions::default())
    }

    pub(super) fn walked(
        languages: &Languages,
        view: &dyn View,
        changed: &[WorkspacePath],
        options: &WalkOptions,
    ) -> Self {
        let mut manifests = Manifests::default();
        let mut all: BTreeSet<_> = changed.iter().cloned().collect();
        for path in walk(view, &[WorkspacePath::root()], options) {
            manifests.add(&path, languages, view);
            if languages.have(&path) {
                all.insert(path);
            }
        }
        manifests.rename();
        Self::new(all, manifests)
    }

    /// These, whatever else there is.
    pub(super) fn only(paths: &BTreeSet<WorkspacePath>) -> Self {
        Self::new(paths.clone(), Manifests::default())
    }

    fn new(all: BTreeSet<WorkspacePath>, manifests: Manifests) -> Self {
        let mut by_end: HashMap<_, Vec<_>> = HashMap::new();
        let mut by_directory: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for path in &all {
            for end in [1, 2].into_iter().filter_map(|it| last(path.as_str(), it)) {
                by_end.entry(end.to_owned()).or_default().push(path.clone());
            }
        }
        for (path, directory) in all.iter().filter_map(|it| Some((it, it.parent()?))) {
            by_directory.entry(directory).or_default().push(path.clone());
        }
        let is_vendor = |it: &WorkspacePath| it.file_name() == Some("vendor");
        let vendors = by_directory.keys().flat_map(WorkspacePath::ancestors).filter(is_vendor).collect();
        Self { all, by_end, by_directory, vendors, manifests }
    }

    /// The files that are there and say what they import.
    pub(super) fn contents(&self, view: &dyn View) -> Vec<(&WorkspacePath, Language, ContentHash)> {
        let mut contents = Vec::new();
        for (directory, paths) in &self.by_directory {
            let names: Vec<_> = paths.iter().filter_map(WorkspacePath::file_name).collect();
            let seen = Read::observe_contents(view, directory, &names);
            contents.extend(paths.iter().zip(seen).filter_map(|(path, seen)| match seen {
                Observation::Found(content) => Some((path, Language::of(path.extension()?)?, content)),
                _ => None,
            }));
        }
        contents
    }

    pub(super) fn get(&self, path: Option<WorkspacePath>) -> Option<WorkspacePath> {
        path.filter(|it| self.all.contains(it))
    }

    /// All whose path ends with these components.
    pub(super) fn ending_with(&self, end: &str) -> impl Iterator<Item = WorkspacePath> {
        let known = last(end, 2).or(last(end, 1)).and_then(|it| self.by_end.get(it));
        let same_end = known.into_iter().flatten();
        let is_end = move |it: &&WorkspacePath| {
            let before = it.as_str().strip_suffix(end);
            before.is_some_and(|it| it.is_empty() || it.ends_with('/'))
        };
        same_end.filter(is_end).cloned()
    }

    pub(super) fn within(&self, directory: &WorkspacePath) -> &[WorkspacePath] {
        self.by_directory.get(directory).map_or(&[], Vec::as_slice)
    }

    /// The directory of the crate that a file belongs to.
    pub(super) fn own_crate(&self, path: &WorkspacePath) -> Option<WorkspacePath> {
        path.ancestors().skip(1).find(|it| self.manifests.crate_roots.contains_key(it))
    }
}

impl Manifests {
    fn add(&mut self, path: &WorkspacePath, languages: &Languages, view: &dyn View) {
        let language = match path.file_name() {
            Some("go.mod") => Language::Go,
            Some("Cargo.toml") => Language::Rust,
            Some("package.json") => Language::Script,
            _ => return,
        };
        if !languages.0.contains(&language) {
            return;
        }
        let (Some(directory), Ok(bytes)) = (path.parent(), view.open(path)) else { return };
        match language {
            Language::Go => {
                self.modules.extend(go::module(&String::from_utf8_lossy(&bytes)).map(|it| (it, directory)));
            }
            Language::Rust => {
                self.add_crates(&directory, rust::Manifest::new(&String::from_utf8_lossy(&bytes)))
            }
            _ => {
                if let Some((name, mains)) = script::package(&bytes) {
                    self.packages.entry(name).or_default().push((directory, mains));
                }
            }
        }
    }

    fn add_crates(&mut self, directory: &WorkspacePath, said: rust::Manifest) {
        let library = directory.join(&said.library);
        for (name, library) in said.names.into_iter().filter_map(|it| Some((it, library.clone().ok()?))) {
            self.crates.entry(name).or_default().push(library);
        }
        let roots = said.roots.iter().filter_map(|it| directory.join(it).ok());
        self.crate_roots.insert(directory.clone(), roots.collect());
        self.renamed.extend(said.renamed);
    }

    fn rename(&mut self) {
        for (name, package) in std::mem::take(&mut self.renamed) {
            let libraries = self.crates.get(&package).cloned().unwrap_or_default();
            self.crates.entry(name).or_default().extend(libraries);
        }
    }
}

/// The last components of a path, this many, if it has them.
fn last(path: &str, components: usize) -> Option<&str> {
    let mut starts = path.rmatch_indices('/').map(|it| it.0 + 1);
    match starts.nth(components - 1) {
        Some(start) => Some(&path[start..]),
        None => (path.split('/').count() == components).then_some(path),
    }
}
