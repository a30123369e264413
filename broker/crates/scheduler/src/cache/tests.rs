//! Tests of internals: sharing, ages, and the layout of files.

use overlay::{Memory, Observation, Read};

use super::{
    format::{self, Subject},
    *,
};

struct Numbers;

impl Codec<u32> for Numbers {
    fn version(&self) -> u32 {
        1
    }

    fn encode(&self, value: &u32) -> Option<Vec<u8>> {
        Some(value.to_le_bytes().to_vec())
    }

    fn decode(&self, bytes: &[u8]) -> Option<u32> {
        bytes.try_into().ok().map(u32::from_le_bytes)
    }
}

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn key(unit: &str) -> Key {
    Key { linter: ContentHash::of(b"linter"), path: path(unit), named: path("") }
}

/// A set of this many misses.
fn misses(number: usize) -> Arc<ReadSet> {
    let miss = |it| (Read::Metadata(path(&format!("missing/{it}"))), Observation::Missing);
    Arc::new((0..number).map(miss).collect())
}

fn answer(reads: Arc<ReadSet>, value: u32) -> Answer<u32> {
    Answer { content: ContentHash::of(b""), reads, value: Arc::new(value) }
}

#[test]
fn equal_sets_are_one() {
    let interner = Interner::default();
    let (a, b, c) = (misses(10), misses(10), misses(11));
    let sets = [&a, &b, &c, &a].map(|it| interner.read_set(it).unwrap());
    assert!(Arc::ptr_eq(&sets[0], &sets[1]) && Arc::ptr_eq(&sets[0], &sets[3]));
    assert!(Arc::ptr_eq(&sets[0].observations[0], &sets[2].observations[0]));
    assert!(!Arc::ptr_eq(&sets[0], &sets[2]));
    let all = interner.bytes();
    drop(sets);
    interner.sweep();
    assert_eq!(interner.bytes(), 0);
    let _small = interner.read_set(&misses(3)).unwrap();
    let _big = interner.read_set(&a).unwrap();
    assert!(interner.bytes() < all);
}

#[test]
fn an_address_that_is_used_again_is_no_match() {
    let interner = Interner::default();
    for size in (1..50).chain(1..50) {
        // Freed and allocated again each time, quite likely at the same place.
        let reads = misses(size);
        assert_eq!(interner.read_set(&reads).unwrap().observations.len(), size);
    }
}

#[test]
fn a_file_holds_growing_sets_in_little_space() {
    let interner = Interner::default();
    let subject = Subject { linter: key("").linter, shard: shard_of(&path("u")), version: 1 };
    let stored = |size: usize| {
        let set = interner.read_set(&misses(size)).unwrap();
        let candidate = Candidate::new(ContentHash::of(b""), set, Arc::new(size as u32), 4);
        candidate.to_stored(&key("u"), &Numbers).unwrap()
    };
    let answers: Vec<_> = (1..=200).map(stored).collect();
    let file = format::encode(subject, &answers).unwrap();
    // An observation takes some 15 bytes, an answer 45: the sets, which hold a hundred observations each, next to nothing.
    assert!(file.len() < 200 * 65, "{}", file.len());
    let fresh = Interner::default();
    let again = format::decode(&file, subject, &fresh).unwrap();
    for (number, (before, after)) in answers.iter().zip(&again).enumerate() {
        assert_eq!(before.value, after.value);
        assert!(before.set.observations.iter().eq(after.set.observations.iter()), "in the same order");
        assert!(Arc::ptr_eq(&fresh.read_set(&misses(number + 1)).unwrap(), &after.set));
    }
    let elsewhere = Subject { shard: subject.shard + 1, ..subject };
    assert!(format::decode(&file, elsewhere, &fresh).is_err());
}

