//! Servers that do not mean well, or cannot: each ends in a way that is told.

use std::time::{Duration, Instant};

use lint::Cancel;
use lsp_client::{Broken, Ended, Epoch, EventKind, Exit, Limits, ProtocolError, RequestError, events};
use serde_json::{Value, json};

use crate::fixture::{BYE, Fake, HELLO, far, options, start};

const PUBLISH: &str =
    r#"{"method": "textDocument/publishDiagnostics", "params": {"uri": "u", "diagnostics": []}}"#;

/// The script goes on when it is asked, and that breaks the connection: who asked learns it, so do all who
/// ask later, and the owner, as the last event.
#[track_caller]
fn check_broken(script: &str, change: impl FnOnce(&mut Limits), want: ProtocolError) {
    let script = format!("{{\"expect\": \"x/go\"}}\n{script}\n{{\"hang\": true}}");
    let fake = Fake::limited(&script, 1 << 20, |it| change(&mut it.limits));
    let want = RequestError::Protocol(want);
    assert_eq!(fake.ask("x/go"), Err(want.clone()));
    assert_eq!(fake.ask("x/go"), Err(want.clone()));
    assert_eq!(fake.client.notify("x/tell", &()), Err(want.clone()));
    assert_eq!(fake.client.wait_for("x/any", far(), &Cancel::default()), Err(want.clone()));
    let last = std::iter::from_fn(|| Some(fake.next())).find_map(|it| match it {
        EventKind::Ended(reason) => Some(reason),
        _ => None,
    });
    assert_eq!(last.map(RequestError::from), Some(want));
    // The server may have noticed that its reader was gone before it was killed.
    assert_ne!(fake.client.kill(), Exit::Unknown);
}

#[test]
fn dies_in_the_middle_of_a_request() {
    let fake = Fake::new(
        r#"
            {"expect": "x/go"}
            {"stderr": "thread 'main' panicked"}
            {"stderr": "and that was it"}
            {"raw": "Content-Length: 100\r\n\r\n{"}
            {"die": true}
        "#,
    );
    let stderr = ["thread 'main' panicked", "and that was it"].map(str::to_owned).to_vec();
    let died = RequestError::ServerDied { exit: Exit::Signal(9), stderr };
    assert_eq!(died.to_string(), "the server was killed by signal 9: and that was it");
    assert_eq!(fake.ask("x/go"), Err(died.clone()));
    assert_eq!(fake.ask("x/later"), Err(died.clone()));
    assert!(matches!(fake.next(), EventKind::Ended(Broken::Died { .. })));
    assert_eq!(fake.client.broken().map(RequestError::from), Some(died));
}

#[test]
fn ends_by_itself() {
    let fake = Fake::new("{\"expect\": \"x/go\"}\n{\"exit\": 3}");
    let died = RequestError::ServerDied { exit: Exit::Code(3), stderr: Vec::new() };
    assert_eq!(fake.ask("x/go"), Err(died));
}

#[test]
fn takes_every_waiting_request_with_it() {
    let fake = Fake::new("{\"expect\": \"x/1\"}\n{\"expect\": \"x/2\"}\n{\"exit\": 3}");
    let cancel = Cancel::default();
    let call = |method| fake.client.call::<_, Value>(method, &(), far(), &cancel).unwrap();
    let calls = [call("x/1"), call("x/2")];
    for call in calls {
        assert!(matches!(call.wait(far(), &cancel), Err(RequestError::ServerDied { .. })));
    }
}

#[test]
fn closes_its_output_and_stays() {
    let fake = Fake::new("{\"expect\": \"x/go\"}\n{\"close-output\": true}\n{\"hang\": true}");
    let died = RequestError::ServerDied { exit: Exit::Signal(9), stderr: Vec::new() };
    assert_eq!(fake.ask("x/go"), Err(died));
}

#[test]
fn hangs() {
    let fake = Fake::new("{\"tell\": \"self\"}\n{\"hang\": true}");
    fake.told();
    assert_eq!(fake.ask_in_vain("x/go"), RequestError::TimedOut);
    assert_eq!(fake.ask_in_vain("x/again"), RequestError::TimedOut);
    assert_eq!(fake.client.broken(), None);
    assert_eq!(fake.client.kill(), Exit::Signal(9));
    assert_eq!(fake.ask("x/later"), Err(RequestError::Gone));
}

