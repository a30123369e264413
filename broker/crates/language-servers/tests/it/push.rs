//! Servers that publish when they like: what counts as an answer, and how long it is waited for.

use std::time::Duration;

use language_servers::{At, Barrier, Canary, NoAnswer, Priority, Profile, Question};
use lint::Cancel;
use serde_json::{Value, json};

use crate::{
    actor::{HANG, soon},
    bench::{Bench, path, said, scripted},
    fixture::{BYE, far},
    words::{FENCE, change, close, open, publish, uri},
};

fn bench(barrier: Barrier, script: &[String]) -> Bench {
    Bench::scripted(&script.join("\n"), |it| it.barrier = barrier)
}

/// Returns a bench that waits only briefly for published diagnostics.
fn hasty(barrier: Barrier, script: &[String]) -> Bench {
    let mut setup = scripted(&script.join("\n"), |it: &mut Profile| it.barrier = barrier);
    setup.limits.publish = Duration::from_millis(100);
    Bench::of(setup)
}

fn lines(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|it| it.to_string()).collect()
}

const PENDING: &str = "pending: the server published nothing in time, and is started again";

#[test]
fn what_has_the_version_is_the_answer() {
    let script = lines(&[
        &open("a.m", 1, "a1"),
        &publish("a.m", Some(1), &["one"]),
        FENCE,
        &change("a.m", 2, "a2"),
        &publish("b.m", Some(2), &["of another file"]),
        &publish("a.m", Some(1), &["late"]),
        &publish("a.m", Some(2), &["two"]),
        &publish("a.m", None, &["of no version"]),
        FENCE,
        // The same state is sent again.
        &change("a.m", 3, "a2"),
        &publish("a.m", Some(3), &["two again"]),
        FENCE,
        HANG,
    ]);
    let bench = bench(Barrier::Version, &script);
    assert_eq!(bench.says(&[("a.m", Some("a1"))], "a.m"), "one");
    assert_eq!(bench.says(&[("a.m", Some("a2"))], "a.m"), "two");
    assert_eq!(bench.says(&[("a.m", Some("a2"))], "a.m"), "two again");
}

#[test]
fn what_is_of_an_older_version_does_not_count() {
    let told = |barrier| match barrier {
        Barrier::Reopen => (
            vec![open("a.m", 1, "a1"), close("a.m"), open("a.m", 2, "a1")],
            vec![change("a.m", 3, "a2"), close("a.m"), open("a.m", 4, "a2")],
            (2, 4),
        ),
        _ => (vec![open("a.m", 1, "a1")], vec![change("a.m", 2, "a2")], (1, 2)),
    };
    for barrier in [Barrier::Version, Barrier::NextPublish, Barrier::Reopen] {
        let (first, second, (old, new)) = told(barrier);
        let late = publish("a.m", Some(old), &["late"]);
        let script = [
            first,
            lines(&[&publish("a.m", Some(old), &["one"]), FENCE]),
            second,
            lines(&[&late, &publish("a.m", Some(new), &["two"]), &late, FENCE, BYE]),
        ];
        let bench = bench(barrier, &script.concat());
        assert_eq!(bench.says(&[("a.m", Some("a1"))], "a.m"), "one", "{barrier:?}");
        assert_eq!(bench.says(&[("a.m", Some("a2"))], "a.m"), "two", "{barrier:?}");
    }
}

/// Versions begin anew with each process.
#[test]
fn what_an_older_process_said_does_not_count() {
    let opened = r#"{"expect": "textDocument/didOpen"}"#;
    let reopened = [opened, &close("a.m"), opened].join("\n");
    let all =
        [(Barrier::Version, opened, 1), (Barrier::NextPublish, opened, 1), (Barrier::Reopen, &reopened, 2)];
    for (barrier, told, version) in all {
        let folder = tempfile::tempdir().unwrap();
        let stale: Value = serde_json::from_str(&publish("a.m", Some(version), &["stale"])).unwrap();
        let steps = [json!({ "flood": 20_000, "send": stale["send"] }), json!({ "exit": 3 })];
        let first = json!({ "once": folder.path().join("first"), "do": steps }).to_string();
        let new = publish("a.m", Some(version), &["new"]);
        let bench = bench(barrier, &lines(&[told, &first, &new, FENCE, BYE]));
        assert_eq!(bench.says(&[("a.m", Some("a1"))], "a.m"), "new", "{barrier:?}");
    }
}

