//! Limit of the wait for answers, and the work that goes on after it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use super::Running;

/// Instant at which a check answers with what is known. What is not known then is pending for the reason
/// [`NOT_YET`](crate::NOT_YET).
#[derive(Debug, Clone)]
pub struct Due {
    at: Instant,
    unfinished: Arc<Unfinished>,
}

/// Work of a check that was not done when its answer was due. It is given up when this is dropped, unless others have asked
/// for the same meanwhile.
#[derive(Default)]
pub struct Unfinished(Mutex<Vec<Running>>);

impl std::fmt::Debug for Unfinished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unfinished").finish_non_exhaustive()
    }
}

impl Unfinished {
    pub fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }
}

impl Due {
    pub fn within(time: Duration) -> Self {
        Self { at: Instant::now() + time, unfinished: Arc::default() }
    }

    pub fn unfinished(&self) -> Arc<Unfinished> {
        Arc::clone(&self.unfinished)
    }

    /// The limit for the first of two parts, which leaves the second half of the time.
    #[must_use]
    pub(crate) fn halfway(&self) -> Self {
        let now = Instant::now();
        Self { at: now + self.at.saturating_duration_since(now) / 2, ..self.clone() }
    }

    pub(super) fn keep(&self, running: Running) {
        self.unfinished.0.lock().push(running);
    }

    /// Waits until the answer is due; for ever if it never is.
    pub(super) async fn passed(due: Option<&Self>) {
        match due {
            Some(due) => tokio::time::sleep_until(due.at.into()).await,
            None => std::future::pending().await,
        }
    }
}
