//! Folders of the workspace that come and go, and files that other programs change.

use super::*;

fn two() -> (Place, Place) {
    let one = place();
    let other =
        Place::new(&[("broker.toml", "ignore = ['F401', 'I001']\n"), ("b.py", "import os\nprint(x)\n")]);
    (one, other)
}

#[test]
fn each_folder_has_its_own_configuration() {
    let (one, other) = two();
    let client = Client { folders: Some(vec![one.root(), other.root()]), ..Client::pulling() };
    let mut editor = Editor::start(&one, client);
    let (a, b) = (editor.open(&one, "a.py"), editor.open(&other, "b.py"));
    assert_eq!(found(&mut editor, &a), [F401]);
    assert_eq!(found(&mut editor, &b), ["python/F821"]);
    let report = editor.ask("workspace/diagnostic", json!({ "previousResultIds": [] }));
    let uris: Vec<_> =
        report["items"].as_array().unwrap().iter().map(|it| it["uri"].as_str().unwrap()).collect();
    assert!(uris.contains(&a.as_str()) && uris.contains(&b.as_str()), "{uris:?}");
    editor.close();
}

#[test]
fn folders_come_and_go() {
    let (one, other) = two();
    let mut editor = Editor::start(&one, Client::pulling());
    let (a, b) = (file_uri(&one, "a.py"), file_uri(&other, "b.py"));
    let listed = |editor: &mut Editor| {
        let report = editor.ask("workspace/diagnostic", json!({ "previousResultIds": [] }));
        let items = report["items"].as_array().unwrap().clone();
        let has = |uri: &str| items.iter().any(|it| it["uri"] == uri);
        (has(&a), has(&b))
    };
    assert_eq!(editor.capability("/workspace/workspaceFolders/supported"), true);
    assert_eq!(listed(&mut editor), (true, false));
    editor.change_folders(&[other.root()], &[]);
    assert_eq!(listed(&mut editor), (true, true));
    editor.change_folders(&[], &[one.root()]);
    assert_eq!(listed(&mut editor), (false, true));
    editor.change_folders(&[one.root()], &[other.root()]);
    assert_eq!(listed(&mut editor), (true, false));
    editor.close();
}

/// Branches belong to the folder they were made in, and its documents stay open.
#[test]
fn branches_are_of_their_folders() {
    let (one, other) = two();
    let mut editor = Editor::start(&one, Client::pulling());
    editor.change_folders(&[other.root()], &[]);
    let folder = |it: &Place| uri(&it.root());
    editor.command("broker.forkBranch", json!({ "name": "first" }));
    editor.command("broker.forkBranch", json!({ "name": "try", "workspace": folder(&other) }));
    let names = |editor: &mut Editor, argument: Value| {
        let all = editor.command("broker.listBranches", argument);
        let names = all.as_array().unwrap().iter().map(|it| {
            (it["name"].as_str().unwrap().to_owned(), it["workspace"].as_str().unwrap().to_owned())
        });
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    };
    let (first, second) = (("first".to_owned(), folder(&one)), ("try".to_owned(), folder(&other)));
    assert_eq!(names(&mut editor, json!({})), [first.clone(), second.clone()]);
    assert_eq!(names(&mut editor, json!({ "workspace": folder(&other) })), [second]);
    editor.change_folders(&[], &[other.root()]);
    editor.settle();
    assert_eq!(names(&mut editor, json!({})), [first]);
    editor.close();
}

#[test]
fn the_watch_is_registered_where_the_client_can() {
    let place = place();
    let mut editor = Editor::start(&place, Client::pulling());
    let options = editor.registration("workspace/didChangeWatchedFiles");
    assert!(!options["watchers"].as_array().unwrap().is_empty(), "{options}");
    editor.close();
    let client = Client::pulling().without("/workspace", "didChangeWatchedFiles");
    let mut editor = Editor::start(&place, client);
    editor.settle();
    editor.close();
}

/// Another program writes a file that no editor has open, on which findings of another one depend.
#[test]
fn files_that_change_on_the_disk_are_seen() {
    let (place, mut editor, uri) = opened(Client::pulling());
    assert_eq!(found(&mut editor, &uri), [F401]);
    editor.registration("workspace/didChangeWatchedFiles");
    place.write("ruff.toml", "lint.ignore = ['F401', 'I001']\n");
    editor.tell_changed(&[(&place.root().join("ruff.toml"), 1)]);
    editor.findings_until(&uri, "it is ignored", <[Value]>::is_empty);
    std::fs::remove_file(place.root().join("ruff.toml")).unwrap();
    editor.tell_changed(&[(&place.root().join("ruff.toml"), 3)]);
    editor.findings_until(&uri, "it is found again", |it| codes(it) == [F401]);
    editor.close();
}

/// A client that watches nothing: the daemon does.
#[test]
fn files_that_change_are_seen_without_the_clients_help() {
    for client in [Client::pulling(), Client::pushed()] {
        let client = client.without("/workspace", "didChangeWatchedFiles");
        let (place, mut editor, uri) = opened(client);
        assert_eq!(found(&mut editor, &uri), [F401]);
        place.write("broker.toml", "ignore = ['F401', 'I001']\n");
        editor.findings_until(&uri, "it is ignored", <[Value]>::is_empty);
        editor.close();
    }
}

/// Changes on the disk do not count while the editor has another text.
#[test]
fn a_file_that_changes_while_it_is_open_stays_the_editors() {
    let (place, mut editor, uri) = opened(Client::pulling());
    editor.set_text(&uri, "x = 1\n");
    place.write("a.py", "import os\nimport sys\n");
    editor.tell_changed(&[(&place.root().join("a.py"), 2)]);
    assert_eq!(found(&mut editor, &uri), [""; 0]);
    Daemon::of(&place).until_text(&place, "a.py", "x = 1\n");
    editor.close_document(&uri);
    let report = editor.pull(&uri, None);
    assert_eq!(codes(report["items"].as_array().unwrap()), [F401, F401]);
    editor.close();
}

#[test]
fn what_is_asked_about_a_folder_that_cannot_be_served_is_refused() {
    let (place, other) = (place(), Place::new(&[]));
    let (folder, file) = (other.root(), file_uri(&other, "a.py"));
    let client = Client { folders: Some(vec![folder.clone()]), ..Client::pulling() };
    let mut editor = Editor::start(&place, client);
    let list = |editor: &mut Editor| {
        let id = editor.request("workspace/executeCommand", json!({ "command": "broker.listBranches" }));
        editor.answer(id)
    };
    assert_eq!(list(&mut editor).unwrap(), json!([]));
    std::fs::remove_dir(&folder).unwrap();
    ok(&place, &["daemon", "stop"]);
    until("it is refused", || list(&mut editor).is_err_and(|it| it.message.contains(" is not served: ")));
    // Documents say so, whatever is typed.
    let uri = editor.open_text(&file, "import os\n");
    for text in ["import sys\n", "import re\n"] {
        assert_eq!(codes(&editor.findings(&uri)), ["broker/incomplete"]);
        editor.set_text(&uri, text);
    }
    editor.close_document(&uri);
    std::fs::create_dir(&folder).unwrap();
    until("it is served again", || list(&mut editor).is_ok());
    editor.close();
}
