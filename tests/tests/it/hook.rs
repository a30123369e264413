//! `broker agent hook` as agents call it: what they send on standard input, and their edits on the disk.

use serde_json::{Value, json};
use tests::place::Place;

/// A file with a finding of its own, which is never told.
const OLD: &str = "import os\n";
const NEW: &str = "import os\nimport sys\n";

fn hook(it: &Place, arguments: &[&str], event: &Value) -> Value {
    let output = it.run_with_input(&[&["agent", "hook"], arguments].concat(), &event.to_string());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

fn claude(it: &Place, event: &str, tool: &str, input: &Value, response: &Value) -> Value {
    json!({
        "session_id": "1", "cwd": it.root(), "hook_event_name": event, "tool_name": tool, "tool_input": input,
        "tool_response": response,
    })
}

fn context(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn before_an_edit_an_agent_hears_what_it_would_bring() {
    let it = Place::new(&[("a.py", OLD)]);
    let input =
        json!({ "file_path": it.root().join("a.py"), "old_string": "import os\n", "new_string": NEW });
    let event = claude(&it, "PreToolUse", "Edit", &input, &Value::Null);
    let said = hook(&it, &[], &event);
    assert_eq!(
        context(&said),
        "Broker: this edit would bring\n1 new finding\na.py:2:8 warning python/F401 `sys` imported but unused [fixable]"
    );
    assert_eq!(it.read("a.py"), OLD);
    // A warning refuses nothing, an error does.
    let write = |text: &str| {
        let input = json!({ "file_path": it.root().join("a.py"), "content": text });
        claude(&it, "PreToolUse", "Write", &input, &Value::Null)
    };
    assert_eq!(hook(&it, &["--block"], &event), said);
    assert_eq!(
        hook(&it, &["--block"], &write("def f(:\n"))["hookSpecificOutput"]["permissionDecision"],
        "deny"
    );
    assert_eq!(hook(&it, &[], &write("import os\n\nprint(os)\n")), json!({}));
    // Nothing of it stays.
    assert_eq!(String::from_utf8(it.run(&["branch", "list"]).stdout).unwrap(), "");
}

#[test]
fn after_an_edit_an_agent_hears_what_it_brought() {
    let it = Place::new(&[("a.py", NEW), ("b.py", "import json\n")]);
    let path = it.root().join("a.py");
    let input = json!({ "file_path": path, "old_string": OLD, "new_string": NEW });
    let brought = "Broker: this edit brought\n1 new finding\na.py:2:8 ";
    // The text before the edit is restored by undoing it, or is in the response.
    for response in [Value::Null, json!({ "originalFile": OLD })] {
        let said = hook(&it, &[], &claude(&it, "PostToolUse", "Edit", &input, &response));
        assert!(context(&said).starts_with(brought), "{said}");
    }
    let write = json!({ "file_path": path, "content": NEW });
    let said = hook(&it, &[], &claude(&it, "PostToolUse", "Write", &write, &Value::Null));
    assert!(
        context(&said).starts_with(
            "Broker: what was there before this edit is not known; the files have now\n2 findings"
        ),
        "{said}"
    );
    // Codex's patches are turned around, Cursor's edits undone.
    let patch = "*** Begin Patch\n*** Update File: a.py\n@@\n import os\n+import sys\n*** Add File: b.py\n+import json\n*** End Patch\n";
    let said = hook(
        &it,
        &[],
        &claude(&it, "PostToolUse", "apply_patch", &json!({ "command": patch }), &Value::Null),
    );
    assert!(context(&said).contains("2 new findings") && context(&said).contains("b.py:1:8"), "{said}");
    let cursor = json!({
        "hook_event_name": "postToolUse", "workspace_roots": [it.root()], "tool_name": "Write",
        "tool_input": { "file_path": path, "old_string": OLD, "new_string": NEW },
    });
    let said = hook(&it, &[], &cursor);
    assert!(said["additional_context"].as_str().unwrap().starts_with(brought), "{said}");
}

#[test]
fn what_cannot_be_answered_lets_the_agent_go_on() {
    let it = Place::new(&[("a.py", OLD)]);
    let outside = json!({ "file_path": it.own("x.py"), "content": "import os\n" });
    assert_eq!(hook(&it, &[], &claude(&it, "PreToolUse", "Write", &outside, &Value::Null)), json!({}));
    let command = json!({ "command": "ls" });
    assert_eq!(hook(&it, &[], &claude(&it, "PreToolUse", "Bash", &command, &Value::Null)), json!({}));
    let output = it.run_with_input(&["agent", "hook"], "no JSON");
    // An exit code of 2 would refuse the edit.
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: standard input is nothing that an agent sends to a hook: "), "{said}");
    assert_eq!(it.run(&["agent", "hook", "--timeout", "0"]).status.code(), Some(1));
    // An edit of what is no text is not known to bring nothing.
    std::fs::write(it.root().join("latin.py"), b"x = '\xe9'\n").unwrap();
    let edit = json!({ "file_path": it.root().join("latin.py"), "old_string": "x", "new_string": "y" });
    let event = claude(&it, "PreToolUse", "Edit", &edit, &Value::Null);
    assert_eq!(it.run_with_input(&["agent", "hook"], &event.to_string()).status.code(), Some(1));
}

#[test]
fn a_patch_names_files_as_seen_from_the_agents_folder() {
    let it = Place::new(&[("broker.toml", ""), ("a.py", "x = 1\n"), ("sub/a.py", "x = 1\n")]);
    let event = |name: &str, file: &str| {
        let patch = format!("*** Begin Patch\n*** Update File: {file}\n@@\n-x = 1\n+x = y\n*** End Patch\n");
        let mut event = claude(&it, name, "apply_patch", &json!({ "command": patch }), &Value::Null);
        event["cwd"] = json!(it.root().join("sub"));
        event
    };
    let absolute = it.root().join("sub/a.py").display().to_string();
    for file in ["a.py", absolute.as_str()] {
        let said = hook(&it, &["--block"], &event("PreToolUse", file));
        let reason = said["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
        assert!(reason.contains("\nsub/a.py:1:5 error python/F821"), "{said}");
    }
    // Edits that do not apply to their file are left to the agent.
    assert_eq!(hook(&it, &["--block"], &event("PreToolUse", "none.py")), json!({}));
    it.write("sub/a.py", "x = y\n");
    let said = hook(&it, &["--block"], &event("PostToolUse", "a.py"));
    assert_eq!(said["decision"], "block");
    // A formatter went over it since: what was there before is not known, and nothing is refused.
    it.write("sub/a.py", "x = (\n    y\n)\n");
    let said = hook(&it, &["--block"], &event("PostToolUse", "a.py"));
    assert!(context(&said).starts_with("Broker: what was there before this edit is not known"), "{said}");
    let gone = json!({ "hook_event_name": "postToolUse", "workspace_roots": [it.root()], "tool_name": "Delete",
        "tool_input": { "file_path": it.root().join("gone.py") } });
    assert_eq!(hook(&it, &[], &gone), json!({}));
}

#[test]
fn git_refuses_a_commit_that_brings_something_new() {
    let it = Place::new(&[("a.py", OLD)]);
    it.git(&["init", "--quiet"]);
    it.git(&["add", "."]);
    it.git(&["commit", "--quiet", "-m", "one"]);
    assert!(it.run(&["agent", "hook", "install", "--client", "git", "--write"]).status.success());
    it.write("a.py", NEW);
    it.git(&["add", "."]);
    let commit = || {
        let folder = tests::broker().parent().unwrap().display().to_string();
        let path = format!("{folder}:{}", std::env::var("PATH").unwrap());
        let arguments = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "two"];
        it.isolated("git", &arguments).env("PATH", path).output().unwrap()
    };
    let refused = commit();
    let said =
        String::from_utf8_lossy(&refused.stdout).into_owned() + &String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("F401"), "{said}");
    it.write("a.py", "import os\n\nprint(os)\n");
    it.git(&["add", "."]);
    let passed = commit();
    assert!(passed.status.success(), "{}", String::from_utf8_lossy(&passed.stderr));
}
