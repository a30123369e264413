//! Random changes of a real folder, after each of which a base must answer as a disk that knows nothing.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test stops at what is unexpected")]

use std::{
    fs, io,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    time::Duration,
};

use overlay::{Base, BaseOptions, ContentHash, Disk, View, WalkOptions, WorkspacePath, tree_hash};
use proptest::{prelude::*, test_runner::RngSeed};

#[derive(Debug, Clone)]
enum Change {
    Write(String, &'static str),
    /// In place, as large as before, and with the old time.
    Rewrite(String),
    Rename(String, String),
    Remove(String),
    MakeDir(String),
    Chmod(String, u32),
    Symlink(String, &'static str),
    /// Time passes, so that what was changed can be believed from now on.
    Rest,
}

/// Applies the change to the folder. Changes that fail are skipped.
fn apply(root: &Path, change: &Change) {
    let at = |it: &String| root.join(it);
    let _: io::Result<()> = match change {
        Change::Write(path, text) => fs::write(at(path), text),
        Change::Rewrite(path) => rewrite(&at(path)),
        Change::Rename(from, to) => fs::rename(at(from), at(to)),
        Change::Remove(path) => fs::remove_file(at(path)).or_else(|_| fs::remove_dir_all(at(path))),
        Change::MakeDir(path) => fs::create_dir_all(at(path)),
        Change::Chmod(path, mode) => fs::set_permissions(at(path), fs::Permissions::from_mode(*mode)),
        Change::Symlink(path, target) => symlink(target, at(path)),
        Change::Rest => {
            std::thread::sleep(Duration::from_millis(60));
            Ok(())
        }
    };
}

fn rewrite(file: &Path) -> io::Result<()> {
    let (time, size) = (fs::metadata(file)?.modified()?, fs::metadata(file)?.len());
    fs::write(file, "z".repeat(usize::try_from(size).unwrap()))?;
    fs::OpenOptions::new().write(true).open(file)?.set_modified(time)
}

const NAMES: [&str; 3] = ["a", "b", "c"];

fn universe() -> Vec<WorkspacePath> {
    let two = NAMES.iter().flat_map(|a| NAMES.map(|b| format!("{a}/{b}")));
    let three = two.clone().flat_map(|ab| NAMES.map(|c| format!("{ab}/{c}")));
    let all = [String::new()].into_iter().chain(NAMES.map(str::to_owned)).chain(two).chain(three);
    all.map(|it| WorkspacePath::new(&it).unwrap()).collect()
}

fn compare(base: &Base, disk: &Disk) -> Result<(), TestCaseError> {
    for path in universe() {
        let text = disk.read(&path).map_err(|it| it.kind());
        prop_assert_eq!(base.read(&path).map_err(|it| it.kind()), text.clone(), "content of {}", &path);
        let hash = text.map(|it| ContentHash::of(&it));
        prop_assert_eq!(base.hash(&path).map_err(|it| it.kind()), hash, "hash of {}", &path);
        let metadata = disk.metadata(&path).map_err(|it| it.kind());
        prop_assert_eq!(base.metadata(&path).map_err(|it| it.kind()), metadata, "metadata of {}", &path);
        let listing = disk.list(&path).map_err(|it| it.kind());
        prop_assert_eq!(base.list(&path).map_err(|it| it.kind()), listing, "listing of {}", &path);
        let link = disk.read_link(&path).map_err(|it| it.kind());
        prop_assert_eq!(base.read_link(&path).map_err(|it| it.kind()), link, "link of {}", &path);
    }
    Ok(())
}

fn changes() -> impl Strategy<Value = Change> {
    let name = || prop::sample::select(&NAMES[..]);
    let path = move || prop::collection::vec(name(), 1..4).prop_map(|it| it.join("/"));
    let text = prop::sample::select(&["", "one", "two", "longer"][..]);
    let target = prop::sample::select(&["a", "../b", "c", "..", "/nowhere/at/all"][..]);
    let mode = prop::sample::select(&[0o644, 0o755, 0o600][..]);
    prop_oneof![
        4 => (path(), text).prop_map(|(path, text)| Change::Write(path, text)),
        3 => path().prop_map(Change::Rewrite),
        4 => (path(), path()).prop_map(|(from, to)| Change::Rename(from, to)),
        2 => path().prop_map(Change::Remove),
        2 => path().prop_map(Change::MakeDir),
        2 => (path(), mode).prop_map(|(path, mode)| Change::Chmod(path, mode)),
        2 => (path(), target).prop_map(|(path, target)| Change::Symlink(path, target)),
        1 => Just(Change::Rest),
    ]
}

/// Runs the same cases each time.
fn config() -> ProptestConfig {
    let rng_seed = RngSeed::Fixed(7);
    ProptestConfig { cases: 40, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_base_answers_as_the_disk(
        changes in prop::collection::vec(changes(), 1..30),
        text_budget in prop::sample::select(&[100, 1 << 20][..]),
    ) {
        // The changes follow links; none may reach what is not theirs.
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("x/y/z/root");
        fs::create_dir_all(root.join("a/a")).unwrap();
        for file in ["a/a/a", "a/b", "c"] {
            fs::write(root.join(file), "text").unwrap();
        }
        apply(&root, &Change::Rest);
        let base = Base::open(&root, BaseOptions { text_budget }).unwrap();
        let disk = Disk::new(&root).unwrap();
        compare(&base, &disk)?;
        for change in &changes {
            apply(&root, change);
            compare(&base, &disk)?;
        }
        let hash = |view: &dyn View| tree_hash(view, &WalkOptions::default()).unwrap().root();
        prop_assert_eq!(hash(&base), hash(&disk));
    }
}
