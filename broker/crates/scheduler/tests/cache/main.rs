//! The cache against a linter that is run afresh each time, over branches that come to disagree.

#![allow(clippy::unwrap_used, reason = "a test stops at what is unexpected")]

mod kept;
mod tree;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use overlay::{
    Branch, ContentHash, FileKind, Listing, Memory, Metadata, Observation, Read, ReadSet, Traced, View,
    WorkspacePath,
};
use proptest::{prelude::*, test_runner::RngSeed};
use scheduler::{Answer, Cache, CacheOptions, Codec, Inherited, Key, ReadChecker};
use tree::{Edit, apply, base, changed, edits, path, universe};

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

fn in_memory(memory: usize) -> Cache<String> {
    Cache::new(CacheOptions { memory, ..CacheOptions::default() }, Text)
}

fn key(path: &WorkspacePath) -> Key {
    Key { linter: ContentHash::of(b"fake"), path: path.clone(), named: path.clone() }
}

/// Looks wherever the unit's own text tells it to, and answers with what it saw.
fn fake_linter(view: &dyn View, text: &[u8]) -> String {
    let paths = universe();
    let look = |byte: &u8| {
        let path = &paths[usize::from(*byte) % paths.len()];
        match byte / 16 % 5 {
            0 => format!("{:?}", view.read(path).map_err(|it| it.kind())),
            1 => format!("{:?}", view.open(path).map_err(|it| it.kind())),
            2 => format!("{:?}", view.list(path).map_err(|it| it.kind())),
            3 => format!("{:?}", view.metadata(path).map_err(|it| it.kind())),
            _ => format!("{:?}", view.read_link(path).map_err(|it| it.kind())),
        }
    };
    text.iter().map(look).collect::<Vec<_>>().join("\n")
}

/// Asks the cache for every unit of a batch, and adds what is missing as one instance would compute it.
fn check(
    cache: &Cache<String>,
    view: &Arc<dyn View>,
    checker: &mut ReadChecker<'_>,
    units: &[WorkspacePath],
) {
    let traced = Traced::new(view.clone());
    for unit in units {
        let Ok(text) = view.open(unit) else { continue };
        let content = checker.content(unit).unwrap();
        assert_eq!(content, ContentHash::of(&text));
        let afresh = fake_linter(&**view, &text);
        if let Some(found) = cache.find(&key(unit), content, checker) {
            assert_eq!(*found, afresh, "{unit}");
            continue;
        }
        let value = Arc::new(fake_linter(&traced, &text));
        let weight = value.len();
        cache.insert(key(unit), Answer { content, reads: traced.read_set(), value }, weight);
        match cache.find(&key(unit), content, checker) {
            Some(found) => assert_eq!(*found, afresh),
            None => assert!(cache.stats().evicted > 0, "it was just computed here"),
        }
    }
}

#[derive(Debug, Clone)]
enum Step {
    Edit(usize, Edit),
    Fork(usize),
    Check(usize, Vec<WorkspacePath>),
    /// Checks as the child of the base, whose verdicts are at hand.
    CheckAsChild(usize, Vec<WorkspacePath>),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let units = || prop::collection::vec(prop::sample::select(universe()), 1..5);
    let step = prop_oneof![
        6 => (0..4_usize, edits()).prop_map(|(at, edit)| Step::Edit(at, edit)),
        1 => (0..4_usize).prop_map(Step::Fork),
        4 => (0..4_usize, units()).prop_map(|(at, units)| Step::Check(at, units)),
        3 => (0..4_usize, units()).prop_map(|(at, units)| Step::CheckAsChild(at, units)),
    ];
    prop::collection::vec(step, 1..60)
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 400,
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_hit_is_what_would_be_computed(steps in steps(), memory in prop_oneof![Just(1 << 20), Just(8 << 10)]) {
        let cache = in_memory(memory);
        let base = base();
        let mut branches = vec![Branch::new(base.clone())];
        for step in steps {
            match step {
                Step::Edit(at, edit) => {
                    let at = at % branches.len();
                    apply(&mut branches[at], &edit);
                }
                Step::Fork(at) => {
                    let fork = branches[at % branches.len()].fork();
                    branches.push(fork);
                }
                Step::Check(at, units) => {
                    let view: Arc<dyn View> = Arc::new(branches[at % branches.len()].snapshot());
                    check(&cache, &view, &mut ReadChecker::new(&*view), &units);
                }
                Step::CheckAsChild(at, units) => {
                    let view: Arc<dyn View> = Arc::new(branches[at % branches.len()].snapshot());
                    let mut checker = ReadChecker::new(&*base);
                    check(&cache, &base, &mut checker, &universe());
                    let changed = changed(&*base, &*view);
                    let parent = Arc::new(Inherited::new(vec![checker.into_seen()], &changed));
                    check(&cache, &view, &mut ReadChecker::over_parent(&*view, parent), &units);
                }
            }
            prop_assert!(cache.stats().bytes <= memory);
        }
    }

