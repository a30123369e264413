//! `WorkspaceService`.

use std::{path::Path, sync::Arc};

use broker_proto::v1::{self as pb, workspace_service_server::WorkspaceService};
use tonic::{Request, Response, Status, async_trait};

use super::{Front, branches::to_the_end, from_proto, status, to_proto};

#[async_trait]
impl WorkspaceService for Front {
    async fn open_workspace(
        &self,
        request: Request<pb::OpenWorkspaceRequest>,
    ) -> Result<Response<pb::OpenWorkspaceResponse>, Status> {
        let pb::OpenWorkspaceRequest { root, environment } = request.into_inner();
        let environment = environment.map(from_proto::environment).transpose()?;
        let daemon = Arc::clone(&self.0);
        // One that is cut off would still hold the folder for state when the client tries again.
        let served = to_the_end(async move { daemon.open(Path::new(&root)).await }).await?;
        if let Some(variables) = environment {
            served.set_environment(variables);
        }
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
