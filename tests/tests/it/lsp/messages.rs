//! Messages that are wrong: each is refused with the code of its fault, and the server lives on.

use super::*;

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

fn frame(body: &[u8]) -> Vec<u8> {
    [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

/// Half a character is what editors with UTF-16 strings may send: the document goes on, with a replacement character.
#[test]
fn half_a_character_is_replaced() {
    let (_place, mut editor, uri) = opened(Client::pulling());
    let change = format!(
        r#"{{"jsonrpc":"2.0","method":"textDocument/didChange","params":{{"textDocument":{{"uri":"{uri}","version":2}},"contentChanges":[{{"text":"x = '\ud835'\n"}}]}}}}"#
    );
    assert!(editor.wire.send_bytes(&frame(change.as_bytes())));
    let document = editor.documents.get_mut(&uri).unwrap();
    (document.version, document.text) = (2, "x = '\u{fffd}'\n".to_owned());
    assert_eq!(found(&mut editor, &uri), [""; 0]);
    editor.close();
}

/// Sends a body; the code that it is refused with, which has no id.
fn refused(editor: &mut Editor, body: &[u8]) -> Option<i64> {
    assert!(editor.wire.send_bytes(&frame(body)));
    let error = editor.wait("a refusal without an id", |it| it.stray.pop());
    assert!(error["message"].as_str().is_some_and(|it| !it.is_empty()), "{error}");
    error["code"].as_i64()
}

#[test]
fn what_is_no_json_is_a_parse_error() {
    let (_place, mut editor, uri) = opened(Client::pulling());
    let deep = "[".repeat(200_000);
    let bodies = [&b"{"[..], b"", b"not json", b"\xff\xfe", deep.as_bytes()];
    for body in bodies {
        assert_eq!(refused(&mut editor, body), Some(PARSE_ERROR), "{:?}", &body[..body.len().min(40)]);
        assert_eq!(found(&mut editor, &uri), [F401]);
    }
    editor.close();
}

#[test]
fn json_that_is_no_message_is_an_invalid_request() {
    let (_place, mut editor, uri) = opened(Client::pulling());
    for body in [
        "{}",
        "null",
        "7",
        r#""text""#,
        r#"{"jsonrpc": "2.0"}"#,
        r#"{"jsonrpc": "2.0", "id": {}, "method": "shutdown"}"#,
        r#"{"jsonrpc": "2.0", "id": [1], "method": "shutdown"}"#,
        r#"{"jsonrpc": "2.0", "id": true, "method": "shutdown"}"#,
    ] {
        assert_eq!(refused(&mut editor, body.as_bytes()), Some(INVALID_REQUEST), "{body}");
    }
    assert_eq!(found(&mut editor, &uri), [F401]);
    editor.close();
}

/// The id is there, so the answer has it.
#[test]
fn an_invalid_request_with_an_id_is_answered_with_it() {
    let (_place, mut editor, uri) = opened(Client::pulling());
    for body in [
        r#"{"jsonrpc": "2.0", "id": "seven", "method": 7}"#,
        r#"{"jsonrpc": "1.0", "id": "seven", "method": "shutdown"}"#,
        r#"{"id": "seven", "method": "shutdown"}"#,
    ] {
        assert!(editor.wire.send_bytes(&frame(body.as_bytes())));
        let answer = raw_answer(&mut editor);
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!("seven"), &json!(INVALID_REQUEST)),
            "{body}"
        );
    }
    assert_eq!(found(&mut editor, &uri), [F401]);
    editor.close();
}

/// The next answer, whatever its id.
fn raw_answer(editor: &mut Editor) -> Value {
    let deadline = std::time::Instant::now() + TEST_TIMEOUT;
    loop {
        match editor.wire.receive(deadline) {
            Some(tests::editor::Frame::Message(it)) if it.get("method").is_none() => return it,
            Some(tests::editor::Frame::Message(_)) => {}
            other => panic!("no answer: {other:?}"),
        }
    }
}

