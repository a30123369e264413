//! The engine with scripted linters.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use config::SetupFailure;
use lint::{Cancel, Completeness, Diagnostic, Linter, Profile, Reads, Severity, Span};
use lint_testkit::Scripted;
use overlay::{Listing, Memory, Metadata, View, WalkOptions, WorkspacePath};
use parking_lot::Mutex;
use scheduler::CacheOptions;

use super::*;
use crate::pipeline::Lineup;

fn view(files: &[&str]) -> Arc<dyn View> {
    Arc::new(Memory::from_files(files.iter().map(|path| (*path, "one\ntwo\n"))).unwrap())
}

fn all(view: &Arc<dyn View>) -> Files {
    collect(&**view, &[WorkspacePath::root()], &WalkOptions::default())
}

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn finding(code: &str, start: u32) -> Diagnostic {
    Diagnostic {
        code: code.into(),
        name: None,
        message: "m".into(),
        severity: Severity::Error,
        cell: None,
        span: Span::new(start, start + 1),
        tags: vec![],
        url: None,
        shared_name: None,
        fixes: vec![],
        related: vec![],
    }
}

fn run(view: &Arc<dyn View>, linters: Vec<Arc<dyn Linter>>) -> Report {
    let options = Options { jobs: 2, ..Options::default() };
    check(view, all(view), &linters, &options, Arc::new(|_, _| ())).unwrap()
}

fn reasons(report: &Report) -> Vec<String> {
    let line = |it: &Incomplete| format!("{:?} {} {}", it.subject, it.level.name(), it.reason);
    report.incomplete.iter().map(line).collect()
}

#[test]
fn findings_are_sorted_and_placed() {
    let view = view(&["a.py", "b.py"]);
    let one =
        Scripted::new("one", &["*"]).finds("b.py", vec![finding("Z", 4), finding("A", 4), finding("Y", 0)]);
    let two = Scripted::new("two", &["a.py"]).finds("a.py", vec![finding("B", 5)]);
    let report = run(&view, vec![Arc::new(two), Arc::new(one)]);
    let lines: Vec<_> = report
        .findings
        .iter()
        .map(|it| format!("{}:{}:{} {}", it.file.path, it.range.start.line, it.range.start.column, it.rule))
        .collect();
    assert_eq!(lines, ["a.py:2:2 two/B", "b.py:1:1 one/Y", "b.py:2:1 one/A", "b.py:2:1 one/Z"]);
    assert_eq!((report.files, report.counts.complete), (2, 2));
}

/// Linters by groups of files.
struct Grouped(Arc<Router>);

impl Lineup for Grouped {
    fn route(&self, _: &Arc<dyn View>, _: &Files) -> Result<Arc<Router>, SetupFailure> {
        Ok(Arc::clone(&self.0))
    }

    fn rules(&self, _: &Arc<dyn View>, _: &str) -> Vec<lint::Rule> {
        Vec::new()
    }
}

#[test]
fn files_with_other_linters_are_checked_in_one_run() {
    let view = view(&["a.py", "b.py", "tests/a.py"]);
    let linter = |name: &str, file: &str| -> SharedLinter {
        Arc::new(Scripted::new(name, &["*"]).finds(file, vec![finding(name, 0)]))
    };
    let of = |linters: Vec<SharedLinter>| Arc::new(Router::new(&linters));
    let first = of(vec![linter("one", "a.py"), linter("two", "b.py")]);
    // A linter of the same name, with other settings.
    let of_tests = of(vec![linter("two", "tests/a.py"), linter("three", "tests/a.py")]);
    let router = Router::grouped(vec![(first, Vec::new()), (of_tests, vec![path("tests/a.py")])]);
    let last = Arc::new(Mutex::new((0, 0)));
    let seen = Arc::clone(&last);
    let progress = Arc::new(move |done, total| *seen.lock() = (done, total));
    let checker = LocalChecker::new(Options { jobs: 1, ..Options::default() }).unwrap();
    let lineup = Arc::new(Grouped(Arc::new(router)));
    let request = checker.request(Arc::clone(&view), Wanted::Files(all(&view)), lineup);
    let report = checker.check(&request, progress).unwrap().0.report;
    let found: Vec<_> = report.findings.iter().map(|it| format!("{} {}", it.file.path, it.rule)).collect();
    assert_eq!(found, ["a.py one/one", "b.py two/two", "tests/a.py three/three", "tests/a.py two/two"]);
    assert_eq!((report.counts.complete, *last.lock()), (3, (6, 6)));
}

