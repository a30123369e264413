//! Requests that are being answered, each by a task of its own and exactly once.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use lsp_client::Id;
use serde_json::Value;
use tokio::task::{AbortHandle, spawn_local};

use super::{failure::Failure, peer::Peer};

/// Tasks of unanswered requests, by request id.
#[derive(Default)]
pub(super) struct PendingRequests(RefCell<HashMap<Id, AbortHandle>>);

/// Answers its request when dropped, unless it was answered before, so that a request whose task panics gets an error.
struct PendingAnswer {
    peer: Peer,
    pending: Rc<PendingRequests>,
    id: Id,
}

impl PendingRequests {
    pub(super) fn contains(&self, id: &Id) -> bool {
        self.0.borrow().contains_key(id)
    }

    /// Starts a task that answers a request.
    pub(super) fn spawn(
        self: &Rc<Self>,
        peer: &Peer,
        id: &Id,
        work: impl Future<Output = Result<Value, Failure>> + 'static,
    ) {
        let answer = PendingAnswer { peer: peer.clone(), pending: Rc::clone(self), id: id.clone() };
        let task = spawn_local(async move { answer.with(work.await) });
        self.0.borrow_mut().insert(id.clone(), task.abort_handle());
    }

    /// Cancels one request. Dropping its task also cancels its calls to the daemon.
    pub(super) fn cancel(&self, peer: &Peer, id: &Id) {
        let task = self.0.borrow_mut().remove(id);
        if let Some(task) = task {
            task.abort();
            peer.answer(Some(id), Err(Failure::cancelled()));
        }
    }

    pub(super) fn cancel_all(&self, peer: &Peer) {
        let all = std::mem::take(&mut *self.0.borrow_mut());
        for (id, task) in all {
            task.abort();
            peer.answer(Some(&id), Err(Failure::cancelled()));
        }
    }

    /// Removes a request; `false` if it has been answered.
    fn remove(&self, id: &Id) -> bool {
        self.0.borrow_mut().remove(id).is_some()
    }
}

impl PendingAnswer {
    fn with(self, answer: Result<Value, Failure>) {
        if self.pending.remove(&self.id) {
            self.peer.answer(Some(&self.id), answer);
        }
    }
}

impl Drop for PendingAnswer {
    fn drop(&mut self) {
        if self.pending.remove(&self.id) {
            self.peer.answer(Some(&self.id), Err(Failure::internal("this request broke off")));
        }
    }
}
