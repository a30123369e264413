//! Checks, runs and commits as operations, for traces and metrics: what is said of each when it ends.

use std::sync::Arc;

use check_engine::pipeline::{LinterSummary, Summary};
use overlay::Revision;
use telemetry::{Fact, Kind, Operation};

use crate::{BranchCell, DaemonError, target::Target};

/// An operation on a branch or the base. It is cancelled if it is dropped.
pub(super) struct Measured(Operation);

impl Measured {
    pub(super) fn check(target: &Target) -> Self {
        Self::of(Kind::Check, target.branch_name())
    }

    #[cfg(target_os = "linux")]
    pub(super) fn run(branch: Option<(Arc<str>, String)>) -> Self {
        Self::of(Kind::Run, branch)
    }

    pub(super) fn commit(cell: &BranchCell) -> Self {
        let mut operation = Operation::start(Kind::Commit);
        operation.note(Fact::Branch(&cell.record.name));
        Self(operation)
    }

    fn of(kind: Kind<'_>, branch: Option<(Arc<str>, String)>) -> Self {
        let mut operation = Operation::start(kind);
        if let Some((_, name)) = &branch {
            operation.note(Fact::Branch(name));
        }
        Self(operation)
    }

    /// Does `work` as a part of this.
    pub(super) fn around<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        self.0.around(work)
    }

    pub(super) fn checked(mut self, summary: &Summary) {
        let answers = |it: &LinterSummary| it.complete + it.excluded + it.partial + it.pending + it.failed;
        let cached: u32 = summary.linters.iter().map(|it| it.cached).sum();
        let all: u32 = summary.linters.iter().map(answers).sum();
        for fact in [
            Fact::Revision(summary.revision.0),
            Fact::Files(summary.files),
            Fact::Findings(summary.findings),
            Fact::Cached(cached as usize),
            Fact::Computed(all.saturating_sub(cached) as usize),
        ] {
            self.0.note(fact);
        }
        self.0.succeed();
    }

    pub(super) fn committed(mut self, revision: Revision, n_files: usize) {
        self.0.note(Fact::Revision(revision.0));
        self.0.note(Fact::Files(n_files));
        self.0.succeed();
    }

    /// `error` says why a command did not end by itself. One that ends with another code than 0 has run well.
    #[cfg(target_os = "linux")]
    pub(super) fn ran(mut self, revision: Revision, exit_code: Option<i32>, error: Option<&str>) {
        self.0.note(Fact::Revision(revision.0));
        if let Some(code) = exit_code {
            self.0.note(Fact::ExitCode(code));
        }
        self.0.end(error);
    }

    pub(super) fn failed(self, error: &DaemonError) {
        self.0.fail(error.reason());
    }
}
