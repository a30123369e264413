//! Events that a check sends to its client, part after part.

use std::{mem, sync::Arc, time::Duration};

use check_engine::{
    AnswerTime, Excluded, Incomplete, Level, Unavailable, Unfinished,
    pipeline::{Change, FileReport, LinterSummary, Reported, Sink, Summary},
};
use lint::Identity;
use overlay::{ContentHash, Revision};
use tokio::sync::mpsc;

use super::{DaemonError, RequestError, view::CheckedView};

/// A part of an answer; the summary is the last.
#[derive(Debug, Clone)]
pub enum Event {
    Started(Started),
    Files(Vec<FileFindings>),
    Incomplete(Vec<Incomplete>),
    /// Files that linters leave out for their content.
    Excluded(Vec<Excluded>),
    Summary(Box<CheckSummary>),
}

/// A part of a watch: rounds, each with the events of a check.
#[derive(Debug, Clone)]
pub enum WatchEvent {
    Check(Event),
    /// The round was given up, since the target changed; the branch is at this revision.
    Superseded(Revision),
    /// There is nothing to say before the configuration is fixed.
    Refused(RequestError),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Started {
    pub revision: Revision,
    pub files: usize,
}

/// The findings of one file.
#[derive(Debug, Clone)]
pub struct FileFindings {
    pub findings: Vec<Reported>,
    /// Change of the findings from the parent, if that was asked.
    pub change: Option<Change>,
}

/// Counts of a check, and how much of an answer it is.
#[derive(Debug, Clone)]
pub struct CheckSummary {
    pub revision: Revision,
    /// Over the paths and contents of all files that the answer is for.
    pub content: ContentHash,
    pub level: Level,
    pub files: usize,
    pub findings: usize,
    /// Findings that the parent has not, if it was compared.
    pub new: usize,
    /// Findings that only the parent has.
    pub fixed: usize,
    pub suppressed: usize,
    pub baselined: usize,
    pub linters: Vec<LinterSummary>,
    /// Linters that would have been asked as well.
    pub unavailable: Vec<Unavailable>,
    /// Files and folders that were passed over.
    pub skipped: u64,
    pub duration: Duration,
    pub queued: Duration,
    /// Answers that were computed, the longest first, if that was asked.
    pub timings: Vec<AnswerTime>,
    /// Work that goes on for answers that had not come when the check was due, as long as this is kept.
    pub unfinished: Option<Arc<Unfinished>>,
    /// The whole answer, which has no other parts then: of a view of this process.
    pub local: Option<Box<CheckedView>>,
}

impl Default for CheckSummary {
    /// The summary of a check of nothing.
    fn default() -> Self {
        Self {
            revision: Revision::default(),
            content: ContentHash::of(b""),
            level: Level::Complete,
            files: 0,
            findings: 0,
            new: 0,
            fixed: 0,
            suppressed: 0,
            baselined: 0,
            linters: Vec::new(),
            unavailable: Vec::new(),
            skipped: 0,
            duration: Duration::ZERO,
            queued: Duration::ZERO,
            timings: Vec::new(),
            unfinished: None,
            local: None,
        }
    }
}

impl From<Summary> for CheckSummary {
    fn from(it: Summary) -> Self {
        Self {
            revision: it.revision,
            content: it.content,
            level: it.level,
            files: it.files,
            findings: it.findings,
            new: if it.is_comparison { it.findings } else { 0 },
            fixed: it.fixed,
            suppressed: it.suppressed,
            baselined: it.baselined,
            linters: it.linters,
            unavailable: it.unavailable,
            skipped: it.skipped.total(),
            duration: it.duration,
            queued: it.queued,
            timings: Vec::new(),
            unfinished: None,
            local: None,
        }
    }
}

/// Channel that the events of a check are sent to.
#[derive(Clone, Copy)]
pub(super) enum Events<'a> {
    Check(&'a mpsc::Sender<Result<Event, DaemonError>>),
    Watch(&'a mpsc::Sender<Result<WatchEvent, DaemonError>>),
}

impl Events<'_> {
    /// Fails only if the client has left, and then the check is given up anyway.
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

/// Findings that go into one event.
const GATHERED: usize = 500;

/// Gathers what is reported of files into events of a fair size.
pub(super) struct EventSink<'a> {
    events: Events<'a>,
    revision: Revision,
    files: Vec<FileFindings>,
    /// Number of findings that are gathered.
    waiting: usize,
    incomplete: Vec<Incomplete>,
    excluded: Vec<Excluded>,
}

impl<'a> EventSink<'a> {
    pub(super) fn new(events: Events<'a>, revision: Revision) -> Self {
        Self { events, revision, files: Vec::new(), waiting: 0, incomplete: Vec::new(), excluded: Vec::new() }
    }

    async fn gather(&mut self, findings: &[Reported], change: Option<Change>) {
        if findings.is_empty() {
            return;
        }
        self.waiting += findings.len();
        self.files.push(FileFindings { findings: findings.to_vec(), change });
        if self.waiting >= GATHERED {
            self.pause().await;
        }
    }
}

impl Sink for EventSink<'_> {
    async fn started(&mut self, _linters: &[Identity], files: usize, _answers: usize) {
        self.events.send(Event::Started(Started { revision: self.revision, files })).await;
    }

    async fn file(&mut self, file: FileReport) {
        self.incomplete.extend(file.incomplete);
        self.excluded.extend(file.excluded);
        match file.changes {
            None => self.gather(&file.found.findings, None).await,
            Some(changes) => {
                for (change, findings) in changes {
                    self.gather(&findings, Some(change)).await;
                }
            }
        }
    }

    fn incomplete(&mut self, incomplete: Incomplete) {
        self.incomplete.push(incomplete);
    }

    async fn pause(&mut self) {
        self.waiting = 0;
        if !self.files.is_empty() {
            self.events.send(Event::Files(mem::take(&mut self.files))).await;
        }
        if !self.incomplete.is_empty() {
            self.events.send(Event::Incomplete(mem::take(&mut self.incomplete))).await;
        }
        if !self.excluded.is_empty() {
            self.events.send(Event::Excluded(mem::take(&mut self.excluded))).await;
        }
    }
}
