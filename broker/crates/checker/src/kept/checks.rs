//! What is kept of a folder, by the way to ask.

use std::{
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::{Duration, Instant},
};

use overlay::ContentHash;

use super::KeptAnswers;

/// What is kept of a folder, by the way to ask.
#[derive(Default)]
pub(crate) struct KeptChecks(Mutex<Vec<Stored>>);

/// What is brought up to date while others use it.
pub(crate) type SharedAnswers = Arc<RwLock<KeptAnswers>>;

struct Stored {
    question: ContentHash,
    kept: SharedAnswers,
    made: Instant,
    took: Duration,
}

/// Ways to ask of which something is kept: that of the configuration, and a few of clients that select rules.
const QUESTIONS: usize = 3;

/// What is not of use any more is made again only if that takes a small part of the time.
const SPARING: u32 = 20;

impl KeptChecks {
    pub(crate) fn find(&self, question: &ContentHash) -> Option<SharedAnswers> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|it| it.question == *question).map(|it| Arc::clone(&it.kept))
    }

    /// Whether it is worth while to learn everything anew.
    pub(crate) fn may_learn(&self, question: &ContentHash) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = all.iter().find(|it| it.question == *question);
        last.is_none_or(|it| it.made.elapsed() > it.took * SPARING)
    }

    pub(crate) fn keep(&self, question: ContentHash, kept: KeptAnswers, took: Duration) -> SharedAnswers {
        let shared = Arc::new(RwLock::new(kept));
        let kept = Arc::clone(&shared);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|it| it.question != question);
        all.insert(0, Stored { question, kept, made: Instant::now(), took });
        all.truncate(QUESTIONS);
        shared
    }
}
