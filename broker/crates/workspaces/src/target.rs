//! Target of a request, and the view of it.

use std::sync::Arc;

use overlay::{Revision, Snapshot, View};
use scheduler::BranchKey;

use super::{BranchCell, DaemonError, OpenWorkspace};

/// Target of a request, by its handle.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TargetId {
    Workspace(String),
    Branch(String),
}

/// Target of a request.
#[derive(Clone)]
pub(super) enum Target {
    Base(Arc<OpenWorkspace>),
    Branch(Arc<OpenWorkspace>, Arc<BranchCell>),
}

impl Target {
    pub(super) fn workspace(&self) -> &Arc<OpenWorkspace> {
        match self {
            Self::Base(workspace) | Self::Branch(workspace, _) => workspace,
        }
    }

    /// The handle of the branch; that of the workspace for its base.
    pub(super) fn id(&self) -> &Arc<str> {
        match self {
            Self::Base(workspace) => &workspace.id,
            Self::Branch(_, cell) => &cell.id,
        }
    }

    /// Handle and name of the branch; `None` for the base.
    pub(super) fn branch_name(&self) -> Option<(Arc<str>, String)> {
        match self {
            Self::Base(_) => None,
            Self::Branch(_, cell) => Some((Arc::clone(&cell.id), cell.record.name.clone())),
        }
    }

    /// The branch as it is now; `None` for the base.
    pub(super) fn snapshot(&self) -> Option<Snapshot> {
        match self {
            Self::Base(_) => None,
            Self::Branch(_, cell) => Some(cell.snapshot()),
        }
    }

    /// Fails if there is nothing more to ask about.
    pub(super) fn expect_here(&self) -> Result<(), DaemonError> {
        self.workspace().expect_there()?;
        match self {
            Self::Base(_) => Ok(()),
            Self::Branch(_, cell) => cell.expect_here(),
        }
    }

    /// Key of the target in the scheduler.
    pub(super) fn key(&self) -> BranchKey {
        match self {
            Self::Base(workspace) => workspace.key,
            Self::Branch(_, cell) => cell.key,
        }
    }

    /// The branch's revision; 0 for the base.
    pub(super) fn revision(&self) -> Revision {
        match self {
            Self::Base(_) => Revision::default(),
            Self::Branch(_, cell) => cell.revision(),
        }
    }

    /// The parent of the branch, as it was at the fork, or at the last rebase.
    pub(super) async fn parent(&self) -> Result<ResolvedView, DaemonError> {
        match self {
            Self::Base(_) => Err(DaemonError::invalid("of_parent", "the base has no parent; name a branch")),
            Self::Branch(..) => Ok(ResolvedView::of_branch(self.view(None).await?.parent()?.1)),
        }
    }

    /// The target's view, at an older revision if asked.
    pub(super) async fn view(&self, revision: Option<Revision>) -> Result<ResolvedView, DaemonError> {
        self.expect_here()?;
        match (self, revision) {
            (Self::Base(workspace), None) => Ok(ResolvedView::of_base(workspace)),
            (Self::Base(_), Some(_)) => Err(DaemonError::invalid("revision", "the base has no revisions")),
            (Self::Branch(_, cell), None) => Ok(ResolvedView::of_branch(cell.snapshot())),
            (Self::Branch(_, cell), Some(revision)) => {
                let then = cell.look(|it| it.at(revision)).await?;
                then.map(ResolvedView::of_branch).ok_or_else(|| {
                    DaemonError::invalid(
                        "revision",
                        format!("the branch does not remember revision {revision}"),
                    )
                })
            }
        }
    }
}

/// The base, or a branch at one revision.
pub(super) struct ResolvedView {
    pub(super) view: Arc<dyn View>,
    /// 0 for the base.
    pub(super) revision: Revision,
    /// `None` for the base.
    snapshot: Option<Snapshot>,
}

impl ResolvedView {
    fn of_base(workspace: &OpenWorkspace) -> Self {
        Self { view: Arc::clone(&workspace.view), revision: Revision::default(), snapshot: None }
    }

    pub(super) fn of_branch(snapshot: Snapshot) -> Self {
        Self { view: Arc::new(snapshot.clone()), revision: snapshot.revision(), snapshot: Some(snapshot) }
    }

    /// The branch, and its parent as it was at the fork, or at the last rebase before this revision.
    pub(super) fn parent(&self) -> Result<(Snapshot, Snapshot), DaemonError> {
        let Some(snapshot) = &self.snapshot else {
            return Err(DaemonError::invalid("new_only", "the base has no parent; name a branch"));
        };
        Ok((snapshot.clone(), snapshot.fork_point()))
    }
}
