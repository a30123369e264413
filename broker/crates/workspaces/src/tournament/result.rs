//! Result of a tournament: all that its ranking rests on.

use std::{collections::BTreeMap, time::Duration};

use check_engine::Finding;
use lint::{Identity, LineColumn, Severity};
use overlay::{ContentHash, WorkspacePath};

use super::request::Criterion;

/// Candidates as they were compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tournament {
    pub base: TournamentBase,
    /// Linters that were asked, with the digests of their code and settings. Sorted by name.
    pub linters: Vec<Identity>,
    /// In the order of the request.
    pub candidates: Vec<CandidateResult>,
    pub order: Vec<Criterion>,
    /// Best first; equal ones in the order of the request.
    pub ranking: Vec<Ranked>,
    /// Names of the candidates whose branches were discarded.
    pub discarded: Vec<String>,
    /// A sentence for each reason for which linters that the project asks for were not asked.
    pub not_asked: Vec<String>,
}

/// Files that the candidates are compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TournamentBase {
    /// Hash over all files that a walk visits: all but those that ignore files exclude.
    pub tree: ContentHash,
    /// Files that candidates change or linters read, as the base has them; `None` where it has no file.
    pub files: BTreeMap<WorkspacePath, Option<ContentHash>>,
    /// Number of such files that are not listed.
    pub files_not_listed: usize,
    /// Linters of which it is not known what they read. Sorted.
    pub untraced: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateResult {
    pub name: String,
    /// Handle of its branch; `None` if its edits were refused.
    pub branch: Option<String>,
    /// Whether the branch was made for the tournament.
    pub is_made: bool,
    /// Reason why its edits cannot be made. Then nothing else is computed.
    pub refused: Option<String>,
    /// Reason why it cannot be committed to the disk as that is now.
    pub conflict: Option<String>,
    pub changed: ChangedFiles,
    pub findings: FindingChanges,
    /// Reasons for which findings may be missing. Sorted.
    pub not_computed: Vec<String>,
    /// `None` if there is no test.
    pub test: Option<TestResult>,
}

/// Files and lines that a candidate changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedFiles {
    /// Hash of the whole tree, as in [`TournamentBase`]; `None` if its edits were refused.
    pub tree: Option<ContentHash>,
    /// Content of each changed path; `None` where there is no file any more.
    pub files: BTreeMap<WorkspacePath, Option<ContentHash>>,
    /// Number of lines that were added, in all texts.
    pub added: usize,
    pub removed: usize,
    /// Changed files that are no texts, or too large: their lines are not counted.
    pub uncounted: Vec<WorkspacePath>,
    /// Unified diff from the base; `None` if it would not be all of the change, or is too long.
    pub patch: Option<String>,
}

/// Findings that differ from the base. At most 100 of either kind are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FindingChanges {
    pub new_errors: usize,
    /// Errors among them.
    pub new: usize,
    pub fixed: usize,
    pub new_listed: Vec<ChangedFinding>,
    pub fixed_listed: Vec<ChangedFinding>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedFinding {
    pub path: WorkspacePath,
    pub at: LineColumn,
    /// Linter and code.
    pub rule: String,
    pub severity: Severity,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestResult {
    pub end: TestEnd,
    pub duration: Duration,
    /// The beginning and the end of what it printed.
    pub output: String,
    /// Bytes that are missing in the middle.
    pub left_out: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestEnd {
    /// Exit code.
    Exited(i32),
    /// Reason why it did not end by itself: its time was over, or a signal.
    Ended(String),
    /// Reason why there is no result.
    NotRun(String),
}

/// A candidate in the ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranked {
    /// From 1. Equal candidates have the same, and the next one has a rank higher by their number.
    pub rank: usize,
    /// Place in [`Tournament::candidates`].
    pub candidate: usize,
    /// Criterion by which it is behind the one before; `None` for the first, and where both are equal.
    pub decided_by: Option<Criterion>,
}

impl Tournament {
    /// Whether all is known of each candidate that could be made.
    pub fn is_complete(&self) -> bool {
        let is_run =
            |it: &CandidateResult| !it.test.as_ref().is_some_and(|it| matches!(it.end, TestEnd::NotRun(_)));
        self.candidates.iter().all(|it| it.refused.is_some() || it.is_computed() && is_run(it))
    }

    /// Candidates of the first rank.
    pub fn winners(&self) -> impl Iterator<Item = &CandidateResult> {
        let first = self.ranking.iter().take_while(|it| it.rank == 1);
        first.map(|it| &self.candidates[it.candidate])
    }
}

impl CandidateResult {
    /// Whether all findings are known.
    pub fn is_computed(&self) -> bool {
        self.refused.is_none() && self.not_computed.is_empty()
    }

    /// Whether its test ran, if there is one.
    pub fn is_tested(&self) -> bool {
        !self.test.as_ref().is_some_and(|it| matches!(it.end, TestEnd::NotRun(_)))
    }

    pub fn applies(&self) -> bool {
        self.refused.is_none() && self.conflict.is_none()
    }

    /// Whether it applies, brings no error, and passes the test if there is one.
    pub fn is_good(&self) -> bool {
        let passes = self.refused.is_none() && self.test.as_ref().is_none_or(TestResult::passed);
        self.applies() && passes && self.findings.new_errors == 0
    }
}

impl TestResult {
    pub fn passed(&self) -> bool {
        self.end == TestEnd::Exited(0)
    }
}

impl ChangedFinding {
    pub(super) fn of(it: &Finding) -> Self {
        Self {
            path: it.file.path.clone(),
            at: it.range.start,
            rule: it.rule.to_string(),
            severity: it.severity,
            message: it.message.to_string(),
        }
    }
}
