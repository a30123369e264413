//! Tool calls whose content has diffs, as their updates say.

use std::{collections::HashMap, path::PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

/// Identifier of a session, and of a tool call in it.
pub(super) type CallKey = (String, String);

/// Parameters of `session/update`, if they are about a tool call.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UpdateParams {
    session_id: String,
    update: Update,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update {
    session_update: String,
    tool_call_id: String,
    status: Option<String>,
    content: Option<Vec<Value>>,
}

/// File of a diff, with the text that was replaced and the one that replaces it. Either may be a part of the file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileDiff {
    pub(super) path: PathBuf,
    pub(super) old_text: Option<String>,
    pub(super) new_text: String,
}

/// Tool call that is to be checked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CallToCheck {
    pub(super) key: CallKey,
    /// Number of the content: a check of an older one is outdated.
    pub(super) number: u64,
    pub(super) diffs: Vec<FileDiff>,
}

/// Tool calls of all sessions, with their last content.
#[derive(Debug, Default)]
pub(super) struct ToolCalls {
    contents: HashMap<CallKey, (u64, Vec<Value>)>,
    last: u64,
}

impl ToolCalls {
    /// Takes an update in. A tool call with diffs is to be checked when it gets them and when it is completed.
    pub(super) fn update(&mut self, params: UpdateParams) -> Option<CallToCheck> {
        let UpdateParams { session_id, update } = params;
        if !matches!(&*update.session_update, "tool_call" | "tool_call_update") {
            return None;
        }
        let key = (session_id, update.tool_call_id);
        let is_new = update.content.is_some();
        if let Some(content) = update.content {
            self.last += 1;
            self.contents.insert(key.clone(), (self.last, content));
        }
        if !is_new && update.status.as_deref() != Some("completed") {
            return None;
        }
        let (number, content) = self.contents.get(&key)?;
        let diffs: Vec<_> = content.iter().filter_map(diff).collect();
        (!diffs.is_empty()).then_some(CallToCheck { number: *number, diffs, key })
    }

    /// The update that adds a text to the call's content; `None` if the content is no longer the one that was checked.
    pub(super) fn with_text(&self, call: &CallToCheck, text: &str) -> Option<Value> {
        let (number, content) = self.contents.get(&call.key)?;
        if *number != call.number {
            return None;
        }
        let mut content = content.clone();
        content.push(json!({ "type": "content", "content": { "type": "text", "text": text } }));
        Some(json!({ "sessionUpdate": "tool_call_update", "toolCallId": call.key.1, "content": content }))
    }

    /// Forgets the calls of a session, whose turn is over.
    pub(super) fn forget(&mut self, session: &str) {
        self.contents.retain(|key, _| key.0 != session);
    }
}

fn diff(content: &Value) -> Option<FileDiff> {
    (content["type"] == "diff").then(|| FileDiff::deserialize(content).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(update: Value) -> UpdateParams {
        serde_json::from_value(json!({ "sessionId": "s", "update": update })).unwrap()
    }

    fn diff_of(text: &str) -> Value {
        json!({ "type": "diff", "path": "/a", "oldText": null, "newText": text, "_meta": 1 })
    }

    #[test]
    fn a_call_is_checked_with_its_last_content() {
        let mut calls = ToolCalls::default();
        let begin = json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "content": [diff_of("x")] });
        let first = calls.update(params(begin)).unwrap();
        assert_eq!(first.diffs, [FileDiff { path: "/a".into(), old_text: None, new_text: "x".to_owned() }]);
        let run = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "in_progress" });
        assert_eq!(calls.update(params(run)), None);
        let done = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed" });
        assert_eq!(calls.update(params(done)).as_ref(), Some(&first));
        let added = calls.with_text(&first, "f").unwrap();
        let text = json!({ "type": "content", "content": { "type": "text", "text": "f" } });
        assert_eq!(added["content"], json!([diff_of("x"), text]));
        let plain =
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "content": [{ "type": "x" }] });
        assert_eq!(calls.update(params(plain)), None);
        assert_eq!(calls.with_text(&first, "f"), None);
    }

    #[test]
    fn other_updates_are_none_of_a_call() {
        let mut calls = ToolCalls::default();
        let other = json!({ "sessionUpdate": "plan", "toolCallId": "t", "content": [diff_of("x")] });
        assert_eq!(calls.update(params(other)), None);
        let begin = json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "content": [diff_of("x")] });
        let call = calls.update(params(begin)).unwrap();
        calls.forget("s");
        assert_eq!(calls.with_text(&call, "f"), None);
    }
}
