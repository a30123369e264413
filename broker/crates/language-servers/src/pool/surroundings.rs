//! What a server reads besides the workspace's own files: its program, the environment, and what its profile names
//! outside. What is installed or removed there leads to another server, which knows it from the start.
//!
//! Entries of the named folders are compared by their stamps at each look. What lies deeper takes a longer look, and
//! is looked at again once that has cost no more than a fiftieth of the time since: an edit by hand deep among the
//! dependencies is noticed a moment later. Leaves out what is beyond [`DEPTH`] levels or [`MOST`] entries.

use std::{
    collections::HashMap,
    ffi::OsString,
    fmt::Write as _,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{LazyLock, Mutex, PoisonError},
    time::{Duration, Instant},
};

use overlay::ContentHash;

use super::outside;
use crate::{Launch, Setup};

/// Variables that decide where servers look.
const VARIABLES: [&str; 18] = [
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYTHONPATH",
    "NODE_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "GOPATH",
    "GOROOT",
    "GOFLAGS",
    "GOOS",
    "GOARCH",
    "GOEXPERIMENT",
    "CGO_ENABLED",
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "RUSTUP_TOOLCHAIN",
    "PATH",
];

/// Levels below a named folder that are looked at now and then.
const DEPTH: u32 = 4;

/// Entries of one folder that are looked at now and then.
const MOST: usize = 50_000;

/// Share of the time that the long look may take: one part of so many.
const SHARE: u32 = 50;

/// Caches that tools write beside what is installed.
const CACHES: [&str; 3] = ["__pycache__", ".cache", ".vite"];

/// Stands for all of it.
pub(super) fn digest(setup: &Setup) -> ContentHash {
    let Setup { profile, launch, root, .. } = setup;
    let mut text = String::new();
    for name in VARIABLES {
        let _to_a_string = writeln!(text, "{name} {:?}", variable(launch, name));
    }
    let mut paths = environments(root, launch);
    paths.push(launch.program.clone());
    paths.extend(outside::paths(profile, launch, root));
    paths.sort();
    paths.dedup();
    for path in &paths {
        let _to_a_string = writeln!(text, "{} {}", path.display(), seen_at(path));
    }
    ContentHash::of(text.as_bytes())
}

/// What is at a place outside of the workspace.
pub(crate) fn seen_at(path: &Path) -> ContentHash {
    let mut text = String::new();
    look(path, 1, &mut Budget(MOST), &mut text);
    let near = ContentHash::of(text.as_bytes());
    ContentHash::of(format!("{near} {}", deep(path, near)).as_bytes())
}

/// Its value for a process that is launched so.
pub(super) fn variable(launch: &Launch, name: &str) -> Option<OsString> {
    let set = launch.env.iter().rev().find(|it| it.0 == name);
    set.map_or_else(|| std::env::var_os(name), |it| it.1.clone())
}

/// What is installed in the environments of Python that a workspace may have or that may be active.
fn environments(root: &Path, launch: &Launch) -> Vec<PathBuf> {
    let active = variable(launch, "VIRTUAL_ENV").map(PathBuf::from);
    let environments = [root.join(".venv"), root.join("venv")].into_iter().chain(active);
    environments.flat_map(|it| children(&it.join("lib"))).map(|it| it.join("site-packages")).collect()
}

#[expect(clippy::disallowed_methods, reason = "what is looked at here is no workspace file")]
pub(super) fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|it| it.path()).filter(|it| !is_cache(it)).collect();
    paths.sort();
    paths
}

fn is_cache(path: &Path) -> bool {
    path.file_name().is_some_and(|name| CACHES.iter().any(|it| name == *it))
}

/// Entries that may still be looked at.
struct Budget(usize);

