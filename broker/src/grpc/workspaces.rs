//! `WorkspaceService`.

use broker_proto::v1::{self as pb, workspace_service_server::WorkspaceService};
use tonic::{Request, Response, Status, async_trait};

use super::{Front, status, to_proto};

#[async_trait]
impl WorkspaceService for Front {
    async fn open_workspace(
        &self,
        request: Request<pb::OpenWorkspaceRequest>,
    ) -> Result<Response<pb::OpenWorkspaceResponse>, Status> {
        let pb::OpenWorkspaceRequest { root, environment } = request.into_inner();
        let environment = environment.map(|it| it.variables.into_iter().collect());
        let opened = self.0.open_workspace(root.into(), environment).await.map_err(status::of)?;
        let workspace = Some(to_proto::workspace(opened.info));
        Ok(Response::new(pb::OpenWorkspaceResponse { workspace, unreadable: opened.unreadable }))
    }

    async fn list_workspaces(
        &self,
        _: Request<pb::ListWorkspacesRequest>,
    ) -> Result<Response<pb::ListWorkspacesResponse>, Status> {
        let workspaces = self.0.list_workspaces().into_iter().map(to_proto::workspace).collect();
        Ok(Response::new(pb::ListWorkspacesResponse { workspaces }))
    }

    async fn close_workspace(
        &self,
        request: Request<pb::CloseWorkspaceRequest>,
    ) -> Result<Response<pb::CloseWorkspaceResponse>, Status> {
        self.0.close_workspace(request.into_inner().workspace_id).await.map_err(status::of)?;
        Ok(Response::new(pb::CloseWorkspaceResponse {}))
    }
}
