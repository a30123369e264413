//! The commands' side of the daemon's door: one question after another, each answered before the next.
//!
//! An interrupt ends whatever is being waited for. What the daemon says is turned into an error for people in
//! `error`; whose daemon is believed is in `connect`; how one is started is in `start`; a folder that it serves is in `opened`; where it looks for language servers in `searched`.

mod connect;
mod error;
mod opened;
#[cfg(target_os = "linux")]
mod runs;
mod searched;
mod start;
mod views;

use std::{
    thread,
    time::{Duration, Instant},
};

#[cfg(target_os = "linux")]
use broker_proto::v1::run_service_client::RunServiceClient;
use broker_proto::v1::{
    branch_service_client::BranchServiceClient, check_service_client::CheckServiceClient,
    daemon_service_client::DaemonServiceClient, file_service_client::FileServiceClient,
    query_service_client::QueryServiceClient, rule_service_client::RuleServiceClient,
    server_service_client::ServerServiceClient, tool_service_client::ToolServiceClient,
    workspace_service_client::WorkspaceServiceClient,
};
use lint::Cancel;
use tokio::{runtime::Runtime, time::timeout};
use tonic::{Response, Status, Streaming, transport::Channel};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use self::connect::OwnSocket;
#[cfg(target_os = "linux")]
pub(crate) use self::runs::RunStep;
pub(crate) use self::{
    error::{is_conflict, is_gone, reason, server},
    opened::{Opened, environment_for_daemon, of_branch},
    searched::{Elsewhere, elsewhere, not_searched, unwell},
    views::BranchViews,
};
use crate::{CliError, console::Messages, endpoint::Endpoint};

/// A connection to the user's daemon.
pub(crate) struct Client {
    runtime: Runtime,
    channel: Channel,
    cancel: Cancel,
}

/// The largest message that is taken: whole files' findings come in one.
const MAX_MESSAGE: usize = 256 << 20;

/// Bytes of one answer that may come before they are taken.
const STREAM_WINDOW: u32 = 256 << 10;

/// How often is looked whether the user has interrupted, and whether a daemon that is about to begin or end
/// has done so.
const STEP: Duration = Duration::from_millis(10);

/// How long a daemon may take to begin or to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often a daemon is started if each of them gives way to another that ends.
const ATTEMPTS: usize = 3;

macro_rules! service {
    ($name:ident, $client:ident) => {
        pub(crate) fn $name(&self) -> $client<Channel> {
            $client::new(self.channel.clone()).max_decoding_message_size(MAX_MESSAGE)
        }
    };
}

impl Client {
    /// Finds the user's daemon, or starts one and tells the user so through `tell`.
    pub(crate) fn connect(cancel: &Cancel, tell: Option<&Messages>) -> Result<Self, CliError> {
        let endpoint = Endpoint::of_user();
        for _ in 0..ATTEMPTS {
            if let Some(client) = Self::at(&endpoint, cancel)? {
                return Ok(client);
            }
            start::start(&endpoint, tell)?;
        }
        let client = Self::at(&endpoint, cancel)?;
        client
            .ok_or_else(|| CliError::files("a daemon was started and has ended at once").hint(log(&endpoint)))
    }

    /// Finds the user's daemon; `None` if none runs.
    pub(crate) fn running(cancel: &Cancel) -> Result<Option<Self>, CliError> {
        Self::at(&Endpoint::of_user(), cancel)
    }

    /// A connection for a front that stays: it is made at the first request, and again whenever it broke. To be called where
    /// a runtime is.
    pub(crate) fn lasting_channel() -> Channel {
        Self::lasting_channel_to(&Endpoint::of_user())
    }

    /// The same to the daemon of an address.
    pub(crate) fn lasting_channel_to(endpoint: &Endpoint) -> Channel {
        address().connect_with_connector_lazy(OwnSocket::new(&endpoint.socket))
    }

