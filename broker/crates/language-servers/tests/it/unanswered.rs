//! Questions without an answer, with half of one, or with one that comes too early: each is called what it is.

use std::time::{Duration, Instant};

use language_servers::{At, Barrier, Canary, NoAnswer, Priority, Question, Searches, Server, ServerReply};
use lint::Cancel;
use overlay::ContentHash;
use serde_json::{Value, json};

use crate::{
    bench::{Bench, path, profile, setup},
    fixture::{BYE, far},
    query::{FOO, ask, bench, capabilities, step},
};

const HOVER: &str = "textDocument/hover";

fn hover() -> Question {
    Question::Hover { path: path("a.m"), at: FOO }
}

fn text(text: &str) -> Value {
    json!({ "contents": { "kind": "plaintext", "value": text } })
}

/// The text of a hover, or why there is none.
fn said(reply: &ServerReply) -> String {
    match &reply.answer {
        Ok(found) => {
            let reason = found.partial.as_ref().map(|it| format!(" [{it}]")).unwrap_or_default();
            let debug = format!("{:?}", found.result);
            let (_, after) = debug.split_once("text: \"").unwrap_or(("", ""));
            format!("{}{reason}", after.split('"').next().unwrap())
        }
        Err(NoAnswer::Unsupported(it)) => format!("unsupported: {it}"),
        Err(NoAnswer::Pending(it)) => format!("pending: {it}"),
        Err(NoAnswer::Failed(it)) => format!("failed: {it}"),
    }
}

#[test]
fn what_the_server_does_not_have() {
    let none = json!({ "diagnosticProvider": {} });
    assert_eq!(said(&ask(&bench(&none, &[]), hover())), format!("unsupported: {HOVER}"));
    let denied =
        json!({ "expect": HOVER, "refuse": { "code": -32601, "message": "no such method" } }).to_string();
    assert_eq!(said(&ask(&bench(&capabilities(), &[denied]), hover())), format!("unsupported: {HOVER}"));
    let other = Question::Hover { path: path("m.toml"), at: At::Offset(0) };
    let bench = Bench::model();
    let reply = bench.server.query(bench.view(&[]), other, Priority::Agent, far(), &Cancel::default());
    assert_eq!(said(&reply), "unsupported: model knows nothing of files like `m.toml`");
}

#[test]
fn what_is_registered_later_is_there() {
    let registration = json!({ "registrations": [{ "id": "1", "method": HOVER }, { "id": "2",
        "method": "textDocument/diagnostic" }] });
    let register = json!({ "id": 9, "method": "client/registerCapability", "params": registration });
    let script = [
        step("initialize", &json!({ "capabilities": {} })),
        r#"{"expect": "initialized"}"#.to_owned(),
        json!({ "ask": register, "wants": null }).to_string(),
        r#"{"expect": "textDocument/didOpen"}"#.to_owned(),
        step(HOVER, &text("registered")),
        BYE.to_owned(),
    ];
    let setup = setup(&["fake", &script.join("\n")], profile());
    let bench = Bench { disk: setup.disk.clone(), server: Server::new(setup) };
    assert_eq!(said(&ask(&bench, hover())), "registered");
}

#[test]
fn a_refusal_is_a_failure_with_its_reason() {
    let refused =
        json!({ "expect": HOVER, "refuse": { "code": -32803, "message": "not a name" } }).to_string();
    let reply = ask(&bench(&capabilities(), &[refused]), hover());
    assert_eq!(said(&reply), "failed: the server refused: not a name (-32803)");
    assert_eq!(reply.content, Some(ContentHash::of(crate::query::TEXT.as_bytes())));
}

#[test]
fn what_came_at_a_bad_moment_is_asked_again() {
    let modified =
        json!({ "expect": HOVER, "refuse": { "code": -32801, "message": "modified" } }).to_string();
    let cancelled =
        json!({ "expect": HOVER, "refuse": { "code": -32802, "message": "cancelled" } }).to_string();
    let bench = bench(&capabilities(), &[modified, cancelled, step(HOVER, &text("third"))]);
    assert_eq!(said(&ask(&bench, hover())), "third");
}

