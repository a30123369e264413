//! Everything that can go wrong with a server: what a caller learns, and whose fault it is.

use std::{io, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Exit;

/// Reason for a request without a result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RequestError {
    #[error("the answer is not wanted any more")]
    Cancelled,

    #[error(
        "no answer in time; a server that stays silent is started again, and `broker server stop` has that done at once"
    )]
    TimedOut,

    /// Death of the server, with the last lines of its standard error.
    #[error("the server {exit}{}", last_words(.stderr))]
    ServerDied { exit: Exit, stderr: Vec<String> },

    #[error("the server refused: {0}")]
    Refused(Refusal),

    /// Message of the server that is not LSP. Only after [`ProtocolError::BadAnswer`] and [`ProtocolError::BadParams`]
    /// the session goes on.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),

    /// Shutdown of the server by us, done or about to begin.
    #[error("the server was ended")]
    Gone,
}

/// An error that a server answered with, or that it is answered with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message} ({code})")]
pub struct Refusal {
    pub code: i64,
    #[serde(default)]
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl Refusal {
    const METHOD_NOT_FOUND: i64 = -32601;
    const INVALID_PARAMS: i64 = -32602;
    const CONTENT_MODIFIED: i64 = -32801;
    const SERVER_CANCELLED: i64 = -32802;

    pub(crate) fn method_not_found(method: &str) -> Self {
        let message = format!("this client has no method `{method}`");
        Self { code: Self::METHOD_NOT_FOUND, message, data: None }
    }

    pub(crate) fn invalid_params(error: &serde_json::Error) -> Self {
        Self { code: Self::INVALID_PARAMS, message: error.to_string(), data: None }
    }

    /// Whether the same request may have an answer a moment later.
    pub(crate) fn is_passing(&self) -> bool {
        let again = || self.data.as_ref().and_then(|it| it.get("retriggerRequest")?.as_bool());
        match self.code {
            Self::CONTENT_MODIFIED => true,
            Self::SERVER_CANCELLED => again().unwrap_or(true),
            _ => false,
        }
    }
}

/// Violation of the protocol by a server, after which no client can continue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    #[error("the server sent a message of {size} bytes, and {limit} is the limit")]
    TooLarge { size: u64, limit: usize },

    #[error("the server sent a header longer than {limit} bytes")]
    LongHeader { limit: usize },

    #[error("the server sent {line:?} where a header should be")]
    BadHeader { line: String },

    #[error("the server sent a header without Content-Length")]
    NoLength,

    #[error("the server's output ended inside a message")]
    Truncated,

    #[error("the server's output cannot be read: {reason}")]
    Unreadable { reason: String },

    #[error("the server sent what is not a message: {reason}")]
    BadMessage { reason: String },

    /// The request's fault only: the connection goes on.
    #[error("the server's answer to `{method}` is not understood: {reason}")]
    BadAnswer { method: String, reason: String },

    /// Our own fault: nothing was sent.
    #[error("the parameters of `{method}` cannot be written as JSON: {reason}")]
    BadParams { method: String, reason: String },

    #[error("the server chose the position encoding `{encoding}`, which it was not offered")]
    BadEncoding { encoding: String },

    #[error("the server has not read its input for {} s", .after.as_secs_f32())]
    NotReading { after: Duration },

    #[error("the server has answered nothing for {} s after a request was given up", .after.as_secs_f32())]
    Hangs { after: Duration },

    #[error("the server asks and does not read: more than {limit} bytes wait for it")]
    AsksOnly { limit: usize },

    #[error("the server sent more than {limit} bytes that nobody took: {events} events")]
    Flood { events: usize, limit: usize },
}

/// Reason for the end of a connection. The first reason stays.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Broken {
    #[error("the server {exit}{}", last_words(.stderr))]
    Died { exit: Exit, stderr: Vec<String> },

    /// Protocol error for which we stopped the server.
    #[error(transparent)]
    Protocol(ProtocolError),

    #[error("the server was ended")]
    Closed,
}

impl From<Broken> for RequestError {
    fn from(it: Broken) -> Self {
        match it {
            Broken::Died { exit, stderr } => Self::ServerDied { exit, stderr },
            Broken::Protocol(error) => Self::Protocol(error),
            Broken::Closed => Self::Gone,
        }
    }
}

/// Reason for a failed start of a session.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("cannot start {} in {}: {source}", program.display(), cwd.display())]
    Spawn { program: PathBuf, cwd: PathBuf, source: io::Error },

    /// Started, but it did not get through `initialize`.
    #[error("{} cannot be used: {source}", program.display())]
    Initialize { program: PathBuf, source: RequestError },
}

fn last_words(stderr: &[String]) -> String {
    stderr.last().map_or_else(String::new, |it| format!(": {it}"))
}
