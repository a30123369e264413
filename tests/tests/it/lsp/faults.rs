//! Faults around a session: of the daemon, the editor, files and folders that disappear, and two editors on one file.

use super::*;
use std::{fs, io::Write as _};

/// Kills the daemon of a place, and returns its process id.
fn kill_daemon(place: &Place) -> String {
    let pid = daemon_pid(place).expect("a daemon");
    kill(&pid);
    until("the daemon is dead", || !runs(pid.parse().unwrap()));
    pid
}

#[test]
fn a_daemon_that_is_killed_comes_back_and_nothing_is_lost() {
    for client in [Client::pulling(), Client::pushed()] {
        let (place, mut editor, uri) = opened(client);
        let other = editor.open_text(&file_uri(&place, "b.py"), "unsaved = 1\n");
        editor.set_text(&uri, "import os\nprint(x)\n");
        assert_eq!(found(&mut editor, &uri), [F401, "python/F821"]);
        let branch = editor.command("broker.forkBranch", json!({ "name": "try" }));
        let old = kill_daemon(&place);
        // Whatever is asked next is answered, by another daemon that knows the same.
        editor.set_text(&uri, "import os\nimport sys\n");
        assert_eq!(found(&mut editor, &uri), [F401, F401]);
        let new = daemon_pid(&place).expect("another daemon");
        assert_ne!(old, new);
        let daemon = Daemon::of(&place);
        daemon.until_text(&place, "a.py", "import os\nimport sys\n");
        daemon.until_text(&place, "b.py", "unsaved = 1\n");
        assert_eq!(found(&mut editor, &other), [""; 0]);
        let listed = editor.command("broker.listBranches", json!({}));
        assert_eq!(listed[0]["id"], branch["id"]);
        editor.close();
    }
}

/// Without a word of the editor: what is open is shown to others again.
#[test]
fn a_daemon_that_comes_back_gets_the_buffers_by_itself() {
    let (place, mut editor, uri) = opened(Client::pushed());
    editor.set_text(&uri, "unsaved = 1\n");
    assert_eq!(found(&mut editor, &uri), [""; 0]);
    kill_daemon(&place);
    ok(&place, &["branch", "list"]);
    Daemon::of(&place).until_text(&place, "a.py", "unsaved = 1\n");
    assert_eq!(found(&mut editor, &uri), [""; 0]);
    editor.close();
}

#[test]
fn a_daemon_that_is_killed_in_the_middle_of_a_request_is_no_end() {
    let place = Place::new(&[("broker.toml", ""), ("spin.fault", "spin"), ("a.py", UNUSED)]);
    let mut guarded = serve_guest(&place);
    let mut editor = Editor::start(&place, Client::pulling());
    let uri = editor.open(&place, "spin.fault");
    let id = editor.request("textDocument/diagnostic", document(&uri));
    Daemon::of(&place).until_running(1);
    kill_daemon(&place);
    guarded.0.wait().unwrap();
    // The request may be repeated to a daemon without that plugin, which finds nothing, or be refused.
    let answer = editor.answer(id);
    assert!(answer.as_ref().map_or_else(|it| it.code != -32700, |it| it["kind"] == "full"), "{answer:?}");
    let other = file_uri(&place, "a.py");
    assert_eq!(codes(editor.pull(&other, None)["items"].as_array().unwrap()), [F401]);
    editor.close();
}

#[test]
fn a_daemon_that_dies_again_and_again_is_no_end() {
    let (place, mut editor, uri) = opened(Client::pulling());
    for number in 0..5 {
        editor.set_text(&uri, &"print(x)\n".repeat(number + 1));
        assert_eq!(editor.findings(&uri).len(), number + 1);
        kill_daemon(&place);
    }
    editor.close();
}

/// Notifications of branches begin again with the new daemon.
#[test]
fn branches_are_told_of_by_the_next_daemon() {
    let (place, mut editor, uri) = opened(Client::pulling());
    kill_daemon(&place);
    editor.findings_until(&uri, "it is served again", |it| codes(it) == [F401]);
    editor.settle();
    editor.seen.clear();
    ok(&place, &["branch", "fork", "try"]);
    let told = editor.next("broker/branchChanged");
    assert_eq!(told["branch"]["name"], "try");
    editor.close();
}

