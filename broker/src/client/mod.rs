//! The commands' side of the API: one question after another, each answered before the next.
//!
//! An interrupt ends whatever is being waited for. Errors of requests become errors for people in `error`; a folder that the daemon
//! serves is in `opened`; where the daemon looks for language servers in `searched`; `waiter`
//! waits, also for a daemon of this process.

mod error;
mod opened;
mod searched;
mod waiter;

use std::sync::Arc;

use ::client::{Endpoint, Notify, Options, Remote};
use agents::Tools;
use lint::Cancel;
use workspaces::{Events, RequestError, Workspaces};

pub(crate) use self::{
    opened::{Opened, environment_for_daemon, path_within},
    searched::{Elsewhere, elsewhere, not_searched, unwell},
    waiter::{Step, Waiter},
};
use crate::{CliError, console::Messages};

/// A daemon, and what waits for it.
pub(crate) struct Client {
    pub(crate) waiter: Waiter,
    remote: Arc<Remote>,
}

impl Client {
    /// Finds the user's daemon, or starts one and tells the user so through `tell`.
    pub(crate) fn connect(cancel: &Cancel, tell: Option<&Messages>) -> Result<Self, CliError> {
        let messages = tell.cloned();
        let notify = messages.map(|it| Arc::new(move |line: &str| it.line(line)) as Notify);
        let options = Options { notify, ..Options::of_user() };
        let connected = Self::made(cancel, async { Remote::connect(options).await.map(Some) })?;
        connected.ok_or_else(|| CliError::files("there is no daemon"))
    }

    /// Finds the user's daemon; `None` if none runs.
    pub(crate) fn running(cancel: &Cancel) -> Result<Option<Self>, CliError> {
        Self::at(&Endpoint::of_user(), cancel)
    }

    /// Finds the daemon of an address; `None` if none runs.
    pub(crate) fn at(endpoint: &Endpoint, cancel: &Cancel) -> Result<Option<Self>, CliError> {
        let options = Options { endpoint: endpoint.clone(), ..Options::of_user() };
        Self::made(cancel, Remote::running(options))
    }

    fn made(
        cancel: &Cancel,
        remote: impl Future<Output = Result<Option<Remote>, RequestError>>,
    ) -> Result<Option<Self>, CliError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| CliError::files(format!("cannot wait for a daemon: {error}")))?;
        let remote = runtime.block_on(async {
            tokio::select! {
                biased;
                () = cancel.cancelled() => Err(::client::interrupted()),
                remote = remote => remote,
            }
        })?;
        Ok(remote.map(|it| Self { waiter: Waiter::new(runtime, cancel), remote: Arc::new(it) }))
    }

    pub(crate) fn daemon(&self) -> &dyn Workspaces {
        &*self.remote
    }

    pub(crate) fn tools(&self) -> &dyn Tools {
        &*self.remote
    }

    /// Waits for an answer, or for the beginning of one that comes in parts.
    pub(crate) fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, RequestError>>,
    ) -> Result<T, RequestError> {
        self.waiter.wait(answer)
    }

    /// The next part of an answer; `None` after the last.
    pub(crate) fn next<T>(&self, parts: &mut Events<T>) -> Result<Option<T>, RequestError> {
        self.waiter.next(parts)
    }

    /// Runs a front that stays beside the connection, until it ends or the user interrupts.
    pub(crate) fn block_on<T>(&self, front: impl Future<Output = T>) -> Option<T> {
        self.waiter.runtime.block_on(async {
            tokio::select! {
                biased;
                done = front => Some(done),
                () = self.waiter.cancel.cancelled() => None,
            }
        })
    }

    /// Whether the user has interrupted.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.waiter.cancel.is_cancelled()
    }
}