#[test]
fn answers_late_for_an_old_request() {
    let fake = Fake::polite(
        r#"
            {"expect": "x/slow"}
            {"expect": "$/cancelRequest"}
            {"expect": "x/slow"}
            {"raw": "Content-Length: 36\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":1} "}
            {"raw": "Content-Length: 38\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":999,\"result\":1} "}
            {"raw": "Content-Length: 38\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":1} "}
            {"reply": "x/slow", "answer": 2}
        "#,
    );
    assert_eq!(fake.ask_in_vain("x/slow"), RequestError::TimedOut);
    assert_eq!(fake.ask("x/slow"), Ok(json!(2)), "{:?}", fake.client.stderr());
    fake.end();
}

#[test]
fn says_something_that_an_older_epoch_is_known_by() {
    let (sink, events) = events(1 << 20);
    let run = |epoch| {
        let script = format!("{HELLO}{{\"send\": {PUBLISH}}}\n{BYE}");
        let mut options = options(&script);
        options.epoch = Epoch(epoch);
        let client = start(&options, &sink).unwrap();
        client.shutdown(Duration::from_secs(60));
    };
    run(1);
    run(2);
    let all: Vec<_> = std::iter::from_fn(|| events.try_next()).collect();
    let told = all.iter().map(|it| (it.epoch.0, matches!(it.kind, EventKind::Ended(_))));
    assert!(told.eq([(1, false), (1, true), (2, false), (2, true)]), "{all:?}");
}

#[test]
fn floods_with_words() {
    let line = r#"{"method": "window/logMessage", "params": {"type": 4, "message": "again"}}"#;
    let flood = format!("{{\"flood\": 50000, \"send\": {line}}}");
    let script = format!("{{\"expect\": \"x/go\"}}\n{flood}\n{{\"reply\": \"x/go\", \"answer\": 7}}\n{BYE}");
    let fake = Fake::limited(&script, 1 << 20, |_| ());
    assert_eq!(fake.ask("x/go"), Ok(json!(7)));
    assert_eq!(fake.client.messages().len(), 200);
    fake.end();
}

#[test]
fn floods_with_events() {
    let size = r#"{"uri":"u","diagnostics":[]}"#.len() + 128;
    let limit = 1 << 20;
    let flood = ProtocolError::Flood { events: limit / size, limit };
    check_broken(&format!("{{\"flood\": 50000, \"send\": {PUBLISH}}}"), |_| (), flood);
}

#[test]
fn floods_with_questions_and_does_not_read() {
    let ask = r#"{"id": 1, "method": "workspace/workspaceFolders"}"#;
    let flood = format!("{{\"flood\": 50000, \"ask\": {ask}}}");
    check_broken(&flood, |it| it.outbox = 1000, ProtocolError::AsksOnly { limit: 1000 });
}

#[test]
fn does_not_read() {
    let fake = Fake::with("{\"hang\": true}", |it| {
        it.limits.not_reading = Duration::from_millis(200);
        it.limits.outbox = 1000;
    });
    // More than a pipe holds.
    fake.client.notify("x/much", &"x".repeat(1 << 20)).unwrap();
    let not_reading = ProtocolError::NotReading { after: Duration::from_millis(200) };
    assert_eq!(fake.ask("x/go"), Err(RequestError::Protocol(not_reading)));
    assert_eq!(fake.client.kill(), Exit::Signal(9));
}

#[test]
fn does_not_read_while_someone_has_no_time() {
    let fake = Fake::with("{\"hang\": true}", |it| it.limits.outbox = 1000);
    fake.client.notify("x/much", &"x".repeat(1 << 20)).unwrap();
    // The writer has taken the first of them, or it has not: there is no room for both of the others.
    fake.client.notify("x/more", &"x".repeat(900)).unwrap();
    let soon = Instant::now() + Duration::from_millis(20);
    let params = "x".repeat(900);
    let answer = fake.client.request::<_, Value>("x/go", &params, soon, &Cancel::default());
    assert_eq!(answer, Err(RequestError::TimedOut));
}

#[test]
fn sends_what_is_no_json() {
    let reason = "key must be a string at line 1 column 2".to_owned();
    check_broken(
        r#"{"raw": "Content-Length: 5\r\n\r\n{bad}"}"#,
        |_| (),
        ProtocolError::BadMessage { reason },
    );
}

