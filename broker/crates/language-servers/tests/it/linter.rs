//! The actor as a linter: what its answers rest on.

use std::{sync::Arc, time::Duration};

use language_servers::{LanguageServer, Pool};
use lint::{Cancel, Job, Linter, Outcome, Unit};
use overlay::{Branch, Disk, View};
use serde_json::json;

use crate::{
    bench::{disk, path, profile, said, setup},
    fixture::{BYE, far, started},
};

fn check(linter: &LanguageServer, view: &Arc<dyn View>) -> Outcome {
    let unit = Unit { path: path("a.m"), named: path("") };
    let (cancel, timeout) = (Cancel::default(), Duration::from_secs(60));
    let job = Job { view: Arc::clone(view), units: vec![unit], cancel, timeout, is_awaited: false };
    let mut outcomes = Vec::new();
    linter.check(&job, &mut |index, outcome| outcomes.push((index, outcome)));
    assert_eq!(outcomes.len(), 1);
    outcomes.remove(0).1
}

#[test]
fn an_answer_holds_where_the_server_sees_the_same() {
    let linter = started(&Pool::default(), setup(&["model"], profile())).unwrap();
    assert_eq!(linter.identity().name, "model");
    assert_eq!(linter.version(far(), &Cancel::default()).unwrap(), "model 1");
    assert_eq!(linter.interest().globs, ["*.m"]);

    let disk = disk();
    let outcome = check(&linter, &disk);
    assert_eq!(said(&outcome), "a.m=a0");
    let holds = |edit: fn(&mut Branch)| {
        let mut branch = Branch::new(Arc::clone(&disk));
        edit(&mut branch);
        let view: Arc<dyn View> = Arc::new(branch.snapshot());
        linter.context(&view) == linter.context(&disk)
    };
    assert!(holds(|_| ()));
    assert!(holds(|it| drop(it.write(&path("b.m"), "b0".into()))));
    assert!(!holds(|it| drop(it.write(&path("b.m"), "b1".into()))));
    assert!(!holds(|it| drop(it.write(&path("dir/new.m"), "new".into()))));
    assert!(!holds(|it| drop(it.write(&path("m.toml"), "new".into()))));
    assert!(!holds(|it| drop(it.remove(&path("dir/c.m")))));
}

#[test]
fn a_version_may_be_told_by_a_greeting() {
    let greet = |text: &str| {
        let params = json!({ "type": 3, "message": text });
        json!({ "send": { "method": "window/logMessage", "params": params } }).to_string()
    };
    let script = [
        r#"{"expect": "initialize"}"#,
        &greet("Hello"),
        &greet("Server 1.2.3 starts"),
        r#"{"reply": "initialize", "answer": {"capabilities": {"diagnosticProvider": {}}}}"#,
        r#"{"expect": "initialized"}"#,
        BYE,
    ];
    let version = |greeting: Option<&str>| {
        let profile = language_servers::Profile { greeting: greeting.map(str::to_owned), ..profile() };
        let setup = setup(&["fake", &script.join("\n")], profile);
        started(&Pool::default(), setup).unwrap().version(far(), &Cancel::default()).unwrap()
    };
    assert_eq!(version(Some("Server * starts")), "model 1.2.3");
    assert_eq!([version(Some("Client *")), version(None)], ["", ""]);
}

#[test]
fn other_settings_are_another_linter() {
    let digest = |change: fn(&mut language_servers::Profile)| {
        let mut profile = profile();
        change(&mut profile);
        let linter = started(&Pool::default(), setup(&["model"], profile)).unwrap();
        linter.identity().digest
    };
    assert_eq!(digest(|_| ()), digest(|_| ()));
    assert_ne!(digest(|_| ()), digest(|it| it.settings = serde_json::json!({ "strict": true })));
}

#[test]
fn what_changed_on_the_disk_is_told_once() {
    let events = |events: &[(&str, u32)]| {
        let event = |(name, kind): &(&str, u32)| json!({ "uri": format!("file:///w/{name}"), "type": kind });
        let changes: Vec<_> = events.iter().map(event).collect();
        let with = json!({ "changes": changes });
        json!({ "expect": "workspace/didChangeWatchedFiles", "with": with }).to_string()
    };
    let pull = json!({ "expect": "textDocument/diagnostic", "answer": { "kind": "full", "items": [] } });
    let script = [
        json!({ "expect": "initialize", "answer": { "capabilities": { "diagnosticProvider": {} } } })
            .to_string(),
        r#"{"expect": "initialized"}"#.to_owned(),
        r#"{"expect": "textDocument/didOpen"}"#.to_owned(),
        pull.to_string(),
        events(&[("b.m", 2), ("c.m", 1), ("d.m", 3)]),
        // The branch has a text of its own for `e.m`.
        r#"{"expect": "textDocument/didOpen"}"#.to_owned(),
        pull.to_string(),
        events(&[("e.m", 2)]),
        r#"{"expect": "textDocument/didClose"}"#.to_owned(),
        pull.to_string(),
        r#"{"hang": true}"#.to_owned(),
    ];
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    ["a.m", "b.m", "d.m", "e.m", "f.txt"].iter().for_each(|it| write(it, "before"));
    let disk: Arc<dyn View> = Arc::new(Disk::new(folder.path()).unwrap());
    let mut setup = setup(&["fake", &script.join("\n")], profile());
    setup.disk = Arc::clone(&disk);
    let linter = started(&Pool::default(), setup).unwrap();
    assert_eq!(said(&check(&linter, &disk)), "");

    ["b.m", "c.m", "e.m", "f.txt"].iter().for_each(|it| write(it, "after"));
    std::fs::remove_file(folder.path().join("d.m")).unwrap();
    let mut branch = Branch::new(Arc::clone(&disk));
    branch.write(&path("e.m"), "of the branch".into()).unwrap();
    let view: Arc<dyn View> = Arc::new(branch.snapshot());
    assert_eq!(said(&check(&linter, &view)), "");
    assert_eq!(said(&check(&linter, &disk)), "");
}
