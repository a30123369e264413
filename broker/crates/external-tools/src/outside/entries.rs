//! Entries of places outside of the workspace, compared by their stamps.
//!
//! Entries of the named folders are compared at each look. What lies deeper takes a longer look, and is looked at again once that
//! has cost no more than a fiftieth of the time since: an edit by hand deep among the dependencies is noticed a moment later.
//! The same holds for a near look that takes longer than [`CHEAP_LOOK`]. Leaves out what is beyond [`MAX_DEPTH`] levels or
//! [`MAX_OUTSIDE_ENTRIES`].

use std::{
    collections::HashMap,
    fmt::Write as _,
    fs,
    hash::Hash,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use overlay::ContentHash;
use parking_lot::Mutex;

/// Levels below a named folder that are looked at now and then.
const MAX_DEPTH: u32 = 4;

/// Entries of one place that are looked at.
const MAX_OUTSIDE_ENTRIES: usize = 50_000;

/// Folders of the workspace in which those of a name are looked for.
const MAX_WALKED_FOLDERS: usize = 20_000;

/// Time for which the folders of a name in the workspace are taken to be all.
const WALK_INTERVAL: Duration = Duration::from_secs(5);

/// Share of the time that looks may take: one part of so many.
const LOOK_SHARE: u32 = 50;

/// Cost of a near look that is taken each time: of some thousand entries.
const CHEAP_LOOK: Duration = Duration::from_millis(5);

/// Longest age of a recent look.
const RECENT: Duration = Duration::from_millis(500);

/// Time after which what was kept is forgotten.
const MAX_KEPT_TIME: Duration = Duration::from_secs(3600);

/// Caches that tools write beside what is installed.
const CACHES: [&str; 3] = ["__pycache__", ".cache", ".vite"];

/// Permitted age of a look at the files that a tool reads outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutsideAge {
    /// New look, for findings, which are kept under the hash of the state.
    Now,
    /// Look of the last half second, for questions, whose answers are not kept, so that a person who types does not
    /// wait for a look each time.
    Recent,
}

/// Cache of looks outside of a workspace.
#[derive(Default)]
pub struct OutsideState {
    near: Kept<PathBuf, Near>,
    deep: Kept<PathBuf, Deep>,
    /// Last look at all that a tool reads outside, by its setup.
    whole: Kept<ContentHash, ContentHash>,
    /// Folders of a name in the workspace, by the one at its root.
    folders: Kept<PathBuf, Vec<PathBuf>>,
    /// Folders that programs printed, by the command.
    pub(super) printed: Kept<ContentHash, Vec<PathBuf>>,
    /// Whether each near look is taken, whatever it costs.
    is_exact: bool,
}

/// Values with the time when they were learned.
pub(super) struct Kept<K, V>(Mutex<HashMap<K, (Instant, V)>>);

/// A near look that was not cheap.
#[derive(Clone, Copy)]
struct Near {
    cost: Duration,
    hash: ContentHash,
}

/// The last deep look at a place.
#[derive(Clone, Copy)]
struct Deep {
    cost: Duration,
    /// Hash of the near look at that time.
    near: ContentHash,
    hash: ContentHash,
}

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> Kept<K, V> {
    pub(super) fn get(&self, key: &K, longest: Duration) -> Option<V> {
        self.get_if(key, |_| longest)
    }

    /// The value, if it is not older than it may be.
    fn get_if(&self, key: &K, longest: impl Fn(&V) -> Duration) -> Option<V> {
        let kept = self.0.lock();
        let (learned, value) = kept.get(key)?;
        (learned.elapsed() < longest(value)).then(|| value.clone())
    }

    pub(super) fn keep(&self, key: K, value: V) {
        self.keep_from(key, value, Instant::now());
    }

    fn keep_from(&self, key: K, value: V, learned: Instant) {
        let mut kept = self.0.lock();
        kept.retain(|_, it| it.0.elapsed() < MAX_KEPT_TIME);
        kept.insert(key, (learned, value));
    }
}

impl OutsideState {
    /// A state whose near looks are all taken, for tools that run much longer than a look.
    pub fn exact() -> Self {
        Self { is_exact: true, ..Self::default() }
    }

    /// Returns the hash of `look`, or of a recent one for the same setup.
    pub fn whole(
        &self,
        setup: ContentHash,
        age: OutsideAge,
        look: impl FnOnce() -> ContentHash,
    ) -> ContentHash {
        if age == OutsideAge::Recent
            && let Some(seen) = self.whole.get(&setup, RECENT)
        {
            return seen;
        }
        let began = Instant::now();
        let seen = look();
        self.whole.keep_from(setup, seen, began);
        seen
    }

