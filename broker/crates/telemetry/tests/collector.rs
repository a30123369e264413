//! Tests of what a collector gets, and what happens without one. Each case is a process of its own, with real variables: this
//! test program started again to do the work of a small daemon.

#![allow(clippy::unwrap_used, reason = "tests may fail")]

use std::{
    env,
    net::TcpListener,
    process::{Command, Output},
    time::{Duration, Instant},
};

use telemetry::{Fact, Kind, Levels, Operation, Settings, Telemetry, in_current_span};
use telemetry_testkit::{Collector, Received};

/// Context that a client of another process sends as its own span.
const TRACEPARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Time in which a process must have sent what is left.
const LIMIT: Duration = Duration::from_secs(2);

/// Marks the process that works, with how many operations it does.
const WORKER: &str = "TELEMETRY_TEST_OPERATIONS";

/// The process that works.
#[test]
fn worker() {
    let Some(count) = env::var(WORKER).ok().and_then(|it| it.parse().ok()) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let say = |line: &str| eprintln!("{line}");
    let telemetry = match Settings::read(|name| env::var_os(name)) {
        Ok(settings) => settings.map(|it| Telemetry::start(&it, "1.2.3", runtime.handle(), say).unwrap()),
        Err(error) => {
            eprintln!("telemetry is off: {error}");
            None
        }
    };
    if let Some(it) = &telemetry {
        it.observe(|| Levels { workspaces: 1, branches: 2, queued: 3, resident: 4 });
    }
    let start = Instant::now();
    runtime.block_on(async {
        for _ in 0..count {
            call().await;
        }
    });
    println!("worked {} ns", start.elapsed().as_nanos());
    let start = Instant::now();
    if let Some(it) = telemetry {
        it.finish(LIMIT);
    }
    println!("finished {} ms", start.elapsed().as_millis());
}

/// A gRPC call that calls a tool, which checks in a task of its own, leaves a commit undone, and starts a command that runs longer.
async fn call() {
    let headers = [("traceparent".parse().unwrap(), TRACEPARENT.parse().unwrap())].into_iter().collect();
    let call = Operation::start_for(Kind::Call("broker.v1.ToolService/CallTool"), &headers);
    let run = call.around(async {
        let mut tool = Operation::start(Kind::Tool("edit_file"));
        tool.note(Fact::Branch("b"));
        tool.note(Fact::Revision(7));
        let run = tool.around(async {
            tokio::spawn(in_current_span(check())).await.unwrap();
            drop(Operation::start(Kind::Commit));
            Operation::start(Kind::Run)
        });
        let run = run.await;
        tool.fail("tool_error");
        run
    });
    let mut run = run.await;
    call.answered(tonic::Code::Ok);
    run.note(Fact::ExitCode(1));
    run.succeed();
}

async fn check() {
    let mut check = Operation::start(Kind::Check);
    for fact in [Fact::Files(3), Fact::Findings(2), Fact::Cached(4), Fact::Computed(1)] {
        check.note(fact);
    }
    // A library's: it is not ours to send.
    tracing::info_span!("of a library").in_scope(|| tracing::info!("event"));
    check.succeed();
}

fn work(count: usize, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "worker", "--nocapture"]).env(WORKER, count.to_string());
    for (name, _) in env::vars().filter(|it| it.0.starts_with("OTEL_")) {
        command.env_remove(name);
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output
}

/// The number after a word of the worker's.
fn said(output: &Output, word: &str) -> u64 {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let after = text.split_once(word).unwrap_or_else(|| panic!("no `{word}` in {text}")).1;
    after.split_whitespace().next().unwrap().parse().unwrap()
}

fn log(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn collected(protocol: &str) {
    let collector = Collector::start();
    let output = work(
        1,
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.endpoint()),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol),
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20secret"),
            ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test"),
        ],
    );
    assert_eq!(log(&output), "");
    let received = collector.received();
    expect_spans(&received);
    expect_metrics(&received);
    for request in &received.requests {
        assert_eq!(request.headers["authorization"], "Bearer secret", "{}", request.signal);
    }
}

fn expect_spans(received: &Received) {
    let call = received.span("broker.v1.ToolService/CallTool");
    let tool = received.span("tools/call edit_file");
    assert_eq!((&*call.trace, &*call.parent), (&TRACEPARENT[3..35], &TRACEPARENT[36..52]));
    assert_eq!((&tool.parent, &*tool.kind, tool.is_error), (&call.id, "server", true));
    for name in ["check", "run", "commit"] {
        assert_eq!(received.span(name).parent, tool.id, "{name}");
    }
    assert_eq!(received.spans.len(), 5);
    let attributes: Vec<_> =
        received.spans.iter().map(|it| format!("{}: {:?}", it.name, it.attributes)).collect();
    let mut attributes = attributes.join("\n");
    attributes = attributes.replace('"', "");
    assert_eq!(attributes, ATTRIBUTES.trim());
    let resource = &call.resource;
    assert_eq!((&*resource["service.name"], &*resource["service.version"]), ("broker", "1.2.3"));
    assert_eq!(resource["deployment.environment.name"], "test");
}

