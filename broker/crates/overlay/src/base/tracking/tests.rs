//! Compares the remembered state of a folder with the folder. `sync` returns when every change was reported, so
//! nothing here waits for time to pass.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::{
    ffi::OsStr,
    fs::{self, File},
    os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _},
    path::{Path, PathBuf},
};

use bytes::Bytes;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::{Base, BaseOptions, Tracked, View as _, WalkOptions, Watch, kept_walk, walk};

#[test]
fn mounts_in_a_folder_are_found() {
    assert!(is_below("/a/b", "/a") && is_below("/a", "/") && is_below(&unescaped("/a\\040b/c"), "/a b"));
    assert!(!is_below("/a", "/a") && !is_below("/ab", "/a") && !is_below("/", "/"));
}

#[test]
fn what_the_kernel_makes_up_is_not_local() {
    assert!(!is_local(Path::new("/proc")));
}

struct Watched {
    folder: TempDir,
    private: TempDir,
    base: Base,
    watch: Option<Watch>,
}

fn watched(fill: impl Fn(&Path)) -> Watched {
    let (folder, private) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    fill(folder.path());
    let base = Base::open(folder.path(), BaseOptions::default()).unwrap();
    let watch = base.watch(private.path(), |_| {}).ok();
    Watched { folder, private, base, watch }
}

impl Watched {
    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn tracked(&self) -> Tracked {
        self.base.tracked().unwrap()
    }

    /// Returns the changes reported since `moment`.
    fn told(&self, moment: Moment) -> Vec<String> {
        let log = self.tracked().log;
        log.sync().unwrap();
        log.changed_since(moment).unwrap().iter().map(ToString::to_string).collect()
    }
}

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

#[test]
fn remembers_what_changed_and_more_than_is_announced() {
    let it = watched(|root| fs::create_dir_all(root.join("a/b")).unwrap());
    let start = it.tracked().log.sync().unwrap();
    fs::write(it.at("a/b/c"), "").unwrap();
    fs::create_dir(it.at("a/node_modules")).unwrap();
    it.base.set_buffer(&path("buffered"), Bytes::from_static(b"x")).unwrap();
    assert_eq!(it.told(start), ["a/b/c", "a/node_modules", "buffered"]);
    let middle = it.tracked().log.sync().unwrap();
    fs::write(it.at("a/node_modules/x"), "").unwrap();
    assert_eq!(it.told(middle), [""; 0], "that is not covered");
    // Listings count what no view can name.
    fs::write(it.at("a").join(OsStr::from_bytes(b"\xff")), "").unwrap();
    assert_eq!(it.told(middle), ["a"]);
}

#[test]
fn says_what_it_is_not_told_of() {
    let it = watched(|root| {
        fs::create_dir_all(root.join("a/node_modules")).unwrap();
        fs::write(root.join("one"), "").unwrap();
        fs::hard_link(root.join("one"), root.join("two")).unwrap();
    });
    let log = it.tracked().log;
    let [folder, vendored, inside] = ["a", "a/node_modules", "a/node_modules/x"].map(path);
    assert!(log.covers(Look::Listing(&folder)) && log.covers(Look::At(&vendored)));
    assert!(!log.covers(Look::Listing(&vendored)) && !log.covers(Look::At(&inside)));
    it.base.hash_all(&WorkspacePath::root(), &["one"], u64::MAX);
    it.base.hash(&path("two")).unwrap();
    assert!(!log.covers(Look::At(&path("one"))) && !log.covers(Look::At(&path("two"))));
    assert!(log.covers(Look::At(&path("three"))));
}

#[test]
fn promises_nothing_without_a_watch() {
    let mut it = watched(|_| ());
    let log = it.tracked().log;
    assert!(log.sync().is_some());
    it.watch = None;
    assert_eq!(log.sync(), None);
    assert!(kept_walk(&it.base, &WalkOptions::default()).is_none());
    it.watch = it.base.watch(it.private.path(), |_| {}).ok();
    assert!(log.sync().is_some());
}

