//! `DaemonService`.

use broker_proto::v1::{self as pb, daemon_service_server::DaemonService};
use tonic::{Request, Response, Status, async_trait};

use super::{Front, servers, to_proto};

#[async_trait]
impl DaemonService for Front {
    async fn get_status(
        &self,
        _: Request<pb::GetStatusRequest>,
    ) -> Result<Response<pb::GetStatusResponse>, Status> {
        let workspaces = self.0.workspaces();
        let branches: usize = workspaces.iter().map(|it| it.branch_count()).sum();
        let servers = servers::reports(&self.0).await?;
        Ok(Response::new(pb::GetStatusResponse {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            started_ms: self.0.started_ms,
            resident_bytes: resident_bytes(),
            workspaces: to_proto::count(workspaces.len()),
            branches: to_proto::count(branches),
            scheduler: Some(to_proto::scheduler(&self.0.engine.scheduler_stats())),
            cache: Some(to_proto::cache(&self.0.engine.cache_stats())),
            idle_exit_seconds: self.0.idle_exit.map_or(0, |it| it.as_secs()),
            tcp_address: self.0.tcp.get().map(ToString::to_string).unwrap_or_default(),
            servers: Some(to_proto::servers(&servers)),
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

/// The process's memory as Linux counts it; 0 elsewhere.
#[expect(clippy::disallowed_methods, reason = "the process's own state is no workspace file")]
fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|it| it.split(' ').nth(1)?.parse::<u64>().ok());
    pages.unwrap_or(0) * rustix::param::page_size() as u64
}
