//! Code actions, each chosen as a person does, and what is found afterwards.

use super::*;
use tests::editor::{of_kind, titled};

const TWO: &str = "import os\nimport sys\n\n\ndef f():\n    return 1\n";

fn session(client: Client, text: &str) -> (Place, Editor, String) {
    let place = place();
    let mut editor = Editor::start(&place, client);
    let uri = editor.open_text(&file_uri(&place, "a.py"), text);
    (place, editor, uri)
}

/// Applies one action of these kinds and titles to a text. Returns the new text and its findings.
fn chosen(text: &str, part: &str, only: &[&str], title: &str) -> (String, Vec<String>) {
    let (_place, mut editor, uri) = session(Client::pulling(), text);
    let actions = editor.actions(&uri, part, only);
    editor.choose(titled(&actions, title));
    let told = (editor.text(&uri).to_owned(), found(&mut editor, &uri));
    editor.close();
    told
}

#[test]
fn kinds_are_told() {
    let (_place, editor, _) = session(Client::pulling(), TWO);
    let kinds = editor.capability("/codeActionProvider/codeActionKinds").as_array().unwrap();
    for kind in ["quickfix", "source.fixAll.broker", "quickfix.suppress.broker"] {
        assert!(kinds.contains(&json!(kind)), "{kind}: {kinds:?}");
    }
    editor.close();
}

#[test]
fn a_fix_mends_its_finding() {
    let (text, left) = chosen(TWO, "os", &["quickfix"], "`os`");
    assert_eq!(text, TWO.replace("import os\n", ""));
    assert_eq!(left, [F401]);
}

#[test]
fn a_fix_that_is_safe_is_preferred_and_names_its_finding() {
    let (_place, mut editor, uri) = session(Client::pulling(), TWO);
    let actions = editor.actions(&uri, "os", &["quickfix"]);
    let fix = titled(&actions, "`os`");
    assert_eq!((&fix["kind"], &fix["isPreferred"]), (&json!("quickfix"), &json!(true)), "{fix}");
    assert_eq!(fix["diagnostics"][0]["code"], "F401", "{fix}");
    let others = actions.iter().filter(|it| it["title"] != fix["title"]);
    assert!(others.clone().all(|it| it["isPreferred"] != true), "only one is: {actions:?}");
    editor.close();
}

/// Fixes that may change the meaning are offered, and never applied by default.
#[test]
fn a_fix_that_is_unsafe_is_not_preferred() {
    let text = "def f(x):\n    if x == None:\n        return []\n    return {}\n";
    let place = Place::new(&[("broker.toml", "select = ['E711']\n")]);
    let mut editor = Editor::start(&place, Client::pulling());
    let uri = editor.open_text(&file_uri(&place, "a.py"), text);
    assert_eq!(found(&mut editor, &uri), ["python/E711"]);
    assert_eq!(editor.findings(&uri)[0]["data"]["fixes"][0]["applicability"], "unsafe");
    let actions = editor.actions(&uri, "None", &["quickfix"]);
    let fixes: Vec<_> = actions.iter().filter(|it| it["kind"] == "quickfix").collect();
    assert!(!fixes.is_empty() && fixes.iter().all(|it| it["isPreferred"] != true), "{actions:?}");
    let all = editor.actions(&uri, "None", &["source.fixAll"]);
    for it in &all {
        editor.choose(it);
    }
    assert_eq!(editor.text(&uri), text, "it is not among all");
    editor.choose(fixes[0]);
    assert_eq!(editor.text(&uri), text.replace("== None", "is None"));
    assert_eq!(found(&mut editor, &uri), [""; 0]);
    editor.close();
}

#[test]
fn all_is_fixed_at_once() {
    for kind in ["source.fixAll", "source.fixAll.broker", "source"] {
        let (_place, mut editor, uri) = session(Client::pulling(), TWO);
        // Request of an editor when a file is saved: for all of it, and without findings.
        let whole = editor.encoding().range(TWO, 0..TWO.len());
        let actions = editor.actions_for(&uri, &whole, &[], &[kind]);
        let all = of_kind(&actions, "source.fixAll.broker");
        let [all] = all[..] else { panic!("{kind}: {actions:?}") };
        editor.choose(all);
        assert_eq!(editor.text(&uri), "\n\ndef f():\n    return 1\n", "{kind}");
        assert!(!found(&mut editor, &uri).contains(&F401.to_owned()));
        // There is nothing to do any more.
        let whole = editor.encoding().range(editor.text(&uri), 0..1);
        let actions = editor.actions_for(&uri, &whole, &[], &[kind]);
        assert_eq!(of_kind(&actions, "source.fixAll"), [&Value::Null; 0], "{actions:?}");
        editor.close();
    }
}

