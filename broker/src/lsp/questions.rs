//! Number of proxied questions that are not answered yet. Checks of open documents let them pass, since a person waits for the
//! answer: a language server does one thing after the other, and a small machine, too.

use std::time::Duration;

use tokio::{sync::watch, time::timeout};

/// Longest time for which a check lets questions pass.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(100);

/// Questions of one session.
pub(super) struct Questions(watch::Sender<usize>);

/// A question that is not answered yet.
pub(super) struct Asking(watch::Sender<usize>);

impl Default for Questions {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Questions {
    pub(super) fn begin(&self) -> Asking {
        self.0.send_modify(|it| *it += 1);
        Asking(self.0.clone())
    }

    /// Waits until all are answered, or for [`ANSWER_TIMEOUT`].
    pub(super) async fn let_pass(&self) {
        let mut open = self.0.subscribe();
        let _in_time = timeout(ANSWER_TIMEOUT, open.wait_for(|it| *it == 0)).await;
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.send_modify(|it| *it -= 1);
    }
}
