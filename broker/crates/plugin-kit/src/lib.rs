//! Tries a plugin: whether it finds what its fixtures say, and what every plugin must hold without being asked.
//!
//! Everything goes through the same door as a real check, [`plugin_host`]: a plugin that passes here meets nothing new
//! in a workspace. Builds nothing, prints nothing, and writes fixtures only where [`update`] is asked to.

mod answers;
mod budget;
mod declared;
mod fixes;
mod fixtures;
mod fuzz;
mod golden;
mod repeat;
mod report;

use std::time::Duration;

use plugin_host::Plugin;

use answers::Bench;
pub use fixtures::{Bad, Fixtures};
pub use golden::update;
pub use report::{Check, Finding, Report, Verdict};

/// The longest that one file may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Tries all there is to try.
pub fn try_out(plugin: &Plugin, fixtures: &Fixtures) -> Report {
    let bench = Bench::new(plugin, fixtures);
    let mut report = Report::default();
    declared::check(&bench, &mut report);
    if report.is_broken() {
        // It cannot be asked anything.
        return report;
    }
    golden::check(&bench, &mut report);
    repeat::check(&bench, &mut report);
    fixes::check(&bench, &mut report);
    fuzz::check(&bench, &mut report);
    budget::check(&bench, &mut report);
    report
}
