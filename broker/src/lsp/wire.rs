//! JSON-RPC over two byte streams: one thread reads, another writes.
//!
//! Frames are those of `lsp-client`. The crate `lsp-server` is not used, because it ends the session at the first message that it
//! cannot parse, and cannot answer without an id. JSON-RPC requires an error response in both cases.

use std::{
    io::{BufReader, Read, Write},
    sync::mpsc,
    thread,
};

use lsp_client::{Id, ProtocolError, Refusal, frame, read_frame};
use serde_json::{Value, json};
use tokio::sync::{mpsc as tokio_mpsc, oneshot};

use super::failure::Failure;

/// Limit on the size of a message, in bytes.
const MAX_MESSAGE: usize = 256 << 20;

/// Messages that are read before the session handles them.
const QUEUE: usize = 1024;

/// Message that a client sent.
#[derive(Debug)]
pub(super) enum Incoming {
    Request {
        id: Id,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    Response {
        id: Id,
        answer: Result<Value, Refusal>,
    },
    /// A response without an id.
    Ignored,
    /// Not a valid message. Answered with the error.
    Malformed {
        id: Option<Id>,
        failure: Failure,
    },
    /// A broken frame. Nothing behind it can be read.
    Broken(ProtocolError),
}

/// Reads until the stream ends, on a thread of its own.
pub(super) fn read(input: impl Read + Send + 'static) -> tokio_mpsc::Receiver<Incoming> {
    let (sender, receiver) = tokio_mpsc::channel(QUEUE);
    thread::spawn(move || {
        let mut input = BufReader::new(input);
        loop {
            let incoming = match read_frame(&mut input, MAX_MESSAGE) {
                Ok(Some(body)) => parse(&body),
                Ok(None) => return,
                Err(error) => Incoming::Broken(error),
            };
            let is_last = matches!(incoming, Incoming::Broken(_));
            if sender.blocking_send(incoming).is_err() || is_last {
                return;
            }
        }
    });
    receiver
}

/// Writes messages on a thread of its own, which ends at an empty message, or when the client has closed its end. The receiver
/// is closed at that end.
pub(super) fn write(
    mut output: impl Write + Send + 'static,
) -> (mpsc::Sender<Vec<u8>>, oneshot::Receiver<()>) {
    let (sender, receiver) = mpsc::channel::<Vec<u8>>();
    let (ended, written) = oneshot::channel();
    thread::spawn(move || {
        let _ended: oneshot::Sender<()> = ended;
        for body in receiver.into_iter().take_while(|it: &Vec<u8>| !it.is_empty()) {
            let written = output.write_all(&frame(&body)).and_then(|()| output.flush());
            if written.is_err() {
                return;
            }
        }
    });
    (sender, written)
}

fn parse(body: &[u8]) -> Incoming {
    let parsed = serde_json::from_slice(body);
    // JSON of UTF-16 strings may have unpaired surrogates. If the message were dropped, the document would be out of step.
    match parsed.or_else(|error| serde_json::from_slice(&without_lone_surrogates(body)).map_err(|_| error)) {
        Ok(Value::Object(message)) => message_of(message),
        Ok(Value::Array(_)) => malformed(None, "LSP has no batches: send each message by itself"),
        Ok(_) => malformed(None, "a message is an object"),
        Err(error) => {
            Incoming::Malformed { id: None, failure: Failure::parse(format!("this is no JSON: {error}")) }
        }
    }
}

/// Returns the text with U+FFFD for each escaped surrogate that is not one of a pair.
fn without_lone_surrogates(body: &[u8]) -> Vec<u8> {
    let unit = |at: usize| {
        let digits = body.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let (mut clean, mut at) = (Vec::with_capacity(body.len()), 0);
    while at < body.len() {
        let length = match (body[at], unit(at), unit(at + 6)) {
            (b'\\', Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (b'\\', Some(0xD800..=0xDFFF), _) => {
                clean.extend_from_slice(b"\\ufffd");
                at += 6;
                continue;
            }
            (b'\\', _, _) => 2,
            _ => 1,
        };
        let end = (at + length).min(body.len());
        clean.extend_from_slice(&body[at..end]);
        at = end;
    }
    clean
}

fn malformed(id: Option<Id>, why: &str) -> Incoming {
    Incoming::Malformed { id, failure: Failure::invalid_request(why) }
}

fn message_of(mut message: serde_json::Map<String, Value>) -> Incoming {
    let id = match message.remove("id") {
        None | Some(Value::Null) => None,
        Some(it) => match serde_json::from_value::<Id>(it) {
            Ok(id) => Some(id),
            Err(_) => return malformed(None, "an `id` is a whole number or a string"),
        },
    };
    if message.get("jsonrpc").is_none_or(|it| it != "2.0") {
        return malformed(id, "`jsonrpc` is \"2.0\"");
    }
    let params = message.remove("params").unwrap_or_default();
    match (message.remove("method"), id) {
        (Some(Value::String(method)), id) => {
            let is_asked = id.is_some();
            if is_asked && !matches!(params, Value::Null | Value::Object(_) | Value::Array(_)) {
                return malformed(id, "`params` is an object or an array");
            }
            match id {
                Some(id) => Incoming::Request { id, method, params },
                None => Incoming::Notification { method, params },
            }
        }
        (Some(_), id) => malformed(id, "a `method` is a string"),
        (None, Some(id)) => response(id, &mut message),
        (None, None) if message.contains_key("result") || message.contains_key("error") => Incoming::Ignored,
        (None, None) => malformed(None, "there is neither a `method` nor an `id`"),
    }
}

fn response(id: Id, message: &mut serde_json::Map<String, Value>) -> Incoming {
    match (message.remove("result"), message.remove("error")) {
        (_, Some(error)) if !error.is_null() => {
            let refusal = serde_json::from_value(error);
            let unknown =
                |_| Refusal { code: 0, message: "an error that says nothing".to_owned(), data: None };
            Incoming::Response { id, answer: Err(refusal.unwrap_or_else(unknown)) }
        }
        (Some(result), _) => Incoming::Response { id, answer: Ok(result) },
        (None, _) => malformed(Some(id), "there is no `method`, no `result` and no `error`"),
    }
}

/// A response. It has no id if that of the message could not be read.
pub(super) fn answer(id: Option<&Id>, answer: Result<Value, Failure>) -> Value {
    match answer {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(failure) => json!({"jsonrpc": "2.0", "id": id, "error": failure.to_json()}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(body: &str) -> String {
        match parse(body.as_bytes()) {
            Incoming::Request { id, method, .. } => format!("request {id:?} {method}"),
            Incoming::Notification { method, .. } => format!("notification {method}"),
            Incoming::Response { id, answer } => format!("response {id:?} {}", answer.is_ok()),
            Incoming::Malformed { id, failure } => format!("malformed {id:?} {}", failure.code()),
            Incoming::Ignored => "ignored".to_owned(),
            Incoming::Broken(error) => error.to_string(),
        }
    }

    #[test]
    fn messages_are_told_from_what_is_none() {
        for (body, want) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#, "request Number(1) a"),
            (r#"{"jsonrpc":"2.0","id":"x","method":"a","params":[]}"#, r#"request Text("x") a"#),
            (r#"{"jsonrpc":"2.0","method":"a","params":null}"#, "notification a"),
            (
                r#"{"jsonrpc":"2.0","method":"a\\\ud835 \ud835\udc00 \udc00"}"#,
                "notification a\\\u{fffd} \u{1d400} \u{fffd}",
            ),
            (r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#, "notification a"),
            (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "response Number(1) true"),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#, "response Number(1) false"),
            (r#"{"jsonrpc":"2.0","id":1,"error":7}"#, "response Number(1) false"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":1}"#, "malformed Some(Number(1)) -32600"),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#, "malformed None -32600"),
            (r#"{"jsonrpc":"2.0","id":1,"method":2}"#, "malformed Some(Number(1)) -32600"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "malformed Some(Number(1)) -32600"),
            ("{}", "malformed None -32600"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, "malformed Some(Number(1)) -32600"),
            (r#"{"jsonrpc":"2.0","result":1}"#, "ignored"),
            (r#"[{"id":1,"method":"a"}]"#, "malformed None -32600"),
            ("7", "malformed None -32600"),
            ("{", "malformed None -32700"),
            ("", "malformed None -32700"),
        ] {
            assert_eq!(kind(body), want, "{body}");
        }
    }
}
