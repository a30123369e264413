//! Tests of one server with many states: the exact messages to it, and the outcome of each answer.

use std::time::{Duration, Instant};

use language_servers::{Barrier, Canary, Deletes, DiskChange};
use lint::{Cancel, Completeness};
use overlay::ContentHash;
use serde_json::json;

use crate::{
    bench::{Bench, said},
    fixture::far,
    words::{change, close, open, pull, report, uri},
};

/// Over soon after the server has started.
pub(crate) fn soon(bench: &Bench) -> Instant {
    bench.server.start(far(), &Cancel::default()).unwrap();
    Instant::now() + Duration::from_millis(300)
}

pub(crate) const HANG: &str = r#"{"hang": true}"#;

#[test]
fn a_switch_tells_what_differs() {
    let script = [
        open("a.m", 1, "a0"),
        pull("a.m", &["base"]),
        // New files come before files that may import them.
        open("z.m", 2, "new"),
        open("b.m", 3, "b1"),
        change("a.m", 4, "a1"),
        pull("a.m", &["one"]),
        close("a.m"),
        close("z.m"),
        change("b.m", 5, "b2"),
        pull("b.m", &["two"]),
        // The same state is not sent again.
        pull("b.m", &["two again"]),
        close("b.m"),
        open("a.m", 6, "a0"),
        pull("a.m", &["base again"]),
        HANG.to_owned(),
    ];
    let bench = Bench::scripted(&script.join("\n"), |_| ());
    assert_eq!(bench.says(&[], "a.m"), "base");
    let one = [("a.m", Some("a1")), ("b.m", Some("b1")), ("z.m", Some("new")), ("notes", Some("other"))];
    assert_eq!(bench.says(&one, "a.m"), "one");
    assert_eq!(bench.says(&[("b.m", Some("b2"))], "b.m"), "two");
    assert_eq!(bench.says(&[("b.m", Some("b2"))], "b.m"), "two again");
    assert_eq!(bench.says(&[], "a.m"), "base again");
}

#[test]
fn an_answer_of_before_the_switch_is_ignored() {
    let late = json!({ "send": { "jsonrpc": "2.0", "id": 2, "result": report(&["stale"]) } }).to_string();
    let script = [
        open("a.m", 1, "a1"),
        r#"{"expect": "textDocument/diagnostic"}"#.to_owned(),
        r#"{"expect": "$/cancelRequest", "with": {"id": 2}}"#.to_owned(),
        change("a.m", 2, "a2"),
        r#"{"expect": "textDocument/diagnostic"}"#.to_owned(),
        late,
        json!({ "reply": "textDocument/diagnostic", "answer": report(&["fresh"]) }).to_string(),
        HANG.to_owned(),
    ];
    let bench = Bench::scripted(&script.join("\n"), |_| ());
    let view = bench.view(&[("a.m", Some("a1"))]);
    let outcome = &bench.ask_until(&view, &["a.m"], soon(&bench), &Cancel::default())[0];
    assert!(said(outcome).starts_with("pending: no answer in time; "));
    assert_eq!(bench.says(&[("a.m", Some("a2"))], "a.m"), "fresh");
}

#[test]
fn what_is_refreshed_is_asked_again() {
    let refresh = json!({ "id": "r", "method": "workspace/diagnostic/refresh" });
    let script = [
        open("a.m", 1, "a0"),
        r#"{"expect": "textDocument/diagnostic"}"#.to_owned(),
        json!({ "ask": refresh, "wants": null }).to_string(),
        json!({ "reply": "textDocument/diagnostic", "answer": report(&["too early"]) }).to_string(),
        pull("a.m", &["settled"]),
        HANG.to_owned(),
    ];
    let bench = Bench::scripted(&script.join("\n"), |_| ());
    assert_eq!(bench.says(&[], "a.m"), "settled");
}

