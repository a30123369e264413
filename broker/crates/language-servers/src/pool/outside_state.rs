//! State of what a server reads outside of the workspace: its program, the environment, and what its profile names.
//! Installing or removing something there leads to another server, which starts with the new state.
//!
//! Entries of the named folders are compared by their stamps at each look. What lies deeper takes a longer look, and
//! is looked at again once that has cost no more than a fiftieth of the time since: an edit by hand deep among the
//! dependencies is noticed a moment later. The same holds for a near look that is not [`CHEAP`]. Leaves out what is
//! beyond [`DEPTH`] levels or [`MOST`] entries. The environment is a part of the launch command, and not of this.

use std::{
    collections::HashMap,
    ffi::OsString,
    fmt::Write as _,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use overlay::ContentHash;
use parking_lot::Mutex;

use super::outside::{self, PrintCommand};
use crate::{Launch, Setup, environment::ACTIVE};

/// Levels below a named folder that are looked at now and then.
const DEPTH: u32 = 4;

/// Entries of one folder that are looked at now and then.
const MOST: usize = 50_000;

/// Share of the time that looks may take: one part of so many.
const SHARE: u32 = 50;

/// Cost of a near look that is taken each time: of some thousand entries.
const CHEAP: Duration = Duration::from_millis(5);

/// Caches that tools write beside what is installed.
const CACHES: [&str; 3] = ["__pycache__", ".cache", ".vite"];

/// Cache of looks outside of a workspace, kept for as long as there are servers of it.
#[derive(Default)]
pub(crate) struct OutsideState {
    near: Mutex<HashMap<PathBuf, Near>>,
    long: Mutex<HashMap<PathBuf, Long>>,
    /// Last look at all that a server reads outside, by its setup.
    whole: Mutex<HashMap<ContentHash, (Instant, ContentHash)>>,
    /// Folders of a name in the workspace.
    pub(super) folders: Mutex<HashMap<String, (Instant, Vec<PathBuf>)>>,
    /// Folders that a program printed.
    pub(super) printed: Mutex<HashMap<PrintCommand, (Instant, Vec<PathBuf>)>>,
}

/// Permitted age of a look at the files that a server reads outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutsideAge {
    /// New look, for findings, which are kept under the hash of the state.
    Now,
    /// Look of the last half second, for questions, whose answers are not kept, so that a person who types does not
    /// wait for a look each time.
    Recent,
}

/// Longest age of a recent look.
const RECENT: Duration = Duration::from_millis(500);

/// A near look that was not cheap.
struct Near {
    taken: Instant,
    cost: Duration,
    name: ContentHash,
}

/// The last long look at a place.
struct Long {
    taken: Instant,
    cost: Duration,
    /// Hash of the near look at that time.
    near: ContentHash,
    name: ContentHash,
}

/// Hash over the state of every place outside that the server reads.
pub(super) fn digest(setup: &Setup, outside: &OutsideState) -> ContentHash {
    let Setup { profile, launch, root, .. } = setup;
    let mut paths = environments(root, launch);
    paths.push(launch.program.clone());
    paths.extend(outside::paths(profile, launch, root, outside));
    paths.sort();
    paths.dedup();
    let mut text = String::new();
    for path in &paths {
        let _to_a_string = writeln!(text, "{} {}", path.display(), outside.seen_at(path));
    }
    ContentHash::of(text.as_bytes())
}

impl OutsideState {
    /// Returns the hash of `look`, or of a recent one.
    pub(super) fn whole(
        &self,
        setup: ContentHash,
        age: OutsideAge,
        look: impl FnOnce() -> ContentHash,
    ) -> ContentHash {
        if age == OutsideAge::Recent
            && let Some((_, seen)) = self.whole.lock().get(&setup).filter(|it| it.0.elapsed() < RECENT)
        {
            return *seen;
        }
        let began = Instant::now();
        let seen = look();
        let mut whole = self.whole.lock();
        whole.retain(|_, it| it.0.elapsed() < RECENT);
        whole.insert(setup, (began, seen));
        seen
    }

    /// Hash of the entries of a place outside of the workspace.
    pub(crate) fn seen_at(&self, path: &Path) -> ContentHash {
        let near = self.near(path);
        ContentHash::of(format!("{near} {}", self.deep(path, near)).as_bytes())
    }

