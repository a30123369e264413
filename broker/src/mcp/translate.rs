//! The daemon's tools and answers as the protocol has them.

use std::sync::Arc;

use broker_proto::v1 as pb;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::Value;
use tonic::Status;

pub(super) fn tool(it: pb::Tool) -> Tool {
    let annotations = annotations(it.effect());
    Tool::new(it.name, it.description, schema(&it.input_schema))
        .with_raw_output_schema(schema(&it.output_schema))
        .with_annotations(annotations)
}

fn schema(text: &str) -> Arc<JsonObject> {
    Arc::new(serde_json::from_str(text).unwrap_or_default())
}

/// What may be left out is left out: every byte of a list costs each model that reads it.
fn annotations(effect: pb::ToolEffect) -> ToolAnnotations {
    let none = ToolAnnotations::new();
    match effect {
        pb::ToolEffect::Reads => none.read_only(true).open_world(false),
        pb::ToolEffect::Edits => none.destructive(false).open_world(false),
        pb::ToolEffect::EditsOnce => none.destructive(false).idempotent(true).open_world(false),
        pb::ToolEffect::Destroys => none.destructive(true).open_world(false),
        pb::ToolEffect::Runs | pb::ToolEffect::Unspecified => none.destructive(false),
    }
}

pub(super) fn result(answer: pb::CallToolResponse) -> CallToolResult {
    let content = vec![ContentBlock::text(answer.text)];
    if answer.is_error {
        return CallToolResult::error(content);
    }
    let mut result = CallToolResult::success(content);
    result.structured_content = serde_json::from_str::<Value>(&answer.structured).ok();
    result
}

/// A call that the daemon could not take, as an error of the tool: the agent may do something about it.
pub(super) fn refusal(status: &Status) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(format!("error: {}", status.message()))])
}