#[test]
fn what_a_linter_says_twice_is_one_finding() {
    let view = view(&["a.py"]);
    let other = Diagnostic { message: "other".into(), ..finding("A", 4) };
    let linter = Scripted::new("one", &["*"])
        .finds("a.py", vec![finding("A", 4), finding("A", 4), other, finding("A", 5), finding("B", 4)]);
    let report = run(&view, vec![Arc::new(linter)]);
    let told: Vec<_> = report.findings.iter().map(|it| format!("{} {}", it.rule.code, it.message)).collect();
    assert_eq!(told, ["A m", "A other", "B m", "A m"]);
}

#[test]
fn each_file_counts_once_by_its_worst_answer() {
    let view = view(&["complete", "excluded", "failed", "partial", "pending", "unwanted"]);
    let one = Scripted::new("one", &["*", "!unwanted"])
        .answers("excluded", Completeness::Excluded)
        .partly("partial", "p")
        .answers("pending", Completeness::Pending("w".into()))
        .fails("failed", "f");
    let two = Scripted::new("two", &["failed", "pending"]);
    let report = run(&view, vec![Arc::new(one), Arc::new(two)]);
    assert_eq!(report.counts, Counts { complete: 1, partial: 1, pending: 1, failed: 1 });
    assert_eq!(report.files, 4);
    assert_eq!(
        reasons(&report),
        ["Path(\"failed\") failed f", "Path(\"partial\") partial p", "Path(\"pending\") pending w"]
    );
}

#[test]
fn every_unit_is_answered_whatever_a_linter_does() {
    let view = view(&["a", "b", "c"]);
    let forgets = Scripted::new("forgets", &["*"]).forgets("b");
    let report = run(&view, vec![Arc::new(forgets)]);
    assert_eq!(reasons(&report), ["Path(\"b\") failed the linter `forgets` gave no answer"]);

    let panics = Scripted::new("panics", &["a"]).panics("a");
    let report = run(&view, vec![Arc::new(panics), Arc::new(Scripted::new("fine", &["*"]))]);
    assert_eq!(
        reasons(&report),
        ["Path(\"a\") failed the linter `panics` broke off; this is a bug in Broker"]
    );
    assert_eq!(report.counts, Counts { complete: 2, failed: 1, ..Counts::default() });
}

