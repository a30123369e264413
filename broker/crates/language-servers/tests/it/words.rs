//! Messages to and from a scripted server.

use serde_json::{Value, json};

pub(crate) fn uri(name: &str) -> String {
    format!("file:///w/{name}")
}

pub(crate) fn expect(method: &str, with: Value) -> String {
    json!({ "expect": format!("textDocument/{method}"), "with": with }).to_string()
}

pub(crate) fn open(name: &str, version: u32, text: &str) -> String {
    let item = json!({ "uri": uri(name), "languageId": "m", "version": version, "text": text });
    expect("didOpen", json!({ "textDocument": item }))
}

pub(crate) fn change(name: &str, version: u32, text: &str) -> String {
    let document = json!({ "uri": uri(name), "version": version });
    expect("didChange", json!({ "textDocument": document, "contentChanges": [{ "text": text }] }))
}

pub(crate) fn close(name: &str) -> String {
    expect("didClose", json!({ "textDocument": { "uri": uri(name) } }))
}

pub(crate) fn report(messages: &[&str]) -> Value {
    let zero = json!({ "line": 0, "character": 0 });
    let item = |it: &&str| json!({ "range": { "start": zero, "end": zero }, "message": it });
    json!({ "kind": "full", "items": messages.iter().map(item).collect::<Vec<_>>() })
}

pub(crate) fn pull(name: &str, messages: &[&str]) -> String {
    let with = json!({ "textDocument": { "uri": uri(name) } });
    json!({ "expect": "textDocument/diagnostic", "with": with, "answer": report(messages) }).to_string()
}

/// For a document of this version, or of none.
pub(crate) fn publish(name: &str, version: Option<u32>, messages: &[&str]) -> String {
    let diagnostics = &report(messages)["items"];
    let mut params = json!({ "uri": uri(name), "diagnostics": diagnostics });
    if let Some(version) = version {
        params["version"] = json!(version);
    }
    json!({ "send": { "method": "textDocument/publishDiagnostics", "params": params } }).to_string()
}

pub(crate) const FENCE: &str =
    r#"{"expect": "broker/fence", "refuse": {"code": -32601, "message": "no such method"}}"#;
