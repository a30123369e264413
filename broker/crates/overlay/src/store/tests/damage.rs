//! Files that cannot be read, folders that cannot be written to, disks that are full.

use std::process::Command;

use super::*;

/// A folder with a store in it, and the store's file.
fn filled() -> (TempDir, PathBuf) {
    let folder = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
    let store = Store::open(folder.path()).unwrap();
    for n in 0..40 {
        store.save(&format!("b{n}"), Some(record("x")), vec![step(n, &format!("text {n}"))]).unwrap();
    }
    drop(store);
    let file = folder.path().join("branches.redb");
    (folder, file)
}

#[test]
fn a_second_opener_is_told_so() {
    let (folder, _) = filled();
    let _store = Store::open(folder.path()).unwrap();
    let error = Store::open(folder.path()).err().unwrap();
    assert!(matches!(error, StoreError::InUse { .. }), "{error}");
}

/// Damages the file, and finds it told, and left byte for byte.
fn expect_damage(file: &Path, damaged: &[u8]) -> StoreError {
    fs::write(file, damaged).unwrap();
    let error = Store::open(file.parent().unwrap()).err().unwrap();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("branches.redb"), "{error}");
    assert_eq!(fs::read(file).unwrap(), damaged, "the file was changed");
    error
}

#[test]
fn a_cut_file_is_told_and_left_as_it_is() {
    let (_folder, file) = filled();
    let whole = fs::read(&file).unwrap();
    for length in [0, 1, 100, 4096, whole.len() / 2, whole.len() - 4096] {
        expect_damage(&file, &whole[..length]);
    }
    expect_damage(&file, b"this is no database at all");
    let error = expect_damage(&file, &vec![0; whole.len()]);
    assert!(error.to_string().contains("mv "), "{error}");
    fs::write(&file, &whole).unwrap();
    assert_eq!(all(&Store::open(file.parent().unwrap()).unwrap()).len(), 40);
}

#[test]
fn overwritten_bytes_are_told_or_of_no_consequence() {
    let (folder, file) = filled();
    let want = all(&Store::open(folder.path()).unwrap());
    let whole = fs::read(&file).unwrap();
    let mut told = 0;
    // Steps that hit headers, the insides of pages, and their ends.
    for start in (0..whole.len()).step_by(1021) {
        let mut damaged = whole.clone();
        for byte in damaged.iter_mut().skip(start).take(16) {
            *byte ^= 0xa5;
        }
        fs::write(&file, &damaged).unwrap();
        match Store::open(folder.path()) {
            Ok(store) => assert_eq!(all(&store), want, "byte {start} of {}", whole.len()),
            Err(error) => {
                told += 1;
                assert!(!matches!(error, StoreError::InUse { .. } | StoreError::Closed), "{error}");
                assert_eq!(fs::read(&file).unwrap(), damaged, "byte {start}: {error}");
            }
        }
    }
    assert!(told > 5, "{told}");
}

/// Changes a table behind the store's back.
fn tamper(file: &Path, change: impl FnOnce(&redb::WriteTransaction)) {
    let database = redb::Database::open(file).unwrap();
    let transaction = database.begin_write().unwrap();
    change(&transaction);
    transaction.commit().unwrap();
}

#[test]
fn one_bad_branch_does_not_hide_the_others() {
    let (folder, file) = filled();
    tamper(&file, |it| {
        let steps: redb::TableDefinition<(&str, u64), &[u8]> = redb::TableDefinition::new("steps");
        it.open_table(steps).unwrap().insert(("b3", 0), &b"\xff\xff\xff"[..]).unwrap();
        let texts: redb::TableDefinition<&[u8; 32], &[u8]> = redb::TableDefinition::new("texts");
        let hash = ContentHash::of(b"text 5");
        it.open_table(texts).unwrap().insert(hash.as_bytes(), &b"another text"[..]).unwrap();
    });
    let store = Store::open(folder.path()).unwrap();
    let loaded = store.load().unwrap();
    assert_eq!(loaded.branches.len(), 38);
    let ids: Vec<_> = loaded.damaged.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(ids, ["b3", "b5"]);
    assert!(loaded.damaged[0].1.to_string().contains("`b3`"), "{}", loaded.damaged[0].1);
    store.discard("b3").unwrap();
    store.discard("b5").unwrap();
    assert_eq!(all(&store).len(), 38);
}