const ATTRIBUTES: &str = "
check: {broker.answers.cached: 4, broker.answers.computed: 1, broker.files: 3, broker.findings: 2}
commit: {error.type: cancelled}
tools/call edit_file: {broker.branch: b, broker.revision: 7, error.type: tool_error, gen_ai.operation.name: execute_tool, gen_ai.tool.name: edit_file, mcp.method.name: tools/call}
broker.v1.ToolService/CallTool: {rpc.method: broker.v1.ToolService/CallTool, rpc.response.status_code: OK, rpc.system.name: grpc}
run: {process.exit.code: 1}
";

fn expect_metrics(received: &Received) {
    let mut lines = Vec::new();
    for metric in &received.metrics {
        for point in &metric.points {
            lines.push(format!("{} {} {} {:?}", metric.name, metric.unit, point.value, point.attributes));
        }
    }
    lines.sort();
    assert_eq!(lines.join("\n").replace('"', ""), METRICS.trim());
}

const METRICS: &str = "
broker.branches {branch} 2 {}
broker.check.duration s 1 {}
broker.commit.duration s 1 {error.type: cancelled}
broker.errors {error} 1 {broker.operation: commit, error.type: cancelled}
broker.errors {error} 1 {broker.operation: tool, error.type: tool_error}
broker.jobs.queued {job} 3 {}
broker.operations {operation} 1 {broker.operation: call}
broker.operations {operation} 1 {broker.operation: check}
broker.operations {operation} 1 {broker.operation: commit}
broker.operations {operation} 1 {broker.operation: run}
broker.operations {operation} 1 {broker.operation: tool}
broker.run.duration s 1 {}
broker.workspaces {workspace} 1 {}
mcp.server.operation.duration s 1 {error.type: tool_error, gen_ai.operation.name: execute_tool, gen_ai.tool.name: edit_file, mcp.method.name: tools/call}
process.memory.usage By 4 {}
rpc.server.call.duration s 1 {rpc.method: broker.v1.ToolService/CallTool, rpc.response.status_code: OK, rpc.system.name: grpc}
";

#[test]
fn over_http() {
    collected("http/protobuf");
}

#[test]
fn over_grpc() {
    collected("grpc");
}

#[test]
fn one_signal_alone() {
    let collector = Collector::start();
    work(1, &[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &format!("{}/v1/traces", collector.endpoint()))]);
    let received = collector.received();
    assert_eq!((received.spans.len(), received.metrics.len()), (5, 0));
    drop(received);
    work(1, &[("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", &format!("{}/v1/metrics", collector.endpoint()))]);
    let received = collector.received();
    assert_eq!((received.spans.len(), received.metric("broker.check.duration").points.len()), (5, 1));
}

#[test]
fn what_is_not_sampled_is_not_sent_but_measured() {
    let collector = Collector::start();
    let endpoint = collector.endpoint();
    work(3, &[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint), ("OTEL_TRACES_SAMPLER", "always_off")]);
    let received = collector.received();
    assert!(received.spans.is_empty());
    assert!((received.metric("broker.run.duration").points[0].value - 3.0).abs() < f64::EPSILON);
}

#[test]
fn a_bad_setting_is_told_and_nothing_is_sent() {
    let collector = Collector::start();
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*collector.endpoint()),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
    ];
    let output = work(1, &variables);
    let told = "telemetry is off: OTEL_EXPORTER_OTLP_PROTOCOL is `http/json`, and should be `http/protobuf` or `grpc`\n";
    assert_eq!(log(&output), told);
    assert!(collector.received().requests.is_empty());
}

/// A collector that refuses connections, and one that takes them and never answers: the work goes on, and the end waits no longer
/// than it may. The figures are printed; only limits that no machine is too slow for are tested.
#[test]
fn an_absent_collector_holds_up_nothing() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}", silent.local_addr().unwrap());
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let closed = format!("http://{closed}");
    for endpoint in [&silent, &closed] {
        for protocol in ["grpc", "http/protobuf"] {
            let variables =
                [("OTEL_EXPORTER_OTLP_ENDPOINT", &**endpoint), ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)];
            let output = work(2_000, &variables);
            let (worked, finished) = (said(&output, "worked "), said(&output, "finished "));
            println!("{protocol} {endpoint}: {} ns an operation, {finished} ms to finish", worked / 10_000);
            assert!(u128::from(finished) < LIMIT.as_millis() + 500, "{finished} ms");
            let lines = log(&output);
            assert!(lines.lines().all(|it| it.starts_with("telemetry: ")), "{lines}");
            print!("{lines}");
        }
    }
}

/// In this process nothing is collected.
#[test]
fn without_a_collector_operations_are_free() {
    const COUNT: u32 = 1_000_000;
    let start = Instant::now();
    for number in 0..COUNT {
        let mut operation = Operation::start(Kind::Tool("edit_file"));
        operation.note(Fact::Revision(u64::from(std::hint::black_box(number))));
        std::hint::black_box(operation).succeed();
    }
    let took = start.elapsed() / COUNT;
    assert!(!telemetry::is_on());
    println!("{took:?} an operation");
    assert!(took < Duration::from_micros(1), "{took:?}");
    let output = work(100, &[]);
    assert_eq!((said(&output, "finished "), &*log(&output)), (0, ""));
}