#[test]
fn many_files_are_each_checked_once() {
    let names: Vec<String> = (0..1000).map(|it| format!("{it:04}")).collect();
    let view = view(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let linter = Arc::new(Scripted::new("one", &["*"]));
    let (last, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    let (last_too, done_too) = (Arc::clone(&last), Arc::clone(&done));
    let progress = Arc::new(move |count, total| {
        last_too.store(total, Ordering::Relaxed);
        done_too.lock().push(count);
    });
    let linters: Vec<Arc<dyn Linter>> = vec![Arc::clone(&linter) as Arc<dyn Linter>];
    let report =
        check(&view, all(&view), &linters, &Options { jobs: 7, ..Options::default() }, progress).unwrap();
    assert_eq!((report.files, last.load(Ordering::Relaxed)), (1000, 1000));
    assert_eq!(
        linter.asked().iter().map(|(path, _)| path).collect::<Vec<_>>(),
        names.iter().collect::<Vec<_>>()
    );
    let mut done = done.lock().clone();
    done.sort_unstable();
    assert_eq!(done, (1..=1000).collect::<Vec<_>>());
}

#[test]
fn what_is_cancelled_is_pending() {
    let view = view(&["a", "b"]);
    let options = Options::default();
    options.cancel.cancel();
    let linters: Vec<Arc<dyn Linter>> = vec![Arc::new(Scripted::new("one", &["*"]))];
    let report = check(&view, all(&view), &linters, &options, Arc::new(|_, _| ())).unwrap();
    assert_eq!(report.counts, Counts { pending: 2, ..Counts::default() });
    assert_eq!(reasons(&report), ["Path(\"a\") pending interrupted", "Path(\"b\") pending interrupted"]);
}

#[test]
fn files_are_told_by_what_they_were_named() {
    let mut tree = Memory::from_files(
        ["dir/a", "dir/b", "dir/in/c", "dir-x/d", "real/e", "f"].map(|path| (path, "one\n")),
    )
    .unwrap();
    tree.insert_symlink(&path("link"), "real");
    let view: Arc<dyn View> = Arc::new(tree);
    let named = |paths: &[&str]| {
        let paths: Vec<_> = paths.iter().map(|it| path(it)).collect();
        let linter = Arc::new(Scripted::new("one", &["*"]));
        let linters: Vec<Arc<dyn Linter>> = vec![Arc::clone(&linter) as Arc<dyn Linter>];
        let files = collect(&*view, &paths, &WalkOptions::default());
        check(&view, files, &linters, &Options::default(), Arc::new(|_, _| ())).unwrap();
        linter.asked().iter().map(|(path, named)| format!("{path} {named}")).collect::<Vec<_>>()
    };
    assert_eq!(named(&["f", "dir/b"]), ["dir/b dir/b", "f f"]);
    assert_eq!(
        named(&["dir", "dir/b", "dir/in", "dir-x"]),
        ["dir-x/d dir-x", "dir/a dir", "dir/b dir/b", "dir/in/c dir/in"]
    );
    assert_eq!(named(&["", "dir/in"])[..3], ["dir-x/d .", "dir/a .", "dir/b ."]);
    assert_eq!(named(&["link"]), ["real/e ."], "what a link leads to is nowhere named");
}

#[test]
fn what_was_named_and_is_left_out_is_told() {
    let view = view(&["a/x", "a/y", "b/x", "b/y", "c/unwanted"]);
    let one = Scripted::new("one", &["x", "y"])
        .leaves_out("a/x", "it is a template")
        .answers("b/x", Completeness::Excluded)
        .answers("a/y", Completeness::Excluded);
    let two = || Arc::new(Scripted::new("two", &["/a/y"]));
    let one: Arc<dyn Linter> = Arc::new(one);
    let left_out = |linters: &[Arc<dyn Linter>]| {
        let files = collect(&*view, &["a", "b", "c"].map(path), &WalkOptions::default());
        let report = check(&view, files, linters, &Options::default(), Arc::new(|_, _| ())).unwrap();
        report.left_out.iter().map(WorkspacePath::to_string).collect::<Vec<_>>()
    };
    assert_eq!(left_out(&[Arc::clone(&one)]), ["a"]);
    let files = collect(&*view, &[WorkspacePath::root()], &WalkOptions::default());
    let report = check(&view, files, &[Arc::clone(&one)], &Options::default(), Arc::new(|_, _| ())).unwrap();
    let reason = "it is a template".into();
    let for_content = Excluded { path: path("a/x"), linter: "one".into(), in_part: false, reason };
    assert_eq!((report.excluded_files(), report.excluded), (1, vec![for_content]));
    assert!(left_out(&[one, two()]).is_empty());
}

/// The check is complete, and says what was not read.
#[test]
fn what_is_read_in_part_is_told() {
    let view = view(&["a/x", "b/x"]);
    let one: Arc<dyn Linter> =
        Arc::new(Scripted::new("one", &["x"]).reads_in_part("b/x", "1 of 2 queries are of no dialect"));
    let files = collect(&*view, &[WorkspacePath::root()], &WalkOptions::default());
    let report = check(&view, files, &[one], &Options::default(), Arc::new(|_, _| ())).unwrap();
    assert!(report.is_complete());
    assert_eq!((report.counts.complete, report.excluded_files(), report.files_read_in_part()), (2, 0, 1));
    let told: Vec<_> =
        report.read_in_part().map(|it| format!("{} {}: {}", it.path, it.linter, it.reason)).collect();
    assert_eq!(told, ["b/x one: 1 of 2 queries are of no dialect"]);
}

/// A linter that answers for a text that is not there any more.
struct Late(Scripted);

impl Linter for Late {
    fn identity(&self) -> &lint::Identity {
        self.0.identity()
    }
    fn interest(&self) -> &lint::Interest {
        self.0.interest()
    }
    fn rules(&self, view: &Arc<dyn View>) -> Result<Vec<lint::Rule>, lint::SetupError> {
        self.0.rules(view)
    }
    fn check(&self, job: &lint::Job, answer: &mut dyn FnMut(usize, lint::Outcome)) {
        self.0.check(job, &mut |index, outcome| {
            let content = Some(overlay::ContentHash::of(b"before"));
            answer(index, lint::Outcome { content, ..outcome });
        });
    }
}

#[test]
fn findings_for_another_text_are_not_shown_as_if_they_were_for_this() {
    let view = view(&["a"]);
    let late = Late(Scripted::new("late", &["*"]).finds("a", vec![finding("X", 0)]));
    let report = run(&view, vec![Arc::new(late)]);
    assert!(report.findings.is_empty());
    assert_eq!(reasons(&report), ["Path(\"a\") pending the file changed while it was checked"]);
}

#[test]
fn what_is_not_traced_rests_on_its_context() {
    let asked = |reads| {
        let profile = Profile { reads, ..Profile::SERVER };
        let linter = Arc::new(Scripted::new("server", &["a.py"]).rests_on("other").works(profile));
        let cache = Cache::new(CacheOptions::default(), AnswerCodec);
        let options = Options { cache: Some(Arc::new(cache)), ..Options::default() };
        ["x", "x", "y", "x"].map(|other| {
            let view: Arc<dyn View> =
                Arc::new(Memory::from_files([("a.py", "1"), ("other", other)]).unwrap());
            check(&view, all(&view), &[Arc::clone(&linter) as _], &options, Arc::new(|_, _| ())).unwrap();
            linter.asked().len()
        })
    };
    assert_eq!(asked(Reads::Context), [1, 1, 2, 2]);
    assert_eq!(asked(Reads::Traced), [1; 4], "its read sets say all");
}

#[test]
fn another_build_of_the_program_asks_anew() {
    let folder = tempfile::tempdir().unwrap();
    let linter = Arc::new(Scripted::new("one", &["*"]));
    let view = view(&["a"]);
    let asked_by = |build: &'static str| {
        let folder = Some(folder.path().join("answers"));
        let cache = Cache::new(CacheOptions { folder, ..CacheOptions::default() }, AnswerCodec);
        let options = Options { cache: Some(Arc::new(cache)), build, ..Options::default() };
        check(&view, all(&view), &[Arc::clone(&linter) as _], &options, Arc::new(|_, _| ())).unwrap();
        linter.asked().len()
    };
    assert_eq!(["1", "1", "2", "2", "1"].map(asked_by), [1, 1, 2, 2, 2]);
}

#[test]
fn an_answer_is_not_given_again_once_its_lease_is_over() {
    let revoked = Cancel::default();
    let lease = lint::Lease::new(revoked.clone(), None);
    let linter = Arc::new(Scripted::new("server", &["a.py"]).rests_on("a.py").leased(lease));
    let folder = tempfile::tempdir().unwrap();
    let cached = || {
        let options = CacheOptions { folder: Some(folder.path().join("answers")), ..CacheOptions::default() };
        Some(Arc::new(Cache::new(options, AnswerCodec)))
    };
    let view: Arc<dyn View> = Arc::new(Memory::from_files([("a.py", "1")]).unwrap());
    let ask = |options: &Options| {
        check(&view, all(&view), &[Arc::clone(&linter) as _], options, Arc::new(|_, _| ())).unwrap();
        linter.asked().len()
    };
    let here = Options { cache: cached(), ..Options::default() };
    assert_eq!([ask(&here), ask(&here)], [1, 1], "it holds");
    assert_eq!(ask(&Options { cache: cached(), ..Options::default() }), 2, "it is in no file");
    revoked.cancel();
    assert_eq!([ask(&here), ask(&here)], [3, 4], "it is over");
    assert!(!lint::Lease::new(Cancel::default(), Some(Duration::ZERO)).holds());
}

/// Another file has another text each time it is looked at.
struct Restless(Memory, AtomicUsize);

impl View for Restless {
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        match path.as_str() {
            "other" => Ok(self.1.fetch_add(1, Ordering::Relaxed).to_string().into()),
            _ => self.0.read(path),
        }
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

#[test]
fn a_context_that_changes_meanwhile_is_told() {
    let memory = Memory::from_files([("a.py", "1"), ("other", "")]).unwrap();
    let view: Arc<dyn View> = Arc::new(Restless(memory, AtomicUsize::default()));
    let report = run(&view, vec![Arc::new(Scripted::new("server", &["a.py"]).rests_on("other"))]);
    assert_eq!(reasons(&report), ["Path(\"a.py\") partial other files changed while it was checked"]);
}

/// A view in which `big` is larger than memory: it may be looked at, and is never read nor hashed.
struct WithBig(Memory);

impl View for WithBig {
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        assert_ne!(path.as_str(), "big", "it is read");
        self.0.read(path)
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        let metadata = self.0.metadata(path)?;
        Ok(if path.as_str() == "big" { Metadata { size: 1 << 40, ..metadata } } else { metadata })
    }

    fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
        self.0.list(path)
    }

    fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
        self.0.read_link(path)
    }
}

