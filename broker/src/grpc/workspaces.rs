//! `WorkspaceService`.

use std::path::Path;

use broker_proto::v1::{self as pb, workspace_service_server::WorkspaceService};
use tonic::{Request, Response, Status, async_trait};

use super::{Front, status, to_proto};

#[async_trait]
impl WorkspaceService for Front {
    async fn open_workspace(
        &self,
        request: Request<pb::OpenWorkspaceRequest>,
    ) -> Result<Response<pb::OpenWorkspaceResponse>, Status> {
        let root = request.into_inner().root;
        let served = self.0.open(Path::new(&root)).await.map_err(status::of)?;
        let workspace = Some(to_proto::workspace(&served));
        Ok(Response::new(pb::OpenWorkspaceResponse { workspace, unreadable: served.unreadable.clone() }))
    }

    async fn list_workspaces(
        &self,
        _: Request<pb::ListWorkspacesRequest>,
    ) -> Result<Response<pb::ListWorkspacesResponse>, Status> {
        let workspaces = self.0.workspaces().iter().map(|it| to_proto::workspace(it)).collect();
        Ok(Response::new(pb::ListWorkspacesResponse { workspaces }))
    }

    async fn close_workspace(
        &self,
        request: Request<pb::CloseWorkspaceRequest>,
    ) -> Result<Response<pb::CloseWorkspaceResponse>, Status> {
        self.0.close(&request.into_inner().workspace_id).await.map_err(status::of)?;
        Ok(Response::new(pb::CloseWorkspaceResponse {}))
    }
}
