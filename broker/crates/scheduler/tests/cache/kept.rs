//! Tests of answers that outlive a program, also when the folder was tampered with.

#![allow(clippy::disallowed_methods, reason = "the folder is looked at as anyone could")]

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    sync::Arc,
};

use overlay::{ContentHash, Memory, Observation, Read, ReadSet, WorkspacePath};
use scheduler::{Answer, Cache, CacheOptions, Codec, Key, ReadChecker};

use super::{Text, key, tree::path};

fn options(folder: &Path) -> CacheOptions {
    CacheOptions { folder: Some(folder.to_owned()), ..CacheOptions::default() }
}

fn open(folder: &Path) -> Cache<String> {
    Cache::new(options(folder), Text)
}

fn content(path: &WorkspacePath) -> ContentHash {
    ContentHash::of(path.as_str().as_bytes())
}

/// An answer that holds where everything that it looked at is missing.
fn insert<V>(cache: &Cache<V>, unit: &WorkspacePath, misses: &[&str], value: V) {
    let miss = |it: &&str| (Read::Content(path(it)), Observation::Missing);
    let reads: Arc<ReadSet> = Arc::new(misses.iter().map(miss).collect());
    cache.insert(key(unit), Answer { content: content(unit), reads, value: Arc::new(value) }, 10);
}

fn find(cache: &Cache<String>, unit: &WorkspacePath, view: &Memory) -> Option<String> {
    cache.find(&key(unit), content(unit), &mut ReadChecker::new(view)).map(|it| (*it).clone())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    files
}

/// A folder with one answer, and its only file.
fn one_answer(folder: &Path) -> PathBuf {
    let cache = open(folder);
    insert(&cache, &path("unit"), &["x", "y"], "kept".to_owned());
    cache.flush();
    let [file] = &files(folder)[..] else { panic!("one file") };
    file.clone()
}

#[test]
fn answers_outlive_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("made/when needed");
    let units: Vec<_> = (0..300).map(|it| path(&format!("src/{}/{it}.py", it / 10))).collect();
    let cache = open(&folder);
    let misses = ["pyproject.toml", "ruff.toml", "src/ruff.toml", "src/__init__.py"];
    for (number, unit) in units.iter().enumerate() {
        insert(&cache, unit, &misses[..number % 5], number.to_string());
    }
    cache.flush();
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);

    let again = open(&folder);
    let (empty, with_init) = (Memory::default(), Memory::from_files([("src/__init__.py", "")]).unwrap());
    for (number, unit) in units.iter().enumerate() {
        assert_eq!(find(&again, unit, &empty), Some(number.to_string()));
        let want = (number % 5 < 4).then(|| number.to_string());
        assert_eq!(find(&again, unit, &with_init), want, "the read set was kept, too");
    }
    assert!(again.stats().unreadable.is_empty());
    let named = Key { named: WorkspacePath::root(), ..key(&units[0]) };
    assert!(again.find(&named, content(&units[0]), &mut ReadChecker::new(&empty)).is_none());
}

#[test]
fn one_file_loads_one_shard() {
    let folder = tempfile::tempdir().unwrap();
    let cache = open(&folder.path().join("it"));
    (0..640).for_each(|it| insert(&cache, &path(&format!("{it}/a")), &[], it.to_string()));
    cache.flush();
    let again = open(&folder.path().join("it"));
    find(&again, &path("7/a"), &Memory::default()).unwrap();
    assert!(again.stats().entries < 40, "{:?}", again.stats());
}

#[test]
fn two_programs_add_to_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("it");
    let (first, second) = (open(&folder), open(&folder));
    let empty = Memory::default();
    for round in 0..200 {
        let (one, two) = (path(&format!("{round}/one")), path(&format!("{round}/two")));
        insert(&first, &one, &["x"], one.to_string());
        insert(&second, &two, &["x", "y"], two.to_string());
        if round % 10 == 0 {
            first.flush();
            second.flush();
        }
    }
    second.flush();
    first.flush();
    let third = open(&folder);
    for round in 0..200 {
        for name in ["one", "two"] {
            let unit = path(&format!("{round}/{name}"));
            assert_eq!(find(&third, &unit, &empty), Some(unit.to_string()));
        }
    }
    for cache in [first, second, third] {
        assert!(cache.stats().unreadable.is_empty());
    }
}

#[test]
fn programs_that_write_at_once_corrupt_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("it");
    let empty = Memory::default();
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (folder, empty) = (&folder, &empty);
            scope.spawn(move || {
                for round in 0..20 {
                    let cache = open(folder);
                    for number in 0..20 {
                        let unit = path(&format!("{number}"));
                        let found = find(&cache, &unit, empty);
                        assert!(found.is_none_or(|it| it == unit.to_string()));
                        insert(&cache, &unit, &[&format!("{thread}/{round}")], unit.to_string());
                    }
                    cache.flush();
                    assert_eq!(cache.stats().unreadable, []);
                }
            });
        }
    });
    assert!(files(&folder).iter().all(|it| it.extension().is_some_and(|it| it == "answers")));
}

#[test]
fn a_damaged_file_is_a_miss_and_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("it");
    let file = one_answer(&folder);
    let good = fs::read(&file).unwrap();
    let empty = Memory::default();
    let broken = (0..good.len()).flat_map(|at| {
        let flipped = |bits: u8| {
            let mut bad = good.clone();
            bad[at] ^= bits;
            bad
        };
        [flipped(1), flipped(0x80), flipped(0xff), good[..at].to_vec()]
    });
    for bad in broken.chain([[&good[..], b"more"].concat()]) {
        fs::write(&file, bad).unwrap();
        let cache = open(&folder);
        assert_eq!(find(&cache, &path("unit"), &empty), None);
        assert_eq!(cache.stats().unreadable[0].0, file);
    }
    let cache = open(&folder);
    assert_eq!(find(&cache, &path("unit"), &empty), None);
    cache.flush();
    assert_eq!(find(&open(&folder), &path("unit"), &empty), None);
    assert_eq!(open(&folder).stats().unreadable, []);
    insert(&cache, &path("unit"), &[], "again".to_owned());
    cache.flush();
    assert_eq!(find(&open(&folder), &path("unit"), &empty), Some("again".to_owned()));
}

