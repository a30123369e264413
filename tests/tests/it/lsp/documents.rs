//! Documents of branches: `broker-branch://BRANCH_ID/path`.

use super::*;

/// A branch with an edit of `a.py`, and the URI of that document.
fn session(client: Client, text: &str) -> (Place, Editor, String) {
    let place = place();
    let mut editor = Editor::start(&place, client);
    let branch = editor.command("broker.forkBranch", json!({ "name": "try" }));
    ok_with_input(&place, &["branch", "write", "try", "a.py"], text);
    let uri = format!("broker-branch://{}/a.py", branch["id"].as_str().unwrap());
    (place, editor, uri)
}

fn content(editor: &mut Editor, uri: &str) -> String {
    let content = editor.ask("workspace/textDocumentContent", json!({ "uri": uri }));
    content["text"].as_str().unwrap().to_owned()
}

#[test]
fn the_text_of_a_branch_is_shown() {
    let (_place, mut editor, uri) = session(Client::pulling(), "é𐐀\r\nprint(x)\n");
    let schemes = editor.capability("/workspace/textDocumentContent/schemes");
    assert_eq!(schemes, &json!(["broker-branch"]));
    assert_eq!(content(&mut editor, &uri), "é𐐀\r\nprint(x)\n");
    let root = uri.strip_suffix("a.py").unwrap().to_owned();
    assert_eq!(content(&mut editor, &format!("{root}broker.toml")), "", "what it did not edit is the base's");
    for (wrong, why) in [
        (format!("{root}no-such.py"), "no such file"),
        (root.clone(), "a folder"),
        ("broker-branch://no-such-branch/a.py".to_owned(), "no such branch"),
        (format!("{root}../../etc/passwd"), "outside"),
        ("file:///etc/passwd".to_owned(), "another scheme"),
        ("broker-branch:".to_owned(), "nothing"),
    ] {
        let refused = editor.refusal("workspace/textDocumentContent", json!({ "uri": wrong }));
        assert!([-32602, -32803].contains(&refused.code), "{why}: {refused:?}");
    }
    editor.close();
}

#[test]
fn what_is_no_text_is_refused_or_shown_as_one() {
    let place = place();
    place.write("data.bin", [0xff, 0xfe, 0, 0x80]);
    let mut editor = Editor::start(&place, Client::pulling());
    let branch = editor.command("broker.forkBranch", json!({ "name": "try" }));
    let uri = format!("broker-branch://{}/data.bin", branch["id"].as_str().unwrap());
    let id = editor.request("workspace/textDocumentContent", json!({ "uri": uri }));
    let _either_is_right = editor.answer(id);
    editor.close();
}

#[test]
fn an_unsaved_text_is_what_a_branch_starts_from() {
    let (place, mut editor, uri) = opened(Client::pulling());
    editor.set_text(&uri, "unsaved = 1\n");
    let branch = editor.command("broker.forkBranch", json!({ "name": "try" }));
    let document = format!("broker-branch://{}/a.py", branch["id"].as_str().unwrap());
    assert_eq!(content(&mut editor, &document), "unsaved = 1\n");
    assert_eq!(place.read("a.py"), UNUSED);
    editor.close();
}

#[test]
fn findings_of_a_branch_are_shown_in_its_documents() {
    for client in [Client::pulling(), Client::pushed()] {
        let (place, mut editor, uri) = session(client, "print(x)\n");
        let base = editor.open(&place, "a.py");
        let text = content(&mut editor, &uri);
        editor.open_text(&uri, &text);
        assert_eq!(found(&mut editor, &uri), ["python/F821"]);
        assert_eq!(found(&mut editor, &base), [F401], "the base has its own");
        editor.close_document(&uri);
        editor.close();
    }
}

