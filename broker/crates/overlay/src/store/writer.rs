//! The one thread that owns the database: all that waits becomes one transaction.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::Receiver,
};

use super::{Loaded, StoreError, StoreStats, database::Database, record::Change};

/// Callback of a request, called exactly once.
pub(super) type Reply<T> = Box<dyn FnOnce(Result<T, StoreError>) + Send>;

pub(super) enum Request {
    Change(Change, Reply<()>),
    Load(Reply<Loaded>),
    Stats(Reply<StoreStats>),
}

/// A transaction is held in memory, and no request in it is answered before its end.
const MAX_CHANGES: usize = 1024;
const MAX_BYTES: usize = 64 << 20;

/// Until no request can come any more and all are answered.
pub(super) fn run(mut database: Database, requests: &Receiver<Request>) {
    while let Ok(request) = requests.recv() {
        let mut next = Some(request);
        while let Some(request) = next.take() {
            match request {
                Request::Load(reply) => answer(reply, database.load()),
                Request::Stats(reply) => answer(reply, database.stats()),
                Request::Change(change, reply) => {
                    let (mut changes, mut replies) = (vec![change], vec![reply]);
                    next = gather(requests, &mut changes, &mut replies);
                    let results = database.change(&changes);
                    replies.into_iter().zip(results).for_each(|(reply, it)| answer(reply, it));
                }
            }
        }
    }
}

/// Takes all waiting changes, up to a request of another kind, which is returned.
fn gather(
    requests: &Receiver<Request>,
    changes: &mut Vec<Change>,
    replies: &mut Vec<Reply<()>>,
) -> Option<Request> {
    let mut bytes: usize = changes.iter().map(Change::size).sum();
    while changes.len() < MAX_CHANGES && bytes < MAX_BYTES {
        match requests.try_recv().ok()? {
            Request::Change(change, reply) => {
                bytes += change.size();
                changes.push(change);
                replies.push(reply);
            }
            other => return Some(other),
        }
    }
    None
}

/// A caller's callback that panics is no reason to let all others down.
fn answer<T>(reply: Reply<T>, result: Result<T, StoreError>) {
    _ = catch_unwind(AssertUnwindSafe(|| reply(result)));
}

impl Request {
    pub(super) fn refuse(self) {
        match self {
            Self::Change(_, reply) => reply(Err(StoreError::Closed)),
            Self::Load(reply) => reply(Err(StoreError::Closed)),
            Self::Stats(reply) => reply(Err(StoreError::Closed)),
        }
    }
}
