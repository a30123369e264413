//! The exporters of a process, from their start to their last batch.

use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use opentelemetry::{
    InstrumentationScope,
    metrics::{Meter, MeterProvider as _, noop::NoopMeterProvider},
    trace::TracerProvider as _,
};
use opentelemetry_sdk::{metrics::SdkMeterProvider, trace::SdkTracerProvider};
use tokio::runtime::Handle;
use tracing::{Metadata, subscriber::set_global_default};
use tracing_subscriber::{Layer as _, Registry, filter::filter_fn, layer::SubscriberExt as _};

use crate::{
    Levels, Settings, exporters,
    failures::{Failures, OfExporters},
    instruments::{self, Instruments},
    operation::TARGET,
};

/// Name and version of what makes the signals.
const SCOPE: &str = "broker";

/// Providers of traces and metrics, which are sent until [`finish`](Telemetry::finish).
pub struct Telemetry {
    traces: Option<SdkTracerProvider>,
    metrics: Option<SdkMeterProvider>,
    meter: Meter,
}

impl Telemetry {
    /// Begins to send, by tasks of `runtime`. Nothing waits for a collector, now or later. `say` gets a line for the log where
    /// sending fails. Only the first one of a process collects.
    pub fn start(
        settings: &Settings,
        version: &'static str,
        runtime: &Handle,
        say: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self, String> {
        // A gRPC channel begins as a task.
        let _entered = runtime.enter();
        let resource = exporters::resource(settings, version);
        let traces = settings
            .traces
            .as_ref()
            .map(|it| exporters::traces(it, resource.clone(), settings.sampler.clone(), runtime));
        let traces = traces.transpose().map_err(|it| it.to_string())?;
        let metrics = settings.metrics.as_ref().map(|it| exporters::metrics(it, resource.clone(), runtime));
        let metrics = metrics.transpose().map_err(|it| it.to_string())?;
        let scope = InstrumentationScope::builder(SCOPE).with_version(version).build();
        let meter = match &metrics {
            Some(it) => it.meter_with_scope(scope.clone()),
            None => NoopMeterProvider::new().meter_with_scope(scope.clone()),
        };
        subscribe(traces.as_ref(), scope, Box::new(say))?;
        Instruments::new(&meter).install();
        Ok(Self { traces, metrics, meter })
    }

    /// Sends levels with the other metrics.
    pub fn observe(&self, read: impl Fn() -> Levels + Send + Sync + 'static) {
        instruments::observe(&self.meter, read);
    }

    /// Sends what is left, and waits for it no longer than `limit`. What is sent later is lost. The runtime must still run, and this
    /// must not be one of its tasks.
    pub fn finish(self, limit: Duration) {
        let (done, both) = mpsc::channel();
        let finishers: [Box<dyn FnOnce() + Send>; 2] = [
            Box::new(move || drop(self.traces.map(|it| it.shutdown_with_timeout(limit)))),
            Box::new(move || drop(self.metrics.map(|it| it.shutdown_with_timeout(limit)))),
        ];
        let n_finishers = finishers.len();
        for finish in finishers {
            let done = done.clone();
            // The library's own limits are longer, or not kept: these threads may outlive the wait.
            thread::spawn(move || {
                finish();
                let _gave_up = done.send(());
            });
        }
        let end = Instant::now() + limit;
        for _ in 0..n_finishers {
            let _late = both.recv_timeout(end.saturating_duration_since(Instant::now()));
        }
    }
}

/// Makes operations spans. Those of libraries are turned off where they are made.
fn subscribe(
    traces: Option<&SdkTracerProvider>,
    scope: InstrumentationScope,
    say: Box<dyn Fn(&str) + Send + Sync>,
) -> Result<(), String> {
    let spans = traces.map(|it| {
        tracing_opentelemetry::layer()
            .with_tracer(it.tracer_with_scope(scope))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_level(false)
            .with_tracked_inactivity(false)
            .with_context_activation(false)
            .with_filter(filter_fn(is_operation))
    });
    let failures = Failures::new(say).with_filter(OfExporters);
    set_global_default(Registry::default().with(spans).with(failures)).map_err(|it| it.to_string())
}

fn is_operation(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && metadata.target() == TARGET
}