#[test]
fn a_late_answer_is_pending_and_never_another_one_s() {
    let late = json!({ "send": { "jsonrpc": "2.0", "id": 2, "result": text("stale") } }).to_string();
    let steps = [
        json!({ "expect": HOVER }).to_string(),
        r#"{"expect": "$/cancelRequest", "with": {"id": 2}}"#.to_owned(),
        r#"{"expect": "textDocument/didChange"}"#.to_owned(),
        json!({ "expect": HOVER }).to_string(),
        late,
        json!({ "reply": HOVER, "answer": text("fresh") }).to_string(),
    ];
    let bench = bench(&capabilities(), &steps);
    bench.server.start(far(), &Cancel::default()).unwrap();
    let soon = Instant::now() + Duration::from_millis(300);
    let reply =
        bench.server.query(crate::query::view(&bench), hover(), Priority::Agent, soon, &Cancel::default());
    assert!(said(&reply).starts_with("pending: no answer in time; "));
    let other = bench.view(&[("a.m", Some("x\n123456789"))]);
    assert_eq!(
        said(&bench.server.query(other, hover(), Priority::Agent, far(), &Cancel::default())),
        "fresh"
    );
}

#[test]
fn what_is_not_wanted_any_more_is_not_asked() {
    let cancel = Cancel::default();
    cancel.cancel();
    let bench = bench(&capabilities(), &[step(HOVER, &text("first"))]);
    bench.server.start(far(), &Cancel::default()).unwrap();
    let reply = bench.server.query(crate::query::view(&bench), hover(), Priority::Agent, far(), &cancel);
    assert!(matches!(reply.answer, Err(NoAnswer::Pending(_))), "{reply:?}");
    assert_eq!(said(&ask(&bench, hover())), "first");
}

#[test]
fn a_place_that_the_text_has_not() {
    let bench = bench(&capabilities(), &[]);
    let ask = |edits: &[(&str, Option<&str>)], at: At| {
        let question = Question::Hover { path: path("a.m"), at };
        said(&bench.server.query(bench.view(edits), question, Priority::Agent, far(), &Cancel::default()))
    };
    let reason = "failed: there is no byte 3 in the text, or a character starts before it";
    assert_eq!(ask(&[], At::Offset(3)), reason);
}

#[test]
fn a_file_that_the_view_has_not() {
    let bench = Bench::model();
    let question = Question::Symbols { path: path("a.m") };
    let view = bench.view(&[("a.m", None)]);
    let reply = bench.server.query(view, question, Priority::Agent, far(), &Cancel::default());
    assert_eq!(said(&reply), "failed: there is no such file");
    assert_eq!(reply.content, None);
}

#[test]
fn what_the_server_cannot_see_makes_it_partial() {
    let bench = {
        let hello = step("initialize", &json!({ "capabilities": capabilities() }));
        let open = r#"{"expect": "textDocument/didOpen"}"#;
        let script = format!(
            "{hello}\n{{\"expect\": \"initialized\"}}\n{open}\n{open}\n{}{BYE}",
            step(HOVER, &text("x"))
        );
        let mut profile = profile();
        profile.sees.new_files = false;
        let setup = setup(&["fake", &script], profile);
        Bench { disk: setup.disk.clone(), server: Server::new(setup) }
    };
    let view = bench.view(&[("n.m", Some("new"))]);
    let question = Question::Hover { path: path("a.m"), at: At::Offset(0) };
    let reply = bench.server.query(view, question, Priority::Agent, far(), &Cancel::default());
    assert_eq!(said(&reply), "x [`n.m` is not on the disk, and model may not see it from other files]");
}