#[test]
fn what_is_too_large_is_left_out_and_told() {
    let mut files = Memory::from_files([("a", "one\n"), ("big", ""), ("c", "one\n")]).unwrap();
    files.insert_symlink(&path("link"), "big");
    let view: Arc<dyn View> = Arc::new(WithBig(files));
    let all = all(&view);
    for cache in [None, Some(Arc::new(Cache::new(CacheOptions::default(), AnswerCodec)))] {
        for _ in 0..2 {
            let one = Arc::new(Scripted::new("one", &["*"]).finds("c", vec![finding("Z", 0)]));
            let two = Arc::new(Scripted::new("two", &["*"]));
            let linters: Vec<Arc<dyn Linter>> = vec![one.clone(), two];
            let options = Options { jobs: 2, cache: cache.clone(), ..Options::default() };
            let report = check(&view, all.clone(), &linters, &options, Arc::new(|_, _| ())).unwrap();
            assert!(!one.asked().iter().any(|(path, _)| path == "big" || path == "link"));
            assert_eq!((report.findings.len(), report.files), (1, 2));
            assert_eq!((report.skipped.too_large, report.skipped.total()), (2, 2), "by either name");
            assert_eq!(reasons(&report), [""; 0]);
        }
    }
}

#[test]
fn what_is_no_text_is_left_out_and_told() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n";
    let mut files = Memory::from_files([("a", "one\n"), ("pointer", pointer)]).unwrap();
    files.insert_file(&path("wide"), Bytes::from_static(b"\xff\xfeo\0n\0e\0"), false);
    files.insert_symlink(&path("link"), "wide");
    let view: Arc<dyn View> = Arc::new(files);
    let all = all(&view);
    let cache = Some(Arc::new(Cache::new(CacheOptions::default(), AnswerCodec)));
    for _ in 0..2 {
        let one = Arc::new(Scripted::new("one", &["*"]));
        let linters: Vec<Arc<dyn Linter>> = vec![one.clone()];
        let options = Options { jobs: 2, cache: cache.clone(), ..Options::default() };
        let report = check(&view, all.clone(), &linters, &options, Arc::new(|_, _| ())).unwrap();
        assert!(one.asked().iter().all(|(path, _)| path == "a"));
        let excluded: Vec<_> =
            report.excluded.iter().map(|it| format!("{} {} {}", it.path, it.linter, it.reason)).collect();
        let wide = "it is encoded in UTF-16; linters read UTF-8";
        let pointer = "it is a pointer of Git LFS; `git lfs pull` brings the file itself";
        let want =
            [("link", wide), ("pointer", pointer), ("wide", wide)].map(|it| format!("{} one {}", it.0, it.1));
        assert_eq!(excluded, want);
        assert_eq!(reasons(&report), [""; 0]);
    }
}
