//! A program to be run, and what became of it.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    path::PathBuf,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::Limits;

/// A program to be run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Program {
    /// The program, looked for in its `PATH`, and its arguments. Never empty.
    pub command: Vec<OsString>,
    /// All of its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Working directory at the start.
    pub folder: PathBuf,
    /// The terminal that is its standard input, output and error, if it has one.
    pub terminal: Option<TerminalSize>,
    pub limits: Limits,
}

/// The size of a terminal, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TerminalSize {
    pub rows: u16,
    pub columns: u16,
}

/// End of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    pub exit: Exit,
    /// Reason for which the program was stopped, if it did not end by itself.
    pub stopped: Option<Stopped>,
    /// Whether the program left processes behind, which were ended.
    pub left_some: bool,
    /// Time of processors that it and what it waited for used.
    pub processor_time: Duration,
    /// The most memory that was seen in use by all its processes together, in bytes; 0 where there is no limit.
    pub memory: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// The program could not be started: the system's error.
    NotStarted {
        error: i32,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stopped {
    Time(Duration),
    /// Bytes.
    Memory(u64),
    Processes(u64),
    /// The shadow folder itself was closed, or broke off.
    Closed,
}

impl Ended {
    /// Whether the program ended by itself with all that it had started, or never began, so that no file is half written.
    pub fn is_whole(&self) -> bool {
        !matches!(self.exit, Exit::Signal(_)) && self.stopped.is_none() && !self.left_some
    }
}

impl Exit {
    /// Returns the exit code as a shell has it: 128 and the signal, 127 for a program that is not there, 126 for one that cannot
    /// be run.
    pub fn code(&self) -> i32 {
        match self {
            Self::Code(code) => *code,
            Self::Signal(signal) => 128 + signal,
            Self::NotStarted { error } => {
                let error = std::io::Error::from_raw_os_error(*error);
                if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 }
            }
        }
    }
}

/// The largest first.
const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(limit) => write!(f, "time limit of {limit:?}"),
            Self::Memory(limit) => {
                let (unit, name) =
                    UNITS.into_iter().find(|(unit, _)| limit % unit == 0).unwrap_or((1, "bytes"));
                write!(f, "memory limit of {} {name}", limit / unit)
            }
            Self::Processes(limit) => write!(f, "limit of {limit} processes"),
            Self::Closed => f.write_str("the folder that it ran in was closed"),
        }
    }
}

impl Program {
    /// The variable's value in its environment.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_os_str())
    }
}
