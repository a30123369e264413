//! A comparison that looks only at what may differ against one that looks at everything: over random edits of branches
//! and of the disk, of ignore files, links, configuration, and of what other files' answers rest on.

#![allow(clippy::disallowed_methods, reason = "a test makes its own files")]

use std::{fs, io, path::Path};

use bytes::Bytes;
use lint::{
    Completeness, Diagnostic, Identity, Interest, Job, Linter, Outcome as Answered, SetupError, Severity,
    Span,
};
use lint_testkit::Scripted;
use overlay::{
    Base, BaseOptions, Branch, ContentHash, Listing, Memory, Metadata, Snapshot, Traced, WalkOptions, Watch,
};
use scheduler::{Cache, CacheOptions};
use tempfile::TempDir;

use super::super::*;
use crate::{AnswerCodec, Excluded, Incomplete, LocalChecker, Options, SharedLinter, local::FixedLinters};

/// Does what the lines of a file say: `!` is a finding, `see a` one that tells what stands at `a`, `list a` one that
/// tells the names there, `look a` one that tells the kind of what is there; a file with `?` is not checked to the end, with `%` not at all, and one with `skip` is left out. The linter `two` does
/// not name the file itself among what it reads, and `one` sees no sizes.
struct Reader {
    identity: Identity,
    interest: Interest,
}

impl Reader {
    fn shared(name: &str, globs: &[&str], interpreters: &[&str]) -> SharedLinter {
        let identity = Identity {
            name: name.to_owned(),
            version: "1".to_owned(),
            digest: ContentHash::of(name.as_bytes()),
        };
        let [globs, interpreters] =
            [globs, interpreters].map(|it| it.iter().map(|it| (*it).to_owned()).collect());
        Arc::new(Self { identity, interest: Interest { globs, interpreters, ..Interest::default() } })
    }

    fn answer(&self, view: &Arc<dyn View>, path: &WorkspacePath) -> Answered {
        let new = if self.identity.name == "one" { Traced::of_kinds } else { Traced::new };
        let traced = new(Arc::clone(view));
        let text = if self.identity.name == "two" { view.open(path) } else { traced.open(path) };
        let Ok(bytes) = text else {
            return Answered::without_findings(Completeness::Failed("cannot be read".to_owned()));
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let mut diagnostics = Vec::new();
        let mut start = 0;
        for line in text.lines() {
            let at = |it: &str| WorkspacePath::new(it).unwrap();
            let message = match line.split_once(' ') {
                Some(("see", it)) => Some(format!("{:?}", traced.open(&at(it)).map_err(|it| it.kind()))),
                Some(("list", it)) => Some(format!("{:?}", traced.list(&at(it)).map_err(|it| it.kind()))),
                Some(("look", it)) => {
                    Some(format!("{:?}", traced.metadata(&at(it)).map(|it| it.kind).map_err(|it| it.kind())))
                }
                _ => (line == "!").then(|| "m".to_owned()),
            };
            diagnostics.extend(message.map(|message| Diagnostic {
                code: "X".to_owned(),
                name: None,
                message,
                severity: Severity::Error,
                cell: None,
                span: Span::new(start, start + 1),
                tags: vec![],
                url: None,
                shared_name: None,
                fixes: vec![],
                related: vec![],
            }));
            start += line.len() as u32 + 1;
        }
        let left_out = text.contains("skip").then(|| "the script says so".to_owned());
        let completeness = match &left_out {
            Some(_) => Completeness::Excluded,
            None if text.contains('%') => Completeness::Failed("the script says so".to_owned()),
            None if text.contains('?') => Completeness::Partial("the script says so".to_owned()),
            None => Completeness::Complete,
        };
        if left_out.is_some() || matches!(completeness, Completeness::Failed(_)) {
            diagnostics.clear();
        }
        Answered {
            diagnostics,
            content: Some(ContentHash::of(&bytes)),
            reads: traced.read_set(),
            is_deterministic: true,
            left_out,
            ..Answered::without_findings(completeness)
        }
    }
}

impl Linter for Reader {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn interest(&self) -> &Interest {
        &self.interest
    }

    fn rules(&self, _view: &Arc<dyn View>) -> Result<Vec<Rule>, SetupError> {
        Ok(Vec::new())
    }

