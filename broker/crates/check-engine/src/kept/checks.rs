//! Kept answers of a folder, by question.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use overlay::ContentHash;
use parking_lot::{Mutex, RwLock};
use scheduler::Class;
use tokio::sync::OwnedMutexGuard;

use super::FolderIndex;

/// Kept answers of a folder, by question.
#[derive(Default)]
pub(crate) struct KeptChecks {
    kept: Mutex<Vec<Stored>>,
    turns: Mutex<HashMap<(ContentHash, Class), Turns>>,
}

/// Answers that are updated while others use them.
pub(crate) type SharedAnswers = Arc<RwLock<FolderIndex>>;

/// Gives turns, one at a time.
type Turns = Arc<tokio::sync::Mutex<()>>;

/// The right to record a folder for the sake of a comparison, which one of them has at a time.
pub(crate) type RecordingTurn = OwnedMutexGuard<()>;

struct Stored {
    question: ContentHash,
    kept: SharedAnswers,
    made: Instant,
    took: Duration,
}

/// Number of questions of which answers are kept: that of the configuration, and a few of clients that select rules.
const QUESTIONS: usize = 3;

/// Part of the time, as a divisor, that it may take to record anew what has become useless.
const RECORDING_PART: u32 = 20;

impl KeptChecks {
    pub(crate) fn find(&self, question: &ContentHash) -> Option<SharedAnswers> {
        let all = self.kept.lock();
        all.iter().find(|it| it.question == *question).map(|it| Arc::clone(&it.kept))
    }

    /// Whether it is worth while to record the whole folder for the sake of a comparison.
    pub(crate) fn may_record(&self, question: &ContentHash) -> bool {
        let all = self.kept.lock();
        let last = all.iter().find(|it| it.question == *question);
        last.is_none_or(|it| it.made.elapsed() > it.took * RECORDING_PART)
    }

    /// Waits until no other comparison of this class records. Those of a higher class do not wait for a lower one.
    pub(crate) async fn turn_to_record(&self, question: ContentHash, class: Class) -> RecordingTurn {
        let lock = {
            let mut all = self.turns.lock();
            // Drops the turns that no check holds or waits for.
            all.retain(|_, it| Arc::strong_count(it) > 1);
            Arc::clone(all.entry((question, class)).or_default())
        };
        lock.lock_owned().await
    }

    pub(crate) fn keep(&self, question: ContentHash, kept: FolderIndex, took: Duration) -> SharedAnswers {
        let shared = Arc::new(RwLock::new(kept));
        let kept = Arc::clone(&shared);
        let mut all = self.kept.lock();
        all.retain(|it| it.question != question);
        all.insert(0, Stored { question, kept, made: Instant::now(), took });
        all.truncate(QUESTIONS);
        shared
    }
}
