//! Diagnostics that the client asks for: `textDocument/diagnostic`.

use super::*;
use tests::editor::{edit, told};

const CANCELLED: i64 = -32800;

#[test]
fn a_finding_says_all_that_is_known_of_it() {
    let (_place, mut editor, uri) = opened(Client::pulling());
    let report = editor.pull(&uri, None);
    assert_eq!(report["kind"], "full");
    let finding = &report["items"][0];
    assert_eq!(told(std::slice::from_ref(finding)), ["0:7-0:9 python/F401"]);
    assert_eq!(finding["severity"], 2);
    assert_eq!(finding["tags"], json!([1]), "unnecessary");
    assert!(
        finding["codeDescription"]["href"].as_str().is_some_and(|it| it.starts_with("https://")),
        "{finding}"
    );
    let data = &finding["data"];
    assert_eq!(data["rule"], F401);
    assert!(data["fingerprint"].as_str().is_some_and(|it| !it.is_empty()), "{data}");
    let fix = &data["fixes"][0];
    assert_eq!(fix["applicability"], "safe");
    assert!(fix["title"].as_str().is_some_and(|it| !it.is_empty()), "{fix}");
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 1, "character": 0 } });
    assert_eq!(fix["edits"], json!([{ "range": range, "newText": "" }]));
    editor.close();
}

/// Severities are those of the configuration.
#[test]
fn severities_are_those_of_the_protocol() {
    let place = Place::new(&[("a.py", UNUSED)]);
    for (severity, number) in [("error", 1), ("warning", 2), ("info", 3), ("hint", 4)] {
        place.write("broker.toml", format!("[severity]\nF401 = '{severity}'\n"));
        let mut editor = Editor::start(&place, Client::pulling());
        let uri = editor.open(&place, "a.py");
        assert_eq!(editor.findings(&uri)[0]["severity"], number, "{severity}");
        editor.close();
    }
}

#[test]
fn the_text_that_was_typed_is_what_counts() {
    let (_place, mut editor, uri) = opened(Client::pulling());
    assert_eq!(found(&mut editor, &uri), [F401]);
    editor.replace(&uri, "import os\n", "import os\nos.getcwd()\n");
    assert_eq!(found(&mut editor, &uri), [""; 0]);
    editor.replace(&uri, "os.getcwd()", "undefined");
    assert_eq!(found(&mut editor, &uri), [F401, "python/F821"]);
    editor.set_text(&uri, "def f(:\n");
    assert!(found(&mut editor, &uri).contains(&"python/invalid-syntax".to_owned()));
    editor.close();
}

/// Requests in a row, each about the text before it.
#[test]
fn each_request_is_about_the_text_before_it() {
    let (_place, mut editor, uri) = opened(Client::pulling());
    let mut asked = Vec::new();
    for number in 0..40 {
        let text = if number % 2 == 0 { "x = 1\n" } else { UNUSED };
        editor.set_text(&uri, text);
        asked.push((number, editor.request("textDocument/diagnostic", document(&uri))));
    }
    for (number, id) in asked {
        match editor.answer(id) {
            // The answer may be an error, since this text is outdated.
            Err(refused) => assert!([-32801, -32802].contains(&refused.code), "{refused:?}"),
            Ok(report) => {
                let count = report["items"].as_array().unwrap().len();
                assert_eq!(count, number % 2, "request {number}: {report}");
            }
        }
    }
    assert_eq!(found(&mut editor, &uri), [F401], "the last one is answered");
    editor.close();
}

#[test]
fn what_has_not_changed_is_not_sent_again() {
    let (_place, mut editor, uri) = opened(Client::pulling());
    let first = editor.pull(&uri, None);
    let id = first["resultId"].as_str().expect("a resultId").to_owned();
    let again = editor.pull(&uri, Some(&id));
    assert_eq!(again["kind"], "unchanged", "{again}");
    assert!(again.get("items").is_none());
    editor.replace(&uri, "import os", "import sys");
    let changed = editor.pull(&uri, Some(&id));
    assert_eq!(changed["kind"], "full", "{changed}");
    assert_ne!(changed["resultId"], first["resultId"]);
    // An id of another session, or of nothing, is no reason to leave anything out.
    let unknown = editor.pull(&uri, Some("no-such-id"));
    assert_eq!((&unknown["kind"], unknown["items"].as_array().map(Vec::len)), (&json!("full"), Some(1)));
    editor.close();
}

