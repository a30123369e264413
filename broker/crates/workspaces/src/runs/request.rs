//! Request to run a command, and the checks of its fields.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf, time::Duration};

use bytes::Bytes;
use overlay::WorkspacePath;
pub use shadow::TerminalSize;
use shadow::{Isolation, Network};

use crate::{DaemonError, TargetId, fields};

/// Bytes of a command with its arguments; Linux takes about as much.
const MAX_COMMAND: usize = 2 << 20;

const MAX_PATHS: usize = 1000;

/// Bytes of one message for the standard input.
const MAX_STDIN: usize = 1 << 20;

/// Processes and threads of a run that says nothing of it.
pub const DEFAULT_PROCESSES: u32 = 4096;

/// Bytes of memory that a run of an agent may have: half of the machine's. `None` where that is not known.
pub fn memory_of_agents() -> Option<u64> {
    let system = rustix::system::sysinfo();
    (system.totalram as u64).checked_mul(system.mem_unit.into()).map(|it| it / 2).filter(|it| *it > 0)
}

/// Bytes that may be written in a folder of which nothing is said.
pub const DEFAULT_SPACE: u64 = 4 << 30;

/// A command, and how it is to be run.
#[derive(Debug, Clone, Hash)]
pub struct RunRequest {
    pub target: TargetId,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Folder that the command starts in, relative to the workspace's root.
    pub folder: String,
    /// All of its variables; `None` for those that the daemon has for the workspace.
    pub environment: Option<BTreeMap<OsString, OsString>>,
    pub terminal: Option<TerminalSize>,
    pub sandbox: SandboxRequest,
    pub limits: RunLimits,
    /// Which files that were written become an edit of the branch: a glob, or all that git would not ignore if it is
    /// empty.
    pub harvest: Option<String>,
    /// Empty for one that is made up.
    pub name: String,
    /// Whether the run goes on without its client.
    pub background: bool,
    /// With one, a start in the background may be sent again.
    pub request_id: Option<String>,
}

/// Resources that a command may reach besides the workspace.
#[derive(Debug, Clone, Default, Hash)]
pub struct SandboxRequest {
    pub isolation: Isolation,
    /// Whether caches of earlier runs are left out.
    pub cold: bool,
    pub network: Network,
    pub read: Vec<PathBuf>,
    pub write: Vec<PathBuf>,
    /// Bytes.
    pub space: Option<u64>,
    /// A folder of its own, whatever runs on the branch.
    pub own_folder: bool,
}

/// Limits of a command with all that it starts.
#[derive(Debug, Clone, Copy, Default, Hash)]
pub struct RunLimits {
    pub time: Option<Duration>,
    /// Bytes.
    pub memory: Option<u64>,
    pub processes: Option<u32>,
}

/// Input that a client sends while its command runs.
#[derive(Debug, Clone)]
pub enum RunInput {
    Stdin(Bytes),
    StdinEnd,
    Resize(TerminalSize),
    Signal(i32),
    /// Whether the permissions that were asked for are granted.
    Permission(bool),
}

impl RunRequest {
    /// In the foreground, with the workspace's settings.
    pub fn of(target: TargetId, command: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self {
            target,
            command: command.into_iter().map(Into::into).collect(),
            folder: String::new(),
            environment: None,
            terminal: None,
            sandbox: SandboxRequest::default(),
            limits: RunLimits::default(),
            harvest: None,
            name: String::new(),
            background: false,
            request_id: None,
        }
    }

    /// The program and its arguments, to be shown.
    pub(super) fn words(&self) -> Vec<String> {
        self.command.iter().map(|it| it.to_string_lossy().into_owned()).collect()
    }

    /// Checks the fields, as far as that needs nothing else.
    pub(super) fn expect_sense(&self) -> Result<WorkspacePath, DaemonError> {
        let invalid = |field, message: &str| Err(DaemonError::invalid(field, message));
        let has_nul = self.command.iter().any(|it| it.as_encoded_bytes().contains(&0));
        if self.command.first().is_none_or(|it| it.is_empty()) || has_nul {
            return invalid("command", "it needs a program, and no NUL character");
        }
        let size = self.command.iter().map(|it| it.len() + 1).sum();
        DaemonError::expect_at_most(MAX_COMMAND, size, "bytes of a command")?;
        self.environment.as_ref().map_or(Ok(()), fields::expect_environment)?;
        fields::expect_name("a name of a run", "bytes of a run's name", &self.name)?;
        self.expect_fitting_harvest()?;
        if self.background && self.terminal.is_some() {
            return invalid("terminal", "what runs in the background has none");
        }
        if self.request_id.is_some() && !self.background {
            return invalid("request_id", "only a start in the background can be sent again");
        }
        if self.limits.processes.is_some_and(|it| !(8..1_000_000).contains(&it)) {
            return invalid("limits.processes", "it is a number from 8 to 999999");
        }
        let SandboxRequest { read, write, .. } = &self.sandbox;
        DaemonError::expect_at_most(MAX_PATHS, read.len() + write.len(), "paths of a sandbox")?;
        fields::path("folder", &self.folder)
    }

    fn expect_fitting_harvest(&self) -> Result<(), DaemonError> {
        if self.harvest.is_none() {
            return Ok(());
        }
        if matches!(self.target, TargetId::Workspace(_)) {
            return Err(DaemonError::invalid("harvest", "only a branch can take what was written"));
        }
        if self.background {
            let message = "what runs in the background keeps nothing; run it in the foreground";
            return Err(DaemonError::invalid("harvest", message));
        }
        Ok(())
    }
}

impl RunInput {
    /// Fails if it is more than a client may send at once.
    pub(super) fn expect_small(&self) -> Result<(), DaemonError> {
        let Self::Stdin(bytes) = self else { return Ok(()) };
        DaemonError::expect_at_most(MAX_STDIN, bytes.len(), "bytes of standard input in one message")
    }
}
