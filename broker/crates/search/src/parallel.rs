//! Work on many items by a few threads.

use std::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};

use crate::{Cancelled, Options};

/// Items for which no other thread is worth its start.
const INLINE_LIMIT: usize = 8;

/// Calls `work` for each item, in about their order. Each thread has a state of its own.
pub(crate) fn for_each<T: Sync, S>(
    items: &[T],
    options: &Options<'_>,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize, &T) + Sync,
) -> Result<(), Cancelled> {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut state = state();
        while !(options.cancel)() {
            let index = next.fetch_add(1, Relaxed);
            let Some(item) = items.get(index) else { break };
            work(&mut state, index, item);
        }
    };
    thread::scope(|scope| {
        let others = if items.len() <= INLINE_LIMIT { 0 } else { options.threads.saturating_sub(1) };
        (0..others).for_each(|_| _ = scope.spawn(run));
        run();
    });
    options.check()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::walk_options;

    #[test]
    fn each_item_is_worked_on_once_by_any_number_of_threads() {
        let walk = walk_options(None);
        for threads in [0, 1, 3] {
            let options = Options { walk: &walk, threads, cancel: &|| false };
            let sum = AtomicU64::new(0);
            let items: Vec<u64> = (0..1000).collect();
            for_each(&items, &options, || (), |(), _, it| _ = sum.fetch_add(*it, Relaxed)).unwrap();
            assert_eq!(sum.into_inner(), 999 * 500);
        }
    }

    #[test]
    fn no_item_is_begun_after_a_cancellation() {
        let walk = walk_options(None);
        let done = AtomicUsize::new(0);
        let options = Options { walk: &walk, threads: 1, cancel: &|| done.load(Relaxed) == 3 };
        let ended = for_each(&[(); 10], &options, || (), |(), _, ()| _ = done.fetch_add(1, Relaxed));
        assert_eq!((ended, done.load(Relaxed)), (Err(Cancelled), 3));
    }
}