/// Processes below a process, and itself.
fn family(pid: u32) -> Vec<u32> {
    let output = Command::new("pgrep").args(["-P", &pid.to_string()]).output().unwrap();
    let children = String::from_utf8(output.stdout).unwrap();
    let children = children.lines().filter_map(|it| it.parse().ok()).flat_map(family);
    children.chain([pid]).collect()
}

#[test]
fn nothing_is_left_of_an_editor_that_is_killed() {
    let (place, mut editor, uri) = opened(Client::pulling());
    editor.set_text(&uri, "unsaved = 1\n");
    assert_eq!(found(&mut editor, &uri), [""; 0]);
    let daemon = Daemon::of(&place);
    daemon.until_text(&place, "a.py", "unsaved = 1\n");
    let pid = daemon_pid(&place).unwrap().parse().unwrap();
    let ours = family(editor.wire.child.id());
    // Closes the input, as happens if the editor is killed.
    editor.wire.close_input();
    until("all its processes have ended", || ours.iter().all(|it| *it == pid || !runs(*it)));
    assert!(runs(pid), "the daemon is not the editor's");
    daemon.until_text(&place, "a.py", UNUSED);
}

/// The front itself is killed, and the daemon is not told.
#[test]
fn buffers_go_with_the_front() {
    let (place, mut editor, uri) = opened(Client::pulling());
    editor.set_text(&uri, "unsaved = 1\n");
    assert_eq!(found(&mut editor, &uri), [""; 0]);
    let daemon = Daemon::of(&place);
    daemon.until_text(&place, "a.py", "unsaved = 1\n");
    editor.wire.child.kill().unwrap();
    daemon.until_text(&place, "a.py", UNUSED);
}

#[test]
fn buffers_go_with_the_session() {
    let (place, mut editor, uri) = opened(Client::pulling());
    editor.set_text(&uri, "unsaved = 1\n");
    assert_eq!(found(&mut editor, &uri), [""; 0]);
    editor.close();
    Daemon::of(&place).until_text(&place, "a.py", UNUSED);
}

#[test]
fn a_file_that_is_deleted_while_it_is_open_is_still_checked() {
    for client in [Client::pulling(), Client::pushed()] {
        let (place, mut editor, uri) = opened(client);
        assert_eq!(found(&mut editor, &uri), [F401]);
        fs::remove_file(place.root().join("a.py")).unwrap();
        editor.tell_changed(&[(&place.root().join("a.py"), 3)]);
        Daemon::of(&place).until_text(&place, "a.py", UNUSED);
        assert_eq!(found(&mut editor, &uri), [F401]);
        editor.set_text(&uri, "print(x)\n");
        assert_eq!(found(&mut editor, &uri), ["python/F821"]);
        editor.save(&uri);
        assert_eq!(place.read("a.py"), "print(x)\n");
        assert_eq!(found(&mut editor, &uri), ["python/F821"]);
        editor.close();
    }
}

#[test]
fn a_folder_that_goes_and_comes_is_no_end() {
    let place = place();
    let other = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(other.path()).unwrap().join("project");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("broker.toml"), "").unwrap();
    fs::write(root.join("b.py"), UNUSED).unwrap();
    let client = Client { folders: Some(vec![root.clone(), place.root()]), ..Client::pulling() };
    let mut editor = Editor::start(&place, client);
    let uri = editor.open_text(&uri(&root.join("b.py")), UNUSED);
    assert_eq!(found(&mut editor, &uri), [F401]);
    fs::remove_dir_all(&root).unwrap();
    editor.set_text(&uri, "import sys\n");
    // There may be findings, or it is told that there are none to be had; others are served.
    let _either_is_right = editor.try_pull(&uri, None);
    let a = editor.open(&place, "a.py");
    assert_eq!(found(&mut editor, &a), [F401]);
    fs::create_dir(&root).unwrap();
    fs::write(root.join("broker.toml"), "").unwrap();
    fs::write(root.join("b.py"), UNUSED).unwrap();
    editor.findings_until(&uri, "it is there again", |it| codes(it) == [F401]);
    editor.close();
}

