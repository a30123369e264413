//! A check of a branch, or of a merge that is no branch, against an ancestor: for merge previews and tournaments.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use check_engine::{
    Due, Incomplete, Unavailable, Unfinished,
    pipeline::{self, Change, FileReport, Reported, Sink},
};
use lint::Identity;
use overlay::{Snapshot, WorkspacePath};
use scheduler::Reads;

use crate::{
    BranchCell, CheckOptions, CheckRequest, Daemon, DaemonError, OpenWorkspace,
    ask::refused,
    target::{ResolvedView, Target, TargetId},
};

/// Result of a check.
#[derive(Default)]
pub(super) struct Checked {
    /// Findings that the ancestor has not.
    pub(super) new: Vec<Reported>,
    /// Findings that only the ancestor has.
    pub(super) fixed: Vec<Reported>,
    /// Reads of answers, with the files that the answers are about.
    pub(super) reads: Vec<(WorkspacePath, Reads)>,
    /// Linters with an answer of which that is not known, with the file.
    pub(super) untraced: BTreeSet<(Arc<str>, WorkspacePath)>,
    /// Reasons for which findings may be missing.
    pub(super) incomplete: BTreeSet<String>,
    pub(super) linters: Vec<Identity>,
    /// Linters that the project asks for and that are not asked.
    pub(super) unavailable: Vec<Unavailable>,
}

impl Sink for Checked {
    async fn started(&mut self, linters: &[Identity], _files: usize, _answers: usize) {
        self.linters = linters.to_vec();
    }

    async fn file(&mut self, file: FileReport) {
        self.incomplete.extend(file.incomplete.iter().map(reason));
        for (change, findings) in file.changes.into_iter().flatten() {
            match change {
                Change::New => self.new.extend(findings),
                Change::Fixed => self.fixed.extend(findings),
            }
        }
        for (linter, reads) in file.reads {
            let path = file.unit.path.clone();
            match (reads, self.linters.get(linter)) {
                (Some(reads), _) => self.reads.push((path, reads)),
                (None, Some(linter)) => _ = self.untraced.insert((linter.name.as_str().into(), path)),
                (None, None) => _ = self.untraced.insert(("a linter".into(), path)),
            }
        }
    }

    fn incomplete(&mut self, incomplete: Incomplete) {
        self.incomplete.insert(reason(&incomplete));
    }

    async fn pause(&mut self) {}
}

impl Daemon {
    /// Checks what `snapshot` changed since its fork point, and what depends on that, as a check of the branch `cell` does.
    /// Answers within `wait`, if there is one, with what is known then; the rest is done beside the caller, for the next check.
    pub(super) async fn check_snapshot(
        self: &Arc<Self>,
        workspace: &Arc<OpenWorkspace>,
        cell: &Arc<BranchCell>,
        snapshot: &Snapshot,
        wait: Option<Duration>,
    ) -> Result<Checked, DaemonError> {
        let target = TargetId::Branch(cell.id.to_string());
        let options = CheckOptions { wait, ..CheckOptions::default() };
        let check = CheckRequest { dependents: true, new_only: true, options, ..CheckRequest::of(target) };
        let request = self.request_of_snapshot(check, workspace, cell, snapshot).await?;
        self.check_requested(request).await
    }

    /// The request of a check of a snapshot in which only those files are looked at whose answers may differ from the ancestor's.
    pub(super) async fn snapshot_request(
        self: &Arc<Self>,
        workspace: &Arc<OpenWorkspace>,
        cell: &Arc<BranchCell>,
        snapshot: &Snapshot,
    ) -> Result<pipeline::Request, DaemonError> {
        let check =
            CheckRequest { new_only: true, ..CheckRequest::of(TargetId::Branch(cell.id.to_string())) };
        self.request_of_snapshot(check, workspace, cell, snapshot).await
    }

    async fn request_of_snapshot(
        self: &Arc<Self>,
        check: CheckRequest,
        workspace: &Arc<OpenWorkspace>,
        cell: &Arc<BranchCell>,
        snapshot: &Snapshot,
    ) -> Result<pipeline::Request, DaemonError> {
        let mut ask = self.ask(check)?;
        ask.target = Target::Branch(Arc::clone(workspace), Arc::clone(cell));
        self.request(&ask, &ResolvedView::of_branch(snapshot.clone())).await
    }

    pub(super) async fn check_requested(
        self: &Arc<Self>,
        request: pipeline::Request,
    ) -> Result<Checked, DaemonError> {
        let mut checked = Checked::default();
        let outcome = pipeline::check(&self.engine, &self.policy_cache, &request, &mut checked).await;
        checked.unavailable = outcome.map_err(refused)?.summary.unavailable;
        let unfinished = request.schedule.due.as_ref().map(Due::unfinished).filter(|it| !it.is_empty());
        if let Some(unfinished) = unfinished {
            self.finish(request, unfinished);
        }
        Ok(checked)
    }

    /// Does the work of a check that was not done when its answer was due.
    fn finish(self: &Arc<Self>, mut request: pipeline::Request, unfinished: Arc<Unfinished>) {
        request.schedule.due = None;
        let daemon = Arc::clone(self);
        tokio::spawn(async move {
            let mut checked = Checked::default();
            // Its answers are kept by what they rest on.
            let _kept = pipeline::check(&daemon.engine, &daemon.policy_cache, &request, &mut checked).await;
            drop(unfinished);
        });
    }
}

/// Sentences about linters that these checks did not ask, each once.
pub(super) fn not_asked<'c>(checks: impl IntoIterator<Item = &'c Checked>) -> Vec<String> {
    let all: BTreeSet<_> = checks.into_iter().flat_map(|it| &it.unavailable).cloned().collect();
    let sentences = check_engine::not_asked(&all.into_iter().collect::<Vec<_>>());
    sentences.iter().map(|it| format!("not asked: {it}")).collect()
}

fn reason(it: &Incomplete) -> String {
    match &it.linter {
        Some(linter) => format!("{linter}: {}", it.reason),
        None => it.reason.clone(),
    }
}
