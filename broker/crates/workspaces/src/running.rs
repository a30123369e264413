//! Running checks, and the time after the last of them.

use std::time::Duration;

use tokio::{sync::watch, time::sleep};

/// Counts the checks that run.
pub(super) struct RunningChecks(watch::Sender<usize>);

/// A check that runs until this is dropped.
pub(super) struct RunningCheck<'r>(&'r RunningChecks);

impl Default for RunningChecks {
    fn default() -> Self {
        Self(watch::channel(0).0)
    }
}

impl RunningChecks {
    pub(super) fn begin(&self) -> RunningCheck<'_> {
        self.0.send_modify(|it| *it += 1);
        RunningCheck(self)
    }

    /// Waits until a check begins or ends, and then until none has run for `time`.
    pub(super) async fn quiet_for(&self, time: Duration) {
        let mut running = self.0.subscribe();
        // The sender lives as long as this.
        let _changed = running.changed().await;
        loop {
            let _idle = running.wait_for(|it| *it == 0).await.map(drop);
            tokio::select! {
                _changed = running.changed() => {}
                () = sleep(time) => return,
            }
        }
    }
}

impl Drop for RunningCheck<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|it| *it -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_is_quiet_after_the_last_check() {
        let running = RunningChecks::default();
        let mut quiet = std::pin::pin!(running.quiet_for(Duration::ZERO));
        let mut is_pending = async || {
            tokio::select! {
                biased;
                () = &mut quiet => false,
                () = std::future::ready(()) => true,
            }
        };
        assert!(is_pending().await, "nothing ran yet");
        let (first, second) = (running.begin(), running.begin());
        drop(first);
        assert!(is_pending().await, "one runs");
        drop(second);
        quiet.await;
    }
}
