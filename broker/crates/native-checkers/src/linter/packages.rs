//! Packages of a build, and which of their files it does not reach because of what they import.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use overlay::WorkspacePath;

use crate::findings::Ground;

/// The packages of the workspace.
#[derive(Default)]
pub(super) struct Packages(Vec<Package>);

struct Package {
    folder: WorkspacePath,
    name: String,
    files: BTreeSet<WorkspacePath>,
    test_files: BTreeSet<WorkspacePath>,
    imports: Vec<String>,
    test_imports: Vec<String>,
}

impl Packages {
    /// Reads the packages from lines with tabs.
    pub(super) fn read(lines: &[String], ground: &Ground<'_>) -> Self {
        Self(lines.iter().filter_map(|it| Package::read(it, ground)).collect())
    }

    pub(super) fn files(&self) -> impl Iterator<Item = &WorkspacePath> {
        self.0.iter().flat_map(|it| it.files.iter().chain(&it.test_files))
    }

    /// Files that are not reached since a package does not compile, with its folder; `errors` are files that have errors.
    pub(super) fn blocked(
        &self,
        errors: &BTreeSet<&WorkspacePath>,
    ) -> BTreeMap<WorkspacePath, WorkspacePath> {
        // Errors of tests keep nothing else from being looked at.
        let is_failed = |it: &&Package| it.files.iter().any(|it| errors.contains(it));
        let mut culprits: HashMap<&str, &WorkspacePath> =
            self.0.iter().filter(is_failed).map(|it| (it.name.as_str(), &it.folder)).collect();
        let failed: BTreeSet<_> = culprits.keys().copied().collect();
        let culprit = |imports: &[String], culprits: &HashMap<&str, &'_ WorkspacePath>| {
            imports.iter().find_map(|it| culprits.get(it.as_str()).map(|it| (*it).clone()))
        };
        // Packages that import one that is not reached are not reached either.
        loop {
            let before = culprits.len();
            for package in &self.0 {
                let found = package.imports.iter().find_map(|it| culprits.get(it.as_str()).copied());
                if let Some(found) = found.filter(|_| !culprits.contains_key(package.name.as_str())) {
                    culprits.insert(&package.name, found);
                }
            }
            if culprits.len() == before {
                break;
            }
        }
        let mut blocked = BTreeMap::new();
        for package in &self.0 {
            let own = culprits.get(package.name.as_str()).map(|it| (*it).clone());
            if let Some(own) = own.clone().filter(|_| !failed.contains(package.name.as_str())) {
                blocked.extend(package.files.iter().map(|it| (it.clone(), own.clone())));
            }
            if let Some(it) = own.or_else(|| culprit(&package.test_imports, &culprits)) {
                blocked.extend(package.test_files.iter().map(|file| (file.clone(), it.clone())));
            }
        }
        blocked
    }
}

impl Package {
    /// `None` for a line of another kind, and what lies outside of the workspace.
    fn read(line: &str, ground: &Ground<'_>) -> Option<Self> {
        let fields: Vec<_> = line.split('\t').collect();
        let [folder, name, files, test_files, imports, test_imports] = fields[..] else { return None };
        let paths = |names: &str| {
            let names = names.split('/').filter(|it| !it.is_empty());
            ground.files_of(&names.map(|it| format!("{folder}/{it}")).collect::<Vec<_>>())
        };
        let words = |names: &str| names.split_whitespace().map(str::to_owned).collect();
        Some(Self {
            folder: ground.path_of(folder)?,
            name: name.to_owned(),
            files: paths(files),
            test_files: paths(test_files),
            imports: words(imports),
            test_imports: words(test_imports),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(it: &str) -> WorkspacePath {
        WorkspacePath::new(it).unwrap()
    }

    fn package(name: &str, imports: &str, test_imports: &str) -> Package {
        let words = |it: &str| it.split_whitespace().map(str::to_owned).collect();
        Package {
            folder: path(name),
            name: format!("m/{name}"),
            files: [path(&format!("{name}/x.go"))].into(),
            test_files: [path(&format!("{name}/x_test.go"))].into(),
            imports: words(imports),
            test_imports: words(test_imports),
        }
    }

    #[test]
    fn what_imports_what_does_not_compile() {
        let packages = Packages(vec![
            package("d", "m/c", ""),
            package("c", "m/b fmt", ""),
            package("b", "m/a", ""),
            package("a", "fmt", ""),
            package("e", "", "m/b"),
            package("f", "m/e", "testing"),
        ]);
        let of = |error: &str| {
            let (error, mut text) = (path(error), String::new());
            for (file, culprit) in packages.blocked(&[&error].into()) {
                text += &format!("{file} by {culprit}, ");
            }
            text
        };
        insta::assert_snapshot!(of("b/x.go"), @"b/x_test.go by b, c/x.go by b, c/x_test.go by b, d/x.go by b, d/x_test.go by b, e/x_test.go by b, ");
        assert_eq!(of("b/x_test.go"), "");
        assert_eq!(of("other.go"), "");
    }
}
