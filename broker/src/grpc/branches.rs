//! `BranchService`.

use std::time::Duration;

use broker_proto::{v1 as pb, v1::branch_service_server::BranchService};
use overlay::Revision;
use tokio_stream::Stream;
use tonic::{Request, Response, Status, async_trait};
use workspaces::{BranchRequest, Diff, MergePreviewRequest, PageRequest, RebaseRequest, UndoRequest};

use super::{CHUNK_BYTES, GrpcServer, from_proto, status, to_proto};

/// Changes of one message, which stays far below gRPC's usual limit of 4 MiB.
const CHANGES: usize = 5_000;

type DiffStream = std::pin::Pin<Box<dyn Stream<Item = Result<pb::DiffBranchResponse, Status>> + Send>>;

#[async_trait]
impl BranchService for GrpcServer {
    type DiffBranchStream = DiffStream;

    async fn fork_branch(
        &self,
        request: Request<pb::ForkBranchRequest>,
    ) -> Result<Response<pb::ForkBranchResponse>, Status> {
        let request = from_proto::fork(request.into_inner())?;
        let branch = self.0.fork_branch(request).await.map_err(status::of)?;
        Ok(Response::new(pb::ForkBranchResponse { branch: Some(to_proto::branch(branch)) }))
    }

    async fn get_branch(
        &self,
        request: Request<pb::GetBranchRequest>,
    ) -> Result<Response<pb::GetBranchResponse>, Status> {
        let pb::GetBranchRequest { branch_id: branch, workspace_id, with_tree_hash, without_conflicts } =
            request.into_inner();
        let (workspace, with_conflicts) = (from_proto::some(workspace_id), !without_conflicts);
        let request = BranchRequest { workspace, branch, with_tree_hash, with_conflicts };
        let state = self.0.get_branch(request).await.map_err(status::of)?;
        Ok(Response::new(pb::GetBranchResponse {
            branch: Some(to_proto::branch(state.info)),
            tree_hash: state.tree_hash.map(|it| it.to_string()).unwrap_or_default(),
            conflicts: state.conflicts.iter().map(ToString::to_string).collect(),
        }))
    }

    async fn list_branches(
        &self,
        request: Request<pb::ListBranchesRequest>,
    ) -> Result<Response<pb::ListBranchesResponse>, Status> {
        let request = request.into_inner();
        let page = PageRequest { size: request.page_size, token: request.page_token };
        let page = self.0.list_branches(&request.workspace_id, &page).await.map_err(status::of)?;
        let branches = page.items.into_iter().map(to_proto::branch).collect();
        Ok(Response::new(pb::ListBranchesResponse { branches, next_page_token: page.next_token }))
    }

    async fn diff_branch(
        &self,
        request: Request<pb::DiffBranchRequest>,
    ) -> Result<Response<DiffStream>, Status> {
        let request = from_proto::diff(request.into_inner())?;
        let diff = self.0.diff_branch(request).await.map_err(status::of)?;
        Ok(Response::new(Box::pin(tokio_stream::iter(parts(&diff).into_iter().map(Ok)))))
    }

    async fn list_revisions(
        &self,
        request: Request<pb::ListRevisionsRequest>,
    ) -> Result<Response<pb::ListRevisionsResponse>, Status> {
        let request = request.into_inner();
        let page = PageRequest { size: request.page_size, token: request.page_token };
        let page = self.0.list_revisions(&request.branch_id, &page).await.map_err(status::of)?;
        let revisions = page.items.iter().map(to_proto::revision).collect();
        Ok(Response::new(pb::ListRevisionsResponse { revisions, next_page_token: page.next_token }))
    }

    async fn undo_branch(
        &self,
        request: Request<pb::UndoBranchRequest>,
    ) -> Result<Response<pb::UndoBranchResponse>, Status> {
        let request = request.into_inner();
        let request = UndoRequest {
            undo: from_proto::undo(&request)?,
            if_revision: request.if_revision.map(Revision),
            branch: request.branch_id,
        };
        let undone = self.0.undo_branch(request).await.map_err(status::of)?;
        Ok(Response::new(pb::UndoBranchResponse { revision: undone.revision.0, to_revision: undone.to.0 }))
    }

