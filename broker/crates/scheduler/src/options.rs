//! Limits of a scheduler: on what runs at once, and on what waits.

use std::{num::NonZeroUsize, thread, time::Duration};

/// The bounds of one scheduler.
#[derive(Debug, Clone)]
pub struct Options {
    /// Threads that take any task; at least one. They do not take interactive tasks that an idle
    /// interactive thread is about to take.
    pub workers: usize,
    /// Threads that take interactive tasks only, so that a person never waits for a batch to end.
    pub interactive_workers: usize,
    /// Bytes of each thread's stack, for tasks that recurse deeply. What is not used takes no memory.
    pub stack: usize,
    /// The most tickets of one class that may wait for their task to start.
    pub queued: usize,
    /// The most tickets of one branch that may wait for their task to start.
    pub queued_per_branch: usize,
    /// Bytes that running tasks may claim together. One task may always run, whatever it claims.
    pub memory: u64,
    /// The niceness of the threads that take any task, on Linux: interactive threads keep the caller's,
    /// and so get the processor at once. 0 leaves it alone; if it cannot be set, that is ignored.
    pub nice: i32,
    /// Once a background task has waited for longer, one of eight tasks that start is a background task,
    /// whatever agents wait for.
    pub overdue: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            workers: thread::available_parallelism().map_or(1, NonZeroUsize::get),
            interactive_workers: 2,
            stack: 40 << 20,
            queued: 16 * 1024,
            queued_per_branch: 4 * 1024,
            memory: 4 << 30,
            nice: 10,
            overdue: Duration::from_secs(2),
        }
    }
}