#[test]
fn a_file_that_is_not_open_is_asked_about_as_the_disk_has_it() {
    let place = place();
    let mut editor = Editor::start(&place, Client::pulling());
    let uri = file_uri(&place, "a.py");
    let report = editor.pull(&uri, None);
    assert_eq!(codes(report["items"].as_array().unwrap()), [F401]);
    editor.open_text(&uri, "x = 1\n");
    assert_eq!(found(&mut editor, &uri), [""; 0]);
    editor.close_document(&uri);
    let report = editor.pull(&uri, None);
    assert_eq!(codes(report["items"].as_array().unwrap()), [F401], "it is the disk's again");
    let none = editor.pull(&file_uri(&place, "no-such.py"), None);
    assert_eq!(none["items"], json!([]));
    editor.close();
}

#[test]
fn a_request_that_is_cancelled_ends_and_stops_the_work() {
    let place = Place::new(&[("broker.toml", ""), ("spin.fault", "spin"), ("a.py", UNUSED)]);
    let _daemon = serve_guest(&place);
    let mut editor = Editor::start(&place, Client::pulling());
    let spinning = editor.open(&place, "spin.fault");
    let daemon = Daemon::of(&place);
    for _ in 0..3 {
        let id = editor.request("textDocument/diagnostic", document(&spinning));
        daemon.until_running(1);
        // Others are answered meanwhile.
        let uri = file_uri(&place, "a.py");
        assert_eq!(codes(editor.pull(&uri, None)["items"].as_array().unwrap()), [F401]);
        editor.notify("$/cancelRequest", json!({ "id": id }));
        let refused = editor.answer(id).unwrap_err();
        assert_eq!(refused.code, CANCELLED, "{refused:?}");
        daemon.until_running(0);
        // A second time is too late, and no harm.
        editor.notify("$/cancelRequest", json!({ "id": id }));
    }
    editor.close();
}

/// Typing goes on while an older text is still being checked.
#[test]
fn a_newer_text_ends_the_check_of_an_older_one() {
    for client in [Client::pulling(), Client::pushed()] {
        let place = Place::new(&[("broker.toml", ""), ("x.fault", "nothing")]);
        let _daemon = serve_guest(&place);
        let mut editor = Editor::start(&place, client);
        let uri = editor.open(&place, "x.fault");
        assert_eq!(found(&mut editor, &uri), ["misbehaves/fault"]);
        editor.set_text(&uri, "spin");
        let is_pulling = editor.client.can("/textDocument/diagnostic");
        let asked = is_pulling.then(|| editor.request("textDocument/diagnostic", document(&uri)));
        let daemon = Daemon::of(&place);
        daemon.until_running(1);
        editor.set_text(&uri, "nothing");
        assert_eq!(found(&mut editor, &uri), ["misbehaves/fault"]);
        if let Some(id) = asked {
            let answer = editor.answer(id);
            assert!(
                answer.as_ref().is_err_and(|it| [-32800, -32801, -32802].contains(&it.code)),
                "{answer:?}"
            );
        }
        daemon.until_running(0);
        editor.close();
    }
}

/// Never silence: what could not be computed is a finding of its own at the file's start.
#[test]
fn what_could_not_be_computed_is_told() {
    let faults = ["error", "panic", "exit"].map(|it| (format!("{it}.fault"), it));
    let place = Place::new(&[("broker.toml", "")]);
    faults.iter().for_each(|(path, text)| place.write(path, text));
    let _daemon = serve_guest(&place);
    for client in [Client::pulling(), Client::pushed()] {
        let mut editor = Editor::start(&place, client);
        for (path, _) in &faults {
            let uri = editor.open(&place, path);
            let findings = editor.findings(&uri);
            let incomplete: Vec<_> = findings.iter().filter(|it| it["code"] == "incomplete").collect();
            let [it] = incomplete[..] else { panic!("{path}: {findings:?}") };
            assert_eq!((&it["source"], &it["severity"]), (&json!("broker"), &json!(2)), "{it}");
            assert_eq!(it["range"]["start"], json!({ "line": 0, "character": 0 }), "{it}");
            assert!(it["message"].as_str().unwrap().contains("misbehaves"), "{it}");
        }
        editor.close();
    }
}