    fn check(&self, job: &Job, answer: &mut dyn FnMut(usize, Answered)) {
        let all = job.units.iter().enumerate();
        all.for_each(|(index, unit)| answer(index, self.answer(&job.view, &unit.path)));
    }
}

/// Lineup with one linter that is always asked, and, unless there is a file `only-one`, one for file names and one for scripts.
struct ByFile;

impl Lineup for ByFile {
    fn route(&self, view: &Arc<dyn View>, _files: &Files) -> Result<Arc<Router>, SetupFailure> {
        let one = Reader::shared("one", &["*", "!script"], &[]);
        let all = [one, Reader::shared("two", &["a*"], &[]), Reader::shared("three", &[], &["sh"])];
        let is_alone = view.open(&path("only-one")).is_ok();
        Ok(Arc::new(Router::new(if is_alone { &all[..1] } else { &all })))
    }

    fn rules(&self, _view: &Arc<dyn View>, _linter: &str) -> Vec<Rule> {
        Vec::new()
    }
}

/// A view without the log of changes in its folder.
struct Plain(Arc<dyn View>);

impl View for Plain {
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        self.0.read(path)
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        self.0.metadata(path)
    }

    fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
        self.0.list(path)
    }

    fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
        self.0.read_link(path)
    }
}

/// All that is told, in words.
#[derive(Default)]
struct Words(BTreeSet<String>);

impl Words {
    fn add(&mut self, incomplete: &[Incomplete], excluded: &[Excluded]) {
        self.0.extend(incomplete.iter().map(|it| format!("{it:?}")));
        self.0.extend(excluded.iter().map(|it| format!("{it:?}")));
    }
}

impl Sink for Words {
    async fn started(&mut self, linters: &[Identity], files: usize, answers: usize) {
        let names: Vec<_> = linters.iter().map(|it| &it.name).collect();
        self.0.insert(format!("{names:?} {files} {answers}"));
    }

    async fn file(&mut self, file: FileReport) {
        self.add(&file.incomplete, &file.excluded);
        for (change, findings) in file.changes.unwrap_or_default() {
            let line =
                |it: &Reported| format!("{change:?} {} {:?} {}", it.0.file.path, it.0.span, it.0.message);
            self.0.extend(findings.iter().map(line));
        }
    }

    fn incomplete(&mut self, incomplete: Incomplete) {
        self.add(&[incomplete], &[]);
    }

    async fn pause(&mut self) {}
}

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

/// Returns the changes that `after` brings, in words; with the files that were looked at, if not all were.
fn told(checker: &LocalChecker, after: &Arc<dyn View>, comparison: Comparison) -> String {
    let wanted = comparison.wanted(&**after);
    let mut request = checker.request(Arc::clone(after), wanted, Arc::new(ByFile));
    request.comparison = Some(Arc::new(comparison));
    let mut words = Words::default();
    let (engine, cache, runtime) = checker.parts();
    match runtime.block_on(check(engine, cache, &request, &mut words)) {
        // The error reported for several wrong files is that of the first one read.
        Err(Refused::Setup(_)) => "a wrong configuration".to_owned(),
        Err(refused) => format!("{refused:?}"),
        Ok(Outcome { summary: it, .. }) => {
            let linters: Vec<_> =
                it.linters.iter().map(|it| LinterSummary { cached: 0, ..it.clone() }).collect();
            let counts = [it.files, it.findings, it.fixed, it.suppressed, it.baselined];
            let whole = (it.content, it.level, counts, it.unavailable, it.skipped, linters);
            format!("{whole:#?}\n{:#?}", words.0)
        }
    }
}

struct World {
    folder: TempDir,
    _private: TempDir,
    base: Base,
    _watch: Watch,
    /// With answers that are used again.
    checker: LocalChecker,
}

impl World {
    /// `memory` is for answers, in bytes.
    fn new(files: &[(&str, &str)], memory: usize) -> Self {
        let (folder, private) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        files.iter().for_each(|(at, text)| write(folder.path(), at, text));
        let base = Base::open(folder.path(), BaseOptions::default()).unwrap();
        let watch = base.watch(private.path(), |_| {}).unwrap();
        let cache = Arc::new(Cache::new(CacheOptions { memory, ..CacheOptions::default() }, AnswerCodec));
        let checker =
            LocalChecker::new(Options { jobs: 1, cache: Some(cache), ..Options::default() }).unwrap();
        Self { folder, _private: private, base, _watch: watch, checker }
    }

