//! Data that a collector of OpenTelemetry receives from a daemon that a command started.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    process::Stdio,
};

use serde_json::{Value, json};
use telemetry_testkit::{Collector, Received, Span};
use tests::place::{Place, told};

const EDIT: &str = "<<<<<<< SEARCH\nimport os\n=======\nimport os\nimport secret_name\n>>>>>>> REPLACE\n";

fn place() -> Place {
    Place::new(&[("a.py", "import os\n"), ("ruff.toml", "lint.select = [\"F\"]\n")])
}

/// Runs the program, whose daemon is to send to `endpoint`.
fn run(it: &Place, endpoint: &str, arguments: &[&str]) -> (i32, String, String) {
    told(it.command(arguments).env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint).output().unwrap())
}

fn tool(it: &Place, collector: &Collector, name: &str, arguments: &Value) -> i32 {
    run(
        it,
        &collector.endpoint(),
        &["agent", "tool", name, "--session", "s", "--json", &arguments.to_string()],
    )
    .0
}

/// Ends the daemon, which sends what is left before.
fn stop(it: &Place) {
    assert_eq!(told(it.run(&["daemon", "stop"])).0, 0);
}

/// The span of a tool's call, and the gRPC call that it is a part of.
fn called<'r>(received: &'r Received, tool: &str) -> (&'r Span, &'r Span) {
    let span = received.span(&format!("tools/call {tool}"));
    let parent = received.spans.iter().find(|it| it.id == span.parent);
    (span, parent.unwrap_or_else(|| panic!("{tool} has no parent")))
}

#[test]
fn what_an_agent_does_is_a_trace() {
    let (it, collector) = (place(), Collector::start());
    assert_eq!(tool(&it, &collector, "edit_file", &json!({ "target_file": "a.py", "code_edit": EDIT })), 0);
    assert_eq!(tool(&it, &collector, "read_file", &json!({ "target_file": "missing" })), 1);
    assert_eq!(tool(&it, &collector, "branch_commit", &json!({})), 0);
    assert_eq!(tool(&it, &collector, "secret_name", &json!({})), 1);
    stop(&it);
    let received = collector.received();
    let (edit, call) = called(&received, "edit_file");
    assert_eq!(
        (&*call.name, &*call.attributes["rpc.response.status_code"]),
        ("broker.v1.ToolService/CallTool", "OK")
    );
    assert_eq!((&*edit.attributes["gen_ai.tool.name"], edit.is_error), ("edit_file", false));
    assert!(edit.attributes.contains_key("broker.branch") && edit.attributes.contains_key("broker.revision"));
    let check = received.span("check");
    assert_eq!((&check.trace, &check.parent), (&edit.trace, &edit.id));
    for fact in ["broker.files", "broker.findings", "broker.answers.cached", "broker.answers.computed"] {
        assert!(check.attributes.contains_key(fact), "{fact}: {:?}", check.attributes);
    }
    let (read, _) = called(&received, "read_file");
    assert_eq!((&*read.attributes["error.type"], read.is_error), ("tool_error", true));
    let (commit, _) = called(&received, "branch_commit");
    assert_eq!(received.span("commit").parent, commit.id);
    called(&received, "_OTHER");
    expect_metrics(&received);
    // Neither a text nor an argument.
    let all = format!("{:?} {:?}", received.spans, received.metrics);
    assert!(!all.contains("secret_name") && !all.contains("a.py"), "{all}");
}

fn expect_metrics(received: &Received) {
    let tools = received.metric("mcp.server.operation.duration");
    assert_eq!((&*tools.unit, tools.points.len()), ("s", 4));
    for name in ["rpc.server.call.duration", "broker.check.duration", "broker.commit.duration"] {
        assert!(received.metric(name).points.iter().all(|it| it.sum.is_some()), "{name}");
    }
    let level = |name: &str| received.metric(name).points[0].value;
    assert!((level("broker.workspaces") - 1.0).abs() < f64::EPSILON);
    assert!(level("broker.branches") > 0.0);
    assert!(level("process.memory.usage") > 1e6 || !cfg!(target_os = "linux"));
    assert!(level("broker.jobs.queued") >= 0.0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_is_a_span_with_its_exit_code() {
    let (it, collector) = (place(), Collector::start());
    let script = "echo secret_name; exit 3";
    run(&it, &collector.endpoint(), &["branch", "fork", "b"]);
    let (exit, _, stderr) =
        run(&it, &collector.endpoint(), &["run", "--branch", "b", "--", "sh", "-c", script]);
    assert_eq!(exit, 3, "{stderr}");
    stop(&it);
    let received = collector.received();
    let run = received.span("run");
    assert_eq!(
        (&*run.attributes["process.exit.code"], &*run.attributes["broker.branch"], run.is_error),
        ("3", "b", false)
    );
    assert_eq!(received.metric("broker.run.duration").points.len(), 1);
    assert!(!format!("{:?}", received.spans).contains("secret_name"));
}

#[test]
fn a_client_of_mcp_is_the_parent() {
    let (it, collector) = (place(), Collector::start());
    let mut command = it.command(&["agent", "mcp"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut send = |message: Value| writeln!(input, "{message}").unwrap();
    let client = json!({ "name": "test", "version": "1" });
    let begin = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    send(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin }));
    answers.next().unwrap().unwrap();
    send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let meta = json!({ "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" });
    let call = json!({ "name": "list_dir", "arguments": {}, "_meta": meta });
    send(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }));
    answers.next().unwrap().unwrap();
    drop(input);
    child.wait().unwrap();
    stop(&it);
    let received = collector.received();
    let (tool, call) = called(&received, "list_dir");
    assert_eq!((&*call.parent, &*tool.trace), ("b7ad6b7169203331", "0af7651916cd43dd8448eb211c80319c"));
}

#[test]
fn a_bad_address_is_told_and_the_daemon_serves() {
    let it = place();
    assert_eq!(run(&it, "localhost:4317", &["branch", "fork", "b"]).0, 0);
    let log = fs::read_to_string(it.own("run/broker.log")).unwrap();
    let told = "warning: no telemetry is sent: OTEL_EXPORTER_OTLP_ENDPOINT is `localhost:4317`, and should be an address \
        that begins with `http://` or `https://`\n";
    assert!(log.contains(told), "{log}");
}

#[test]
fn without_a_collector_nothing_hangs() {
    let it = place();
    assert_eq!(run(&it, "http://127.0.0.1:9", &["branch", "fork", "b"]).0, 0);
    stop(&it);
}
