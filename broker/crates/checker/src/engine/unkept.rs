//! Answers that are not the last word, for the other view of a comparison.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use lint::{Completeness, Linter, Reads, Scope, Unit};
use overlay::{ContentHash, ReadSet, View};
use scheduler::Key;

use super::plan::key;
use crate::{Answer, answer::Computed};

/// Partial answers of one check, which no other check gets: where another view shows the same, they are the same.
#[derive(Default)]
pub struct Unkept(Mutex<HashMap<Key, Partial>>);

#[derive(Clone)]
struct Partial {
    content: ContentHash,
    reads: Arc<ReadSet>,
    answer: Arc<Answer>,
}

impl Unkept {
    pub(super) fn add(&self, linter: &dyn Linter, digest: ContentHash, units: &[Unit], given: &[Computed]) {
        let profile = linter.profile();
        if profile.scope == Scope::Project || profile.reads == Reads::Context {
            return;
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (unit, Computed { answer, reads, .. }) in units.iter().zip(given) {
            let is_partial = matches!(answer.completeness, Completeness::Partial(_));
            let content = answer.content.filter(|_| is_partial && answer.lease.is_none());
            if let Some(content) = content.filter(|_| answer.rests_on(reads)) {
                let (reads, answer) = (Arc::clone(reads), Arc::clone(answer));
                all.insert(key(digest, unit), Partial { content, reads, answer });
            }
        }
    }

    /// The answer for this text, if it holds in `view`.
    pub(super) fn find(&self, key: &Key, content: ContentHash, view: &dyn View) -> Option<Arc<Answer>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let partial = all.get(key).filter(|it| it.content == content).cloned()?;
        // The view is looked at without the lock.
        drop(all);
        partial.reads.holds_in(view).then_some(partial.answer)
    }
}
