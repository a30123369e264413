//! Streamable HTTP on one endpoint, `/mcp`, for clients of this machine that have the token.

use std::{io, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio::net::TcpListener;

use super::Handler;
use crate::grpc::Token;

/// Listener of the server, and the token that clients must have.
pub(crate) struct HttpServer {
    pub(crate) listener: TcpListener,
    pub(crate) token: Token,
}

/// Bytes of a request.
const MAX_REQUEST: usize = 16 << 20;

/// Serves clients until it is dropped. Hosts and origins are those of this machine, so that no page of a browser comes in
/// by a name that leads here.
pub(crate) async fn serve_http(
    server: HttpServer,
    handler: Handler,
    name: impl Fn() -> io::Result<String> + Send + Sync + 'static,
) -> io::Result<()> {
    let HttpServer { listener, token } = server;
    let port = listener.local_addr()?.port();
    let own = ["localhost", "127.0.0.1", "[::1]"];
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(own.map(|it| format!("{it}:{port}")))
        .with_allowed_origins(own.map(|it| format!("http://{it}:{port}")))
        .enforce_origin_validation()
        .with_max_request_body_bytes(MAX_REQUEST);
    // A client without a session of the protocol's names its branch in each call.
    let service = move || name().map(|it| handler.of_session(it));
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(service, sessions, config);
    let app =
        Router::new().nest_service("/mcp", service).layer(middleware::from_fn_with_state(token, authorised));
    axum::serve(listener, app).await
}

async fn authorised(State(token): State<Token>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|it| it.to_str().ok());
    if token.expect(given).is_err() {
        let why = "the header `Authorization: Bearer TOKEN` is missing or wrong; `broker agent mcp --http` printed the token\n";
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], why).into_response();
    }
    next.run(request).await
}
