//! Beginning and end of a session, and of the process.

use super::*;
use std::os::unix::fs::symlink;

const NOT_INITIALIZED: i64 = -32002;
const INVALID_REQUEST: i64 = -32600;

#[test]
fn a_session_from_its_beginning_to_its_end() {
    let (place, mut editor, uri) = opened(Client::pulling());
    let version = ok(&place, &["--version"]);
    let info = &editor.server["serverInfo"];
    assert_eq!(info["name"], "broker");
    let told = info["version"].as_str().unwrap();
    assert!(version.contains(told), "{told} is not {version}");
    assert_eq!(found(&mut editor, &uri), [F401]);
    editor.close();
}

#[test]
fn capabilities_of_a_client_that_can_all() {
    let place = place();
    let editor = Editor::start(&place, Client::pulling());
    let mut capabilities = editor.server["capabilities"].clone();
    capabilities["executeCommandProvider"]["commands"]
        .as_array_mut()
        .unwrap()
        .sort_by_key(ToString::to_string);
    insta::assert_json_snapshot!(capabilities);
    editor.close();
}

#[test]
fn capabilities_of_a_client_that_can_nothing() {
    let place = place();
    let editor = Editor::start(&place, Client::plain());
    assert_eq!(editor.capability("/definitionProvider"), &Value::Null);
    assert_eq!(editor.capability("/textDocumentSync/change"), 2, "incremental");
    editor.close();
}

#[test]
fn nothing_is_answered_before_initialize() {
    let place = place();
    let mut editor = Editor::spawn(&place, Client::pulling());
    let uri = file_uri(&place, "a.py");
    for method in ["textDocument/diagnostic", "textDocument/hover", "shutdown", "no/such", "$/nothing"] {
        let refused = editor.refusal(method, document(&uri));
        assert_eq!(refused.code, NOT_INITIALIZED, "{method}: {refused:?}");
    }
    // Notifications are dropped, and the session begins all the same.
    editor.notify("textDocument/didClose", document(&uri));
    editor.notify("initialized", json!({}));
    editor.initialize();
    editor.open(&place, "a.py");
    assert_eq!(found(&mut editor, &uri), [F401]);
    editor.close();
}

#[test]
fn a_second_initialize_is_refused() {
    let (_place, mut editor, uri) = opened(Client::pulling());
    let refused = editor.refusal("initialize", editor.introduction());
    assert_eq!(refused.code, INVALID_REQUEST, "{refused:?}");
    assert_eq!(found(&mut editor, &uri), [F401]);
    editor.close();
}

#[test]
fn nothing_is_answered_after_shutdown() {
    let (_place, mut editor, uri) = opened(Client::pulling());
    assert_eq!(editor.ask("shutdown", Value::Null), Value::Null);
    for method in ["textDocument/diagnostic", "shutdown", "initialize", "no/such"] {
        let refused = editor.refusal(method, document(&uri));
        assert_eq!(refused.code, INVALID_REQUEST, "{method}: {refused:?}");
    }
    editor.notify("textDocument/didClose", document(&uri));
    assert_eq!(editor.exit(), Some(0));
}

#[test]
fn what_is_asked_when_it_shuts_down_is_answered() {
    let place = Place::new(&[("broker.toml", ""), ("spin.fault", "spin")]);
    let daemon = serve_guest(&place);
    let mut editor = Editor::start(&place, Client::pulling());
    let uri = editor.open(&place, "spin.fault");
    let asked = editor.request("textDocument/diagnostic", document(&uri));
    Daemon::of(&place).until_running(1);
    editor.ask("shutdown", Value::Null);
    let answer = editor.answer(asked);
    assert!(answer.as_ref().is_err_and(|it| [-32800, -32802].contains(&it.code)), "{answer:?}");
    assert_eq!(editor.exit(), Some(0));
    Daemon::of(&place).until_running(0);
    drop(daemon);
}

#[test]
fn an_exit_without_a_shutdown_is_a_failure() {
    let (_place, mut editor, _) = opened(Client::pulling());
    assert_eq!(editor.exit(), Some(1));
    let place = place();
    assert_eq!(Editor::spawn(&place, Client::pulling()).exit(), Some(1), "before initialize");
}

