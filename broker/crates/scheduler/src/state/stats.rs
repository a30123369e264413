//! Counters of the scheduler.

use std::time::Duration;

/// Counters of a scheduler. All counts but those of [`ClassStats`] are since its start, and all but `running` are of
/// tickets: each accepted ticket is in the end counted once, among `done`, `panicked`, `superseded`, `cancelled`,
/// `shut_down` or `withdrawn`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    pub interactive: ClassStats,
    pub agent: ClassStats,
    pub background: ClassStats,
    pub accepted: u64,
    /// Accepted tickets whose work was already queued or running.
    pub joined: u64,
    pub rejected: u64,
    pub done: u64,
    pub panicked: u64,
    pub superseded: u64,
    pub cancelled: u64,
    pub shut_down: u64,
    /// Tickets that were dropped before their answer.
    pub withdrawn: u64,
}

/// Present load of one class. A task that several tickets wait for runs in the highest of their classes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClassStats {
    /// Tickets of this class whose task has not started.
    pub queued: usize,
    /// Tasks that run in this class.
    pub running: usize,
    /// Microseconds that recent tasks waited before they started.
    pub mean_queue_micros: u64,
    /// Microseconds that recent tasks ran.
    pub mean_run_micros: u64,
}

/// Measurements of one class's tasks.
#[derive(Default)]
pub(super) struct Meter {
    pub(super) running: usize,
    pub(super) queue: RecentMean,
    pub(super) run: RecentMean,
}

/// A mean in which each new value has the weight of a sixteenth.
#[derive(Default)]
pub(super) struct RecentMean(Option<Duration>);

impl RecentMean {
    pub(super) fn record(&mut self, value: Duration) {
        self.0 = Some(self.0.map_or(value, |mean| (mean * 15 + value) / 16));
    }

    /// Zero as long as nothing was recorded.
    pub(super) fn get(&self) -> Duration {
        self.0.unwrap_or_default()
    }

    pub(super) fn micros(&self) -> u64 {
        u64::try_from(self.get().as_micros()).unwrap_or(u64::MAX)
    }
}
