//! Turns at opening and closing workspaces: one at a time for each, and any number of others meanwhile.
//!
//! Opening one takes as long as finding all its directories.

use std::sync::Arc;

use dashmap::DashMap;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Locks of the workspaces that are being opened or closed; others take no room.
#[derive(Default)]
pub(super) struct Openings {
    turns: DashMap<Arc<str>, Arc<Mutex<()>>>,
}

/// Lock on opening and closing a workspace, for as long as it lives.
pub(super) struct Turn<'o> {
    openings: &'o Openings,
    id: Arc<str>,
    guard: Option<OwnedMutexGuard<()>>,
}

impl Openings {
    /// Waits for the turn at the workspace `id`.
    pub(super) async fn turn(&self, id: &str) -> Turn<'_> {
        let id: Arc<str> = id.into();
        let lock = Arc::clone(&self.turns.entry(Arc::clone(&id)).or_default());
        let mut turn = Turn { openings: self, id, guard: None };
        turn.guard = Some(lock.lock_owned().await);
        turn
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.guard = None;
        // Waiting requests hold a reference to the lock, too.
        self.openings.turns.remove_if(&self.id, |_, lock| Arc::strong_count(lock) == 1);
    }
}

#[cfg(test)]
mod tests {
    use std::{future::Future as _, pin::pin, task::Context};

    use super::*;

    #[tokio::test]
    async fn one_at_a_time_for_each_workspace() {
        let openings = Openings::default();
        let first = openings.turn("a").await;
        let other = openings.turn("b").await;
        let mut second = pin!(openings.turn("a"));
        let mut context = Context::from_waker(std::task::Waker::noop());
        assert!(second.as_mut().poll(&mut context).is_pending());
        drop(other);
        drop(first);
        let second = second.await;
        let mut third = Box::pin(openings.turn("a"));
        assert!(third.as_mut().poll(&mut context).is_pending());
        drop(third);
        drop(second);
        assert!(openings.turns.is_empty(), "nothing is left of them");
    }
}
