//! What a check tells, part after part.

use std::{sync::Arc, time::Duration};

use checker::{Excluded, Finding, Incomplete, Level, Unavailable};
use lint::{Fingerprint, Identity};
use overlay::{ContentHash, Revision, Skipped};
use tokio::sync::mpsc;

use super::DaemonError;

/// A part of an answer; the summary is the last.
pub enum Event {
    Started(Started),
    Files(Vec<FileFindings>),
    Incomplete(Vec<Incomplete>),
    /// Files that linters leave out for their content.
    Excluded(Vec<Excluded>),
    Summary(Box<Summary>),
}

/// A part of a watch: rounds, each with the events of a check.
pub enum WatchEvent {
    Check(Event),
    /// The round was given up, since the target changed; the branch is at this revision.
    Superseded(Revision),
    /// There is nothing to say before the configuration is mended.
    Refused(DaemonError),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started {
    pub revision: Revision,
    pub files: usize,
}

/// The findings of one file.
#[derive(Debug, Clone)]
pub struct FileFindings {
    pub findings: Vec<Arc<(Finding, Fingerprint)>>,
    /// How they stand to the parent, if that was asked.
    pub change: Option<Change>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    New,
    Fixed,
}

/// What became of a check.
#[derive(Debug, Clone)]
pub struct Summary {
    pub revision: Revision,
    /// Over the paths and contents of all files that the answer is for.
    pub content: ContentHash,
    pub level: Level,
    pub files: usize,
    pub findings: usize,
    /// Whether those are only what the parent has not.
    pub is_comparison: bool,
    pub fixed: usize,
    pub suppressed: usize,
    pub baselined: usize,
    pub linters: Vec<LinterSummary>,
    /// Who would have been asked as well.
    pub unavailable: Vec<Unavailable>,
    pub skipped: Skipped,
    pub duration: Duration,
    pub queued: Duration,
}

#[derive(Debug, Clone)]
pub struct LinterSummary {
    pub linter: Identity,
    pub complete: u32,
    pub excluded: u32,
    pub partial: u32,
    pub pending: u32,
    pub failed: u32,
    pub cached: u32,
}

/// Where the events of a check go.
#[derive(Clone, Copy)]
pub(super) enum Events<'a> {
    Check(&'a mpsc::Sender<Result<Event, DaemonError>>),
    Watch(&'a mpsc::Sender<Result<WatchEvent, DaemonError>>),
}

impl Events<'_> {
    /// Nobody takes it any more only if the client left; the check is then given up anyway.
    pub(super) async fn send(self, event: Event) {
        let _client_left = match self {
            Self::Check(events) => events.send(Ok(event)).await.is_err(),
            Self::Watch(events) => events.send(Ok(WatchEvent::Check(event))).await.is_err(),
        };
    }

    pub(super) async fn closed(self) {
        match self {
            Self::Check(events) => events.closed().await,
            Self::Watch(events) => events.closed().await,
        }
    }
}
