//! All answers of a check, as data: sorted, counted, with positions that people can use.

use std::{cmp::Ordering, collections::BTreeSet, fmt, sync::Arc, time::Duration};

use lint::{Applicability, Identity, LineColumn, Severity, Span, Unit};
use overlay::{ContentHash, Skipped, WorkspacePath};

use super::runner::Harvest;

/// What became of a check.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Every linter that took part, asked or not.
    pub linters: Vec<Identity>,
    /// How many files at least one linter checked, or should have.
    pub files: usize,
    /// By path, cell, place, linter and code.
    pub findings: Vec<Finding>,
    /// Everything that keeps "no findings" from meaning that there are none.
    pub incomplete: Vec<Incomplete>,
    pub counts: Counts,
    /// What the user named and, by the linters' configuration, nobody checked anything of.
    pub left_out: BTreeSet<WorkspacePath>,
    pub skipped: Skipped,
    pub duration: Duration,
}

/// `files`, each counted once, by the worst answer about it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub complete: usize,
    pub partial: usize,
    pub pending: usize,
    pub failed: usize,
}

/// One finding. There can be very many, so what is alike is shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub file: Arc<CheckedFile>,
    pub rule: Arc<RuleRef>,
    pub message: Box<str>,
    pub severity: Severity,
    /// The notebook cell that the range (and that of every edit) counts in.
    pub cell: Option<FindingCell>,
    pub span: Span,
    pub range: Range,
    pub fixes: Box<[Fix]>,
    pub related: Box<[Related]>,
}

/// A file, and the content that the findings are for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedFile {
    pub path: WorkspacePath,
    pub content: Option<ContentHash>,
}

/// What a finding says of its rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RuleRef {
    pub linter: Arc<str>,
    pub code: String,
    pub name: Option<String>,
    pub url: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingCell {
    /// From 0.
    pub index: u32,
    pub text: Arc<str>,
}

/// Lines from 1, columns from 1 in Unicode scalar values, end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    pub start: LineColumn,
    pub end: LineColumn,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    pub message: Option<Box<str>>,
    pub applicability: Applicability,
    pub edits: Box<[Edit]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub range: Range,
    pub replacement: Box<str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// `None`: the finding's own file.
    pub path: Option<WorkspacePath>,
    /// `None` if the other file could not be read.
    pub range: Option<Range>,
    pub span: Span,
    pub message: Box<str>,
}

/// An answer that is not all there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incomplete {
    pub subject: Subject,
    /// `None` if it holds for every linter.
    pub linter: Option<Arc<str>>,
    pub level: Level,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// The linter as such.
    Everything,
    /// A path on the command line that is not in the workspace.
    Argument(String),
    Path(WorkspacePath),
}

/// How much of an answer there is, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Complete,
    Partial,
    Pending,
    Failed,
}

impl Level {
    pub fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Partial => "partial",
            Self::Pending => "pending",
            Self::Failed => "failed",
        }
    }
}

impl fmt::Display for RuleRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.linter, self.code)
    }
}

impl Finding {
    /// Whether a machine may remove it without asking.
    pub fn is_fixable(&self) -> bool {
        self.fixes.iter().any(|it| it.applicability == Applicability::Safe)
    }

    fn order(&self, other: &Self) -> Ordering {
        let key = |it: &Self| (it.cell.as_ref().map(|cell| cell.index), it.span);
        let paths = self.file.path.cmp(&other.file.path);
        paths.then_with(|| key(self).cmp(&key(other))).then_with(|| self.rule.cmp(&other.rule))
    }
}

impl Incomplete {
    /// What a walk was to visit and could not.
    pub fn unreadable(skipped: &Skipped) -> impl Iterator<Item = Self> {
        skipped.unreadable.iter().map(|(path, reason)| Self {
            subject: Subject::Path(path.clone()),
            linter: None,
            level: Level::Failed,
            reason: reason.clone(),
        })
    }
}

impl Report {
    pub(super) fn of(units: &[Unit], harvest: Harvest) -> Self {
        let mut worst = vec![None; units.len()];
        for (unit, level) in harvest.answers {
            worst[unit] = worst[unit].max(Some(level));
        }
        let left_out = left_out(units, &harvest.excluded, &worst);
        let mut report =
            Self { findings: harvest.findings, incomplete: harvest.incomplete, left_out, ..Self::default() };
        worst.into_iter().flatten().for_each(|level| report.count(level));
        report.findings.sort_by(Finding::order);
        report.sort_incomplete();
        report
    }

    fn count(&mut self, level: Level) {
        self.files += 1;
        *match level {
            Level::Complete => &mut self.counts.complete,
            Level::Partial => &mut self.counts.partial,
            Level::Pending => &mut self.counts.pending,
            Level::Failed => &mut self.counts.failed,
        } += 1;
    }

    /// What could not be read was asked for and is not answered; the rest is nothing that is ever checked.
    pub(super) fn skip(&mut self, skipped: Skipped) {
        self.incomplete.extend(Incomplete::unreadable(&skipped));
        self.skipped = skipped;
        self.sort_incomplete();
    }

    /// Adds what was found out before the check began.
    pub fn add_incomplete(&mut self, incomplete: impl IntoIterator<Item = Incomplete>) {
        self.incomplete.extend(incomplete);
        self.sort_incomplete();
    }

    fn sort_incomplete(&mut self) {
        self.incomplete
            .sort_by(|a, b| (&a.subject, &a.linter, a.level).cmp(&(&b.subject, &b.linter, b.level)));
    }

    pub fn is_complete(&self) -> bool {
        self.incomplete.is_empty()
    }

    pub fn fixable(&self) -> usize {
        self.findings.iter().filter(|it| it.is_fixable()).count()
    }
}

/// What was named and has only files that were excluded.
fn left_out(units: &[Unit], excluded: &[usize], worst: &[Option<Level>]) -> BTreeSet<WorkspacePath> {
    let mut left_out: BTreeSet<_> = excluded.iter().map(|unit| &units[*unit].named).collect();
    let answered = units.iter().zip(worst).filter(|(_, level)| level.is_some());
    answered.for_each(|(unit, _)| _ = left_out.remove(&unit.named));
    left_out.into_iter().cloned().collect()
}
