//! What a branch changed.

use overlay::{Change, Revision, Snapshot};

use super::{BranchCell, Daemon, DaemonError, task::blocking};

#[derive(Debug, Clone)]
pub struct DiffRequest {
    pub branch: String,
    pub against: DiffSide,
    pub with_patch: bool,
    /// Lines around each change of the patch.
    pub context_lines: Option<usize>,
}

/// What a branch is compared with.
#[derive(Debug, Clone, Copy)]
pub enum DiffSide {
    /// Its parent as it was at the fork, or at the last rebase.
    Parent,
    Base,
    /// The branch as it was then.
    Revision(Revision),
}

pub struct Diff {
    pub changes: Vec<Change>,
    /// A unified diff, if that was asked.
    pub patch: Option<String>,
}

const CONTEXT_LINES: usize = 3;

impl Daemon {
    pub async fn diff(&self, request: DiffRequest) -> Result<Diff, DaemonError> {
        let (_, cell) = self.named_branch(&request.branch)?;
        let before = before(&cell, request.against).await?;
        let after = cell.snapshot();
        let context = request.context_lines.unwrap_or(CONTEXT_LINES);
        blocking(move || {
            let changes = after.changes(&before).map_err(DaemonError::unreadable)?;
            let unified = || overlay::unified(&changes, &before, &after, context);
            let patch = request.with_patch.then(unified).transpose().map_err(DaemonError::unreadable)?;
            Ok(Diff { changes, patch })
        })
        .await
    }
}

async fn before(cell: &BranchCell, side: DiffSide) -> Result<Snapshot, DaemonError> {
    let before = cell.look(|branch| match side {
        DiffSide::Revision(revision) => branch.at(revision).ok_or(revision),
        DiffSide::Base => Ok(branch.snapshot().base_of()),
        DiffSide::Parent => Ok(branch.snapshot().fork_point()),
    });
    before.await?.map_err(|revision| {
        let message = format!("the branch does not remember revision {revision}");
        DaemonError::invalid("since_revision", message)
    })
}
