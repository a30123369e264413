//! Cost of a check that the cache answers: 4,000 units, 300 read sets of 30 to 300 looks each.
//!
//! `cargo bench -p scheduler`. Each figure is the least of several runs.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench tells its figures, and stops at what is unexpected"
)]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use overlay::{Branch, ContentHash, Memory, Read, ReadSet, View, WorkspacePath};
use scheduler::{Answer, Cache, CacheOptions, Codec, Inherited, Key, ReadChecker};

const UNITS: usize = 4_000;
const SETS: usize = 300;
const BATCH: usize = 30;
const RUNS: usize = 15;

struct Text;

impl Codec<String> for Text {
    fn version(&self) -> u32 {
        1
    }

    fn encode(&self, value: &String) -> Option<Vec<u8>> {
        Some(value.as_bytes().to_vec())
    }

    fn decode(&self, bytes: &[u8]) -> Option<String> {
        String::from_utf8(bytes.to_vec()).ok()
    }
}

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn unit(number: usize) -> WorkspacePath {
    path(&format!("src/package{}/module{number}.py", number / 40))
}

fn key(number: usize) -> Key {
    Key { linter: ContentHash::of(b"linter"), path: unit(number), named: path("src") }
}

/// Ten batches, the sets of each growing from 30 looks to 300: a third of them files, the rest misses.
fn read_sets(view: &dyn View) -> Vec<Arc<ReadSet>> {
    let set = |number: usize| {
        let (batch, size) = (number / BATCH, 30 + number % BATCH * 270 / (BATCH - 1));
        let reads = (0..size).map(|it| match it % 3 {
            0 => Read::Content(unit(batch * 400 + it)),
            1 => Read::Content(path(&format!("src/package{}/ruff{batch}.toml", it / 3))),
            _ => Read::Metadata(path(&format!("src/package{}/pyproject{batch}.toml", it / 3))),
        });
        Arc::new(reads.map(|read| (read.clone(), read.observe(view))).collect::<ReadSet>())
    };
    (0..SETS).map(set).collect()
}

fn least<T>(mut prepare: impl FnMut() -> T, mut run: impl FnMut(T)) -> Duration {
    let time = |_| {
        let prepared = prepare();
        let start = Instant::now();
        run(prepared);
        start.elapsed()
    };
    (0..RUNS).map(time).min().unwrap()
}

struct Bench {
    cache: Cache<String>,
    units: Vec<(Key, ContentHash)>,
}

impl Bench {
    fn new(options: CacheOptions, units: &[(Key, ContentHash)]) -> Self {
        Self { cache: Cache::new(options, Text), units: units.to_vec() }
    }

    fn insert(&self, sets: &[Arc<ReadSet>]) {
        for (number, (key, content)) in self.units.iter().enumerate() {
            let value = Arc::new("a finding, as long as some are ".repeat(10));
            let (reads, weight) = (sets[number * SETS / UNITS].clone(), value.len());
            self.cache.insert(key.clone(), Answer { content: *content, reads, value }, weight);
        }
    }

    fn find(&self, checker: &mut ReadChecker<'_>) {
        let hits =
            self.units.iter().filter(|(key, content)| self.cache.find(key, *content, checker).is_some());
        assert_eq!(hits.count(), UNITS);
    }
}

fn main() {
    let files = (0..UNITS).map(|it| (unit(it).to_string(), format!("import os  # {it}\n").repeat(100)));
    let base: Arc<dyn View> = Arc::new(Memory::from_files(files).unwrap());
    let units: Vec<_> = (0..UNITS).map(|it| (key(it), base.hash(&unit(it)).unwrap())).collect();
    let sets = read_sets(&*base);
    let bench = Bench::new(CacheOptions::default(), &units);
    println!("insert                          {:?}", least(|| (), |()| bench.insert(&sets)));
    println!("  {:?}", bench.cache.stats());

    println!(
        "find, nothing looked at yet     {:?}",
        least(|| ReadChecker::new(&*base), |mut it| bench.find(&mut it))
    );
    // A single answer that rests on everything, so that all looks are made and no set is judged.
    let everything: ReadSet =
        sets.iter().flat_map(|it| it.iter()).map(|(read, it)| (read.clone(), it)).collect();
    println!("  {} distinct looks", everything.len());
    let (all, content) = (key(UNITS), ContentHash::of(b""));
    let answer = Answer { content, reads: Arc::new(everything), value: Arc::default() };
    bench.cache.insert(all.clone(), answer, 0);
    let mut warm = ReadChecker::new(&*base);
    bench.cache.find(&all, content, &mut warm).unwrap();
    println!("find, all looks made            {:?}", least(|| warm.clone(), |mut it| bench.find(&mut it)));
    bench.find(&mut warm);
    println!("find, all sets judged           {:?}", least(|| warm.clone(), |mut it| bench.find(&mut it)));

    in_branch(&bench, &base, &warm);
    in_folder(&units, &sets, &*base);
}

fn in_branch(bench: &Bench, base: &Arc<dyn View>, warm: &ReadChecker<'_>) {
    let mut branch = Branch::new(base.clone());
    let changed = [path("src/package3/new.py"), path("README.md"), path("src/package7/sub/x.py")];
    changed.iter().for_each(|it| _ = branch.write(it, "new".into()).unwrap());
    let snapshot = branch.snapshot();
    let inherited = || Inherited::new(vec![warm.clone().into_seen()], &changed);
    println!("inherited by a branch           {:?}", least(|| (), |()| drop(inherited())));
    let parent = Arc::new(inherited());
    let over = || ReadChecker::over_parent(&snapshot, parent.clone());
    println!("find, branch of 3 edits         {:?}", least(|| (), |()| bench.find(&mut over())));
    let one = |()| _ = bench.cache.find(&bench.units[7].0, bench.units[7].1, &mut over()).unwrap();
    println!("find 1, branch of 3 edits       {:?}", least(|| (), one));
}

fn in_folder(units: &[(Key, ContentHash)], sets: &[Arc<ReadSet>], view: &dyn View) {
    let folder = tempfile::tempdir().unwrap();
    let open = || CacheOptions { folder: Some(folder.path().join("it")), ..CacheOptions::default() };
    let filled = || {
        let bench = Bench::new(open(), units);
        bench.insert(sets);
        bench
    };
    println!("flush, 64 files                 {:?}", least(filled, |it| it.cache.flush()));
    let size = |it: Result<std::fs::DirEntry, _>| it.unwrap().metadata().unwrap().len();
    #[expect(clippy::disallowed_methods, reason = "the cache is no workspace folder")]
    let bytes: u64 = std::fs::read_dir(folder.path().join("it")).unwrap().map(size).sum();
    println!("  {bytes} bytes");
    let all = |bench: Bench| bench.find(&mut ReadChecker::new(view));
    println!("load and find, nothing looked at {:?}", least(|| Bench::new(open(), units), all));
    let one = |bench: Bench| {
        _ = bench.cache.find(&units[7].0, units[7].1, &mut ReadChecker::new(view)).unwrap();
    };
    println!("load and find 1                 {:?}", least(|| Bench::new(open(), units), one));
}
