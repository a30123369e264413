//! Limits of a session: its sizes and its timeouts.

use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Limits {
    /// The largest message that is read, in bytes.
    pub message: usize,
    /// Maximum number of bytes that wait for the server to read them.
    pub outbox: usize,
    /// Longest time for which the server may read nothing while something waits.
    pub not_reading: Duration,
    /// Time from the server's start to its answer to `initialize`.
    pub start: Duration,
    /// Time from a change to the diagnostics published for it, for a server that pushes them.
    pub publish: Duration,
    /// Longest silence (no answer, no progress) after a request was given up.
    pub hang: Duration,
    /// Whether `$/cancelRequest` is sent for a request that was given up.
    pub cancels: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message: 64 << 20,
            outbox: 64 << 20,
            not_reading: Duration::from_secs(30),
            start: Duration::from_secs(60),
            publish: Duration::from_secs(60),
            hang: Duration::from_secs(60),
            cancels: true,
        }
    }
}