#[test]
fn a_batch_is_refused() {
    let (_place, mut editor, uri) = opened(Client::pulling());
    let one = r#"{"jsonrpc": "2.0", "id": 4711, "method": "shutdown"}"#;
    for body in ["[]".to_owned(), format!("[{one}]"), format!("[{one}, {one}]"), "[1, 2]".to_owned()] {
        assert_eq!(refused(&mut editor, body.as_bytes()), Some(INVALID_REQUEST), "{body}");
    }
    assert_eq!(found(&mut editor, &uri), [F401], "what is in a batch is not done");
    editor.close();
}

#[test]
fn methods_that_are_not_told_are_refused() {
    let (_place, mut editor, uri) = opened(Client::pulling());
    let methods = [
        "no/such",
        "$/nothing",
        "textDocument/formatting",
        "textDocument/rangeFormatting",
        "textDocument/rangesFormatting",
        "textDocument/onTypeFormatting",
        "textDocument/documentLink",
        "documentLink/resolve",
        "textDocument/documentColor",
        "textDocument/colorPresentation",
        "textDocument/linkedEditingRange",
        "textDocument/moniker",
        "textDocument/inlineValue",
        "textDocument/inlineCompletion",
        "textDocument/willSaveWaitUntil",
        "workspace/willCreateFiles",
        "workspace/willDeleteFiles",
        // Requests for language servers, which are not configured here.
        "textDocument/definition",
        "textDocument/declaration",
        "textDocument/typeDefinition",
        "textDocument/implementation",
        "textDocument/references",
        "textDocument/documentHighlight",
        "textDocument/documentSymbol",
        "textDocument/signatureHelp",
        "textDocument/rename",
        "textDocument/prepareRename",
        "textDocument/foldingRange",
        "textDocument/selectionRange",
        "textDocument/inlayHint",
        "textDocument/semanticTokens/full",
        "textDocument/semanticTokens/range",
        "textDocument/prepareCallHierarchy",
        "textDocument/prepareTypeHierarchy",
        "workspace/symbol",
        "workspace/willRenameFiles",
        // A server's own.
        "workspace/applyEdit",
        "window/showMessageRequest",
        "client/registerCapability",
        // Notifications, which have no answer.
        "textDocument/didOpen",
        "exit",
        "$/setTrace",
    ];
    for method in methods {
        let refused = editor.refusal(method, document(&uri));
        assert_eq!(refused.code, METHOD_NOT_FOUND, "{method}: {refused:?}");
    }
    assert_eq!(found(&mut editor, &uri), [F401]);
    editor.close();
}

#[test]
fn notifications_that_are_not_known_are_passed_over() {
    let (_place, mut editor, uri) = opened(Client::pulling());
    for method in ["$/nothing", "no/such", "textDocument/willSave", "shutdown", "workspace/didCreateFiles"] {
        editor.notify(method, json!({ "x": [1, 2] }));
    }
    for id in [json!(12345), json!("x"), Value::Null] {
        editor.notify("$/cancelRequest", json!({ "id": id }));
    }
    editor.notify("$/setTrace", json!({ "value": "off" }));
    editor.notify("window/workDoneProgress/cancel", json!({ "token": "nothing" }));
    assert_eq!(found(&mut editor, &uri), [F401]);
    editor.close();
}

