//! Tests of the announcements. `settle` returns when every event has come, so nothing here waits for time to pass.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::symlink,
    sync::{Arc, mpsc},
    time::Duration,
};

use bytes::Bytes;
use parking_lot::Mutex;
use tempfile::TempDir;

use super::*;
use crate::{Base, BaseOptions, View as _};

const LONG: Duration = Duration::from_secs(20);

/// A workspace with a watch, and all that it announced.
struct Watched {
    folder: TempDir,
    _private: TempDir,
    base: Base,
    watch: Watch,
    heard: Arc<Mutex<Vec<Changes>>>,
}

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn watched(fill: impl Fn(&Path)) -> Watched {
    let (folder, private) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    fill(folder.path());
    let base = Base::open(folder.path(), BaseOptions::default()).unwrap();
    let heard = Arc::<Mutex<Vec<Changes>>>::default();
    let sink = Arc::clone(&heard);
    let watch = base.watch(private.path(), move |it| sink.lock().push(it)).unwrap();
    Watched { folder, _private: private, base, watch, heard }
}

impl Watched {
    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Returns the changes announced since the last call.
    fn news(&self) -> Vec<String> {
        self.watch.settle(LONG).unwrap();
        let heard = std::mem::take(&mut *self.heard.lock());
        let paths: BTreeSet<_> = heard.into_iter().flat_map(|it| it.paths).collect();
        paths.into_iter().map(|it| it.to_string()).collect()
    }
}

#[test]
fn tells_what_came_went_and_changed() {
    let it = watched(|root| {
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/file"), "").unwrap();
    });
    assert!(it.news().is_empty(), "what is there is no news");
    assert_eq!(it.base.generation(), 0);
    fs::write(it.at("a/b/file"), "text").unwrap();
    assert_eq!(it.news(), ["a/b/file"]);
    fs::rename(it.at("a/b/file"), it.at("moved")).unwrap();
    assert_eq!(it.news(), ["a/b/file", "moved"]);
    fs::remove_file(it.at("moved")).unwrap();
    symlink("nowhere", it.at("link")).unwrap();
    assert_eq!(it.news(), ["link", "moved"]);
    assert!(it.watch.degraded().is_none());
}

#[test]
fn reading_is_no_change() {
    let it = watched(|root| fs::write(root.join("file"), "text").unwrap());
    it.base.read(&path("file")).unwrap();
    it.base.list(&WorkspacePath::root()).unwrap();
    assert!(it.news().is_empty());
}

#[test]
fn new_directories_are_watched_with_all_that_was_in_them() {
    let it = watched(|_| {});
    fs::create_dir_all(it.at("x/y/z")).unwrap();
    fs::write(it.at("x/y/z/early"), "").unwrap();
    assert!(it.news().contains(&"x/y/z/early".to_owned()));
    fs::write(it.at("x/y/z/late"), "").unwrap();
    assert_eq!(it.news(), ["x/y/z/late"]);
    fs::rename(it.at("x"), it.at("w")).unwrap();
    let news = it.news();
    assert!(["x", "w", "w/y/z/early"].iter().all(|path| news.contains(&(*path).to_owned())), "{news:?}");
    fs::write(it.at("w/y/z/late"), "again").unwrap();
    assert_eq!(it.news(), ["w/y/z/late"]);
    fs::remove_dir_all(it.at("w")).unwrap();
    fs::create_dir(it.at("w")).unwrap();
    it.news();
    fs::write(it.at("w/file"), "").unwrap();
    assert_eq!(it.news(), ["w/file"]);
}

#[test]
fn what_no_walk_visits_is_not_told() {
    let it = watched(|root| {
        for name in [".git/refs", "node_modules/p", "target/debug", "a/.venv/lib"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
    });
    for name in [".git/refs/x", ".git/HEAD", "node_modules/p/x", "target/debug/x", "a/.venv/lib/x"] {
        fs::write(it.at(name), "").unwrap();
    }
    fs::create_dir_all(it.at("b/__pycache__/c")).unwrap();
    assert_eq!(it.news(), ["b"]);
}

#[test]
fn buffers_are_told_by_the_same_way() {
    let it = watched(|root| fs::write(root.join("file"), "").unwrap());
    it.base.set_buffer(&path("file"), Bytes::from_static(b"unsaved")).unwrap();
    assert_eq!(it.news(), ["file"]);
    assert!(it.base.close_buffer(&path("file")));
    assert!(!it.base.close_buffer(&path("file")));
    assert_eq!(it.news(), ["file"]);
    assert_eq!(it.base.generation(), 2);
}

#[test]
fn a_private_folder_in_the_workspace_is_not_told_of() {
    let folder = TempDir::new().unwrap();
    let private = folder.path().join("private");
    fs::create_dir(&private).unwrap();
    let base = Base::open(folder.path(), BaseOptions::default()).unwrap();
    let watch = base.watch(&private, |changes| panic!("{changes:?}")).unwrap();
    watch.settle(LONG).unwrap();
    watch.settle(LONG).unwrap();
    assert_eq!(base.disk().list(&path("private")).unwrap().entries.len(), 0);
    assert_eq!(base.generation(), 0);
}

#[test]
fn several_may_watch_and_one_may_stop() {
    let it = watched(|_| {});
    let other = TempDir::new().unwrap();
    let (sender, heard) = mpsc::channel();
    let second = it.base.watch(other.path(), move |changes| sender.send(changes).unwrap()).unwrap();
    fs::write(it.at("one"), "").unwrap();
    second.settle(LONG).unwrap();
    assert!(heard.recv().unwrap().paths.contains(&path("one")));
    drop(second);
    fs::write(it.at("two"), "").unwrap();
    assert_eq!(it.news(), ["one", "two"]);
    assert!(heard.try_iter().next().is_none());
}

#[test]
fn settle_does_not_wait_for_ever() {
    let (folder, private) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let base = Base::open(folder.path(), BaseOptions::default()).unwrap();
    let (open, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let watch = base.watch(private.path(), move |_| gate.lock().recv().unwrap_or(())).unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let short = Duration::from_millis(20);
    assert!(matches!(watch.settle(short), Err(SettleError::TimedOut(it)) if it == short));
    drop(open);
    watch.settle(LONG).unwrap();
    drop(private);
    assert!(matches!(watch.settle(LONG), Err(SettleError::Cookie { .. })));
}

#[test]
fn settle_says_when_the_watch_has_stopped() {
    let (folder, private) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let base = Base::open(folder.path(), BaseOptions::default()).unwrap();
    let watch = base.watch(private.path(), |_| panic!("the callback's own fault")).unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    assert!(matches!(watch.settle(LONG), Err(SettleError::Stopped)));
    assert!(matches!(watch.settle(LONG), Err(SettleError::Stopped)));
    assert_eq!(base.hash(&path("file")).unwrap(), crate::ContentHash::of(b""));
}

#[test]
fn the_private_folder_must_be_there() {
    let folder = TempDir::new().unwrap();
    let base = Base::open(folder.path(), BaseOptions::default()).unwrap();
    let error = base.watch(&folder.path().join("missing"), |_| {}).err().unwrap();
    assert!(matches!(error, WatchError::Private { .. }));
}
