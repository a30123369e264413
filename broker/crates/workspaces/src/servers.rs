//! The language servers of the daemon, as they are.

use std::{path::PathBuf, sync::Arc, time::Duration};

use language_servers::{Counts, Ending, ServerLog, ServerReport, ServerState};

use super::{Daemon, DaemonError, task::blocking};

/// The language servers of a daemon.
#[derive(Debug, Clone)]
pub struct ServerList {
    pub servers: Vec<ServerInfo>,
    /// `PATH` of the daemon, in which it looks for servers.
    pub search_path: Option<String>,
}

/// A language server as it is at the moment.
#[derive(Debug, Clone)]
pub struct ServerInfo {
    pub id: u64,
    pub name: String,
    pub root: PathBuf,
    /// Version that the server reports, once it has.
    pub version: Option<String>,
    /// The process above it and all that it has started, if there is one.
    pub pid: Option<u32>,
    /// Process of the server itself, where that is known.
    pub server_pid: Option<u32>,
    /// Memory of all these processes in bytes, where that is known.
    pub memory: Option<u64>,
    pub state: ServerPhase,
    /// Questions that wait or are being answered.
    pub waiting: usize,
    pub counts: Counts,
    /// Time since its last answer, if it is idle.
    pub idle_for: Option<Duration>,
    pub last_error: Option<String>,
    /// Problem that it reports about itself.
    pub unwell: Option<String>,
}

/// Phase in the life of a language server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerPhase {
    Unused,
    WaitingForMemory,
    Starting,
    Idle,
    Busy,
    NotAnswering,
    Pausing,
    Ended(ServerEnding),
}

/// Reason why the daemon has ended a language server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerEnding {
    Idleness,
    /// Another one needed its memory.
    Memory,
    /// The server is replaced by a fresh process.
    Worn,
    /// Files that it has read have changed.
    Outdated,
    Shutdown,
}

impl From<ServerReport> for ServerInfo {
    fn from(it: ServerReport) -> Self {
        Self {
            id: it.id,
            name: it.name,
            root: it.root,
            version: it.version,
            pid: it.pid,
            server_pid: it.server_pid,
            memory: it.memory,
            state: it.state.into(),
            waiting: it.waiting,
            counts: it.counts,
            idle_for: it.idle_for,
            last_error: it.last_error,
            unwell: it.unwell,
        }
    }
}

impl From<ServerState> for ServerPhase {
    fn from(it: ServerState) -> Self {
        match it {
            ServerState::Unused => Self::Unused,
            ServerState::WaitingForMemory => Self::WaitingForMemory,
            ServerState::Starting => Self::Starting,
            ServerState::Idle => Self::Idle,
            ServerState::Busy => Self::Busy,
            ServerState::NotAnswering => Self::NotAnswering,
            ServerState::Pausing => Self::Pausing,
            ServerState::Ended(why) => Self::Ended(match why {
                Ending::Idleness => ServerEnding::Idleness,
                Ending::Memory => ServerEnding::Memory,
                Ending::Recycled(_) => ServerEnding::Worn,
                Ending::Outdated => ServerEnding::Outdated,
                Ending::Shutdown => ServerEnding::Shutdown,
            }),
        }
    }
}

impl Daemon {
    /// Every server with its memory, which is read from the system.
    pub async fn servers(self: &Arc<Self>) -> Result<ServerList, DaemonError> {
        let daemon = Arc::clone(self);
        let servers = blocking(move || Ok(daemon.servers.pool.status())).await?;
        let search_path = std::env::var_os("PATH").map(|it| it.to_string_lossy().into_owned());
        Ok(ServerList { servers: servers.into_iter().map(ServerInfo::from).collect(), search_path })
    }

    /// Logs of the processes of a server, by its name.
    pub fn server_logs(&self, name: &str) -> Result<Vec<ServerLog>, DaemonError> {
        let logs = self.servers.pool.log(name);
        if logs.is_empty() {
            return Err(DaemonError::NotFound { what: "server", id: name.to_owned() });
        }
        Ok(logs)
    }

    /// Ends the servers of a folder and of all below it.
    pub async fn end_servers(self: &Arc<Self>, root: PathBuf) -> Result<(), DaemonError> {
        if !root.is_absolute() {
            return Err(DaemonError::invalid("root", "the path of a folder must be absolute"));
        }
        let daemon = Arc::clone(self);
        blocking(move || {
            daemon.servers.pool.release(&root);
            Ok(())
        })
        .await
    }
}
