//! The daemon itself: workspaces that come and go, how it is, and when it ends.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Weak},
    time::Duration,
};

use overlay::Store;
use scheduler::{CacheStats, Class, ClassStats, Stats};
use telemetry::Levels;
use tokio::time::{sleep, timeout};

use super::{
    Clients, Daemon, DaemonError, fields,
    memory::resident_bytes,
    servers::ServerInfo,
    states,
    task::{blocking, run_uncancellable},
    workspace::{self, OpenWorkspace, OpenedWorkspace, WorkspaceInfo},
};

/// Limit on open workspaces: each has a watcher thread, open files and caches.
const MAX_WORKSPACES: usize = 500;

/// State of the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DaemonStatus {
    pub version: String,
    pub pid: u32,
    pub started_ms: u64,
    /// Resident memory in bytes; 0 where that is not known.
    pub resident_bytes: u64,
    pub workspaces: usize,
    pub branches: usize,
    pub scheduler: SchedulerStatus,
    pub cache: CacheStatus,
    /// `None` if it never ends by itself.
    pub idle_exit: Option<Duration>,
    pub tcp_address: Option<SocketAddr>,
    pub servers: ServersStatus,
}

/// Queues of the scheduler, and counts since the start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SchedulerStatus {
    pub classes: Vec<ClassStatus>,
    pub done: u64,
    /// Tickets for work that was queued or running already.
    pub joined: u64,
    pub superseded: u64,
    /// Tickets that were cancelled or withdrawn.
    pub cancelled: u64,
    pub rejected: u64,
}

/// Queue of one class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassStatus {
    pub name: String,
    pub queued: usize,
    pub running: usize,
    pub mean_queue_micros: u64,
    pub mean_run_micros: u64,
}

/// Cache of answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheStatus {
    pub entries: u64,
    pub bytes: u64,
    pub hits: u64,
    pub misses: u64,
    pub evicted: u64,
}

/// Language servers that run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServersStatus {
    pub running: usize,
    pub resident_bytes: u64,
}

impl From<Stats> for SchedulerStatus {
    fn from(it: Stats) -> Self {
        let class = |class: Class, it: &ClassStats| ClassStatus {
            name: class.to_string(),
            queued: it.queued,
            running: it.running,
            mean_queue_micros: it.mean_queue_micros,
            mean_run_micros: it.mean_run_micros,
        };
        Self {
            classes: vec![
                class(Class::Interactive, &it.interactive),
                class(Class::Agent, &it.agent),
                class(Class::Background, &it.background),
            ],
            done: it.done,
            joined: it.joined,
            superseded: it.superseded,
            cancelled: it.cancelled + it.withdrawn,
            rejected: it.rejected,
        }
    }
}

impl From<CacheStats> for CacheStatus {
    fn from(it: CacheStats) -> Self {
        let (entries, bytes) = (it.entries as u64, it.bytes as u64);
        Self { entries, bytes, hits: it.hits, misses: it.misses, evicted: it.evicted }
    }
}

impl ServersStatus {
    fn of(all: &[ServerInfo]) -> Self {
        Self {
            running: all.iter().filter(|it| it.pid.is_some()).count(),
            resident_bytes: all.iter().filter_map(|it| it.memory).sum(),
        }
    }
}

