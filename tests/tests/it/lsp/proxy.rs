//! `--servers`: the project's language servers through one, as `BROKER_TEST_TY` names ty.

use super::*;
use std::path::PathBuf;

const LIBRARY: &str = "def double(x: int) -> int:\n    \"\"\"Twice as much.\"\"\"\n    return x + x\n";
const MAIN: &str = "from library import double\n\nvalue = double(21)\nprint(value)\n";
const WRONG: &str = "ty/invalid-argument-type";

/// Returns the PATH for programs, so that ty is among them.
pub(super) fn path_with_ty() -> Option<String> {
    let Some(ty) = std::env::var_os("BROKER_TEST_TY").map(PathBuf::from) else {
        println!("skipped: BROKER_TEST_TY is not set");
        return None;
    };
    Some(format!("{}:/usr/bin:/bin", ty.parent().unwrap().display()))
}

/// A trusted project, with a session that proxies; `None` without ty.
fn session(files: &[(&str, &str)]) -> Option<(Place, Editor)> {
    let path = path_with_ty()?;
    let place = Place::new(&[("broker.toml", "[servers]\nuse = ['ty']\n"), ("ty.toml", "")]);
    files.iter().for_each(|(path, text)| place.write(path, text));
    ok(&place, &["trust"]);
    let client = Client { path: Some(path), ..Client::pulling().arguments(&["--servers"]) };
    let editor = Editor::start(&place, client);
    Some((place, editor))
}

fn project() -> Option<(Place, Editor, String)> {
    let (place, mut editor) = session(&[("library.py", LIBRARY), ("main.py", MAIN)])?;
    let uri = editor.open(&place, "main.py");
    Some((place, editor, uri))
}

/// A request about a part of the document, which has to be answered once the server has read the project.
fn ask_at(editor: &mut Editor, uri: &str, part: &str, method: &str) -> Value {
    let params = editor.at(uri, part);
    editor.ask(method, params)
}

/// Places of a result: the file's name and the line.
fn places(result: &Value) -> Vec<(String, u64)> {
    let all = result.as_array().cloned().unwrap_or_else(|| vec![result.clone()]);
    let place = |it: &Value| {
        let uri = it.get("uri").or(it.get("targetUri"))?.as_str()?.rsplit('/').next()?.to_owned();
        let range = it.get("targetSelectionRange").or(it.get("range"))?;
        Some((uri, range["start"]["line"].as_u64()?))
    };
    let mut all: Vec<_> = all.iter().filter_map(place).collect();
    all.sort();
    all
}

#[test]
fn capabilities_are_told_when_they_are_there() {
    let Some((_place, editor)) = session(&[]) else { return };
    for name in [
        "definitionProvider",
        "referencesProvider",
        "hoverProvider",
        "renameProvider",
        "documentSymbolProvider",
    ] {
        let told = editor.capability(&format!("/{name}"));
        assert!(!told.is_null() && told != false, "{name}");
    }
    editor.close();
}

#[test]
fn definitions_and_references_are_found() {
    let Some((_place, mut editor, uri)) = project() else { return };
    let defined = ask_at(&mut editor, &uri, "double(21)", "textDocument/definition");
    assert_eq!(places(&defined), [("library.py".to_owned(), 0)]);
    let mut params = editor.at(&uri, "double(21)");
    params["context"] = json!({ "includeDeclaration": false });
    let referring = editor.ask("textDocument/references", params);
    assert!(places(&referring).contains(&("main.py".to_owned(), 2)), "{referring}");
    let highlighted = ask_at(&mut editor, &uri, "value =", "textDocument/documentHighlight");
    assert_eq!(highlighted.as_array().unwrap().len(), 2, "{highlighted}");
    editor.close();
}

#[test]
fn hover_is_that_of_the_server_and_of_rules() {
    let Some((_place, mut editor, uri)) = project() else { return };
    let shown = ask_at(&mut editor, &uri, "double(21)", "textDocument/hover");
    assert!(shown["contents"].to_string().contains("Twice as much"), "{shown}");
    editor.set_text(&uri, "import os  # broker: ignore[python/F401]\n");
    let shown = ask_at(&mut editor, &uri, "python/F401", "textDocument/hover");
    assert!(shown["contents"].to_string().contains("F401"), "{shown}");
    editor.close();
}

#[test]
fn a_rename_edits_what_is_open_and_what_is_not() {
    let Some((place, mut editor, uri)) = project() else { return };
    let prepared = ask_at(&mut editor, &uri, "double(21)", "textDocument/prepareRename");
    assert!(!prepared.is_null());
    let mut params = editor.at(&uri, "double(21)");
    params["newName"] = "twice".into();
    let edit = editor.ask("textDocument/rename", params);
    editor.apply(&edit).unwrap();
    assert_eq!(editor.text(&uri), MAIN.replace("double", "twice"));
    assert_eq!(place.read("library.py"), LIBRARY.replace("double", "twice"));
    editor.close();
}