    async fn rebase_branch(
        &self,
        request: Request<pb::RebaseBranchRequest>,
    ) -> Result<Response<pb::RebaseBranchResponse>, Status> {
        let request = request.into_inner();
        let request = RebaseRequest {
            on_conflict: from_proto::on_conflict(request.on_conflict)?,
            if_revision: request.if_revision.map(Revision),
            resolutions: from_proto::resolutions(request.resolutions)?,
            branch: request.branch_id,
        };
        let rebased = self.0.rebase_branch(request).await.map_err(status::of)?;
        Ok(Response::new(pb::RebaseBranchResponse {
            revision: rebased.revision.0,
            merged_paths: to_proto::paths(&rebased.merged),
            merged_by_syntax_paths: to_proto::paths(&rebased.merged_by_syntax),
            conflicts: rebased.conflicts.into_iter().map(to_proto::conflict).collect(),
        }))
    }

    async fn merge_preview(
        &self,
        request: Request<pb::MergePreviewRequest>,
    ) -> Result<Response<pb::MergePreviewResponse>, Status> {
        let pb::MergePreviewRequest { branch_ids, wait_ms } = request.into_inner();
        let wait = (wait_ms > 0).then(|| Duration::from_millis(wait_ms));
        let request = MergePreviewRequest { branches: branch_ids, wait };
        let preview = self.0.merge_preview(request).await.map_err(status::of)?;
        Ok(Response::new(to_proto::merge_preview(preview)))
    }

    async fn run_tournament(
        &self,
        request: Request<pb::RunTournamentRequest>,
    ) -> Result<Response<pb::RunTournamentResponse>, Status> {
        let request = from_proto::tournament(request.into_inner())?;
        let tournament = self.0.tournament(request).await.map_err(status::of)?;
        Ok(Response::new(to_proto::tournament(tournament)))
    }

    async fn commit_branch(
        &self,
        request: Request<pb::CommitBranchRequest>,
    ) -> Result<Response<pb::CommitBranchResponse>, Status> {
        let request = from_proto::commit(request.into_inner());
        let committed = self.0.commit_branch(request).await.map_err(status::of)?;
        Ok(Response::new(pb::CommitBranchResponse {
            revision: committed.revision.0,
            changes: committed.changes.iter().map(to_proto::change).collect(),
            unsaved_paths: to_proto::paths(&committed.unsaved),
            notes: committed.notes,
            left_paths: to_proto::paths(&committed.left),
            merged_paths: to_proto::paths(&committed.merged),
            merged_by_syntax_paths: to_proto::paths(&committed.merged_by_syntax),
        }))
    }

    async fn discard_branch(
        &self,
        request: Request<pb::DiscardBranchRequest>,
    ) -> Result<Response<pb::DiscardBranchResponse>, Status> {
        self.0.discard_branch(&request.into_inner().branch_id).await.map_err(status::of)?;
        Ok(Response::new(pb::DiscardBranchResponse {}))
    }

    async fn discard_merged_branches(
        &self,
        request: Request<pb::DiscardMergedBranchesRequest>,
    ) -> Result<Response<pb::DiscardMergedBranchesResponse>, Status> {
        let request = from_proto::discard_merged(request.into_inner());
        let judged = self.0.discard_merged(request).await.map_err(status::of)?;
        let branches = judged.into_iter().map(to_proto::judged_branch).collect();
        Ok(Response::new(pb::DiscardMergedBranchesResponse { branches }))
    }
}

fn parts(diff: &Diff) -> Vec<pb::DiffBranchResponse> {
    let part = |part| pb::DiffBranchResponse { part: Some(part), outdated_paths: Vec::new() };
    let lists = diff.changes.chunks(CHANGES).map(|it| it.iter().map(to_proto::change).collect());
    let lists = lists.map(|changes| pb::diff_branch_response::Part::Changes(pb::FileChanges { changes }));
    let mut parts: Vec<_> = lists.map(part).collect();
    if parts.is_empty() {
        parts.push(part(pb::diff_branch_response::Part::Changes(pb::FileChanges::default())));
    }
    parts[0].outdated_paths = diff.outdated.iter().map(ToString::to_string).collect();
    let pieces = diff.patch.as_deref().into_iter().flat_map(pieces);
    parts.extend(pieces.map(|it| part(pb::diff_branch_response::Part::Patch(it.to_owned()))));
    parts
}

/// The text in pieces that a message may hold, cut between characters.
fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (piece, rest) = text.split_at(text.floor_char_boundary(CHUNK_BYTES));
        text = rest;
        (!piece.is_empty()).then_some(piece)
    })
}