#[test]
fn the_first_part_of_an_answer_is_not_all() {
    for (barrier, version) in [(Barrier::Version, Some(1)), (Barrier::NextPublish, None)] {
        let script = lines(&[
            &open("a.m", 1, "a0"),
            &publish("a.m", version, &[]),
            &publish("a.m", version, &["whole"]),
            FENCE,
            HANG,
        ]);
        assert_eq!(bench(barrier, &script).says(&[], "a.m"), "whole");
    }
}

#[test]
fn what_was_begun_is_waited_for_by_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("go");
    let script = lines(&[
        &open("a.m", 1, "a1"),
        &json!({ "wait-for": file }).to_string(),
        // Were the second text told already, this would be taken for the answer about it.
        &publish("a.m", None, &["old"]),
        FENCE,
        &change("a.m", 2, "a2"),
        &publish("a.m", None, &["new"]),
        FENCE,
        HANG,
    ]);
    let bench = bench(Barrier::NextPublish, &script);
    let view = bench.view(&[("a.m", Some("a1"))]);
    let outcome = &bench.ask_until(&view, &["a.m"], soon(&bench), &Cancel::default())[0];
    assert!(said(outcome).starts_with("pending: no answer in time; "));
    std::fs::write(file, "").unwrap();
    assert_eq!(bench.says(&[("a.m", Some("a2"))], "a.m"), "new");
}

#[test]
fn a_server_that_never_publishes_is_started_again() {
    let script = lines(&[&open("a.m", 1, "a0"), HANG]);
    let bench = hasty(Barrier::Version, &script);
    let says = || bench.says(&[], "a.m");
    let left_alone = "failed: model has crashed or hung twice on this";
    assert_eq!([says(), says(), says()], [PENDING, PENDING, left_alone]);
}

#[test]
fn a_server_that_goes_on_publishing_is_started_again() {
    let script = lines(&[&open("a.m", 1, "a0"), &publish("a.m", Some(1), &["part"]), HANG]);
    assert_eq!(hasty(Barrier::Version, &script).says(&[], "a.m"), PENDING);
}

#[test]
fn without_versions_all_that_was_told_is_waited_for() {
    let script = lines(&[
        &open("a.m", 1, "a1"),
        &open("b.m", 2, "b1"),
        &publish("a.m", None, &["a"]),
        // Not of `b.m`, which is not asked about: it would come in the middle of the next.
        FENCE,
        HANG,
    ]);
    let bench = hasty(Barrier::NextPublish, &script);
    assert_eq!(bench.says(&[("a.m", Some("a1")), ("b.m", Some("b1"))], "a.m"), PENDING);
}

#[test]
fn a_closed_document_s_end_is_no_answer() {
    let script = lines(&[
        &open("a.m", 1, "a0"),
        &publish("a.m", None, &["one"]),
        FENCE,
        &close("a.m"),
        &open("b.m", 2, "b0"),
        &publish("b.m", None, &["two"]),
        &publish("a.m", None, &[]),
        FENCE,
        &close("b.m"),
        &open("a.m", 3, "a0"),
        &publish("b.m", None, &[]),
        &publish("a.m", None, &["three"]),
        FENCE,
        HANG,
    ]);
    let bench = bench(Barrier::NextPublish, &script);
    assert_eq!(["a.m", "b.m", "a.m"].map(|it| bench.says(&[], it)), ["one", "two", "three"]);
}

#[test]
fn what_is_reopened_is_of_all_that_was_told_before() {
    let script = lines(&[
        &open("a.m", 1, "a1"),
        &open("b.m", 2, "b1"),
        &close("a.m"),
        &open("a.m", 3, "a1"),
        &publish("a.m", Some(1), &["before b.m was told"]),
        &publish("a.m", None, &[]),
        &publish("a.m", Some(3), &["all"]),
        FENCE,
        HANG,
    ]);
    let bench = bench(Barrier::Reopen, &script);
    assert_eq!(bench.says(&[("a.m", Some("a1")), ("b.m", Some("b1"))], "a.m"), "all");
}