#[test]
fn says_a_length_that_is_too_small() {
    let reason = "EOF while parsing an object at line 1 column 10".to_owned();
    let raw = r#"{"raw": "Content-Length: 10\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"a\"}"}"#;
    check_broken(raw, |_| (), ProtocolError::BadMessage { reason });
}

#[test]
fn says_a_length_that_is_too_large() {
    // The next header belongs to the message now.
    let raw = r#"{"raw": "Content-Length: 20\r\n\r\n{\"method\":\"a\"}"}"#;
    let next = r#"{"send": {"method": "b"}}"#;
    let reason = "trailing characters at line 1 column 15".to_owned();
    check_broken(&format!("{raw}\n{next}"), |_| (), ProtocolError::BadMessage { reason });

    // If nothing follows, it hangs.
    let fake = Fake::new(&format!("{{\"expect\": \"x/go\"}}\n{raw}\n{{\"hang\": true}}"));
    assert_eq!(fake.ask_in_vain("x/go"), RequestError::TimedOut);
}

#[test]
fn prints_among_its_messages() {
    let line = "Debugger attached.".to_owned();
    check_broken(r#"{"raw": "Debugger attached.\n"}"#, |_| (), ProtocolError::BadHeader { line });
}

#[test]
fn sends_a_hundred_megabytes() {
    let limit = Limits::default().message;
    check_broken(r#"{"big": 100000000}"#, |_| (), ProtocolError::TooLarge { size: 100_000_000, limit });
}

#[test]
fn sends_as_much_as_it_may() {
    let script = format!("{{\"big\": 4000000}}\n{BYE}");
    let fake = Fake::with(&script, |it| it.limits.message = 4_000_000);
    let told = fake.told();
    assert!(told[0].as_str().unwrap().len() > 3_900_000);
    fake.end();
}

#[test]
fn asks_while_it_is_told_to_end() {
    let fake = Fake::with(
        r#"
            {"expect": "shutdown"}
            {"ask": {"id": 1, "method": "workspace/configuration", "params": {"items": [{"section": "a"}]}}, "wants": [1]}
            {"ask": {"id": 2, "method": "x/strange"}, "refused": -32601}
            {"reply": "shutdown", "answer": null}
            {"expect": "exit"}
        "#,
        |it| it.settings = json!({ "a": 1 }),
    );
    fake.end();
    assert_eq!(fake.ask("x/later"), Err(RequestError::Gone));
}

#[test]
fn ignores_that_it_is_told_to_end() {
    let killed = Ended { exit: Exit::Signal(9), was_killed: true };
    for script in [
        "{\"expect\": \"shutdown\"}\n{\"hang\": true}",
        "{\"expect\": \"shutdown\", \"answer\": null}\n{\"hang\": true}",
    ] {
        let fake = Fake::new(script);
        assert_eq!(fake.client.shutdown(Duration::from_millis(100)), killed);
        assert!(matches!(fake.next(), EventKind::Ended(Broken::Closed)));
    }
}

#[test]
fn is_told_to_end_while_others_wait() {
    let fake = Fake::new(&format!("{{\"expect\": \"x/go\"}}\n{BYE}"));
    let call = fake.client.call::<_, Value>("x/go", &(), far(), &Cancel::default()).unwrap();
    assert_eq!(
        fake.client.shutdown(Duration::from_secs(60)).exit,
        Exit::Code(0),
        "{:?}",
        fake.client.stderr()
    );
    assert_eq!(call.wait(far(), &Cancel::default()), Err(RequestError::Gone));
}

#[test]
fn is_given_up_while_someone_waits() {
    let Fake { client, events: _events } = Fake::new("{\"expect\": \"x/go\"}\n{\"hang\": true}");
    let call = client.call::<_, Value>("x/go", &(), far(), &Cancel::default()).unwrap();
    drop(client);
    assert_eq!(call.wait(far(), &Cancel::default()), Err(RequestError::Gone));
}

#[test]
fn dies_when_it_is_told_to_end() {
    let fake = Fake::new("{\"expect\": \"shutdown\"}\n{\"exit\": 4}");
    let ended = Ended { exit: Exit::Code(4), was_killed: false };
    assert_eq!(fake.client.shutdown(Duration::from_secs(60)), ended);
}