    fn branch(&self) -> Branch {
        Branch::new(Arc::new(self.base.clone()))
    }

    /// Looks at all there is, so that the answers are there.
    fn warm(&self) {
        let view: Arc<dyn View> = Arc::new(self.base.clone());
        let request = self.checker.request(Arc::clone(&view), scope().wanted(&*view), Arc::new(ByFile));
        let (engine, cache, runtime) = self.checker.parts();
        let _refused = runtime.block_on(check(engine, cache, &request, &mut Words::default()));
    }
}

fn write(root: &Path, at: &str, text: &str) {
    let at = root.join(at);
    // Errors are ignored.
    let _ = at.parent().map(fs::create_dir_all);
    let _ = fs::write(at, text);
}

fn scope() -> Scope {
    Scope { paths: Vec::new(), only: BTreeSet::new(), walk: WalkOptions::default(), configured: true }
}

fn compared(after: &Snapshot, before: &Snapshot) -> Comparison {
    Comparison::of_branch(after, before, scope()).unwrap()
}

/// Returns the changes as found by a look at everything, with nothing remembered.
fn from_nothing(after: &Snapshot, before: &Snapshot) -> String {
    let mut comparison = compared(after, before);
    comparison.before = Arc::new(Plain(Arc::clone(&comparison.before)));
    let plain: Arc<dyn View> = Arc::new(Plain(Arc::new(after.clone())));
    let checker = LocalChecker::new(Options { jobs: 1, ..Options::default() }).unwrap();
    told(&checker, &plain, comparison)
}

/// Bytes for all answers, and for few of them.
const ENOUGH: usize = 1 << 28;
const LITTLE: usize = 1 << 12;

#[derive(Debug, Clone)]
enum Act {
    Write(String, &'static str),
    Remove(String),
    Rename(String, String),
    Link(String, &'static str),
}

/// Numbers that repeat with the seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        // Knuth's generator, of which the upper half is the better.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn place(&mut self) -> String {
        const NAMES: [&str; 10] = [
            "a",
            "b",
            "a-b",
            "c",
            "script",
            ".gitignore",
            "broker.toml",
            "only-one",
            "node_modules",
            "target",
        ];
        let names: Vec<_> = (0..=self.below(2)).map(|_| self.of(&NAMES)).collect();
        names.join("/")
    }

    fn act(&mut self) -> Act {
        const TEXTS: [&str; 17] = [
            "",
            "!",
            "!\n!\n",
            "see a\n",
            "see b/a\n!\nlook a",
            "see c\nsee node_modules/a",
            "list b\nlook b/a",
            "list .",
            "skip",
            "?\n!",
            "%\nsee b/a",
            "a\n",
            "*\n!b\n",
            "[severity]\nX = 'off'\n",
            "[severity]\n'one/X' = 'hint'\n",
            "! # broker: ignore\n",
            "#!/bin/sh\n!",
        ];
        match self.below(11) {
            0..6 => Act::Write(self.place(), self.of(&TEXTS)),
            6..8 => Act::Remove(self.place()),
            8..10 => Act::Rename(self.place(), self.place()),
            _ => Act::Link(self.place(), self.of(&["a", "../b", "b/a"])),
        }
    }

    fn acts(&mut self, limit: usize) -> Vec<Act> {
        (0..self.below(limit)).map(|_| self.act()).collect()
    }
}

/// Does `act` on the branch, as far as it is not refused.
fn on_branch(branch: &mut Branch, act: &Act) {
    let _ = match act {
        Act::Write(at, text) => branch.write(&path(at), Bytes::from_static(text.as_bytes())),
        Act::Remove(at) => branch.remove(&path(at)),
        Act::Rename(from, to) => branch.rename(&path(from), &path(to)),
        Act::Link(at, to) => branch.symlink(&path(at), to),
    };
}

/// Whether what is done at `at` is done below `root`, wherever links lead; `follows` says whether a link at its end counts.
fn is_within(root: &Path, at: &Path, follows: bool) -> bool {
    let there = at.ancestors().skip(usize::from(!follows)).find(|it| it.symlink_metadata().is_ok());
    let real = there.and_then(|it| it.canonicalize().ok());
    real.is_some_and(|it| root.canonicalize().is_ok_and(|root| it.starts_with(root)))
}

