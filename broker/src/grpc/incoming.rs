//! Connections as they come in: from the user's own processes, or with a token, and counted.

use std::{
    io,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    time::{Sleep, sleep},
};
use tokio_stream::Stream;
use tonic::{Request, Status, service::Interceptor, transport::server::Connected};
use workspaces::{ClientLease, Clients};

use super::Token;

/// Peer of a connection. It counts as a client once it has shown that it may ask.
#[derive(Clone)]
pub(super) struct Peer {
    clients: Clients,
    lease: Arc<OnceLock<ClientLease>>,
}

impl Peer {
    fn new(clients: &Clients) -> Self {
        Self { clients: clients.clone(), lease: Arc::default() }
    }

    fn is_client(&self) {
        self.lease.get_or_init(|| self.clients.lease());
    }
}

/// Accepts requests with the token. Their peers count as clients from then on: a connection without a token must not
/// keep an idle daemon alive.
#[derive(Clone)]
pub(super) struct Guard(pub(super) Token);

impl Interceptor for Guard {
    fn call(&mut self, request: Request<()>) -> Result<Request<()>, Status> {
        let request = self.0.call(request)?;
        if let Some(peer) = request.extensions().get::<Peer>() {
            peer.is_client();
        }
        Ok(request)
    }
}

/// A connection that counts as long as it is open.
pub(super) struct Counted<S> {
    stream: S,
    peer: Peer,
}

/// Rest of a door at which a connection could not be accepted: where too many files are open, the next attempt fails
/// in the same way until one is closed, and would only take up a processor.
#[derive(Default)]
struct Rest(Option<Pin<Box<Sleep>>>);

impl Rest {
    const TIME: Duration = Duration::from_millis(100);

    fn begin(&mut self) {
        self.0 = Some(Box::pin(sleep(Self::TIME)));
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Some(rest) = &mut self.0 {
            ready!(rest.as_mut().poll(context));
            self.0 = None;
        }
        Poll::Ready(())
    }
}

/// Connections to a Unix socket whose other end is a process of the same user.
pub(super) struct OwnProcesses {
    listener: UnixListener,
    clients: Clients,
    rest: Rest,
}

impl OwnProcesses {
    pub(super) fn new(listener: UnixListener, clients: Clients) -> Self {
        Self { listener, clients, rest: Rest::default() }
    }
}

impl Stream for OwnProcesses {
    type Item = io::Result<Counted<UnixStream>>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            ready!(self.rest.poll(context));
            let accepted = ready!(self.listener.poll_accept(context));
            match accepted {
                Ok((stream, _)) if is_own(&stream) => {
                    let peer = Peer::new(&self.clients);
                    peer.is_client();
                    return Poll::Ready(Some(Ok(Counted { stream, peer })));
                }
                // A process of another user: the connection is closed without an answer.
                Ok(_) => {}
                Err(error) => {
                    self.rest.begin();
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
    }
}

/// The folder keeps others out already; this holds even where someone opened it.
fn is_own(stream: &UnixStream) -> bool {
    let own = rustix::process::geteuid().as_raw();
    stream.peer_cred().is_ok_and(|it| it.uid() == own)
}

/// Connections to a TCP port; each request must have a token.
pub(super) struct Anybody {
    listener: TcpListener,
    clients: Clients,
    rest: Rest,
}

impl Anybody {
    pub(super) fn new(listener: TcpListener, clients: Clients) -> Self {
        Self { listener, clients, rest: Rest::default() }
    }
}

impl Stream for Anybody {
    type Item = io::Result<Counted<TcpStream>>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        ready!(self.rest.poll(context));
        let accepted = ready!(self.listener.poll_accept(context));
        if accepted.is_err() {
            self.rest.begin();
        }
        let counted = accepted.and_then(|(stream, _)| {
            stream.set_nodelay(true)?;
            Ok(Counted { stream, peer: Peer::new(&self.clients) })
        });
        Poll::Ready(Some(counted))
    }
}

impl<S> Connected for Counted<S> {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
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

#[cfg(test)]
mod tests {
    use tokio_stream::StreamExt as _;

    use super::*;

    #[tokio::test]
    async fn after_an_error_a_door_rests() {
        // A socket that does not listen accepts nothing; the other end is closed, so that there is something to look at.
        let (other, _) = std::os::unix::net::UnixStream::pair().unwrap();
        let listener = std::os::unix::net::UnixListener::from(std::os::fd::OwnedFd::from(other));
        listener.set_nonblocking(true).unwrap();
        let mut door = OwnProcesses::new(UnixListener::from_std(listener).unwrap(), Clients::default());
        door.next().await.unwrap().err().unwrap();
        assert!(door.rest.0.is_some());

        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let mut door = Anybody::new(listener, Clients::default());
        door.rest.0 = Some(Box::pin(sleep(Duration::from_secs(3600))));
        let mut context = Context::from_waker(std::task::Waker::noop());
        assert!(Pin::new(&mut door).poll_next(&mut context).is_pending(), "though a connection waits");
        door.rest.begin();
        door.next().await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn only_who_shows_the_token_counts() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let clients = Clients::default();
        let mut door = Anybody::new(listener, clients.clone());
        let _client = TcpStream::connect(address).await.unwrap();
        let connection = door.next().await.unwrap().unwrap();
        assert_eq!(clients.count(), 0, "it has said nothing yet");
        let mut guard = Guard(Token(Some("secret".into())));
        let mut ask = |token: &'static str| {
            let mut request = Request::new(());
            request.metadata_mut().insert("authorization", token.parse().unwrap());
            request.extensions_mut().insert(connection.connect_info());
            guard.call(request).is_ok()
        };
        assert!(!ask("Bearer wrong"));
        assert_eq!(clients.count(), 0);
        assert!(ask("Bearer secret") && ask("Bearer secret"));
        assert_eq!(clients.count(), 1, "once, however much it asks");
        drop(connection);
        assert_eq!(clients.count(), 0);
    }
}
