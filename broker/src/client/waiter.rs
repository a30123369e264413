//! Waiting for answers of a daemon, wherever it runs, until the user interrupts.

use lint::Cancel;
use tokio::runtime::Runtime;
use tokio_stream::StreamExt as _;
use workspaces::{Events, RequestError};

/// A runtime on which one answer after another is waited for.
pub(crate) struct Waiter {
    pub(super) runtime: Runtime,
    pub(super) cancel: Cancel,
}

/// The next part of an answer, or the first interrupt.
pub(crate) enum Step<T> {
    Part(T),
    Interrupted,
    /// There is no more.
    End,
}

impl Waiter {
    pub(crate) fn new(runtime: Runtime, cancel: &Cancel) -> Self {
        Self { runtime, cancel: cancel.clone() }
    }

    /// Waits for an answer, or for the beginning of one that comes in parts.
    pub(crate) fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, RequestError>>,
    ) -> Result<T, RequestError> {
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                answer = answer => answer,
                () = self.cancel.cancelled() => Err(::client::interrupted()),
            }
        })
    }

    /// The next part of an answer; `None` after the last.
    pub(crate) fn next<T>(&self, parts: &mut Events<T>) -> Result<Option<T>, RequestError> {
        self.wait(async { parts.next().await.transpose() })
    }

    /// The next part of an answer, or the first interrupt.
    pub(crate) fn next_step<T>(
        &self,
        parts: &mut Events<T>,
        is_interrupted: bool,
    ) -> Result<Step<T>, RequestError> {
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                part = parts.next() => part.transpose().map(|it| it.map_or(Step::End, Step::Part)),
                () = self.cancel.cancelled(), if !is_interrupted => Ok(Step::Interrupted),
            }
        })
    }

    /// Waits as [`wait`](Self::wait) does, also when the user has interrupted.
    pub(crate) fn wait_anyway<T>(
        &self,
        answer: impl Future<Output = Result<T, RequestError>>,
    ) -> Result<T, RequestError> {
        self.runtime.block_on(answer)
    }
}