#[test]
fn a_server_that_is_loading_is_not_asked() {
    let status = |health: &str, quiescent: bool| {
        let params = json!({ "health": health, "quiescent": quiescent, "message": "no project" });
        json!({ "send": { "method": "experimental/serverStatus", "params": params } }).to_string()
    };
    let script = [
        status("ok", false),
        open("a.m", 1, "a0"),
        change("a.m", 2, "a1"),
        status("ok", true),
        pull("a.m", &["ready"]),
        r#"{"expect": "textDocument/diagnostic"}"#.to_owned(),
        status("error", true),
        json!({ "reply": "textDocument/diagnostic", "answer": report(&[]) }).to_string(),
        r#"{"expect": "textDocument/diagnostic"}"#.to_owned(),
        status("warning", true),
        json!({ "reply": "textDocument/diagnostic", "answer": report(&["unknown"]) }).to_string(),
        HANG.to_owned(),
    ];
    let bench = Bench::scripted(&script.join("\n"), |it| {
        it.barrier = Barrier::PullWhenQuiescent;
        it.when_unwell = Some("try this".to_owned());
    });
    let early = bench.ask_until(&bench.view(&[]), &["a.m"], soon(&bench), &Cancel::default());
    assert_eq!(said(&early[0]), "pending: the server is still loading");
    assert_eq!(bench.says(&[("a.m", Some("a1"))], "a.m"), "ready");
    let says = || bench.says(&[("a.m", Some("a1"))], "a.m");
    assert_eq!([says(), says()], [" [no project; try this]", "unknown [no project; try this]"]);
}

/// Checks a server's findings in texts of its own in each file, and in a file that does not compile.
#[test]
fn a_file_that_does_not_compile_halts_those_beside_it() {
    let mut bench = Bench::model_with(|it| it.analyzes_after = vec!["compiler".to_owned()]);
    let aborted = |bench: &Bench, edits: &[(&str, Option<&str>)], units: &[&str]| {
        bench.ask(&bench.view(edits), units).iter().map(|it| it.aborted).collect::<Vec<_>>()
    };
    assert_eq!(aborted(&bench, &[("b.m", Some("fine"))], &["a.m", "dir/c.m"]), [false, false]);
    let broken = [("b.m", Some("broken"))];
    assert_eq!(aborted(&bench, &broken, &["a.m", "b.m"]), [true, true]);
    // The broken file need not be asked about.
    assert_eq!(aborted(&bench, &broken, &["a.m"]), [true]);
    bench = Bench::model();
    assert_eq!(aborted(&bench, &broken, &["a.m", "b.m"]), [false, false], "no other analyses wait for it");
}

#[test]
fn a_server_that_finds_nothing_yet_is_not_believed() {
    let script = [
        open("canary.m", 1, "wrong"),
        pull("canary.m", &[]),
        pull("canary.m", &["found"]),
        close("canary.m"),
        open("a.m", 2, "a0"),
        pull("a.m", &[]),
        pull("a.m", &["later"]),
        HANG.to_owned(),
    ];
    let bench = Bench::scripted(&script.join("\n"), |it| {
        it.canary = Some(Canary { path: "canary.m".to_owned(), text: "wrong".to_owned() });
    });
    assert_eq!(bench.says(&[], "a.m"), "");
    assert_eq!(bench.says(&[], "a.m"), "later");
}

#[test]
fn findings_are_those_of_the_bytes_that_were_sent() {
    let bench = Bench::model();
    let view = bench.view(&[("a.m", Some("\u{feff}text"))]);
    let outcomes = bench.ask(&view, &["b.m", "a.m"]);
    for (outcome, bytes) in outcomes.iter().zip(["b0", "\u{feff}text"]) {
        assert_eq!(said(outcome), "a.m=text b.m=b0");
        assert_eq!(outcome.content, Some(ContentHash::of(bytes.as_bytes())));
    }
    assert_eq!(outcomes[1].diagnostics[0].span, lint::Span::new(3, 3));
    assert_eq!(outcomes[1].diagnostics[0].code, "state");
}

#[test]
fn a_file_that_is_not_there_or_no_text() {
    let bench = Bench::model();
    assert_eq!(bench.says(&[("a.m", None)], "a.m"), "failed: there is no such file");
    let mut branch = bench.branch();
    branch.write(&crate::bench::path("a.m"), vec![0xff].into()).unwrap();
    let view: std::sync::Arc<dyn overlay::View> = std::sync::Arc::new(branch.snapshot());
    let outcomes = bench.ask(&view, &["a.m", "b.m"]);
    assert_eq!(said(&outcomes[0]), "failed: it is not UTF-8");
    assert_eq!(said(&outcomes[1]), "b.m=b0 [`a.m`: it is not UTF-8]");
}

#[test]
fn a_death_is_told_and_the_next_one_works() {
    let bench = Bench::model();
    assert_eq!(bench.says(&[], "a.m"), "a.m=a0");
    let died = "failed: the server exited with code 99: fake: this text is too much";
    let view = bench.view(&[("a.m", Some("die"))]);
    let outcomes = bench.ask(&view, &["b.m", "a.m"]);
    assert!(outcomes.iter().all(|it| said(it) == died), "{outcomes:?}");
    assert_eq!(bench.says(&[("b.m", Some("b1"))], "a.m"), "a.m=a0 b.m=b1");
}

