//! What a run says to its client, and what became of it.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use overlay::{Revision, WorkspacePath};
use shadow::{Choice, Ended, Exit};
use tokio::sync::mpsc;

use super::{log::OutputStream, permission::WantedPermission};
use crate::{DaemonError, measured::Measured};

/// A part of what becomes of a run; in the foreground [`Exited`](Self::Exited) or an error is the last, in the background
/// [`Started`](Self::Started).
#[derive(Debug)]
pub enum RunEvent {
    /// The run waits for [`RunInput::Permission`](super::RunInput::Permission).
    Permission(Vec<WantedPermission>),
    Started(RunStarted),
    Output(OutputStream, Bytes),
    Exited(Arc<RunResult>),
}

/// Events of a run. Dropping it ends one in the foreground.
pub type RunEvents = mpsc::Receiver<Result<RunEvent, DaemonError>>;

#[derive(Debug, Clone)]
pub struct RunStarted {
    pub id: Arc<str>,
    pub name: String,
    /// What the folder shows; 0 for the base.
    pub revision: Revision,
    /// How the folder is made.
    pub backend: &'static str,
}

/// What became of a command.
#[derive(Debug)]
pub struct RunResult {
    pub ended: Ended,
    /// How the folder was made.
    pub choice: Choice,
    pub duration: Duration,
    /// What became of the files that were written, if that was asked and the command ended by itself.
    pub harvest: Option<Result<Written, DaemonError>>,
}

/// Files that a command wrote.
#[derive(Debug, Clone, Default)]
pub struct Written {
    /// New, or with another content.
    pub changed: Vec<WorkspacePath>,
    pub removed: Vec<WorkspacePath>,
    /// The branch's new revision; `None` if nothing was written.
    pub revision: Option<Revision>,
}

impl RunResult {
    pub fn signal(&self) -> Option<i32> {
        match self.ended.exit {
            Exit::Signal(signal) => Some(signal),
            Exit::Code(_) | Exit::NotStarted { .. } => None,
        }
    }

    /// Why it was ended, if it did not end by itself.
    pub fn killed(&self) -> Option<String> {
        self.ended.stopped.map(|it| it.to_string())
    }

    /// Ends what is measured of the run, in a folder that showed `revision`.
    pub(super) fn end(&self, measured: Measured, revision: Revision) {
        let (code, error) = match self.ended.exit {
            Exit::Code(code) => (Some(code), None),
            Exit::Signal(_) => (None, Some("signal")),
            Exit::NotStarted { .. } => (None, Some("not_started")),
        };
        let stopped = self.ended.stopped.map(|_| "stopped");
        measured.ran(revision, code, stopped.or(error));
    }

    /// Why it was not started, if it was not.
    pub fn not_started(&self) -> Option<String> {
        match self.ended.exit {
            Exit::NotStarted { error } => Some(std::io::Error::from_raw_os_error(error).to_string()),
            Exit::Code(_) | Exit::Signal(_) => None,
        }
    }
}
