//! `BranchService`.

use std::sync::Arc;

use broker_proto::{Message as _, v1 as pb, v1::branch_service_server::BranchService};
use overlay::{Revision, Snapshot, View, WalkOptions};
use tokio_stream::Stream;
use tonic::{Request, Response, Status, async_trait};
use workspaces::{BranchCell, DaemonError, Target};

use super::{
    Front,
    from_proto::{self, Page},
    status, to_proto,
};

/// What a message may hold, so that it stays far below gRPC's usual limit of 4 MiB.
const PIECE: usize = 1 << 20;
const CHANGES: usize = 5_000;

type DiffStream = std::pin::Pin<Box<dyn Stream<Item = Result<pb::DiffBranchResponse, Status>> + Send>>;

#[async_trait]
impl BranchService for Front {
    type DiffBranchStream = DiffStream;

    async fn fork_branch(
        &self,
        request: Request<pb::ForkBranchRequest>,
    ) -> Result<Response<pb::ForkBranchResponse>, Status> {
        let mut request = request.into_inner();
        let target = from_proto::target(&self.0, request.parent.clone())?;
        let served = target.served();
        let (parent, own) = match &target {
            Target::Base(_) => (None, Arc::clone(served)),
            Target::Branch(_, branch) => (Some(Arc::clone(branch)), Arc::clone(served)),
        };
        // A map is put in any order.
        let labels = from_proto::labels(std::mem::take(&mut request.labels));
        let repeatable = from_proto::repeatable(&served.id, &request.request_id, || {
            [request.encode_to_vec(), format!("{labels:?}").into_bytes()].concat()
        });
        let id = to_the_end(async move {
            let fork = async {
                let cell = own.fork(parent.as_deref(), &request.name, labels).await?;
                Ok::<_, DaemonError>(Arc::clone(&cell.id))
            };
            own.forks.run(repeatable, fork).await
        })
        .await?;
        let cell = served.branch(&id).map_err(status::of)?;
        Ok(Response::new(pb::ForkBranchResponse { branch: Some(to_proto::branch(served, &cell)) }))
    }

    async fn get_branch(
        &self,
        request: Request<pb::GetBranchRequest>,
    ) -> Result<Response<pb::GetBranchResponse>, Status> {
        let request = request.into_inner();
        let (served, cell) = if request.workspace_id.is_empty() {
            from_proto::branch(&self.0, &request.branch_id)?
        } else {
            let served = self.0.workspace(&request.workspace_id).map_err(status::of)?;
            let by_id = served.branch(&request.branch_id);
            let cell = by_id.or_else(|_| served.branch_named(&request.branch_id)).map_err(status::of)?;
            (served, cell)
        };
        let conflicts = cell.look(overlay::Branch::clone).await.map_err(status::of)?;
        let snapshot = cell.snapshot();
        let (conflicts, tree_hash) = blocking(move || {
            let conflicts = conflicts.conflicts().map_err(|error| status::of(error.into()))?;
            let hash = if request.with_tree_hash { tree_hash(&snapshot)? } else { String::new() };
            Ok((conflicts, hash))
        })
        .await?;
        Ok(Response::new(pb::GetBranchResponse {
            branch: Some(to_proto::branch(&served, &cell)),
            tree_hash,
            conflicts: conflicts.iter().map(|it| it.path.to_string()).collect(),
        }))
    }

    async fn list_branches(
        &self,
        request: Request<pb::ListBranchesRequest>,
    ) -> Result<Response<pb::ListBranchesResponse>, Status> {
        let request = request.into_inner();
        let served = self.0.workspace(&request.workspace_id).map_err(status::of)?;
        let page = Page::of(request.page_size, &request.page_token, 100, 1000)?;
        let branches = served.branches();
        let (branches, next_page_token) = page.cut(branches.iter());
        let branches = branches.into_iter().map(|it| to_proto::branch(&served, it)).collect();
        Ok(Response::new(pb::ListBranchesResponse { branches, next_page_token }))
    }

