//! The daemon's tools and answers as the protocol has them.

use std::sync::Arc;

use agents::{Effect, Reply, ToolInfo};
use rmcp::model::{CallToolResult, ContentBlock, Tool, ToolAnnotations};
use serde_json::Value;
use workspaces::RequestError;

/// Parts of a result that a client is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parts {
    Text,
    TextAndData,
}

/// Clients that give their model the data in place of the text, which says the same in fewer words, with hints: they get the
/// text alone.
const READ_DATA_ALONE: [&str; 2] = ["claude-code", "codex-mcp-client"];

impl Parts {
    /// By the name that a client gives itself.
    pub(super) fn of_client(name: Option<&str>) -> Self {
        let is_text = name.is_some_and(|it| READ_DATA_ALONE.contains(&it));
        if is_text { Self::Text } else { Self::TextAndData }
    }
}

pub(super) fn tool(it: ToolInfo) -> Tool {
    Tool::new(it.name, it.description, Arc::new(it.input))
        .with_raw_output_schema(Arc::new(it.output))
        .with_annotations(annotations(it.effect))
}

/// The tool as a client is told of it: a schema of the data binds the server to send data.
pub(super) fn listed(tool: &Tool, parts: Parts) -> Tool {
    let mut tool = tool.clone();
    if parts == Parts::Text {
        tool.output_schema = None;
    }
    tool
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

pub(super) fn result(reply: Reply, parts: Parts) -> CallToolResult {
    let content = vec![ContentBlock::text(reply.text)];
    if reply.is_error {
        return CallToolResult::error(content);
    }
    let mut result = CallToolResult::success(content);
    result.structured_content = (parts == Parts::TextAndData).then_some(Value::Object(reply.structured));
    result
}

/// A call that the daemon could not take, as an error of the tool: the agent may do something about it.
pub(super) fn refusal(error: &RequestError) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(format!("error: {error}"))])
}