    /// Sets from the base, from the child and from elsewhere; each is judged as by looking afresh.
    #[test]
    fn the_fast_verdict_is_the_slow_one(
        first in prop::collection::vec(edits(), 0..4),
        second in prop::collection::vec(edits(), 0..4),
        other in prop::collection::vec(edits(), 0..6),
        sets in prop::collection::vec((0..4_usize, prop::collection::vec((0..5_u8, any::<prop::sample::Index>()), 0..6)), 1..30),
    ) {
        let edited = |mut branch: Branch, edits: &[Edit]| {
            edits.iter().for_each(|it| apply(&mut branch, it));
            branch
        };
        let base = base();
        let child = edited(Branch::new(base.clone()), &first);
        let grandchild = edited(child.fork(), &second);
        let views: [Arc<dyn View>; 4] = [
            base.clone(),
            Arc::new(child.snapshot()),
            Arc::new(grandchild.snapshot()),
            Arc::new(edited(Branch::new(base), &other).snapshot()),
        ];
        let sets: Vec<Arc<ReadSet>> = sets.iter().map(|(view, reads)| Arc::new(read_set(&*views[*view], reads))).collect();
        let cache = in_memory(1 << 20);
        let content = ContentHash::of(b"");
        let unit = |number: usize| key(&path(&format!("unit{number}")));
        for (number, reads) in sets.iter().enumerate() {
            cache.insert(unit(number), Answer { content, reads: reads.clone(), value: Arc::default() }, 1);
        }
        let mut checker = ReadChecker::new(&*views[0]);
        for generation in 0..3 {
            for (number, reads) in sets.iter().enumerate() {
                let hit = cache.find(&unit(number), content, &mut checker).is_some();
                prop_assert_eq!(hit, reads.holds_in(&*views[generation]), "{} {:?}", generation, reads);
            }
            if generation < 2 {
                let changed = changed(&*views[generation], &*views[generation + 1]);
                let parent = Inherited::new(vec![checker.into_seen()], &changed);
                checker = ReadChecker::over_parent(&*views[generation + 1], Arc::new(parent));
            }
        }
    }
}

fn read_set(view: &dyn View, reads: &[(u8, prop::sample::Index)]) -> ReadSet {
    let reads = reads.iter().map(|(kind, at)| {
        let path = at.get(&universe()).clone();
        match kind {
            0 => Read::Metadata(path),
            1 => Read::Link(path),
            2 => Read::Listing(path),
            3 => Read::Kind(path),
            _ => Read::Content(path),
        }
    });
    reads.map(|read| (read.clone(), read.observe(view))).collect()
}

#[test]
fn counts_what_it_does() {
    let cache = in_memory(1 << 20);
    let base = base();
    let mut branch = Branch::new(base.clone());
    let (unit, content) = (key(&path("unit")), ContentHash::of(b"text"));
    let reads = |view: &dyn View| {
        let read = Read::Content(path("a"));
        Arc::new(ReadSet::from_iter([(read.clone(), read.observe(view))]))
    };
    let mut checker = ReadChecker::new(&*base);
    assert_eq!(cache.find(&unit, content, &mut checker), None);
    let value = Arc::new("of the base".to_owned());
    cache.insert(unit.clone(), Answer { content, reads: reads(&*base), value }, 10);
    assert_eq!(*cache.find(&unit, content, &mut checker).unwrap(), "of the base");

    branch.write(&path("a"), "edited".into()).unwrap();
    let snapshot = branch.snapshot();
    let mut branch_looks = ReadChecker::new(&snapshot);
    assert_eq!(cache.find(&unit, content, &mut branch_looks), None);
    let value = Arc::new("of the branch".to_owned());
    cache.insert(unit.clone(), Answer { content, reads: reads(&snapshot), value }, 10);
    assert_eq!(*cache.find(&unit, content, &mut branch_looks).unwrap(), "of the branch");
    assert_eq!(*cache.find(&unit, content, &mut checker).unwrap(), "of the base", "both have their place");
    assert_eq!(cache.find(&unit, ContentHash::of(b"other text"), &mut checker), None);

    let stats = cache.stats();
    // The branch tries the base's answer, the base tries the branch's, which is newer.
    assert_eq!((stats.hits, stats.misses, stats.invalid, stats.entries), (3, 3, 2, 2));
}

#[test]
fn a_failed_look_is_not_kept() {
    let cache = in_memory(1 << 20);
    let reads = ReadSet::from_iter([(Read::Content(path("a")), Observation::Failed)]);
    let content = ContentHash::of(b"");
    cache.insert(key(&path("u")), Answer { content, reads: Arc::new(reads), value: Arc::default() }, 1);
    assert_eq!(cache.stats().entries, 0);
}

