//! The beginning: what a server is told, and what it may answer.

use std::{path::PathBuf, time::Duration};

use lsp_client::{
    Client, Exit, Options, PositionEncoding, ProtocolError, RequestError, StartError, WorkspaceFolder, events,
};
use serde_json::json;

use crate::fixture::{BYE, Fake, HELLO, options, start};

fn try_start(options: &Options) -> Result<Client, StartError> {
    start(options, &events(1 << 20).0)
}

#[track_caller]
fn failure(options: &Options) -> RequestError {
    match try_start(options) {
        Err(StartError::Initialize { source, .. }) => source,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it started"),
    }
}

#[test]
fn a_server_says_what_it_is() {
    let answer = json!({
        "capabilities": { "positionEncoding": "utf-8", "hoverProvider": true },
        "serverInfo": { "name": "fake", "version": "1.2" },
    });
    let greeting = format!("{{\"expect\": \"initialize\", \"answer\": {answer}}}");
    let script = format!("{greeting}\n{{\"expect\": \"initialized\"}}{BYE}");
    let client = try_start(&options(&script)).unwrap();
    assert_eq!(client.encoding(), PositionEncoding::Utf8);
    assert_eq!(client.server(), Some("fake 1.2"));
    assert!(client.supports("textDocument/hover") && !client.supports("textDocument/rename"));
    assert_eq!(client.shutdown(Duration::from_secs(60)).exit, Exit::Code(0));
}

#[test]
fn a_server_that_says_little_counts_in_utf_16() {
    let fake = Fake::polite("");
    assert_eq!(fake.client.encoding(), PositionEncoding::Utf16);
    assert_eq!(fake.client.server(), None);
    fake.end();
}

#[test]
fn folders_are_told_whenever_asked() {
    let ask = r#"
        {"expect": "x/go"}
        {"ask": {"id": "f", "method": "workspace/workspaceFolders"}, "wants": [{"name": "w", "uri": "u"}]}
        {"reply": "x/go", "answer": null}
    "#;
    let fake = Fake::with(&format!("{ask}{BYE}"), |it| {
        it.initialize.folders = vec![WorkspaceFolder { uri: "u".into(), name: "w".into() }];
    });
    fake.ask("x/go").unwrap();
    fake.end();
}

#[test]
fn an_encoding_that_was_not_offered() {
    let script = HELLO.replace(r#""capabilities": {}"#, r#""capabilities": {"positionEncoding": "utf-32"}"#);
    let bad = ProtocolError::BadEncoding { encoding: "utf-32".into() };
    assert_eq!(failure(&options(&script)), RequestError::Protocol(bad));
}

#[test]
fn an_answer_without_capabilities() {
    let error = failure(&options(r#"{"expect": "initialize", "answer": null}"#));
    assert!(matches!(error, RequestError::Protocol(ProtocolError::BadAnswer { .. })), "{error}");
}

#[test]
fn a_server_that_refuses() {
    let error =
        failure(&options(r#"{"expect": "initialize", "refuse": {"code": 1, "message": "no licence"}}"#));
    assert_eq!(error.to_string(), "the server refused: no licence (1)");
}

#[test]
fn a_server_that_does_not_answer() {
    let mut options = options(r#"{"hang": true}"#);
    options.limits.start = Duration::from_millis(100);
    assert_eq!(failure(&options), RequestError::TimedOut);
}

#[test]
fn a_server_that_dies_at_once() {
    let error = failure(&options("{\"stderr\": \"no configuration\"}\n{\"exit\": 3}"));
    assert_eq!(error.to_string(), "the server exited with code 3: no configuration");
}

#[test]
fn a_program_that_is_not_there() {
    let mut options = options("");
    options.launch.program = PathBuf::from("no-such-server");
    let error = try_start(&options).err().unwrap().to_string();
    let want = "no-such-server cannot be used: the server exited with code 127: cannot run no-such-server: \
                No such file or directory (os error 2)";
    assert_eq!(error, want);
}

#[test]
fn a_supervisor_that_is_not_there() {
    let mut options = options("");
    options.launch.supervisor.program = PathBuf::from("/no/supervisor");
    assert!(matches!(try_start(&options), Err(StartError::Spawn { .. })));
}
