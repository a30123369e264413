//! Failures of the exporters, for the daemon's log.
//!
//! The exporters report them as events of `tracing`, with each batch anew; each kind is passed on once.

use std::{collections::HashSet, fmt};

use parking_lot::Mutex;
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    Layer,
    layer::{Context, Filter},
};

/// Takes a line for the log.
pub(crate) type Say = Box<dyn Fn(&str) + Send + Sync>;

pub(crate) struct Failures {
    say: Say,
    /// Names of the kinds that were said.
    said: Mutex<HashSet<&'static str>>,
}

impl Failures {
    pub(crate) fn new(say: Say) -> Self {
        Self { say, said: Mutex::default() }
    }
}

impl<S: Subscriber> Layer<S> for Failures {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let name = event.metadata().name();
        let Some(told) = told(name) else { return };
        if !self.said.lock().insert(name) {
            return;
        }
        let mut reason = Reason::default();
        event.record(&mut reason);
        (self.say)(&format!("telemetry: {told}{reason}; further ones are not reported"));
    }
}

/// Returns the text in the log for an event of the exporters, if it has one; others follow from these, or mean that the process
/// ends.
fn told(event: &str) -> Option<&'static str> {
    match event {
        "BatchSpanProcessor.ExportError" => Some("spans could not be sent"),
        "PeriodicReader.ExportError" => Some("metrics could not be sent"),
        "BatchSpanProcessor.SpanDroppingStarted" => Some("spans are dropped, as more come than are sent"),
        _ => None,
    }
}

/// Lets warnings of OpenTelemetry through.
pub(crate) struct OfExporters;

impl<S> Filter<S> for OfExporters {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        metadata.is_event()
            && *metadata.level() <= Level::WARN
            && metadata.target().starts_with("opentelemetry")
    }
}

/// Reason of the failure, if the event has one.
#[derive(Default)]
struct Reason(String);

impl Visit for Reason {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "error" {
            self.0 = format!("{value:?}");
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.trim_matches('"').trim_start_matches("Operation failed: ");
        if text.is_empty() { Ok(()) } else { write!(formatter, " ({text})") }
    }
}
