//! Errors that requests are answered with.

use lsp_client::Refusal;
use serde_json::{Value, json};
use workspaces::{ErrorKind, RequestError};

use crate::CliError;

/// An error of JSON-RPC or LSP: code, message and data.
#[derive(Debug, Clone)]
pub(super) struct Failure(Box<Refusal>);

impl Failure {
    const PARSE: i64 = -32700;
    const INVALID_REQUEST: i64 = -32600;
    const METHOD_NOT_FOUND: i64 = -32601;
    const INVALID_PARAMS: i64 = -32602;
    const INTERNAL: i64 = -32603;
    const NOT_INITIALIZED: i64 = -32002;
    const CANCELLED: i64 = -32800;
    const CONTENT_MODIFIED: i64 = -32801;
    const SERVER_CANCELLED: i64 = -32802;
    const FAILED: i64 = -32803;

    fn new(code: i64, message: impl Into<String>) -> Self {
        Self(Box::new(Refusal { code, message: message.into(), data: None }))
    }

    pub(super) fn parse(message: impl Into<String>) -> Self {
        Self::new(Self::PARSE, message)
    }

    pub(super) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(Self::INVALID_REQUEST, message)
    }

    pub(super) fn no_method(method: &str) -> Self {
        Self::new(Self::METHOD_NOT_FOUND, format!("there is no method `{method}` here"))
    }

    pub(super) fn invalid_params(message: impl ToString) -> Self {
        Self::new(Self::INVALID_PARAMS, message.to_string())
    }

    pub(super) fn internal(message: impl ToString) -> Self {
        Self::new(Self::INTERNAL, message.to_string())
    }

    pub(super) fn not_initialized() -> Self {
        Self::new(Self::NOT_INITIALIZED, "the first request is `initialize`")
    }

    pub(super) fn cancelled() -> Self {
        Self::new(Self::CANCELLED, "the client has cancelled this")
    }

    /// The document changed while the answer was computed. The client may ask again.
    pub(super) fn content_modified() -> Self {
        Self::new(Self::CONTENT_MODIFIED, "the document has changed meanwhile")
    }

    /// For diagnostics: the client is to send the request again.
    pub(super) fn ask_again(message: impl Into<String>) -> Self {
        let failure = Self::new(Self::SERVER_CANCELLED, message);
        failure.data(json!({"retriggerRequest": true}))
    }

    /// A valid request that could not be carried out.
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self::new(Self::FAILED, message)
    }

    pub(super) fn data(mut self, data: Value) -> Self {
        self.0.data = Some(data);
        self
    }

    pub(super) fn to_json(&self) -> Value {
        json!(*self.0)
    }

    pub(super) fn message(&self) -> &str {
        &self.0.message
    }

    #[cfg(test)]
    pub(super) fn code(&self) -> i64 {
        self.0.code
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self(Box::new(refusal))
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::internal(error)
    }
}

/// An error of the daemon. `data` has its reason, its hint and the paths it concerns.
impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        let paths: Vec<_> = error.obstacles.iter().map(|it| it.path.clone()).collect();
        let (reason, is_invalid) = (error.reason.clone(), error.kind == ErrorKind::Invalid);
        let error = CliError::from(error);
        let data = json!({"reason": reason, "hint": error.hint, "paths": paths});
        let code = if is_invalid { Self::INVALID_PARAMS } else { Self::FAILED };
        Self::new(code, error.message).data(data)
    }
}
