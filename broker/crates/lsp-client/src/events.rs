//! Events from a server to its owner: one channel, in the order they were sent.

use std::{collections::VecDeque, sync::Arc, time::Instant};

use lint::{Cancel, OnCancel};
use parking_lot::{Condvar, Mutex};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{Broken, Id, ProtocolError};

/// Counts the processes that an owner has started one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Epoch(pub u64);

#[derive(Debug)]
pub struct Event {
    pub epoch: Epoch,
    pub kind: EventKind,
}

#[derive(Debug)]
pub enum EventKind {
    /// `textDocument/publishDiagnostics`: the document, its version if there is one, and the list.
    Diagnostics { uri: String, version: Option<i64>, diagnostics: Box<RawValue> },
    /// `$/progress`.
    Progress { token: Id, value: Value },
    /// `experimental/serverStatus`.
    Status(ServerStatus),
    /// `client/registerCapability` and its opposite: these methods have other options now.
    Capabilities { methods: Vec<String> },
    /// `workspace/diagnostic/refresh` and the like: what was asked before may have another answer.
    Refresh { method: String },
    /// `workspace/applyEdit`, answered as done since [`EditPolicy`](crate::EditPolicy) says so.
    Edit { label: Option<String>, edit: Box<RawValue> },
    /// Any other notification.
    Other { method: String, params: Option<Box<RawValue>> },
    /// The last event of its epoch.
    Ended(Broken),
}

/// Status that rust-analyzer reports of itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ServerStatus {
    /// `ok`, `warning` or `error`.
    pub health: String,
    /// Whether the server has no pending work.
    pub quiescent: bool,
    pub message: Option<String>,
}

impl ServerStatus {
    /// Returns the problem that the server reports of itself, if any.
    pub fn unwell(&self) -> Option<String> {
        let unsaid = || format!("the server says of itself: {}", self.health);
        (self.health != "ok").then(|| self.message.clone().unwrap_or_else(unsaid))
    }
}

/// A channel that holds about so many bytes. A server that says more before it is listened to is stopped.
pub fn events(limit: usize) -> (EventSink, Events) {
    let inner = Inner { queue: VecDeque::new(), bytes: 0, is_heard: true };
    let channel = Arc::new(Channel { inner: Mutex::new(inner), changed: Condvar::new(), limit });
    (EventSink(Arc::clone(&channel)), Events(channel))
}

/// Sending end of the events, for sessions; may serve one epoch after the other.
#[derive(Clone)]
pub struct EventSink(Arc<Channel>);

/// Receiving end of the events, for the owner. A response is handed out after all events that were sent before it.
pub struct Events(Arc<Channel>);

struct Channel {
    inner: Mutex<Inner>,
    changed: Condvar,
    limit: usize,
}

struct Inner {
    /// Events, each with its size.
    queue: VecDeque<(Event, usize)>,
    bytes: usize,
    /// Whether the receiving end still exists.
    is_heard: bool,
}

/// Bytes counted for an event besides its text.
const OVERHEAD: usize = 128;

impl Inner {
    fn pop(&mut self) -> Option<Event> {
        let (event, size) = self.queue.pop_front()?;
        self.bytes -= size;
        Some(event)
    }
}

impl EventSink {
    /// `size` is that of its text.
    pub(crate) fn push(&self, event: Event, size: usize) -> Result<(), ProtocolError> {
        let mut inner = self.0.inner.lock();
        let limit = self.0.limit;
        if inner.bytes + size + OVERHEAD > limit {
            return Err(ProtocolError::Flood { events: inner.queue.len(), limit });
        }
        self.0.push(&mut inner, event, size + OVERHEAD);
        Ok(())
    }

    /// Adds the last event, for which there is always room.
    pub(crate) fn push_end(&self, epoch: Epoch, reason: Broken) {
        self.0.push(&mut self.0.inner.lock(), Event { epoch, kind: EventKind::Ended(reason) }, 0);
    }
}

impl Events {
    /// The next event, or `None` if none comes until `deadline` or it is not wanted any more.
    pub fn next(&self, deadline: Instant, cancel: &Cancel) -> Option<Event> {
        if let Some(event) = self.try_next() {
            return Some(event);
        }
        let _wakes = self.wake_on(cancel);
        let mut inner = self.0.inner.lock();
        loop {
            if let Some(event) = inner.pop() {
                return Some(event);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || cancel.is_cancelled() {
                return None;
            }
            self.0.changed.wait_for(&mut inner, left);
        }
    }

    fn wake_on(&self, cancel: &Cancel) -> OnCancel {
        let channel = Arc::downgrade(&self.0);
        cancel.on_cancel(move || {
            if let Some(channel) = channel.upgrade() {
                // A waiter that has seen that it was not cancelled waits by now.
                drop(channel.inner.lock());
                channel.changed.notify_all();
            }
        })
    }

    /// Does not wait.
    pub fn try_next(&self) -> Option<Event> {
        self.0.inner.lock().pop()
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        let mut inner = self.0.inner.lock();
        inner.is_heard = false;
        inner.queue.clear();
        inner.bytes = 0;
    }
}

impl Channel {
    fn push(&self, inner: &mut Inner, event: Event, size: usize) {
        if inner.is_heard {
            inner.bytes += size;
            inner.queue.push_back((event, size));
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refresh() -> Event {
        Event { epoch: Epoch(1), kind: EventKind::Refresh { method: String::new() } }
    }

    #[test]
    fn there_is_always_room_for_the_end() {
        let (sink, events) = events(2 * OVERHEAD);
        sink.push(refresh(), 0).unwrap();
        sink.push(refresh(), 0).unwrap();
        let flood = ProtocolError::Flood { events: 2, limit: 2 * OVERHEAD };
        assert_eq!(sink.push(refresh(), 0), Err(flood));
        sink.push_end(Epoch(1), Broken::Closed);
        assert_eq!(std::iter::from_fn(|| events.try_next()).count(), 3);
        sink.push(refresh(), OVERHEAD).unwrap();
    }

    #[test]
    fn what_nobody_hears_is_not_kept() {
        let (sink, events) = events(OVERHEAD);
        drop(events);
        sink.push(refresh(), 0).unwrap();
        sink.push(refresh(), 0).unwrap();
        assert!(sink.0.inner.lock().queue.is_empty());
    }
}
