//! The files that one may mean: those of the view and those that have changed, which need not be there.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use overlay::{ContentHash, Observation, Read, View, WorkspacePath};

use super::Language;

pub(super) struct Files {
    pub all: BTreeSet<WorkspacePath>,
    /// Files by the last component, and by the last two: some names are in most directories.
    by_end: HashMap<String, Vec<WorkspacePath>>,
    by_directory: BTreeMap<WorkspacePath, Vec<WorkspacePath>>,
    /// `vendor` directories, in which packages of Go are found by their whole names.
    pub vendors: BTreeSet<WorkspacePath>,
    pub manifests: Manifests,
}

/// Names of directories, from the manifests in them.
#[derive(Default)]
pub(super) struct Manifests {
    /// Modules of Go, each with the path that its packages' names begin with.
    pub modules: Vec<(String, WorkspacePath)>,
    /// Crates of Rust, each with its root file.
    pub crates: HashMap<String, Vec<WorkspacePath>>,
    /// Root files of the crates of each directory.
    pub crate_roots: HashMap<WorkspacePath, Vec<WorkspacePath>>,
    /// Packages of JavaScript, each with its directory and its entry files.
    pub packages: HashMap<String, Vec<(WorkspacePath, Vec<String>)>>,
}

impl Files {
    /// Creates the set of only these files.
    pub(super) fn only(paths: &BTreeSet<WorkspacePath>) -> Self {
        Self::new(paths.clone(), Manifests::default())
    }

    /// Creates the set of these files, with the manifests around them.
    pub(super) fn new(all: BTreeSet<WorkspacePath>, manifests: Manifests) -> Self {
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
            let seen = Read::observe_contents(view, directory, &names, u64::MAX);
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

    /// Returns the files whose path ends with these components.
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

/// The last components of a path, this many, if it has them.
fn last(path: &str, components: usize) -> Option<&str> {
    let mut starts = path.rmatch_indices('/').map(|it| it.0 + 1);
    match starts.nth(components - 1) {
        Some(start) => Some(&path[start..]),
        None => (path.split('/').count() == components).then_some(path),
    }
}
