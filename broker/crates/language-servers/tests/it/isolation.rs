//! Real servers, where they are named, moved between many branches: no answer is of another branch.
//! `BROKER_TEST_TY=/path/to/ty cargo test -p language-servers isolation -- --nocapture`; likewise
//! `BROKER_TEST_PYRIGHT`, `BROKER_TEST_BASEDPYRIGHT` and `BROKER_TEST_TYPESCRIPT` (the native one of version 7)
//! and `BROKER_TEST_OXLINT`, each a language server's program.

use std::{
    ffi::OsString,
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use language_servers::{Deletes, LanguageServer, Limits, Profile, Server, Setup};
use lint::{Cancel, Completeness, Job, Linter, Outcome, Unit};
use overlay::{Branch, Disk, View};

use crate::{
    bench::path,
    fixture::{far, options},
};

const BRANCHES: usize = 20;
const CYCLES: usize = 5;
const ABANDONED: usize = 24;

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
}

/// A language of two files.
#[derive(Clone, Copy)]
struct Language {
    extension: &'static str,
    /// A file with a class of this name, which its function gives, and a finding that names it.
    a: fn(&str) -> String,
    /// One that has the same finding for the function of that module.
    b: fn(&str) -> String,
    no_module: &'static str,
}

const PYTHON: Language = Language {
    extension: "py",
    a: |it| format!("class {it}: ...\ndef f() -> {it}: return {it}()\nx: int = f()\n"),
    b: |it| format!("from {it} import f\ny: int = f()\n"),
    no_module: "",
};

const TYPESCRIPT: Language = Language {
    extension: "ts",
    a: |it| {
        let class = format!("export class {it} {{ own = 1 }}\n");
        format!("{class}export function f(): {it} {{ return new {it}() }}\nexport const x: number = f();\n")
    },
    b: |it| format!("import {{ f }} from './{it}';\nexport const y: number = f();\n"),
    no_module: "Cannot find module './a'",
};

impl Language {
    fn file(self, module: &str) -> String {
        format!("{module}.{}", self.extension)
    }

    fn text(self, marker: usize) -> String {
        (self.a)(&format!("Marker{marker}_"))
    }

    fn edit(self, branch: &mut Branch, module: &str, text: String) {
        branch.write(&path(&self.file(module)), text.into()).unwrap();
    }

    fn ask(self, server: &Server, view: &Arc<dyn View>, cancel: &Cancel) -> Vec<Outcome> {
        let mut outcomes = vec![None, None];
        let units = ["a", "b"].map(|it| path(&self.file(it))).to_vec();
        server.ask(Arc::clone(view), units, far(), cancel, &mut |index, it| outcomes[index] = Some(it));
        outcomes.into_iter().map(Option::unwrap).collect()
    }
}

/// Whether both say something of this branch, and nothing of any other.
fn is_right(outcomes: &[Outcome], marker: usize) -> bool {
    let is_own = |it: &Outcome| {
        let text: String = it.diagnostics.iter().map(|it| it.message.as_str()).collect();
        let own = text.matches(&format!("Marker{marker}_")).count();
        it.completeness == Completeness::Complete && own > 0 && own == text.matches("Marker").count()
    };
    outcomes.iter().all(is_own)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a short list")]
fn percentile(times: &mut [Duration], part: f64) -> Duration {
    times.sort();
    times[((times.len() - 1) as f64 * part) as usize]
}

fn check(name: &str, variable: &str, language: Language) {
    if let Some(program) = std::env::var_os(variable) {
        let folder = tempfile::tempdir().unwrap();
        let setup = setup(name, program, folder.path(), language);
        check_switches(name, setup.clone(), language);
        check_files(name, setup.clone(), language);
        check_disk(name, setup, language);
    } else {
        println!("skipped: {variable} does not name a server");
    }
}

fn setup(name: &str, program: OsString, folder: &Path, language: Language) -> Setup {
    let write = |module, text| std::fs::write(folder.join(language.file(module)), text).unwrap();
    write("a", language.text(0));
    write("b", (language.b)("a"));
    if language.extension == "ts" {
        std::fs::write(folder.join("tsconfig.json"), r#"{"compilerOptions": {"strict": true}}"#).unwrap();
    }
    let disk: Arc<dyn View> = Arc::new(Disk::new(folder).unwrap());
    let profile = Profile::named(name).unwrap().clone();
    let mut launch = options("").launch;
    launch.program = program.into();
    launch.args = profile.launch[0].args.iter().map(Into::into).collect();
    launch.cwd = folder.to_owned();
    let (root, pause) = (folder.to_owned(), Duration::from_millis(100));
    Setup { profile, root, disk, launch, limits: Limits::default(), pause }
}

fn check_switches(name: &str, setup: Setup, language: Language) {
    let disk = Arc::clone(&setup.disk);
    let server = Server::new(setup);
    let view = |marker: usize| -> Arc<dyn View> {
        let mut branch = Branch::new(Arc::clone(&disk));
        language.edit(&mut branch, "a", language.text(marker));
        Arc::new(branch.snapshot())
    };
    let views: Vec<_> = (1..=BRANCHES).map(view).collect();

    let start = Instant::now();
    let base = language.ask(&server, &disk, &Cancel::default());
    assert!(is_right(&base, 0), "{base:?}");
    println!("{name}: start {:?}", start.elapsed());

    let (mut numbers, mut times, mut n_wrong, mut n_abandoned) = (Numbers(7), Vec::new(), 0, 0);
    for cycle in 0..CYCLES {
        let mut order: Vec<_> = (1..=BRANCHES).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, numbers.below(at + 1));
        }
        for marker in order {
            if n_abandoned < ABANDONED && numbers.below(4) < 1 + cycle / 3 {
                abandon(language, &server, &views[numbers.below(BRANCHES)], numbers.below(3000));
                n_abandoned += 1;
            }
            let start = Instant::now();
            let outcomes = language.ask(&server, &views[marker - 1], &Cancel::default());
            times.push(start.elapsed());
            if !is_right(&outcomes, marker) {
                println!("{name}: wrong for {marker}: {outcomes:?}");
                n_wrong += 1;
            }
        }
    }
    let again = language.ask(&server, &disk, &Cancel::default());
    let (p50, p99) = (percentile(&mut times, 0.5), percentile(&mut times, 0.99));
    let n = times.len();
    println!("{name}: {n} switches, {n_abandoned} abandoned, {n_wrong} wrong, p50 {p50:?}, p99 {p99:?}");
    assert_eq!((n_wrong, n_abandoned), (0, ABANDONED));
    for (before, after) in base.iter().zip(&again) {
        assert_eq!(before.diagnostics, after.diagnostics, "the base has changed");
    }
}