#[test]
fn only_what_is_asked_for_is_offered() {
    let (_place, mut editor, uri) = session(Client::pulling(), TWO);
    for only in ["refactor", "source.organizeImports", "source.fixAll.ruff", "quickfix.other", "quick"] {
        assert_eq!(editor.actions(&uri, "os", &[only]), [Value::Null; 0], "{only}");
    }
    let suppressing = editor.actions(&uri, "os", &["quickfix.suppress"]);
    assert!(!suppressing.is_empty());
    assert!(suppressing.iter().all(|it| it["kind"] == "quickfix.suppress.broker"), "{suppressing:?}");
    // The client checks that the kinds are those that it asked for.
    editor.actions(&uri, "os", &["quickfix"]);
    editor.actions(&uri, "os", &["source"]);
    editor.actions(&uri, "os", &[""]);
    assert_eq!(
        of_kind(&editor.actions(&uri, "def", &[]), "quickfix"),
        [&Value::Null; 0],
        "nothing is found there"
    );
    editor.close();
}

#[test]
fn a_finding_is_suppressed_in_its_line() {
    let (text, left) = chosen(TWO, "os", &["quickfix.suppress"], "line");
    let line = text.lines().next().unwrap();
    assert!(line.starts_with("import os  # broker: ignore[") && line.contains("F401"), "{line}");
    assert_eq!(left, [F401], "that of the other line");
    // A second one in the same line goes into the same comment, or beside it.
    let (text, left) = chosen("import os, sys  # why\n", "sys", &["quickfix.suppress"], "line");
    assert!(!left.contains(&F401.to_owned()), "{text}: {left:?}");
    let known = "import os  # broker: ignore[python/E401]\n";
    let (text, left) = chosen(known, "os", &["quickfix.suppress"], "line");
    assert!(!left.contains(&F401.to_owned()), "{text}: {left:?}");
}

/// Within a string a comment would be text.
#[test]
fn a_finding_within_a_string_is_suppressed_in_its_file() {
    let text = "x = f'''\n{undefined}\n'''\n";
    let (_place, mut editor, uri) = session(Client::pulling(), text);
    let actions = editor.actions(&uri, "undefined", &["quickfix.suppress"]);
    // No comment can be on that line.
    let line = editor.ask("codeAction/resolve", titled(&actions, "line").clone());
    assert_eq!(line["disabled"]["reason"], "there is no place for a comment", "{line}");
    editor.choose(titled(&actions, "file"));
    assert_eq!(found(&mut editor, &uri), [""; 0], "{}", editor.text(&uri));
    editor.close();
}

/// A client that resolves nothing and shows no disabled action gets the others all the same.
#[test]
fn an_action_that_is_not_possible_hides_no_other() {
    let codes = "/textDocument/codeAction";
    let client = Client::pulling().without(codes, "resolveSupport").without(codes, "disabledSupport");
    let (_place, mut editor, uri) = session(client, "x = f'''\n{undefined}\n'''\n");
    let actions = editor.actions(&uri, "undefined", &["quickfix.suppress"]);
    assert_eq!(actions.len(), 1, "{actions:?}");
    editor.choose(titled(&actions, "file"));
    assert_eq!(found(&mut editor, &uri), [""; 0], "{}", editor.text(&uri));
    editor.close();
}

#[test]
fn a_file_that_is_reached_by_a_link_is_checked_and_fixed() {
    let place = place();
    std::os::unix::fs::symlink("a.py", place.root().join("link.py")).unwrap();
    let mut editor = Editor::start(&place, Client::pulling());
    let uri = file_uri(&place, "link.py");
    let report = editor.pull(&uri, None);
    assert_eq!(tests::editor::codes(report["items"].as_array().unwrap()), [F401], "while it is not open");
    editor.open_text(&uri, TWO);
    let actions = editor.actions(&uri, "os", &["source.fixAll.broker"]);
    editor.choose(of_kind(&actions, "source.fixAll.broker")[0]);
    assert_eq!(editor.text(&uri), "\n\ndef f():\n    return 1\n");
    editor.close();
}

#[test]
fn a_rule_is_suppressed_in_its_file() {
    let (text, left) = chosen(TWO, "os", &["quickfix.suppress"], "file");
    assert!(text.contains("broker: ignore-file["), "{text}");
    assert_eq!(left, [""; 0]);
    // The comment is inserted below a line that has to be the first.
    let (text, left) = chosen("#!/usr/bin/env python3\nimport os\n", "os", &["quickfix.suppress"], "file");
    assert!(text.starts_with("#!/usr/bin/env python3\n"), "{text}");
    assert_eq!(left, [""; 0]);
}