#[test]
fn a_file_in_another_ones_place_is_a_miss() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("it");
    let file = one_answer(&folder);
    let elsewhere = folder.with_file_name("elsewhere");
    fs::rename(&file, &elsewhere).unwrap();
    symlink(&elsewhere, &file).unwrap();
    let cache = open(&folder);
    assert_eq!(find(&cache, &path("unit"), &Memory::default()), None);
    assert_eq!(cache.stats().unreadable.len(), 1);
    cache.flush();
    assert!(fs::symlink_metadata(&file).unwrap().is_file(), "the link was replaced");
    assert!(elsewhere.exists(), "and nothing was written through it");

    // Another linter's answers.
    let name = file.file_name().unwrap().to_str().unwrap();
    let other = Key { linter: ContentHash::of(b"other"), ..key(&path("unit")) };
    let renamed = name.replace(&key(&path("unit")).linter.to_string(), &other.linter.to_string());
    fs::rename(&elsewhere, file.with_file_name(renamed)).unwrap();
    let cache = open(&folder);
    let view = Memory::default();
    assert!(cache.find(&other, content(&path("unit")), &mut ReadChecker::new(&view)).is_none());
    assert_eq!(cache.stats().unreadable.len(), 1);

    // A folder, which no file can replace.
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let cache = open(&folder);
    assert_eq!(find(&cache, &path("unit"), &view), None);
    cache.flush();
    assert_eq!(cache.stats().unreadable.len(), 2, "neither read nor written");
}

/// Writes what it cannot read.
struct Picky(u32);

impl Codec<String> for Picky {
    fn version(&self) -> u32 {
        self.0
    }

    fn encode(&self, value: &String) -> Option<Vec<u8>> {
        (value != "secret").then(|| value.as_bytes().to_vec())
    }

    fn decode(&self, _: &[u8]) -> Option<String> {
        None
    }
}

#[test]
fn what_cannot_be_decoded_is_a_miss() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("it");
    one_answer(&folder);
    let cache = Cache::new(options(&folder), Picky(1));
    assert_eq!(find(&cache, &path("unit"), &Memory::default()), None);
    assert!(cache.stats().unreadable[0].1.contains("cannot be decoded"));
    let cache = Cache::new(options(&folder), Picky(2));
    assert_eq!(find(&cache, &path("unit"), &Memory::default()), None);
    assert!(cache.stats().unreadable[0].1.contains("of another version"));
}

#[test]
fn what_is_not_to_be_kept_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(options(&folder.path().join("it")), Picky(1));
    insert(&cache, &path("unit"), &[], "secret".to_owned());
    cache.flush();
    assert_eq!(find(&cache, &path("unit"), &Memory::default()), Some("secret".to_owned()));
    assert_eq!(find(&open(&folder.path().join("it")), &path("unit"), &Memory::default()), None);
}

#[test]
fn a_folder_that_others_can_write_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let open_to_all = folder.path().join("open");
    fs::create_dir(&open_to_all).unwrap();
    fs::set_permissions(&open_to_all, fs::Permissions::from_mode(0o770)).unwrap();
    let (linked, file) = (folder.path().join("linked"), folder.path().join("file"));
    fs::create_dir(folder.path().join("real")).unwrap();
    fs::set_permissions(folder.path().join("real"), fs::Permissions::from_mode(0o700)).unwrap();
    symlink(folder.path().join("real"), &linked).unwrap();
    fs::write(&file, "").unwrap();
    for refused in [open_to_all, linked, file] {
        let cache = open(&refused);
        assert_eq!(cache.stats().unreadable[0].0, refused);
        insert(&cache, &path("unit"), &[], "in memory".to_owned());
        cache.flush();
        assert_eq!(find(&cache, &path("unit"), &Memory::default()), Some("in memory".to_owned()));
    }
    assert!(files(&folder.path().join("real")).is_empty());
}

#[test]
fn the_folder_stays_within_its_bound() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("it");
    let options = CacheOptions { disk: 20_000, ..options(&folder) };
    let cache = Cache::new(options, Text);
    (0..600).for_each(|it| insert(&cache, &path(&format!("{it}/a")), &[], "x".repeat(200)));
    fs::write(folder.join("not ours"), "y".repeat(50_000)).unwrap();
    cache.flush();
    let ours = files(&folder).into_iter().filter(|it| it.extension().is_some());
    let total: u64 = ours.map(|it| fs::metadata(it).unwrap().len()).sum();
    assert!((10_000..=20_000).contains(&total), "{total}");
    assert!(folder.join("not ours").exists());
}

#[test]
fn what_nobody_uses_disappears() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("it");
    let file = one_answer(&folder);
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(40 * 24 * 60 * 60);
    let abandoned = folder.join(".unfinished-xyz");
    fs::write(&abandoned, "").unwrap();
    for old in [&file, &abandoned] {
        fs::OpenOptions::new().write(true).open(old).unwrap().set_modified(long_ago).unwrap();
    }
    let cache = open(&folder);
    cache.flush();
    assert_eq!(files(&folder), Vec::<PathBuf>::new());
}
