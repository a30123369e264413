//! Limit of the directories that this process watches: a part of the user's limit, which all of the user's programs share.

use std::{
    collections::HashSet,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::WorkspacePath;

/// Limit assumed where the system gives none.
const DEFAULT_MAX_WATCHES: usize = 8192;

/// Highest limit, however large the system's is: each watch takes about a kilobyte of the kernel's memory.
const MAX_WATCHES: usize = 250_000;

/// The directories that one watch watches, of the number that all of them may.
pub(super) struct Share {
    pub(super) limit: usize,
    used: Arc<AtomicUsize>,
    own: HashSet<WorkspacePath>,
}

impl Share {
    /// Creates a share without any directory.
    pub(super) fn new() -> Self {
        static USED: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);
        static LIMIT: LazyLock<usize> = LazyLock::new(|| (of_user() / 2).min(MAX_WATCHES));
        Self::of(*LIMIT, Arc::clone(&USED))
    }

    pub(super) fn of(limit: usize, used: Arc<AtomicUsize>) -> Self {
        Self { limit, used, own: HashSet::new() }
    }

    /// Whether `directory` may be watched. Asking again costs nothing.
    pub(super) fn take(&mut self, directory: &WorkspacePath) -> bool {
        if self.own.contains(directory) {
            return true;
        }
        let more = |used| (used < self.limit).then_some(used + 1);
        let is_left = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok();
        is_left && self.own.insert(directory.clone())
    }

    /// A directory that is gone is watched no more.
    pub(super) fn give_back(&mut self, directory: &WorkspacePath) {
        if self.own.remove(directory) {
            self.used.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.used.fetch_sub(self.own.len(), Ordering::Relaxed);
    }
}

/// Returns the system's limit for all programs of a user.
#[expect(clippy::disallowed_methods, reason = "a number of the system's, in no workspace")]
fn of_user() -> usize {
    let told = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches");
    told.ok().and_then(|it| it.trim().parse().ok()).unwrap_or(DEFAULT_MAX_WATCHES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_shares_together_stay_within_the_limit() {
        let path = |text: &str| WorkspacePath::new(text).unwrap();
        let used = Arc::<AtomicUsize>::default();
        let mut one = Share::of(3, Arc::clone(&used));
        let mut other = Share::of(3, Arc::clone(&used));
        assert!(one.take(&path("a")) && one.take(&path("b")) && one.take(&path("a")));
        assert!(other.take(&path("a")) && !other.take(&path("b")));
        one.give_back(&path("b"));
        one.give_back(&path("never taken"));
        assert!(other.take(&path("b")) && !one.take(&path("c")));
        drop(other);
        assert!(one.take(&path("c")) && one.take(&path("d")) && !one.take(&path("e")));
        drop(one);
        assert_eq!(used.load(Ordering::Relaxed), 0);
    }
}