    /// Finds the daemon of an address; `None` if none runs.
    ///
    /// Who holds the lock may not have opened the socket yet, or may be about to end. A daemon of another user is an
    /// error.
    pub(crate) fn at(endpoint: &Endpoint, cancel: &Cancel) -> Result<Option<Self>, CliError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| CliError::files(format!("cannot wait for a daemon: {error}")))?;
        let connector = OwnSocket::new(&endpoint.socket);
        let address = address();
        let begun = Instant::now();
        loop {
            if !endpoint.has_folder()? {
                return Ok(None);
            }
            let serving =
                async { serving(address.connect_with_connector(connector.clone()).await.ok()?).await };
            let client = runtime.block_on(async {
                tokio::select! {
                    biased;
                    () = interrupted(cancel) => None,
                    // A process that was stopped takes connections, too, and answers nothing.
                    answer = timeout(PATIENCE.saturating_sub(begun.elapsed()), serving) => answer.ok().flatten(),
                }
            });
            connector.expect_own()?;
            if let Some(channel) = client {
                return Ok(Some(Self { runtime, channel, cancel: cancel.clone() }));
            }
            if cancel.is_cancelled() {
                return Err(CliError::files("interrupted"));
            }
            let Some(pid) = endpoint.holder() else { return Ok(None) };
            if begun.elapsed() > PATIENCE {
                let error = CliError::files(format!("the daemon (process {pid}) does not answer"));
                let hint = format!("end it with `kill {pid}`, or `kill -9 {pid}`; its branches are kept");
                return Err(error.hint(hint));
            }
            thread::sleep(STEP);
        }
    }

    service!(branches, BranchServiceClient);
    service!(checks, CheckServiceClient);
    service!(daemon, DaemonServiceClient);
    service!(files, FileServiceClient);
    service!(queries, QueryServiceClient);
    service!(rules, RuleServiceClient);
    #[cfg(target_os = "linux")]
    service!(runs, RunServiceClient);
    service!(servers, ServerServiceClient);
    service!(tools, ToolServiceClient);
    service!(workspaces, WorkspaceServiceClient);

    /// Waits for an answer, or for the beginning of one that comes in parts.
    pub(crate) fn call<T>(
        &self,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, Status> {
        self.wait(call).map(Response::into_inner)
    }

    /// The next part of an answer; `None` after the last.
    pub(crate) fn next<T>(&self, parts: &mut Streaming<T>) -> Result<Option<T>, Status> {
        self.wait(parts.message())
    }

    fn wait<T>(&self, answer: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                answer = answer => answer,
                () = interrupted(&self.cancel) => Err(Status::cancelled("interrupted")),
            }
        })
    }

    /// Runs a front that stays beside the connection, until it ends or the user interrupts.
    pub(crate) fn block_on<T>(&self, front: impl Future<Output = T>) -> Option<T> {
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                done = front => Some(done),
                () = interrupted(&self.cancel) => None,
            }
        })
    }

    /// Whether the user wants no more.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.cancel.is_cancelled()
    }
}

/// No name is looked up: the connector knows where to go. What one answer has waiting does not hold up the others.
fn address() -> tonic::transport::Endpoint {
    tonic::transport::Endpoint::from_static("http://localhost")
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(STREAM_WINDOW * 4)
}

/// The channel, if a daemon answers there. One that was just killed, or that ends, still takes connections.
async fn serving(channel: Channel) -> Option<Channel> {
    let mut health = HealthClient::new(channel.clone());
    let health = health.check(HealthCheckRequest::default()).await.ok()?;
    (health.into_inner().status() == ServingStatus::Serving).then_some(channel)
}

/// Waits for the user's interrupt.
pub(crate) async fn interrupted(cancel: &Cancel) {
    while !cancel.is_cancelled() {
        tokio::time::sleep(STEP).await;
    }
}

/// Waits until the daemon has ended; whether it has.
pub(crate) fn wait_for_end() -> bool {
    let endpoint = Endpoint::of_user();
    let begun = Instant::now();
    while endpoint.holder().is_some() {
        if begun.elapsed() > PATIENCE {
            return false;
        }
        thread::sleep(STEP);
    }
    true
}

fn log(endpoint: &Endpoint) -> String {
    format!("what it had to say is in {}", endpoint.log_file().display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::Claimed;

    #[test]
    fn an_interrupt_ends_the_wait_for_a_daemon_that_answers_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let endpoint = Endpoint { socket: dir.path().join("run/broker.sock") };
        let Claimed::Ours(claim) = endpoint.claim().unwrap() else { panic!("it is free") };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        // Takes connections as a daemon does that was stopped: the system queues them.
        let _listening = runtime.block_on(async { claim.listen() }).unwrap();
        let cancel = Cancel::default();
        cancel.cancel();
        let error = Client::at(&endpoint, &cancel).err().unwrap();
        assert_eq!(error.message, "interrupted");
    }
}