/// A file that only a branch has, and one that it does not have: seen, or said not to be seen.
fn check_files(name: &str, setup: Setup, language: Language) {
    let (disk, sees) = (Arc::clone(&setup.disk), setup.profile.sees);
    let server = Server::new(setup);
    let ask = |edit: &dyn Fn(&mut Branch)| {
        let mut branch = Branch::new(Arc::clone(&disk));
        edit(&mut branch);
        let view: Arc<dyn View> = Arc::new(branch.snapshot());
        language.ask(&server, &view, &Cancel::default()).remove(1)
    };
    let is_partial = |it: &Outcome| matches!(it.completeness, Completeness::Partial(_));
    for marker in 1..5 {
        let new = ask(&|it| {
            language.edit(it, "new", language.text(marker));
            language.edit(it, "b", (language.b)("new"));
        });
        let is_seen = is_right(std::slice::from_ref(&new), marker);
        assert!(if sees.new_files { is_seen } else { is_partial(&new) }, "{name}: {new:?}");

        let gone = ask(&|it| drop(it.remove(&path(&language.file("a")))));
        let is_missed = || {
            let says = |it: &lint::Diagnostic| it.message.starts_with(language.no_module);
            gone.completeness == Completeness::Complete && gone.diagnostics.iter().any(says)
        };
        assert!(is_partial(&gone) || sees.deletes == Deletes::Watched && is_missed(), "{name}: {gone:?}");

        let base = ask(&|_| ());
        assert!(is_right(std::slice::from_ref(&base), 0), "{name}: {base:?}");
    }
    println!("{name}: files that come and go are right, or said not to be seen");
}

/// A file that is not open changes on the disk, and another one's answer depends on it.
fn check_disk(name: &str, setup: Setup, language: Language) {
    let (disk, root) = (Arc::clone(&setup.disk), setup.root.clone());
    let linter = LanguageServer::of(setup, far(), &Cancel::default()).unwrap();
    let mut n_wrong = 0;
    for marker in 100..120 {
        std::fs::write(root.join(language.file("a")), language.text(marker)).unwrap();
        let units = vec![Unit { path: path(&language.file("b")), named: path("") }];
        let (view, cancel, timeout) = (Arc::clone(&disk), Cancel::default(), Duration::from_secs(60));
        let mut outcomes = Vec::new();
        linter.check(&Job { view, units, cancel, timeout }, &mut |_, it| outcomes.push(it));
        if !is_right(&outcomes, marker) {
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
        language.ask(server, view, &cancel);
    });
}

#[test]
fn ty_keeps_branches_apart() {
    check("ty", "BROKER_TEST_TY", PYTHON);
}

#[test]
fn pyright_keeps_branches_apart() {
    check("pyright", "BROKER_TEST_PYRIGHT", PYTHON);
}

#[test]
fn basedpyright_keeps_branches_apart() {
    check("basedpyright", "BROKER_TEST_BASEDPYRIGHT", PYTHON);
}

#[test]
fn typescript_keeps_branches_apart() {
    check("typescript", "BROKER_TEST_TYPESCRIPT", TYPESCRIPT);
}

/// It answers before it is ready: the first answer that is handed on is right all the same.
#[test]
fn oxlint_is_not_believed_too_early() {
    let Some(program) = std::env::var_os("BROKER_TEST_OXLINT") else {
        println!("skipped: BROKER_TEST_OXLINT does not name a server");
        return;
    };
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let setup = setup("oxlint", program.clone(), folder.path(), TYPESCRIPT);
        // What the configuration leaves out is found in no canary.
        let config = r#"{"categories": {"correctness": "off"}, "rules": {"no-dupe-keys": "error"}}"#;
        std::fs::write(folder.path().join(".oxlintrc.json"), config).unwrap();
        let (disk, start) = (Arc::clone(&setup.disk), Instant::now());
        let server = Server::new(setup);
        let mut branch = Branch::new(disk);
        TYPESCRIPT.edit(&mut branch, "a", "x = { a: 1, a: 2 };\n".to_owned());
        let view: Arc<dyn View> = Arc::new(branch.snapshot());
        let outcome = TYPESCRIPT.ask(&server, &view, &Cancel::default()).remove(0);
        println!("oxlint: first answer after {:?}", start.elapsed());
        let is_found = outcome.diagnostics.iter().any(|it| it.code == "eslint(no-dupe-keys)");
        assert!(is_found && outcome.completeness == Completeness::Complete, "{outcome:?}");
    }
}
