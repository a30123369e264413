//! State of what a checker reads outside of the view: toolchains, registries, installed packages. What is there is
//! compared by the stamps of the entries of the folders that are named, not of what lies deeper.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use overlay::ContentHash;

use crate::{checker::Checker, program::Variables};

/// Entries of all folders together that are looked at.
const MOST: usize = 20_000;

/// Hash over what is there for projects in these folders, which run these programs; the same as long as nothing is
/// installed or removed.
pub(crate) fn digest(
    checker: &Checker,
    programs: &BTreeSet<PathBuf>,
    projects: &BTreeSet<PathBuf>,
    variable: Variables<'_>,
) -> ContentHash {
    let named = checker.outside.iter().flatten();
    let of_project = |it: &PathBuf| -> Vec<PathBuf> {
        named.clone().flat_map(|path| places(path, it, variable)).collect()
    };
    // Each place once, however many projects name it.
    let mut all: BTreeSet<PathBuf> = projects.iter().flat_map(of_project).collect();
    for program in programs {
        let installed = |name: &str| match name {
            PREFIX => program.parent()?.parent().map(|it| it.as_os_str().to_owned()),
            _ => None,
        };
        let beside = named.clone().filter(|it| it.strip_prefix('$').is_some_and(|it| it.starts_with(PREFIX)));
        all.extend(beside.flat_map(|it| places(it, program, &installed)));
    }
    all.extend(programs.iter().cloned());
    let (mut text, mut left) = (String::new(), MOST);
    all.iter().for_each(|it| look(it, &mut left, &mut text));
    ContentHash::of(text.as_bytes())
}

/// Name of a variable that stands for the folder which a program is installed in, with its libraries.
const PREFIX: &str = "PREFIX";

/// The places that a path stands for: `~` is the home, `$NAME` each folder of a variable, `^` the project's folder and each above
/// it, `*` any name or part of one.
pub(crate) fn places(path: &str, project: &Path, variable: Variables<'_>) -> Vec<PathBuf> {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let (mut found, rest): (Vec<PathBuf>, _) = match first.strip_prefix('$') {
        Some(name) => (variable(name).map_or_else(Vec::new, |it| std::env::split_paths(&it).collect()), rest),
        None if first == "~" => (variable("HOME").map(PathBuf::from).into_iter().collect(), rest),
        None if first == "^" => (project.ancestors().map(Path::to_owned).collect(), rest),
        None if path.starts_with('/') => (vec![PathBuf::from("/")], rest),
        None => (vec![project.to_owned()], path),
    };
    found.retain(|it| it.is_absolute());
    for name in rest.split('/').filter(|it| !it.is_empty()) {
        found = found.into_iter().flat_map(|folder| step(&folder, name)).collect();
    }
    found
}

fn step(folder: &Path, name: &str) -> Vec<PathBuf> {
    let Some((start, end)) = name.split_once('*') else { return vec![folder.join(name)] };
    let is_one = |it: &PathBuf| {
        let name = it.file_name().and_then(|it| it.to_str());
        name.is_some_and(|it| it.strip_prefix(start).is_some_and(|it| it.ends_with(end)))
    };
    children(folder).into_iter().filter(is_one).collect()
}

#[expect(clippy::disallowed_methods, reason = "what is looked at here is no workspace file")]
fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<_> = entries.map(|it| it.path()).collect();
    all.sort();
    all
}

fn look(path: &Path, left: &mut usize, text: &mut String) {
    let Ok(found) = fs::metadata(path) else { return };
    let _to_a_string = writeln!(text, "{} {:?}", path.display(), stamp(&found));
    if !found.is_dir() {
        return;
    }
    for child in children(path) {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let stamp = fs::metadata(&child).map(|it| stamp(&it)).ok();
        let name = child.file_name().unwrap_or_default().to_string_lossy();
        let _to_a_string = writeln!(text, " {name} {stamp:?}");
    }
}

/// Stamp of a file; of a folder only its identity, since caches that are made in it change its times.
fn stamp(it: &fs::Metadata) -> [i64; 6] {
    let identity = [it.dev(), it.ino()].map(u64::cast_signed);
    let times =
        if it.is_dir() { [0; 4] } else { [it.size().cast_signed(), it.mtime(), it.mtime_nsec(), it.ctime()] };
    [identity[0], identity[1], times[0], times[1], times[2], times[3]]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use super::*;

    #[test]
    fn what_is_installed_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("p");
        let file = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
        };
        let home = folder.path().join("home").into_os_string();
        let variable = |name: &str| (name == "HOME").then(|| home.clone());
        let cargo = Checker::named("cargo-check").unwrap();
        let programs = [folder.path().join("prefix/bin/program")].into();
        let projects = [project.clone(), folder.path().join("p/q")].into();
        let seen = |checker: &Checker| digest(checker, &programs, &projects, &variable);
        let before = seen(cargo);
        assert_eq!(before, seen(cargo));
        file("home/.cargo/registry/src/index-1/crate-1.0.0/lib.rs", "");
        let installed = seen(cargo);
        assert_ne!(before, installed);
        file("prefix/bin/program", "x");
        assert_ne!(installed, seen(cargo));
        let tsc = Checker::named("tsc").unwrap();
        let before = seen(tsc);
        file("p/node_modules/@types/node/index.d.ts", "");
        let installed = seen(tsc);
        assert_ne!(before, installed);
        file("p/q/node_modules/x/index.d.ts", "");
        assert_ne!(installed, seen(tsc), "each project has its own");
        let mypy = Checker::named("mypy").unwrap();
        let before = seen(mypy);
        file("prefix/lib/python3/site-packages/types-x/x.pyi", "");
        assert_ne!(before, seen(mypy));
    }

    #[test]
    fn words_in_paths() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["a1/x", "a2/x", "b/x"] {
            fs::create_dir_all(folder.path().join(path)).unwrap();
        }
        let variable = |name: &str| (name == "F").then(|| folder.path().as_os_str().to_owned());
        let of = |path: &str| {
            let found = places(path, Path::new("/p"), &variable);
            found
                .iter()
                .map(|it| it.strip_prefix(folder.path()).unwrap_or(it).display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(of("$F/a*/x"), ["a1/x", "a2/x"]);
        assert_eq!(of("^/x"), ["/p/x", "/x"]);
        assert_eq!(
            (of("~/x"), of("$G/x"), of("x/y"), of("/x/y")),
            (vec![], vec![], vec!["/p/x/y".into()], vec!["/x/y".into()])
        );
    }
}
