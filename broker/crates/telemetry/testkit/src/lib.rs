//! A collector for tests: takes OTLP over gRPC and HTTP at one address of this machine, and tells what came.
//!
//! Keeps what is easy to compare: names, attributes as text, and who is whose parent. Ends with the process.

#![allow(clippy::unwrap_used, reason = "tests may fail")]

mod decoded;
mod services;

use std::{
    net::{SocketAddr, TcpListener as StdListener},
    sync::Arc,
    thread,
};

use axum::{Router, routing::post};
use opentelemetry_proto::tonic::collector::{
    metrics::v1::metrics_service_server::MetricsServiceServer,
    trace::v1::trace_service_server::TraceServiceServer,
};
use parking_lot::{Mutex, MutexGuard};
use tokio::{net::TcpListener, runtime};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{service::Routes, transport::Server};

pub use self::decoded::{Attributes, Metric, Point, Request, Span};

/// A collector that runs.
pub struct Collector {
    address: SocketAddr,
    received: Arc<Mutex<Received>>,
}

/// All that came.
#[derive(Debug, Default)]
pub struct Received {
    pub spans: Vec<Span>,
    /// Metrics as they were sent last.
    pub metrics: Vec<Metric>,
    pub requests: Vec<Request>,
}

impl Collector {
    pub fn start() -> Self {
        let listener = StdListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::<Mutex<Received>>::default();
        let kept = Arc::clone(&received);
        thread::spawn(move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(serve(listener, kept));
        });
        Self { address, received }
    }

    /// Returns the value for `OTEL_EXPORTER_OTLP_ENDPOINT`, for either protocol.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn received(&self) -> MutexGuard<'_, Received> {
        self.received.lock()
    }
}

impl Received {
    /// The first one of this name.
    pub fn span(&self, name: &str) -> &Span {
        let names: Vec<_> = self.spans.iter().map(|it| &it.name).collect();
        let found = self.spans.iter().find(|it| it.name == name);
        found.unwrap_or_else(|| panic!("no span `{name}` among {names:?}"))
    }

    pub fn metric(&self, name: &str) -> &Metric {
        let names: Vec<_> = self.metrics.iter().map(|it| &it.name).collect();
        let found = self.metrics.iter().find(|it| it.name == name);
        found.unwrap_or_else(|| panic!("no metric `{name}` among {names:?}"))
    }
}

async fn serve(listener: StdListener, received: Arc<Mutex<Received>>) {
    let kept = services::Kept(received);
    let http = Router::new()
        .route("/v1/traces", post(services::traces))
        .route("/v1/metrics", post(services::metrics))
        .with_state(kept.clone());
    let routes = Routes::from(http)
        .add_service(TraceServiceServer::new(kept.clone()))
        .add_service(MetricsServiceServer::new(kept));
    let connections = TcpListenerStream::new(TcpListener::from_std(listener).unwrap());
    let server = Server::builder().accept_http1(true).add_routes(routes);
    server.serve_with_incoming(connections).await.unwrap();
}
