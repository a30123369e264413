//! The HTTP client of exporters. They run on threads that have no runtime, so each request is a task of the daemon's.

use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::redirect::Policy;
use tokio::runtime::Handle;
use tonic::async_trait;

use crate::settings::Target;

/// Largest answer of a collector that is read, in bytes.
const MAX_ANSWER: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct TaskClient {
    client: reqwest::Client,
    runtime: Handle,
}

impl TaskClient {
    /// Follows no redirect: headers may hold a secret that is for this collector.
    pub(crate) fn new(target: &Target, runtime: &Handle) -> Result<Self, reqwest::Error> {
        // The first one that is installed is the process's.
        let _there = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().timeout(target.timeout).redirect(Policy::none()).build()?;
        Ok(Self { client, runtime: runtime.clone() })
    }
}

#[async_trait]
impl HttpClient for TaskClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        self.runtime.spawn(send(client, request)).await?
    }
}

async fn send(client: reqwest::Client, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let mut answer = client.execute(request.try_into()?).await?;
    let mut body = Vec::new();
    while let Some(part) = answer.chunk().await? {
        if body.len() + part.len() > MAX_ANSWER {
            return Err(format!("the collector's answer has more than {MAX_ANSWER} bytes").into());
        }
        body.extend_from_slice(&part);
    }
    let mut response = Response::new(body.into());
    *response.status_mut() = answer.status();
    *response.headers_mut() = std::mem::take(answer.headers_mut());
    Ok(response)
}
