//! Events that agents send to their hooks: JSON of the same kind, with other names.
//!
//! | agent | before an edit | after it | the tool's arguments |
//! |---|---|---|---|
//! | Claude Code | `PreToolUse` | `PostToolUse` | `Edit`, `MultiEdit`, `Write` |
//! | Codex | the same | the same | `apply_patch` with the patch in `command` |
//! | Cursor | `preToolUse` | `postToolUse`, `afterFileEdit` | `Write`, `Delete`; `file_path` and `edits` |

use std::path::PathBuf;

use serde_json::Value;

/// Event of a hook.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Event {
    pub(super) moment: Moment,
    pub(super) dialect: Dialect,
    pub(super) folder: Option<PathBuf>,
    /// `None` if it is about something else.
    pub(super) edit: Option<Edit>,
}

/// When a hook is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    Before,
    After,
}

/// Whose format it is, and is answered in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Codex has taken over Claude Code's.
    Claude,
    Cursor,
    /// Cursor reads no answer to `afterFileEdit`.
    CursorFileEdited,
}

/// File edit of an agent. Paths are as the agent wrote them.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Edit {
    Write {
        path: PathBuf,
        text: String,
        original: Original,
    },
    Replace {
        path: PathBuf,
        replacements: Vec<Replacement>,
        original: Original,
    },
    /// Patch in codex's form, which names its files.
    Patch(String),
    Delete {
        path: PathBuf,
    },
}

/// Content of a file before an edit, as far as the agent names it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Original {
    Text(String),
    Missing,
    NotSaid,
}

/// Replacement of one piece of text by another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Replacement {
    pub(super) old: String,
    pub(super) new: String,
    /// Whether every occurrence is replaced, not only one.
    pub(super) all: bool,
}

const BEGIN_PATCH: &str = "*** Begin Patch";
const END_PATCH: &str = "*** End Patch";

impl Event {
    pub(super) fn parse(input: &[u8]) -> Result<Self, String> {
        let input: Value = serde_json::from_slice(input).map_err(|error| error.to_string())?;
        let name = text(&input, &["hook_event_name"]).ok_or("it has no `hook_event_name`")?;
        let (moment, dialect) = match name {
            "PreToolUse" => (Moment::Before, Dialect::Claude),
            "PostToolUse" => (Moment::After, Dialect::Claude),
            "preToolUse" => (Moment::Before, Dialect::Cursor),
            "postToolUse" => (Moment::After, Dialect::Cursor),
            "afterFileEdit" => (Moment::After, Dialect::CursorFileEdited),
            other => return Err(format!("`{other}` is no event before or after an edit")),
        };
        let edit = match dialect {
            Dialect::CursorFileEdited => edit(&input, &Value::Null, ""),
            _ => edit(
                &input["tool_input"],
                &input["tool_response"],
                text(&input, &["tool_name"]).unwrap_or_default(),
            ),
        };
        let root = || input["workspace_roots"].get(0)?.as_str();
        let folder = text(&input, &["cwd"]).filter(|it| !it.is_empty()).or_else(root).map(PathBuf::from);
        Ok(Self { moment, dialect, folder, edit })
    }

    /// The event's name in an answer.
    pub(super) fn name(&self) -> &'static str {
        match self.moment {
            Moment::Before => "PreToolUse",
            Moment::After => "PostToolUse",
        }
    }
}

/// Returns the file edit that the arguments of a tool describe, if any.
fn edit(input: &Value, response: &Value, tool: &str) -> Option<Edit> {
    if let Some(patch) = text(input, &["command", "patch", "input"]).and_then(patch) {
        return Some(Edit::Patch(patch.to_owned()));
    }
    let path = PathBuf::from(text(input, &["file_path", "path", "target_file"])?);
    let original = original(response);
    if let Some(text) = text(input, &["content", "contents"]) {
        return Some(Edit::Write { path, text: text.to_owned(), original });
    }
    let replacements = replacements(input);
    if !replacements.is_empty() {
        return Some(Edit::Replace { path, replacements, original });
    }
    tool.eq_ignore_ascii_case("delete").then_some(Edit::Delete { path })
}

/// The patch in an argument, which is one, or a command of a shell that has one in it.
fn patch(text: &str) -> Option<&str> {
    let start = text.find(BEGIN_PATCH).filter(|it| *it == 0 || text[..*it].ends_with('\n'))?;
    let end = text[start..].find(END_PATCH).map_or(text.len(), |it| start + it + END_PATCH.len());
    Some(&text[start..end])
}

