//! Tries a plugin: whether its findings are those of its fixtures, and what every plugin must hold without being asked.
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

use lint::Cancel;
use plugin_host::Plugin;

use answers::Bench;
pub use fixtures::{Bad, Fixtures};
pub use golden::update;
pub use report::{Check, Finding, Report, Verdict};

/// The longest that one file may take.
const CHECK_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest that one file may take after another took longer than that.
const SHORT_TIMEOUT: Duration = Duration::from_secs(2);

/// Tries all there is to try, until `cancel` is set.
pub fn try_out(plugin: &Plugin, fixtures: &Fixtures, cancel: &Cancel) -> Report {
    let bench = Bench::new(plugin, fixtures, cancel);
    let mut report = Report::default();
    declared::check(&bench, &mut report);
    if report.is_broken() {
        // A plugin that cannot be loaded or configured cannot be asked anything.
        return report;
    }
    let checks = [golden::check, repeat::check, fixes::check, fuzz::check, budget::check];
    for (done, check) in checks.into_iter().enumerate() {
        if bench.is_over() {
            let message = format!("{} more checks were not tried after this", checks.len() - done);
            report.fail(Check::Declaration, "", message);
            break;
        }
        check(&bench, &mut report);
    }
    report.count_causes();
    report
}