    async fn diff_branch(
        &self,
        request: Request<pb::DiffBranchRequest>,
    ) -> Result<Response<DiffStream>, Status> {
        let request = request.into_inner();
        let (_, cell) = from_proto::branch(&self.0, &request.branch_id)?;
        let before = before(&cell, &request).await?;
        let after = cell.snapshot();
        let parts = blocking(move || diff(&before, &after, &request)).await?;
        Ok(Response::new(Box::pin(tokio_stream::iter(parts.into_iter().map(Ok)))))
    }

    async fn list_revisions(
        &self,
        request: Request<pb::ListRevisionsRequest>,
    ) -> Result<Response<pb::ListRevisionsResponse>, Status> {
        let request = request.into_inner();
        let (_, cell) = from_proto::branch(&self.0, &request.branch_id)?;
        let page = Page::of(request.page_size, &request.page_token, 100, 1000)?;
        let log = cell.look(|it| it.log()).await.map_err(status::of)?;
        let (entries, next_page_token) = page.cut(log.iter().rev());
        let revisions = entries.into_iter().map(to_proto::revision).collect();
        Ok(Response::new(pb::ListRevisionsResponse { revisions, next_page_token }))
    }

    async fn undo_branch(
        &self,
        request: Request<pb::UndoBranchRequest>,
    ) -> Result<Response<pb::UndoBranchResponse>, Status> {
        let request = request.into_inner();
        let (_, cell) = from_proto::branch(&self.0, &request.branch_id)?;
        let (to, is_step) = (Revision(request.to_revision), request.step_back);
        if is_step && to != Revision(0) {
            return Err(status::invalid("step_back", "it excludes `to_revision`"));
        }
        let undo = move |branch: &mut overlay::Branch| {
            let start = || DaemonError::Invalid {
                field: "step_back",
                message: "there is nothing to undo".to_owned(),
            };
            let to = if is_step { branch.step_back().ok_or_else(start)? } else { to };
            branch.undo_to(to)?;
            Ok(to)
        };
        let (to, revision) = self.edit(&cell, from_proto::revision(request.if_revision), undo).await?;
        Ok(Response::new(pb::UndoBranchResponse { revision: revision.0, to_revision: to.0 }))
    }

    async fn rebase_branch(
        &self,
        request: Request<pb::RebaseBranchRequest>,
    ) -> Result<Response<pb::RebaseBranchResponse>, Status> {
        let request = request.into_inner();
        let (served, cell) = from_proto::branch(&self.0, &request.branch_id)?;
        let on_conflict = from_proto::on_conflict(request.on_conflict)?;
        let if_revision = from_proto::revision(request.if_revision);
        let daemon = Arc::clone(&self.0);
        let rebase = async move { daemon.rebase(&served, &cell, if_revision, on_conflict).await };
        let rebased = to_the_end(rebase).await?;
        Ok(Response::new(pb::RebaseBranchResponse {
            revision: rebased.revision.0,
            merged_paths: rebased.merged.iter().map(ToString::to_string).collect(),
            conflicts: rebased.conflicts.iter().map(to_proto::conflict).collect(),
        }))
    }

    async fn commit_branch(
        &self,
        request: Request<pb::CommitBranchRequest>,
    ) -> Result<Response<pb::CommitBranchResponse>, Status> {
        let request = request.into_inner();
        let (served, cell) = from_proto::branch(&self.0, &request.branch_id)?;
        let force = request.force_paths.iter().map(|it| from_proto::path("force_paths", it));
        let force = force.collect::<Result<_, _>>()?;
        let if_revision = from_proto::revision(request.if_revision);
        let committed = if request.dry_run {
            served.would_commit(&cell, if_revision, force).await.map_err(status::of)
        } else {
            let daemon = Arc::clone(&self.0);
            let repeatable =
                from_proto::repeatable(&cell.id, &request.request_id, || request.encode_to_vec());
            to_the_end(async move {
                let committed = served.commit(&cell, if_revision, force, repeatable).await?;
                daemon.changed(&cell, committed.revision);
                Ok(committed)
            })
            .await
        };
        let committed = committed?;
        Ok(Response::new(pb::CommitBranchResponse {
            revision: committed.revision.0,
            changes: committed.changes.iter().map(to_proto::change).collect(),
            unsaved_paths: committed.unsaved.iter().map(|it| it.as_str().to_owned()).collect(),
            notes: committed.notes,
        }))
    }

