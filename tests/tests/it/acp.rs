//! `broker agent acp` between a client and an agent, each of which is the test: the agent's process passes on what it is told.

use std::{
    fs::{File, OpenOptions},
    io::{BufRead as _, BufReader, Read, Write as _},
    path::PathBuf,
    process::{ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use tests::place::{Ending, Place};

const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Agent whose messages come from one pipe, and whose input goes to another.
const AGENT: &str = r#"cat "$0/says" & exec cat > "$0/hears""#;

/// Lines of a stream, read on a thread of its own.
struct Lines(Receiver<String>);

struct Proxied {
    to_client: Lines,
    messages: Lines,
    client: Option<ChildStdin>,
    to_agent: Lines,
    agent: File,
    program: Ending,
    branch: String,
    mcp: Value,
}

impl Lines {
    /// The stream may be one that is opened only when its other side is.
    fn of<R: Read>(open: impl FnOnce() -> R + Send + 'static) -> Self {
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let mut all = BufReader::new(open()).lines().map_while(Result::ok);
            all.try_for_each(|it| sender.send(it))
        });
        Self(lines)
    }

    fn hear(&self) -> String {
        self.0.recv_timeout(TEST_TIMEOUT).expect("a line")
    }

    fn next(&self) -> Value {
        serde_json::from_str(&self.hear()).unwrap()
    }

    /// The lines up to the end of the stream.
    fn rest(&self) -> String {
        let next = || match self.0.recv_timeout(TEST_TIMEOUT) {
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("the stream goes on"),
            line => line.ok(),
        };
        std::iter::from_fn(next).map(|it| it + "\n").collect()
    }
}