#[test]
fn a_state_that_kills_twice_is_left_alone() {
    let bench = Bench::model();
    let died = "failed: the server exited with code 99: fake: this text is too much";
    let says = || bench.says(&[("a.m", Some("die"))], "a.m");
    assert_eq!([says(), says()], [died, "failed: model has crashed or hung twice on this"]);
    assert_eq!(bench.says(&[], "a.m"), "a.m=a0");
    assert_eq!(bench.says(&[("a.m", Some("die again"))], "a.m"), died);
}

#[test]
fn a_server_that_cannot_be_started() {
    let mut setup = crate::bench::setup(&["model"], crate::bench::profile());
    setup.launch.program = "no-such-server".into();
    let bench = Bench { disk: setup.disk.clone(), server: language_servers::Server::new(setup) };
    let says = bench.says(&[], "a.m");
    assert!(says.starts_with("failed: no-such-server cannot be used"), "{says}");
}

#[test]
fn a_hang_is_pending_and_no_more() {
    let bench = Bench::model();
    let view = bench.view(&[("a.m", Some("hang"))]);
    let outcomes = bench.ask_until(&view, &["b.m", "a.m"], soon(&bench), &Cancel::default());
    assert_eq!(said(&outcomes[0]), "a.m=hang b.m=b0");
    assert!(said(&outcomes[1]).starts_with("pending: no answer in time; "));
    assert_eq!(bench.says(&[], "a.m"), "a.m=a0");
}

#[test]
fn what_is_not_wanted_any_more_is_not_begun() {
    let bench = Bench::model();
    let cancel = Cancel::default();
    cancel.cancel();
    let outcomes = bench.ask_until(&bench.view(&[("a.m", Some("hang"))]), &["a.m"], soon(&bench), &cancel);
    assert!(matches!(outcomes[0].completeness, Completeness::Pending(_)));
    assert_eq!(bench.says(&[], "a.m"), "a.m=a0");
}

#[test]
fn deletes_are_told_and_taken_back() {
    let bench = Bench::model();
    assert_eq!(bench.says(&[("b.m", None), ("dir", None)], "a.m"), "a.m=a0 -b.m -dir/c.m");
    assert_eq!(bench.says(&[("b.m", Some("b1")), ("dir", None)], "a.m"), "a.m=a0 b.m=b1 -dir/c.m");
    assert_eq!(bench.says(&[], "a.m"), "a.m=a0");
}

#[test]
fn deletes_are_told_anew_before_each_question() {
    let told = |kind| {
        let with = json!({ "changes": [{ "uri": uri("a.m"), "type": kind }] });
        json!({ "expect": "workspace/didChangeWatchedFiles", "with": with }).to_string()
    };
    let looks = |name| {
        let with = json!({ "textDocument": { "uri": uri(name) } });
        json!({ "expect": "textDocument/documentSymbol", "with": with, "answer": [] }).to_string()
    };
    let script = [
        open("a.m", 1, "a0"),
        pull("a.m", &[]),
        close("a.m"),
        open("b.m", 2, "b0"),
        open("dir/c.m", 3, "c0"),
        told(1),
        looks("b.m"),
        told(3),
        pull("b.m", &["one"]),
        told(1),
        looks("dir/c.m"),
        told(3),
        pull("dir/c.m", &["other"]),
        close("b.m"),
        close("dir/c.m"),
        open("a.m", 4, "a0"),
        told(1),
        pull("a.m", &["back"]),
        HANG.to_owned(),
    ];
    let bench = Bench::scripted(&script.join("\n"), |_| ());
    assert_eq!(bench.says(&[], "a.m"), "");
    let outcomes = bench.ask(&bench.view(&[("a.m", None)]), &["b.m", "dir/c.m"]);
    assert_eq!([said(&outcomes[0]), said(&outcomes[1])], ["one", "other"]);
    assert_eq!(bench.says(&[], "a.m"), "back");
}

#[test]
fn what_a_server_cannot_see_is_told() {
    let bench = Bench::model_with(|it| {
        it.sees.deletes = Deletes::Ignored;
        it.sees.new_files = false;
    });
    let reason = "`b.m` is deleted here, and model may still see it";
    assert_eq!(bench.says(&[("b.m", None)], "a.m"), format!("a.m=a0 [{reason}]"));
    let reason = "`n.m` is not on the disk, and model may not see it from other files";
    assert_eq!(bench.says(&[("n.m", Some("n"))], "a.m"), format!("a.m=a0 n.m=n [{reason}]"));
    assert_eq!(bench.says(&[("n.m", Some("n"))], "n.m"), "n.m=n");
    let reason = "`m.toml` is another one on the disk, which is what model reads";
    assert_eq!(bench.says(&[("m.toml", Some("new"))], "a.m"), format!("a.m=a0 [{reason}]"));
}