/// The last one that typed counts, and the other one is told.
#[test]
fn two_editors_on_one_file() {
    for client in [Client::pulling(), Client::pushed()] {
        let (place, mut one, uri) = opened(client.clone());
        let mut two = Editor::start(&place, client);
        two.open(&place, "a.py");
        assert_eq!(
            (found(&mut one, &uri), found(&mut two, &uri)),
            (vec![F401.to_owned()], vec![F401.to_owned()])
        );
        let daemon = Daemon::of(&place);
        one.set_text(&uri, "one = 1\n");
        assert_eq!(found(&mut one, &uri), [""; 0]);
        daemon.until_text(&place, "a.py", "one = 1\n");
        two.set_text(&uri, "print(two)\n");
        assert_eq!(found(&mut two, &uri), ["python/F821"]);
        daemon.until_text(&place, "a.py", "print(two)\n");
        let is_told = |it: &mut Editor| {
            let messages =
                it.seen.iter().filter(|it| it.0 == "window/showMessage" || it.0 == "window/logMessage");
            let mut texts = messages.map(|it| it.1["message"].as_str().unwrap_or_default());
            texts.any(|it| it.contains("a.py")).then_some(())
        };
        one.wait("it is told that another editor has the file", is_told);
        one.set_text(&uri, "one = 2\n");
        assert_eq!(found(&mut one, &uri), [""; 0]);
        daemon.until_text(&place, "a.py", "one = 2\n");
        // After the first editor closes the document, the other one's text counts.
        one.close_document(&uri);
        one.settle();
        two.set_text(&uri, "print(two, three)\n");
        assert_eq!(found(&mut two, &uri), ["python/F821", "python/F821"]);
        daemon.until_text(&place, "a.py", "print(two, three)\n");
        one.close();
        two.close();
        daemon.until_text(&place, "a.py", UNUSED);
    }
}

#[test]
fn an_editor_that_reads_nothing_does_not_stop_another() {
    let (place, mut one, uri) = opened(Client::pushed());
    let mut command = place.command(&["lsp"]);
    let deaf = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut deaf = Ending(deaf);
    let mut input = deaf.0.stdin.take().unwrap();
    // Findings of some megabytes, more than a pipe holds.
    let (begin, long) = (one.introduction(), "print(x)\n".repeat(2_000));
    let opened = (0..30).map(|it| {
        let uri = file_uri(&place, &format!("f{it}.py"));
        let document = json!({ "uri": uri, "languageId": "python", "version": 1, "text": long });
        json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": document } })
    });
    let first = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin });
    let second = json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} });
    let messages: Vec<_> = [first, second].into_iter().chain(opened).map(|it| it.to_string()).collect();
    let writer = std::thread::spawn(move || {
        messages.iter().all(|it| write!(input, "Content-Length: {}\r\n\r\n{it}", it.len()).is_ok())
    });
    for number in 0..20 {
        one.set_text(&uri, &format!("print(x{number})\n"));
        assert_eq!(found(&mut one, &uri), ["python/F821"]);
    }
    one.close();
    deaf.0.kill().unwrap();
    let _all_or_some = writer.join().unwrap();
}

/// A daemon of another version is no reason to fail: it is told, or served in process.
#[test]
fn where_no_daemon_can_be_started_it_serves_in_process() {
    let place = place();
    // The runtime folder is a file, so that no socket can be made.
    fs::write(place.own("run"), "").unwrap();
    let mut editor = Editor::start(&place, Client::pulling());
    let uri = editor.open(&place, "a.py");
    assert_eq!(found(&mut editor, &uri), [F401]);
    editor.set_text(&uri, "print(x)\n");
    assert_eq!(found(&mut editor, &uri), ["python/F821"]);
    editor.close();
}
