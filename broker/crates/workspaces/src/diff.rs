//! Differences between a branch and its parent, the base or an earlier revision.

use overlay::{Branch, Revision, Snapshot, WorkspacePath};

use super::{Daemon, DaemonError, FileChange, task::blocking};

#[derive(Debug, Clone)]
pub struct DiffRequest {
    pub branch: String,
    pub against: DiffSide,
    pub with_patch: bool,
    /// Lines around each change of the patch.
    pub context_lines: Option<usize>,
}

impl DiffRequest {
    /// Against the parent, with a patch.
    pub fn of(branch: impl Into<String>) -> Self {
        Self { branch: branch.into(), against: DiffSide::Parent, with_patch: true, context_lines: None }
    }
}

/// Side that a branch is compared with.
#[derive(Debug, Clone, Copy)]
pub enum DiffSide {
    /// Parent of the branch as it was at the fork, or at the last rebase; of the base, what the branch touched as it was then.
    Parent,
    Base,
    /// The branch as it was then.
    Revision(Revision),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    pub changes: Vec<FileChange>,
    /// A unified diff, if that was asked.
    pub patch: Option<String>,
    /// Paths that changed in the base since the branch touched them. They are compared with what was there before, except where the
    /// branch is compared with the base.
    pub outdated: Vec<WorkspacePath>,
}

const CONTEXT_LINES: usize = 3;

impl Daemon {
    pub async fn diff(&self, request: DiffRequest) -> Result<Diff, DaemonError> {
        let (_, cell) = self.branch(&request.branch)?;
        let (before, after) = cell.look(|branch| sides(branch, request.against)).await??;
        let context = request.context_lines.unwrap_or(CONTEXT_LINES);
        let is_base = matches!(request.against, DiffSide::Base);
        blocking(move || {
            let (as_touched, outdated) = after.as_touched(&before)?;
            let before = if is_base { before } else { as_touched };
            let changes = after.changes(&before).map_err(DaemonError::unreadable)?;
            let unified = || overlay::unified(&changes, &before, &after, context);
            let patch = request.with_patch.then(unified).transpose().map_err(DaemonError::unreadable)?;
            Ok(Diff { changes: FileChange::all(changes), patch, outdated })
        })
        .await
    }
}

/// Both sides of a comparison, the branch last. They are read at once: a rebase in between would move the fork point.
fn sides(branch: &Branch, side: DiffSide) -> Result<(Snapshot, Snapshot), DaemonError> {
    let after = branch.snapshot();
    let before = match side {
        DiffSide::Revision(revision) => branch.at(revision).ok_or_else(|| {
            let message = format!("the branch does not remember revision {revision}");
            DaemonError::invalid("since_revision", message)
        })?,
        DiffSide::Base => after.base_of(),
        DiffSide::Parent => after.fork_point(),
    };
    Ok((before, after))
}
