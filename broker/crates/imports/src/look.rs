//! A walk over a view: its files, and what its manifests call their directories (`go.mod`, `Cargo.toml` and
//! `package.json`). Other manifests are not read.

use std::collections::BTreeSet;

use overlay::{View, WalkOptions, WorkspacePath, walk};

use super::{
    Language, Languages,
    files::{Files, Manifests},
    go, rust, script,
};

/// The files of these languages, and those that `changed`, which need not be there.
pub(super) fn files(
    languages: &Languages,
    view: &dyn View,
    changed: &[WorkspacePath],
    options: &WalkOptions,
) -> Files {
    let mut collected = Collected::default();
    let mut all: BTreeSet<_> = changed.iter().cloned().collect();
    for path in walk(view, &[WorkspacePath::root()], options) {
        collected.add(&path, languages, view);
        if languages.have(&path) {
            all.insert(path);
        }
    }
    Files::new(all, collected.finish())
}

#[derive(Default)]
struct Collected {
    manifests: Manifests,
    /// Other names of crates, with those of their packages.
    renamed: Vec<(String, String)>,
}

impl Collected {
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
                let module = go::module(&String::from_utf8_lossy(&bytes));
                self.manifests.modules.extend(module.map(|it| (it, directory)));
            }
            Language::Rust => {
                self.add_crates(&directory, rust::Manifest::new(&String::from_utf8_lossy(&bytes)))
            }
            _ => {
                if let Some((name, mains)) = script::package(&bytes) {
                    self.manifests.packages.entry(name).or_default().push((directory, mains));
                }
            }
        }
    }

    fn add_crates(&mut self, directory: &WorkspacePath, said: rust::Manifest) {
        let library = directory.join(&said.library);
        for (name, library) in said.names.into_iter().filter_map(|it| Some((it, library.clone().ok()?))) {
            self.manifests.crates.entry(name).or_default().push(library);
        }
        let roots = said.roots.iter().filter_map(|it| directory.join(it).ok());
        self.manifests.crate_roots.insert(directory.clone(), roots.collect());
        self.renamed.extend(said.renamed);
    }

    fn finish(mut self) -> Manifests {
        for (name, package) in self.renamed {
            let libraries = self.manifests.crates.get(&package).cloned().unwrap_or_default();
            self.manifests.crates.entry(name).or_default().extend(libraries);
        }
        self.manifests
    }
}
