//! JSON-RPC messages, read as far as the proxy decides by.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json, value::RawValue};

/// A message as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) line: Vec<u8>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Request {
        id: Id,
        method: String,
    },
    Notification {
        method: String,
    },
    Response {
        id: Id,
    },
    /// Not a valid message; its receiver says so.
    Other,
}

/// Identifier of a request, as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Id(String);

/// Error of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    code: i32,
    message: String,
}

#[derive(Deserialize)]
struct Envelope {
    id: Option<Value>,
    method: Option<String>,
}

impl Message {
    /// The message of a line, or those of a batch.
    pub(super) fn all_of(line: Vec<u8>) -> Vec<Self> {
        let is_batch = line.trim_ascii_start().starts_with(b"[");
        let batch = if is_batch { serde_json::from_slice::<Vec<&RawValue>>(&line).ok() } else { None };
        match batch {
            Some(batch) if !batch.is_empty() => {
                batch.into_iter().map(|it| Self::of(it.get().as_bytes().to_vec())).collect()
            }
            _ => vec![Self::of(line)],
        }
    }

    fn of(line: Vec<u8>) -> Self {
        let kind = serde_json::from_slice(&line).map_or(Kind::Other, Envelope::kind);
        Self { line, kind }
    }

    /// The parameters, if they have the form of a `T`.
    pub(super) fn params<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        #[derive(Deserialize)]
        struct WithParams<T> {
            params: T,
        }
        let read = serde_json::from_slice::<WithParams<T>>(&self.line);
        read.map(|it| it.params).map_err(|error| Failure::invalid(format!("the parameters: {error}")))
    }

    /// The result of a response, which may be `null`; `None` for an error.
    pub(super) fn result(&self) -> Option<Value> {
        #[derive(Deserialize)]
        struct Answer {
            #[serde(default)]
            result: Value,
            error: Option<Value>,
        }
        let answer = serde_json::from_slice::<Answer>(&self.line).ok()?;
        answer.error.is_none().then_some(answer.result)
    }

    /// The message with other parameters.
    pub(super) fn with_params(&self, edit: impl FnOnce(&mut Value)) -> Vec<u8> {
        let Ok(mut message) = serde_json::from_slice::<Value>(&self.line) else { return self.line.clone() };
        if message.get("params").is_some() {
            edit(&mut message["params"]);
        }
        message.to_string().into_bytes()
    }
}

impl Envelope {
    fn kind(self) -> Kind {
        match (self.method, self.id.map(|it| Id(it.to_string()))) {
            (Some(method), Some(id)) => Kind::Request { id, method },
            (Some(method), None) => Kind::Notification { method },
            (None, Some(id)) => Kind::Response { id },
            (None, None) => Kind::Other,
        }
    }
}

impl Failure {
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self { code: -32602, message: message.into() }
    }

    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self { code: -32002, message: message.into() }
    }

    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self { code: -32603, message: message.into() }
    }
}

/// A response of the proxy's own.
pub(super) fn response(id: &Id, answer: Result<Value, Failure>) -> Vec<u8> {
    let id: Value = serde_json::from_str(&id.0).unwrap_or_default();
    let message = match answer {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(Failure { code, message }) => {
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
        }
    };
    message.to_string().into_bytes()
}

/// A `session/update`.
pub(super) fn update(session: &str, update: &Value) -> Vec<u8> {
    let params = json!({ "sessionId": session, "update": update });
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(line: &str) -> Vec<String> {
        let kind = |it: Message| match it.kind {
            Kind::Request { id, method } => format!("request {} {method}", id.0),
            Kind::Notification { method } => format!("notification {method}"),
            Kind::Response { id } => format!("response {}", id.0),
            Kind::Other => format!("other {}", String::from_utf8(it.line).unwrap()),
        };
        Message::all_of(line.as_bytes().to_vec()).into_iter().map(kind).collect()
    }

    #[test]
    fn messages_are_told_apart() {
        for (line, want) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{}}"#, vec!["request 1 a"]),
            (r#"{"id":"1","method":"_x/\u0061"}"#, vec![r#"request "1" _x/a"#]),
            (r#"{"method":"a","id":null}"#, vec!["notification a"]),
            (r#"{"id":1,"result":null}"#, vec!["response 1"]),
            (r#"{"id":1,"error":{}}"#, vec!["response 1"]),
            (r#" [{"id":1,"method":"a"}, {"method":"b"}]"#, vec!["request 1 a", "notification b"]),
            ("[]", vec!["other []"]),
            ("[1", vec!["other [1"]),
            ("{", vec!["other {"]),
            ("", vec!["other "]),
        ] {
            assert_eq!(kinds(line), want, "{line}");
        }
    }

    #[test]
    fn a_result_may_be_null() {
        let result = |line: &str| Message::all_of(line.as_bytes().to_vec())[0].result();
        assert_eq!(result(r#"{"id":1,"result":{"a":1}}"#), Some(json!({ "a": 1 })));
        assert_eq!(result(r#"{"id":1,"result":null}"#), Some(Value::Null));
        assert_eq!(result(r#"{"id":1,"error":{"code":1}}"#), None);
    }

    #[test]
    fn other_parameters_stay() {
        let line = br#"{"id":1,"method":"a","params":{"x":{"y":[1]},"z":2},"_w":0}"#.to_vec();
        let message = &Message::all_of(line)[0];
        let edited = message.with_params(|it| it["z"] = 3.into());
        let edited: Value = serde_json::from_slice(&edited).unwrap();
        assert_eq!(edited, json!({"id":1,"method":"a","params":{"x":{"y":[1]},"z":3},"_w":0}));
    }
}