    async fn discard_branch(
        &self,
        request: Request<pb::DiscardBranchRequest>,
    ) -> Result<Response<pb::DiscardBranchResponse>, Status> {
        let (served, cell) = from_proto::branch(&self.0, &request.into_inner().branch_id)?;
        let daemon = Arc::clone(&self.0);
        to_the_end(async move {
            served.discard(&cell).await?;
            daemon.forget(&cell);
            Ok(())
        })
        .await?;
        Ok(Response::new(pb::DiscardBranchResponse {}))
    }
}

impl Front {
    /// An edit, carried through even if the client leaves.
    pub(super) async fn edit<T: Send + 'static>(
        &self,
        cell: &Arc<BranchCell>,
        if_revision: Option<Revision>,
        edit: impl FnOnce(&mut overlay::Branch) -> Result<T, DaemonError> + Send + 'static,
    ) -> Result<(T, Revision), Status> {
        let (daemon, cell) = (Arc::clone(&self.0), Arc::clone(cell));
        to_the_end(async move { daemon.edit(&cell, if_revision, edit).await }).await
    }
}

/// What a branch is compared with.
async fn before(cell: &BranchCell, request: &pb::DiffBranchRequest) -> Result<Snapshot, Status> {
    let against = pb::DiffAgainst::try_from(request.against);
    let against = against.map_err(|_| status::invalid("against", "there is no such side"))?;
    let before = cell.look(|branch| match (request.since_revision, against) {
        (Some(revision), _) => branch.at(Revision(revision)),
        (None, pb::DiffAgainst::Base) => Some(branch.snapshot().base_of()),
        (None, pb::DiffAgainst::Parent | pb::DiffAgainst::Unspecified) => {
            Some(branch.snapshot().fork_point())
        }
    });
    let before = before.await.map_err(status::of)?;
    before.ok_or_else(|| {
        let asked = request.since_revision.unwrap_or_default();
        status::invalid("since_revision", format!("the branch does not remember revision {asked}"))
    })
}

fn diff(
    before: &Snapshot,
    after: &Snapshot,
    request: &pb::DiffBranchRequest,
) -> Result<Vec<pb::DiffBranchResponse>, Status> {
    let part = |part| pb::DiffBranchResponse { part: Some(part) };
    let changes = after.changes(before).map_err(unreadable)?;
    let lists = changes.chunks(CHANGES).map(|it| it.iter().map(to_proto::change).collect());
    let lists = lists.map(|changes| pb::diff_branch_response::Part::Changes(pb::FileChanges { changes }));
    let mut parts: Vec<_> = lists.map(part).collect();
    if parts.is_empty() {
        parts.push(part(pb::diff_branch_response::Part::Changes(pb::FileChanges::default())));
    }
    if !request.changes_only {
        let context = request.context_lines.unwrap_or(3) as usize;
        let patch = overlay::unified(&changes, before, after, context).map_err(unreadable)?;
        parts.extend(pieces(&patch).map(|it| part(pb::diff_branch_response::Part::Patch(it.to_owned()))));
    }
    Ok(parts)
}

/// The text in pieces that a message may hold, cut between characters.
fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (piece, rest) = text.split_at(text.floor_char_boundary(PIECE));
        text = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

fn tree_hash(view: &dyn View) -> Result<String, Status> {
    let hash = overlay::tree_hash(view, &WalkOptions::default()).map_err(unreadable)?;
    Ok(hash.root().to_string())
}

fn unreadable(source: std::io::Error) -> Status {
    status::of(DaemonError::Io { message: "the workspace cannot be read".to_owned(), source })
}

/// Carries on even if the client leaves: what is kept on the disk and what is shown may not differ, and a client that
/// sends the request again must find the first one's answer.
pub(super) async fn to_the_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, DaemonError>> + Send + 'static,
) -> Result<T, Status> {
    let done = tokio::spawn(work).await;
    let broken = |error| DaemonError::Bug(format!("a request broke off: {error}"));
    done.unwrap_or_else(|error| Err(broken(error))).map_err(status::of)
}

/// Runs what reads many files beside the threads that answer.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Status> + Send + 'static,
) -> Result<T, Status> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(status::of(DaemonError::Bug(format!("a request broke off: {error}")))))
}