/// Positions are translated from the server's encoding to the client's.
#[test]
fn positions_are_those_of_the_client() {
    let text = "def f(x: int) -> int: return x\ns = '𐐀€é'; y = f('a')\n";
    let Some((place, mut editor)) = session(&[("main.py", text)]) else { return };
    let uri = editor.open(&place, "main.py");
    let findings = editor.findings_until(&uri, "it is found", |it| codes(it).contains(&WRONG.to_owned()));
    let wrong = findings.iter().find(|it| it["source"] == "ty").unwrap();
    assert_eq!(wrong["range"], json!(editor.encoding().range_of(text, "'a'")), "{wrong}");
    let defined = ask_at(&mut editor, &uri, "f('a')", "textDocument/definition");
    assert_eq!(places(&defined), [("main.py".to_owned(), 0)]);
    editor.close();
}

#[test]
fn what_is_typed_is_what_the_server_sees() {
    let Some((_place, mut editor, uri)) = project() else { return };
    editor.set_text(&uri, "from library import double\n\ndouble('x')\n");
    let findings = editor.findings_until(&uri, "it is found", |it| codes(it).contains(&WRONG.to_owned()));
    assert!(findings.iter().any(|it| it["source"] == "ty"));
    editor.set_text(&uri, MAIN);
    editor.findings_until(&uri, "it is mended", |it| !codes(it).contains(&WRONG.to_owned()));
    editor.close();
}

/// A finding in one document because of an edit of another.
#[test]
fn documents_that_depend_on_an_edit_are_reported_with_it() {
    let Some((place, mut editor, uri)) = project() else { return };
    assert!(!found(&mut editor, &uri).contains(&WRONG.to_owned()));
    let library = editor.open(&place, "library.py");
    editor.replace(&library, "x: int", "x: str");
    let findings = editor.findings_until(&uri, "it is found", |it| codes(it).contains(&WRONG.to_owned()));
    assert!(!findings.is_empty());
    editor.close();
}

#[test]
fn symbols_and_completions_are_those_of_the_server() {
    let Some((_place, mut editor, uri)) = project() else { return };
    let symbols = editor.ask("textDocument/documentSymbol", document(&uri));
    assert!(symbols.to_string().contains("value"), "{symbols}");
    let all = editor.ask("workspace/symbol", json!({ "query": "double" }));
    assert!(all.to_string().contains("library.py"), "{all}");
    editor.set_text(&uri, "from library import double\n\ndou\n");
    let range = editor.encoding().range(editor.text(&uri), 31..31);
    let params =
        json!({ "textDocument": { "uri": uri }, "position": range.start, "context": { "triggerKind": 1 } });
    let result = editor.ask("textDocument/completion", params);
    let items = result.get("items").unwrap_or(&result).as_array().unwrap();
    assert!(items.iter().any(|it| it["label"] == "double"), "{items:?}");
    editor.close();
}

/// The server is started anew, and the answers are there again.
#[test]
fn a_server_that_is_killed_comes_back() {
    let Some((place, mut editor, uri)) = project() else { return };
    let before = ask_at(&mut editor, &uri, "double(21)", "textDocument/definition");
    let servers: Value =
        serde_json::from_str(&ok(&place, &["server", "list", "--output-format", "json"])).unwrap();
    kill(&servers[0]["pid"].to_string());
    let after = ask_at(&mut editor, &uri, "double(21)", "textDocument/definition");
    assert_eq!(places(&after), places(&before));
    editor.close();
}

#[test]
fn a_server_that_is_not_there_is_told() {
    let place = Place::new(&[("broker.toml", "[servers]\nuse = ['ty']\n"), ("a.py", UNUSED)]);
    ok(&place, &["trust"]);
    let client =
        Client { path: Some("/no-such-folder".to_owned()), ..Client::pulling().arguments(&["--servers"]) };
    let mut editor = Editor::start(&place, client);
    let uri = editor.open(&place, "a.py");
    let is_told = |it: &Value| it["code"] == "incomplete" && it["message"].as_str().unwrap().contains("ty");
    editor.findings_until(&uri, "that it is missing", |it| it.iter().any(is_told));
    editor.close();
}

/// Without trust none of the user's programs runs.
#[test]
fn in_a_workspace_without_trust_no_server_runs() {
    let Some((place, editor)) = session(&[("main.py", MAIN)]) else { return };
    editor.close();
    ok(&place, &["daemon", "stop"]);
    ok(&place, &["trust", "--revoke"]);
    let mut editor = Editor::start(&place, Client::pulling().arguments(&["--servers"]));
    let uri = editor.open(&place, "main.py");
    let findings = editor.findings(&uri);
    assert!(findings.iter().all(|it| it["source"] != "ty"), "{findings:?}");
    let servers = place.run(&["server", "list", "--output-format", "json"]);
    let servers: Value = serde_json::from_slice(&servers.stdout).unwrap();
    assert_eq!(servers, json!([]));
    editor.close();
}
