//! A commit that touches what is open in the editor: it arrives there as an edit, never behind the editor's back.

use super::*;
use tests::editor::Answers;

/// A session in which `a.py` is open with an unsaved text, and a branch that edits it.
fn session(client: Client, unsaved: &str, edited: &str) -> (Place, Editor, String) {
    let place = place();
    let mut editor = Editor::start(&place, client);
    let uri = editor.open(&place, "a.py");
    editor.set_text(&uri, unsaved);
    editor.command("broker.forkBranch", json!({ "name": "try" }));
    ok_with_input(&place, &["branch", "write", "try", "a.py"], edited);
    (place, editor, uri)
}

/// Returns the output of another commit with `--dry-run`.
fn commit_dry(place: &Place) -> String {
    ok(place, &["branch", "commit", "try", "--dry-run", "--output-format", "json"])
}

#[test]
fn it_reaches_an_unsaved_text_as_an_edit() {
    for client in [Client::pulling(), Client::pushed()] {
        let (place, mut editor, uri) = session(client, "import os\nprint(os)\n", "import os\nprint(os, x)\n");
        let done = editor.command("broker.commitBranch", json!({ "branch": "try" }));
        assert_eq!(
            (&done["left"], &done["unsaved"], &done["changes"]),
            (&json!(["a.py"]), &json!([]), &json!([])),
            "{done}"
        );
        let edit = editor.next("workspace/applyEdit");
        assert_eq!(edit["label"], "Commit of branch try", "{edit}");
        assert_eq!(editor.text(&uri), "import os\nprint(os, x)\n");
        assert_eq!(found(&mut editor, &uri), ["python/F821"]);
        // The disk is the person's to write, and until then the branch keeps the change.
        assert_eq!(place.read("a.py"), UNUSED);
        Daemon::of(&place).until_text(&place, "a.py", "import os\nprint(os, x)\n");
        assert!(commit_dry(&place).contains("a.py"));
        editor.save(&uri);
        assert_eq!(place.read("a.py"), "import os\nprint(os, x)\n");
        until("the branch lets go of it", || !commit_dry(&place).contains("a.py"));
        editor.close();
    }
}

/// From a shell, or by an agent: the editor did not ask for it.
#[test]
fn a_commit_of_another_client_reaches_it_too() {
    let (place, mut editor, uri) = session(Client::pulling(), "x = 1\n", "x = 2\n");
    ok(&place, &["branch", "commit", "try"]);
    editor.next("workspace/applyEdit");
    editor.wait("the text", |it| (it.text(&uri) == "x = 2\n").then_some(()));
    assert_eq!(place.read("a.py"), UNUSED);
    editor.close();
}

/// Text that an editor has not saved when it ends is still in the branch, which can be committed again.
#[test]
fn a_commit_is_not_lost_with_the_editor() {
    let (place, mut editor, uri) = session(Client::pulling(), "x = 1\n", "x = 2\n");
    ok(&place, &["branch", "commit", "try"]);
    editor.wait("the text", |it| (it.text(&uri) == "x = 2\n").then_some(()));
    kill(&editor.wire.child.id().to_string());
    drop(editor);
    Daemon::of(&place).until_text(&place, "a.py", UNUSED);
    ok(&place, &["branch", "commit", "try"]);
    assert_eq!(place.read("a.py"), "x = 2\n");
}

/// Only lines that the branch changed are edited, so that cursors and marks stay where they are.
#[test]
fn the_edit_is_as_small_as_the_change() {
    let text: String = (0..500).map(|it| format!("x{it} = {it}\n")).collect();
    let (_place, mut editor, uri) =
        session(Client::pulling(), &text, &text.replace("x250 = 250", "x250 = 'é𐐀'"));
    editor.command("broker.commitBranch", json!({ "branch": "try" }));
    let edit = editor.next("workspace/applyEdit").to_string();
    assert!(edit.len() < 2_000, "{} bytes", edit.len());
    assert!(editor.text(&uri).contains("x250 = 'é𐐀'\nx251 = 251\n"));
    assert_eq!(editor.text(&uri).lines().count(), 500);
    editor.close();
}

#[test]
fn other_files_are_written_to_the_disk() {
    let (place, mut editor, uri) = session(Client::pulling(), "x = 1\n", "x = 2\n");
    ok_with_input(&place, &["branch", "write", "try", "b.py"], "y = 1\n");
    editor.command("broker.commitBranch", json!({ "branch": "try" }));
    editor.wait("the text", |it| (it.text(&uri) == "x = 2\n").then_some(()));
    assert_eq!((place.read("a.py").as_str(), place.read("b.py").as_str()), (UNUSED, "y = 1\n"));
    editor.close();
}