fn on_disk(root: &Path, act: &Act) {
    let is_within = |at: &str, follows| is_within(root, &root.join(at), follows);
    let is_allowed = match act {
        Act::Write(at, _) => is_within(at, true),
        Act::Remove(at) | Act::Link(at, _) => is_within(at, false),
        Act::Rename(from, to) => is_within(from, false) && is_within(to, false),
    };
    match act {
        _ if !is_allowed => {}
        Act::Write(at, text) => write(root, at, text),
        Act::Remove(at) => {
            let _ = fs::remove_dir_all(root.join(at)).or_else(|_| fs::remove_file(root.join(at)));
        }
        Act::Rename(from, to) => _ = fs::rename(root.join(from), root.join(to)),
        Act::Link(at, to) => _ = std::os::unix::fs::symlink(to, root.join(at)),
    }
}

const FILES: [(&str, &str); 10] = [
    (".git/HEAD", ""),
    ("a", "!\nsee b/a\n"),
    ("b/a", "!\n!\n"),
    ("b/c", "see c\nlist b\n"),
    ("b/a-b", "skip"),
    ("a-b/a", "?\n!"),
    ("a-b/b", "! # broker: ignore\n"),
    ("node_modules/a", "!"),
    ("c/a", "see node_modules/a"),
    ("target/a", "!"),
];

/// The files that a comparison looks at in the view after, if not at all.
fn looked_at(world: &World, after: &Snapshot, before: &Snapshot) -> Option<Vec<String>> {
    let unchanged = unchanged(world, after, before);
    unchanged.map(|it| it.after.units.iter().map(|it| it.path.to_string()).collect())
}

fn unchanged(world: &World, after: &Snapshot, before: &Snapshot) -> Option<Arc<Unchanged>> {
    let view: Arc<dyn View> = Arc::new(after.clone());
    let mut request = world.checker.request(Arc::clone(&view), scope().wanted(&*view), Arc::new(ByFile));
    request.comparison = Some(Arc::new(compared(after, before)));
    let (engine, cache, runtime) = world.checker.parts();
    let unchanged = Unchanged::find(engine, cache, &request, request.comparison.as_ref().unwrap());
    runtime.block_on(unchanged).unwrap()
}

/// A branch with one edit, and its parent.
fn edited(world: &World) -> (Branch, [Snapshot; 2]) {
    let mut branch = world.branch();
    branch.write(&path("b/a"), Bytes::from_static(b"!\n")).unwrap();
    let after = branch.snapshot();
    let before = after.fork_point();
    (branch, [after, before])
}

/// Files that differ in such a branch: `a` has read `b/a`, and of `a-b/a` there is no final answer. `b/c` has listed `b`, whose
/// names are the same.
fn differing() -> Option<Vec<String>> {
    paths(&["a", "a-b/a", "b/a"])
}

fn paths(all: &[&str]) -> Option<Vec<String>> {
    Some(all.iter().map(|it| (*it).to_owned()).collect())
}

#[test]
fn only_what_may_differ_is_looked_at() {
    let world = World::new(&FILES, ENOUGH);
    world.warm();
    let (mut branch, [after, before]) = edited(&world);
    assert_eq!(
        told(&world.checker, &(Arc::new(after.clone()) as _), compared(&after, &before)),
        from_nothing(&after, &before)
    );
    // A change that no watch reports is looked for.
    fs::write(world.folder.path().join("node_modules/a"), "other").unwrap();
    assert_eq!(looked_at(&world, &after, &before), paths(&["a", "a-b/a", "b/a", "c/a"]));
    fs::write(world.folder.path().join("node_modules/a"), "!").unwrap();
    assert_eq!(looked_at(&world, &after, &before), differing());
    // Several changes in the folder are recorded once.
    for at in ["b/x", "b/y", "b/z"] {
        write(world.folder.path(), at, "!");
    }
    assert_eq!(looked_at(&world, &after, &before), differing());
    branch.write(&path("b/new/file"), Bytes::from_static(b"!\n")).unwrap();
    let with_who_listed = paths(&["a", "a-b/a", "b/a", "b/c", "b/new/file"]);
    assert_eq!(looked_at(&world, &branch.snapshot(), &before), with_who_listed);
    branch.write(&path("broker.toml"), Bytes::from_static(b"[severity]\nX = 'off'\n")).unwrap();
    assert_eq!(looked_at(&world, &branch.snapshot(), &before), None, "all may be reported otherwise");
}