fn pipe(it: &Place, name: &str) -> PathBuf {
    let path = it.own(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

/// A proxy with a session `s`.
fn begin(it: &Place) -> Proxied {
    let (says, hears) = (pipe(it, "says"), pipe(it, "hears"));
    // Open for both, so that it does not wait for the agent.
    let agent = OpenOptions::new().read(true).write(true).open(says).unwrap();
    let folder = it.own("");
    let mut command = it.command(&["agent", "acp", "--", "sh", "-c", AGENT, folder.to_str().unwrap()]);
    let mut program =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (output, errors) = (program.stdout.take().unwrap(), program.stderr.take().unwrap());
    let mut proxied = Proxied {
        to_client: Lines::of(|| output),
        messages: Lines::of(|| errors),
        client: program.stdin.take(),
        to_agent: Lines::of(move || File::open(hears).unwrap()),
        agent,
        program: Ending(program),
        branch: String::new(),
        mcp: Value::Null,
    };
    let initialize = json!({ "protocolVersion": 1, "clientCapabilities": {} });
    proxied.client_asks(0, "initialize", &initialize);
    proxied.agent_answers(0, &json!({ "protocolVersion": 1 }));
    let asked = proxied.client_asks(1, "session/new", &json!({ "cwd": it.root(), "mcpServers": [] }));
    proxied.agent_answers(1, &json!({ "sessionId": "s" }));
    proxied.mcp = asked["params"]["mcpServers"][0].clone();
    proxied.branch = proxied.mcp["args"][5].as_str().unwrap().to_owned();
    proxied
}

impl Proxied {
    /// Sends a request to the agent, which gets the returned one.
    fn client_asks(&mut self, id: u32, method: &str, params: &Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(self.client.as_ref().unwrap(), "{message}").unwrap();
        self.to_agent.next()
    }

    fn agent_says(&mut self, message: &Value) {
        writeln!(self.agent, "{message}").unwrap();
    }

    fn agent_answers(&mut self, id: u32, result: &Value) {
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        self.agent_says(&answer);
        assert_eq!(self.to_client.next(), answer);
    }

    /// Sends a request to the client, which the proxy answers.
    fn agent_asks(&mut self, method: &str, params: &Value) -> Value {
        self.agent_says(&json!({ "jsonrpc": "2.0", "id": 5, "method": method, "params": params }));
        self.to_agent.next()["result"].clone()
    }

    /// Ends a tool call that has a diff; the client gets that message as it is.
    fn agent_edited(&mut self, path: &PathBuf, old: &str, new: &str) {
        let diff = json!({ "type": "diff", "path": path, "oldText": old, "newText": new });
        let update = json!({
            "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed", "content": [diff],
        });
        let params = json!({ "sessionId": "s", "update": update });
        let message = json!({ "jsonrpc": "2.0", "method": "session/update", "params": params });
        self.agent_says(&message);
        assert_eq!(self.to_client.next(), message);
    }

    /// The text that the proxy adds below the diff of the tool call.
    fn added(&self) -> String {
        let update = self.to_client.next()["params"]["update"].clone();
        assert_eq!(
            (&update["sessionUpdate"], &update["toolCallId"]),
            (&json!("tool_call_update"), &json!("t"))
        );
        assert_eq!(update["content"][0]["type"], "diff");
        update["content"][1]["content"]["text"].as_str().unwrap().to_owned()
    }
}

fn place() -> Place {
    Place::new(&[("a.py", "import os\n\nprint(os)\n"), ("ruff.toml", "lint.select = [\"F\"]\n")])
}

#[test]
fn an_edit_stays_on_the_branch_and_comes_with_its_findings() {
    let it = place();
    let file = it.root().join("a.py");
    let (before, after) = (it.read("a.py"), "import os\nimport sys\n\nprint(os)\n");
    let mut proxied = begin(&it);
    proxied.client_asks(2, "session/prompt", &json!({ "sessionId": "s", "prompt": [] }));
    let write = json!({ "sessionId": "s", "path": file, "content": after });
    assert_eq!(proxied.agent_asks("fs/write_text_file", &write), json!({}));
    proxied.agent_edited(&file, &before, after);
    // The end of the turn waits for what is found.
    let done = json!({ "jsonrpc": "2.0", "id": 2, "result": { "stopReason": "end_turn" } });
    proxied.agent_says(&done);
    let (branch, added) = (proxied.branch.clone(), proxied.added());
    assert!(
        added.starts_with(&format!("Broker: with this edit, branch `{branch}` has\n1 new finding\n")),
        "{added}"
    );
    assert!(added.contains("a.py:2:8 ") && added.contains("python/F401"), "{added}");
    let told = proxied.to_client.next()["params"]["update"].clone();
    assert_eq!(told["sessionUpdate"], "agent_message_chunk");
    assert_eq!(proxied.to_client.next(), done);
    let read = proxied.agent_asks("fs/read_text_file", &json!({ "sessionId": "s", "path": file }));
    assert_eq!((read["content"].as_str().unwrap(), it.read("a.py")), (after, before));
    assert_eq!(it.run(&["branch", "read", &branch, "a.py"]).stdout, after.as_bytes());
    assert!(tool_reads(&it, &proxied.mcp).contains("import sys"));
    expect_end(proxied);
    assert_eq!(it.run(&["branch", "commit", &branch]).status.code(), Some(0));
    assert_eq!(it.read("a.py"), after);
}

/// The file as the MCP server has it that the agent was given.
fn tool_reads(it: &Place, server: &Value) -> String {
    let args: Vec<_> = server["args"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    let mut command = it.isolated(server["command"].as_str().unwrap(), &args);
    for variable in server["env"].as_array().unwrap() {
        command.env(variable["name"].as_str().unwrap(), variable["value"].as_str().unwrap());
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let answers = Lines::of(|| output);
    let client = json!({ "name": "test", "version": "1" });
    let begin = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    for (id, method, params) in [
        (1, "initialize", begin),
        (2, "tools/call", json!({ "name": "read_file", "arguments": { "target_file": "a.py" } })),
    ] {
        writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .unwrap();
        if id == 1 {
            answers.next();
            writeln!(input, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
                .unwrap();
        }
    }
    let answer = answers.next()["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    drop(input);
    child.wait().unwrap();
    answer
}

/// The client leaves: the agent is ended, and the user is told where the edits are.
fn expect_end(mut proxied: Proxied) {
    drop(proxied.client.take());
    assert_eq!(proxied.to_agent.rest(), "");
    assert_eq!(proxied.program.0.wait().unwrap().code(), Some(0));
    let messages = proxied.messages.rest();
    assert!(messages.contains("terminals run on the disk, not on the branch"), "{messages}");
    assert!(messages.contains(&format!("the edits are on branch `{}`", proxied.branch)), "{messages}");
}

#[test]
fn an_edit_of_the_disk_has_its_findings_too() {
    let it = place();
    let mut proxied = begin(&it);
    // What is proposed is not found before it is made.
    proxied.agent_edited(&it.root().join("a.py"), "print(os)", "print(missing)");
    it.write("a.py", "import os\nimport sys\n\nprint(os)\n");
    proxied.agent_edited(&it.root().join("a.py"), "import os\n", "import os\nimport sys\n");
    let added = proxied.added();
    assert!(added.starts_with("Broker: this edit of the disk brought\n1 new finding\na.py:2:8 "), "{added}");
    drop(proxied.client.take());
    assert_eq!(proxied.program.0.wait().unwrap().code(), Some(0));
    assert!(!proxied.messages.rest().contains("branch `"));
    assert_eq!(String::from_utf8(it.run(&["branch", "list"]).stdout).unwrap().find("acp-"), None);
}

#[test]
fn an_agent_that_fails_leaves_nothing_behind() {
    let it = place();
    let left = pipe(&it, "left");
    let script = r#"(echo up; exec sleep 1000) > "$0/left" & read line; exit 3"#;
    let folder = it.own("");
    let mut command = it.command(&["agent", "acp", "--", "sh", "-c", script, folder.to_str().unwrap()]);
    let mut program =
        Ending(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let left = Lines::of(move || File::open(left).unwrap());
    let (output, errors) = (program.0.stdout.take().unwrap(), program.0.stderr.take().unwrap());
    let (output, errors) = (Lines::of(|| output), Lines::of(|| errors));
    let client = program.0.stdin.take().unwrap();
    assert_eq!(left.hear(), "up");
    writeln!(&client, r#"{{"jsonrpc":"2.0","id":"x","method":"initialize","params":{{}}}}"#).unwrap();
    let answer = output.next();
    assert_eq!((&answer["id"], &answer["error"]["message"]), (&json!("x"), &json!("the agent has ended")));
    assert_eq!(program.0.wait().unwrap().code(), Some(2));
    assert!(errors.rest().ends_with("error: the agent exited with code 3\n"));
    assert_eq!(left.rest(), "", "what the agent started is gone");
}

#[test]
fn an_agent_that_is_not_there_is_an_error() {
    let it = place();
    let mut command = it.command(&["agent", "acp", "--", "/missing/agent"]);
    let mut program =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The client stays.
    let _client = program.stdin.take();
    let output = program.wait_with_output().unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{messages}");
    assert!(messages.contains("cannot run /missing/agent: "), "{messages}");
    assert!(messages.ends_with("error: the agent exited with code 127\n"), "{messages}");
    assert_eq!(it.run(&["agent", "acp"]).status.code(), Some(2));
}