/// Adds the stamps of what is at `path`, and so many levels below it.
fn look(path: &Path, levels: u32, budget: &mut Budget, text: &mut String) {
    let Ok(found) = fs::metadata(path) else { return text.push_str("-\n") };
    let _to_a_string = writeln!(text, "{:?}", stamp(&found));
    if levels == 0 || !found.is_dir() {
        return;
    }
    for child in children(path) {
        if budget.0 == 0 {
            return;
        }
        budget.0 -= 1;
        let name = child.file_name().unwrap_or_default().to_string_lossy();
        text.push_str(&name);
        let levels = if is_versioned(&name) { 0 } else { levels - 1 };
        look(&child, levels, budget, text);
    }
}

/// Whether a folder has a version in its name, as modules of Go (`x@v1.2.3`) and crates (`x-1.2.3`): what is in it
/// does not change.
fn is_versioned(name: &str) -> bool {
    let is_number = |it: &str| {
        let (first, rest) = it.split_once('.').unwrap_or((it, ""));
        let is_digits = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
        is_digits(first) && rest.starts_with(|it: char| it.is_ascii_digit())
    };
    name.find('@').is_some_and(|it| it > 0)
        || name.match_indices('-').any(|(at, _)| is_number(&name[at + 1..]))
}

/// Stamp of a file: its size, identity and time of modification; of a folder only its identity: its names are looked at, and
/// caches that are made in it change its times.
fn stamp(it: &fs::Metadata) -> (u64, [u64; 2], [i64; 4]) {
    let identity = [it.dev(), it.ino()];
    match it.is_dir() {
        true => (0, identity, [0; 4]),
        false => (it.size(), identity, [it.mtime(), it.mtime_nsec(), it.ctime(), it.ctime_nsec()]),
    }
}

/// The last long look at a place.
struct Long {
    taken: Instant,
    cost: Duration,
    /// What the short look saw then.
    near: ContentHash,
    name: ContentHash,
}

/// All that is at a place, as of a moment before, if what the short look sees is still the same.
fn deep(path: &Path, near: ContentHash) -> ContentHash {
    static LOOKS: LazyLock<Mutex<HashMap<PathBuf, Long>>> = LazyLock::new(Mutex::default);
    let looks = || LOOKS.lock().unwrap_or_else(PoisonError::into_inner);
    let is_fresh = |it: &&Long| it.near == near && it.taken.elapsed() < it.cost * SHARE;
    if let Some(long) = looks().get(path).filter(is_fresh) {
        return long.name;
    }
    let (start, mut text) = (Instant::now(), String::new());
    look(path, DEPTH, &mut Budget(MOST), &mut text);
    let name = ContentHash::of(text.as_bytes());
    let long = Long { taken: Instant::now(), cost: start.elapsed(), near, name };
    looks().insert(path.to_owned(), long);
    name
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

    use super::*;

    #[test]
    fn versions_in_names() {
        for name in ["x@v1.2.3", "cfg-if-1.0.4", "a-b-0.1.0-rc.1", "x-1.2.dist-info"] {
            assert!(is_versioned(name), "{name}");
        }
        for name in ["@scope", "x", "x-2", "python3.11", "site-packages", "utf-8-x"] {
            assert!(!is_versioned(name), "{name}");
        }
    }

    #[test]
    fn what_lies_near_and_what_lies_deep() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        fs::create_dir_all(file("near/deep")).unwrap();
        fs::create_dir(file("__pycache__")).unwrap();
        let near = |levels| {
            let mut text = String::new();
            look(folder.path(), levels, &mut Budget(MOST), &mut text);
            text
        };
        let (first, deep) = (near(1), near(DEPTH));
        fs::write(file("__pycache__/x.pyc"), "").unwrap();
        assert_eq!((near(1), near(DEPTH)), (first.clone(), deep.clone()), "a cache is none of its business");
        fs::write(file("near/deep/it.py"), "x").unwrap();
        assert_eq!(near(1), first);
        assert_ne!(near(DEPTH), deep);
        fs::write(file("it.py"), "x").unwrap();
        let second = near(1);
        assert_ne!(second, first);
        fs::write(file("it.py"), "xy").unwrap();
        assert_ne!(near(1), second);
        assert_eq!(seen_at(&file("none")), seen_at(&file("none")));
        assert_ne!(seen_at(&file("none")), seen_at(&file("near")));
    }
}