/// A notification has no answer, so it is dropped, and the document stays what it was.
#[test]
fn notifications_with_wrong_parameters_change_nothing() {
    let (_place, mut editor, uri) = opened(Client::pulling());
    let elsewhere = json!({ "uri": "file:///no/such.py", "version": 2 });
    let range = json!({ "start": { "line": -1, "character": 0 }, "end": { "line": 0, "character": 0 } });
    for (method, params) in [
        ("textDocument/didChange", Value::Null),
        ("textDocument/didChange", json!({})),
        ("textDocument/didChange", json!({ "textDocument": { "uri": uri }, "contentChanges": [] })),
        (
            "textDocument/didChange",
            json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [{ "range": range, "text": "x" }] }),
        ),
        (
            "textDocument/didChange",
            json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [{ "text": 7 }] }),
        ),
        ("textDocument/didChange", json!({ "textDocument": elsewhere, "contentChanges": [{ "text": "x" }] })),
        ("textDocument/didOpen", json!({ "textDocument": { "uri": "file:///x.py" } })),
        ("textDocument/didOpen", json!([1])),
        ("textDocument/didClose", document("file:///no/such.py")),
        ("textDocument/didClose", json!({ "textDocument": 7 })),
        ("textDocument/didSave", json!("x")),
        ("workspace/didChangeWatchedFiles", json!({ "changes": 7 })),
        ("workspace/didChangeWorkspaceFolders", json!({})),
        ("workspace/didChangeConfiguration", json!({ "settings": { "broker": { "servers": "perhaps" } } })),
        ("$/cancelRequest", json!({})),
        ("$/setTrace", json!({ "value": 7 })),
        ("initialized", json!([])),
    ] {
        editor.notify(method, params);
    }
    assert_eq!(found(&mut editor, &uri), [F401]);
    editor.close();
}

#[test]
fn requests_with_wrong_parameters_are_refused() {
    let (_place, mut editor, uri) = opened(Client::pulling());
    let methods = [
        "textDocument/diagnostic",
        "textDocument/codeAction",
        "textDocument/hover",
        "textDocument/completion",
        "codeAction/resolve",
        "workspace/diagnostic",
        "workspace/executeCommand",
        "workspace/textDocumentContent",
    ];
    for method in methods {
        for params in [json!([]), json!([1, 2]), json!({ "textDocument": 7 }), json!({ "uri": 7 })] {
            let refused = editor.refusal(method, params.clone());
            assert_eq!(refused.code, INVALID_PARAMS, "{method} {params}: {refused:?}");
        }
        if method != "workspace/diagnostic" {
            let refused = editor.refusal(method, Value::Null);
            assert_eq!(refused.code, INVALID_PARAMS, "{method} without any: {refused:?}");
        }
    }
    for params in [
        json!({ "textDocument": { "uri": uri }, "position": { "line": "one", "character": 0 } }),
        json!({ "textDocument": { "uri": uri }, "position": { "line": -1, "character": 0 } }),
        json!({ "textDocument": { "uri": uri }, "position": { "line": 1.5, "character": 0 } }),
    ] {
        let refused = editor.refusal("textDocument/hover", params.clone());
        assert_eq!(refused.code, INVALID_PARAMS, "{params}: {refused:?}");
    }
    let wrong_initialize = json!({ "capabilities": 7, "processId": "x" });
    let place = place();
    let mut other = Editor::spawn(&place, Client::pulling());
    assert_eq!(other.refusal("initialize", wrong_initialize).code, INVALID_PARAMS);
    other.initialize();
    other.close();
    editor.close();
}

#[test]
fn documents_that_are_no_files_are_no_harm() {
    let (_place, mut editor, uri) = opened(Client::pulling());
    for other in ["untitled:Untitled-1", "git:/a.py?%7B%7D", "http://example.org/a.py", "file:///", "x", ""] {
        editor.open_text(other, UNUSED);
        let answer = editor.try_pull(other, None);
        assert!(answer.is_ok() || answer.is_err_and(|it| it.code == INVALID_PARAMS), "{other}");
        let hover = json!({ "textDocument": { "uri": other }, "position": { "line": 0, "character": 0 } });
        let id = editor.request("textDocument/hover", hover);
        let _either_is_right = editor.answer(id);
        editor.close_document(other);
    }
    assert_eq!(found(&mut editor, &uri), [F401]);
    editor.close();
}

#[test]
fn ids_of_all_kinds_come_back() {
    let (_place, mut editor, _) = opened(Client::pulling());
    for id in [json!("a"), json!(""), json!(0), json!(-7), json!(i32::MAX), json!("é𐐀\n")] {
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": "$/nothing" }).to_string();
        assert!(editor.wire.send_bytes(&frame(body.as_bytes())));
        let answer = raw_answer(&mut editor);
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(METHOD_NOT_FOUND)), "{answer}");
    }
    editor.close();
}

