//! Branches whose work is done: discarded where nothing is lost with them, and kept with a reason otherwise.
//!
//! One rule for the command line, for proxies of agents, and for all other clients. What is in doubt is kept. The history of a branch
//! that is discarded goes with it: a commit of it cannot be undone any more.

mod repository;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use overlay::{Branch, Change, FileState, Snapshot, View};

use super::{
    Daemon, DaemonError, TRIAL_LABEL,
    branch::BranchCell,
    task::{blocking, run_uncancellable},
    workspace::OpenWorkspace,
};

/// Discards branches whose work is done.
#[derive(Debug, Clone)]
pub struct DiscardMergedRequest {
    pub workspace: String,
    /// Handle of the only branch to judge, by a client whose session on it ends: that session keeps it no more.
    pub branch: Option<String>,
    /// Discards nothing.
    pub dry_run: bool,
}

/// A branch that was judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedBranch {
    pub id: Arc<str>,
    pub name: String,
    /// Reason for which it is kept; `None` if it is discarded.
    pub kept: Option<String>,
}

/// Time after the last call of a session in which its branch counts as being used.
const SESSION: Duration = Duration::from_secs(600);

impl Daemon {
    /// Discards branches whose work is done. Says of all that were judged what became of them, by name.
    pub async fn discard_merged(
        self: &Arc<Self>,
        request: DiscardMergedRequest,
    ) -> Result<Vec<JudgedBranch>, DaemonError> {
        let DiscardMergedRequest { workspace, branch, dry_run } = request;
        let workspace = self.workspace(&workspace)?;
        workspace.expect_there()?;
        let is_ending = branch.is_some();
        let cells = match &branch {
            Some(branch) => vec![workspace.branch(branch)?],
            None => workspace.branches(),
        };
        let mut judged = Vec::new();
        for cell in cells {
            let (id, name) = (Arc::clone(&cell.id), cell.record.name.clone());
            let kept = match self.discard_if_merged(&workspace, cell, is_ending, dry_run).await {
                Ok(kept) => kept,
                // Another client discarded it.
                Err(DaemonError::NotFound { .. }) => continue,
                Err(error) => Some(error.to_string()),
            };
            judged.push(JudgedBranch { id, name, kept });
        }
        Ok(judged)
    }

    /// Returns the reason for which the branch is kept.
    async fn discard_if_merged(
        self: &Arc<Self>,
        workspace: &Arc<OpenWorkspace>,
        cell: Arc<BranchCell>,
        is_ending: bool,
        dry_run: bool,
    ) -> Result<Option<String>, DaemonError> {
        let (daemon, own, judged) = (Arc::clone(self), Arc::clone(workspace), Arc::clone(&cell));
        let judge = move |branch: &Branch| {
            let used = || if is_ending { None } else { session_on(&judged) };
            daemon.work_on(&judged).or_else(used).or_else(|| remains(branch, own.base.disk()))
        };
        if dry_run {
            let branch = cell.look(Branch::clone).await?;
            return blocking(move || Ok(judge(&branch))).await;
        }
        let (daemon, own) = (Arc::clone(self), Arc::clone(workspace));
        run_uncancellable(async move {
            let kept = own.discard_unless(&cell, judge).await?;
            if kept.is_none() {
                daemon.engine.cancel_branch(cell.key);
            }
            Ok(kept)
        })
        .await
    }

    /// Work that goes on on the branch.
    fn work_on(&self, cell: &BranchCell) -> Option<String> {
        #[cfg(target_os = "linux")]
        if let Some(run) = self.run_on(&cell.id) {
            return Some(format!("a command runs: {run}"));
        }
        let is_trial = cell.record.labels.contains_key(TRIAL_LABEL);
        is_trial.then(|| "edits are being tried on it".to_owned())
    }

    /// Notes that a session works on a branch. One that is not there needs no note.
    pub fn note_session(&self, branch: &str) {
        if let Ok((_, cell)) = self.branch(branch) {
            cell.note_session(Instant::now());
        }
    }
}

fn session_on(cell: &BranchCell) -> Option<String> {
    let is_used = cell.last_session().is_some_and(|it| it.elapsed() < SESSION);
    is_used.then(|| format!("a session used it within the last {} minutes", SESSION.as_secs() / 60))
}

/// First thing that would be lost with the branch, in a few words.
fn remains(branch: &Branch, disk: &dyn View) -> Option<String> {
    let now = branch.snapshot();
    let edits = lacking(&now, |_| true).map(|it| format!("edits that the disk does not have: {it}"));
    edits.or_else(|| repository::own_state(&now, disk)).or_else(|| undone(branch, disk))
}

/// Undone edits whose texts the disk does not show.
fn undone(branch: &Branch, disk: &dyn View) -> Option<String> {
    branch.undone().iter().find_map(|it| {
        let text = lacking(it, has_content).map(|it| format!("the disk does not have {it}"));
        let lost = text.or_else(|| repository::own_state(it, disk))?;
        Some(format!("undone edits, of revision {}: {lost}", it.revision()))
    })
}

/// The first path at which the disk shows something else, with the number of others.
fn lacking(snapshot: &Snapshot, is_meant: impl Fn(&Change) -> bool) -> Option<String> {
    let changes = match snapshot.changes_from_disk() {
        Ok(changes) => changes,
        Err(error) => return Some(format!("it cannot be compared: {error}")),
    };
    let mut changes = changes.iter().filter(|it| is_meant(it));
    let first = changes.next()?;
    Some(match changes.count() {
        0 => first.path.to_string(),
        others => format!("{} and {others} more", first.path),
    })
}

fn has_content(change: &Change) -> bool {
    matches!(change.after, Some(FileState::File { .. } | FileState::Symlink(_)))
}
