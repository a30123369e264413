//! One test per way in which a guest can misbehave: each ends in its own clear error, and the files after it
//! are checked all the same.

use std::{
    collections::BTreeSet,
    fs,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use insta::assert_snapshot;
use lint::{Cancel, Completeness, Job, Unit};
use overlay::{Branch, Disk, Memory, View};
use plugin_host::{HostOptions, Notice, Notify, PluginError, PluginHost, Settings};
use tests::*;

/// Returns the outcome of the plugin `misbehaves` for a file that contains `fault`. Expects that the file after it is checked all
/// the same.
fn fault(fault: &str) -> String {
    fault_for(fault, Duration::from_secs(60))
}

fn fault_for(fault: &str, timeout: Duration) -> String {
    let cache = tempfile::tempdir().unwrap();
    let linter = plugin(&host(Some(cache.path())), &guest("guest_misbehaves")).unwrap();
    let files = [("a.fault", fault), ("b.fault", "nothing"), ("secret", "42")];
    let view = Arc::new(Memory::from_files(files).unwrap());
    let outcomes = check_for(&linter, view, &["a.fault", "b.fault"], timeout);
    assert_eq!(told(&outcomes[1]), "complete: did nothing bad", "the next file is checked all the same");
    told(&outcomes[0])
}

#[test]
fn endless_loop() {
    let told = fault_for("spin", Duration::from_millis(200));
    assert_snapshot!(told, @"failed: plugin `misbehaves` 0.1.0 exceeded its time limit of 200 ms");
}

#[test]
fn sleeping_is_over_at_once() {
    assert_snapshot!(fault("sleep"), @"complete: slept");
}

#[test]
fn settings_that_the_guest_refuses() {
    let cache = tempfile::tempdir().unwrap();
    let settings = Settings { ignore: vec!["fault".to_owned()], ..Settings::default() };
    let linter = host(Some(cache.path())).open(&guest("guest_misbehaves")).unwrap().configured(settings);
    let view = Arc::new(Memory::from_files([("a.fault", "nothing")]).unwrap());
    let outcomes = check(&linter, view, &["a.fault"]);
    assert_snapshot!(told(&outcomes[0]), @"failed: plugin `misbehaves` 0.1.0: these settings make no sense");
}

#[test]
fn a_root_elsewhere() {
    let cache = tempfile::tempdir().unwrap();
    let settings = Settings { root: "/home/me/project".to_owned(), ..Settings::default() };
    let linter = host(Some(cache.path())).open(&guest("guest_misbehaves")).unwrap().configured(settings);
    let text = "read /home/me/project/secret /home/me/project/../secret /home/me/secret /secret";
    let view = Arc::new(Memory::from_files([("a.fault", text), ("secret", "42")]).unwrap());
    let outcomes = check(&linter, view, &["a.fault"]);
    assert_snapshot!(told(&outcomes[0]), @r#"complete: /home/me/project/secret: "42"; /home/me/project/../secret: PermissionDenied; /home/me/secret: NotFound; /secret: NotFound"#);
}

#[test]
fn memory_bomb() {
    assert_snapshot!(fault("bomb"), @"failed: plugin `misbehaves` 0.1.0 exceeded its memory limit of 512 MiB");
}

#[test]
fn deep_recursion() {
    assert_snapshot!(fault("recurse"), @"failed: plugin `misbehaves` 0.1.0 ran out of stack (deeply nested input, or endless recursion)");
}

#[test]
fn on_a_thread_that_recurses_deeply_all_is_the_same() {
    let on = |stack: usize, it: &'static str| {
        std::thread::Builder::new().stack_size(stack).spawn(move || fault(it)).unwrap().join().unwrap()
    };
    for it in ["recurse", "bomb", "panic", "nothing"] {
        assert_eq!(on(64 << 20, it), on(2 << 20, it));
    }
}

#[test]
fn ten_million_diagnostics() {
    assert_snapshot!(fault("flood"), @"failed: plugin `misbehaves` 0.1.0 exceeded its memory limit of 512 MiB");
}

#[test]
fn more_diagnostics_than_allowed() {
    assert_snapshot!(fault("many"), @"failed: plugin `misbehaves` 0.1.0 exceeded its output limit: 300000 diagnostics for one file, where 250000 are allowed");
}

#[test]
fn more_output_than_allowed() {
    assert_snapshot!(fault("huge-message"), @"failed: plugin `misbehaves` 0.1.0 exceeded its output limit: more than 128 MiB in one answer");
}

#[test]
fn panic() {
    assert_snapshot!(fault("panic"), @"failed: plugin `misbehaves` 0.1.0 crashed: panicked at misbehaves/src/lib.rs:[line]: the plugin is confused about a.fault");
}

#[test]
fn panic_while_it_is_made_ready() {
    let cache = tempfile::tempdir().unwrap();
    let notices = Arc::new(AtomicUsize::new(0));
    let options = HostOptions { notify: counting(&notices), ..options(Some(cache.path())) };
    let linter = plugin(&PluginHost::new(options).unwrap(), &guest("guest_unready")).unwrap();
    let names: Vec<_> = (0..24).map(|it| format!("{it}.x")).collect();
    let view = Arc::new(Memory::from_files(names.iter().map(|it| (it.as_str(), "x"))).unwrap());
    // Each as a job of its own: what came of it is remembered by the plugin.
    let answers = names.iter().map(|name| told(&check(&linter, view.clone(), &[name])[0]));
    let answers: BTreeSet<_> = answers.collect();
    assert_snapshot!(all(&answers), @"failed: plugin `unready` 0.1.0 crashed: panicked at unready/src/lib.rs:9:9: the table of rules has a hole (while it was made ready)");
    assert_eq!(notices.load(Ordering::Relaxed), 1, "it is compiled once");
    let why = linter.plugin().imports().unwrap_err().to_string();
    let view: Arc<dyn View> = view;
    let rules = lint::Linter::rules(&linter, &view).unwrap_err().message;
    assert_eq!(rules, why);
    assert!(all(&answers).ends_with(&why), "{why}");
}

/// Each of some different answers.
fn all(answers: &BTreeSet<String>) -> String {
    answers.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// Counts what a host has to say.
fn counting(notices: &Arc<AtomicUsize>) -> Notify {
    let notices = Arc::clone(notices);
    Arc::new(move |_| _ = notices.fetch_add(1, Ordering::Relaxed))
}

#[test]
fn settings_that_break_it_are_tried_once_in_a_job() {
    let cache = tempfile::tempdir().unwrap();
    let notices = Arc::new(AtomicUsize::new(0));
    let options = HostOptions { notify: counting(&notices), ..options(Some(cache.path())) };
    let settings = Settings { ignore: vec!["panic".to_owned()], ..Settings::default() };
    let host = PluginHost::new(options).unwrap();
    let linter = host.open(&guest("guest_misbehaves")).unwrap().configured(settings);
    let view = Arc::new(Memory::from_files([("a.fault", "nothing"), ("b.fault", "nothing")]).unwrap());
    let answers = check(&linter, view, &["a.fault", "b.fault"]).iter().map(told).collect();
    assert_snapshot!(all(&answers), @"failed: plugin `misbehaves` 0.1.0 crashed: panicked at misbehaves/src/lib.rs:[line]: these settings confuse the plugin");
    assert_eq!(
        notices.load(Ordering::Relaxed),
        2,
        "it is compiled once, and logs once that it is configured"
    );
}

#[test]
fn constructors_run_once_and_before_all_else() {
    let cache = tempfile::tempdir().unwrap();
    let linter = plugin(&host(Some(cache.path())), &guest("guest_misbehaves")).unwrap();
    let view = Arc::new(Memory::from_files([("a.fault", "constructors"), ("b.fault", "panic")]).unwrap());
    assert_eq!(lint::Linter::memory(&linter), 0, "nothing is known of it yet");
    let outcomes = check(&linter, view, &["a.fault", "b.fault", "a.fault"]);
    // The stack alone has 16.
    assert!(lint::Linter::memory(&linter) > 16 << 20, "{}", lint::Linter::memory(&linter));
    let answers = outcomes.iter().step_by(2).map(told).collect();
    assert_snapshot!(all(&answers), @"complete: 1 before it was made, 1 by now");
}

#[test]
fn exit() {
    assert_snapshot!(fault("exit"), @"failed: plugin `misbehaves` 0.1.0 crashed: it called exit");
}

#[test]
fn a_code_that_no_rule_has() {
    assert_snapshot!(fault("unknown-code"), @"failed: plugin `misbehaves` 0.1.0: `nobody-has-it` is found, but `rules` does not name it");
}

#[test]
fn error_of_the_guest() {
    assert_snapshot!(fault("error"), @"failed: plugin `misbehaves` 0.1.0: the plugin's configuration makes no sense");
}

#[test]
fn spans_outside_the_file() {
    assert_snapshot!(fault("span-outside"), @"failed: plugin `misbehaves` 0.1.0 gave an invalid answer: the span 0..1000000 of fault is outside the text of 12 bytes");
    assert_snapshot!(fault("span-reversed"), @"failed: plugin `misbehaves` 0.1.0 gave an invalid answer: the span 5..2 of fault ends before it begins");
    assert_snapshot!(fault("cell-outside"), @"failed: plugin `misbehaves` 0.1.0 gave an invalid answer: fault is in cell 7, and there are 0 cells");
}

#[test]
fn invalid_utf8_in_a_message() {
    assert_snapshot!(fault("not-utf8"), @"failed: plugin `misbehaves` 0.1.0 gave an invalid answer: invalid utf-8 sequence of 1 bytes from index 1");
}

#[test]
fn reads_outside_the_root() {
    let told = fault("read /secret ../../etc/passwd /../etc/passwd /etc/passwd");
    assert_snapshot!(told, @r#"complete: /secret: "42"; ../../etc/passwd: PermissionDenied; /../etc/passwd: PermissionDenied; /etc/passwd: NotFound"#);
}

#[test]
fn writes() {
    assert_snapshot!(fault("write /secret /new"), @"complete: /secret: [Err(ReadOnlyFilesystem), Err(ReadOnlyFilesystem), Err(ReadOnlyFilesystem), Err(ReadOnlyFilesystem)]; /new: [Err(ReadOnlyFilesystem), Err(ReadOnlyFilesystem), Err(ReadOnlyFilesystem), Err(ReadOnlyFilesystem)]");
}

#[test]
fn chatter_and_curiosity() {
    assert_snapshot!(fault("chatter"), @"complete: Ok(0), 0 variables");
}

#[test]
fn more_details_than_allowed() {
    assert_snapshot!(fault("related 300000"), @"failed: plugin `misbehaves` 0.1.0 exceeded its output limit: 300000 fixes, edits and related places, where 200000 are allowed");
    assert_snapshot!(fault("related 1001 other"), @"failed: plugin `misbehaves` 0.1.0 exceeded its output limit: 1001 other files that its findings point into, where 1000 are allowed");
    assert_snapshot!(fault("edits 150000"), @"failed: plugin `misbehaves` 0.1.0 exceeded its output limit: 300000 fixes, edits and related places, where 200000 are allowed");
}

#[test]
fn long_words() {
    let told = fault("huge-error");
    assert!(told.len() < 5_000, "{} bytes", told.len());
    assert!(told.starts_with("failed: plugin `misbehaves` 0.1.0: xxx") && told.ends_with('…'));
}

#[test]
fn a_query_that_finds_too_much() {
    let query = format!("query big.py python {}", "(_) @a ".repeat(200));
    let long = format!("query big.py python {}", "(_) @a ".repeat(10_000));
    let cache = tempfile::tempdir().unwrap();
    let linter = plugin(&host(Some(cache.path())), &guest("guest_misbehaves")).unwrap();
    let big = "x = 1\n".repeat(40_000);
    let files = [("a.fault", query.as_str()), ("b.fault", &long), ("big.py", &big)];
    let view = Arc::new(Memory::from_files(files).unwrap());
    let outcomes = check(&linter, view, &["a.fault", "b.fault"]);
    assert_snapshot!(told(&outcomes[0]), @"complete: it was not parsed: the query finds too much, or has too many beginnings of matches");
    assert_snapshot!(told(&outcomes[1]), @"complete: the query is wrong: it has 69999 bytes, where 65536 are allowed");
}

#[test]
fn a_text_whose_tree_may_take_too_much() {
    let cache = tempfile::tempdir().unwrap();
    let linter = plugin(&host(Some(cache.path())), &guest("guest_misbehaves")).unwrap();
    let big = format!("int f() {{{}}}", ";".repeat(2 << 20));
    let view = Arc::new(Memory::from_files([("a.fault", "tree big.c"), ("big.c", &big)]).unwrap());
    let outcomes = check(&linter, view, &["a.fault"]);
    assert_snapshot!(told(&outcomes[0]), @"complete: it was not parsed: its tree may take more memory than is left, since the text has 2097162 bytes");
}

#[test]
fn leaks() {
    // 100 MiB, of which the guest may have five beside its own memory.
    let big = "x".repeat(100 << 20);
    let told_of = |fault: &str| {
        let cache = tempfile::tempdir().unwrap();
        let linter = plugin(&host(Some(cache.path())), &guest("guest_misbehaves")).unwrap();
        let files = [("a.fault", fault), ("b.fault", "nothing"), ("big", &big), ("dir/file", "x")];
        let view = Arc::new(Memory::from_files(files).unwrap());
        let outcomes = check(&linter, view, &["a.fault", "b.fault"]);
        assert_eq!(told(&outcomes[1]), "complete: did nothing bad");
        told(&outcomes[0])
    };
    assert_snapshot!(told_of("leak-streams big"), @r#"complete: 4 times, then ErrorCode { code: 22, name: "insufficient-memory", message: "Not enough space, similar to `ENOMEM` in POSIX." }"#);
    assert_snapshot!(told_of("leak-streams dir/file"), @"failed: plugin `misbehaves` 0.1.0 crashed: it keeps too many streams or pollables open");
    assert_snapshot!(told_of("leak-listings dir"), @r#"complete: 1022 times, then ErrorCode { code: 22, name: "insufficient-memory", message: "Not enough space, similar to `ENOMEM` in POSIX." }"#);
    assert_snapshot!(told_of("leak-pollables"), @"failed: plugin `misbehaves` 0.1.0 crashed: it keeps too many streams or pollables open");
}

#[test]
fn random_bytes() {
    assert_snapshot!(fault("random 1000000"), @"complete: 1000000 bytes");
    assert_snapshot!(fault("random 2147483648"), @"failed: plugin `misbehaves` 0.1.0 crashed: it asks for too many random bytes at once");
}

#[test]
fn looks_at_too_many_files() {
    assert_snapshot!(fault("look-far"), @"failed: plugin `misbehaves` 0.1.0 crashed: it looks at too many files");
}

#[test]
fn a_long_log() {
    let cache = tempfile::tempdir().unwrap();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&lines);
    let notify = move |notice: Notice| sink.lock().unwrap().push(notice.to_string());
    let options = HostOptions { notify: Arc::new(notify), ..options(Some(cache.path())) };
    let linter = plugin(&PluginHost::new(options).unwrap(), &guest("guest_misbehaves")).unwrap();
    let view = Arc::new(Memory::from_files([("a.fault", "log")]).unwrap());
    assert_eq!(told(&check(&linter, view, &["a.fault"])[0]), "complete: logged");
    let lines = lines.lock().unwrap();
    let logged: Vec<_> = lines.iter().filter(|it| !it.starts_with("compiling")).collect();
    assert_eq!(logged.len(), 1_000);
    assert_eq!(*logged[999], "misbehaves: info: what it logs after this is not shown");
    assert!(logged.iter().all(|it| it.len() < 5_000));
}

#[test]
fn cancelled_while_it_spins() {
    let cache = tempfile::tempdir().unwrap();
    let linter = plugin(&host(Some(cache.path())), &guest("guest_misbehaves")).unwrap();
    let view = Arc::new(Memory::from_files([("a.fault", "nothing"), ("b.fault", "spin")]).unwrap());
    let units = ["a.fault", "b.fault", "a.fault"].map(|it| Unit { path: path(it), named: path("") });
    let cancel = Cancel::default();
    let job = Job {
        view,
        units: units.into(),
        cancel: cancel.clone(),
        timeout: Duration::from_secs(600),
        is_awaited: false,
    };
    let mut told = Vec::new();
    lint::Linter::check(&linter, &job, &mut |_, outcome| {
        // The first answer is in, so the guest spins now or is about to.
        cancel.cancel();
        told.push(outcome.completeness);
    });
    assert_eq!(told.len(), 3);
    assert_eq!(told[0], Completeness::Complete);
    assert!(matches!((&told[1], &told[2]), (Completeness::Pending(_), Completeness::Pending(_))), "{told:?}");
}

#[test]
fn sees_the_branch_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("dir")).unwrap();
    for (name, text) in [("walk.fault", "walk"), ("dir/edited", "disk"), ("dir/deleted", "disk")] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    std::os::unix::fs::symlink("/etc", folder.path().join("out")).unwrap();
    std::os::unix::fs::symlink("dir", folder.path().join("in")).unwrap();
    let mut branch = Branch::new(Arc::new(Disk::new(folder.path()).unwrap()));
    branch.write(&path("dir/edited"), "branch".into()).unwrap();
    branch.write(&path("dir/new/file"), "branch".into()).unwrap();
    branch.remove(&path("dir/deleted")).unwrap();
    branch
        .write(&path("read.fault"), "read /in/edited /dir/deleted /out/passwd /in/new/file".into())
        .unwrap();
    let cache = tempfile::tempdir().unwrap();
    let linter = plugin(&host(Some(cache.path())), &guest("guest_misbehaves")).unwrap();
    let outcomes = check(&linter, Arc::new(branch.snapshot()), &["walk.fault", "read.fault"]);
    assert_snapshot!(told(&outcomes[0]), @"complete: /, /dir, /dir/edited, /dir/new, /dir/new/file, /in -> dir, /out -> /etc, /read.fault, /walk.fault");
    assert_snapshot!(told(&outcomes[1]), @r#"complete: /in/edited: "branch"; /dir/deleted: NotFound; /out/passwd: PermissionDenied; /in/new/file: "branch""#);
    let reads: Vec<_> = outcomes[1].reads.iter().map(|(read, _)| format!("{read:?}")).collect();
    assert_snapshot!(reads.join("\n"), @r#"
Metadata("")
Metadata("dir")
Metadata("dir/deleted")
Metadata("dir/edited")
Metadata("dir/new")
Metadata("dir/new/file")
Metadata("in")
Metadata("in/edited")
Metadata("in/new/file")
Metadata("out")
Metadata("out/passwd")
Metadata("read.fault")
Metadata("walk.fault")
Link("in")
Link("out")
Listing("")
Listing("dir")
Listing("dir/new")
Content("dir/edited")
Content("dir/new/file")
"#);
}

/// Returns the error of a component that is refused before it runs.
fn refused(wasm: &[u8]) -> PluginError {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.wasm");
    fs::write(&file, wasm).unwrap();
    let linter = match plugin(&host(None), &file) {
        Ok(linter) => linter,
        Err(error) => return error,
    };
    linter.unknown_selectors(&no_files()).unwrap_err()
}

const MANIFEST: &str = r#"
name = "odd"
version = "0.1.0"
api = "0.1.0"
description = "x"
globs = ["*"]
"#;

fn wat(text: &str) -> Vec<u8> {
    with_manifest(&wat::parse_str(text).unwrap(), MANIFEST)
}

#[test]
fn imports_sockets() {
    let error = refused(&wat(r#"(component (import "wasi:sockets/tcp@0.2.0" (instance)))"#));
    assert_snapshot!(error, @"plugin `odd` 0.1.0 imports `wasi:sockets/tcp@0.2.0`, which no plugin is granted");
}

#[test]
fn truncated() {
    let whole = fs::read(guest("guest_misbehaves")).unwrap();
    let error = refused(&whole[..whole.len() / 2]);
    assert!(matches!(error, PluginError::NotAComponent { .. }), "{error}");
    assert!(error.to_string().contains("unexpected end"), "{error}");
}

#[test]
fn too_large() {
    let error = refused(&vec![0; (64 << 20) + 1]);
    assert!(matches!(error, PluginError::TooLarge { .. }), "{error}");
    assert!(error.to_string().ends_with("has 67108865 bytes; a plugin may have 67108864 at most"), "{error}");
}

#[test]
fn core_module() {
    let error = refused(&wat("(module)"));
    assert!(matches!(error, PluginError::CoreModule { .. }), "{error}");
}

#[test]
fn of_a_future_world() {
    let wasm = wat::parse_str("(component)").unwrap();
    let error =
        refused(&with_manifest(&wasm, &MANIFEST.replace("api = \"0.1.0\"", "api = \"0.7.0\"\nnew = 1")));
    assert!(matches!(error, PluginError::WorldVersion { .. }), "{error}");
    let error = refused(&wat(r#"(component (import "broker:plugin/host@0.7.0" (instance)))"#));
    assert!(matches!(error, PluginError::WorldVersion { .. }), "{error}");
}

#[test]
fn of_no_world() {
    let error = refused(&wat("(component)"));
    assert!(matches!(error, PluginError::World { .. }), "{error}");
}

#[test]
fn damaged_machine_code_is_compiled_again() {
    let cache = tempfile::tempdir().unwrap();
    let file = guest("guest_misbehaves");
    let work = || {
        let linter = plugin(&host(Some(cache.path())), &file).unwrap();
        let view = Arc::new(Memory::from_files([("a.fault", "nothing")]).unwrap());
        told(&check(&linter, view, &["a.fault"])[0])
    };
    work();
    let folder = cache.path().join("machine-code");
    let mut entries = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path());
    let entry = entries.find(|it| it.extension().is_some_and(|it| it == "cwasm")).unwrap();
    let whole = fs::read(&entry).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 0xff;
    for damaged in [&whole[..whole.len() / 2], &[], &flipped] {
        fs::write(&entry, damaged).unwrap();
        assert_eq!(work(), "complete: did nothing bad");
        assert_eq!(fs::read(&entry).unwrap().len(), whole.len(), "the entry is whole again");
    }
}

#[test]
fn a_cache_that_others_can_write_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let cache = tempfile::tempdir().unwrap();
    let folder = cache.path().join("machine-code");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let linter = plugin(&host(Some(cache.path())), &guest("guest_misbehaves")).unwrap();
    linter.unknown_selectors(&no_files()).unwrap();
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}
