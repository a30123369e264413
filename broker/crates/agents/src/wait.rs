//! Limits of the wait for a check: of the call, of the workspace's settings, and of the caller.

use std::time::{Duration, Instant};

use crate::{context::Context, reply::ToolError};

const EDIT: u64 = 5;
const CHECK: u64 = 30;

/// Seconds; a call that waits longer is taken for broken by its client.
const LONGEST: u64 = 600;

/// Kind of a call that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    Edit,
    Check,
}

impl Context {
    /// The longest that a call waits; `asked` are seconds that it names itself.
    pub(crate) async fn wait(&self, kind: Waiting, asked: Option<u64>) -> Result<Duration, ToolError> {
        let settings = self.settings().await?;
        let set = match kind {
            Waiting::Edit => settings.edit_wait.unwrap_or(EDIT),
            Waiting::Check => settings.check_wait.unwrap_or(CHECK),
        };
        let wait = Duration::from_secs(asked.unwrap_or(set).min(LONGEST));
        Ok(self.deadline.map_or(wait, |it| wait.min(before(it))))
    }
}

/// Time until the deadline of a caller, without what an answer takes to reach it.
pub(crate) fn before(deadline: Instant) -> Duration {
    let left = deadline.saturating_duration_since(Instant::now());
    left - (left / 5).min(Duration::from_secs(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_reaches_its_caller_before_the_deadline() {
        let within = |time| before(Instant::now() + Duration::from_secs(time));
        assert!(within(20) <= Duration::from_secs(18) && within(20) > Duration::from_secs(16));
        assert!(within(1) <= Duration::from_millis(800));
        assert_eq!(before(Instant::now()), Duration::ZERO);
    }
}
