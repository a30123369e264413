//! The chunks that fit a question, the best first.

use std::{cmp::Ordering, collections::BinaryHeap};

use parking_lot::Mutex;

use super::{Chunks, LearnedFile, score::Question, segment::Segment, words::Word};
use crate::{Cancelled, Options, contents::State, parallel};

/// A chunk of a segment or of a learned file, by how well it fits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) score: f32,
    pub(super) segment: Option<usize>,
    pub(super) file: usize,
    pub(super) chunk: usize,
}

impl Candidate {
    /// Returns the order: by score, and the first one of those that are equally good.
    fn order(&self) -> impl Ord + use<> {
        let score = u64::from(self.score.max(0.0).to_bits());
        (score, std::cmp::Reverse((self.segment, self.file, self.chunk)))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

pub(super) fn question(words: &[Word], state: &State<Chunks>, learned: &[LearnedFile]) -> Question {
    let live = || learned.iter().flat_map(|it| it.chunks.iter());
    let chunks = state.segments.iter().map(|it| it.chunks()).sum::<usize>() + live().count();
    let length = state.segments.iter().map(|it| it.words()).sum::<u64>()
        + live().map(|it| u64::from(it.words.length)).sum::<u64>();
    let having = |word| {
        state.segments.iter().map(|it| it.find(word).len()).sum::<usize>()
            + live().filter(|it| it.words.weight(word) > 0).count()
    };
    Question::new(words, chunks, length, having)
}

/// All chunks that have a word of the question.
pub(super) fn best(
    question: &Question,
    state: &State<Chunks>,
    learned: &[LearnedFile],
    options: &Options<'_>,
) -> Result<BinaryHeap<Candidate>, Cancelled> {
    let found = Mutex::new(Vec::new());
    let score = |number: usize, segment: &Segment| {
        let mut scores = vec![0.0; segment.chunks()];
        for it in &question.words {
            for (chunk, weight) in segment.find(it.word) {
                if let Some(score) = scores.get_mut(chunk) {
                    *score += question.score(it.rarity, weight, segment.length(chunk));
                }
            }
        }
        let scores = scores.into_iter().enumerate().filter(|it| it.1 > 0.0);
        let candidates =
            scores.map(|(chunk, score)| Candidate { score, segment: Some(number), file: 0, chunk });
        found.lock().extend(candidates);
    };
    parallel::for_each(&state.segments, options, || (), |(), number, segment| score(number, segment))?;
    let mut found = found.into_inner();
    for (file, it) in learned.iter().enumerate() {
        for (chunk, it) in it.chunks.iter().enumerate() {
            let words = question.words.iter();
            let weights = words.map(|word| (word.rarity, it.words.weight(word.word))).filter(|it| it.1 > 0);
            let score = weights.map(|(rarity, weight)| question.score(rarity, weight, it.words.length)).sum();
            if score > 0.0 {
                found.push(Candidate { score, segment: None, file, chunk });
            }
        }
    }
    Ok(found.into())
}