#[test]
fn a_question_is_handed_on_to_tsserver() {
    let ask = |question: &str, answer| {
        let arguments = json!([question, { "file": uri("a.m") }]);
        let with = json!({ "command": "typescript.tsserverRequest", "arguments": arguments });
        json!({ "expect": "workspace/executeCommand", "with": with, "answer": answer }).to_string()
    };
    let place = |offset: u32| json!({ "line": 2, "offset": offset });
    let found = json!({ "start": place(2), "end": place(4), "text": "m", "code": 7, "category": "warning" });
    let script = lines(&[
        &open("a.m", 1, "x\n𐐀yz"),
        &ask("syntacticDiagnosticsSync", json!({ "success": true, "body": [] })),
        &ask("semanticDiagnosticsSync", json!({ "success": true, "body": [found] })),
        &change("a.m", 2, "a2"),
        &ask("syntacticDiagnosticsSync", json!({ "success": false, "message": "no project" })),
        &ask("semanticDiagnosticsSync", json!({ "success": true, "body": [] })),
        HANG,
    ]);
    let bench = bench(Barrier::Tsserver, &script);
    let outcome = &bench.ask(&bench.view(&[("a.m", Some("x\n𐐀yz"))]), &["a.m"])[0];
    assert_eq!(said(outcome), "m");
    let found = &outcome.diagnostics[0];
    assert_eq!((&*found.code, found.severity), ("7", lint::Severity::Warning));
    assert_eq!(found.span, lint::Span::new(2, 7));
    let says = bench.says(&[("a.m", Some("a2"))], "a.m");
    assert!(says.starts_with("failed: ") && says.contains("no project"), "{says}");
}

#[test]
fn a_death_is_told() {
    let script = lines(&[&open("a.m", 1, "a0"), &publish("a.m", Some(1), &["stale"]), r#"{"exit": 3}"#]);
    assert_eq!(bench(Barrier::Version, &script).says(&[], "a.m"), "failed: the server exited with code 3");
}

#[test]
fn a_server_that_publishes_nothing_yet_is_not_believed() {
    let script = lines(&[
        &open("canary.m", 1, "wrong"),
        &publish("canary.m", Some(1), &[]),
        &publish("canary.m", Some(1), &["found"]),
        &close("canary.m"),
        &open("a.m", 2, "a0"),
        &publish("a.m", Some(2), &["right"]),
        FENCE,
        HANG,
    ]);
    let bench = Bench::scripted(&script.join("\n"), |it| {
        it.barrier = Barrier::Version;
        it.canary = Some(Canary { path: "canary.m".to_owned(), text: "wrong".to_owned() });
    });
    assert_eq!(bench.says(&[], "a.m"), "right");
}

#[test]
fn a_server_that_registers_when_it_is_ready_is_waited_for() {
    let registration = json!({ "registrations": [{ "id": "1", "method": "x/ready" }] });
    let register = json!({ "id": "r", "method": "client/registerCapability", "params": registration });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("go");
    let script = lines(&[
        &json!({ "wait-for": file }).to_string(),
        &json!({ "ask": register, "wants": null }).to_string(),
        &open("a.m", 1, "a0"),
        &publish("a.m", Some(1), &["right"]),
        FENCE,
        HANG,
    ]);
    let bench = Bench::scripted(&script.join("\n"), |it| {
        it.barrier = Barrier::Version;
        it.registers = Some("x/ready".to_owned());
    });
    let early = bench.ask_until(&bench.view(&[]), &["a.m"], soon(&bench), &Cancel::default());
    assert_eq!(said(&early[0]), "pending: the server does not offer `x/ready` yet");
    std::fs::write(file, "").unwrap();
    assert_eq!(bench.says(&[], "a.m"), "right");
}

#[test]
fn what_a_question_in_vain_has_opened_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("go");
    let script = lines(&[
        &open("a.m", 1, "a1"),
        &json!({ "wait-for": file }).to_string(),
        &publish("a.m", None, &["old"]),
        FENCE,
        &change("a.m", 2, "a2"),
        &publish("a.m", None, &["new"]),
        FENCE,
        HANG,
    ]);
    let bench = bench(Barrier::NextPublish, &script);
    let question = Question::Hover { path: path("none.m"), at: At::Offset(0) };
    let view = bench.view(&[("a.m", Some("a1"))]);
    let reply = bench.server.query(view, question, Priority::Agent, far(), &Cancel::default());
    assert_eq!(reply.answer.unwrap_err(), NoAnswer::Failed("there is no such file".to_owned()));
    std::fs::write(file, "").unwrap();
    assert_eq!(bench.says(&[("a.m", Some("a2"))], "a.m"), "new");
}
