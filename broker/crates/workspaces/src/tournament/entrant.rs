//! Candidates with their branches. Those that are made are discarded again unless they are kept.

use std::{collections::BTreeMap, sync::Arc};

use overlay::{Revision, Snapshot};
use parking_lot::Mutex;
use tokio::runtime::Handle;

use super::request::{Candidate, CandidateChange, Discard, TournamentRequest};
use crate::{
    BranchCell, CommitRequest, Daemon, DaemonError, EditRequest, FileEdit, OpenWorkspace, TargetId,
    target::Target, task::run_uncancellable,
};

/// A candidate with its branch.
pub(super) struct Entrant {
    pub(super) name: String,
    /// The branch as it was when the tournament began, or the reason why its edits cannot be made.
    pub(super) entered: Result<Entered, String>,
    pub(super) is_made: bool,
    /// The text of the patch that it consists of, if it is one.
    pub(super) given_patch: Option<String>,
}

#[derive(Clone)]
pub(super) struct Entered {
    pub(super) cell: Arc<BranchCell>,
    pub(super) snapshot: Snapshot,
    /// Reason why it cannot be committed to the disk.
    pub(super) conflict: Option<String>,
}

/// Branches that were made for a tournament. Those that were neither kept nor edited are discarded when this goes, also if the client
/// leaves.
pub(super) struct MadeBranches {
    daemon: Arc<Daemon>,
    ids: Mutex<Vec<Arc<str>>>,
}

impl MadeBranches {
    pub(super) fn new(daemon: &Arc<Daemon>) -> Arc<Self> {
        Arc::new(Self { daemon: Arc::clone(daemon), ids: Mutex::default() })
    }

    /// Keeps the branches that are there. One may be discarded meanwhile.
    pub(super) async fn keep(&self) -> Result<(), DaemonError> {
        let ids = self.ids.lock().clone();
        for id in ids {
            let kept = match self.daemon.branch(&id) {
                Ok((_, cell)) => cell.keep().await,
                Err(error) => Err(error),
            };
            match kept {
                Ok(()) | Err(DaemonError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        self.ids.lock().clear();
        Ok(())
    }
}

impl Drop for MadeBranches {
    fn drop(&mut self) {
        let ids = std::mem::take(self.ids.get_mut());
        let (daemon, runtime) = (Arc::clone(&self.daemon), Handle::try_current());
        let (false, Ok(runtime)) = (ids.is_empty(), runtime) else { return };
        runtime.spawn(async move {
            for id in ids {
                // One that is gone already is what was wanted.
                let _gone = daemon.discard_unedited(&id).await;
            }
        });
    }
}

impl Daemon {
    /// The candidates, in their order; branches are made for edits.
    pub(super) async fn enter(
        self: &Arc<Self>,
        workspace: &Arc<OpenWorkspace>,
        request: TournamentRequest,
        made: &Arc<MadeBranches>,
    ) -> Result<Vec<Entrant>, DaemonError> {
        let TournamentRequest { parent, candidates, discard, .. } = request;
        let mut entrants = Vec::new();
        for Candidate { name, change, stated_conflict } in candidates {
            let given_patch = given_patch(&change);
            let (cell, is_made) = match change {
                CandidateChange::Branch(id) => (Ok(self.branch_of(workspace, &id)?), false),
                CandidateChange::Edits(edits) => {
                    // One that is discarded in any case needs no name.
                    let name = if discard == Discard::Made { String::new() } else { name.clone() };
                    (Arc::clone(made).make(parent.clone(), name, edits).await?, true)
                }
            };
            let entered = match cell {
                Ok(cell) => Ok(self.entered(cell, stated_conflict).await?),
                Err(refused) => Err(refused),
            };
            entrants.push(Entrant { name, entered, is_made, given_patch });
        }
        Ok(entrants)
    }

    /// A branch that is gone after the daemon was killed, unless it is kept, or edited once more than the tournament does.
    async fn fork_for(
        &self,
        parent: &TargetId,
        name: &str,
        is_unedited: bool,
    ) -> Result<Arc<BranchCell>, DaemonError> {
        let target = self.target(parent)?;
        let workspace = Arc::clone(target.workspace());
        let parent = match &target {
            Target::Base(_) => None,
            Target::Branch(_, branch) => Some(&**branch),
        };
        let last = Revision(if is_unedited { 0 } else { 1 });
        workspace.fork(parent, name, BTreeMap::new(), Some(last)).await
    }

    fn branch_of(&self, workspace: &Arc<OpenWorkspace>, id: &str) -> Result<Arc<BranchCell>, DaemonError> {
        let (of, cell) = self.branch(id)?;
        match Arc::ptr_eq(&of, workspace) {
            true => Ok(cell),
            false => Err(DaemonError::invalid("candidates", "they are of different workspaces")),
        }
    }

    async fn entered(
        self: &Arc<Self>,
        cell: Arc<BranchCell>,
        stated_conflict: Option<String>,
    ) -> Result<Entered, DaemonError> {
        let snapshot = cell.snapshot();
        let conflict = match stated_conflict {
            None => self.conflict(&cell).await?,
            stated => stated,
        };
        Ok(Entered { cell, snapshot, conflict })
    }

    /// Reason why a commit would be refused.
    async fn conflict(self: &Arc<Self>, cell: &BranchCell) -> Result<Option<String>, DaemonError> {
        let request = CommitRequest { dry_run: true, rebase: true, ..CommitRequest::of(&*cell.id) };
        match self.commit(request).await {
            Ok(_) => Ok(None),
            Err(error) if is_conflict(&error) => Ok(Some(error.to_string())),
            Err(error) => Err(error),
        }
    }
}

impl MadeBranches {
    /// A branch with the edits, or the reason why they cannot be made. It is among these also if the client leaves.
    async fn make(
        self: Arc<Self>,
        parent: TargetId,
        name: String,
        edits: Vec<FileEdit>,
    ) -> Result<Result<Arc<BranchCell>, String>, DaemonError> {
        run_uncancellable(async move {
            let daemon = &self.daemon;
            let id = Arc::clone(&daemon.fork_for(&parent, &name, edits.is_empty()).await?.id);
            self.ids.lock().push(Arc::clone(&id));
            let edited = match edits.is_empty() {
                true => Ok(()),
                false => daemon.edit_files(EditRequest::of(&*id, edits)).await.map(drop),
            };
            match edited {
                Ok(()) => Ok(Ok(daemon.branch(&id)?.1)),
                Err(error) if is_refusal(&error) => {
                    daemon.discard_unedited(&id).await?;
                    Ok(Err(error.to_string()))
                }
                Err(error) => Err(error),
            }
        })
        .await
    }
}

fn given_patch(change: &CandidateChange) -> Option<String> {
    match change {
        CandidateChange::Edits(edits) => match edits.as_slice() {
            [FileEdit::Patch(patch)] => Some(patch.clone()),
            _ => None,
        },
        CandidateChange::Branch(_) => None,
    }
}

/// Whether the edits are at fault, not a daemon that is busy or has no room.
fn is_refusal(error: &DaemonError) -> bool {
    use DaemonError::{Edit, File, InEdit, Invalid, Patch, TooMuch};
    matches!(error, Edit(_) | File { .. } | InEdit { .. } | Invalid { .. } | Patch(_) | TooMuch { .. })
}

fn is_conflict(error: &DaemonError) -> bool {
    match error {
        DaemonError::Conflicts(_) | DaemonError::Markers(_) => true,
        DaemonError::Commit(error) => error.conflicts().is_some(),
        _ => false,
    }
}