#[test]
fn what_only_looks_for_a_file_is_not_looked_at_after_an_edit_of_it() {
    let world = World::new(&[("a", "see c"), ("b", "look c"), ("c", "!")], ENOUGH);
    world.warm();
    let mut branch = world.branch();
    branch.write(&path("c"), Bytes::from_static(b"longer")).unwrap();
    let before = branch.snapshot().fork_point();
    assert_eq!(looked_at(&world, &branch.snapshot(), &before), paths(&["a", "c"]));
    branch.remove(&path("c")).unwrap();
    assert_eq!(looked_at(&world, &branch.snapshot(), &before), paths(&["a", "b"]));
}

#[test]
fn of_the_view_before_only_what_has_findings_is_looked_at() {
    let world = World::new(&[("a", "!"), ("b", "x"), ("c", "skip"), ("d", "x"), ("e", "x")], ENOUGH);
    let files = |edits: &dyn Fn(&mut Branch), of: &Branch| {
        let mut branch = of.fork();
        edits(&mut branch);
        let after = branch.snapshot();
        let before = after.fork_point();
        let shown: Arc<dyn View> = Arc::new(after.clone());
        assert_eq!(told(&world.checker, &shown, compared(&after, &before)), from_nothing(&after, &before));
        let unchanged = unchanged(&world, &after, &before).unwrap();
        let Some(Wanted::Files(before)) = unchanged.wanted_before() else { return Vec::new() };
        before.units.iter().map(|it| it.path.to_string()).collect::<Vec<_>>()
    };
    let write = |branch: &mut Branch, at: &str, text: &'static str| {
        branch.write(&path(at), Bytes::from_static(text.as_bytes())).unwrap();
    };
    let mut base = world.branch();
    let edit_all =
        |branch: &mut Branch| ["a", "b", "c", "d", "e"].iter().for_each(|it| write(branch, it, "!\n!"));
    assert_eq!(files(&edit_all, &base), ["a", "c"]);
    let remove = |branch: &mut Branch| {
        branch.remove(&path("d")).unwrap();
    };
    assert_eq!(files(&remove, &base), ["d"], "it is gone in the view after");
    // The edits of the view before were not recorded.
    write(&mut base, "b", "y");
    assert_eq!(files(&edit_all, &base), ["a", "b", "c"]);
}

#[test]
fn a_link_is_looked_at_where_its_text_or_its_way_there_changed() {
    let files = [("b/a", "!\n!\n"), ("b/c", "!"), ("c/d", "see b/c"), ("target/x", "!")];
    let world = World::new(&files, ENOUGH);
    let links =
        [("b/link", "../c/d"), ("b/way", "../b/link"), ("a-link", "c/d"), ("b/unwatched", "../target/x")];
    for (at, to) in links {
        std::os::unix::fs::symlink(to, world.folder.path().join(at)).unwrap();
    }
    world.warm();
    let (branch, [after, before]) = edited(&world);
    // The answer of `two` about `a-link` does not name what it read.
    let always = ["a-link", "b/a"];
    let with = |more: &[&str]| {
        let mut all = [&always[..], more].concat();
        all.sort_unstable();
        paths(&all)
    };
    assert_eq!(looked_at(&world, &after, &before), with(&[]));
    let edited = |edit: &dyn Fn(&mut Branch)| {
        let mut branch = branch.clone();
        edit(&mut branch);
        let after = branch.snapshot();
        let shown: Arc<dyn View> = Arc::new(after.clone());
        let own = told(&world.checker, &shown, compared(&after, &before));
        assert_eq!(own, from_nothing(&after, &before));
        looked_at(&world, &after, &before)
    };
    let of_text = edited(&|it| drop(it.write(&path("c/d"), Bytes::from_static(b"!"))));
    assert_eq!(of_text, with(&["b/link", "b/way", "c/d"]));
    let of_link = edited(&|it| drop((it.remove(&path("b/link")), it.symlink(&path("b/link"), "c"))));
    assert_eq!(of_link, with(&["b/link", "b/way"]));
    let of_unwatched = edited(&|it| drop(it.write(&path("target/x"), Bytes::from_static(b"?"))));
    assert_eq!(of_unwatched, with(&["b/unwatched", "target/x"]));
}

