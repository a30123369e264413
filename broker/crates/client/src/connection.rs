//! The connection to a daemon: found, or started, and made again whenever it breaks.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use tokio::time::{sleep, timeout};
use tonic::transport::Channel;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use workspaces::RequestError;

use crate::{endpoint::Endpoint, error::unreachable, socket::OwnSocket, start};

/// Takes a line for the user.
pub type Notify = Arc<dyn Fn(&str) + Send + Sync>;

/// Variables of the client's shell for what runs in a workspace, by its root.
pub type EnvironmentOf = Arc<dyn Fn(&Path) -> BTreeMap<String, String> + Send + Sync>;

/// Options of a connection, for a daemon that does not run.
#[derive(Clone)]
pub struct Options {
    pub endpoint: Endpoint,
    /// Whether a daemon is started if none runs.
    pub start: bool,
    /// Told when one was started.
    pub notify: Option<Notify>,
    /// Whether workspaces are opened again in a daemon that was started anew, and requests that only read are repeated. A client
    /// with more than workspaces there, such as an editor's unsaved texts, does that itself.
    pub reopen: bool,
    /// Computes the variables of a workspace that is opened again. Without it, those of the first time are sent. It may block.
    pub environment: Option<EnvironmentOf>,
}

impl Options {
    /// The user's own daemon, started if need be.
    pub fn of_user() -> Self {
        let endpoint = Endpoint::of_user();
        Self { endpoint, start: true, notify: None, reopen: false, environment: None }
    }
}

/// Bytes of one answer that may come before they are taken.
const STREAM_WINDOW: u32 = 256 << 10;

/// Interval between looks at a daemon that is about to begin or to end.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The longest that a daemon may take to begin or to end.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Starts of daemons, if each of them gives way to another that ends.
const ATTEMPTS: usize = 3;

/// A way to one daemon after another at the same address.
pub(crate) struct Connection {
    /// Connects at the first request, and again by itself.
    pub(crate) channel: Channel,
    socket: OwnSocket,
    options: Options,
    /// The longest that a daemon may take to begin.
    pub(crate) timeout: Duration,
}

impl Connection {
    /// To be called where a runtime is.
    pub(crate) fn new(options: Options) -> Self {
        let socket = OwnSocket::new(&options.endpoint.socket);
        // No name is looked up: the connector knows where to go. A waiting answer does not hold up the others.
        let address = tonic::transport::Endpoint::from_static("http://localhost")
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(STREAM_WINDOW * 4);
        let channel = address.connect_with_connector_lazy(socket.clone());
        Self { channel, socket, options, timeout: TIMEOUT }
    }

    /// Over a channel to a daemon that is there.
    pub(crate) fn over(channel: Channel) -> Self {
        let options = Options { start: false, ..Options::of_user() };
        Self { channel, socket: OwnSocket::new(&options.endpoint.socket), options, timeout: TIMEOUT }
    }

    pub(crate) fn reopens(&self) -> bool {
        self.options.reopen
    }

    pub(crate) fn environment(&self) -> Option<EnvironmentOf> {
        self.options.environment.clone()
    }

    pub(crate) fn starts(&self) -> bool {
        self.options.start
    }

    /// Finds a daemon; starts one if there is none and that is wanted. False if there is none.
    pub(crate) async fn ensure(&self) -> Result<bool, RequestError> {
        if !self.options.start {
            return self.is_served().await;
        }
        for _ in 0..ATTEMPTS {
            if self.is_served().await? {
                return Ok(true);
            }
            self.start().await?;
        }
        if self.is_served().await? {
            return Ok(true);
        }
        let error = unreachable("a daemon was started and has ended at once");
        Err(error.hint(self.options.endpoint.log_hint()))
    }

    async fn start(&self) -> Result<(), RequestError> {
        let Options { endpoint, notify, .. } = self.options.clone();
        let started = tokio::task::spawn_blocking(move || {
            let notify = notify.as_ref().map(|it| &**it as &dyn Fn(&str));
            start::start(&endpoint, notify)
        });
        started.await.map_err(|error| unreachable(error.to_string()))?
    }

    /// Whether a daemon answers at the address. A process that holds the lock may not have opened the socket yet, or may be about
    /// to end. A daemon of another user is an error.
    async fn is_served(&self) -> Result<bool, RequestError> {
        let endpoint = &self.options.endpoint;
        let begun = Instant::now();
        loop {
            if !endpoint.has_folder()? {
                return Ok(false);
            }
            // A process that was stopped takes connections, too, and answers nothing.
            let left = self.timeout.saturating_sub(begun.elapsed());
            let is_serving = timeout(left, is_serving(self.channel.clone())).await.unwrap_or_default();
            self.socket.expect_own()?;
            if is_serving {
                return Ok(true);
            }
            let Some(pid) = endpoint.holder() else { return Ok(false) };
            if begun.elapsed() > self.timeout {
                let error = unreachable(format!("the daemon (process {pid}) does not answer"));
                let hint = format!("end it with `kill {pid}`, or `kill -9 {pid}`; its branches are kept");
                return Err(error.hint(hint));
            }
            sleep(POLL_INTERVAL).await;
        }
    }
}

/// Whether a daemon answers. One that was just killed, or that ends, still takes connections.
async fn is_serving(channel: Channel) -> bool {
    let answer = HealthClient::new(channel).check(HealthCheckRequest::default()).await;
    answer.is_ok_and(|it| it.into_inner().status() == ServingStatus::Serving)
}

/// Waits until the user's daemon has ended; whether it has.
pub fn wait_for_end() -> bool {
    let endpoint = Endpoint::of_user();
    let begun = Instant::now();
    while endpoint.holder().is_some() {
        if begun.elapsed() > TIMEOUT {
            return false;
        }
        thread::sleep(POLL_INTERVAL);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::Claimed;

    fn options(endpoint: &Endpoint) -> Options {
        Options { endpoint: endpoint.clone(), start: false, ..Options::of_user() }
    }

    #[tokio::test]
    async fn without_a_daemon_there_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let endpoint = Endpoint { socket: dir.path().join("run/broker.sock") };
        assert!(!Connection::new(options(&endpoint)).ensure().await.unwrap(), "there is no folder");
        endpoint.make_folder().unwrap();
        assert!(!Connection::new(options(&endpoint)).ensure().await.unwrap(), "none holds the lock");
    }

    #[tokio::test]
    async fn the_wait_for_a_daemon_that_answers_nothing_can_be_given_up() {
        let dir = tempfile::tempdir().unwrap();
        let endpoint = Endpoint { socket: dir.path().join("run/broker.sock") };
        let Claimed::Ours(claim) = endpoint.claim().unwrap() else { panic!("it is free") };
        // Takes connections as a daemon does that was stopped: the system queues them.
        let _listening = claim.listen().unwrap();
        let connection = Connection::new(options(&endpoint));
        tokio::select! {
            biased;
            _ = connection.ensure() => panic!("nothing answers"),
            () = tokio::task::yield_now() => {}
        }
    }
}