/// A program that stands in a directory keeps it after it was removed, and its end is told only then.
#[test]
fn a_directory_that_took_the_place_of_another_is_watched() {
    let it = watched(|root| fs::create_dir(root.join("a")).unwrap());
    let log = it.tracked().log;
    let standing = File::open(it.at("a")).unwrap();
    fs::remove_dir(it.at("a")).unwrap();
    fs::create_dir(it.at("a")).unwrap();
    log.sync().unwrap();
    drop(standing);
    // The watch is renewed when the end is told, after which a file is told of.
    let mut moment = log.sync().unwrap();
    for number in 0..50 {
        fs::write(it.at("a/b"), number.to_string()).unwrap();
        assert!(it.told(moment).contains(&"a/b".to_owned()), "write {number}");
        moment = log.sync().unwrap();
    }
}

#[test]
fn what_is_closed_is_not_covered() {
    let it = watched(|root| {
        fs::create_dir(root.join("a")).unwrap();
        fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o000)).unwrap();
    });
    let is_open = fs::read_dir(it.at("a")).is_ok();
    // Nothing is closed to the superuser.
    assert_eq!(it.tracked().log.covers(Look::Listing(&path("a"))), is_open);
    fs::set_permissions(it.at("a"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[derive(Debug, Clone)]
enum Act {
    Write(String, &'static str),
    Remove(String),
    Rename(String, String),
    Link(String, String),
    Buffer(String),
    Close(String),
}

fn act() -> impl Strategy<Value = Act> {
    let name = || prop::sample::select(vec!["a", "b", "a-b", ".gitignore", "node_modules", "target", ".git"]);
    let place = move || prop::collection::vec(name(), 1..4).prop_map(|it| it.join("/"));
    prop_oneof![
        4 => (place(), prop::sample::select(vec!["", "a", "b/", "*\n!a"])).prop_map(|(at, it)| Act::Write(at, it)),
        2 => place().prop_map(Act::Remove),
        2 => (place(), place()).prop_map(|(from, to)| Act::Rename(from, to)),
        1 => (place(), prop::sample::select(vec!["a", "../a", "target/a", "/"]))
            .prop_map(|(at, to)| Act::Link(at, to.to_owned())),
        1 => place().prop_map(Act::Buffer),
        1 => place().prop_map(Act::Close),
    ]
}

/// Whether a change at `at` is made below `root`, wherever links lead; `follows`: whether a link at its end is followed.
fn is_within(root: &Path, at: &Path, follows: bool) -> bool {
    let there = at.ancestors().skip(usize::from(!follows)).find(|it| it.symlink_metadata().is_ok());
    let real = there.and_then(|it| it.canonicalize().ok());
    real.is_some_and(|it| root.canonicalize().is_ok_and(|root| it.starts_with(root)))
}

/// Performs `act`. Acts that fail are skipped, and so are those that a link would lead into another folder.
fn perform(it: &Watched, act: &Act) {
    let is_within = |at: &str, follows| is_within(it.folder.path(), &it.at(at), follows);
    let is_allowed = match act {
        Act::Write(at, _) => is_within(at, true),
        Act::Remove(at) | Act::Link(at, _) => is_within(at, false),
        Act::Rename(from, to) => is_within(from, false) && is_within(to, false),
        Act::Buffer(_) | Act::Close(_) => true,
    };
    match act {
        _ if !is_allowed => {}
        Act::Write(at, text) => {
            let at = it.at(at);
            let _ = at.parent().map(fs::create_dir_all);
            let _ = fs::write(at, text);
        }
        Act::Remove(at) => {
            let _ = fs::remove_dir_all(it.at(at)).or_else(|_| fs::remove_file(it.at(at)));
        }
        Act::Rename(from, to) => _ = fs::rename(it.at(from), it.at(to)),
        Act::Link(at, to) => _ = std::os::unix::fs::symlink(to, it.at(at)),
        Act::Buffer(at) => _ = it.base.set_buffer(&path(at), Bytes::from_static(b"b")),
        Act::Close(at) => _ = it.base.close_buffer(&path(at)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_walk_that_is_kept_of_a_folder_is_that_from_nothing(
        rounds in prop::collection::vec(prop::collection::vec(act(), 1..8), 1..6),
    ) {
        let it = watched(|_| ());
        let options = WalkOptions::default();
        for round in rounds {
            round.iter().for_each(|act| perform(&it, act));
            let kept = kept_walk(&it.base, &options).unwrap();
            let mut fresh = walk(&it.base, &[WorkspacePath::root()], &options);
            prop_assert_eq!(kept.files().cloned().collect::<Vec<_>>(), fresh.by_ref().collect::<Vec<_>>());
            prop_assert_eq!(kept.skipped(), fresh.skipped());
        }
    }
}
