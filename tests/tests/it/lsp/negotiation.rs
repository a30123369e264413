//! Negotiation of capabilities: encodings of positions, other capabilities, and clients that answer nothing.

use super::*;
use tests::editor::{Answers, Encoding, told};

/// A finding after characters of one to four bytes.
const WIDE: &str = "s = 'aé€𐐀'; import os\n";

fn session(encodings: &Value) -> (Place, Editor) {
    let place = place();
    let client = match encodings {
        Value::Null => Client::pulling().without("", "general"),
        _ => Client::pulling().with("/general/positionEncodings", encodings.clone()),
    };
    let editor = Editor::start(&place, client);
    (place, editor)
}

#[test]
fn the_first_encoding_that_is_known_is_taken() {
    for (offered, taken) in [
        (json!(["utf-8"]), "utf-8"),
        (json!(["utf-16"]), "utf-16"),
        (json!(["utf-32"]), "utf-32"),
        (json!(["utf-32", "utf-8", "utf-16"]), "utf-32"),
        (json!(["utf-16", "utf-8"]), "utf-16"),
        (json!(["utf-7", "utf-8"]), "utf-8"),
        (json!(["utf-7"]), "utf-16"),
        (json!([]), "utf-16"),
        (Value::Null, "utf-16"),
    ] {
        let (_place, editor) = session(&offered);
        assert_eq!(editor.encoding().name(), taken, "{offered}");
        editor.close();
    }
}

#[test]
fn findings_and_fixes_are_in_the_encoding() {
    for (encoding, at) in [(Encoding::Utf8, 25), (Encoding::Utf16, 20), (Encoding::Utf32, 19)] {
        let (place, mut editor) = session(&json!([encoding.name()]));
        let uri = editor.open_text(&file_uri(&place, "wide.py"), WIDE);
        let findings = editor.findings(&uri);
        let import = findings.iter().find(|it| it["code"] == "F401").unwrap();
        assert_eq!(import["range"]["start"]["character"], at, "{encoding:?}: {import}");
        let actions = editor.actions(&uri, "import os", &["quickfix"]);
        editor.choose(tests::editor::titled(&actions, "os"));
        assert!(editor.text(&uri).starts_with("s = 'aé€𐐀'"), "{encoding:?}: {:?}", editor.text(&uri));
        assert!(!found(&mut editor, &uri).contains(&F401.to_owned()));
        editor.close();
    }
}

/// `\r\n` and `\r` end lines, and a byte order mark is one character.
#[test]
fn lines_are_those_of_the_protocol() {
    for (text, line, character) in [
        ("x = 1\r\nimport os\r\n", 1, 7),
        ("x = 1\rimport os\r", 1, 7),
        ("# a\r\n\r\n\n# b\rimport os\n", 4, 7),
        ("\u{feff}import os\n", 0, 8),
        ("# \u{2028}\u{85}\u{c}\nimport os\n", 1, 7),
    ] {
        let (place, mut editor) = session(&json!(["utf-16"]));
        let uri = editor.open_text(&file_uri(&place, "lines.py"), text);
        let findings = editor.findings(&uri);
        let import = findings.iter().find(|it| it["code"] == "F401").unwrap_or_else(|| panic!("{text:?}"));
        let start = &import["range"]["start"];
        assert_eq!((&start["line"], &start["character"]), (&json!(line), &json!(character)), "{text:?}");
        editor.close();
    }
}

#[test]
fn a_client_that_can_nothing_is_served() {
    let place = place();
    let mut editor = Editor::start(&place, Client::plain());
    let uri = editor.open(&place, "a.py");
    let findings = editor.published_for(&uri, 1);
    assert_eq!(told(&findings), ["0:7-0:9 python/F401"]);
    // Only commands, since it knows no other actions.
    let range = editor.encoding().range_of(UNUSED, "os");
    for action in editor.actions_for(&uri, &range, &findings, &[]) {
        assert!(action["command"].is_string(), "{action}");
    }
    editor.close();
}

