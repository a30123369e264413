//! Score of a chunk for a question: Okapi BM25 over words.
//!
//! S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond". What a chunk defines counts in a
//! word's weight as if it stood there several times.

use super::words::Word;

/// Parameters of BM25: saturation by repeated words, and normalization by the length of chunks.
const K1: f32 = 1.2;
const B: f32 = 0.6;

/// The words of a question, and what they say in a collection of chunks.
pub(super) struct Question {
    pub(super) words: Vec<Scored>,
    average_length: f32,
}

pub(super) struct Scored {
    pub(super) word: Word,
    /// More for a word that few chunks have.
    pub(super) rarity: f32,
}

impl Question {
    /// `having` says how many of all `chunks` have a word.
    pub(super) fn new(words: &[Word], chunks: usize, length: u64, having: impl Fn(Word) -> usize) -> Self {
        let rarity = |word: Word| {
            let (all, having) = (chunks as f32, having(word) as f32);
            (1.0 + (all - having + 0.5).max(0.0) / (having + 0.5)).ln()
        };
        let words = words.iter().map(|it| Scored { word: *it, rarity: rarity(*it) }).collect();
        Self { words, average_length: (length as f32 / chunks.max(1) as f32).max(1.0) }
    }

    /// Returns what one word of weight `weight` adds to the score of a chunk.
    pub(super) fn score(&self, rarity: f32, weight: u8, length: u32) -> f32 {
        let weight = f32::from(weight);
        let relative = length as f32 / self.average_length;
        rarity * weight * (K1 + 1.0) / (weight + K1 * (1.0 - B + B * relative))
    }

    /// The share of the question that these words are.
    pub(super) fn share(&self, words: &[Word]) -> f32 {
        let all: f32 = self.words.iter().map(|it| it.rarity).sum();
        let found = self.words.iter().filter(|it| words.contains(&it.word));
        found.map(|it| it.rarity).sum::<f32>() / all.max(f32::MIN_POSITIVE)
    }
}
