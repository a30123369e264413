//! Answers that are not final, given again where the same text and the same reads are shown.
//!
//! One store serves the two views of a comparison. Another is kept with a folder for all its comparisons, and has only the
//! failures that another attempt would repeat.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use lint::{Completeness, Linter, Unit};
use overlay::{ContentHash, WorkspacePath};
use parking_lot::Mutex;
use scheduler::{Cache, Key, ReadChecker};

use super::plan::key;
use crate::{Answer, answer::Computed};

/// The answers of one request that are not final, over those that are kept with its folder.
#[derive(Default)]
pub struct RetryCache {
    own: RetryEntries,
    of_folder: Option<Arc<RetryEntries>>,
}

/// Answers that are not final, with what they rest on. No lock is held while a view is looked at.
#[derive(Default)]
pub(crate) struct RetryEntries(Mutex<HashMap<Key, RetryEntry>>);

#[derive(Clone)]
struct RetryEntry {
    content: ContentHash,
    reads: scheduler::Reads,
    answer: Arc<Answer>,
}

/// Limit of the failures that are kept with a folder. What does not fit is computed by each comparison.
const MAX_UNFINISHED: usize = 4096;

impl RetryCache {
    /// An empty store, over what is kept with the folder.
    pub(crate) fn over(of_folder: Option<Arc<RetryEntries>>) -> Self {
        Self { of_folder, ..Self::default() }
    }

    pub(super) fn add(
        &self,
        cache: &Cache<Answer>,
        linter: &dyn Linter,
        digest: ContentHash,
        units: &[Unit],
        given: &[Computed],
    ) {
        if !linter.profile().is_traced() {
            return;
        }
        for (unit, Computed { answer, reads, .. }) in units.iter().zip(given) {
            let is_unfinished = match answer.completeness {
                Completeness::Partial(_) => true,
                Completeness::Failed(_) => answer.is_deterministic,
                Completeness::Complete | Completeness::Excluded | Completeness::Pending(_) => false,
            };
            let is_known = is_unfinished && answer.lease.is_none() && answer.rests_on(reads);
            let Some(content) = answer.content.filter(|_| is_known) else { continue };
            let Some(reads) = cache.shared_reads(reads) else { continue };
            let unfinished = RetryEntry { content, reads, answer: Arc::clone(answer) };
            self.own.0.lock().insert(key(digest, unit), unfinished);
        }
    }

    /// The answer for this text, if it holds in the view that `checker` looks at.
    pub(super) fn find(
        &self,
        key: &Key,
        content: ContentHash,
        checker: &mut ReadChecker<'_>,
    ) -> Option<Arc<Answer>> {
        let own = self.own.find(key, content, checker);
        own.or_else(|| self.of_folder.as_ref()?.find(key, content, checker))
    }
}

impl RetryEntries {
    fn find(&self, key: &Key, content: ContentHash, checker: &mut ReadChecker<'_>) -> Option<Arc<Answer>> {
        let found = self.0.lock().get(key).filter(|it| it.content == content).cloned();
        found.filter(|it| checker.holds_reads(&it.reads)).map(|it| it.answer)
    }

    /// Forgets what there was about the files `renewed`, and takes the failures among `recorded` that would be repeated, of
    /// files that `is_wanted`.
    pub(crate) fn update(
        &self,
        recorded: &RetryCache,
        renewed: &BTreeSet<WorkspacePath>,
        is_wanted: impl Fn(&WorkspacePath) -> bool,
    ) {
        let mut all = self.0.lock();
        all.retain(|key, _| !renewed.contains(&key.path));
        let room = MAX_UNFINISHED.saturating_sub(all.len());
        let recorded = recorded.own.0.lock();
        let repeated = recorded.iter().filter(|(key, it)| it.answer.is_deterministic && is_wanted(&key.path));
        all.extend(repeated.take(room).map(|(key, it)| (key.clone(), it.clone())));
    }
}
