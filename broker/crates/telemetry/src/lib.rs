//! OpenTelemetry traces and metrics of a daemon, sent by OTLP where the environment names a collector.
//!
//! [`Telemetry::start`] reads the standard variables ([`Settings`]) and installs the exporters, which send from threads of
//! their own. An [`Operation`] is one thing that the daemon does: a span, a duration, and a count. What is said of it is a
//! [`Fact`], of which there is a closed set: no text of a file and no argument can become an attribute.
//!
//! Without a collector nothing is installed, and an operation is one look at a static variable.
//!
//! Sends no logs. Knows neither branches nor checks: what an operation means, its caller decides.

mod exporters;
mod failures;
mod http_client;
mod instruments;
mod operation;
mod settings;
mod status;
mod telemetry;

/// Whether anything is collected: values that take time to find out are needed only then.
pub fn is_on() -> bool {
    instruments::Instruments::get().is_some()
}

pub use self::{
    instruments::Levels,
    operation::{Fact, Kind, Operation, in_current_span},
    settings::{SettingError, Settings},
    telemetry::Telemetry,
};
