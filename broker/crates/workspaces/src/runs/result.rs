//! Events of a run, and its end.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use overlay::{Revision, WorkspacePath};
use shadow::{Choice, Ended, Exit};
use tokio::sync::mpsc;

use super::{log::OutputStream, permission::WantedPermission};
use crate::{DaemonError, measured::Measured};

/// A part of what becomes of a run; in the foreground [`Exited`](Self::Exited) or an error is the last, in the background
/// [`Started`](Self::Started).
#[derive(Debug, Clone)]
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
    /// Revision that the folder shows; 0 for the base.
    pub revision: Revision,
    /// Backend that the folder is made with.
    pub backend: String,
}

/// End of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunResult {
    /// Exit code as in a shell: 128 and the signal, 127 for a program that is missing, 126 for one that cannot be run.
    pub exit_code: i32,
    pub signal: Option<i32>,
    /// Reason why it was ended, if it did not end by itself.
    pub killed: Option<String>,
    /// Reason why it was not started, if it was not.
    pub not_started: Option<String>,
    /// Backend that the folder was made with.
    pub backend: String,
    pub isolated: bool,
    pub duration: Duration,
    pub processor_time: Duration,
    /// Most memory that was seen in use, in bytes.
    pub peak_memory: u64,
    /// Reason why what was written to caches is not kept, if that failed.
    pub caches_error: Option<String>,
    /// Fate of the files that were written, if that was asked.
    pub harvest: Option<Result<Written, HarvestRefused>>,
}

/// Files that a command wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// New, or with another content.
    pub changed: Vec<WorkspacePath>,
    pub removed: Vec<WorkspacePath>,
    /// Whether files of version control were written, which the branch keeps and no commit writes.
    pub repository: bool,
    /// The branch's new revision; `None` if nothing was written.
    pub revision: Option<Revision>,
}

/// Reason why the files that a command wrote are not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HarvestRefused {
    /// Stable, for programs.
    pub reason: String,
    pub message: String,
    /// Paths that were edited meanwhile.
    pub paths: Vec<WorkspacePath>,
}

impl RunResult {
    pub(super) fn new(
        ended: &Ended,
        choice: Choice,
        duration: Duration,
        harvest: Option<Result<Written, DaemonError>>,
        caches_error: Option<String>,
    ) -> Self {
        let (signal, not_started) = match ended.exit {
            Exit::Code(_) => (None, None),
            Exit::Signal(signal) => (Some(signal), None),
            Exit::NotStarted { error } => (None, Some(std::io::Error::from_raw_os_error(error).to_string())),
        };
        Self {
            exit_code: ended.exit.code(),
            signal,
            killed: ended.stopped.map(|it| it.to_string()),
            not_started,
            backend: choice.backend.name().to_owned(),
            isolated: choice.isolated,
            duration,
            processor_time: ended.processor_time,
            peak_memory: ended.memory,
            caches_error,
            harvest: harvest.map(|it| it.map_err(HarvestRefused::from)),
        }
    }

    /// Ends what is measured of the run, in a folder that showed `revision`.
    pub(super) fn end(&self, measured: Measured, revision: Revision) {
        let (code, error) = match (self.signal, &self.not_started) {
            (None, None) => (Some(self.exit_code), None),
            (Some(_), _) => (None, Some("signal")),
            (None, Some(_)) => (None, Some("not_started")),
        };
        let stopped = self.killed.as_ref().map(|_| "stopped");
        measured.ran(revision, code, stopped.or(error));
    }
}

impl From<DaemonError> for HarvestRefused {
    fn from(error: DaemonError) -> Self {
        let (reason, message) = (error.reason().to_owned(), error.sentence());
        let paths = match error {
            DaemonError::EditedMeanwhile { paths } => paths,
            _ => Vec::new(),
        };
        Self { reason, message, paths }
    }
}
