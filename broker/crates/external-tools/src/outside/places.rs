//! The paths that a place of a definition stands for.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use super::entries::{OutsideState, children};

/// Variables that name an environment, whose programs a shell has first in its `PATH`.
pub const ACTIVE: [&str; 2] = ["VIRTUAL_ENV", "CONDA_PREFIX"];

/// Circumstances of a tool's run, by which the places outside of the workspace are found.
#[derive(Debug, Clone)]
pub struct Surroundings<'s> {
    /// Folder of the workspace.
    pub root: &'s Path,
    /// Folders of the projects that it runs for.
    pub projects: BTreeSet<PathBuf>,
    /// Programs that run.
    pub programs: BTreeSet<PathBuf>,
    /// All of its environment.
    pub variables: BTreeMap<OsString, OsString>,
}

impl Surroundings<'_> {
    /// The paths that a place stands for, there or not; see the [module](super) for the words.
    pub fn places(&self, place: &str, state: &OutsideState) -> Vec<PathBuf> {
        let (first, rest) = place.split_once('/').unwrap_or((place, ""));
        let projects = || self.projects.iter();
        let (mut found, rest): (Vec<PathBuf>, _) = match first {
            "~" => (self.folders_of("HOME"), rest),
            "^" => (projects().flat_map(|it| it.ancestors()).map(Path::to_owned).collect(), rest),
            "**" => {
                let (name, rest) = rest.split_once('/').unwrap_or((rest, ""));
                (state.folders_named(name, self.root), rest)
            }
            "$PATH" => (self.program_folders(), rest),
            "$PREFIX" => {
                let prefix = |it: &PathBuf| it.parent()?.parent().map(Path::to_owned);
                (self.programs.iter().filter_map(prefix).collect(), rest)
            }
            "" if place.starts_with('/') => (vec![PathBuf::from("/")], rest),
            _ => match first.strip_prefix('$') {
                Some(name) => (self.folders_of(name), rest),
                None => (projects().cloned().collect(), place),
            },
        };
        found.retain(|it| it.is_absolute());
        for name in rest.split('/').filter(|it| !it.is_empty()) {
            found = found.into_iter().flat_map(|folder| step(&folder, name)).collect();
        }
        found
    }

    fn variable(&self, name: &str) -> &OsStr {
        self.variables.get(OsStr::new(name)).map_or(OsStr::new(""), OsString::as_os_str)
    }

    fn folders_of(&self, variable: &str) -> Vec<PathBuf> {
        env::split_paths(self.variable(variable)).collect()
    }

    /// Folders in which a tool comes upon programs: those of environments, its own, and those of `PATH`.
    fn program_folders(&self) -> Vec<PathBuf> {
        self.near_program_folders().into_iter().chain(self.folders_of("PATH")).collect()
    }

    fn near_program_folders(&self) -> Vec<PathBuf> {
        let own = [".venv/bin", "venv/bin"].map(|it| self.root.join(it));
        let active = ACTIVE.into_iter().flat_map(|it| self.folders_of(it)).map(|it| it.join("bin"));
        let beside = self.programs.iter().filter_map(|it| it.parent()).map(Path::to_owned);
        own.into_iter().chain(active).chain(beside).collect()
    }

    /// Programs of this name that a tool may come upon: one for each environment, the one beside the tool, and the first in
    /// `PATH`.
    pub(super) fn programs_named(&self, name: &str) -> Vec<PathBuf> {
        let in_path = self.folders_of("PATH").into_iter().find(|it| it.join(name).is_file());
        let programs = self.near_program_folders().into_iter().chain(in_path).map(|it| it.join(name));
        let mut seen = HashSet::new();
        programs.filter(|it| it.is_absolute() && it.is_file() && seen.insert(it.clone())).collect()
    }
}

fn step(folder: &Path, name: &str) -> Vec<PathBuf> {
    let Some((start, end)) = name.split_once('*') else { return vec![folder.join(name)] };
    let is_one = |it: &PathBuf| {
        let name = it.file_name().and_then(|it| it.to_str());
        name.is_some_and(|it| it.strip_prefix(start).is_some_and(|it| it.ends_with(end)))
    };
    children(folder).into_iter().filter(is_one).collect()
}

#[cfg(test)]
pub(super) mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use std::fs;

    use super::*;

    pub(in crate::outside) fn surroundings<'s>(
        root: &'s Path,
        variables: &[(&str, &Path)],
    ) -> Surroundings<'s> {
        let variables = variables.iter().map(|(name, it)| (name.into(), it.as_os_str().to_owned()));
        Surroundings {
            root,
            projects: [root.join("p")].into(),
            programs: [root.join("prefix/bin/tool")].into(),
            variables: variables.collect(),
        }
    }

    #[test]
    fn words_in_places() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in ["a1/x", "a2/x", "b/x"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        let surroundings =
            surroundings(root, &[("HOME", root), ("F", &root.join("b")), ("EMPTY", Path::new(""))]);
        let of = |place: &str| {
            let found = surroundings.places(place, &OutsideState::default());
            let relative = |it: &PathBuf| it.strip_prefix(root).unwrap_or(it).display().to_string();
            found.iter().map(relative).collect::<Vec<_>>()
        };
        assert_eq!(of("~/a*/x"), ["a1/x", "a2/x"]);
        assert_eq!(of("~/*/x"), ["a1/x", "a2/x", "b/x"]);
        assert_eq!(of("$F/x"), ["b/x"]);
        assert_eq!((of("$NONE/x"), of("$EMPTY/x")), (vec![], vec![]));
        assert_eq!(of("^/x")[..2], ["p/x", "x"]);
        assert_eq!((of("x/y"), of("/x/y")), (vec!["p/x/y".into()], vec!["/x/y".into()]));
        assert_eq!(of("$PREFIX/lib"), ["prefix/lib"]);
        assert_eq!(of("$PATH/node"), [".venv/bin/node", "venv/bin/node", "prefix/bin/node"]);
    }

    #[test]
    fn folders_of_a_name_are_found_wherever_they_are() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a/node_modules/@s/p", "node_modules/q/node_modules", ".git/node_modules"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let (surroundings, state) = (surroundings(folder.path(), &[]), OutsideState::default());
        let of = |place: &str| surroundings.places(place, &state).into_iter().collect::<BTreeSet<_>>();
        let want = |names: &[&str]| names.iter().map(|it| folder.path().join(it)).collect::<BTreeSet<_>>();
        assert_eq!(of("**/node_modules"), want(&["a/node_modules", "node_modules"]));
        assert_eq!(of("**/node_modules/@*"), want(&["a/node_modules/@s"]));
        assert_eq!(of("**/none"), want(&["none"]), "the one that an installation may make");
    }

    #[test]
    fn a_program_of_several_places_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        let (own, other) = (folder.path().join(".venv"), folder.path().join("other"));
        for bin in [own.join("bin"), other.join("bin")] {
            fs::create_dir_all(&bin).unwrap();
            fs::write(bin.join("python"), "").unwrap();
        }
        let variables = [("VIRTUAL_ENV", &*own), ("CONDA_PREFIX", &*other), ("PATH", &*own.join("bin"))];
        let found = surroundings(folder.path(), &variables).programs_named("python");
        assert_eq!(found, [own, other].map(|it| it.join("bin/python")));
    }
}
