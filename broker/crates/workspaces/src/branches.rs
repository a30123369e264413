//! Branches: forked, listed, undone and discarded. Commits and rebases are in `commit`, edits of files in `edits`.

use std::{collections::BTreeMap, sync::Arc};

use overlay::{Branch, ContentHash, EditError, LogEntry, Revision, View, WalkOptions, WorkspacePath};

use super::{
    Daemon, DaemonError, Repeatable,
    branch_info::BranchInfo,
    commit::by_syntax,
    fields::{Page, PageRequest, Paged},
    target::{Target, TargetId},
    task::{blocking, run_uncancellable},
};

/// A new branch.
#[derive(Debug, Clone, Hash)]
pub struct ForkRequest {
    pub parent: TargetId,
    /// Empty for one that is made up.
    pub name: String,
    pub labels: BTreeMap<String, String>,
    /// With one, the request may be sent again.
    pub request_id: Option<String>,
}

/// A look at a branch.
#[derive(Debug, Clone)]
pub struct BranchRequest {
    /// In this workspace a branch may be given by its name, too.
    pub workspace: Option<String>,
    pub branch: String,
    pub with_tree_hash: bool,
    /// Each path that the branch touched is looked at for them.
    pub with_conflicts: bool,
}

#[derive(Debug, Clone)]
pub struct BranchState {
    pub info: BranchInfo,
    pub tree_hash: Option<ContentHash>,
    /// Paths that a commit would refuse; empty if that was not asked for.
    pub conflicts: Vec<WorkspacePath>,
}

/// An edit that a branch remembers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionEntry {
    /// The revision that it made.
    pub revision: Revision,
    /// Milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// Description, such as `write src/a.py`.
    pub what: Arc<str>,
    pub paths: Arc<[WorkspacePath]>,
}

impl From<LogEntry> for RevisionEntry {
    fn from(LogEntry { revision, at_ms, what, paths, .. }: LogEntry) -> Self {
        Self { revision, at_ms, what, paths }
    }
}

#[derive(Debug, Clone)]
pub struct UndoRequest {
    pub branch: String,
    pub undo: Undo,
    pub if_revision: Option<Revision>,
}

/// Extent of an undo.
#[derive(Debug, Clone, Copy)]
pub enum Undo {
    To(Revision),
    /// The last edit that was not undone yet.
    Step,
}

/// The new revision of a branch, and the one that it shows again.
#[derive(Debug, Clone, Copy)]
pub struct Undone {
    pub revision: Revision,
    pub to: Revision,
}

impl BranchState {
    /// All of it from `branch`, which is edited no more: hash, conflicts and revision go together.
    fn of(info: BranchInfo, branch: &Branch, request: &BranchRequest) -> Result<Self, DaemonError> {
        let conflicts = if request.with_conflicts { branch.conflicts(Some(by_syntax))? } else { Vec::new() };
        let conflicts = conflicts.into_iter().map(|it| it.path).collect();
        let tree_hash = request.with_tree_hash.then(|| tree_hash(&branch.snapshot())).transpose()?;
        Ok(Self { info, tree_hash, conflicts })
    }
}

impl Daemon {
    pub async fn fork(self: &Arc<Self>, request: ForkRequest) -> Result<BranchInfo, DaemonError> {
        let target = self.target(&request.parent)?;
        let workspace = Arc::clone(target.workspace());
        let parent = match target {
            Target::Base(_) => None,
            Target::Branch(_, branch) => Some(branch),
        };
        let repeatable = Repeatable::of(&workspace.id, request.request_id.as_deref(), &request)?;
        let own = Arc::clone(&workspace);
        let id = run_uncancellable(async move {
            let fork = async {
                let cell = own.fork(parent.as_deref(), &request.name, request.labels, None).await?;
                Ok::<_, DaemonError>(Arc::clone(&cell.id))
            };
            own.forks.run(repeatable, fork).await
        });
        let cell = workspace.branch(&id.await?)?;
        Ok(cell.info(&cell.snapshot()))
    }