#[test]
fn another_version_is_left_alone() {
    let (folder, file) = filled();
    tamper(&file, |it| {
        let meta: redb::TableDefinition<&str, u64> = redb::TableDefinition::new("meta");
        it.open_table(meta).unwrap().insert("schema", 99).unwrap();
    });
    let bytes = fs::read(&file).unwrap();
    let error = Store::open(folder.path()).err().unwrap();
    assert!(matches!(error, StoreError::OtherVersion { found: 99, .. }), "{error}");
    assert_eq!(fs::read(&file).unwrap(), bytes);
}

#[test]
fn the_version_before_is_read_and_no_longer_it_after_a_write() {
    let (folder, file) = filled();
    let want = all(&Store::open(folder.path()).unwrap());
    let meta: redb::TableDefinition<&str, u64> = redb::TableDefinition::new("meta");
    tamper(&file, |it| drop(it.open_table(meta).unwrap().insert("schema", 3).unwrap()));
    let version = || {
        let mut found = 0;
        tamper(&file, |it| {
            let table = it.open_table(meta).unwrap();
            found = redb::ReadableTable::get(&table, "schema").unwrap().unwrap().value();
        });
        found
    };
    assert_eq!(all(&Store::open(folder.path()).unwrap()), want);
    assert_eq!(version(), 3, "only looked at");
    Store::open(folder.path()).unwrap().discard("b0").unwrap();
    assert_eq!(version(), 4);
    assert_eq!(all(&Store::open(folder.path()).unwrap()), want[1..]);
}

/// A small file system of its own, in memory; `None`, and the reason printed, where that is not allowed.
struct Mounted(TempDir);

impl Mounted {
    fn new(size: &str) -> Option<Self> {
        let folder = TempDir::new().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(folder.path());
        match mount.output() {
            Ok(output) if output.status.success() => Some(Self(folder)),
            output => {
                println!("skipped: no file system can be mounted here: {output:?}");
                None
            }
        }
    }

    fn remount(&self, option: &str) {
        let status =
            Command::new("mount").args(["-o", &format!("remount,{option}")]).arg(self.0.path()).status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn a_folder_that_cannot_be_written_to() {
    let Some(mounted) = Mounted::new("8m") else { return };
    let dir = mounted.0.path().join("state");
    drop(Store::open(&dir).unwrap());
    mounted.remount("ro");
    let error = Store::open(&dir).err().unwrap();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    let error = Store::open(&mounted.0.path().join("new")).err().unwrap();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
}

/// Text that does not compress and is like no other.
fn noise(n: u64) -> String {
    (0..200).map(|k| ContentHash::of(format!("{n} {k}").as_bytes()).to_string()).collect()
}

#[test]
fn a_full_disk_is_told_and_loses_nothing() {
    let Some(mounted) = Mounted::new("6m") else { return };
    let dir = mounted.0.path().join("state");
    let store = Store::open(&dir).unwrap();
    store.save("b", Some(record("x")), vec![]).unwrap();
    let mut saved = Vec::new();
    let error = loop {
        let n = saved.len() as u64;
        let step = plain_step(n, &noise(n));
        match store.save("b", None, vec![step.clone()]) {
            Ok(()) => saved.push(step),
            Err(error) => break error,
        }
        assert!(n < 10_000, "the disk never got full");
    };
    assert!(matches!(error, StoreError::NoSpace { .. }), "{error}");
    assert!(saved.len() > 10, "{}", saved.len());
    let again = store.save("b", None, vec![plain_step(9999, &noise(9999))]).unwrap_err();
    assert!(matches!(again, StoreError::NoSpace { .. }), "{again}");
    mounted.remount("size=16m");
    let last = plain_step(10_000, "there is room again");
    store.save("b", None, vec![last.clone()]).unwrap();
    saved.push(last);
    assert_eq!(all(&store)[0].steps, saved);
    drop(store);
    assert_eq!(all(&Store::open(&dir).unwrap())[0].steps, saved);
}

/// A step with one text only.
fn plain_step(revision: u64, text: &str) -> Step {
    let bytes = Bytes::from(text.to_owned());
    let hash = ContentHash::of(&bytes);
    let nodes = vec![(at("a"), NodeRecord::File { bytes, hash, executable: false, came_from: None })];
    Step { nodes, origins: vec![], ..step(revision, "") }
}
