//! Errors of commands, and their exit codes.

use std::{fmt, io, process::ExitCode};

use check_engine::baseline::BaselineError;
use config::{ConfigError, SetupFailure};

/// Whose fault an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line asks for what is not there or makes no sense.
    Usage,
    /// A file or folder could not be used.
    Files,
    /// A plugin could not be used.
    Plugin,
    /// Something could not be fetched, or the user had enough.
    Fetch,
    /// The reader of the output closed it.
    BrokenPipe,
}

/// A sentence for the user, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliError {
    pub kind: ErrorKind,
    pub message: String,
    pub hint: Option<String>,
}

/// Exit of a command, with codes as in ruff and ESLint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Clean,
    Findings,
    /// Something that was asked for was not done.
    Abnormal,
    /// Exit code of a command that was run.
    Code(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Clean => 0,
            Exit::Findings => 1,
            Exit::Abnormal => 2,
            Exit::Code(code) => code,
        })
    }
}

impl From<&CliError> for Exit {
    fn from(error: &CliError) -> Self {
        match error.kind {
            ErrorKind::BrokenPipe => Self::Clean,
            ErrorKind::Usage | ErrorKind::Files | ErrorKind::Plugin | ErrorKind::Fetch => Self::Abnormal,
        }
    }
}

impl CliError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    pub(crate) fn files(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Files, message)
    }

    pub(crate) fn plugin(error: impl ToString) -> Self {
        Self::new(ErrorKind::Plugin, error.to_string())
    }

    pub(crate) fn fetch(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Fetch, message)
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(crate) fn maybe_hint(self, hint: Option<String>) -> Self {
        Self { hint, ..self }
    }
}

/// An error while writing the answer.
impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::new(ErrorKind::BrokenPipe, "the output was closed"),
            _ => Self::files(format!("cannot write the output: {error}")),
        }
    }
}

impl From<SetupFailure> for CliError {
    fn from(SetupFailure { message, hint }: SetupFailure) -> Self {
        Self::usage(message).maybe_hint(hint)
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::files(error.to_string()).maybe_hint(error.hint)
    }
}

impl From<BaselineError> for CliError {
    fn from(error: BaselineError) -> Self {
        Self::files(error.to_string()).hint("restore the file, or make it anew")
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CliError {}
