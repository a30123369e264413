//! Reports of servers, for those who watch them.

use std::{path::PathBuf, time::Duration};

use lsp_client::Epoch;

/// A server as it is at the moment.
#[derive(Debug, Clone)]
pub struct ServerReport {
    /// Tells it from any other of the same pool.
    pub id: u64,
    pub name: String,
    pub root: PathBuf,
    /// Name and version that the server reports, once they are known.
    pub version: Option<String>,
    /// The process above it and all that it has started, if there is one.
    pub pid: Option<u32>,
    /// The server's own process, where that can be known.
    pub server_pid: Option<u32>,
    /// The bytes of memory of all these processes, where that can be known.
    pub memory: Option<u64>,
    pub state: ServerState,
    /// Number of questions that wait or are being answered.
    pub waiting: usize,
    pub counts: Counts,
    /// Time since its last answer, if it is idle.
    pub idle_for: Option<Duration>,
    pub last_error: Option<String>,
    /// Problem that the server reports of itself.
    pub unwell: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerState {
    /// Not used yet.
    Unused,
    /// To be started as soon as there is memory for it.
    WaitingForMemory,
    Starting,
    Idle,
    Busy,
    /// No answer since a question was given up. Started again if that goes on.
    NotAnswering,
    /// After a crash, or since it cannot be started: tried again when it is needed, but not at once.
    Pausing,
    /// Started again when it is needed.
    Ended(Ending),
}

/// Reason for which we have ended a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Idleness,
    /// Memory needed by another process.
    Memory,
    Recycled(RecycleReason),
    /// A file that the server has read has changed on the disk.
    Outdated,
    /// Shutdown for good.
    Shutdown,
}

/// Reason for replacing a process by a fresh one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecycleReason {
    /// Growth of its memory.
    Memory,
    /// Too many switches between states.
    Switches,
}

/// Counts since the server's entry was created.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub questions: u64,
    /// Number of switches from one state to another.
    pub switches: u64,
    pub starts: u64,
    /// Number of times that the server died by itself, or was killed because it hung or spoke no LSP.
    pub crashes: u64,
}

/// The last lines that a server wrote to its standard error, with the process that wrote each.
#[derive(Debug, Clone)]
pub struct ServerLog {
    /// Same as in its [`ServerReport`].
    pub id: u64,
    pub name: String,
    pub root: PathBuf,
    pub lines: Vec<(Epoch, String)>,
}