#[test]
fn a_rule_is_disabled_in_the_configuration() {
    for config in [
        None,
        Some(""),
        Some("# ours\nignore = [\n    \"E501\",  # long\n]\n\n[severity]\nF841 = \"hint\"\n"),
    ] {
        let place = Place::new(&[("a.py", TWO)]);
        std::fs::create_dir(place.root().join(".git")).unwrap();
        if let Some(text) = config {
            place.write("broker.toml", text);
        }
        let mut editor = Editor::start(&place, Client::pulling());
        let uri = editor.open(&place, "a.py");
        assert!(found(&mut editor, &uri).contains(&F401.to_owned()));
        let actions = editor.actions(&uri, "os", &[]);
        editor.choose(titled(&actions, "broker.toml"));
        editor.findings_until(&uri, "it is ignored", |it| !codes(it).contains(&F401.to_owned()));
        let text = place.read("broker.toml");
        assert!(text.contains("F401"), "{text}");
        if config.is_some_and(|it| !it.is_empty()) {
            assert!(text.starts_with("# ours\n") && text.contains("# long"), "{text}");
        }
        ok(&place, &["check"]);
        editor.close();
    }
}

/// In the editor's buffer, if it is open there.
#[test]
fn a_rule_is_disabled_in_a_configuration_that_is_open() {
    let (place, mut editor, uri) = opened(Client::pulling());
    let config = editor.open(&place, "broker.toml");
    editor.set_text(&config, "# unsaved\n");
    editor.command("broker.disableRule", json!({ "rule": F401, "uri": uri }));
    editor.wait("an edit", |it| it.text(&config).contains("F401").then_some(()));
    assert!(editor.text(&config).starts_with("# unsaved\n"));
    assert_eq!(place.read("broker.toml"), "", "the disk is as it was");
    editor.findings_until(&uri, "it is ignored", <[Value]>::is_empty);
    editor.close();
}

/// Findings that the client shows may be about an outdated text.
#[test]
fn actions_are_for_the_text_as_it_is_now() {
    let (_place, mut editor, uri) = session(Client::pulling(), "import os\nx = 1\n");
    let old = editor.findings(&uri);
    let range = editor.encoding().range_of(editor.text(&uri), "os");
    editor.set_text(&uri, "# one\n# two\nimport os\nx = 1\n");
    for action in editor.actions_for(&uri, &range, &old, &["quickfix"]) {
        if action["kind"] == "quickfix" {
            editor.choose(&action);
            assert_eq!(editor.text(&uri), "# one\n# two\nx = 1\n");
        }
    }
    editor.close();
}

#[test]
fn line_ends_stay_what_they_are() {
    let crlf = TWO.replace('\n', "\r\n");
    for (only, title) in
        [(&["quickfix"][..], "`os`"), (&["quickfix.suppress"], "line"), (&["quickfix.suppress"], "file")]
    {
        let (text, _) = chosen(&crlf, "os", only, title);
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{title}: {text:?}");
    }
}

#[test]
fn each_rule_can_be_explained() {
    let (_place, mut editor, uri) = session(Client::pulling(), TWO);
    let actions = editor.actions(&uri, "os", &[]);
    let explain = actions.iter().find(|it| it["command"]["command"] == "broker.openRule");
    if let Some(explain) = explain {
        editor.choose(explain);
        let shown = editor.next("window/showDocument");
        assert_eq!(shown["external"], true, "{shown}");
    }
    editor.command("broker.openRule", json!({ "rule": F401 }));
    let shown = editor.next("window/showDocument");
    assert!(shown["uri"].as_str().unwrap().starts_with("https://"), "{shown}");
    editor.close();
}

#[test]
fn a_client_that_shows_no_pages_gets_a_message() {
    let client = Client::pulling().without("/window", "showDocument");
    let (_place, mut editor, _) = opened(client);
    editor.command("broker.openRule", json!({ "rule": F401 }));
    let shown = editor.next("window/showMessage");
    assert!(shown["message"].as_str().unwrap().contains("F401"), "{shown}");
    editor.close();
}

#[test]
fn actions_are_found_from_the_range_alone() {
    for client in [Client::pulling(), Client::pushed()] {
        let (_place, mut editor, uri) = session(client, TWO);
        let range = editor.encoding().range_of(TWO, "os");
        let actions = editor.actions_for(&uri, &range, &[], &["quickfix"]);
        editor.choose(titled(&actions, "`os`"));
        assert_eq!(editor.text(&uri), TWO.replace("import os\n", ""));
        editor.close();
    }
}

/// Fixes are looked up when an action is chosen.
#[test]
fn an_action_that_comes_too_late_is_refused_or_harmless() {
    let (_place, mut editor, uri) = session(Client::pulling(), TWO);
    let actions = editor.actions(&uri, "os", &["quickfix"]);
    let fix = titled(&actions, "`os`").clone();
    editor.set_text(&uri, "x = 1\n");
    if fix.get("edit").is_none() {
        let id = editor.request("codeAction/resolve", fix);
        if let Ok(resolved) = editor.answer(id) {
            let _refused_by_its_version = editor.apply(&resolved["edit"]);
        }
    } else {
        let _refused_by_its_version = editor.apply(&fix["edit"]);
    }
    assert_eq!(editor.text(&uri), "x = 1\n");
    editor.close();
}
