//! `ToolService`.

use std::sync::Arc;

use agents::{Call, Effect, Preview, PreviewEdit, ToolInfo, ToolList, Tools};
use broker_proto::{v1 as pb, v1::tool_service_server::ToolService};
use serde_json::{Map, Value};
use tonic::{Request, Response, Status, async_trait};
use workspaces::DaemonError;

use super::{from_proto, status};

/// The service, on the agents of a daemon.
#[derive(Clone)]
pub(super) struct ToolFront(pub(super) Arc<dyn Tools>);

#[async_trait]
impl ToolService for ToolFront {
    async fn list_tools(
        &self,
        _: Request<pb::ListToolsRequest>,
    ) -> Result<Response<pb::ListToolsResponse>, Status> {
        let ToolList { tools, instructions } = self.0.list_tools().await.map_err(status::of)?;
        Ok(Response::new(pb::ListToolsResponse {
            tools: tools.into_iter().map(tool).collect(),
            instructions,
        }))
    }

    async fn call_tool(
        &self,
        request: Request<pb::CallToolRequest>,
    ) -> Result<Response<pb::CallToolResponse>, Status> {
        let deadline = from_proto::deadline(request.metadata());
        let pb::CallToolRequest { workspace_id, session, tool, arguments, branch } = request.into_inner();
        let arguments = arguments_of(&arguments)?;
        // The trace is that of the call.
        let (workspace, branch) = (workspace_id, (!branch.is_empty()).then_some(branch));
        let call = Call { workspace, session, branch, tool, arguments, deadline, traceparent: None };
        let reply = self.0.call_tool(call).await.map_err(status::of)?;
        let structured = Value::Object(reply.structured).to_string();
        Ok(Response::new(pb::CallToolResponse { text: reply.text, structured, is_error: reply.is_error }))
    }

    async fn preview_edits(
        &self,
        request: Request<pb::PreviewEditsRequest>,
    ) -> Result<Response<pb::PreviewEditsResponse>, Status> {
        let deadline = from_proto::deadline(request.metadata());
        let pb::PreviewEditsRequest { workspace_id: workspace, before, edits } = request.into_inner();
        let (before, edits) = (preview_edits(before)?, preview_edits(edits)?);
        let preview = Preview { workspace, before, edits, deadline };
        let reply = self.0.preview_edits(preview).await.map_err(status::of)?;
        let structured = Value::Object(reply.structured).to_string();
        Ok(Response::new(pb::PreviewEditsResponse { text: reply.text, structured }))
    }
}

fn preview_edits(edits: Vec<pb::PreviewEdit>) -> Result<Vec<PreviewEdit>, Status> {
    use pb::preview_edit::Edit;
    let edit = |it: pb::PreviewEdit| match it.edit {
        Some(Edit::File(it)) => from_proto::edit(it).map(PreviewEdit::File),
        Some(Edit::Code(it)) => {
            Ok(PreviewEdit::Code { target_file: it.target_file, code_edit: it.code_edit })
        }
        None => Err(DaemonError::invalid("edits", "one of them is empty".to_owned())),
    };
    edits.into_iter().map(edit).collect::<Result<_, _>>().map_err(status::of)
}

fn arguments_of(text: &str) -> Result<Map<String, Value>, Status> {
    if text.is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_str(text).map_err(|error| {
        status::of(DaemonError::invalid("arguments", format!("they are no JSON object: {error}")))
    })
}

fn tool(it: ToolInfo) -> pb::Tool {
    let text = |schema| Value::Object(schema).to_string();
    pb::Tool {
        name: it.name.into_owned(),
        description: it.description.into_owned(),
        effect: effect(it.effect).into(),
        input_schema: text(it.input),
        output_schema: text(it.output),
    }
}

fn effect(it: Effect) -> pb::ToolEffect {
    match it {
        Effect::Reads => pb::ToolEffect::Reads,
        Effect::Edits => pb::ToolEffect::Edits,
        Effect::EditsOnce => pb::ToolEffect::EditsOnce,
        Effect::Destroys => pb::ToolEffect::Destroys,
        Effect::Runs => pb::ToolEffect::Runs,
    }
}
