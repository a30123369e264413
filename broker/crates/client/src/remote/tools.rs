//! The API of tools over a connection.

use agents::{Call, Effect, Preview, Reply, ToolList, Tools};
use async_trait::async_trait;
use broker_proto::v1 as pb;
use tonic::{Request, metadata::AsciiMetadataValue};
use workspaces::RequestError;

use super::{Remote, answer, restarted, within};
use crate::{
    error::{is_ended, is_not_open},
    from_wire, to_wire,
};

#[async_trait]
impl Tools for Remote {
    async fn list_tools(&self) -> Result<ToolList, RequestError> {
        let ask = || async { self.tools().list_tools(pb::ListToolsRequest {}).await };
        let listed = from_wire::tools(self.read(ask).await?);
        let effects = listed.tools.iter().map(|it| (it.name.clone().into_owned(), it.effect));
        let _of_this_build = self.effects.set(effects.collect());
        Ok(listed)
    }

    /// A tool that only reads is asked again of a daemon that was started anew. One that edits may have been called, so the agent is
    /// to look.
    async fn call_tool(&self, call: Call) -> Result<Reply, RequestError> {
        let only_reads = self.effects.get().and_then(|it| it.get(&call.tool)) == Some(&Effect::Reads);
        let (deadline, traceparent) = (call.deadline, call.traceparent.clone());
        let message = to_wire::call(call);
        let ask = || async {
            let mut request = within(deadline, message.clone());
            add_trace(&mut request, traceparent.as_deref());
            self.tools().call_tool(request).await
        };
        let answered = if only_reads {
            self.read(ask).await
        } else {
            let openings = self.openings().await;
            match answer(ask().await) {
                // Nothing was done in a workspace that is not open.
                Err(error) if self.connection.reopens() && is_not_open(&error) => {
                    self.open_again(openings).await?;
                    answer(ask().await)
                }
                Err(error) if self.connection.reopens() && is_ended(&error) => {
                    self.open_again(openings).await?;
                    Err(restarted("branch_diff tells whether this was done"))
                }
                answered => answered,
            }
        };
        let pb::CallToolResponse { text, structured, is_error } = answered?;
        Ok(from_wire::reply(text, &structured, is_error))
    }

    async fn preview_edits(&self, preview: Preview) -> Result<Reply, RequestError> {
        let deadline = preview.deadline;
        let message = to_wire::preview(preview);
        let ask = || async { self.tools().preview_edits(within(deadline, message.clone())).await };
        let pb::PreviewEditsResponse { text, structured } = self.read(ask).await?;
        Ok(from_wire::reply(text, &structured, false))
    }
}

/// Adds the trace parent to the metadata. An invalid one is left out: it is no reason to refuse a call.
fn add_trace<T>(request: &mut Request<T>, traceparent: Option<&str>) {
    let traceparent: Option<AsciiMetadataValue> = traceparent.and_then(|it| it.parse().ok());
    if let Some(traceparent) = traceparent {
        request.metadata_mut().insert("traceparent", traceparent);
    }
}