#[test]
fn a_file_whose_changes_no_watch_reports_is_looked_at_where_it_changed() {
    let world = World::new(&[("b/a", "!\n!\n"), ("target/a", "!")], ENOUGH);
    world.warm();
    let (_, [after, before]) = edited(&world);
    assert_eq!(looked_at(&world, &after, &before), paths(&["b/a"]));
    fs::write(world.folder.path().join("target/a"), "other").unwrap();
    assert_eq!(looked_at(&world, &after, &before), paths(&["b/a", "target/a"]));
    fs::write(world.folder.path().join("target/a"), "!").unwrap();
    assert_eq!(looked_at(&world, &after, &before), paths(&["b/a"]));
}

#[test]
fn a_whole_check_records_what_comparisons_need_though_its_answers_are_evicted() {
    let world = World::new(&FILES, LITTLE);
    world.warm();
    let (engine, _, _) = world.checker.parts();
    assert!(engine.cache_stats().evicted > 0);
    let (_, [after, before]) = edited(&world);
    let lookups = |stats: scheduler::CacheStats| stats.hits + stats.misses;
    let before_it = lookups(engine.cache_stats());
    assert_eq!(looked_at(&world, &after, &before), differing());
    assert_eq!(lookups(engine.cache_stats()), before_it, "no answer was asked for");
}

#[test]
fn the_first_comparison_records_the_folder() {
    let world = World::new(&FILES, ENOUGH);
    let (_, [after, before]) = edited(&world);
    assert_eq!(looked_at(&world, &after, &before), differing());
    let (engine, _, _) = world.checker.parts();
    let asked = engine.cache_stats().misses;
    assert_eq!(looked_at(&world, &after, &before), differing());
    assert_eq!(engine.cache_stats().misses, asked, "it was recorded once");
}

#[test]
fn a_comparison_is_what_it_is_from_nothing() {
    // The two at the end are seeds with which configuration was read in the wrong state.
    for seed in (std::env::var("FROM").map_or(0, |it| it.parse().unwrap())
        ..std::env::var("TO").map_or(192, |it| it.parse().unwrap()))
        .chain([268, 1207])
    {
        let mut random = Random(seed);
        let world = World::new(&FILES, random.of(&[ENOUGH, LITTLE]));
        if random.below(2) == 0 {
            world.warm();
        }
        let mut branch = world.branch();
        let mut acts = Vec::new();
        for _ in 0..=random.below(6) {
            let (of_disk, of_branch) = (random.acts(3), random.acts(4));
            of_disk.iter().for_each(|it| on_disk(world.folder.path(), it));
            branch = match random.below(4) {
                0 => world.branch(),
                1 => branch.fork(),
                _ => branch,
            };
            of_branch.iter().for_each(|it| on_branch(&mut branch, it));
            acts.push((of_disk, of_branch));
            let after = branch.snapshot();
            let before = after.fork_point();
            let own = told(&world.checker, &(Arc::new(after.clone()) as _), compared(&after, &before));
            assert_eq!(own, from_nothing(&after, &before), "seed {seed}: {acts:#?}");
        }
    }
}

#[test]
fn a_partial_answer_is_asked_for_once_where_both_views_show_the_same() {
    let view = |text| -> Arc<dyn View> { Arc::new(Memory::from_files([("a", "x"), ("b", text)]).unwrap()) };
    let (before, after) = (view("y"), view("z"));
    let linter = Arc::new(Scripted::new("l", &["*"]).partly("a", "it is long").partly("b", "it is long"));
    let cache = Arc::new(Cache::new(CacheOptions::default(), AnswerCodec));
    let checker = LocalChecker::new(Options { jobs: 1, cache: Some(cache), ..Options::default() }).unwrap();
    let comparison = Comparison::of_views(before, &*after, vec![path("b")], scope());
    let wanted = comparison.wanted(&*after);
    let linters = Arc::new(FixedLinters(vec![Arc::clone(&linter) as _]));
    let mut request = checker.request(Arc::clone(&after), wanted, linters);
    request.comparison = Some(Arc::new(comparison));
    let (engine, cache, runtime) = checker.parts();
    let outcome = runtime.block_on(check(engine, cache, &request, &mut Words::default())).unwrap();
    let asked: Vec<_> = linter.asked().into_iter().map(|(at, _)| at).collect();
    assert_eq!((outcome.summary.linters[0].partial, asked), (2, ["a", "b", "b"].map(str::to_owned).to_vec()));
}

