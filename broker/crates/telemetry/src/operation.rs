//! Operation of the daemon: a span with its attributes, a duration and a count.

use std::{borrow::Cow, time::Instant};

use http::HeaderMap;
use opentelemetry::{
    KeyValue, Value,
    propagation::TextMapPropagator as _,
    trace::{Status, TraceContextExt as _},
};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tonic::Code;
use tracing::{Instrument as _, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::{
    instruments::{Group, Instruments},
    status,
};

/// Target of the spans that are sent; those of libraries have another.
pub(crate) const TARGET: &str = "broker::operation";

/// The error of an operation that is dropped before it ended: its caller left.
const CANCELLED: &str = "cancelled";

/// Kind of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind<'n> {
    /// A gRPC call, by `package.Service/Method`.
    Call(&'n str),
    /// A call of an agent's tool. Names come from a list: each is one more series of metrics.
    Tool(&'n str),
    Check,
    /// A command.
    Run,
    /// A branch is written to the disk.
    Commit,
}

/// Attribute of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact<'f> {
    Branch(&'f str),
    Revision(u64),
    Files(usize),
    Findings(usize),
    /// Answers of linters that were kept from before.
    Cached(usize),
    /// Answers of linters that were asked.
    Computed(usize),
    ExitCode(i32),
}

/// An operation that is under way; nothing, if nothing is collected. Ends when it is dropped: as cancelled, unless it ended before.
#[must_use = "it ends when it is dropped"]
pub struct Operation(Option<Box<Open>>);

struct Open {
    instruments: &'static Instruments,
    span: Span,
    start: Instant,
    group: Group,
    /// Attributes of the metrics, which have few values.
    attributes: Vec<KeyValue>,
    ended: bool,
}

impl Operation {
    /// Starts one within that which is under way here.
    pub fn start(kind: Kind<'_>) -> Self {
        Self(Instruments::get().map(|it| Box::new(Open::new(it, kind))))
    }

    /// Starts one within that of a client, if its headers name it.
    pub fn start_for(kind: Kind<'_>, headers: &HeaderMap) -> Self {
        let operation = Self::start(kind);
        if let Some(open) = &operation.0
            && headers.contains_key("traceparent")
        {
            let parent = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
            // Without traces there is no span to have a parent.
            let _unheard = open.span.set_parent(parent);
        }
        operation
    }

    /// Does `work` as a part of this.
    pub fn around<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        work.instrument(self.0.as_ref().map_or_else(Span::none, |it| it.span.clone()))
    }

    pub fn note(&mut self, fact: Fact<'_>) {
        if let Some(open) = &mut self.0 {
            open.note(fact);
        }
    }

    /// Ends a gRPC call with its status.
    pub fn answered(mut self, code: Code) {
        let name = status::name(code);
        if let Some(open) = &mut self.0 {
            open.answered(name);
        }
        self.end(status::is_failure(code).then_some(name));
    }

    /// Ends well.
    pub fn succeed(self) {
        self.end(None);
    }

    /// Ends with an error. The reason is one of few words, no message.
    pub fn fail(self, reason: &str) {
        self.end(Some(reason));
    }

    pub fn end(mut self, error: Option<&str>) {
        if let Some(open) = &mut self.0 {
            open.end(error);
        }
    }
}

/// Lets a task that is spawned from here belong to the operation that is under way here.
pub fn in_current_span<F: Future>(work: F) -> impl Future<Output = F::Output> + use<F> {
    work.in_current_span()
}

impl Open {
    fn new(instruments: &'static Instruments, kind: Kind<'_>) -> Self {
        let attributes = kind.attributes();
        let span = kind.span();
        set(&span, attributes.iter().cloned());
        Self { instruments, span, start: Instant::now(), group: kind.group(), attributes, ended: false }
    }

    fn note(&mut self, fact: Fact<'_>) {
        set(&self.span, [fact.attribute()]);
    }

    /// A status is one of few, and an attribute of the metrics, too.
    fn answered(&mut self, status: &'static str) {
        let attribute = KeyValue::new("rpc.response.status_code", status);
        self.attributes.push(attribute.clone());
        set(&self.span, [attribute]);
    }

    fn end(&mut self, error: Option<&str>) {
        self.ended = true;
        if let Some(error) = error {
            set(&self.span, [KeyValue::new("error.type", error.to_owned())]);
            self.span.set_status(Status::error(""));
        }
        // Not when the last part of it is dropped: a command in the background is a part of the call that started it.
        self.span.context().span().end();
        self.instruments.record(self.group, self.start.elapsed(), &self.attributes, error);
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.ended {
            self.end(Some(CANCELLED));
        }
    }
}

impl<'n> Kind<'n> {
    fn group(self) -> Group {
        match self {
            Self::Call(_) => Group::Call,
            Self::Tool(_) => Group::Tool,
            Self::Check => Group::Check,
            Self::Run => Group::Run,
            Self::Commit => Group::Commit,
        }
    }

    fn span(self) -> Span {
        let (name, kind): (Cow<'n, str>, _) = match self {
            Self::Call(method) => (method.into(), "server"),
            Self::Tool(tool) => (format!("tools/call {tool}").into(), "server"),
            Self::Check | Self::Run | Self::Commit => (self.group().name().into(), "internal"),
        };
        tracing::info_span!(target: TARGET, "operation", otel.name = &*name, otel.kind = kind)
    }

    /// Returns the attributes, by the semantic conventions for RPC, and those for MCP.
    fn attributes(self) -> Vec<KeyValue> {
        match self {
            Self::Call(method) => {
                vec![KeyValue::new("rpc.system.name", "grpc"), KeyValue::new("rpc.method", method.to_owned())]
            }
            Self::Tool(tool) => vec![
                KeyValue::new("mcp.method.name", "tools/call"),
                KeyValue::new("gen_ai.operation.name", "execute_tool"),
                KeyValue::new("gen_ai.tool.name", tool.to_owned()),
            ],
            Self::Check | Self::Run | Self::Commit => Vec::new(),
        }
    }
}

impl Fact<'_> {
    fn attribute(self) -> KeyValue {
        let count = |it: usize| Value::I64(i64::try_from(it).unwrap_or(i64::MAX));
        match self {
            Self::Branch(name) => KeyValue::new("broker.branch", name.to_owned()),
            Self::Revision(it) => KeyValue::new("broker.revision", i64::try_from(it).unwrap_or(i64::MAX)),
            Self::Files(it) => KeyValue::new("broker.files", count(it)),
            Self::Findings(it) => KeyValue::new("broker.findings", count(it)),
            Self::Cached(it) => KeyValue::new("broker.answers.cached", count(it)),
            Self::Computed(it) => KeyValue::new("broker.answers.computed", count(it)),
            Self::ExitCode(it) => KeyValue::new("process.exit.code", i64::from(it)),
        }
    }
}

fn set(span: &Span, attributes: impl IntoIterator<Item = KeyValue>) {
    for KeyValue { key, value, .. } in attributes {
        span.set_attribute(key, value);
    }
}
