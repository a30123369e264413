//! Servers that die while they are asked: by what was asked, or by another process.

use std::{path::Path, sync::Arc, thread, time::Duration};

use language_servers::{At, LanguageServer, Priority, Question, ServerState};
use lint::Cancel;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{
    bench::{path, profile, setup},
    fixture::far,
    words::report,
    yard::{Yard, ask, children, says, view},
};

/// Each process of this server answers the only request that it gets once the file is there.
fn slow(method: &str, result: &Value, file: &Path) -> Yard {
    let capabilities = json!({ "diagnosticProvider": {}, "hoverProvider": true });
    let script = [
        json!({ "expect": "initialize", "answer": { "capabilities": capabilities } }).to_string(),
        r#"{"expect": "initialized"}"#.to_owned(),
        r#"{"expect": "textDocument/didOpen"}"#.to_owned(),
        json!({ "expect": method }).to_string(),
        json!({ "wait-for": file }).to_string(),
        json!({ "reply": method, "answer": result }).to_string(),
        r#"{"hang": true}"#.to_owned(),
    ];
    let mut yard = Yard::new(|_| ());
    yard.setup = setup(&["fake", &script.join("\n")], profile());
    yard
}

/// Kills the server as another process may do it.
fn kill(yard: &Yard) {
    let supervisor = i64::from(yard.report().pid.unwrap());
    let server = i32::try_from(children(&[supervisor])[0]).unwrap();
    kill_process(Pid::from_raw(server).unwrap(), Signal::KILL).unwrap();
}

#[test]
fn what_is_killed_from_outside_is_asked_once_more() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("go");
    let yard = slow("textDocument/diagnostic", &report(&["found"]), &file);
    let linter = yard.linter();
    let asked = ask(&linter, "x");
    yard.wait_for_state("/w", ServerState::Busy);
    kill(&yard);
    std::fs::write(file, "").unwrap();
    assert_eq!(asked.join(), "found");
    let report = yard.report();
    assert_eq!((report.counts.starts, report.counts.crashes), (2, 1));
    assert_eq!(report.last_error.as_deref(), Some("the server was killed by signal 9"));
}

#[test]
fn a_query_is_put_once_more_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("go");
    let yard = slow("textDocument/hover", &Value::Null, &file);
    let linter = yard.linter();
    let asked = thread::spawn({
        let linter: Arc<LanguageServer> = Arc::clone(&linter);
        move || {
            let question = Question::Hover { path: path("a.m"), at: At::Offset(0) };
            linter.query(&view(&[("a.m", "x")]), question, Priority::Agent, far(), &Cancel::default())
        }
    });
    yard.wait_for_state("/w", ServerState::Busy);
    kill(&yard);
    std::fs::write(file, "").unwrap();
    assert_eq!(asked.join().unwrap().answer.map(|it| it.partial), Ok(None));
    assert_eq!(yard.report().counts.starts, 2);
}

#[test]
fn what_is_killed_each_time_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let yard = slow("textDocument/diagnostic", &report(&[]), &folder.path().join("go"));
    let linter = yard.linter();
    let asked = ask(&linter, "x");
    for starts in 1..3 {
        yard.wait_for("/w", |it| it.counts.starts == starts && it.state == ServerState::Busy);
        kill(&yard);
    }
    assert_eq!(asked.join(), "failed: the server was killed by signal 9");
    assert_eq!(says(&linter, "x"), "failed: model has crashed or hung twice on this");
    assert_eq!(yard.report().counts.crashes, 2);
}

#[test]
fn what_nobody_waits_for_any_more_is_not_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let yard = slow("textDocument/diagnostic", &report(&[]), &folder.path().join("go"));
    let linter = yard.linter();
    let asked = ask(&linter, "x");
    yard.wait_for_state("/w", ServerState::Busy);
    asked.give_up();
    yard.wait_for_state("/w", ServerState::NotAnswering);
    kill(&yard);
    yard.wait_for_state("/w", ServerState::Pausing);
    assert_eq!(yard.report().counts.starts, 1);
}

#[test]
fn what_kills_one_process_is_not_asked_of_another() {
    let yard = Yard::new(|it| it.wait = Duration::ZERO);
    let linter = yard.linter();
    assert!(says(&linter, "die").starts_with("failed: the server exited with code 99"));
    let first = ask(&linter, "hang");
    yard.wait_for_state("/w", ServerState::Busy);
    let behind = ask(&linter, "y");
    yard.wait_for("/w", |it| it.id == 2 && it.state == ServerState::Idle);
    assert_eq!(says(&linter, "die"), "failed: model has crashed or hung twice on this");
    let counts: Vec<_> = yard.pool.status().iter().map(|it| (it.id, it.counts.crashes)).collect();
    assert_eq!(counts, [(1, 2), (2, 0)]);
    first.give_up();
    assert_eq!(behind.join(), "a.m=y");
}
