//! One score of two: by words, and by vectors.
//!
//! The weights are those of a logistic regression over questions of packages that the model was not trained on
//! (`training/fusion.py`).

use std::collections::HashMap;

use super::{CodeMatch, rank::Scores};

/// Weights of the share of the best score by words, of the cosine, and of the reciprocal ranks by each.
const WORDS: f32 = 1.4;
const COSINE: f32 = 14.0;
const RANK_BY_WORDS: f32 = 1.5;
const RANK_BY_COSINE: f32 = 0.7;

/// Constant of reciprocal ranks.
const K: f32 = 5.0;

/// Weight of the cosine where the question is one name: between chunks that have it alike.
const COSINE_OF_NAME: f32 = 1e-4;

/// A chunk in its place, with its scores.
pub(super) struct Resolved {
    pub(super) found: CodeMatch,
    pub(super) scores: Scores,
}

/// Joins the best chunks by words and the best by cosine, each once, with one score.
pub(super) fn fuse(query: &str, by_words: Vec<Resolved>, by_cosine: Vec<Resolved>) -> Vec<CodeMatch> {
    let most = by_words.first().map_or(0.0, |it| it.scores.words).max(f32::MIN_POSITIVE);
    let ranks = |all: &[Resolved]| -> HashMap<_, _> {
        all.iter().enumerate().map(|(rank, it)| (it.found.chunk, rank)).collect()
    };
    let (words, cosines) = (ranks(&by_words), ranks(&by_cosine));
    let is_name = query.split_whitespace().nth(1).is_none();
    let new = by_cosine.into_iter().filter(|it| !words.contains_key(&it.found.chunk));
    let score = |it: &Resolved| {
        if is_name {
            return it.scores.words + COSINE_OF_NAME * it.scores.cosine.max(0.0);
        }
        let rank =
            |ranks: &HashMap<_, usize>| ranks.get(&it.found.chunk).map_or(0.0, |it| K / (K + *it as f32));
        WORDS * it.scores.words / most
            + COSINE * it.scores.cosine.max(0.0)
            + RANK_BY_WORDS * rank(&words)
            + RANK_BY_COSINE * rank(&cosines)
    };
    let all = by_words.into_iter().chain(new);
    all.map(|it| CodeMatch { score: score(&it), ..it.found }).collect()
}
