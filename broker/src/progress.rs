//! A progress bar for runs that a person waits for.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::console::Messages;

/// A shorter run is over before anybody has read the bar.
const SHOW_AFTER: Duration = Duration::from_secs(1);

pub(crate) struct Progress {
    messages: Messages,
    watched: bool,
    start: Instant,
    template: &'static str,
}

impl Progress {
    pub(crate) fn new(messages: Messages, watched: bool) -> Self {
        Self::with_template(messages, watched, "checking {bar:30} {pos}/{len} {eta}")
    }

    /// One that counts bytes.
    pub(crate) fn of_download(messages: Messages, watched: bool) -> Self {
        Self::with_template(messages, watched, "fetching {bar:30} {bytes}/{total_bytes} {eta}")
    }

    fn with_template(messages: Messages, watched: bool, template: &'static str) -> Self {
        Self { messages, watched, start: Instant::now(), template }
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        self.messages.end_progress();
    }

    /// Called from every worker, after each answer.
    pub(crate) fn update(&self, done: u64, total: u64) {
        if self.watched && self.start.elapsed() >= SHOW_AFTER {
            self.messages.progress(done, || bar(total, self.template));
        }
    }
}

fn bar(total: u64, template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(10));
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