/// The longest wait for checks of a folder that is gone.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(10);
const RELEASE_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Waits until nothing that still runs for a workspace holds its state.
async fn released(store: &Weak<Store>) {
    let held = async {
        while store.strong_count() > 0 {
            sleep(RELEASE_POLL_INTERVAL).await;
        }
    };
    // After that, opening says that the state is in use.
    let _in_use = timeout(RELEASE_TIMEOUT, held).await;
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
        // An open that is cut off would still hold the folder for state when the client tries again.
        let workspace = run_uncancellable(async move { daemon.open(root).await }).await?;
        if let Some(variables) = environment {
            workspace.set_environment(variables);
        }
        Ok(workspace.opened())
    }

    async fn open(&self, root: PathBuf) -> Result<Arc<OpenWorkspace>, DaemonError> {
        if !root.is_absolute() {
            return Err(DaemonError::invalid("root", "the path of a workspace must be absolute"));
        }
        if root.as_os_str().as_encoded_bytes().contains(&0) {
            return Err(DaemonError::invalid("root", "a path has no NUL character"));
        }
        let unusable =
            |source| DaemonError::Io { message: format!("cannot open {}", root.display()), source };
        let root = std::fs::canonicalize(&root).map_err(unusable)?;
        let id = workspace::id_of(&root);
        let _turn = self.opening.turn(&id).await;
        let known = self.workspaces.get(&id).map(|it| Arc::clone(&it));
        match known {
            Some(workspace) if workspace.is_there() => return Ok(workspace),
            // Another folder stands there now; the branches are those of the path.
            Some(workspace) => {
                self.workspaces.remove(&id);
                workspace.leave();
                let store = Arc::downgrade(&workspace.store);
                drop(workspace);
                released(&store).await;
            }
            None => {}
        }
        DaemonError::expect_at_most(MAX_WORKSPACES, self.workspaces.len() + 1, "open workspaces")?;
        let state_dir = self.state_dir.as_ref().ok_or_else(|| DaemonError::Setup {
            message: "this daemon keeps no workspaces".to_owned(),
            hint: None,
        })?;
        let state = states::state_of(state_dir, &id);
        let workspace = blocking(move || OpenWorkspace::open(id, &root, &state)).await?;
        self.workspaces.insert(Arc::clone(&workspace.id), Arc::clone(&workspace));
        Ok(workspace)
    }

    /// The open workspaces, by root.
    pub fn list_workspaces(&self) -> Vec<WorkspaceInfo> {
        let mut all: Vec<_> = self.workspaces.iter().map(|it| it.info()).collect();
        all.sort_by(|a, b| a.root.cmp(&b.root));
        all
    }

    /// Fails if the workspace is not open, or its folder is gone.
    pub fn expect_open(&self, workspace: &str) -> Result<(), DaemonError> {
        self.workspace(workspace)?.expect_there()
    }

    /// The folder of a workspace that is open.
    pub fn root_of(&self, workspace: &str) -> Result<PathBuf, DaemonError> {
        Ok(self.workspace(workspace)?.root().to_owned())
    }

    /// Closes a workspace; its branches are kept on the disk.
    pub async fn close_workspace(self: &Arc<Self>, id: String) -> Result<(), DaemonError> {
        let daemon = Arc::clone(self);
        run_uncancellable(async move {
            let _turn = daemon.opening.turn(&id).await;
            let (_, workspace) =
                daemon.workspaces.remove(&*id).ok_or_else(|| DaemonError::no_workspace(&id))?;
            workspace.leave();
            #[cfg(target_os = "linux")]
            daemon.forget_runs(&id);
            Ok(())
        })
        .await
    }

    pub async fn status(self: &Arc<Self>) -> Result<DaemonStatus, DaemonError> {
        Ok(DaemonStatus {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            started_ms: self.started_ms,
            resident_bytes: resident_bytes(),
            workspaces: self.workspaces.len(),
            branches: self.branch_count(),
            scheduler: self.engine.scheduler_stats().into(),
            cache: self.engine.cache_stats().into(),
            idle_exit: self.idle_exit,
            tcp_address: self.tcp.get().copied(),
            servers: ServersStatus::of(&self.servers().await?.servers),
        })
    }

    /// Current levels for metrics; the memory of the process is not included.
    pub fn levels(&self) -> Levels {
        let scheduler = self.engine.scheduler_stats();
        let classes = [scheduler.interactive, scheduler.agent, scheduler.background];
        Levels {
            workspaces: self.workspaces.len() as u64,
            branches: self.branch_count() as u64,
            queued: classes.iter().map(|it| it.queued as u64).sum(),
            resident: 0,
        }
    }

    fn branch_count(&self) -> usize {
        self.workspaces.iter().map(|it| it.branch_count()).sum()
    }

    /// The clients, whose leases keep the daemon from ending.
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
        // The value of `wait_for` may not be held while waiting for something else.
        async move { _ = stopping.wait_for(|it| *it).await.map(drop) }
    }

    /// Waits until the daemon is asked to end, and asks itself once it had no client for as long as it may.
    pub async fn wait_for_end(&self) {
        match self.idle_exit {
            None => self.stopped().await,
            Some(idle) => tokio::select! {
                () = self.stopped() => {}
                () = self.clients.gone_for(idle) => self.shut_down(),
            },
        }
    }

    /// Waits for the end of checks after which none has run for `time`: what they needed meanwhile is free then.
    pub async fn quiet_for(&self, time: Duration) {
        self.running.quiet_for(time).await;
    }

    /// Ends language servers, runs and threads. For the end of the process.
    pub fn release(&self) {
        self.shut_down();
        self.providers.iter().for_each(|it| it.shut_down());
        self.engine.shut_down();
    }
}
