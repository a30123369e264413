//! Diagnostics that are published to a client that does not ask.

use super::*;
use std::time::{Duration, Instant};

#[test]
fn each_text_has_its_findings() {
    let (_place, mut editor, uri) = opened(Client::pushed());
    assert_eq!(codes(&editor.published_for(&uri, 1)), [F401]);
    editor.replace(&uri, "import os", "x = 1");
    assert_eq!(codes(&editor.published_for(&uri, 2)), [""; 0]);
    assert_eq!(editor.capability("/diagnosticProvider"), &Value::Null);
    let refused = editor.refusal("textDocument/diagnostic", document(&uri));
    assert_eq!(refused.code, -32601, "{refused:?}");
    editor.close();
}

/// Only the last text counts; those between may be passed over.
#[test]
fn the_last_of_many_texts_has_its_findings() {
    let (_place, mut editor, uri) = opened(Client::pushed());
    for number in 0..300 {
        editor.set_text(&uri, &format!("import os\nprint(x{number})\n"));
    }
    assert_eq!(found(&mut editor, &uri), [F401, "python/F821"]);
    let message = editor.published[&uri].findings.iter().find(|it| it["code"] == "F821").unwrap();
    assert!(message["message"].as_str().unwrap().contains("x299"), "{message}");
    let published = editor.all_seen("textDocument/publishDiagnostics").len();
    assert!(published <= 301, "{published} for 301 texts");
    editor.close();
}

#[test]
fn a_document_that_is_closed_has_none() {
    let (place, mut editor, uri) = opened(Client::pushed());
    assert_eq!(found(&mut editor, &uri), [F401]);
    editor.close_document(&uri);
    editor.wait("no findings", |it| it.published[&uri].findings.is_empty().then_some(()));
    // Versions begin again.
    editor.open(&place, "a.py");
    assert_eq!(codes(&editor.published_for(&uri, 1)), [F401]);
    editor.close();
}

#[test]
fn opening_and_closing_in_a_row_ends_with_the_last() {
    let (place, mut editor, uri) = opened(Client::pushed());
    for _ in 0..20 {
        editor.close_document(&uri);
        editor.open(&place, "a.py");
    }
    assert_eq!(codes(&editor.published_for(&uri, 1)), [F401]);
    editor.close_document(&uri);
    editor.settle();
    editor.wait("no findings", |it| it.published[&uri].findings.is_empty().then_some(()));
    editor.close();
}

/// Findings depend on another file, which is changed in the editor, or by another program.
#[test]
fn findings_come_anew_when_the_configuration_changes() {
    let (place, mut editor, uri) = opened(Client::pushed());
    assert_eq!(found(&mut editor, &uri), [F401]);
    let config = editor.open(&place, "broker.toml");
    editor.set_text(&config, "ignore = ['F401']\n");
    editor.findings_until(&uri, "it is ignored", <[Value]>::is_empty);
    editor.set_text(&config, "");
    editor.findings_until(&uri, "it is found again", |it| !it.is_empty());
    editor.close_document(&config);
    place.write("broker.toml", "ignore = ['F401']\n");
    editor.tell_changed(&[(&place.root().join("broker.toml"), 2)]);
    editor.findings_until(&uri, "it is ignored on the disk", <[Value]>::is_empty);
    editor.close();
}

#[test]
fn the_version_need_not_be_the_next() {
    let place = place();
    let mut editor = Editor::start(&place, Client::pushed());
    let uri = file_uri(&place, "a.py");
    editor.open_version(&uri, UNUSED, 1_000_000);
    assert_eq!(codes(&editor.published_for(&uri, 1_000_000)), [F401]);
    editor.close_document(&uri);
    editor.open_version(&uri, UNUSED, -5);
    assert_eq!(codes(&editor.published_for(&uri, -5)), [F401]);
    editor.close();
}

/// Nothing is published again and again while nothing changes.
#[test]
fn it_is_quiet_when_nothing_happens() {
    let (_place, mut editor, uri) = opened(Client::pushed());
    assert_eq!(found(&mut editor, &uri), [F401]);
    editor.settle();
    let before = editor.all_seen("textDocument/publishDiagnostics").len();
    editor.handle_until(Instant::now() + Duration::from_millis(300));
    let after = editor.all_seen("textDocument/publishDiagnostics").len();
    assert_eq!(before, after);
    editor.close();
}
