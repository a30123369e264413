//! `broker.toml` in the editor: what is wrong in it, and settings of the session.

use super::*;
use tests::editor::told;

fn config(text: &str) -> (Place, Editor, String) {
    let place = place();
    let mut editor = Editor::start(&place, Client::pulling());
    let uri = editor.open_text(&file_uri(&place, "broker.toml"), text);
    (place, editor, uri)
}

/// The one thing that is wrong: its place and what is said of it.
fn wrong(text: &str) -> (String, String) {
    let (_place, mut editor, uri) = config(text);
    let findings = editor.findings(&uri);
    let [finding] = &findings[..] else { panic!("{text:?}: {findings:?}") };
    assert_eq!((&finding["source"], &finding["severity"]), (&json!("broker"), &json!(1)), "{finding}");
    let place = told(&findings)[0].split(' ').next().unwrap().to_owned();
    let message = finding["message"].as_str().unwrap().to_owned();
    editor.close();
    (place, message)
}

#[test]
fn an_unknown_key_is_told_where_it_is() {
    let (place, message) = wrong("# ours\nignor = ['F401']\n");
    assert!(place.starts_with("1:0-"), "{place}");
    assert!(message.contains("ignor") && message.contains("ignore"), "{message}");
    let (place, message) = wrong("[files]\nexclud = ['x']\n");
    assert!(place.starts_with("1:0-"), "{place}");
    assert!(message.contains("exclud"), "{message}");
}

#[test]
fn a_wrong_value_is_told_where_it_is() {
    let (place, message) = wrong("[severity]\nF401 = 'grave'\n");
    assert!(place.starts_with("1:"), "{place}");
    assert!(message.contains("grave"), "{message}");
    let (place, _) = wrong("select = 'F401'\n");
    assert!(place.starts_with("0:"), "{place}");
}

#[test]
fn what_is_no_toml_is_told_where_it_is() {
    let (_place, mut editor, uri) = config("ignore = [\n\n");
    let findings = editor.findings(&uri);
    assert!(!findings.is_empty());
    assert!(findings.iter().all(|it| it["severity"] == 1), "{findings:?}");
    editor.set_text(&uri, "ignore = []\n");
    assert_eq!(found(&mut editor, &uri), [""; 0]);
    editor.close();
}

/// Never silence: while nothing can be checked, each file says so.
#[test]
fn files_say_when_the_configuration_keeps_them_from_being_checked() {
    for client in [Client::pulling(), Client::pushed()] {
        let (place, mut editor, uri) = opened(client);
        assert_eq!(found(&mut editor, &uri), [F401]);
        let config = editor.open(&place, "broker.toml");
        editor.set_text(&config, "ignor = []\n");
        let findings = editor.findings_until(&uri, "it is not computed", |it| {
            it.iter().any(|it| it["source"] == "broker" && it["code"] == "incomplete")
        });
        assert!(
            findings.iter().any(|it| it["message"].as_str().unwrap().contains("broker.toml")),
            "{findings:?}"
        );
        editor.set_text(&config, "");
        let findings = editor.findings_until(&uri, "it is computed again", |it| codes(it) == [F401]);
        assert_eq!(codes(&findings), [F401]);
        editor.close();
    }
}

/// Configurations of folders count below them.
#[test]
fn the_nearest_configuration_counts() {
    let place = Place::new(&[
        ("broker.toml", ""),
        ("a.py", UNUSED),
        ("sub/broker.toml", "ignore = ['F401']\n"),
        ("sub/b.py", UNUSED),
    ]);
    let mut editor = Editor::start(&place, Client::pulling());
    let (a, b) = (editor.open(&place, "a.py"), editor.open(&place, "sub/b.py"));
    assert_eq!((found(&mut editor, &a), found(&mut editor, &b)), (vec![F401.to_owned()], vec![]));
    editor.close();
}

/// A linter's own configuration is read through the editor's buffers too.
#[test]
fn configurations_of_linters_count_as_they_are_typed() {
    let place = Place::new(&[("broker.toml", ""), ("ruff.toml", ""), ("a.py", UNUSED)]);
    let mut editor = Editor::start(&place, Client::pulling());
    let uri = editor.open(&place, "a.py");
    let ruff = editor.open(&place, "ruff.toml");
    assert_eq!(found(&mut editor, &uri), [F401]);
    editor.set_text(&ruff, "lint.ignore = ['F401']\n");
    editor.findings_until(&uri, "it is ignored", <[Value]>::is_empty);
    editor.close();
}

/// Checkers run on what is saved, and where the client lets them.
#[test]
#[cfg(target_os = "linux")]
fn commands_run_on_save_in_a_trusted_workspace() {
    let config = "[checkers.own]\ncommand = ['/bin/sh', 'lint.sh']\nglobs = ['*.x']\noutput = 'regex'\n\
                  pattern = '^(?<path>[^:]+):(?<line>\\d+): (?<message>.+)$'\nfindings-codes = [1]\n";
    let script = "grep -n bad *.x /dev/null | sed -E 's/:([0-9]+):/:\\1: /'\n! grep -q bad *.x\n";
    for on_save in [true, false] {
        let place = Place::new(&[("broker.toml", config), ("lint.sh", script), ("a.x", "good\n")]);
        ok(&place, &["trust"]);
        let mut editor = Editor::start(&place, Client::pushed().settings(json!({ "checkOnSave": on_save })));
        let uri = editor.open(&place, "a.x");
        assert_eq!(found(&mut editor, &uri), [""; 0]);
        editor.set_text(&uri, "good\nbad\n");
        assert_eq!(found(&mut editor, &uri), [""; 0], "it is not saved");
        editor.save(&uri);
        if on_save {
            let findings = editor.findings_until(&uri, "it is found", |it| !it.is_empty());
            assert_eq!(findings[0]["source"], "own", "{findings:?}");
            editor.set_text(&uri, "good\n");
            editor.save(&uri);
            editor.findings_until(&uri, "it is mended", <[Value]>::is_empty);
        } else {
            editor.settle();
            assert_eq!(editor.published[&uri].findings, [Value::Null; 0]);
        }
        editor.close();
    }
}
