//! Handle of a submitted task: the right to its answer, which is given up by dropping it.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::sync::oneshot;

use super::Shared;
use crate::{End, Finished, state::TicketId};

/// Waits for the end of a task, as a future or with [`Ticket::wait`]. Dropping it withdraws interest: a
/// task that no other ticket waits for is not started, or told to stop if it runs.
#[must_use = "a task without a ticket is not run"]
pub struct Ticket<T> {
    id: TicketId,
    shared: Arc<Shared<T>>,
    /// `None` once the answer was taken out.
    answer: Option<oneshot::Receiver<Finished<T>>>,
}

impl<T> Ticket<T> {
    pub(crate) fn new(id: TicketId, shared: Arc<Shared<T>>, answer: oneshot::Receiver<Finished<T>>) -> Self {
        Self { id, shared, answer: Some(answer) }
    }

    /// Waits for the task and returns how it ended.
    pub async fn end(self) -> Finished<T> {
        self.await
    }

    /// Waits for the task and returns how it ended. Blocks the thread, so it panics inside an asynchronous task.
    pub fn wait(mut self) -> Finished<T> {
        let answer = self.answer.take().map(oneshot::Receiver::blocking_recv);
        answer.and_then(Result::ok).unwrap_or_else(without_answer)
    }
}

impl<T> Future for Ticket<T> {
    type Output = Finished<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Finished<T>> {
        let Some(answer) = &mut self.answer else { return Poll::Ready(without_answer()) };
        let answered = Pin::new(answer).poll(context).map(|it| it.unwrap_or_else(|_| without_answer()));
        if answered.is_ready() {
            self.answer = None;
        }
        answered
    }
}

impl<T> Drop for Ticket<T> {
    fn drop(&mut self) {
        if self.answer.take().is_some() {
            self.shared.withdraw(self.id);
        }
    }
}

/// The one way for a ticket to be let go of unanswered is that copying the result panicked.
fn without_answer<T>() -> Finished<T> {
    Finished {
        end: End::Panicked("the result could not be copied".to_owned()),
        queued: Duration::ZERO,
        ran: Duration::ZERO,
        joined: false,
    }
}
