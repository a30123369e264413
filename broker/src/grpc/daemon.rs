//! `DaemonService`.

use broker_proto::v1::{self as pb, daemon_service_server::DaemonService};
use tonic::{Request, Response, Status, async_trait};

use super::{Front, status, to_proto};
use crate::memory::resident_bytes;

#[async_trait]
impl DaemonService for Front {
    async fn get_status(
        &self,
        _: Request<pb::GetStatusRequest>,
    ) -> Result<Response<pb::GetStatusResponse>, Status> {
        let status = self.0.status().await.map_err(status::of)?;
        Ok(Response::new(pb::GetStatusResponse {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            started_ms: status.started_ms,
            resident_bytes: resident_bytes(),
            workspaces: to_proto::count(status.workspaces),
            branches: to_proto::count(status.branches),
            scheduler: Some(to_proto::scheduler(&status.scheduler)),
            cache: Some(to_proto::cache(&status.cache)),
            idle_exit_seconds: status.idle_exit.map_or(0, |it| it.as_secs()),
            tcp_address: status.tcp_address.map(|it| it.to_string()).unwrap_or_default(),
            servers: Some(to_proto::servers(&status.servers)),
        }))
    }

    async fn shutdown(
        &self,
        _: Request<pb::ShutdownRequest>,
    ) -> Result<Response<pb::ShutdownResponse>, Status> {
        self.0.shut_down();
        Ok(Response::new(pb::ShutdownResponse {}))
    }
}
