//! Connections as they come in: from the user's own processes only, and counted.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    sync::watch,
};
use tokio_stream::Stream;
use tonic::transport::server::Connected;

/// How many connections are open.
#[derive(Clone)]
pub(super) struct Connections(Arc<watch::Sender<usize>>);

impl Connections {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::channel(0).0))
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<usize> {
        self.0.subscribe()
    }

    fn opened(&self) -> Open {
        self.0.send_modify(|it| *it += 1);
        Open(self.clone())
    }
}

/// Counts as long as it lives.
pub(super) struct Open(Connections);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.0.send_modify(|it| *it -= 1);
    }
}

/// A connection that counts.
pub(super) struct Counted<S> {
    stream: S,
    _open: Open,
}

/// Connections to a Unix socket whose other end is a process of the same user.
pub(super) struct OwnProcesses {
    pub(super) listener: UnixListener,
    pub(super) connections: Connections,
}

impl Stream for OwnProcesses {
    type Item = io::Result<Counted<UnixStream>>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let accepted = ready!(self.listener.poll_accept(context));
            match accepted {
                Ok((stream, _)) if is_own(&stream) => {
                    let _open = self.connections.opened();
                    return Poll::Ready(Some(Ok(Counted { stream, _open })));
                }
                // Whoever it is gets a closed connection and no word.
                Ok(_) => {}
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
    }
}

/// The folder keeps others out already; this holds even where someone opened it.
fn is_own(stream: &UnixStream) -> bool {
    let own = rustix::process::geteuid().as_raw();
    stream.peer_cred().is_ok_and(|it| it.uid() == own)
}

/// Connections to a TCP port; whoever it is must show a token with each request.
pub(super) struct Anybody {
    pub(super) listener: TcpListener,
    pub(super) connections: Connections,
}

impl Stream for Anybody {
    type Item = io::Result<Counted<TcpStream>>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let accepted = ready!(self.listener.poll_accept(context));
        let counted = accepted.and_then(|(stream, _)| {
            stream.set_nodelay(true)?;
            Ok(Counted { stream, _open: self.connections.opened() })
        });
        Poll::Ready(Some(counted))
    }
}

impl<S: Connected> Connected for Counted<S> {
    type ConnectInfo = S::ConnectInfo;

    fn connect_info(&self) -> S::ConnectInfo {
        self.stream.connect_info()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Counted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Counted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
