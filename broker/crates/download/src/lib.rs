//! HTTP for what a user asks to be fetched: plugins, and the packages of tools. A [`Client`] goes through the proxy that the user has,
//! and is never led from an encrypted address to one that is not; [`blocking`] has a deadline and can be cancelled.
//!
//! Left out: what is fetched and how it is verified.

use std::{
    fmt,
    net::IpAddr,
    time::{Duration, Instant},
};

use bytes::Bytes;
use lint::Cancel;
use reqwest::{Certificate, NoProxy, Proxy, redirect::Policy};
pub use reqwest::{Client, Response, StatusCode, Url};
use tokio_stream::{Stream, StreamExt as _};

/// Time that a server may take to answer at all, and between two pieces of an answer.
pub const HTTP_TIMEOUT: Duration = Duration::from_secs(30);

/// `User-Agent` of requests.
pub const AGENT: &str = concat!("broker/", env!("CARGO_PKG_VERSION"));

/// Settings of a connection beyond the environment's. `HTTPS_PROXY` and its like count without them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Connection {
    /// URL of a proxy, which may have a password in it.
    pub proxy: Option<String>,
    /// Hosts that are asked without it, as in `NO_PROXY`.
    pub no_proxy: Option<String>,
    /// Certificates in PEM of authorities to trust besides the system's.
    pub certificates: Option<Vec<u8>>,
}

/// A client for these settings.
pub fn client(connection: &Connection) -> Result<Client, String> {
    use_ring();
    let mut builder = Client::builder()
        .redirect(Policy::custom(|it| match is_safe(it.previous(), it.url()) {
            true => Policy::default().redirect(it),
            false => it.error("it leads to what is not encrypted"),
        }))
        .user_agent(AGENT)
        .connect_timeout(HTTP_TIMEOUT)
        .read_timeout(HTTP_TIMEOUT);
    if let Some(proxy) = &connection.proxy {
        let no_proxy = connection.no_proxy.as_deref().and_then(NoProxy::from_string);
        // Its text would show a password.
        let proxy =
            Proxy::all(proxy).map_err(|_shows_it| "the proxy that is configured is no URL".to_owned())?;
        builder = builder.proxy(proxy.no_proxy(no_proxy.or_else(NoProxy::from_env)));
    }
    if let Some(pem) = &connection.certificates {
        let all = Certificate::from_pem_bundle(pem).map_err(|error| chain(&error))?;
        builder = builder.tls_certs_merge(all);
    }
    builder.build().map_err(|error| chain(&error))
}

/// An address that the user gave without encryption may lead to others.
fn is_safe(previous: &[Url], next: &Url) -> bool {
    is_encrypted_or_near(next) || previous.first().is_some_and(|it| !is_encrypted_or_near(it))
}

/// Whether a URL is encrypted, or of this machine.
pub fn is_encrypted_or_near(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && url.host_str().is_some_and(is_this_machine))
}

pub fn is_this_machine(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|it: IpAddr| it.is_loopback())
}

fn use_ring() {
    // Fails if there is one already, which is as good.
    let _there = rustls::crypto::ring::default_provider().install_default();
}

/// Reason why work ended early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interruption {
    Cancelled,
    OutOfTime,
    /// The system gives no means to wait.
    NoRuntime(String),
}

impl fmt::Display for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cancelled => "interrupted",
            Self::OutOfTime => "it takes too long",
            Self::NoRuntime(why) => why,
        })
    }
}

impl From<Interruption> for String {
    fn from(it: Interruption) -> Self {
        it.to_string()
    }
}

/// Runs `work` until it is done, the deadline passes, or it is cancelled.
pub fn blocking<T, E: From<Interruption>>(
    work: impl Future<Output = Result<T, E>>,
    end: Instant,
    cancel: &Cancel,
) -> Result<T, E> {
    use_ring();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Interruption::NoRuntime(error.to_string()))?.block_on(async {
        tokio::select! {
            done = work => done,
            () = cancel.cancelled() => Err(Interruption::Cancelled.into()),
            () = tokio::time::sleep_until(end.into()) => Err(Interruption::OutOfTime.into()),
        }
    })
}

/// The body of an answer, of at most `max_bytes`. An answer that is an error has none.
pub async fn body(answer: Response, max_bytes: u64) -> Result<Bytes, String> {
    let answer = answer.error_for_status().map_err(|error| chain(&error))?;
    collect(answer.bytes_stream().map(|it| it.map_err(|error| chain(&error))), max_bytes).await
}

/// All pieces as one, unless they are more than `max_bytes`.
pub async fn collect(
    pieces: impl Stream<Item = Result<Bytes, String>>,
    max_bytes: u64,
) -> Result<Bytes, String> {
    let mut pieces = std::pin::pin!(pieces);
    let mut all = Vec::new();
    while let Some(piece) = pieces.next().await {
        all.extend_from_slice(&piece?);
        if all.len() as u64 > max_bytes {
            return Err(too_long(max_bytes));
        }
    }
    Ok(all.into())
}

pub fn too_long(max_bytes: u64) -> String {
    match max_bytes >> 20 {
        0 => format!("it is larger than {} KiB", max_bytes >> 10),
        mebibytes => format!("it is larger than {mebibytes} MiB"),
    }
}

/// An error with all that led to it.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let inner = error.to_string();
        if !text.contains(&inner) {
            text = format!("{text}: {inner}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    //! Addresses that are followed.

    use super::*;

    #[test]
    fn nothing_leads_from_what_is_encrypted_to_what_is_not() {
        let url = |it: &str| Url::parse(it).unwrap();
        let follows = |from: &str, to: &str| is_safe(&[url(from)], &url(to));
        assert!(
            follows("https://a.example", "https://b.example")
                && follows("http://a.example", "http://b.example")
        );
        assert!(!follows("https://a.example", "http://b.example"));
        assert!(
            !follows("http://localhost:1", "http://b.example")
                && follows("http://[::1]:1", "http://127.0.0.1:2")
        );
    }

    #[test]
    fn a_proxy_that_is_none_is_not_shown() {
        let connection = Connection { proxy: Some("http://me:secret@[".to_owned()), ..Connection::default() };
        assert_eq!(client(&connection).err().unwrap(), "the proxy that is configured is no URL");
    }
}