#[test]
fn a_server_that_reads_the_others_from_the_disk() {
    let bench = Bench::model_with(|it| it.sees.edited_files = false);
    let reason = "`b.m` is another one on the disk, which is what model may have read";
    assert_eq!(bench.says(&[("b.m", Some("b1"))], "a.m"), format!("a.m=a0 b.m=b1 [{reason}]"));
    assert_eq!(bench.says(&[("b.m", Some("b1"))], "b.m"), "b.m=b1");
}

#[test]
fn a_file_that_refers_to_none_is_whole() {
    let bench = Bench::model_with(|it| {
        it.sees.edited_files = false;
        it.sees.deletes = Deletes::Ignored;
        it.config_files = vec!["m.toml".to_owned(), "*.schema".to_owned()];
        it.refers_by = vec!["import".to_owned()];
    });
    let edits = [("b.m", Some("b1")), ("dir/c.m", None), ("x.schema", Some("new"))];
    assert_eq!(bench.says(&edits, "a.m"), "a.m=a0 b.m=b1");
    let with_import = [&edits[..], &[("a.m", Some("import './x'"))]].concat();
    let reason = "`x.schema` is another one on the disk, which is what model reads";
    assert_eq!(bench.says(&with_import, "a.m"), format!("a.m=import './x' b.m=b1 [{reason}]"));
    let with_another = [&edits[..2], &[("y.schema", Some("new")), ("a.m", Some("import './x'"))]].concat();
    let reason = "`dir/c.m` is deleted here, and model may still see it";
    assert_eq!(bench.says(&with_another, "a.m"), format!("a.m=import './x' b.m=b1 [{reason}]"));
    let with_config = [&edits[..], &[("m.toml", Some("new"))]].concat();
    let reason = "`m.toml` is another one on the disk, which is what model reads";
    assert_eq!(bench.says(&with_config, "a.m"), format!("a.m=a0 b.m=b1 [{reason}]"));
}

#[test]
fn a_delete_can_be_emulated() {
    let bench = Bench::model_with(|it| it.sees.deletes = Deletes::Emulated);
    let reason = "`b.m` is deleted here, and model may still see it";
    assert_eq!(bench.says(&[("b.m", None)], "a.m"), format!("a.m=a0 b.m= [{reason}]"));
    assert_eq!(bench.says(&[("b.m", None)], "b.m"), "failed: there is no such file");
    assert_eq!(bench.says(&[], "a.m"), "a.m=a0");
}

#[test]
fn what_is_opened_silently_is_changed_at_once() {
    let script = [open("a.m", 1, "a1"), change("a.m", 2, "a1"), pull("a.m", &["one"]), HANG.to_owned()];
    let bench = Bench::scripted(&script.join("\n"), |it| it.opens_silently = true);
    assert_eq!(bench.says(&[("a.m", Some("a1"))], "a.m"), "one");
}

#[test]
fn a_server_that_reads_late_need_not_read() {
    let changed = json!({ "changes": [{ "uri": uri("b.m"), "type": 2 }] });
    let script = [
        open("z.m", 1, "new"),
        open("a.m", 2, "a1"),
        pull("a.m", &["one"]),
        // A file that only the branch has gets an empty text before it is closed, and one on the disk stays open.
        change("z.m", 3, ""),
        close("z.m"),
        open("b.m", 4, "b0"),
        change("a.m", 5, "a0"),
        pull("b.m", &["base"]),
        json!({ "expect": "workspace/didChangeWatchedFiles", "with": changed }).to_string(),
        pull("a.m", &["with what changed"]),
        HANG.to_owned(),
    ];
    let bench = Bench::scripted(&script.join("\n"), |it| it.reads_late = true);
    assert_eq!(bench.says(&[("a.m", Some("a1")), ("z.m", Some("new"))], "a.m"), "one");
    assert_eq!(bench.says(&[], "b.m"), "base");
    bench.server.disk_changed(vec![(crate::bench::path("b.m"), DiskChange::Changed)]);
    assert_eq!(bench.says(&[], "a.m"), "with what changed");
}
