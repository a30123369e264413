//! Small differences by hand; `tests/model` compares random ones with a full walk.

use std::sync::Arc;

use super::*;
use crate::{Branch, Memory};

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn branch() -> Branch {
    let mut memory =
        Memory::from_files([("src/lib.rs", "lib"), ("src/deep/a.rs", "a"), ("README", "r")]).unwrap();
    memory.insert_symlink(&path("link"), "src");
    Branch::new(Arc::new(memory))
}

/// Checks the changes, a line for each, then the changed paths.
fn check(edit: impl FnOnce(&mut Branch), want: &[&str], paths: &[&str]) {
    let mut branch = branch();
    edit(&mut branch);
    let snapshot = branch.snapshot();
    let changes = snapshot.changes(&snapshot.base_of()).unwrap();
    let line = |it: &Change| match &it.kind {
        ChangeKind::Renamed { from } => format!("Renamed {from} {}", it.path),
        kind => format!("{kind:?} {}", it.path),
    };
    assert_eq!(changes.iter().map(line).collect::<Vec<_>>(), want);
    let changed = snapshot.changed_paths(&snapshot.base_of());
    assert_eq!(changed.iter().map(|it| it.to_string()).collect::<Vec<_>>(), paths);
}

#[test]
fn files_come_go_and_change() {
    check(
        |it| {
            it.write(&path("src/deep/new/b.rs"), "b".into()).unwrap();
            it.write(&path("src/lib.rs"), "other".into()).unwrap();
            it.remove(&path("link")).unwrap();
            it.set_executable(&path("README"), true).unwrap();
        },
        &[
            "ModeChanged README",
            "Deleted link",
            "Added src/deep/new",
            "Added src/deep/new/b.rs",
            "Modified src/lib.rs",
        ],
        &["README", "link", "src/deep/new", "src/lib.rs"],
    );
}

#[test]
fn what_was_written_back_is_no_change() {
    check(
        |it| {
            it.write(&path("src/lib.rs"), "other".into()).unwrap();
            it.write(&path("src/lib.rs"), "lib".into()).unwrap();
            it.rename(&path("README"), &path("x")).unwrap();
            it.rename(&path("x"), &path("README")).unwrap();
        },
        &[],
        // Contents of the base are not looked at, nor is it noticed that the same came back.
        &["README", "src/lib.rs"],
    );
}

#[test]
fn a_moved_directory_is_told_file_by_file() {
    check(
        |it| {
            it.rename(&path("src"), &path("source")).unwrap();
        },
        &[
            "Added source",
            "Added source/deep",
            "Renamed src/deep/a.rs source/deep/a.rs",
            "Renamed src/lib.rs source/lib.rs",
            "Deleted src",
            "Deleted src/deep",
        ],
        &["source", "src"],
    );
}

#[test]
fn a_file_that_becomes_a_directory() {
    check(
        |it| {
            it.remove(&path("README")).unwrap();
            it.write(&path("README/now"), "r".into()).unwrap();
        },
        &["TypeChanged README", "Added README/now"],
        &["README"],
    );
}

#[test]
fn changed_files_are_counted_one_by_one() {
    let mut branch = branch();
    let count = |it: &Branch| it.snapshot().changed_count(&it.snapshot().base_of());
    assert_eq!(count(&branch), 0);
    (0..100).for_each(|it| {
        branch.write(&path(&format!("new/deep/{it}")), "x".into()).unwrap();
    });
    assert_eq!(
        (count(&branch), branch.snapshot().changed_paths(&branch.snapshot().base_of()).len()),
        (100, 1)
    );
    branch.create_dir(&path("empty")).unwrap();
    branch.remove(&path("src")).unwrap();
    assert_eq!(count(&branch), 102);
}