#[test]
fn it_ends_with_its_input() {
    let (_place, mut editor, _) = opened(Client::pulling());
    editor.wire.close_input();
    assert_eq!(editor.wire.exit_code(), Some(1));
    let (_place, mut editor, _) = opened(Client::pulling());
    editor.ask("shutdown", Value::Null);
    editor.wire.close_input();
    assert_eq!(editor.wire.exit_code(), Some(0));
}

/// Whose pipes another program has inherited, so that they stay open.
#[test]
fn it_ends_with_the_editors_process() {
    let place = place();
    let mut parent = Ending(Command::new("sleep").arg("600").spawn().unwrap());
    let client = Client { process_id: Some(parent.0.id()), ..Client::pulling() };
    let mut editor = Editor::start(&place, client);
    editor.open(&place, "a.py");
    parent.0.kill().unwrap();
    parent.0.wait().unwrap();
    assert_eq!(editor.wire.exit_code(), Some(1));
}

#[test]
fn it_ends_when_it_is_asked_to() {
    for signal in ["-TERM", "-INT"] {
        let (_place, mut editor, _) = opened(Client::pulling());
        let pid = editor.wire.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        let _any = editor.wire.exit_code();
    }
}

/// A daemon belongs to no editor.
#[test]
fn the_daemon_outlives_the_session() {
    let (place, editor, _) = opened(Client::pulling());
    let pid = daemon_pid(&place).expect("a daemon");
    editor.close();
    assert_eq!(daemon_pid(&place), Some(pid));
}

#[test]
fn without_a_daemon_it_serves_the_same() {
    let place = place();
    let mut editor = Editor::start(&place, Client::pulling().arguments(&["--no-daemon"]));
    let uri = editor.open(&place, "a.py");
    assert_eq!(found(&mut editor, &uri), [F401]);
    editor.replace(&uri, "import os", "x = 1");
    assert_eq!(found(&mut editor, &uri), [""; 0]);
    assert!(!place.own("run/broker.sock").exists());
    let branch = editor.command("broker.forkBranch", json!({ "name": "try" }));
    let branch_uri = format!("broker-branch://{}/a.py", branch["id"].as_str().unwrap());
    let content = editor.ask("workspace/textDocumentContent", json!({ "uri": branch_uri }));
    assert_eq!(content["text"], "x = 1\n");
    assert!(!place.own("run/broker.sock").exists());
    editor.close();
}

#[test]
fn arguments_are_looked_at() {
    let place = place();
    Editor::start(&place, Client::pulling().arguments(&["--stdio"])).close();
    let output = place.run(&["lsp", "--no-such-option"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty(), "standard output is the protocol's");
    let output = place.run(&["lsp", "--workspace", "no-such-folder"]);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A client that knows no folders, as simple ones are.
#[test]
fn the_folder_is_that_of_the_argument_of_the_client_or_of_the_file() {
    let place = Place::new(&[("broker.toml", "ignore = ['F401']\n"), ("a.py", "import os\n\nprint(x)\n")]);
    let root = place.root();
    let root = root.to_str().unwrap();
    for (arguments, with_root) in [(&["--workspace", root][..], false), (&[], true), (&[], false)] {
        let mut client = Client::pulling().without("/workspace", "workspaceFolders").arguments(arguments);
        if !with_root {
            client.folders = Some(Vec::new());
        }
        let mut editor = Editor::start(&place, client);
        let uri = editor.open(&place, "a.py");
        assert_eq!(found(&mut editor, &uri), ["python/F821"], "{arguments:?} {with_root}");
        editor.close();
    }
}

#[test]
fn a_folder_that_is_reached_by_a_link_is_the_folder() {
    let place = place();
    let link = place.own("link");
    symlink(place.root(), &link).unwrap();
    let mut editor = Editor::start(&place, Client { folders: Some(vec![link.clone()]), ..Client::pulling() });
    let uri = uri(&link.join("a.py"));
    editor.open_text(&uri, "import sys\n");
    assert_eq!(found(&mut editor, &uri), [F401]);
    Daemon::of(&place).until_text(&place, "a.py", "import sys\n");
    editor.close();
}
