//! Reports of a check, and the trait of their receiver.

use std::{sync::Arc, time::Duration};

use lint::{Completeness, Identity, Unit};
use overlay::{ContentHash, Revision, Skipped};

use super::{FileFindings, Reported};
use crate::{Coverage, Excluded, Incomplete, Level, Unavailable};

/// Takes what a check reports. While it takes its time, nothing new is begun.
pub trait Sink: Send {
    /// `answers` of these linters will come, about so many files.
    fn started(
        &mut self,
        linters: &[Identity],
        files: usize,
        answers: usize,
    ) -> impl Future<Output = ()> + Send;

    fn file(&mut self, file: FileReport) -> impl Future<Output = ()> + Send;

    /// Takes an answer that is incomplete as a whole: of a missing linter, or about a path that cannot be read.
    fn incomplete(&mut self, incomplete: Incomplete);

    /// Called when nothing more is there for the moment.
    fn pause(&mut self) -> impl Future<Output = ()> + Send;
}

/// Report about one file.
#[derive(Debug, Clone)]
pub struct FileReport {
    pub unit: Unit,
    /// Whether only the other view of a comparison has the file.
    pub is_gone: bool,
    /// Level of the worst answer; `None` if every linter leaves the file out, or none was asked about it.
    pub level: Option<Level>,
    /// Linters are counted as in [`Summary::linters`].
    pub coverage: Coverage,
    /// Everything that is found in the file.
    pub found: Arc<FileFindings>,
    /// Differences from the other view, in a comparison.
    pub changes: Option<Vec<(Change, Vec<Reported>)>>,
    pub incomplete: Vec<Incomplete>,
    pub excluded: Vec<Excluded>,
    /// By linter that was asked: what its answer rests on besides the text; `None` where that is not known.
    pub reads: Vec<(usize, Option<scheduler::Reads>)>,
}

/// Change of a finding from the other view of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    New,
    Fixed,
}

/// Result of a check.
#[derive(Debug, Clone)]
pub struct Summary {
    pub revision: Revision,
    /// Hash over the paths and contents of all files that the answer is for.
    pub content: ContentHash,
    pub level: Level,
    pub files: usize,
    pub findings: usize,
    /// Whether `findings` counts only those that the other view has not.
    pub is_comparison: bool,
    pub fixed: usize,
    pub suppressed: usize,
    pub baselined: usize,
    pub linters: Vec<LinterSummary>,
    /// Linters that would have been asked as well.
    pub unavailable: Vec<Unavailable>,
    pub skipped: Skipped,
    pub duration: Duration,
    pub queued: Duration,
}

impl Summary {
    pub(super) fn new(revision: Revision, is_comparison: bool) -> Self {
        Self {
            revision,
            content: ContentHash::of(b""),
            level: Level::Complete,
            files: 0,
            findings: 0,
            is_comparison,
            fixed: 0,
            suppressed: 0,
            baselined: 0,
            linters: Vec::new(),
            unavailable: Vec::new(),
            skipped: Skipped::default(),
            duration: Duration::ZERO,
            queued: Duration::ZERO,
        }
    }
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

impl LinterSummary {
    pub(super) fn of(linter: Identity) -> Self {
        Self { linter, complete: 0, excluded: 0, partial: 0, pending: 0, failed: 0, cached: 0 }
    }

    /// Counts an answer and returns its level; `None` if the linter leaves the file out.
    pub(super) fn add(&mut self, completeness: &Completeness) -> Option<Level> {
        let (count, level) = match completeness {
            Completeness::Excluded => (&mut self.excluded, None),
            Completeness::Complete => (&mut self.complete, Some(Level::Complete)),
            Completeness::Partial(_) => (&mut self.partial, Some(Level::Partial)),
            Completeness::Pending(_) => (&mut self.pending, Some(Level::Pending)),
            Completeness::Failed(_) => (&mut self.failed, Some(Level::Failed)),
        };
        *count += 1;
        level
    }

    /// The worst of its answers.
    pub fn level(&self) -> Level {
        match self {
            it if it.failed > 0 => Level::Failed,
            it if it.pending > 0 => Level::Pending,
            it if it.partial > 0 => Level::Partial,
            _ => Level::Complete,
        }
    }
}
