//! Real servers, where they are named, moved between many branches: no answer is of another branch.
//! `BROKER_TEST_TY=/path/to/ty cargo test -p language-servers isolation -- --nocapture`; likewise for each of
//! the profiles. `BROKER_TEST_SERVERS_REQUIRED=ty,gopls` makes it a failure that one of these is not named.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use language_servers::{Deletes, Pool, Profile, Server, Setup, profiles};
use lint::{Cancel, Completeness, Job, Linter, Outcome, Unit};
use overlay::{Branch, View};

use crate::{
    bench::path,
    fixture::started,
    languages::{Language, is_right, language, program},
};

pub(crate) const BRANCHES: usize = 20;
const CYCLES: usize = 5;
const ABANDONED: usize = 24;
const BOTH: [&str; 2] = ["a", "b"];

/// Numbers that look random and are the same each time.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn shuffled(&mut self, end: usize) -> Vec<usize> {
        let mut order: Vec<_> = (0..end).collect();
        for at in (1..end).rev() {
            order.swap(at, self.below(at + 1));
        }
        order
    }
}

/// Result of a run through all branches.
pub(crate) struct Run {
    pub(crate) switches: Vec<Duration>,
    pub(crate) wrong: usize,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a short list")]
pub(crate) fn percentile(times: &mut [Duration], part: f64) -> Duration {
    times.sort();
    times[((times.len() - 1) as f64 * part) as usize]
}

fn check(name: &str) {
    if let Some(program) = program(name) {
        let (folder, language) = (tempfile::tempdir().unwrap(), language(name));
        // Canonical path, as in a server that follows links.
        let root = folder.path().canonicalize().unwrap();
        let temporary = tempfile::tempdir().unwrap();
        let mut setup = language.setup(name, program, &root);
        setup.launch.env.push(("TMPDIR".into(), Some(temporary.path().into())));
        check_first(name, &setup, language);
        check_switches(name, setup.clone(), language);
        check_files(name, setup.clone(), language);
        check_disk(name, setup, language);
        let left = std::fs::read_dir(temporary.path()).unwrap().map(|it| it.unwrap().file_name());
        assert_eq!(left.collect::<Vec<_>>(), [""; 0], "{name} leaves temporary files");
    }
}

/// Whether an answer can be whole with the edits that a branch has here.
pub(crate) fn is_whole(setup: &Setup) -> bool {
    setup.profile.sees.edited_files
}

/// Checks that the first answer after the start is right.
fn check_first(name: &str, setup: &Setup, language: Language) {
    for marker in 1..=3 {
        let server = Server::new(setup.clone());
        let view = language.view(&setup.disk, |it| language.edit(it, "a", language.text("a", marker)));
        let outcomes = language.ask(&server, &view, &["a"]);
        assert!(is_right(&outcomes, marker, true), "{name}: {outcomes:?}");
    }
}

fn check_switches(name: &str, setup: Setup, language: Language) {
    let (disk, is_whole) = (Arc::clone(&setup.disk), is_whole(&setup));
    let server = Server::new(setup);
    let base = language.ask(&server, &disk, &BOTH);
    let mut run = switch(name, &server, &disk, language, is_whole);
    let again = language.ask(&server, &disk, &BOTH);
    let (p50, p99) = (percentile(&mut run.switches, 0.5), percentile(&mut run.switches, 0.99));
    let (n, n_wrong) = (run.switches.len(), run.wrong);
    println!("{name}: {n} switches, {ABANDONED} abandoned, {n_wrong} wrong, p50 {p50:?}, p99 {p99:?}");
    assert_eq!(n_wrong, 0);
    for (before, after) in base.iter().zip(&again) {
        assert_eq!(before.diagnostics, after.diagnostics, "the base has changed");
    }
}

/// All branches in random orders, with some that are left before they have answered.
pub(crate) fn switch(
    name: &str,
    server: &Server,
    disk: &Arc<dyn View>,
    language: Language,
    is_whole: bool,
) -> Run {
    let views: Vec<_> =
        (1..=BRANCHES).map(|marker| language.view(disk, |it| language.mark(it, marker))).collect();
    let base = language.ask(server, disk, &BOTH);
    let mut run = Run { switches: Vec::new(), wrong: 0 };
    assert!(is_right(&base, 0, true), "{name}: {base:?}");
    let (mut numbers, mut n_abandoned) = (Numbers(7), 0);
    for cycle in 0..CYCLES {
        for index in numbers.shuffled(BRANCHES) {
            if n_abandoned < ABANDONED && numbers.below(4) < 1 + cycle / 3 {
                abandon(language, server, &views[numbers.below(BRANCHES)], numbers.below(3000));
                n_abandoned += 1;
            }
            // Documents that branches have edited are closed here, and count all the same.
            if index % 4 == 0 {
                let outcomes = language.ask(server, disk, &["b"]);
                if !is_right(&outcomes, 0, true) {
                    println!("{name}: wrong for the base: {outcomes:?}");
                    run.wrong += 1;
                }
            }
            let start = Instant::now();
            let outcomes = language.ask(server, &views[index], &BOTH);
            run.switches.push(start.elapsed());
            if !is_right(&outcomes, index + 1, is_whole) {
                println!("{name}: wrong for {}: {outcomes:?}", index + 1);
                run.wrong += 1;
            }
        }
    }
    assert_eq!(n_abandoned, ABANDONED);
    run
}

/// A file that only a branch has, and one that it does not have: seen, or said not to be seen.
fn check_files(name: &str, setup: Setup, language: Language) {
    let (disk, sees) = (Arc::clone(&setup.disk), setup.profile.sees);
    let refers = setup.profile.refers_by.iter().any(|it| language.text("b", 0).contains(it));
    let server = Server::new(setup);
    let ask = |module: &str, edit: &dyn Fn(&mut Branch)| {
        language.ask(&server, &language.view(&disk, edit), &[module]).remove(0)
    };
    let is_right = |it: &Outcome, marker| is_right(std::slice::from_ref(it), marker, true);
    let is_partial = |it: &Outcome| matches!(it.completeness, Completeness::Partial(_));
    for marker in 1..5 {
        let fresh = |it: &mut Branch| language.edit(it, "fresh", language.text("fresh", marker));
        let own = ask("fresh", &fresh);
        assert!(is_right(&own, marker), "{name}: {own:?}");

        if let Some(text) = language.dependent("fresh") {
            let new = ask("b", &|it| {
                fresh(it);
                language.edit(it, "b", text.clone());
            });
            assert!(
                if sees.new_files { is_right(&new, marker) } else { is_partial(&new) },
                "{name}: {new:?}"
            );
        }
        if language.depends() {
            // With a file between them that is not open.
            let deep = ask("deep", &|it| language.mark(it, marker));
            assert!(is_right(&deep, marker), "{name}: {deep:?}");
        }
        let remove = |it: &mut Branch| drop(it.remove(&path(&language.file("a"))));
        let with_new = |it: &mut Branch| {
            remove(it);
            fresh(it);
        };
        let is_missed = |it: &Outcome| {
            let says = |it: &lint::Diagnostic| it.message.starts_with("Cannot find module './a'");
            it.completeness == Completeness::Complete && it.diagnostics.iter().any(says)
        };
        let is_seen = |gone: &Outcome| match sees.deletes {
            Deletes::Watched => is_missed(gone),
            Deletes::Irrelevant => is_right(gone, 0),
            Deletes::Emulated | Deletes::Ignored if language.depends() || refers => is_partial(gone),
            Deletes::Emulated | Deletes::Ignored => is_right(gone, 0),
        };
        // New ones beside it come and go.
        let gone = [&remove as &dyn Fn(&mut Branch), &with_new, &remove].map(|edit| ask("b", edit));
        assert!(gone.iter().all(is_seen), "{name}: {gone:?}");
        let [gone, ..] = gone;
        if marker == 1 {
            let said: Vec<_> = gone.diagnostics.iter().map(|it| &it.message).collect();
            println!("{name}: without the file, {:?} {said:?}", gone.completeness);
        }

        let base = ask("b", &|_| ());
        assert!(is_right(&base, 0), "{name}: {base:?}");
    }
    println!("{name}: files that come and go are right, or said not to be seen");
}

/// A file that is not open changes on the disk, and another one's answer depends on it.
fn check_disk(name: &str, setup: Setup, language: Language) {
    let (disk, root) = (Arc::clone(&setup.disk), setup.root.clone());
    let linter = started(&Pool::default(), setup).unwrap();
    let changed = if language.depends() { "a" } else { "b" };
    let mut n_wrong = 0;
    for marker in 100..120 {
        std::fs::write(root.join(language.file(changed)), language.text(changed, marker)).unwrap();
        let units = vec![Unit { path: path(&language.file("b")), named: path("") }];
        let (view, cancel, timeout) = (Arc::clone(&disk), Cancel::default(), Duration::from_secs(60));
        let mut outcomes = Vec::new();
        linter
            .check(&Job { view, units, cancel, timeout, is_awaited: false }, &mut |_, it| outcomes.push(it));
        if !is_right(&outcomes, marker, true) {
            println!("{name}: wrong for {marker} on the disk: {outcomes:?}");
            n_wrong += 1;
        }
    }
    println!("{name}: 20 changes on the disk, {n_wrong} wrong");
    assert_eq!(n_wrong, 0);
}

fn abandon(language: Language, server: &Server, view: &Arc<dyn View>, microseconds: usize) {
    let cancel = Cancel::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_micros(microseconds as u64));
            cancel.cancel();
        });
        language.ask_until(server, view, &BOTH, &cancel);
    });
}

macro_rules! keep_branches_apart {
    ($($test:ident $profile:literal)*) => {
        $(
            #[test]
            fn $test() {
                check($profile);
            }
        )*

        #[test]
        fn no_profile_is_left_out() {
            let tested = [$($profile),*];
            assert!(profiles().iter().all(|it| tested.contains(&&*it.tool.name)));
            let required = std::env::var("BROKER_TEST_SERVERS_REQUIRED").unwrap_or_default();
            for name in required.split(',').filter(|it| !it.is_empty()) {
                assert!(Profile::named(name).is_some(), "there is no profile `{name}` to be required");
            }
        }
    };
}

keep_branches_apart! {
    basedpyright "basedpyright"
    bash "bash-language-server"
    biome "biome"
    clangd "clangd"
    css "css-language-server"
    dockerfile "dockerfile-language-server"
    eslint "eslint"
    gopls "gopls"
    html "html-language-server"
    json "json-language-server"
    oxlint "oxlint"
    pyright "pyright"
    rust_analyzer "rust-analyzer"
    tombi "tombi"
    ty "ty"
    typescript "typescript"
    typescript_5 "typescript-language-server"
    yaml "yaml-language-server"
}
