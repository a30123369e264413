//! The way to a daemon's socket. Behind it must stand a process of this user: whatever is sent there may be a secret, and
//! what comes back is believed.

use std::{
    io,
    path::Path,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
};

use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tonic::{codegen::Service, transport::Uri};

use workspaces::RequestError;

use crate::error::unreachable;

/// Connects to one socket, as often as the channel needs it. Clones share what was found there.
#[derive(Clone)]
pub(super) struct OwnSocket(Arc<Shared>);

struct Shared {
    path: Box<Path>,
    /// Another user whose process listened there.
    stranger: OnceLock<u32>,
}

impl OwnSocket {
    pub(super) fn new(path: &Path) -> Self {
        Self(Arc::new(Shared { path: path.into(), stranger: OnceLock::new() }))
    }

    /// Fails if a process of another user was met.
    pub(super) fn expect_own(&self) -> Result<(), RequestError> {
        let Some(uid) = self.0.stranger.get() else { return Ok(()) };
        let socket = self.0.path.display();
        let error = unreachable(format!("a process of another user (uid {uid}) listens at {socket}"));
        Err(error.hint("set BROKER_RUNTIME_DIR to a folder of your own"))
    }
}

impl Shared {
    async fn connect(&self) -> io::Result<TokioIo<UnixStream>> {
        let stream = UnixStream::connect(&self.path).await?;
        let uid = stream.peer_cred()?.uid();
        if uid == rustix::process::geteuid().as_raw() {
            return Ok(TokioIo::new(stream));
        }
        let _first_counts = self.stranger.set(uid);
        Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("user {uid} listens there")))
    }
}

impl Service<Uri> for OwnSocket {
    type Response = TokioIo<UnixStream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let shared = Arc::clone(&self.0);
        Box::pin(async move { shared.connect().await })
    }
}