#[test]
fn the_budget_is_kept_and_what_is_used_stays() {
    let cache = in_memory(200_000);
    let view = Memory::default();
    let mut checker = ReadChecker::new(&view);
    let content = ContentHash::of(b"");
    let insert = |number: usize| {
        let read = Read::Metadata(path(&format!("missing{}", number / 4)));
        let reads = Arc::new(ReadSet::from_iter([(read, Observation::Missing)]));
        cache.insert(
            key(&path(&format!("u{number}"))),
            Answer { content, reads, value: Arc::new("v".repeat(100)) },
            100,
        );
    };
    for number in 0..5_000 {
        insert(number);
        assert!(cache.find(&key(&path("u0")), content, &mut checker).is_some(), "used all the time");
        assert!(cache.stats().bytes <= 200_000);
    }
    let stats = cache.stats();
    assert_eq!(stats.entries as u64 + stats.evicted, 5_000);
    assert!(stats.entries > 200, "{stats:?}");
    assert!(cache.find(&key(&path("u4999")), content, &mut checker).is_some());
    assert!(cache.find(&key(&path("u1")), content, &mut checker).is_none());
}

#[test]
fn a_key_keeps_a_bounded_number_of_answers() {
    let cache = in_memory(1 << 20);
    let unit = key(&path("u"));
    for number in 0..40_u8 {
        let (content, value) = (ContentHash::of(&[number]), Arc::default());
        cache.insert(unit.clone(), Answer { content, reads: Arc::default(), value }, 1);
        // The second answer of a kind takes no place of its own.
        cache.insert(unit.clone(), Answer { content, reads: Arc::default(), value: Arc::default() }, 1);
    }
    assert_eq!((cache.stats().entries, cache.stats().evicted), (16, 24));
    let view = Memory::default();
    assert!(cache.find(&unit, ContentHash::of(&[39]), &mut ReadChecker::new(&view)).is_some());
    assert!(cache.find(&unit, ContentHash::of(&[3]), &mut ReadChecker::new(&view)).is_none());
}

#[test]
fn threads_share_it() {
    let folder = tempfile::tempdir().unwrap();
    let options = CacheOptions {
        memory: 60_000,
        folder: Some(folder.path().join("answers")),
        ..CacheOptions::default()
    };
    let cache = Cache::new(options, Text);
    let base = base();
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let (cache, base) = (&cache, &base);
            scope.spawn(move || {
                let mut branch = Branch::new(base.clone());
                for round in 0..60_u8 {
                    let text = vec![round % 7 * 30 + thread % 2, round % 5 * 11];
                    branch.write(&universe()[usize::from(round) % 20 + 1], text.into()).ok();
                    let view: Arc<dyn View> = Arc::new(branch.snapshot());
                    check(cache, &view, &mut ReadChecker::new(&*view), &universe());
                    if round % 20 == thread {
                        cache.flush();
                    }
                }
            });
        }
    });
    let stats = cache.stats();
    assert!(stats.hits > 0 && stats.unreadable.is_empty(), "{stats:?}");
}

/// Counts the files whose content is looked at.
struct Counted(Memory, AtomicUsize);

impl View for Counted {
    fn read(&self, path: &WorkspacePath) -> std::io::Result<bytes::Bytes> {
        self.0.read(path)
    }

    fn hash(&self, path: &WorkspacePath) -> std::io::Result<ContentHash> {
        self.1.fetch_add(1, Relaxed);
        self.0.hash(path)
    }

    fn metadata(&self, path: &WorkspacePath) -> std::io::Result<Metadata> {
        self.0.metadata(path)
    }

    fn list(&self, path: &WorkspacePath) -> std::io::Result<Listing> {
        self.0.list(path)
    }

    fn read_link(&self, path: &WorkspacePath) -> std::io::Result<String> {
        self.0.read_link(path)
    }
}

#[test]
fn a_child_looks_at_no_content_that_was_seen_through_a_link() {
    let mut memory = Memory::from_files([("real", "text")]).unwrap();
    memory.insert_symlink(&path("link"), "real");
    let view = Counted(memory, AtomicUsize::new(0));
    let mut parent = ReadChecker::new(&view);
    parent.content(&path("link")).unwrap();
    assert_eq!(view.1.swap(0, Relaxed), 2);
    let inherited = Inherited::new(vec![parent.into_seen()], &[path("other")]);
    let mut child = ReadChecker::over_parent(&view, Arc::new(inherited));
    assert_eq!(child.content(&path("link")).unwrap(), ContentHash::of(b"text"));
    assert_eq!(view.1.load(Relaxed), 0);
}

#[test]
fn content_follows_links() {
    let mut memory = Memory::from_files([("real", "text")]).unwrap();
    memory.insert_symlink(&path("link"), "real");
    let mut checker = ReadChecker::new(&memory);
    assert_eq!(checker.content(&path("link")).unwrap(), ContentHash::of(b"text"));
    assert_eq!(checker.content(&path("none")).unwrap_err().kind(), std::io::ErrorKind::NotFound);
    assert_eq!(memory.metadata(&path("link")).unwrap().kind, FileKind::Symlink);
}
