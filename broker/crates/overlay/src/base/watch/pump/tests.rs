//! Watchers that run out, and events that get lost.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::{collections::BTreeSet, fs, path::PathBuf, sync::mpsc};

use notify::{Config, ErrorKind, EventHandler, event::Flag};
use parking_lot::Mutex;
use tempfile::TempDir;

use super::*;
use crate::Disk;

/// Gives so many watches and no more.
struct Stingy {
    left: usize,
    watched: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl Watcher for Stingy {
    fn new<F: EventHandler>(_: F, _: Config) -> notify::Result<Self> {
        Ok(Self { left: 0, watched: Arc::default() })
    }

    fn watch(&mut self, path: &Path, _: RecursiveMode) -> notify::Result<()> {
        let mut watched = self.watched.lock();
        if watched.len() == self.left && !watched.contains(path) {
            return Err(notify::Error::new(ErrorKind::MaxFilesWatch).add_path(path.to_owned()));
        }
        watched.insert(path.to_owned());
        Ok(())
    }

    fn unwatch(&mut self, _: &Path) -> notify::Result<()> {
        Ok(())
    }

    fn kind() -> notify::WatcherKind {
        notify::WatcherKind::NullWatcher
    }
}

struct Fixture {
    folder: TempDir,
    watched: Arc<Mutex<BTreeSet<PathBuf>>>,
    heard: mpsc::Receiver<Changes>,
    pump: Pump,
}

fn fixture(watches: usize) -> Fixture {
    let folder = TempDir::new().unwrap();
    for name in ["a", "b", "private"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let disk = Disk::new(folder.path()).unwrap();
    let cookies = Arc::new(Cookies::new(disk.root().join("private")));
    let watched = Arc::<Mutex<BTreeSet<PathBuf>>>::default();
    let (sender, heard) = mpsc::channel();
    let pump = Pump {
        live: Arc::new(Live::new(disk, 1 << 20)),
        watcher: Box::new(Stingy { left: watches, watched: Arc::clone(&watched) }),
        share: Share::of(usize::MAX, Arc::default()),
        cookies,
        degraded: Arc::default(),
        blind: Arc::default(),
        generation: Arc::default(),
        journal: Arc::default(),
        pending: Changes::default(),
        told: BTreeSet::new(),
        on_change: Box::new(move |changes| sender.send(changes).unwrap()),
    };
    Fixture { folder, watched, heard, pump }
}

#[test]
fn too_few_watches_degrade() {
    let mut enough = fixture(4);
    enough.pump.begin().unwrap();
    assert!(enough.pump.degraded.get().is_none());
    assert!(enough.pump.pending.is_empty());
    let mut few = fixture(3);
    few.pump.begin().unwrap();
    let reason = &few.pump.degraded.get().unwrap().reason;
    assert!(reason.contains("watch limit") && reason.contains('a'), "{reason}");
    assert_eq!(few.watched.lock().len(), 3, "those that stand are kept");
}

#[test]
fn some_watches_are_left_to_others() {
    let mut it = fixture(100);
    // The root, and one below it.
    it.pump.share = Share::of(2, Arc::default());
    it.pump.begin().unwrap();
    let reason = &it.pump.degraded.get().unwrap().reason;
    assert!(reason.starts_with("more directories than are watched (2 in all"), "{reason}");
    // That one is the private folder, which is watched in any case.
    assert_eq!(it.watched.lock().len(), 2);
}

#[test]
fn no_watches_are_an_error() {
    for watches in [0, 1] {
        let error = fixture(watches).pump.begin().unwrap_err();
        assert!(matches!(error, WatchError::Unavailable(_)));
    }
}

#[test]
fn lost_events_are_told_and_lost_directories_found() {
    let mut it = fixture(100);
    it.pump.begin().unwrap();
    let new = it.pump.live.disk().root().join("b/new");
    fs::create_dir(&new).unwrap();
    let lost = Event::new(EventKind::Other).set_flag(Flag::Rescan);
    assert!(matters(&Ok(lost.clone())));
    it.pump.take_in(&lost);
    it.pump.announce();
    let changes = it.heard.recv().unwrap();
    assert_eq!(changes, Changes { paths: BTreeSet::new(), overflow: true });
    assert!(it.watched.lock().contains(&new));
    drop(it.folder);
}

#[test]
fn batches_end() {
    let it = fixture(100);
    let (sender, inbox) = mpsc::channel();
    let path = |it: u32| WorkspacePath::new(&it.to_string()).unwrap();
    // More than is taken in while a batch may last, so that one ends without a pause.
    let feeder = std::thread::spawn(move || {
        let start = Instant::now();
        while start.elapsed() < LONGEST * 3 {
            sender.send(Message::Buffer(path(0))).unwrap();
        }
        sender.send(Message::Buffer(path(1))).unwrap();
        sender.send(Message::Stop).unwrap();
    });
    let generation = Arc::clone(&it.pump.generation);
    it.pump.run(&inbox);
    feeder.join().unwrap();
    let batches = it.heard.iter().count() as u64;
    assert!(batches > 1);
    assert_eq!(generation.load(std::sync::atomic::Ordering::Acquire), batches);
}