    /// Hash of the entries of a place outside of the workspace.
    pub fn seen_at(&self, path: &Path) -> ContentHash {
        let near = self.near(path);
        ContentHash::of(format!("{near} {}", self.deep(path, near)).as_bytes())
    }

    fn near(&self, path: &Path) -> ContentHash {
        let key = path.to_owned();
        if let Some(near) = self.near.get_if(&key, |it| reuse_time(it.cost)).filter(|_| !self.is_exact) {
            return near.hash;
        }
        let (hash, cost) = timed(path, 1);
        if reuse_time(cost) > Duration::ZERO {
            self.near.keep(key, Near { cost, hash });
        }
        hash
    }

    /// Returns the hash of all entries at a place, or a recent one if the near look is still the same.
    fn deep(&self, path: &Path, near: ContentHash) -> ContentHash {
        let key = path.to_owned();
        let longest = |it: &Deep| if it.near == near { it.cost * LOOK_SHARE } else { Duration::ZERO };
        if let Some(deep) = self.deep.get_if(&key, longest) {
            return deep.hash;
        }
        let (hash, cost) = timed(path, MAX_DEPTH);
        self.deep.keep(key, Deep { cost, near, hash });
        hash
    }

    /// Folders of this name in the workspace, with the one at its root that an installation may make.
    pub(super) fn folders_named(&self, name: &str, root: &Path) -> Vec<PathBuf> {
        let at_root = root.join(name);
        self.folders.get(&at_root, WALK_INTERVAL).unwrap_or_else(|| {
            let mut found = walk(name, root);
            found.push(at_root.clone());
            self.folders.keep(at_root, found.clone());
            found
        })
    }
}

/// Time for which a near look of this cost is good.
fn reuse_time(cost: Duration) -> Duration {
    if cost <= CHEAP_LOOK { Duration::ZERO } else { cost * LOOK_SHARE }
}

/// Returns the hash of the entries of a place, down to this number of levels, and the duration of the look.
fn timed(path: &Path, levels: u32) -> (ContentHash, Duration) {
    let (start, mut text) = (Instant::now(), String::new());
    stat_entries(path, levels, &mut Budget(MAX_OUTSIDE_ENTRIES), &mut text);
    (ContentHash::of(text.as_bytes()), start.elapsed())
}

#[expect(clippy::disallowed_methods, reason = "programs and dependencies are looked for on the disk")]
pub(crate) fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|it| it.path()).filter(|it| !is_cache(it)).collect();
    paths.sort();
    paths
}

fn is_cache(path: &Path) -> bool {
    path.file_name().is_some_and(|name| CACHES.iter().any(|it| name == *it))
}

fn walk(name: &str, root: &Path) -> Vec<PathBuf> {
    let (mut found, mut todo, mut walked) = (Vec::new(), vec![root.to_owned()], 0);
    while let Some(folder) = todo.pop().filter(|_| walked < MAX_WALKED_FOLDERS) {
        walked += 1;
        for child in children(&folder).into_iter().filter(|it| it.is_dir() && !it.is_symlink()) {
            let own = child.file_name().unwrap_or_default();
            if own == name {
                found.push(child);
            } else if !own.as_encoded_bytes().starts_with(b".") {
                todo.push(child);
            }
        }
    }
    found
}

/// Entries that may still be looked at.
struct Budget(usize);

/// Adds the stamps of what is at `path`, and so many levels below it.
fn stat_entries(path: &Path, levels: u32, budget: &mut Budget, text: &mut String) {
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
        stat_entries(&child, levels, budget, text);
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
        let near = |levels| timed(folder.path(), levels).0;
        let (first, deep) = (near(1), near(MAX_DEPTH));
        fs::write(file("__pycache__/x.pyc"), "").unwrap();
        assert_eq!((near(1), near(MAX_DEPTH)), (first, deep), "a cache is none of its business");
        fs::write(file("near/deep/it.py"), "x").unwrap();
        assert_eq!(near(1), first);
        assert_ne!(near(MAX_DEPTH), deep);
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
        assert_eq!(reuse_time(CHEAP_LOOK), Duration::ZERO);
        assert_eq!(reuse_time(CHEAP_LOOK * 2), CHEAP_LOOK * 2 * LOOK_SHARE);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let (outside, exact) = (OutsideState::default(), OutsideState::exact());
        let hash = timed(path, 1).0;
        for state in [&outside, &exact] {
            // Simulates a look that took an hour.
            state.near.keep(path.to_owned(), Near { cost: Duration::from_secs(3600), hash });
        }
        fs::write(path.join("new"), "").unwrap();
        assert_eq!(outside.near(path), hash);
        assert_ne!(exact.near(path), hash);
    }
}