#[test]
fn answers_age_unless_they_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let options = CacheOptions { folder: Some(folder.path().join("it")), ..CacheOptions::default() };
    let open = |day| {
        let cache = Cache::new(options.clone(), Numbers);
        cache.today.store(day, Relaxed);
        cache
    };
    let write = |cache: &Cache<u32>| cache.flush_shards(cache.persister.as_ref().unwrap());
    let memory = Memory::default();
    let find = |cache: &Cache<u32>, content: &[u8]| {
        cache.find(&key("u"), ContentHash::of(content), &mut ReadChecker::new(&memory)).is_some()
    };
    let first = open(100);
    first.insert(key("u"), answer(misses(1), 1), 4);
    first.insert(key("u"), Answer { content: ContentHash::of(b"other"), ..answer(misses(1), 2) }, 4);
    assert_eq!(write(&first), 1);
    assert!(find(&first, b""));
    assert_eq!(write(&first), 0, "used on the day it was written");

    let second = open(120);
    assert!(find(&second, b""));
    assert_eq!(write(&second), 1, "the file learns of the use");
    first.insert(key("u"), Answer { content: ContentHash::of(b"fifth"), ..answer(misses(1), 5) }, 4);
    assert_eq!(write(&first), 1, "and does not forget it when it is written by who knows of none");
    let third = open(131);
    third.insert(key("u"), Answer { content: ContentHash::of(b"third"), ..answer(misses(1), 3) }, 4);
    assert_eq!(write(&third), 1);
    let fourth = open(131);
    assert!(find(&fourth, b"") && find(&fourth, b"third"));
    assert!(!find(&fourth, b"other"), "not used for 31 days");
}

#[test]
fn sets_that_nobody_needs_any_more_make_room_first() {
    let cache = Cache::new(CacheOptions { memory: 100_000, ..CacheOptions::default() }, Numbers);
    for round in 0..200 {
        // Each time another set for the same text: the key keeps sixteen.
        cache.insert(key("u"), answer(misses(round), 1), 4);
    }
    assert!(cache.bytes() <= 100_000);
    assert_eq!(cache.stats().entries, 16, "none was evicted for what the others left behind");
}

#[test]
fn what_rests_on_a_change_is_found_until_it_is_forgotten() {
    let interner = Interner::default();
    let view = Memory::from_files([("a", "1"), ("unwatched/b", "2")]).unwrap();
    let reads = |paths: &[&str]| {
        let seen = |it: &&str| {
            let read = Read::Content(path(it));
            let observation = read.observe(&view);
            (read, observation)
        };
        index::Reads(interner.read_set(&Arc::new(paths.iter().map(seen).collect())).unwrap())
    };
    let mut index = ReadIndex::default();
    let is_told = |read: &Read| !read.path().as_str().starts_with("unwatched");
    let [one, two] = [&["a"][..], &["a", "unwatched/b"]].map(|it| index.add(&reads(it), is_told));
    assert_eq!(index.add(&reads(&["a"]), is_told), one);
    let changed = Memory::from_files([("a", "3"), ("unwatched/b", "3")]).unwrap();
    let touched = |index: &ReadIndex, at: &str| {
        assert!(index.touched(&[path(at)], &[&view]).is_empty(), "all there is as it was");
        index.touched(&[path(at)], &[&view, &changed]).into_iter().collect::<Vec<_>>()
    };
    let other = Memory::from_files([("a", "1"), ("unwatched/b", "3")]).unwrap();
    assert_eq!((touched(&index, "a"), touched(&index, "a-b")), (vec![one, two], vec![]));
    assert_eq!((index.moved(&view).len(), index.moved(&other).into_iter().collect()), (0, vec![two]));
    index.remove(two);
    assert_eq!((touched(&index, "a"), index.moved(&other).len()), (vec![one], 0));
    let again = index.add(&reads(&["a", "unwatched/b"]), is_told);
    assert_eq!(again, two, "a free number is used again");
    assert_eq!((touched(&index, "unwatched"), touched(&index, "a")), (vec![again], vec![one, again]));
    index.remove(one);
    let first = index.add(&reads(&["a"]), is_told);
    assert_eq!((first, touched(&index, "a")), (one, vec![one, again]), "in the order of numbers");
}
