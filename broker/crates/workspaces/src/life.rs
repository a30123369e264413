//! The daemon itself: workspaces that come and go, how it is, and when it ends.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use language_servers::ServerReport;
use scheduler::{CacheStats, Stats};

use super::{
    ClientLease, Clients, Daemon, DaemonError, fields,
    task::to_the_end,
    workspace::{OpenedWorkspace, WorkspaceInfo},
};

/// The daemon as it is now.
pub struct DaemonStatus {
    pub started_ms: u64,
    pub workspaces: usize,
    pub branches: usize,
    pub scheduler: Stats,
    pub cache: CacheStats,
    pub idle_exit: Option<Duration>,
    pub tcp_address: Option<SocketAddr>,
    pub servers: Vec<ServerReport>,
}

impl Daemon {
    /// Opens the folder `root`, or finds that it is open. `environment` has the variables of the client's shell, for what
    /// runs in that workspace.
    pub async fn open_workspace(
        self: &Arc<Self>,
        root: PathBuf,
        environment: Option<BTreeMap<String, String>>,
    ) -> Result<OpenedWorkspace, DaemonError> {
        environment.as_ref().map_or(Ok(()), fields::expect_environment)?;
        let daemon = Arc::clone(self);
        // One that is cut off would still hold the folder for state when the client tries again.
        let served = to_the_end(async move { daemon.open(&root).await }).await?;
        if let Some(variables) = environment {
            served.set_environment(variables);
        }
        Ok(served.opened())
    }

    /// The open workspaces, by root.
    pub fn list_workspaces(&self) -> Vec<WorkspaceInfo> {
        self.workspaces().iter().map(|it| it.info()).collect()
    }

    /// Closes a workspace; its branches are kept on the disk.
    pub async fn close_workspace(self: &Arc<Self>, id: String) -> Result<(), DaemonError> {
        let daemon = Arc::clone(self);
        to_the_end(async move { daemon.close(&id).await }).await
    }

    pub async fn status(self: &Arc<Self>) -> Result<DaemonStatus, DaemonError> {
        let workspaces = self.workspaces();
        Ok(DaemonStatus {
            started_ms: self.started_ms,
            workspaces: workspaces.len(),
            branches: workspaces.iter().map(|it| it.branch_count()).sum(),
            scheduler: self.engine.scheduler_stats(),
            cache: self.engine.cache_stats(),
            idle_exit: self.idle_exit,
            tcp_address: self.tcp.get().copied(),
            servers: self.servers().await?,
        })
    }

    /// A client that keeps the daemon from ending for as long as the lease lives.
    pub fn client(&self) -> ClientLease {
        self.clients.lease()
    }

    /// For a front that hands out leases itself.
    pub fn clients(&self) -> &Clients {
        &self.clients
    }

    /// Sets the TCP address that the status shows.
    pub fn listens_on(&self, address: SocketAddr) {
        let _set_once = self.tcp.set(address);
    }

    /// Asks the process to end.
    pub fn shut_down(&self) {
        self.stopping.send_replace(true);
    }

    /// Waits until the daemon is asked to end.
    pub fn stopped(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut stopping = self.stopping.subscribe();
        // What `wait_for` gives may not be held while waiting for something else.
        async move { _ = stopping.wait_for(|it| *it).await.map(drop) }
    }

    /// Waits until the daemon is asked to end, and asks itself once it had no client for as long as it may.
    pub async fn served(&self) {
        match self.idle_exit {
            None => self.stopped().await,
            Some(idle) => tokio::select! {
                () = self.stopped() => {}
                () = self.clients.gone_for(idle) => self.shut_down(),
            },
        }
    }

    /// Ends language servers and threads. For the end of the process.
    pub fn release(&self) {
        self.providers.iter().for_each(|it| it.shut_down());
        self.engine.shut_down();
    }
}
