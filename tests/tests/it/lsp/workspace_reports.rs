//! Diagnostics of all files: `workspace/diagnostic`.

use super::*;
use std::collections::BTreeMap;

fn place_of_three() -> Place {
    Place::new(&[("broker.toml", ""), ("a.py", UNUSED), ("b.py", "x = 1\n"), ("pkg/c.py", "print(y)\n")])
}

/// A request with these ids of former results.
fn request(editor: &mut Editor, previous: &BTreeMap<String, String>, token: Option<&str>) -> i64 {
    let previous: Vec<_> = previous.iter().map(|(uri, id)| json!({ "uri": uri, "value": id })).collect();
    let mut params = json!({ "previousResultIds": previous });
    if let Some(token) = token {
        params["partialResultToken"] = token.into();
    }
    editor.request("workspace/diagnostic", params)
}

/// All items of an answer, of its parts or of the whole.
fn items(editor: &Editor, token: Option<&str>, report: &Value) -> Vec<Value> {
    let key = json!(token).to_string();
    let parts = editor.partial.get(&key).into_iter().flatten();
    let parts = parts.flat_map(|it| it["items"].as_array().unwrap().clone());
    parts.chain(report["items"].as_array().unwrap().clone()).collect()
}

/// Results by URI, of which each may be there once.
fn by_uri(items: &[Value]) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for item in items {
        let uri = item["uri"].as_str().unwrap().to_owned();
        assert!(all.insert(uri.clone(), item.clone()).is_none(), "{uri} is there twice");
    }
    all
}

fn ids(all: &BTreeMap<String, Value>) -> BTreeMap<String, String> {
    let ids = all.iter().filter_map(|(uri, it)| Some((uri.clone(), it["resultId"].as_str()?.to_owned())));
    ids.collect()
}

fn found_in(all: &BTreeMap<String, Value>, place: &Place, path: &str) -> Vec<String> {
    let report = all.get(&file_uri(place, path));
    codes(report.and_then(|it| it["items"].as_array()).map_or(&[], Vec::as_slice))
}

#[test]
fn all_files_have_a_report() {
    let place = place_of_three();
    let mut editor = Editor::start(&place, Client::pulling());
    assert_eq!(editor.capability("/diagnosticProvider/workspaceDiagnostics"), true);
    let id = request(&mut editor, &BTreeMap::new(), None);
    let report = editor.answer(id).unwrap();
    let all = by_uri(&items(&editor, None, &report));
    assert_eq!(found_in(&all, &place, "a.py"), [F401]);
    assert_eq!(found_in(&all, &place, "b.py"), [""; 0]);
    assert_eq!(found_in(&all, &place, "pkg/c.py"), ["python/F821"]);
    assert!(all.values().all(|it| it["version"].is_null()), "none of them is open: {all:?}");
    editor.close();
}

#[test]
fn parts_come_as_they_are_there() {
    let place = place_of_three();
    let mut editor = Editor::start(&place, Client::pulling());
    let uri = editor.open_text(&file_uri(&place, "a.py"), "import sys\n\nprint(z)\n");
    let id = request(&mut editor, &BTreeMap::new(), Some("parts"));
    let find = |it: &mut Editor| {
        let all = by_uri(&items(it, Some("parts"), &json!({ "items": [] })));
        let is_there = |path: &str, count| found_in(&all, &place, path).len() == count;
        (is_there("a.py", 2) && is_there("pkg/c.py", 1)).then_some(all)
    };
    let all = editor.wait("parts", find);
    assert_eq!(all[&uri]["version"], 1, "it is the editor's text");
    editor.notify("$/cancelRequest", json!({ "id": id }));
    let _cancelled_or_done = editor.answer(id);
    editor.close();
}