#[test]
fn a_branch_that_changes_is_shown_anew() {
    for client in [Client::pulling(), Client::pushed()] {
        let (place, mut editor, uri) = session(client, "print(x)\n");
        let text = content(&mut editor, &uri);
        editor.open_text(&uri, &text);
        assert_eq!(found(&mut editor, &uri), ["python/F821"]);
        ok_with_input(&place, &["branch", "write", "try", "a.py"], "import os\nimport sys\n");
        let refresh = editor.next("workspace/textDocumentContent/refresh");
        assert_eq!(refresh["uri"], *uri);
        // Request of an editor after a refresh.
        let text = content(&mut editor, &uri);
        assert_eq!(text, "import os\nimport sys\n");
        editor.set_text(&uri, &text);
        assert_eq!(found(&mut editor, &uri), [F401, F401]);
        editor.close();
    }
}

/// Findings are those of the branch, so that they lie in a text that the editor may not have yet.
#[test]
fn findings_lie_in_the_text_that_the_editor_has() {
    let (place, mut editor, uri) = session(Client::pulling(), "x = 1\n");
    let text = content(&mut editor, &uri);
    editor.open_text(&uri, &text);
    let long = "x = 1\n".repeat(50) + "print(y)\n";
    ok_with_input(&place, &["branch", "write", "try", "a.py"], &long);
    // The client fails on a place outside of the one line that it has.
    for _ in 0..3 {
        let _any = editor.try_pull(&uri, None);
    }
    editor.close();
}

/// A document of a branch is read-only: what is typed there is not the branch's.
#[test]
fn what_is_typed_into_it_is_not_the_branch() {
    let (place, mut editor, uri) = session(Client::pulling(), "print(x)\n");
    let text = content(&mut editor, &uri);
    editor.open_text(&uri, &text);
    editor.set_text(&uri, "typed\n");
    editor.settle();
    assert_eq!(ok(&place, &["branch", "read", "try", "a.py"]), "print(x)\n");
    assert_eq!(place.read("a.py"), UNUSED);
    editor.close();
}

#[test]
fn a_branch_that_goes_takes_its_findings_along() {
    for client in [Client::pulling(), Client::pushed()] {
        let (place, mut editor, uri) = session(client, "print(x)\n");
        let text = content(&mut editor, &uri);
        editor.open_text(&uri, &text);
        assert_eq!(found(&mut editor, &uri), ["python/F821"]);
        ok(&place, &["branch", "discard", "try"]);
        while editor.next("broker/branchChanged")["kind"] != "discarded" {}
        let refused = editor.refusal("workspace/textDocumentContent", json!({ "uri": uri }));
        assert!([-32602, -32803].contains(&refused.code), "{refused:?}");
        // That there is no answer any more is told, and is not an error of the session.
        if editor.client.can("/textDocument/diagnostic") {
            let _any = editor.try_pull(&uri, None);
        }
        editor.close();
    }
}

#[test]
fn no_edit_is_offered_in_a_document_of_a_branch() {
    let (_place, mut editor, uri) = session(Client::pulling(), UNUSED);
    let text = content(&mut editor, &uri);
    editor.open_text(&uri, &text);
    let range = editor.encoding().range_of(&text, "os");
    let findings = editor.findings(&uri);
    for action in editor.actions_for(&uri, &range, &findings, &[]) {
        let edits = action["edit"].to_string();
        assert!(!edits.contains("broker-branch:"), "it is read-only: {action}");
    }
    editor.close();
}

/// A client that has not asked for the branch's new text is told so, and gets an answer.
#[test]
fn a_document_that_is_not_as_the_branch_has_it_says_so() {
    let place = place();
    let mut editor = Editor::start(&place, Client::pulling());
    let branch = editor.command("broker.forkBranch", json!({ "name": "try" }));
    let uri = format!("broker-branch://{}/a.py", branch["id"].as_str().unwrap());
    editor.open_text(&uri, "import os");
    let found = editor.findings(&uri);
    assert_eq!(found[0]["code"], "incomplete", "{found:?}");
    assert!(found[0]["message"].as_str().unwrap().contains("reload it"), "{found:?}");
    editor.close();
}
