//! A daemon as a part of another command, where none may be started: it ends with the command, and its branches with it.

use std::sync::Arc;

use agents::Agents;
use checker::default_jobs;
use tempfile::TempDir;
use tokio::{net::UnixListener, runtime::Runtime};
use tonic::transport::Channel;
use workspaces::Daemon;

use super::{CACHE_MIB, Sizes, daemon};
use crate::{
    CliError,
    cli::Session,
    client::Client,
    endpoint::Endpoint,
    grpc::{self, Door},
};

/// The daemon of this process.
pub(in crate::cli) struct InProcess {
    daemon: Arc<Daemon>,
    endpoint: Endpoint,
    /// Threads that answer; dropped, they end.
    _runtime: Runtime,
    /// Its socket, and its branches.
    _folder: TempDir,
}

/// Serves at a socket in a folder of its own.
pub(in crate::cli) fn start(session: &mut Session) -> Result<InProcess, CliError> {
    let cannot = |error: std::io::Error| CliError::files(format!("cannot serve in this process: {error}"));
    let folder = tempfile::Builder::new().prefix("broker-").tempdir().map_err(cannot)?;
    let sizes = Sizes { workers: default_jobs(), memory: CACHE_MIB << 20, idle_exit: None };
    let daemon = daemon(session, &[], folder.path().join("state"), sizes)?;
    let endpoint = Endpoint { socket: folder.path().join("socket") };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(2).build();
    let runtime = runtime.map_err(cannot)?;
    let listener = {
        let _entered = runtime.enter();
        UnixListener::bind(&endpoint.socket).map_err(cannot)?
    };
    let agents = Arc::new(Agents::new(Arc::clone(&daemon), None, None));
    let serving = Arc::clone(&daemon);
    let messages = session.messages.clone();
    runtime.spawn(async move {
        if let Err(error) = grpc::serve(&serving, &agents, vec![Door::Unix(listener)]).await {
            messages.error(&CliError::files(format!("serving ended: {error}")));
        }
    });
    Ok(InProcess { daemon, endpoint, _runtime: runtime, _folder: folder })
}

impl InProcess {
    /// To be called where a runtime is.
    pub(in crate::cli) fn channel(&self) -> Channel {
        Client::lasting_channel_to(&self.endpoint)
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        self.daemon.shut_down();
        self.daemon.release();
    }
}
