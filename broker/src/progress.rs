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
}

impl Progress {
    pub(crate) fn new(messages: Messages, watched: bool) -> Self {
        Self { messages, watched, start: Instant::now() }
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        self.messages.end_progress();
    }

    /// Called from every worker, after each answer.
    pub(crate) fn update(&self, done: usize, total: usize) {
        if self.watched && self.start.elapsed() >= SHOW_AFTER {
            self.messages.progress(done as u64, || bar(total as u64));
        }
    }
}

fn bar(total: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(10));
    match ProgressStyle::with_template("checking {bar:30} {pos}/{len} {eta}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
