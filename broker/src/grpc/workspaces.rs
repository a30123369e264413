//! `WorkspaceService`.

use std::pin::Pin;

use broker_proto::v1::{self as pb, workspace_service_server::WorkspaceService};
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Request, Response, Status, async_trait};
use workspaces::WorkspaceWatchRequest;

use super::{GrpcServer, from_proto, status, to_proto};

type Changes = Pin<Box<dyn Stream<Item = Result<pb::WatchWorkspaceResponse, Status>> + Send>>;

#[async_trait]
impl WorkspaceService for GrpcServer {
    type WatchWorkspaceStream = Changes;

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
        let workspaces = self.0.list_workspaces().await.map_err(status::of)?;
        let workspaces = workspaces.into_iter().map(to_proto::workspace).collect();
        Ok(Response::new(pb::ListWorkspacesResponse { workspaces }))
    }

    async fn close_workspace(
        &self,
        request: Request<pb::CloseWorkspaceRequest>,
    ) -> Result<Response<pb::CloseWorkspaceResponse>, Status> {
        self.0.close_workspace(&request.into_inner().workspace_id).await.map_err(status::of)?;
        Ok(Response::new(pb::CloseWorkspaceResponse {}))
    }

    async fn watch_workspace(
        &self,
        request: Request<pb::WatchWorkspaceRequest>,
    ) -> Result<Response<Changes>, Status> {
        let deadline = from_proto::deadline(request.metadata());
        let pb::WatchWorkspaceRequest { workspace_id: workspace, client_name, takes_commits } =
            request.into_inner();
        let request = WorkspaceWatchRequest { workspace, client_name, takes_commits, deadline };
        let events = self.0.watch_workspace(request).await.map_err(status::of)?;
        let messages = events.map(|it| it.map(|it| to_proto::workspace_event(&it)).map_err(status::of));
        Ok(Response::new(Box::pin(messages)))
    }
}
