//! Waiting for a target to change: the base may change under a branch that does not.

use tokio::sync::watch;

use super::{DaemonError, Published, Target};

/// Tells of changes of a target, each at least once.
pub(super) struct Watching {
    base: watch::Receiver<Option<u64>>,
    /// With its name.
    branch: Option<(String, watch::Receiver<Published>)>,
    workspace: String,
}

impl Watching {
    pub(super) fn new(target: &Target) -> Self {
        let workspace = target.workspace();
        let branch = match target {
            Target::Base(_) => None,
            Target::Branch(_, cell) => Some((cell.record.name.clone(), cell.subscribe())),
        };
        Self { base: workspace.subscribe(), branch, workspace: workspace.id.to_string() }
    }

    /// Forgets the changes up to now.
    pub(super) fn mark_seen(&mut self) {
        self.base.mark_unchanged();
        if let Some((_, branch)) = &mut self.branch {
            branch.mark_unchanged();
        }
    }

    /// Waits for the next change; an error if there will be none, since the target is gone.
    pub(super) async fn changed(&mut self) -> Result<(), DaemonError> {
        let closed = match &mut self.branch {
            None => self.base.changed().await.is_err(),
            Some((_, branch)) => tokio::select! {
                changed = self.base.changed() => changed.is_err(),
                changed = branch.changed() => changed.is_err(),
            },
        };
        if closed || self.base.borrow().is_none() {
            return Err(DaemonError::no_workspace(&self.workspace));
        }
        match &self.branch {
            Some((name, branch)) if branch.borrow().gone => Err(DaemonError::no_branch(name)),
            _ => Ok(()),
        }
    }
}
