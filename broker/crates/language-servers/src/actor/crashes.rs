//! Crashes of a server and their causes. Shared by all processes of the server, so that none does the same again.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU64, Ordering},
};

use overlay::ContentHash;
use parking_lot::Mutex;

/// Number of crashes after which a question is not asked again.
const CRASHES: u32 = 2;

/// Maximum number of states and questions whose crashes are remembered.
const MAX_REMEMBERED_CRASHES: usize = 1024;

/// Key of what was asked when a server died.
#[derive(Debug, Clone, Copy)]
pub(super) struct CrashKey {
    pub(super) state: ContentHash,
    pub(super) task: ContentHash,
}

/// Number of crashes of a server: in all, by state and by question.
#[derive(Default)]
pub(crate) struct Crashes {
    by_question: Mutex<HashMap<ContentHash, u32>>,
    all: AtomicU64,
}

impl Crashes {
    /// Counts a crash of any cause.
    pub(super) fn count(&self) {
        self.all.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn all(&self) -> u64 {
        self.all.load(Ordering::Relaxed)
    }

    pub(super) fn remember(&self, key: CrashKey) {
        let mut counts = self.by_question.lock();
        for hash in [key.state, key.task] {
            if counts.len() >= MAX_REMEMBERED_CRASHES {
                counts.clear();
            }
            *counts.entry(hash).or_default() += 1;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all() == 0 && self.by_question.lock().is_empty()
    }

    /// Whether the server has ever died in this state.
    pub(super) fn has(&self, state: ContentHash) -> bool {
        self.by_question.lock().contains_key(&state)
    }

    /// Whether this question is not to be asked again.
    pub(super) fn has_too_many(&self, key: CrashKey) -> bool {
        self.by_question.lock().get(&key.task).is_some_and(|it| *it >= CRASHES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(state: u8, task: usize) -> CrashKey {
        CrashKey { state: ContentHash::of(&[state]), task: ContentHash::of(&task.to_le_bytes()) }
    }

    #[test]
    fn a_question_is_left_alone_and_not_its_state() {
        let crashes = Crashes::default();
        crashes.remember(asked(1, 1));
        assert!(!crashes.has_too_many(asked(1, 1)));
        crashes.remember(asked(1, 1));
        assert!(crashes.has_too_many(asked(1, 1)) && !crashes.has_too_many(asked(1, 2)));
        assert!(crashes.has(asked(1, 0).state) && !crashes.has(asked(2, 0).state));
    }

    #[test]
    fn so_much_is_remembered() {
        let crashes = Crashes::default();
        (0..2 * MAX_REMEMBERED_CRASHES).for_each(|it| crashes.remember(asked(1, it)));
        assert!(crashes.by_question.lock().len() <= MAX_REMEMBERED_CRASHES);
    }
}
