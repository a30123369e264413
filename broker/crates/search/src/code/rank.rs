//! The chunks that fit a question, the best first: by its words, and by its vector.

use std::{cmp::Ordering, collections::BinaryHeap};

use parking_lot::Mutex;

use super::{
    Chunks, LearnedFile,
    embedding::{BYTES, Model, Vector, dot},
    score::Question,
    segment::Segment,
    words::Word,
};
use crate::{Cancelled, Options, contents::State, parallel};

/// The least cosine for which a chunk is found that has no word of the question.
const LEAST: f32 = 0.3;

/// A chunk of a segment or of a learned file, by one of its scores.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    score: f32,
    pub(super) scores: Scores,
    pub(super) segment: Option<usize>,
    pub(super) file: usize,
    pub(super) chunk: usize,
}

/// Fit of a chunk to a question.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Scores {
    /// BM25 over words.
    pub(super) words: f32,
    /// Cosine of the angle between the vectors.
    pub(super) cosine: f32,
}

/// All chunks that have to do with a question, the best on top.
pub(super) struct Best {
    pub(super) by_words: BinaryHeap<Candidate>,
    pub(super) by_cosine: BinaryHeap<Candidate>,
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

/// All chunks that have a word of the question, or a vector near to its own.
pub(super) fn best(
    query: &str,
    question: &Question,
    state: &State<Chunks>,
    learned: &[LearnedFile],
    options: &Options<'_>,
) -> Result<Best, Cancelled> {
    let vector = Model::own().of_question(query);
    let found = Mutex::new(Vec::new());
    let score = |number: usize, segment: &Segment| {
        let mut words = vec![0.0; segment.chunks()];
        for it in &question.words {
            for (chunk, weight) in segment.find(it.word) {
                if let Some(score) = words.get_mut(chunk) {
                    *score += question.score(it.rarity, weight, segment.length(chunk));
                }
            }
        }
        let all = words.into_iter().zip(segment.vectors()).enumerate();
        let candidates =
            all.filter_map(|(chunk, (words, it))| candidate(words, &vector, it, Some(number), 0, chunk));
        let candidates: Vec<_> = candidates.collect();
        found.lock().extend(candidates);
    };
    parallel::for_each(&state.segments, options, || (), |(), number, segment| score(number, segment))?;
    let mut found = found.into_inner();
    for (file, it) in learned.iter().enumerate() {
        for (chunk, it) in it.chunks.iter().enumerate() {
            let words = question.words.iter();
            let weights = words.map(|word| (word.rarity, it.words.weight(word.word))).filter(|it| it.1 > 0);
            let words = weights.map(|(rarity, weight)| question.score(rarity, weight, it.words.length)).sum();
            found.extend(candidate(words, &vector, &it.words.vector.to_bytes(), None, file, chunk));
        }
    }
    let by_cosine = found.iter().map(|it| Candidate { score: it.scores.cosine, ..*it }).collect();
    let by_words = found.into_iter().filter(|it| it.score > 0.0).collect();
    Ok(Best { by_words, by_cosine })
}

fn candidate(
    words: f32,
    question: &Vector,
    vector: &[u8; BYTES],
    segment: Option<usize>,
    file: usize,
    chunk: usize,
) -> Option<Candidate> {
    let scores = Scores { words, cosine: dot(question, vector) };
    let is_found = words > 0.0 || scores.cosine >= LEAST;
    is_found.then_some(Candidate { score: words, scores, segment, file, chunk })
}
