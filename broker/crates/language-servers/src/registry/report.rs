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
    /// As it calls itself, once it has said so.
    pub version: Option<String>,
    /// The process above it and all that it has started, if there is one.
    pub pid: Option<u32>,
    /// The server's own process, where that can be known.
    pub server_pid: Option<u32>,
    /// The bytes of memory of all these processes, where that can be known.
    pub memory: Option<u64>,
    pub state: ServerState,
    /// How many questions wait or are being answered.
    pub waiting: usize,
    pub counts: Counts,
    /// Since its last answer, if it does nothing.
    pub idle_for: Option<Duration>,
    pub last_error: Option<String>,
    /// What it says is wrong with it.
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
    /// It has not answered since a question was given up. It is started again if that goes on.
    NotAnswering,
    /// After a crash, or since it cannot be started: tried again when it is needed, but not at once.
    Pausing,
    /// It is started again when it is needed.
    Ended(Ending),
}

/// Why we have ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Idleness,
    /// Another one needed its memory.
    Memory,
    Recycled(RecycleReason),
    /// What it has read has changed on the disk.
    Outdated,
    /// For good.
    Shutdown,
}

/// Why a process is replaced by a fresh one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecycleReason {
    /// It has grown.
    Memory,
    /// It has been moved about too often.
    Switches,
}

/// Since there is this server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub questions: u64,
    /// From one state to another.
    pub switches: u64,
    pub starts: u64,
    /// How often it died by itself, or was killed because it hung or spoke no LSP.
    pub crashes: u64,
}

/// The last lines that a server wrote to its standard error, with the process that wrote each.
#[derive(Debug, Clone)]
pub struct ServerLog {
    /// As in its [`ServerReport`].
    pub id: u64,
    pub name: String,
    pub root: PathBuf,
    pub lines: Vec<(Epoch, String)>,
}
