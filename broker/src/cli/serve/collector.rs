//! The collector of OpenTelemetry that the environment names, if it names one.

use std::{env, sync::Arc, time::Duration};

use telemetry::{Levels, Settings, Telemetry};
use tokio::runtime::Runtime;
use workspaces::{Daemon, resident_bytes};

use crate::console::Messages;

/// Time limit at the end of the daemon for the collector to take the rest.
const LAST: Duration = Duration::from_secs(2);

/// Begins to send. What is wrong with the variables is told, and the daemon goes on without.
pub(super) fn start(runtime: &Runtime, messages: &Messages) -> Option<Telemetry> {
    let settings = match Settings::read(|name| env::var_os(name)) {
        Ok(settings) => settings?,
        Err(error) => return refused(messages, &error.to_string()),
    };
    let log = messages.clone();
    let say = move |line: &str| log.line(line);
    match Telemetry::start(&settings, env!("CARGO_PKG_VERSION"), runtime.handle(), say) {
        Ok(telemetry) => Some(telemetry),
        Err(error) => refused(messages, &error),
    }
}

fn refused(messages: &Messages, error: &str) -> Option<Telemetry> {
    messages.warning(&format!("no telemetry is sent: {error}"));
    None
}

/// Sends the daemon's levels with the metrics.
pub(super) fn observe(telemetry: Option<&Telemetry>, daemon: &Arc<Daemon>) {
    let Some(telemetry) = telemetry else { return };
    let daemon = Arc::downgrade(daemon);
    telemetry.observe(move || {
        let levels = daemon.upgrade().map(|it| it.levels()).unwrap_or_default();
        Levels { resident: resident_bytes(), ..levels }
    });
}

pub(super) fn finish(telemetry: Option<Telemetry>) {
    if let Some(telemetry) = telemetry {
        telemetry.finish(LAST);
    }
}