#[test]
fn what_a_client_cannot_show_is_left_out() {
    let mut client = Client::pulling();
    for name in ["codeDescriptionSupport", "relatedInformation", "dataSupport", "tagSupport"] {
        client = client.without("/textDocument/diagnostic", name);
        client = client.without("/textDocument/publishDiagnostics", name);
    }
    for name in ["dataSupport", "isPreferredSupport", "disabledSupport", "resolveSupport"] {
        client = client.without("/textDocument/codeAction", name);
    }
    let client = client.without("/workspace/workspaceEdit", "documentChanges");
    let (_place, mut editor, uri) = opened(client);
    let actions = editor.actions(&uri, "os", &["quickfix"]);
    editor.choose(tests::editor::titled(&actions, "os"));
    assert_eq!(editor.text(&uri), "");
    editor.close();
}

/// Like the test above, for a client that diagnostics are published to, which has capabilities of its own.
#[test]
fn what_a_client_of_published_findings_cannot_show_is_left_out() {
    let mut client = Client::pushed();
    for name in ["codeDescriptionSupport", "relatedInformation", "dataSupport", "tagSupport"] {
        client = client.without("/textDocument/publishDiagnostics", name);
    }
    let (_place, mut editor, uri) = opened(client);
    assert_eq!(found(&mut editor, &uri), [F401]);
    let actions = editor.actions(&uri, "os", &["quickfix"]);
    editor.choose(tests::editor::titled(&actions, "os"));
    assert_eq!(editor.text(&uri), "");
    editor.close();
}

#[test]
fn a_client_that_never_answers_is_served() {
    for answers in [Answers::Never, Answers::Errors] {
        for client in [Client::pulling(), Client::pushed()] {
            let (place, mut editor, uri) = opened(Client { answers, ..client });
            assert_eq!(found(&mut editor, &uri), [F401]);
            editor.replace(&uri, "import os", "x = 1");
            assert_eq!(found(&mut editor, &uri), [""; 0]);
            let branch = editor.command("broker.forkBranch", json!({ "name": "try" }));
            ok_with_input(&place, &["branch", "write", "try", "b.py"], UNUSED);
            let diff = editor.command("broker.diffBranch", json!({ "branch": branch["id"] }));
            assert_eq!(diff["changes"][0]["path"], "b.py");
            editor.close();
        }
    }
}

/// Changes of the command reach no buffer, which the answer must report.
#[test]
fn an_edit_that_a_client_refuses_is_told() {
    let client = Client { answers: Answers::Errors, ..Client::pulling() };
    let (_place, mut editor, uri) = opened(client);
    let refused = editor.refused_command("broker.disableRule", json!({ "rule": F401, "uri": uri }));
    assert_eq!(refused.code, -32803, "{refused:?}");
    assert!(!refused.message.is_empty());
    editor.close();
}

/// Settings come with `initialize`, by `workspace/configuration` or by a notification.
#[test]
fn settings_are_taken_from_wherever_they_come() {
    let lens = |editor: &mut Editor, uri: &str| {
        let lenses = editor.ask("textDocument/codeLens", document(uri));
        lenses.as_array().map_or(0, Vec::len)
    };
    let on = json!({ "codeLens": true });
    let (_place, mut editor, uri) = opened(Client::pulling().settings(on.clone()));
    assert!(lens(&mut editor, &uri) > 0, "with initialize");
    editor.command("broker.forkBranch", json!({ "name": "try" }));
    editor.next("workspace/codeLens/refresh");
    editor.change_settings(json!({ "codeLens": false }));
    editor.settle();
    assert_eq!(lens(&mut editor, &uri), 0, "turned off by a notification");
    editor.close();

    let client = Client { settings: on, ..Client::pulling() };
    let (_place, mut editor, uri) = opened(client);
    editor.next("workspace/configuration");
    editor.settle();
    assert!(lens(&mut editor, &uri) > 0, "when it is asked for");
    editor.close();
}
