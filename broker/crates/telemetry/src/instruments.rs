//! The metrics: durations, counts, and levels that are read when they are sent.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use opentelemetry::{
    KeyValue,
    metrics::{Counter, Histogram, Meter},
};

/// Upper bounds of the durations that are counted together, in seconds.
const BOUNDS: [f64; 18] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
    900.0,
];

static INSTRUMENTS: OnceLock<Instruments> = OnceLock::new();

/// Numbers of things that the process has right now.
#[derive(Debug, Clone, Copy, Default)]
pub struct Levels {
    pub workspaces: u64,
    pub branches: u64,
    /// Jobs that wait for a thread.
    pub queued: u64,
    /// Resident memory in bytes.
    pub resident: u64,
}

/// Operations that are measured together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Call,
    Tool,
    Check,
    Run,
    Commit,
}

impl Group {
    /// Returns the name of the group among the counts.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Tool => "tool",
            Self::Check => "check",
            Self::Run => "run",
            Self::Commit => "commit",
        }
    }
}

pub(crate) struct Instruments {
    calls: Histogram<f64>,
    tools: Histogram<f64>,
    checks: Histogram<f64>,
    runs: Histogram<f64>,
    commits: Histogram<f64>,
    operations: Counter<u64>,
    errors: Counter<u64>,
}

impl Instruments {
    pub(crate) fn new(meter: &Meter) -> Self {
        let duration = |name: &'static str, of: &'static str| {
            let histogram = meter.f64_histogram(name).with_unit("s").with_description(of);
            histogram.with_boundaries(BOUNDS.to_vec()).build()
        };
        let count = |name: &'static str, unit: &'static str, of: &'static str| {
            meter.u64_counter(name).with_unit(unit).with_description(of).build()
        };
        Self {
            calls: duration("rpc.server.call.duration", "Duration of gRPC calls"),
            tools: duration("mcp.server.operation.duration", "Duration of calls of an agent's tools"),
            checks: duration("broker.check.duration", "Duration of checks"),
            runs: duration("broker.run.duration", "Duration of commands, from the request to their end"),
            commits: duration("broker.commit.duration", "Duration of commits of branches"),
            operations: count("broker.operations", "{operation}", "Operations that ended"),
            errors: count("broker.errors", "{error}", "Operations that failed"),
        }
    }

    /// Makes these the process's; the first ones stay.
    pub(crate) fn install(self) {
        let _were_there = INSTRUMENTS.set(self);
    }

    /// Returns the instruments of the process, if there are any: then operations are looked at.
    pub(crate) fn get() -> Option<&'static Self> {
        INSTRUMENTS.get()
    }

    pub(crate) fn record(&self, group: Group, took: Duration, attributes: &[KeyValue], error: Option<&str>) {
        let histogram = match group {
            Group::Call => &self.calls,
            Group::Tool => &self.tools,
            Group::Check => &self.checks,
            Group::Run => &self.runs,
            Group::Commit => &self.commits,
        };
        let mut attributes = attributes.to_vec();
        let error = error.map(|it| KeyValue::new("error.type", it.to_owned()));
        attributes.extend(error.clone());
        histogram.record(took.as_secs_f64(), &attributes);
        let mut counted = vec![KeyValue::new("broker.operation", group.name())];
        self.operations.add(1, &counted);
        if let Some(error) = error {
            counted.push(error);
            self.errors.add(1, &counted);
        }
    }
}

/// Registers what `read` tells, which is asked for each level when metrics are sent.
pub(crate) fn observe(meter: &Meter, read: impl Fn() -> Levels + Send + Sync + 'static) {
    type Level = fn(&Levels) -> u64;
    let levels: [(&str, &str, &str, Level); 4] = [
        ("broker.workspaces", "{workspace}", "Open workspaces", |it| it.workspaces),
        ("broker.branches", "{branch}", "Branches of open workspaces", |it| it.branches),
        ("broker.jobs.queued", "{job}", "Jobs that wait for a thread", |it| it.queued),
        ("process.memory.usage", "By", "Resident memory of the daemon", |it| it.resident),
    ];
    let read = Arc::new(read);
    for (name, unit, of, level) in levels {
        let read = Arc::clone(&read);
        let gauge = meter.u64_observable_gauge(name).with_unit(unit).with_description(of);
        let _registered = gauge.with_callback(move |it| it.observe(level(&read()), &[])).build();
    }
}
