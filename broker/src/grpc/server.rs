//! All services on each door, until the daemon ends.

use std::{io, sync::Arc, time::Duration};

use agents::Agents;
#[cfg(target_os = "linux")]
use broker_proto::v1::run_service_server::RunServiceServer;
use broker_proto::v1::{
    branch_service_server::BranchServiceServer, check_service_server::CheckServiceServer,
    daemon_service_server::DaemonServiceServer, file_service_server::FileServiceServer,
    query_service_server::QueryServiceServer, rule_service_server::RuleServiceServer,
    server_service_server::ServerServiceServer, tool_service_server::ToolServiceServer,
    workspace_service_server::WorkspaceServiceServer,
};
use tokio::net::{TcpListener, UnixListener};
use tonic::{
    service::{Routes, interceptor::InterceptedService},
    transport::Server,
};
use workspaces::Daemon;

use super::{
    GrpcServer, Token,
    incoming::{Anybody, Guard, OwnProcesses},
    telemetry::measured,
    tools::ToolFront,
};

/// Listener for clients.
pub(crate) enum Door {
    /// The user's own processes.
    Unix(UnixListener),
    /// Clients with the token.
    Tcp(TcpListener, Token),
}

/// The largest request about files: whole files come in one, and patches of 64 MiB. What is longer is refused by
/// the length before it, and not received.
const MAX_FILES: usize = 72 << 20;

/// The largest other request.
const MAX_REQUEST: usize = 16 << 20;

/// The largest answer.
const MAX_ANSWER: usize = 256 << 20;

/// Time that answers under way may take after the daemon was asked to end.
const GRACE: Duration = Duration::from_secs(5);

/// Serves all doors; returns when the daemon has ended.
pub(crate) async fn serve(daemon: &Arc<Daemon>, agents: &Arc<Agents>, doors: Vec<Door>) -> io::Result<()> {
    let mut open = tokio::task::JoinSet::new();
    for door in doors {
        open.spawn(serve_door(Arc::clone(daemon), Arc::clone(agents), door));
    }
    tokio::select! {
        () = daemon.wait_for_end() => {}
        // A door that closes by itself is an error.
        Some(ended) = open.join_next() => ended.map_err(io::Error::other)??,
    }
    daemon.shut_down();
    let rest = async { while open.join_next().await.is_some() {} };
    // Streams of clients that do not read would keep the process forever.
    let _cut_off = tokio::time::timeout(GRACE, rest).await;
    Ok(())
}

async fn serve_door(daemon: Arc<Daemon>, agents: Arc<Agents>, door: Door) -> io::Result<()> {
    let (stopped, clients) = (daemon.stopped(), daemon.clients().clone());
    let mut server = Server::builder()
        .http2_keepalive_interval(Some(Duration::from_secs(30)))
        .initial_stream_window_size(1 << 20)
        .initial_connection_window_size(4 << 20);
    let served = match door {
        Door::Unix(listener) => {
            let router = server.add_routes(routes(&daemon, &agents, &Token(None)).await?);
            router.serve_with_incoming_shutdown(OwnProcesses::new(listener, clients), stopped).await
        }
        Door::Tcp(listener, token) => {
            let router = server.add_routes(routes(&daemon, &agents, &token).await?);
            router.serve_with_incoming_shutdown(Anybody::new(listener, clients), stopped).await
        }
    };
    served.map_err(io::Error::other)
}

/// Every service behind the token, and measured.
async fn routes(daemon: &Arc<Daemon>, agents: &Arc<Agents>, token: &Token) -> io::Result<Routes> {
    // An operation of the daemon takes it by its own `Arc`.
    let front = GrpcServer(Arc::new(Arc::clone(daemon)));
    macro_rules! guarded {
        ($server:ident, $most:ident) => {
            guarded!($server, $most, front.clone())
        };
        ($server:ident, $most:ident, $front:expr) => {
            InterceptedService::new(
                $server::new($front).max_decoding_message_size($most).max_encoding_message_size(MAX_ANSWER),
                Guard(token.clone()),
            )
        };
    }
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_serving::<BranchServiceServer<GrpcServer>>().await;
    health.set_serving::<CheckServiceServer<GrpcServer>>().await;
    health.set_serving::<DaemonServiceServer<GrpcServer>>().await;
    health.set_serving::<FileServiceServer<GrpcServer>>().await;
    health.set_serving::<QueryServiceServer<GrpcServer>>().await;
    health.set_serving::<RuleServiceServer<GrpcServer>>().await;
    #[cfg(target_os = "linux")]
    health.set_serving::<RunServiceServer<GrpcServer>>().await;
    health.set_serving::<ServerServiceServer<GrpcServer>>().await;
    health.set_serving::<ToolServiceServer<ToolFront>>().await;
    health.set_serving::<WorkspaceServiceServer<GrpcServer>>().await;
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(broker_proto::DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let v1 = reflection().build_v1().map_err(io::Error::other)?;
    let v1alpha = reflection().build_v1alpha().map_err(io::Error::other)?;
    let routes = Routes::new(InterceptedService::new(health_service, Guard(token.clone())));
    #[cfg(target_os = "linux")]
    let routes = routes.add_service(guarded!(RunServiceServer, MAX_REQUEST));
    let routes = routes
        .add_service(InterceptedService::new(v1, Guard(token.clone())))
        .add_service(InterceptedService::new(v1alpha, Guard(token.clone())))
        .add_service(guarded!(BranchServiceServer, MAX_REQUEST))
        .add_service(guarded!(CheckServiceServer, MAX_REQUEST))
        .add_service(guarded!(DaemonServiceServer, MAX_REQUEST))
        .add_service(guarded!(FileServiceServer, MAX_FILES))
        .add_service(guarded!(QueryServiceServer, MAX_REQUEST))
        .add_service(guarded!(RuleServiceServer, MAX_REQUEST))
        .add_service(guarded!(ServerServiceServer, MAX_REQUEST))
        .add_service(guarded!(ToolServiceServer, MAX_REQUEST, ToolFront(Arc::new(Arc::clone(agents)))))
        .add_service(guarded!(WorkspaceServiceServer, MAX_REQUEST));
    Ok(measured(routes))
}
