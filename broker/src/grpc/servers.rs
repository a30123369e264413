//! `ServerService`.

use std::{path::PathBuf, sync::Arc};

use broker_proto::{v1 as pb, v1::server_service_server::ServerService};
use language_servers::ServerReport;
use tonic::{Request, Response, Status, async_trait};
use workspaces::{Daemon, DaemonError};

use super::{Front, branches::blocking, status, to_proto};

#[async_trait]
impl ServerService for Front {
    async fn list_servers(
        &self,
        _: Request<pb::ListServersRequest>,
    ) -> Result<Response<pb::ListServersResponse>, Status> {
        let servers = reports(&self.0).await?.into_iter().map(to_proto::server).collect();
        let search_path = std::env::var_os("PATH").map(|it| it.to_string_lossy().into_owned());
        Ok(Response::new(pb::ListServersResponse { servers, search_path }))
    }

    async fn get_server_log(
        &self,
        request: Request<pb::GetServerLogRequest>,
    ) -> Result<Response<pb::GetServerLogResponse>, Status> {
        let name = request.into_inner().name;
        let logs = self.0.servers.pool.log(&name);
        if logs.is_empty() {
            return Err(status::of(DaemonError::NotFound { what: "server", id: name }));
        }
        Ok(Response::new(pb::GetServerLogResponse {
            logs: logs.into_iter().map(to_proto::server_log).collect(),
        }))
    }

    async fn end_servers(
        &self,
        request: Request<pb::EndServersRequest>,
    ) -> Result<Response<pb::EndServersResponse>, Status> {
        let root = PathBuf::from(request.into_inner().root);
        if !root.is_absolute() {
            return Err(status::invalid("root", "the path of a folder must be absolute"));
        }
        let daemon = Arc::clone(&self.0);
        blocking(move || {
            daemon.servers.pool.release(&root);
            Ok(Response::new(pb::EndServersResponse {}))
        })
        .await
    }
}

/// Every server with its memory, which is read from the system.
pub(super) async fn reports(daemon: &Arc<Daemon>) -> Result<Vec<ServerReport>, Status> {
    let daemon = Arc::clone(daemon);
    blocking(move || Ok(daemon.servers.pool.status())).await
}
