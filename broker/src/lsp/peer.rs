//! Messages to the client: answers, notifications and requests.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    rc::Rc,
    sync::mpsc,
};

use gen_lsp_types::{
    LogMessageNotification, LogMessageParams, MessageType, Notification, Request, ShowMessageNotification,
    ShowMessageParams,
};
use lsp_client::{Id, Refusal};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{failure::Failure, wire};

/// Handle to the client; clones are the same client.
#[derive(Clone)]
pub(super) struct Peer(Rc<Inner>);

struct Inner {
    outgoing: mpsc::Sender<Vec<u8>>,
    next: Cell<i64>,
    /// Requests that the client has not answered yet.
    asked: RefCell<HashMap<Id, oneshot::Sender<Result<Value, Refusal>>>>,
}

impl Peer {
    pub(super) fn new(outgoing: mpsc::Sender<Vec<u8>>) -> Self {
        Self(Rc::new(Inner { outgoing, next: Cell::new(1), asked: RefCell::default() }))
    }

    fn send(&self, message: &Value) {
        // Serialising a value cannot fail. A client that is gone is noticed by the reader.
        let Ok(body) = serde_json::to_vec(message) else { return };
        let _client_left = self.0.outgoing.send(body);
    }

    /// Ends the writer once it has written what was sent before.
    pub(super) fn close(&self) {
        let _client_left = self.0.outgoing.send(Vec::new());
    }

    pub(super) fn answer(&self, id: Option<&Id>, answer: Result<Value, Failure>) {
        self.send(&wire::answer(id, answer));
    }

    pub(super) fn notify<N: Notification>(&self, params: &N::Params) {
        self.notify_by_name(N::METHOD.as_str(), json!(params));
    }

    /// For notifications that are not part of LSP.
    pub(super) fn notify_by_name(&self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and waits for the answer. A client may never answer, so only work that depends on the answer may wait.
    pub(super) async fn ask<R: Request>(&self, params: &R::Params) -> Result<R::Result, Failure> {
        let answer = self.ask_by_name(R::METHOD.as_str(), json!(params)).await?;
        serde_json::from_value(answer)
            .map_err(|error| Failure::internal(format!("the client's answer: {error}")))
    }

    async fn ask_by_name(&self, method: &str, params: Value) -> Result<Value, Failure> {
        let number = self.0.next.replace(self.0.next.get() + 1);
        let id = Id::Text(format!("broker-{number}"));
        let (sender, answer) = oneshot::channel();
        self.0.asked.borrow_mut().insert(id.clone(), sender);
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(&message);
        answer.await.map_err(|_| Failure::internal("the client left"))?.map_err(Failure::from)
    }

    /// Takes a response. One that answers no request is ignored.
    pub(super) fn answered(&self, id: &Id, answer: Result<Value, Refusal>) {
        let asked = self.0.asked.borrow_mut().remove(id);
        if let Some(asked) = asked {
            let _no_longer_waited_for = asked.send(answer);
        }
    }

    /// Writes to the client's log.
    pub(super) fn log(&self, kind: MessageType, message: impl Into<String>) {
        self.notify::<LogMessageNotification>(&LogMessageParams { kind, message: message.into() });
    }

    /// Shows a message to the user.
    pub(super) fn show(&self, kind: MessageType, message: impl Into<String>) {
        self.notify::<ShowMessageNotification>(&ShowMessageParams { kind, message: message.into() });
    }
}
