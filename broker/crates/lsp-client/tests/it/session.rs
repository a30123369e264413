//! Asking and being asked, with a server that means well.

use std::time::{Duration, Instant};

use lint::Cancel;
use lsp_client::{EditPolicy, EventKind, Id, ProtocolError, RequestError, ServerStatus};
use serde_json::{Value, json, value::RawValue};

use crate::fixture::{BYE, Fake, far};

/// The server asks this while it holds up a request, and gets that.
#[track_caller]
fn check_asked(method: &str, params: Value, want: Value) -> Fake {
    check_asked_with(method, params, &json!({ "wants": want }), EditPolicy::Refuse)
}

#[track_caller]
fn check_asked_with(method: &str, params: Value, want: &Value, edits: EditPolicy) -> Fake {
    let mut step = json!({ "ask": { "jsonrpc": "2.0", "id": 1, "method": method, "params": params } });
    step.as_object_mut().unwrap().extend(want.as_object().unwrap().clone());
    let script = format!("{{\"expect\": \"x/go\"}}\n{step}\n{{\"reply\": \"x/go\", \"answer\": 7}}\n{BYE}");
    let fake = Fake::with(&script, |it| {
        it.settings = json!({ "python": { "analysis": { "mode": "open" } } });
        it.edits = edits;
    });
    let answer = fake.ask("x/go");
    assert_eq!(answer, Ok(json!(7)), "{:?}", fake.client.stderr());
    fake
}

#[test]
fn any_method_can_be_asked() {
    let fake = Fake::polite(
        r#"
            {"expect": "x/ask", "with": {"a": [1]}, "answer": {"b": null}}
            {"expect": "x/none", "answer": null}
            {"expect": "x/raw", "answer": [ 1,  2 ]}
            {"expect": "x/tell", "with": ["t"]}
        "#,
    );
    let client = &fake.client;
    let cancel = Cancel::default();
    let answer = client.request::<_, Value>("x/ask", &json!({ "a": [1] }), far(), &cancel);
    assert_eq!(answer, Ok(json!({ "b": null })));
    assert_eq!(client.request::<_, Option<u32>>("x/none", &(), far(), &cancel), Ok(None));
    let raw: Box<RawValue> = client.request("x/raw", &(), far(), &cancel).unwrap();
    assert_eq!(raw.get(), "[1,2]");
    client.notify("x/tell", &["t"]).unwrap();
    fake.end();
}

#[test]
fn answers_find_their_requests() {
    let fake = Fake::polite(
        r#"
            {"expect": "x/first"}
            {"expect": "x/second"}
            {"reply": "x/second", "answer": 2}
            {"reply": "x/first", "answer": 1}
        "#,
    );
    let cancel = Cancel::default();
    let call = |method| fake.client.call::<_, u32>(method, &(), far(), &cancel).unwrap();
    let (first, second) = (call("x/first"), call("x/second"));
    assert_eq!((first.wait(far(), &cancel), second.wait(far(), &cancel)), (Ok(1), Ok(2)));
    fake.end();
}

#[test]
fn an_answer_of_another_type_is_no_answer() {
    let script = r#"
        {"expect": "x/number", "answer": "text"}
        {"expect": "x/nothing"}
        {"reply": "x/nothing"}
    "#;
    let fake = Fake::polite(script);
    for method in ["x/number", "x/nothing"] {
        let answer = fake.client.request::<_, u32>(method, &(), far(), &Cancel::default());
        let Err(RequestError::Protocol(ProtocolError::BadAnswer { method: told, .. })) = answer else {
            panic!("{answer:?}")
        };
        assert_eq!(told, method);
    }
    fake.end();
}

#[test]
fn what_cannot_be_written_is_not_sent() {
    let fake = Fake::polite("");
    let params = std::collections::HashMap::from([(vec![1], 1)]);
    let error = fake.client.notify("x/map", &params).unwrap_err();
    assert!(matches!(error, RequestError::Protocol(ProtocolError::BadParams { .. })), "{error}");
    fake.end();
}

