//! The way to the daemon, which may end and be started anew while a client stays.

use std::sync::Arc;

use broker_proto::{v1 as pb, v1::tool_service_client::ToolServiceClient};
use tonic::{Code, Request, Response, Status, metadata::AsciiMetadataValue, transport::Channel};

use crate::{CliError, client};

/// The daemon and the workspace in it, for all sessions of a front.
#[derive(Clone)]
pub(crate) struct Link(Arc<Shared>);

struct Shared {
    /// Connects again by itself to whichever daemon listens.
    channel: Channel,
    /// The handle of the workspace, which every daemon gives it.
    workspace: String,
    open: Open,
    /// How often the workspace was opened; one opens it at a time.
    opened: tokio::sync::Mutex<u64>,
}

/// Finds the daemon, or starts one, and opens the workspace in it. Blocks.
type Open = Box<dyn Fn() -> Result<(), CliError> + Send + Sync>;

/// The largest answer that is taken.
const MAX_MESSAGE: usize = 64 << 20;

impl Link {
    /// The workspace is open already.
    pub(crate) fn new(
        channel: Channel,
        workspace: String,
        open: impl Fn() -> Result<(), CliError> + Send + Sync + 'static,
    ) -> Self {
        let opened = tokio::sync::Mutex::default();
        Self(Arc::new(Shared { channel, workspace, open: Box::new(open), opened }))
    }

    pub(super) async fn tools(&self) -> Result<pb::ListToolsResponse, Status> {
        self.repeated(|| async { self.client().list_tools(pb::ListToolsRequest {}).await }).await
    }

    /// Calls a tool. What only reads is asked again of a daemon that was started anew; what edits may have been done, so
    /// the agent is to look. The daemon's trace is a part of `traceparent`'s.
    pub(super) async fn call(
        &self,
        mut request: pb::CallToolRequest,
        reads: bool,
        traceparent: Option<&str>,
    ) -> Result<pb::CallToolResponse, Status> {
        request.workspace_id.clone_from(&self.0.workspace);
        // What is none is left out: a trace is no reason to refuse a call.
        let traceparent: Option<AsciiMetadataValue> = traceparent.and_then(|it| it.parse().ok());
        let call = || async {
            let mut request = Request::new(request.clone());
            if let Some(traceparent) = &traceparent {
                request.metadata_mut().insert("traceparent", traceparent.clone());
            }
            self.client().call_tool(request).await
        };
        if reads {
            return self.repeated(call).await;
        }
        let before = *self.0.opened.lock().await;
        let answer = match call().await {
            // Nothing was done in a workspace that is not open.
            Err(status) if status.code() == Code::NotFound => {
                self.open_anew(before).await?;
                call().await
            }
            Err(status) if is_gone(&status) => {
                self.open_anew(before).await?;
                return Err(Status::aborted(
                    "the daemon ended meanwhile and was started anew; branch_diff tells whether this was done",
                ));
            }
            answer => answer,
        };
        answer.map(Response::into_inner)
    }

    async fn repeated<T, F>(&self, ask: impl Fn() -> F) -> Result<T, Status>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        let before = *self.0.opened.lock().await;
        let answer = match ask().await {
            Err(status) if is_gone(&status) || status.code() == Code::NotFound => {
                self.open_anew(before).await?;
                ask().await
            }
            answer => answer,
        };
        answer.map(Response::into_inner)
    }

    /// Opens the workspace again, unless another call has done so since it was opened `before` times.
    async fn open_anew(&self, before: u64) -> Result<(), Status> {
        let mut opened = self.0.opened.lock().await;
        if *opened != before {
            return Ok(());
        }
        let shared = Arc::clone(&self.0);
        let done = tokio::task::spawn_blocking(move || (shared.open)()).await;
        let done = done.map_err(|error| Status::internal(error.to_string()))?;
        done.map_err(|error| Status::unavailable(error.message))?;
        *opened += 1;
        Ok(())
    }

    fn client(&self) -> ToolServiceClient<Channel> {
        ToolServiceClient::new(self.0.channel.clone()).max_decoding_message_size(MAX_MESSAGE)
    }
}

/// Whether the daemon went away, or is about to: a call was cut off, or not begun.
fn is_gone(status: &Status) -> bool {
    let reason = client::reason(status);
    client::is_gone(status)
        || reason == "SHUTTING_DOWN"
        || (status.code() == Code::Cancelled && reason.is_empty())
}
