//! `ServerService`.

use broker_proto::{v1 as pb, v1::server_service_server::ServerService};
use tonic::{Request, Response, Status, async_trait};
use workspaces::ServerList;

use super::{GrpcServer, status, to_proto};

#[async_trait]
impl ServerService for GrpcServer {
    async fn list_servers(
        &self,
        _: Request<pb::ListServersRequest>,
    ) -> Result<Response<pb::ListServersResponse>, Status> {
        let ServerList { servers, search_path } = self.0.list_servers().await.map_err(status::of)?;
        let servers = servers.into_iter().map(to_proto::server).collect();
        Ok(Response::new(pb::ListServersResponse { servers, search_path }))
    }

    async fn get_server_log(
        &self,
        request: Request<pb::GetServerLogRequest>,
    ) -> Result<Response<pb::GetServerLogResponse>, Status> {
        let logs = self.0.server_logs(&request.into_inner().name).await.map_err(status::of)?;
        let logs = logs.into_iter().map(to_proto::server_log).collect();
        Ok(Response::new(pb::GetServerLogResponse { logs }))
    }

    async fn end_servers(
        &self,
        request: Request<pb::EndServersRequest>,
    ) -> Result<Response<pb::EndServersResponse>, Status> {
        self.0.end_servers(request.into_inner().root.into()).await.map_err(status::of)?;
        Ok(Response::new(pb::EndServersResponse {}))
    }
}