#[test]
fn a_refusal_is_handed_on() {
    let refuse = r#"{"expect": "x/ask", "refuse": {"code": -32602, "message": "m", "data": {"a": 1}}}"#;
    let fake = Fake::polite(refuse);
    let Err(RequestError::Refused(refusal)) = fake.ask("x/ask") else { panic!() };
    assert_eq!((refusal.code, &*refusal.message, refusal.data), (-32602, "m", Some(json!({ "a": 1 }))));
    fake.end();
}

#[test]
fn a_request_that_came_at_a_bad_moment_is_sent_again() {
    let fake = Fake::polite(
        r#"
            {"expect": "x/ask", "refuse": {"code": -32801, "message": "content modified"}}
            {"expect": "x/ask", "refuse": {"code": -32802, "message": "server cancelled"}}
            {"expect": "x/ask", "refuse": {"code": -32802, "message": "", "data": {"retriggerRequest": true}}}
            {"expect": "x/ask", "with": {}, "answer": 7}
            {"expect": "x/ask", "refuse": {"code": -32802, "message": "", "data": {"retriggerRequest": false}}}
        "#,
    );
    assert_eq!(fake.ask("x/ask"), Ok(json!(7)));
    assert!(matches!(fake.ask("x/ask"), Err(RequestError::Refused(_))));
    fake.end();
}

#[test]
fn it_is_not_sent_again_for_ever() {
    let busy = r#"{"expect": "x/ask", "refuse": {"code": -32801, "message": ""}}"#;
    let fake = Fake::new(&format!("{busy}\n{{\"hang\": true}}"));
    let call = fake.client.call::<_, Value>("x/ask", &json!({}), far(), &Cancel::default()).unwrap();
    let soon = Instant::now() + Duration::from_millis(50);
    assert_eq!(call.wait(soon, &Cancel::default()), Err(RequestError::TimedOut));
}

#[test]
fn a_cancelled_request_is_given_up() {
    let fake = Fake::polite(
        r#"
            {"expect": "x/ask"}
            {"expect": "$/cancelRequest", "with": {"id": 2}}
            {"reply": "x/ask", "refuse": {"code": -32800, "message": "cancelled"}}
            {"expect": "x/more", "answer": 7}
        "#,
    );
    let cancel = Cancel::default();
    let call = fake.client.call::<_, Value>("x/ask", &json!({}), far(), &cancel).unwrap();
    cancel.cancel();
    assert_eq!(call.wait(far(), &cancel), Err(RequestError::Cancelled));
    let unsent = fake.client.request::<_, Value>("x/ask", &json!({}), far(), &cancel);
    assert_eq!(unsent, Err(RequestError::Cancelled));
    assert_eq!(fake.ask("x/more"), Ok(json!(7)));
    fake.end();
}

#[test]
fn configuration_is_told_by_section() {
    let items = json!({ "items": [
        { "section": "python.analysis" }, { "scopeUri": "a", "section": "rust" }, {},
    ] });
    let all = json!({ "python": { "analysis": { "mode": "open" } } });
    check_asked("workspace/configuration", items, json!([{ "mode": "open" }, null, all])).end();
}

#[test]
fn what_needs_no_thought() {
    check_asked("window/workDoneProgress/create", json!({ "token": "t" }), Value::Null).end();
    check_asked("window/showDocument", json!({ "uri": "u" }), json!({ "success": false })).end();
    check_asked("workspace/workspaceFolders", Value::Null, json!([])).end();
    let fake =
        check_asked("window/showMessageRequest", json!({ "type": 1, "message": "Restart?" }), Value::Null);
    assert_eq!(fake.client.messages(), ["Restart?"]);
    fake.end();
}

#[test]
fn what_is_not_known_is_refused() {
    let refused = |code: i32| json!({ "refused": code });
    check_asked_with("x/strange", Value::Null, &refused(-32601), EditPolicy::Refuse).end();
    check_asked_with("workspace/configuration", json!({}), &refused(-32602), EditPolicy::Refuse).end();
    check_asked_with("client/registerCapability", Value::Null, &refused(-32602), EditPolicy::Refuse).end();
}

#[test]
fn refreshes_are_told_to_the_owner() {
    for method in ["workspace/diagnostic/refresh", "workspace/foldingRange/refresh"] {
        let fake = check_asked(method, Value::Null, Value::Null);
        assert!(matches!(fake.next(), EventKind::Refresh { method: told } if told == method));
        fake.end();
    }
}