#[test]
fn names_of_all_kinds_are_files() {
    let names = ["a b.py", "a%20b.py", "é𐐀.py", "a#b?c.py", "a+b&c=d.py", "[a](b)'.py", "deep/er/x.py"];
    let place = Place::new(&[("broker.toml", "")]);
    names.iter().for_each(|it| place.write(it, UNUSED));
    for client in [Client::pulling(), Client::pushed()] {
        let mut editor = Editor::start(&place, client);
        for name in names {
            let uri = editor.open(&place, name);
            assert_eq!(found(&mut editor, &uri), [F401], "{name}");
            let text = format!("# {name}\n");
            editor.set_text(&uri, &text);
            assert_eq!(found(&mut editor, &uri), [""; 0], "{name}");
            Daemon::of(&place).until_text(&place, name, &text);
        }
        editor.close();
    }
}

/// Editors escape differently, and each knows its own URI only.
#[test]
fn the_uri_is_the_editors_own() {
    let place = Place::new(&[("broker.toml", ""), ("a-b c.py", UNUSED)]);
    let usual = file_uri(&place, "a-b c.py");
    for uri in [usual.clone(), usual.replace("a-b", "a%2Db"), usual.replace("a-b", "a%2db")] {
        for client in [Client::pulling(), Client::pushed()] {
            let mut editor = Editor::start(&place, client);
            editor.open_text(&uri, UNUSED);
            assert_eq!(found(&mut editor, &uri), [F401], "{uri}");
            let actions = editor.actions(&uri, "os", &["quickfix"]);
            editor.choose(tests::editor::titled(&actions, "Remove"));
            assert_eq!(editor.text(&uri), "", "the edit is of the document that is open");
            editor.close();
        }
    }
}

#[test]
fn a_file_outside_of_the_folders_has_a_workspace_of_its_own() {
    let (_place, mut editor, _) = opened(Client::pulling());
    let other =
        Place::new(&[("broker.toml", "ignore = ['F401', 'I001']\n"), ("b.py", "import os\nprint(x)\n")]);
    let uri = editor.open(&other, "b.py");
    assert_eq!(found(&mut editor, &uri), ["python/F821"]);
    editor.close();
}

/// Files that the configuration excludes have no findings, even if they are open.
#[test]
fn a_file_that_is_left_out_has_no_findings() {
    let place = Place::new(&[
        ("broker.toml", "[files]\nexclude = [\"gone.py\"]\n"),
        (".gitignore", "build/\n"),
        ("build/a.py", UNUSED),
        ("gone.py", UNUSED),
    ]);
    std::fs::create_dir(place.root().join(".git")).unwrap();
    let mut editor = Editor::start(&place, Client::pulling());
    let uri = editor.open(&place, "gone.py");
    assert_eq!(found(&mut editor, &uri), [""; 0]);
    let _either_is_right = editor.open(&place, "build/a.py");
    editor.close();
}

#[test]
fn documents_do_not_disturb_each_other() {
    let place = Place::new(&[("broker.toml", "")]);
    let mut editor = Editor::start(&place, Client::pulling());
    let uris: Vec<_> = (0..30).map(|it| file_uri(&place, &format!("f{it}.py"))).collect();
    for uri in &uris {
        editor.open_text(uri, "");
    }
    for (number, uri) in uris.iter().enumerate() {
        for line in 0..number {
            let at = json!({ "line": line, "character": 0 });
            editor.change(
                uri,
                &[edit(serde_json::from_value(json!({ "start": at, "end": at })).unwrap(), "print(x)\n")],
            );
        }
    }
    for (number, uri) in uris.iter().enumerate() {
        assert_eq!(editor.findings(uri).len(), number);
    }
    editor.close();
}