/// Otherwise a client would ask without end.
#[test]
fn a_request_that_knows_all_is_held_until_something_changes() {
    let place = place_of_three();
    let mut editor = Editor::start(&place, Client::pulling());
    let uri = editor.open(&place, "a.py");
    let id = request(&mut editor, &BTreeMap::new(), None);
    let report = editor.answer(id).unwrap();
    let known = ids(&by_uri(&items(&editor, None, &report)));
    assert!(known.contains_key(&uri), "{known:?}");
    let held = request(&mut editor, &known, None);
    for _ in 0..5 {
        editor.settle();
        assert_eq!(found(&mut editor, &uri), [F401]);
    }
    assert!(!editor.is_answered(held), "nothing has changed");
    editor.replace(&uri, "import os", "x = 1");
    let report = editor.answer(held).unwrap();
    let all = by_uri(&items(&editor, None, &report));
    assert_eq!((&all[&uri]["kind"], &all[&uri]["items"]), (&json!("full"), &json!([])));
    let others = all.iter().filter(|it| it.0 != &uri);
    assert!(others.clone().all(|it| it.1["kind"] == "unchanged"), "{all:?}");
    editor.close();
}

#[test]
fn a_held_request_is_answered_when_another_program_writes() {
    let place = place_of_three();
    let mut editor = Editor::start(&place, Client::pulling());
    editor.registration("workspace/didChangeWatchedFiles");
    let id = request(&mut editor, &BTreeMap::new(), None);
    let report = editor.answer(id).unwrap();
    let known = ids(&by_uri(&items(&editor, None, &report)));
    let held = request(&mut editor, &known, None);
    place.write("b.py", "import re\n");
    editor.tell_changed(&[(&place.root().join("b.py"), 2)]);
    let report = editor.answer(held).unwrap();
    let all = by_uri(&items(&editor, None, &report));
    assert_eq!(found_in(&all, &place, "b.py"), [F401]);
    // A file that is gone has no findings any more, which has to be told.
    let mut known = known;
    known.extend(ids(&all));
    let held = request(&mut editor, &known, None);
    std::fs::remove_file(place.root().join("pkg/c.py")).unwrap();
    editor.tell_changed(&[(&place.root().join("pkg/c.py"), 3)]);
    let report = editor.answer(held).unwrap();
    let all = by_uri(&items(&editor, None, &report));
    let gone = &all[&file_uri(&place, "pkg/c.py")];
    assert_eq!((&gone["kind"], &gone["items"]), (&json!("full"), &json!([])), "{all:?}");
    editor.close();
}

#[test]
fn a_held_request_can_be_cancelled_and_ends_with_the_session() {
    let place = place_of_three();
    let mut editor = Editor::start(&place, Client::pulling());
    let id = request(&mut editor, &BTreeMap::new(), None);
    let report = editor.answer(id).unwrap();
    let known = ids(&by_uri(&items(&editor, None, &report)));
    let held = request(&mut editor, &known, None);
    editor.settle();
    editor.notify("$/cancelRequest", json!({ "id": held }));
    let refused = editor.answer(held).unwrap_err();
    assert_eq!(refused.code, -32800, "{refused:?}");
    let held = request(&mut editor, &known, None);
    editor.settle();
    editor.ask("shutdown", Value::Null);
    let answer = editor.answer(held);
    assert!(
        answer.is_ok() || answer.as_ref().is_err_and(|it| [-32800, -32802].contains(&it.code)),
        "{answer:?}"
    );
    assert_eq!(editor.exit(), Some(0));
}

/// Besides, the client is told to ask again for what it shows.
#[test]
fn a_change_of_the_configuration_refreshes_what_is_shown() {
    let (place, mut editor, uri) = opened(Client::pulling());
    assert_eq!(found(&mut editor, &uri), [F401]);
    editor.registration("workspace/didChangeWatchedFiles");
    place.write("broker.toml", "ignore = ['F401']\n");
    editor.tell_changed(&[(&place.root().join("broker.toml"), 2)]);
    editor.findings_until(&uri, "it is ignored", <[Value]>::is_empty);
    editor.close();
}