/// An editor reads that again by itself, as it does when any program writes it.
#[test]
fn a_text_that_is_saved_is_written_to_the_disk() {
    let (place, mut editor, uri) = opened(Client::pulling());
    editor.command("broker.forkBranch", json!({ "name": "try" }));
    ok_with_input(&place, &["branch", "write", "try", "a.py"], "x = 2\n");
    editor.command("broker.commitBranch", json!({ "branch": "try" }));
    let is_there = |it: &mut Editor| {
        let is_written = place.read("a.py") == "x = 2\n";
        (is_written || it.text(&uri) == "x = 2\n").then_some(())
    };
    editor.settle();
    editor.wait("the commit", is_there);
    editor.close();
}

/// Text typed since the branch was made is not overwritten: the person is told.
#[test]
fn what_was_typed_meanwhile_stays() {
    let (place, mut editor, uri) = session(Client::pulling(), "x = 1\n", "x = 2\n");
    editor.set_text(&uri, "x = 3\n");
    assert_eq!(found(&mut editor, &uri), [""; 0]);
    editor.command("broker.commitBranch", json!({ "branch": "try" }));
    let message = editor.next("window/showMessage")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("a.py") && message.contains("same lines"), "{message}");
    assert_eq!((editor.text(&uri), place.read("a.py").as_str()), ("x = 3\n", UNUSED));
    assert!(ok(&place, &["branch", "diff", "try"]).contains("+x = 2"), "the branch keeps it");
    editor.close();
}

/// Elsewhere in the file it is no conflict.
#[test]
fn what_was_typed_elsewhere_is_merged() {
    let lines = |first: &str, last: &str| format!("{first}\n{}{last}\n", "\n".repeat(8));
    let (place, mut editor, uri) =
        session(Client::pulling(), &lines("x = 1", "y = 1"), &lines("x = 2", "y = 1"));
    editor.set_text(&uri, &lines("x = 1", "y = 3"));
    assert_eq!(found(&mut editor, &uri), [""; 0]);
    editor.command("broker.commitBranch", json!({ "branch": "try" }));
    editor.wait("the text", |it| (it.text(&uri) == lines("x = 2", "y = 3")).then_some(()));
    assert!(ok(&place, &["branch", "diff", "try"]).contains("+y = 1"), "it has not what was typed");
    editor.save(&uri);
    until("it lets go of what is saved", || ok(&place, &["branch", "diff", "try"]).is_empty());
    editor.close();
}

#[test]
fn a_commit_of_a_new_file_that_is_open_unsaved_reaches_it() {
    let place = place();
    let mut editor = Editor::start(&place, Client::pulling());
    let uri = editor.open_text(&file_uri(&place, "new.py"), "x = 1\n");
    editor.command("broker.forkBranch", json!({ "name": "try" }));
    ok_with_input(&place, &["branch", "write", "try", "new.py"], "x = 2\n");
    editor.command("broker.commitBranch", json!({ "branch": "try" }));
    editor.wait("the text", |it| (it.text(&uri) == "x = 2\n").then_some(()));
    assert!(!place.root().join("new.py").exists());
    editor.save(&uri);
    until("the branch lets go of it", || !commit_dry(&place).contains("new.py"));
    editor.close();
}

/// The commit is done all the same, or refused, and nothing is lost; a message says so.
#[test]
fn an_editor_that_does_not_take_the_edit_loses_nothing() {
    for answers in [Answers::Errors, Answers::Never] {
        let (place, mut editor, uri) = session(Client::pulling(), "x = 1\n", "x = 2\n");
        editor.client.answers = answers;
        let argument = json!({ "command": "broker.commitBranch", "arguments": [{ "branch": "try" }] });
        let id = editor.request("workspace/executeCommand", argument);
        editor.next("workspace/applyEdit");
        editor.settle();
        assert_eq!((editor.text(&uri), place.read("a.py").as_str()), ("x = 1\n", UNUSED));
        assert!(ok(&place, &["branch", "diff", "try"]).contains("+x = 2"), "the branch keeps it");
        if answers == Answers::Errors {
            let answer = editor.answer(id);
            let is_told = |it: &Value| it["left"] == json!(["a.py"]);
            assert!(answer.as_ref().map_or(true, is_told), "{answer:?}");
        }
        assert_eq!(found(&mut editor, &uri), [""; 0], "and it goes on");
        drop(editor);
    }
}

#[test]
fn it_reaches_an_editor_without_versioned_edits() {
    let client = Client::pulling().without("/workspace/workspaceEdit", "documentChanges");
    let (_place, mut editor, uri) = session(client, "x = 1\n", "x = 2\n");
    editor.command("broker.commitBranch", json!({ "branch": "try" }));
    editor.wait("the text", |it| (it.text(&uri) == "x = 2\n").then_some(()));
    editor.close();
}