    pub async fn get_branch(&self, request: BranchRequest) -> Result<BranchState, DaemonError> {
        let cell = match &request.workspace {
            None => self.branch(&request.branch)?.1,
            Some(workspace) => {
                let workspace = self.workspace(workspace)?;
                let by_id = workspace.branch(&request.branch);
                by_id.or_else(|_| workspace.branch_named(&request.branch))?
            }
        };
        let branch = cell.look(Branch::clone).await?;
        let info = cell.info(&branch.snapshot());
        blocking(move || BranchState::of(info, &branch, &request)).await
    }

    /// The branches of a workspace, by name.
    pub fn branches(&self, workspace: &str, page: &PageRequest) -> Result<Paged<BranchInfo>, DaemonError> {
        let workspace = self.workspace(workspace)?;
        let page = Page::of(page, 100, 1000)?;
        let Paged { items, next_token } = page.cut(workspace.branches().into_iter());
        let infos = items.iter().map(|it| it.info(&it.snapshot()));
        Ok(Paged { items: infos.collect(), next_token })
    }

    /// The revisions of a branch that it remembers, the newest first.
    pub async fn revisions(
        &self,
        branch: &str,
        page: &PageRequest,
    ) -> Result<Paged<RevisionEntry>, DaemonError> {
        let (_, cell) = self.branch(branch)?;
        let page = Page::of(page, 100, 1000)?;
        let log = cell.look(|it| it.log()).await?;
        Ok(page.cut(log.into_iter().rev().map(RevisionEntry::from)))
    }

    pub async fn undo(self: &Arc<Self>, request: UndoRequest) -> Result<Undone, DaemonError> {
        let (_, cell) = self.branch(&request.branch)?;
        let undo = move |branch: &mut Branch| {
            let to = match request.undo {
                Undo::To(revision) => revision,
                Undo::Step => branch.step_back().ok_or(EditError::NothingToUndo)?,
            };
            branch.undo_to(to)?;
            Ok(to)
        };
        let (to, revision) = self.edit(cell, request.if_revision, undo).await?;
        Ok(Undone { revision, to })
    }

    /// Forgets a branch that was made for a request, unless others edited it meanwhile.
    pub(super) async fn discard_unedited(self: &Arc<Self>, branch: &str) -> Result<(), DaemonError> {
        let (workspace, cell) = self.branch(branch)?;
        let daemon = Arc::clone(self);
        run_uncancellable(async move {
            if workspace.discard_provisional(&cell).await? {
                daemon.engine.cancel_branch(cell.key);
            }
            Ok(())
        })
        .await
    }

    /// Forgets a branch if it is still at a revision. Whether it is gone.
    pub(super) async fn discard_at(
        self: &Arc<Self>,
        branch: &str,
        revision: Revision,
    ) -> Result<bool, DaemonError> {
        let (workspace, cell) = self.branch(branch)?;
        let daemon = Arc::clone(self);
        run_uncancellable(async move {
            let edited = move |it: &Branch| (it.revision() != revision).then(String::new);
            let kept = workspace.discard_unless(&cell, edited).await?;
            if kept.is_none() {
                daemon.engine.cancel_branch(cell.key);
            }
            Ok(kept.is_none())
        })
        .await
    }

    /// Forgets a branch for good; what runs for it is given up.
    pub async fn discard(self: &Arc<Self>, branch: &str) -> Result<(), DaemonError> {
        let (workspace, cell) = self.branch(branch)?;
        let daemon = Arc::clone(self);
        run_uncancellable(async move {
            workspace.discard(&cell).await?;
            daemon.engine.cancel_branch(cell.key);
            Ok(())
        })
        .await
    }
}

fn tree_hash(view: &dyn View) -> Result<ContentHash, DaemonError> {
    let hash = overlay::tree_hash(view, &WalkOptions::default()).map_err(DaemonError::unreadable)?;
    Ok(hash.root())
}
