//! Times that linters take, answer by answer.

use std::{mem, sync::Arc, time::Duration};

use overlay::WorkspacePath;
use parking_lot::Mutex;

use crate::{OnAnswer, Timing};

/// Time that a linter took for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerTime {
    pub linter: String,
    pub path: WorkspacePath,
    pub duration: Duration,
}

/// The answers that were computed, each with its time.
#[derive(Default)]
pub struct Timings(Mutex<Vec<AnswerTime>>);

impl Timings {
    /// Collects answers in this.
    pub fn collector(self: &Arc<Self>) -> OnAnswer {
        let own = Arc::clone(self);
        Arc::new(move |timing: Option<Timing<'_>>| {
            let Some(Timing { linter, path, took }) = timing else { return };
            let time = AnswerTime { linter: linter.to_owned(), path: path.clone(), duration: took };
            own.0.lock().push(time);
        })
    }

    /// Takes out the times that were collected, the longest first.
    pub fn take(&self) -> Vec<AnswerTime> {
        let mut all = mem::take(&mut *self.0.lock());
        all.sort_by_key(|it| std::cmp::Reverse(it.duration));
        all
    }
}
