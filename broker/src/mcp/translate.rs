//! The daemon's tools and answers as the protocol has them.

use std::sync::Arc;

use agents::{Effect, Reply, ToolInfo};
use rmcp::model::{CallToolResult, ContentBlock, Tool, ToolAnnotations};
use serde_json::Value;
use workspaces::RequestError;

pub(super) fn tool(it: ToolInfo) -> Tool {
    Tool::new(it.name, it.description, Arc::new(it.input))
        .with_raw_output_schema(Arc::new(it.output))
        .with_annotations(annotations(it.effect))
}

/// Annotations of a tool, without all that may be left out: every byte of a list costs each model that reads it.
fn annotations(effect: Effect) -> ToolAnnotations {
    let none = ToolAnnotations::new();
    match effect {
        Effect::Reads => none.read_only(true).open_world(false),
        Effect::Edits => none.destructive(false).open_world(false),
        Effect::EditsOnce => none.destructive(false).idempotent(true).open_world(false),
        Effect::Destroys => none.destructive(true).open_world(false),
        Effect::Runs => none.destructive(false),
    }
}

pub(super) fn result(reply: Reply) -> CallToolResult {
    let content = vec![ContentBlock::text(reply.text)];
    if reply.is_error {
        return CallToolResult::error(content);
    }
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(Value::Object(reply.structured));
    result
}

/// A call that the daemon could not take, as an error of the tool: the agent may do something about it.
pub(super) fn refusal(error: &RequestError) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(format!("error: {error}"))])
}