#[test]
fn edits_are_refused_or_captured() {
    let params = json!({ "label": "l", "edit": { "changes": {} } });
    let refused = json!({ "applied": false, "failureReason": "this client changes no files" });
    check_asked("workspace/applyEdit", params.clone(), refused).end();

    let done = json!({ "wants": { "applied": true } });
    let fake = check_asked_with("workspace/applyEdit", params, &done, EditPolicy::Capture);
    let EventKind::Edit { label, edit } = fake.next() else { panic!() };
    assert_eq!((label.as_deref(), edit.get()), (Some("l"), r#"{"changes":{}}"#));
    fake.end();
}

#[test]
fn what_is_registered_is_supported() {
    let pull = "textDocument/diagnostic";
    let registration = json!({ "id": "p", "method": pull, "registerOptions": { "a": 1 } });
    let params = json!({ "registrations": [registration], "unregisterations": [registration] });
    let ask = |method| json!({ "ask": { "id": 1, "method": method, "params": params }, "wants": null });
    let (register, unregister) = (ask("client/registerCapability"), ask("client/unregisterCapability"));
    let fake = Fake::new(&format!(
        r#"
            {register}
            {{"expect": "x/go"}}
            {unregister}
            {{"reply": "x/go", "answer": null}}
            {BYE}
        "#
    ));
    fake.client.wait_for(pull, far(), &Cancel::default()).unwrap();
    assert_eq!(fake.client.options(pull), [json!({ "a": 1 })]);
    fake.ask("x/go").unwrap();
    assert!(!fake.client.supports(pull));
    let none = fake.client.wait_for(pull, Instant::now(), &Cancel::default());
    assert_eq!(none, Err(RequestError::TimedOut));
    for _ in 0..2 {
        assert!(matches!(fake.next(), EventKind::Capabilities { methods } if methods == [pull]));
    }
    fake.end();
}

#[test]
fn events_come_in_order_and_before_the_answer() {
    let fake = Fake::polite(
        r#"
            {"expect": "x/go"}
            {"send": {"method": "textDocument/publishDiagnostics", "params": {"uri": "a", "version": 3, "diagnostics": []}}}
            {"send": {"method": "textDocument/publishDiagnostics", "params": {"uri": "a", "version": 3, "diagnostics": [1]}}}
            {"send": {"method": "textDocument/publishDiagnostics", "params": {"uri": "b", "diagnostics": []}}}
            {"send": {"method": "window/logMessage", "params": {"type": 3, "message": "said"}}}
            {"send": {"method": "telemetry/event", "params": {}}}
            {"send": {"method": "$/progress", "params": {"token": 4, "value": {"kind": "end"}}}}
            {"send": {"method": "experimental/serverStatus", "params": {"health": "ok", "quiescent": true}}}
            {"send": {"method": "textDocument/publishDiagnostics", "params": {"diagnostics": []}}}
            {"send": {"method": "x/own", "params": [1]}}
            {"reply": "x/go", "answer": null}
        "#,
    );
    fake.ask("x/go").unwrap();
    let told: Vec<_> = std::iter::from_fn(|| fake.events.try_next()).map(|it| told(it.kind)).collect();
    let want = ["a 3 []", "a 3 [1]", "b - []", r#"Number(4) {"kind":"end"}"#, "ok true", "x/own [1]"];
    assert_eq!(told, want);
    let messages = fake.client.messages();
    assert_eq!(messages[0], "said");
    assert!(
        messages[1].starts_with("`textDocument/publishDiagnostics` was not understood: "),
        "{messages:?}"
    );
    fake.end();
}

fn told(event: EventKind) -> String {
    match event {
        EventKind::Diagnostics { uri, version, diagnostics } => {
            format!("{uri} {} {}", version.map_or("-".to_owned(), |it| it.to_string()), diagnostics.get())
        }
        EventKind::Progress { token: token @ (Id::Number(_) | Id::Text(_)), value } => {
            format!("{token:?} {value}")
        }
        EventKind::Status(ServerStatus { health, quiescent, .. }) => format!("{health} {quiescent}"),
        EventKind::Other { method, params } => format!("{method} {}", params.unwrap().get()),
        other => format!("{other:?}"),
    }
}
