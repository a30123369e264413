//! The three kinds of JSON-RPC message. Parameters and results stay as they came: the code that knows their type
//! parses them, once.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::Refusal;

/// Names a request, a progress or a registration.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Id {
    Number(i64),
    Text(String),
}

/// Message from a server.
#[derive(Debug)]
pub(crate) enum Message {
    Request {
        id: Id,
        method: String,
        params: Option<Box<RawValue>>,
    },
    Notification {
        method: String,
        params: Option<Box<RawValue>>,
    },
    /// Response; without an id, an error in a message that could not be read.
    Response {
        id: Option<Id>,
        answer: Answer,
    },
}

/// Outcome of a request, as far as the server reports it.
#[derive(Debug)]
pub(crate) enum Answer {
    Result(Box<RawValue>),
    Refused(Refusal),
    /// Neither a result nor an error, which is no answer.
    Nothing,
}

#[derive(Deserialize)]
struct Wire {
    id: Option<Id>,
    method: Option<String>,
    #[serde(default, deserialize_with = "present")]
    params: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Box<RawValue>>,
    error: Option<Refusal>,
}

/// `null` is a value: a hover's answer may be just that.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::deserialize(value).map(Some)
}

impl Message {
    pub(crate) fn parse(body: &[u8]) -> Result<Self, serde_json::Error> {
        let Wire { id, method, params, result, error } = serde_json::from_slice(body)?;
        Ok(match (method, id) {
            (Some(method), Some(id)) => Self::Request { id, method, params },
            (Some(method), None) => Self::Notification { method, params },
            (None, id) => Self::Response { id, answer: answer(result, error) },
        })
    }
}

fn answer(result: Option<Box<RawValue>>, error: Option<Refusal>) -> Answer {
    match (result, error) {
        (_, Some(error)) => Answer::Refused(error),
        (Some(result), None) => Answer::Result(result),
        (None, None) => Answer::Nothing,
    }
}

/// Outgoing message of any kind.
#[derive(Serialize)]
struct Outgoing<'m> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'m Id>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'m str>,
    #[serde(skip_serializing_if = "is_left_out")]
    params: Option<&'m RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'m RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'m Refusal>,
}

const EMPTY: Outgoing<'static> =
    Outgoing { jsonrpc: "2.0", id: None, method: None, params: None, result: None, error: None };

/// Parameters are an object or a list, or they are not there.
fn is_left_out(params: &Option<&RawValue>) -> bool {
    params.is_none_or(|it| it.get() == "null")
}

pub(crate) fn request(id: &Id, method: &str, params: &RawValue) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&Outgoing { id: Some(id), method: Some(method), params: Some(params), ..EMPTY })
}

pub(crate) fn notification(method: &str, params: &RawValue) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&Outgoing { method: Some(method), params: Some(params), ..EMPTY })
}

pub(crate) fn response(
    id: &Id,
    answer: &Result<Box<RawValue>, Refusal>,
) -> Result<Vec<u8>, serde_json::Error> {
    let (result, error) = match answer {
        Ok(result) => (Some(&**result), None),
        Err(error) => (None, Some(error)),
    };
    serde_json::to_vec(&Outgoing { id: Some(id), result, error, ..EMPTY })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, want: &str) {
        let raw = |it: Option<Box<RawValue>>| it.map_or("-".to_owned(), |it| it.get().to_owned());
        let told = match Message::parse(body.as_bytes()) {
            Ok(Message::Request { id, method, params }) => format!("request {id:?} {method} {}", raw(params)),
            Ok(Message::Notification { method, params }) => format!("notification {method} {}", raw(params)),
            Ok(Message::Response { id, answer }) => match answer {
                Answer::Result(result) => format!("result {id:?} {}", result.get()),
                Answer::Refused(error) => format!("error {id:?} {} {}", error.code, error.message),
                Answer::Nothing => format!("nothing {id:?}"),
            },
            Err(_) => "invalid".to_owned(),
        };
        assert_eq!(told, want);
    }

    #[test]
    fn kinds_are_told_apart() {
        check(r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[ 1 ]}"#, "request Number(1) a [ 1 ]");
        check(r#"{"id":"x","method":"a"}"#, r#"request Text("x") a -"#);
        check(r#"{"method":"a","params":null}"#, "notification a null");
        check(r#"{"id":2,"result":{"b":1}}"#, r#"result Some(Number(2)) {"b":1}"#);
        check(r#"{"id":2,"result":null}"#, "result Some(Number(2)) null");
        check(r#"{"id":2,"result":null,"error":{"code":-1,"message":"m"}}"#, "error Some(Number(2)) -1 m");
        check(r#"{"id":null,"error":{"code":-32700,"message":"m"}}"#, "error None -32700 m");
        check(r#"{"id":2}"#, "nothing Some(Number(2))");
    }

    #[test]
    fn what_is_no_message_is_invalid() {
        assert!(Message::parse(b"{\"id\":1,\"result\":\"\xff\"}").is_err());
        for body in ["", "{", "[]", "1", r#"{"id":1.5,"method":"a"}"#, "{} {}", "\u{feff}{}"] {
            check(body, "invalid");
        }
    }

    #[test]
    fn depth_is_no_danger() {
        let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        check(&format!(r#"{{"id":2,"result":{deep}}}"#), &format!("result Some(Number(2)) {deep}"));
        check(&format!(r#"{{"id":2,"error":{{"code":1,"data":{deep}}}}}"#), "invalid");
        check(&deep, "invalid");
    }

    #[test]
    fn what_is_sent() {
        let text = |it: Result<Vec<u8>, _>| String::from_utf8(it.unwrap()).unwrap();
        let raw = |it: &str| RawValue::from_string(it.to_owned()).unwrap();
        let id = Id::Number(7);
        let sent = text(request(&id, "a", &raw("{}")));
        assert_eq!(sent, r#"{"jsonrpc":"2.0","id":7,"method":"a","params":{}}"#);
        assert_eq!(text(notification("exit", &raw("null"))), r#"{"jsonrpc":"2.0","method":"exit"}"#);
        assert_eq!(text(response(&id, &Ok(raw("null")))), r#"{"jsonrpc":"2.0","id":7,"result":null}"#);
        let refused = Err(Refusal { code: -1, message: "m".to_owned(), data: None });
        let want = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"m"}}"#;
        assert_eq!(text(response(&id, &refused)), want);
    }
}
