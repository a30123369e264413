//! `DaemonService`.

use broker_proto::v1::{self as pb, daemon_service_server::DaemonService};
use tonic::{Request, Response, Status, async_trait};

use super::{GrpcServer, status, to_proto};

#[async_trait]
impl DaemonService for GrpcServer {
    async fn get_status(
        &self,
        _: Request<pb::GetStatusRequest>,
    ) -> Result<Response<pb::GetStatusResponse>, Status> {
        Ok(Response::new(to_proto::status(self.0.status().await.map_err(status::of)?)))
    }

    async fn shutdown(
        &self,
        _: Request<pb::ShutdownRequest>,
    ) -> Result<Response<pb::ShutdownResponse>, Status> {
        self.0.stop().await.map_err(status::of)?;
        Ok(Response::new(pb::ShutdownResponse {}))
    }
}
