//! The engine: which files, which linters for each, and all their answers in one [`Report`].
//!
//! Knows linters only as [`Linter`] and files only as a [`View`]; never heard of plugins, command lines
//! or output formats.

mod collect;
mod place;
mod report;
mod router;
mod runner;
#[cfg(test)]
pub(crate) mod scripted;
#[cfg(test)]
mod tests;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use lint::{Cancel, Linter};
use overlay::View;

pub use self::{
    collect::{Files, collect},
    report::{
        CheckedFile, Counts, Edit, Finding, FindingCell, Fix, Incomplete, Level, Range, Related, Report,
        RuleRef, Subject,
    },
    router::{Router, SharedLinter},
};

/// How to check.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many jobs run at once.
    pub jobs: usize,
    /// The longest that one linter may take for one file.
    pub timeout: Duration,
    pub cancel: Cancel,
}

impl Default for Options {
    fn default() -> Self {
        Self { jobs: default_jobs(), timeout: Duration::from_secs(30), cancel: Cancel::default() }
    }
}

/// The number of processors.
pub fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Asks every linter about the files it is interested in. `progress` is told, from any thread, how many
/// of how many answers are there.
pub fn check(
    view: &Arc<dyn View>,
    files: Files,
    linters: &[Arc<dyn Linter>],
    options: &Options,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Report {
    let start = Instant::now();
    let router = Router::new(linters);
    let harvest = runner::run(view, &files.units, &router, options, progress);
    let mut report = Report::of(&files.units, harvest);
    report.skip(files.skipped);
    report.linters = linters.iter().map(|it| it.identity().clone()).collect();
    report.duration = start.elapsed();
    report
}
