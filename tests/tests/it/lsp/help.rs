//! Hover and completion in suppression comments and in the configuration.

use super::*;

const COMMENTED: &str = "import os  # noqa: F401\nimport sys  # broker: ignore[python/F401]\n";

fn session(path: &str, text: &str) -> (Place, Editor, String) {
    let place = place();
    let mut editor = Editor::start(&place, Client::pulling());
    let uri = editor.open_text(&file_uri(&place, path), text);
    (place, editor, uri)
}

/// Returns the hover of a part of the text.
fn hover(editor: &mut Editor, uri: &str, part: &str) -> Value {
    let params = editor.at(uri, part);
    editor.ask("textDocument/hover", params)
}

/// Labels of what may be typed behind a part of the text.
fn completions(editor: &mut Editor, uri: &str, part: &str) -> Vec<Value> {
    let range = editor.encoding().range_of(editor.text(uri), part);
    let params =
        json!({ "textDocument": { "uri": uri }, "position": range.end, "context": { "triggerKind": 1 } });
    let result = editor.ask("textDocument/completion", params);
    result.get("items").unwrap_or(&result).as_array().cloned().unwrap_or_default()
}

fn labelled<'a>(items: &'a [Value], label: &str) -> &'a Value {
    let labels: Vec<_> = items.iter().map(|it| it["label"].as_str().unwrap()).collect();
    items.iter().find(|it| it["label"] == label).unwrap_or_else(|| panic!("no {label} in {labels:?}"))
}

/// Types what a completion stands for.
fn accept(editor: &mut Editor, uri: &str, part: &str, item: &Value) {
    let end = editor.encoding().range_of(editor.text(uri), part).end;
    let (range, new) = match item.get("textEdit") {
        Some(edit) => (serde_json::from_value(edit["range"].clone()).unwrap(), edit["newText"].clone()),
        None => {
            // The word before the cursor is replaced.
            let text = editor.text(uri);
            let offset = editor.encoding().offset(text, end);
            let word =
                text[..offset].rfind(|it: char| !it.is_alphanumeric() && it != '-').map_or(0, |it| it + 1);
            let new = item.get("insertText").unwrap_or(&item["label"]).clone();
            (editor.encoding().range(text, word..offset), new)
        }
    };
    editor.change(uri, &[tests::editor::edit(range, new.as_str().unwrap())]);
}

#[test]
fn a_rule_in_a_comment_is_explained() {
    let (_place, mut editor, uri) = session("b.py", COMMENTED);
    for part in ["python/F401", "F401]", "F401\n"] {
        let shown = hover(&mut editor, &uri, part);
        assert_eq!(shown["contents"]["kind"], "markdown", "{shown}");
        let text = shown["contents"]["value"].as_str().unwrap();
        assert!(text.contains("F401") && text.to_lowercase().contains("unused"), "{text}");
        // The client checks that it lies in the text.
        assert!(shown["range"].is_object(), "{shown}");
    }
    for part in ["import os", "noqa"] {
        assert_eq!(hover(&mut editor, &uri, part), Value::Null, "{part}");
    }
    editor.close();
}

#[test]
fn a_client_without_markdown_gets_plain_text() {
    let place = place();
    let client = Client::pulling().with("/textDocument/hover/contentFormat", json!(["plaintext"]));
    let mut editor = Editor::start(&place, client);
    let uri = editor.open_text(&file_uri(&place, "b.py"), COMMENTED);
    let shown = hover(&mut editor, &uri, "python/F401");
    assert_eq!(shown["contents"]["kind"], "plaintext", "{shown}");
    editor.close();
}

#[test]
fn a_rule_in_the_configuration_is_explained() {
    let text = "ignore = ['python/F401', 'E501', 'no/such']\n\n[severity]\n'F841' = 'hint'\n";
    let (_place, mut editor, uri) = session("broker.toml", text);
    for part in ["python/F401", "E501", "F841"] {
        let shown = hover(&mut editor, &uri, part);
        let text = shown["contents"]["value"].as_str().unwrap_or_default();
        assert!(text.contains(part.trim_start_matches("python/")), "{part}: {shown}");
    }
    assert_eq!(hover(&mut editor, &uri, "no/such"), Value::Null);
    editor.close();
}

#[test]
fn rules_are_completed_in_comments() {
    for (text, part) in [
        ("import os  # broker: ignore[\n", "ignore["),
        ("import os  # broker: ignore[python/F\n", "python/F"),
        ("import os  # broker: ignore[E501, \n", "E501, "),
        ("import os  # broker: ignore-next-line[\n", "line["),
    ] {
        let (_place, mut editor, uri) = session("b.py", text);
        let items = completions(&mut editor, &uri, part);
        let item = labelled(&items, F401).clone();
        accept(&mut editor, &uri, part, &item);
        let typed = editor.text(&uri).to_owned();
        assert!(typed.contains("[python/F401") || typed.contains(", python/F401"), "{text:?}: {typed:?}");
        assert!(!typed.contains("python/python"), "{typed:?}");
        editor.close();
    }
}

#[test]
fn nothing_is_completed_elsewhere() {
    let (_place, mut editor, uri) = session("b.py", "import os\n# a comment of its own\n");
    assert_eq!(completions(&mut editor, &uri, "import os"), [Value::Null; 0]);
    assert_eq!(completions(&mut editor, &uri, "a comment"), [Value::Null; 0]);
    editor.close();
}

#[test]
fn keys_and_rules_are_completed_in_the_configuration() {
    let (_place, mut editor, uri) = session("broker.toml", "# first\n");
    let items = completions(&mut editor, &uri, "# first\n");
    for key in ["ignore", "select", "severity", "extends"] {
        labelled(&items, key);
    }
    for (text, part, label) in [
        ("ig\n", "ig", "ignore"),
        ("ignore = [\"\"]\n", "[\"", F401),
        ("ignore = [\"E501\", \"F4\"]\n", "F4", F401),
        ("[severity]\nF401 = \"\"\n", " = \"", "hint"),
    ] {
        let (_place, mut editor, uri) = session("broker.toml", text);
        let items = completions(&mut editor, &uri, part);
        let item = labelled(&items, label).clone();
        accept(&mut editor, &uri, part, &item);
        let typed = editor.text(&uri).to_owned();
        assert!(typed.contains(label), "{text:?}: {typed:?}");
        if text.contains('=') {
            assert_eq!(found(&mut editor, &uri), [""; 0], "{typed:?}");
        }
        editor.close();
    }
    editor.close();
}

#[test]
fn a_rule_is_explained_by_a_command() {
    let (_place, mut editor, _) = session("b.py", "");
    let told = editor.command("broker.explainRule", json!({ "rule": F401 }));
    assert_eq!(told["rule"], F401);
    assert!(told["markdown"].as_str().unwrap().contains("F401"), "{told}");
    assert!(told["url"].as_str().is_some_and(|it| it.starts_with("https://")), "{told}");
    let refused = editor.refused_command("broker.explainRule", json!({ "rule": "python/F4O1" }));
    assert_eq!(refused.code, -32803, "{refused:?}");
    assert!(refused.message.contains("F4O1"), "{refused:?}");
    editor.close();
}