#[test]
fn a_configuration_that_is_wrong_only_before_is_said_to_be_wrong_there() {
    let view = |text| -> Arc<dyn View> {
        Arc::new(Memory::from_files([("a", "x"), ("broker.toml", text)]).unwrap())
    };
    let (wrong, right) = (view("slect = []"), view(""));
    let checker = LocalChecker::new(Options { jobs: 1, ..Options::default() }).unwrap();
    let refused = |before: &Arc<dyn View>, after: &Arc<dyn View>| {
        let comparison =
            Comparison::of_views(Arc::clone(before), &**after, vec![path("broker.toml")], scope());
        let wanted = comparison.wanted(&**after);
        let mut request = checker.request(Arc::clone(after), wanted, Arc::new(ByFile));
        request.comparison = Some(Arc::new(comparison));
        let (engine, cache, runtime) = checker.parts();
        match runtime.block_on(check(engine, cache, &request, &mut Words::default())) {
            Err(Refused::Setup(failure)) => failure.to_string(),
            other => panic!("{:?}", other.map(|it| it.summary)),
        }
    };
    let why = "broker.toml:1:1: unknown key `slect`";
    assert_eq!(refused(&wrong, &right), format!("in the parent: {why}"));
    assert_eq!(refused(&right, &wrong), why);
    assert_eq!(refused(&wrong, &wrong), why);
}

/// Number of times that `failing`, one of `linters`, is asked about `a-b/a` in so many comparisons.
fn times_asked(world: &World, failing: &Scripted, linters: Vec<SharedLinter>, comparisons: usize) -> usize {
    let (_, [after, before]) = edited(world);
    let view: Arc<dyn View> = Arc::new(after.clone());
    let lineup = Arc::new(FixedLinters(linters));
    let mut request = world.checker.request(Arc::clone(&view), scope().wanted(&*view), lineup);
    request.comparison = Some(Arc::new(compared(&after, &before)));
    let (engine, cache, runtime) = world.checker.parts();
    for _ in 0..comparisons {
        let mut words = Words::default();
        let checked = runtime.block_on(check(engine, cache, &request, &mut words)).unwrap();
        assert_eq!(checked.summary.linters[0].failed, 1);
    }
    failing.asked().iter().filter(|(at, _)| at == "a-b/a").count()
}

fn failing() -> Scripted {
    Scripted::new("l", &["*"]).fails("a-b/a", "its configuration cannot be used")
}

#[test]
fn a_failure_that_would_be_repeated_is_asked_for_ever_more_rarely() {
    let times = |linter: Scripted, comparisons| {
        let (world, linter) = (World::new(&FILES, ENOUGH), Arc::new(linter));
        times_asked(&world, &linter, vec![Arc::clone(&linter) as _], comparisons)
    };
    // Once while the folder is recorded, and when it is recorded once more: by the third comparison, and by the eighth.
    let repeated = [1, 2, 3, 7, 8].map(|it| times(failing().is_deterministic(), it));
    assert_eq!(repeated, [1, 1, 2, 2, 3]);
    // Else also for both views of each comparison.
    assert_eq!(times(failing(), 2), 5);
}

#[test]
fn a_failure_is_not_kept_of_a_file_that_is_not_recorded_once_more() {
    let world = World::new(&FILES, ENOUGH);
    let linter = Arc::new(failing().is_deterministic());
    // The other linter's answer about the file depends on more than is read.
    let other: SharedLinter = Arc::new(Scripted::new("other", &["*"]).rests_on("c"));
    let linters: Vec<SharedLinter> = vec![Arc::clone(&linter) as _, other];
    let base: Arc<dyn View> = Arc::new(world.base.clone());
    let whole = world.checker.request(
        Arc::clone(&base),
        scope().wanted(&*base),
        Arc::new(FixedLinters(linters.clone())),
    );
    let (engine, cache, runtime) = world.checker.parts();
    runtime.block_on(check(engine, cache, &whole, &mut Words::default())).unwrap();
    // Once by that, and once for both views of each comparison.
    assert_eq!(times_asked(&world, &linter, linters, 2), 3);
}