#[test]
fn a_server_that_is_loading_is_not_asked() {
    let status = |quiescent: bool| {
        let params = json!({ "health": "ok", "quiescent": quiescent });
        json!({ "send": { "method": "experimental/serverStatus", "params": params } }).to_string()
    };
    let script = [
        step("initialize", &json!({ "capabilities": capabilities() })),
        r#"{"expect": "initialized"}"#.to_owned(),
        status(false),
        r#"{"expect": "textDocument/didOpen"}"#.to_owned(),
        status(true),
        json!({ "expect": HOVER }).to_string(),
        status(false),
        json!({ "reply": HOVER, "answer": text("too early") }).to_string(),
        status(true),
        step(HOVER, &text("settled")),
        BYE.to_owned(),
    ];
    let mut profile = profile();
    profile.barrier = Barrier::PullWhenQuiescent;
    let setup = setup(&["fake", &script.join("\n")], profile);
    let bench = Bench { disk: setup.disk.clone(), server: Server::new(setup) };
    assert_eq!(said(&ask(&bench, hover())), "settled");
}

#[test]
fn a_canary_goes_before_a_question() {
    let report =
        json!({ "kind": "full", "items": [{ "range": crate::query::range(0, 0, 1), "message": "m" }] });
    let script = [
        step("initialize", &json!({ "capabilities": capabilities() })),
        r#"{"expect": "initialized"}"#.to_owned(),
        r#"{"expect": "textDocument/didOpen"}"#.to_owned(),
        step("textDocument/diagnostic", &report),
        r#"{"expect": "textDocument/didClose"}"#.to_owned(),
        r#"{"expect": "textDocument/didOpen"}"#.to_owned(),
        step(HOVER, &text("after")),
        BYE.to_owned(),
    ];
    let mut profile = profile();
    profile.canary = Some(Canary { path: "canary.m".to_owned(), text: "wrong".to_owned() });
    let setup = setup(&["fake", &script.join("\n")], profile);
    let bench = Bench { disk: setup.disk.clone(), server: Server::new(setup) };
    assert_eq!(said(&ask(&bench, hover())), "after");
}

#[test]
fn a_server_that_looks_into_open_files_only_gets_those_with_the_name() {
    let open = |name: &str| {
        let with = |text: &str, version: u32| {
            json!({ "textDocument": { "uri": format!("file:///w/{name}"), "languageId": "m",
                                      "version": version, "text": text } })
        };
        let with = if name == "a.m" { with("b0 𐐀", 1) } else { with("b0", 2) };
        json!({ "expect": "textDocument/didOpen", "with": with }).to_string()
    };
    let symbols = step("textDocument/documentSymbol", &Value::Null);
    let script = [
        step("initialize", &json!({ "capabilities": capabilities() })),
        r#"{"expect": "initialized"}"#.to_owned(),
        open("a.m"),
        open("b.m"),
        // An answer about each document shows that it has been read.
        symbols.clone(),
        symbols,
        step("textDocument/references", &json!([])),
        BYE.to_owned(),
    ];
    let mut profile = profile();
    profile.searches = Searches::OpenFiles;
    let setup = setup(&["fake", &script.join("\n")], profile);
    let bench = Bench { disk: setup.disk.clone(), server: Server::new(setup) };
    let view = bench.view(&[("a.m", Some("b0 𐐀"))]);
    let question = Question::References { path: path("a.m"), at: At::Offset(0), with_declaration: true };
    let reply = bench.server.query(view, question, Priority::Agent, far(), &Cancel::default());
    assert_eq!(reply.answer.map(|it| it.partial), Ok(None));
}

#[test]
fn a_question_that_kills_twice_is_left_alone() {
    let script = [
        step("initialize", &json!({ "capabilities": capabilities() })),
        r#"{"expect": "initialized"}"#.to_owned(),
        r#"{"expect": "textDocument/didOpen"}"#.to_owned(),
        json!({ "expect": HOVER }).to_string(),
        r#"{"exit": 3}"#.to_owned(),
    ];
    let setup = setup(&["fake", &script.join("\n")], profile());
    let bench = Bench { disk: setup.disk.clone(), server: Server::new(setup) };
    let says = || said(&ask(&bench, hover()));
    let died = "failed: the server exited with code 3";
    assert_eq!([says(), says()], [died, "failed: model has crashed or hung twice on this"]);
}