/// An editor that cannot take edits is told by a message what it has to do.
#[test]
fn an_editor_that_knows_no_edits_is_told() {
    let client = Client::pulling().without("/workspace", "applyEdit");
    let (place, mut editor, uri) = session(client, "x = 1\n", "x = 2\n");
    let argument = json!({ "command": "broker.commitBranch", "arguments": [{ "branch": "try" }] });
    let id = editor.request("workspace/executeCommand", argument);
    let answer = editor.answer(id);
    let is_told = answer
        .as_ref()
        .map_or(true, |it| it["unsaved"] == json!(["a.py"]) || !it["notes"].as_array().unwrap().is_empty());
    assert!(is_told, "{answer:?}");
    assert_eq!(
        (editor.text(&uri), place.read("a.py").as_str()),
        ("x = 1\n", "x = 2\n"),
        "the editor's text is not written over"
    );
    editor.close();
}

/// Text typed before the branch was made from another text, or after an earlier commit, is in no text of the branch: a commit
/// adds to it and takes nothing away.
#[test]
fn what_the_branch_never_saw_stays() {
    let lines = |first: &str, more: &str| format!("{first}\n{}y = 1\n{more}", "\n".repeat(8));
    let place = Place::new(&[("broker.toml", ""), RUFF, ("a.py", &lines("x = 1", ""))]);
    ok(&place, &["branch", "fork", "try"]);
    ok_with_input(&place, &["branch", "write", "try", "a.py"], &lines("x = 10", ""));
    let mut editor = Editor::start(&place, Client::pulling());
    let uri = editor.open(&place, "a.py");
    editor.set_text(&uri, &lines("x = 1", "typed = 3\n"));
    assert_eq!(found(&mut editor, &uri), [""; 0]);
    ok_with_input(&place, &["branch", "write", "try", "a.py"], &lines("x = 11", ""));
    ok(&place, &["branch", "commit", "try"]);
    let is_there = |text: String| move |it: &mut Editor| (it.text(&file_uri_of(it)) == text).then_some(());
    editor.wait("the first commit", is_there(lines("x = 11", "typed = 3\n")));

    editor.set_text(&uri, &lines("x = 11", "typed = 4\n"));
    assert_eq!(found(&mut editor, &uri), [""; 0]);
    ok_with_input(&place, &["branch", "write", "try", "a.py"], &lines("x = 12", ""));
    ok(&place, &["branch", "commit", "try"]);
    editor.wait("the second", is_there(lines("x = 12", "typed = 4\n")));
    // Once more, with nothing new.
    ok(&place, &["branch", "commit", "try"]);
    editor.settle();
    editor.save(&uri);
    assert_eq!(place.read("a.py"), lines("x = 12", "typed = 4\n"));
    until("the branch lets go of it", || ok(&place, &["branch", "diff", "try"]).is_empty());
    editor.close();
}

/// The only document that is open.
fn file_uri_of(editor: &Editor) -> String {
    editor.documents.keys().next().unwrap().clone()
}

#[test]
fn a_commit_that_was_refused_can_be_made_again() {
    let (place, mut editor, uri) = session(Client::pulling(), "x = 1\n", "x = 2\n");
    editor.client.answers = Answers::Errors;
    ok(&place, &["branch", "commit", "try"]);
    editor.next("workspace/applyEdit");
    editor.settle();
    assert_eq!(editor.text(&uri), "x = 1\n");
    editor.client.answers = Answers::Right;
    ok(&place, &["branch", "commit", "try"]);
    editor.wait("the text", |it| (it.text(&uri) == "x = 2\n").then_some(()));
    editor.close();
}

#[test]
fn it_reaches_a_document_that_is_open_by_a_link() {
    let place = place();
    std::os::unix::fs::symlink("a.py", place.root().join("link.py")).unwrap();
    let mut editor = Editor::start(&place, Client::pulling());
    let uri = editor.open(&place, "link.py");
    assert_eq!(found(&mut editor, &uri), [F401], "its own findings");
    editor.set_text(&uri, "x = 1\n");
    assert_eq!(found(&mut editor, &uri), [""; 0]);
    editor.command("broker.forkBranch", json!({ "name": "try" }));
    ok_with_input(&place, &["branch", "write", "try", "a.py"], "x = 2\n");
    ok(&place, &["branch", "commit", "try"]);
    editor.wait("the text", |it| (it.text(&uri) == "x = 2\n").then_some(()));
    assert_eq!(place.read("a.py"), UNUSED);
    editor.close();
}