fn replacements(input: &Value) -> Vec<Replacement> {
    match input["edits"].as_array() {
        Some(edits) => edits.iter().filter_map(replacement).collect(),
        None => replacement(input).into_iter().collect(),
    }
}

fn replacement(input: &Value) -> Option<Replacement> {
    Some(Replacement {
        old: text(input, &["old_string"])?.to_owned(),
        new: text(input, &["new_string"])?.to_owned(),
        all: input["replace_all"].as_bool().unwrap_or_default(),
    })
}

fn original(response: &Value) -> Original {
    match (&response["originalFile"], response["type"].as_str()) {
        (Value::String(text), _) => Original::Text(text.clone()),
        (Value::Null, Some("create")) => Original::Missing,
        _ => Original::NotSaid,
    }
}

/// The first of these keys that has a text.
fn text<'v>(input: &'v Value, keys: &[&str]) -> Option<&'v str> {
    keys.iter().find_map(|it| input.get(it)?.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(input: &Value) -> Event {
        Event::parse(input.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn claude_code() {
        let edit = parse(&json!({
            "session_id": "1", "transcript_path": "/t", "cwd": "/w", "permission_mode": "default",
            "hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_use_id": "x",
            "tool_input": { "file_path": "/w/a.py", "old_string": "a", "new_string": "b", "replace_all": true },
            "tool_response": { "filePath": "/w/a.py", "originalFile": "a\n", "structuredPatch": [] },
        }));
        insta::assert_debug_snapshot!(edit, @r#"
        Event {
            moment: After,
            dialect: Claude,
            folder: Some(
                "/w",
            ),
            edit: Some(
                Replace {
                    path: "/w/a.py",
                    replacements: [
                        Replacement {
                            old: "a",
                            new: "b",
                            all: true,
                        },
                    ],
                    original: Text(
                        "a\n",
                    ),
                },
            ),
        }
        "#);
        let write = parse(&json!({
            "cwd": "/w", "hook_event_name": "PreToolUse", "tool_name": "Write",
            "tool_input": { "file_path": "/w/a.py", "content": "a\n" },
        }));
        insta::assert_debug_snapshot!(write, @r#"
        Event {
            moment: Before,
            dialect: Claude,
            folder: Some(
                "/w",
            ),
            edit: Some(
                Write {
                    path: "/w/a.py",
                    text: "a\n",
                    original: NotSaid,
                },
            ),
        }
        "#);
        let command = parse(&json!({
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": { "command": "ls" },
        }));
        assert_eq!(command.edit, None);
    }

    #[test]
    fn codex() {
        let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";
        let event = parse(&json!({
            "cwd": "/w", "hook_event_name": "PreToolUse", "turn_id": "1", "tool_name": "apply_patch",
            "tool_input": { "command": patch },
        }));
        assert_eq!(event.edit, Some(Edit::Patch(patch.trim_end().to_owned())));
        let shell = parse(&json!({
            "cwd": "", "workspace_roots": ["/w"], "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": { "command": format!("apply_patch <<'EOF'\n{patch}EOF\n") },
        }));
        assert_eq!(shell.edit, event.edit);
        assert_eq!(shell.folder, Some("/w".into()));
    }

    #[test]
    fn cursor() {
        let event = parse(&json!({
            "hook_event_name": "afterFileEdit", "conversation_id": "1", "workspace_roots": ["/w"],
            "file_path": "/w/a.ts", "edits": [{ "old_string": "a", "new_string": "b" }],
        }));
        insta::assert_debug_snapshot!(event, @r#"
        Event {
            moment: After,
            dialect: CursorFileEdited,
            folder: Some(
                "/w",
            ),
            edit: Some(
                Replace {
                    path: "/w/a.ts",
                    replacements: [
                        Replacement {
                            old: "a",
                            new: "b",
                            all: false,
                        },
                    ],
                    original: NotSaid,
                },
            ),
        }
        "#);
        let delete = parse(&json!({
            "hook_event_name": "preToolUse", "cwd": "/w", "tool_name": "Delete", "tool_input": { "path": "/w/a.ts" },
        }));
        assert_eq!(delete.edit, Some(Edit::Delete { path: "/w/a.ts".into() }));
    }

    #[test]
    fn what_is_none_is_said() {
        assert!(Event::parse(b"").is_err());
        assert_eq!(Event::parse(b"{}").unwrap_err(), "it has no `hook_event_name`");
        let stop = Event::parse(br#"{ "hook_event_name": "Stop" }"#);
        assert_eq!(stop.unwrap_err(), "`Stop` is no event before or after an edit");
    }
}