#[test]
fn headers_as_clients_write_them() {
    let (_place, mut editor, _) = opened(Client::pulling());
    let body = json!({ "jsonrpc": "2.0", "id": "x", "method": "$/nothing" }).to_string();
    let length = body.len();
    for header in [
        format!("Content-Length: {length}\r\n\r\n"),
        format!("content-length: {length}\r\n\r\n"),
        format!("Content-Length:{length}\r\n\r\n"),
        format!("Content-Length:   {length}  \r\n\r\n"),
        format!(
            "Content-Length: {length}\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n"
        ),
        format!("Content-Type: application/vscode-jsonrpc; charset=utf8\r\nContent-Length: {length}\r\n\r\n"),
        format!("X-Other: a: b\r\nContent-Length: {length}\r\n\r\n"),
    ] {
        // Byte by byte, as a pipe may deliver it.
        for byte in format!("{header}{body}").as_bytes() {
            assert!(editor.wire.send_bytes(&[*byte]));
        }
        assert_eq!(raw_answer(&mut editor)["id"], "x", "{header:?}");
    }
    let both = [frame(body.as_bytes()), frame(body.as_bytes())].concat();
    assert!(editor.wire.send_bytes(&both));
    assert_eq!(
        (raw_answer(&mut editor)["id"].clone(), raw_answer(&mut editor)["id"].clone()),
        (json!("x"), json!("x"))
    );
    editor.close();
}

/// The start of the next message is unknown, so that the server can only end, with an error.
#[test]
fn headers_that_are_none_end_it() {
    for bytes in [
        "Content-Length: many\r\n\r\n{}",
        "Content-Length: -1\r\n\r\n{}",
        "Content-Type: x\r\n\r\n{}",
        "GET / HTTP/1.1\r\n\r\n",
        "{\"jsonrpc\": \"2.0\"}\n",
        "Content-Length: 99999999999999999999\r\n\r\n{}",
        "Content-Length: 99999999999\r\n\r\n{}",
        "Content-Length: 50\r\n\r\n{}",
    ] {
        let (_place, mut editor, _) = opened(Client::pulling());
        assert!(editor.wire.send_bytes(bytes.as_bytes()));
        editor.wire.close_input();
        let code = editor.wire.exit_code();
        assert!(code.is_some_and(|it| it != 0), "{bytes:?}: {code:?}");
        let log = editor.wire.log();
        assert!(!log.contains("panicked"), "{bytes:?}: {log}");
    }
}

#[test]
fn a_header_without_an_end_takes_no_memory() {
    let (_place, mut editor, _) = opened(Client::pulling());
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..64 {
        if !editor.wire.send_bytes(&chunk) {
            break;
        }
    }
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", editor.wire.child.id())).unwrap_or_default();
    let peak = status.lines().find_map(|it| it.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 400 << 10, "{peak} KiB");
}

#[test]
fn large_messages_are_taken() {
    let (place, mut editor, _) = opened(Client::pulling());
    let text = "# a line of a comment, as there are many\n".repeat(200_000) + UNUSED;
    let uri = file_uri(&place, "large.py");
    editor.open_text(&uri, &text);
    assert_eq!(found(&mut editor, &uri), [F401]);
    let at = editor.encoding().range_of(&text, "import os");
    editor.change(&uri, &[tests::editor::edit(at, "x = 1")]);
    assert_eq!(found(&mut editor, &uri), [""; 0]);
    editor.close();
}

#[test]
fn what_was_not_asked_for_is_passed_over() {
    let (_place, mut editor, uri) = opened(Client::pulling());
    for body in [
        json!({ "jsonrpc": "2.0", "id": 4711, "result": null }),
        json!({ "jsonrpc": "2.0", "id": "4711", "error": { "code": -1, "message": "x" } }),
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -1, "message": "x" } }),
    ] {
        assert!(editor.wire.send_bytes(&frame(body.to_string().as_bytes())));
    }
    assert_eq!(found(&mut editor, &uri), [F401]);
    editor.close();
}
