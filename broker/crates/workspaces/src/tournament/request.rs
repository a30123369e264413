//! Request for a tournament, and the checks of its fields.

use std::{collections::BTreeSet, time::Duration};

use overlay::WorkspacePath;

use crate::{DaemonError, FileEdit, TargetId, fields};

/// Candidates of one tournament: each has a check and a test of its own.
const MAX_CANDIDATES: usize = 100;

/// Files of the base whose hashes may be asked for.
const MAX_PATHS: usize = 10_000;

/// Candidates for one task, and the way in which they are compared.
#[derive(Debug, Clone, Hash)]
pub struct TournamentRequest {
    /// Parent of the branches that are made for edits.
    pub parent: TargetId,
    /// Two or more, each with a name of its own.
    pub candidates: Vec<Candidate>,
    pub test: Option<TestCommand>,
    /// The criteria, the first one that differs decides; the usual ones if there are none.
    pub order: Vec<Criterion>,
    pub discard: Discard,
    /// Files of the base whose hashes are told; those that candidates change or linters read if there are none.
    pub base_paths: Vec<String>,
}

#[derive(Debug, Clone, Hash)]
pub struct Candidate {
    pub name: String,
    pub change: CandidateChange,
    /// Conflict that is known from an earlier tournament; then no conflict is looked for.
    pub stated_conflict: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CandidateChange {
    /// The handle of a branch.
    Branch(String),
    /// Edits, for which a branch is made; none for the parent as it is. It has the candidate's name, unless it is discarded in any case.
    Edits(Vec<FileEdit>),
}

/// A command that is run on each candidate, in a folder of its own. What it writes is not kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TestCommand {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// `None` for the usual limit.
    pub time: Option<Duration>,
}

/// Criterion by which candidates are ranked. What was not computed counts as worse than anything that was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Criterion {
    /// No refused edit, and no conflict with the disk.
    Applies,
    TestsPass,
    FewestNewErrors,
    FewestNewFindings,
    MostFixed,
    FewestChangedLines,
}

impl Criterion {
    /// The usual order.
    pub const ALL: [Self; 6] = [
        Self::Applies,
        Self::TestsPass,
        Self::FewestNewErrors,
        Self::FewestNewFindings,
        Self::MostFixed,
        Self::FewestChangedLines,
    ];
}

/// Branches that are discarded after a tournament. One that was edited meanwhile is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Discard {
    #[default]
    Nothing,
    /// Branches of losers that the tournament made.
    MadeLosers,
    /// Branches of losers, also those that were there before.
    Losers,
    /// All branches that the tournament made.
    Made,
}

impl TournamentRequest {
    /// Without a test, in the usual order; discards nothing.
    pub fn of(parent: TargetId, candidates: Vec<Candidate>) -> Self {
        let (test, order, base_paths) = (None, Vec::new(), Vec::new());
        Self { parent, candidates, test, order, discard: Discard::default(), base_paths }
    }

    /// Checks the fields, as far as that needs nothing else. Returns the order and the paths.
    pub(super) fn expect_sense(&self) -> Result<(Vec<Criterion>, Vec<WorkspacePath>), DaemonError> {
        self.expect_candidates()?;
        DaemonError::expect_at_most(MAX_PATHS, self.base_paths.len(), "base_paths")?;
        if self.test.as_ref().is_some_and(|it| it.command.first().is_none_or(String::is_empty)) {
            return Err(DaemonError::invalid("test.command", "it needs a program"));
        }
        if self.test.is_some() && cfg!(not(target_os = "linux")) {
            return Err(DaemonError::invalid("test", "commands on branches are run on Linux only"));
        }
        let once: BTreeSet<_> = self.order.iter().collect();
        if once.len() < self.order.len() {
            return Err(DaemonError::invalid("order", "a criterion is named twice"));
        }
        let order = if self.order.is_empty() { Criterion::ALL.to_vec() } else { self.order.clone() };
        Ok((order, fields::paths("base_paths", &self.base_paths)?))
    }

    fn expect_candidates(&self) -> Result<(), DaemonError> {
        let invalid = |message: &str| Err(DaemonError::invalid("candidates", message));
        DaemonError::expect_at_most(MAX_CANDIDATES, self.candidates.len(), "candidates")?;
        if self.candidates.len() < 2 {
            return invalid("a choice takes two or more");
        }
        let names: BTreeSet<_> = self.candidates.iter().map(|it| &it.name).collect();
        if names.len() < self.candidates.len() || names.iter().any(|it| it.is_empty()) {
            return invalid("each needs a name of its own");
        }
        let branches: Vec<_> = self.candidates.iter().filter_map(Candidate::branch).collect();
        if branches.iter().collect::<BTreeSet<_>>().len() < branches.len() {
            return invalid("a branch is named twice");
        }
        Ok(())
    }
}

impl Candidate {
    pub fn of_branch(name: impl Into<String>, branch: impl Into<String>) -> Self {
        Self { name: name.into(), change: CandidateChange::Branch(branch.into()), stated_conflict: None }
    }

    pub fn of_edits(name: impl Into<String>, edits: Vec<FileEdit>) -> Self {
        Self { name: name.into(), change: CandidateChange::Edits(edits), stated_conflict: None }
    }

    fn branch(&self) -> Option<&str> {
        match &self.change {
            CandidateChange::Branch(branch) => Some(branch),
            CandidateChange::Edits(_) => None,
        }
    }
}
