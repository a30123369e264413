//! Tests of the cache: its entries, and when they are valid.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::{cell::Cell, fs, time::Duration};

use tempfile::TempDir;

use super::*;

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn live(folder: &TempDir, text_budget: u64) -> Live {
    Live::new(Disk::new(folder.path()).unwrap(), text_budget)
}

#[test]
fn what_is_at_rest_is_known_and_what_just_changed_is_not() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("file"), "text").unwrap();
    let live = live(&folder, 1 << 20);
    let is_known = |it: &str| live.known(&path(it)).unwrap().is_some();
    std::thread::sleep(Duration::from_millis(70));
    assert!(!is_known("file"));
    live.hash(&path("file")).unwrap();
    live.list(&path("")).unwrap();
    assert!(is_known("file") && is_known(""));
    fs::write(folder.path().join("file"), "TEXT").unwrap();
    assert!(!is_known("file") && is_known(""), "a folder is not changed by a change in a file");
    live.hash(&path("file")).unwrap();
    assert!(!is_known("file"));
    fs::write(folder.path().join("new"), "").unwrap();
    assert!(!is_known(""));
}

#[test]
fn texts_keep_to_their_budget_and_hashes_stay() {
    let folder = TempDir::new().unwrap();
    for index in 0..64 {
        fs::write(folder.path().join(index.to_string()), vec![index; 1000]).unwrap();
    }
    std::thread::sleep(Duration::from_millis(70));
    let live = live(&folder, 16_000);
    for index in 0..64 {
        assert_eq!(live.read(&path(&index.to_string())).unwrap(), vec![index; 1000]);
    }
    assert!(live.texts.weight() <= 16_000);
    assert!((0..64).all(|it| live.known(&path(&it.to_string())).unwrap().is_some()));
    for index in 0..64 {
        assert_eq!(live.read(&path(&index.to_string())).unwrap(), vec![index; 1000]);
    }
}

/// The stamp of a file of this length.
fn stamp(folder: &TempDir, length: usize) -> Stamp {
    fs::write(folder.path().join("file"), vec![b'x'; length]).unwrap();
    Disk::new(folder.path()).unwrap().stamp(&path("file")).unwrap()
}

#[test]
fn a_file_that_changes_while_it_is_read_is_read_again() {
    let folder = TempDir::new().unwrap();
    let stamps: Vec<_> = (0..10).map(|length| stamp(&folder, length)).collect();
    std::thread::sleep(Duration::from_millis(70));
    let looks = |script: &[(usize, usize)]| {
        let turn = Cell::new(0);
        let read = || {
            let (before, after) = script[turn.replace(turn.get() + 1)];
            Ok(Stamped { value: turn.get(), before: stamps[before], after: stamps[after] })
        };
        at_rest(read).map(|it| (it.value, it.is_settled.then_some(it.stamp))).unwrap()
    };
    assert_eq!(looks(&[(0, 0)]), (1, Some(stamps[0])));
    assert_eq!(looks(&[(0, 1), (1, 2), (2, 2)]), (3, Some(stamps[2])));
    let growing = [(0, 1), (1, 2), (2, 3), (3, 4)];
    assert_eq!(looks(&growing), (4, None), "given as it is, and not kept");
}