    fn near(&self, path: &Path) -> ContentHash {
        let is_fresh = |it: &&Near| lasts(it.cost) > it.taken.elapsed();
        if let Some(near) = self.near.lock().get(path).filter(is_fresh) {
            return near.name;
        }
        let (name, cost) = timed(path, 1);
        let near = Near { taken: Instant::now(), cost, name };
        match lasts(cost) {
            Duration::ZERO => self.near.lock().remove(path),
            _ => self.near.lock().insert(path.to_owned(), near),
        };
        name
    }

    /// Returns the hash of all entries at a place, or a recent one if the near look is still the same.
    fn deep(&self, path: &Path, near: ContentHash) -> ContentHash {
        let is_fresh = |it: &&Long| it.near == near && it.taken.elapsed() < it.cost * SHARE;
        if let Some(long) = self.long.lock().get(path).filter(is_fresh) {
            return long.name;
        }
        let (name, cost) = timed(path, DEPTH);
        let long = Long { taken: Instant::now(), cost, near, name };
        self.long.lock().insert(path.to_owned(), long);
        name
    }
}

/// Time for which a near look of this cost is good.
fn lasts(cost: Duration) -> Duration {
    if cost <= CHEAP { Duration::ZERO } else { cost * SHARE }
}

/// Returns the hash of the entries of a place, down to this number of levels, and the duration of the look.
fn timed(path: &Path, levels: u32) -> (ContentHash, Duration) {
    let (start, mut text) = (Instant::now(), String::new());
    look(path, levels, &mut Budget(MOST), &mut text);
    (ContentHash::of(text.as_bytes()), start.elapsed())
}

/// Value of a variable for a process of this launch.
pub(super) fn variable(launch: &Launch, name: &str) -> Option<OsString> {
    let set = launch.env.iter().rev().find(|it| it.0 == name);
    set.map_or_else(|| std::env::var_os(name), |it| it.1.clone())
}

/// Package folders of the Python environments that a workspace may have or that may be active.
fn environments(root: &Path, launch: &Launch) -> Vec<PathBuf> {
    let active = ACTIVE.into_iter().filter_map(|it| variable(launch, it)).map(PathBuf::from);
    let environments = [root.join(".venv"), root.join("venv")].into_iter().chain(active);
    let packages = environments.flat_map(|it| children(&it.join("lib"))).map(|it| it.join("site-packages"));
    packages.filter(|it| it.is_dir()).collect()
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

/// Whether a folder has a version in its name, as modules of Go (`x@v1.2.3`) and crates (`x-1.2.3`) do: its contents do
/// not change.
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
        let outside = OutsideState::default();
        let seen_at = |name: &str| outside.seen_at(&file(name));
        assert_eq!(seen_at("none"), seen_at("none"));
        assert_ne!(seen_at("none"), seen_at("near"));
    }

    #[test]
    fn a_near_look_is_taken_each_time_unless_it_is_dear() {
        assert_eq!(lasts(CHEAP), Duration::ZERO);
        assert_eq!(lasts(CHEAP * 2), CHEAP * 2 * SHARE);
        let folder = tempfile::tempdir().unwrap();
        let outside = OutsideState::default();
        let before = outside.seen_at(folder.path());
        fs::write(folder.path().join("new"), "").unwrap();
        let now = outside.seen_at(folder.path());
        let name = timed(folder.path(), 1).0;
        if outside.near.lock().is_empty() {
            assert_ne!(now, before);
        }
        // Simulates a look that took an hour.
        let taken = Instant::now();
        let dear = Near { taken, cost: Duration::from_secs(3600), name };
        outside.near.lock().insert(folder.path().to_owned(), dear);
        fs::write(folder.path().join("newer"), "").unwrap();
        assert_eq!(outside.near(folder.path()), name);
    }

    #[test]
    fn both_kinds_of_environment_are_looked_into() {
        let folder = tempfile::tempdir().unwrap();
        let packages = |name: &str| folder.path().join(name).join("lib/python3.13/site-packages");
        for name in [".venv", "active", "conda"] {
            fs::create_dir_all(packages(name)).unwrap();
        }
        fs::create_dir(folder.path().join("conda/lib/cmake")).unwrap();
        let (active, conda) = (folder.path().join("active"), folder.path().join("conda"));
        let launch = outside::tests::launch(&[("VIRTUAL_ENV", &active), ("CONDA_PREFIX", &conda)]);
        let want = [".venv", "active", "conda"].map(packages);
        assert_eq!(environments(folder.path(), &launch), want);
    }
}
