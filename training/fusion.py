"""Fusion of the scores by words and by vectors."""

import numpy

# Constant of reciprocal ranks.
K = 20
# Share of the vectors in a weighted sum, chosen by `python fusion.py` on the packages of validation.
SHARE = 1.0


def order(scores):
    """The rank of each chunk for each question, from 0."""
    best = numpy.argsort(-scores, axis=1, kind="stable")
    found = numpy.empty_like(best)
    numpy.put_along_axis(found, best, numpy.arange(scores.shape[1])[None, :].repeat(len(scores), 0), 1)
    return found


def reciprocal(words, vectors, k=K):
    return 1 / (k + order(words)) + 1 / (k + order(vectors))


def weighted(words, vectors, share=SHARE):
    """The share of the best score by words, and the cosine in units of its spread over the chunks."""
    best = numpy.maximum(words.max(1, keepdims=True), 1e-9)
    spread = vectors.std(1, keepdims=True) + 1e-6
    return words / best + share * 0.1 * (vectors - vectors.mean(1, keepdims=True)) / spread


def all_of(questions, words, vectors):
    return {"reciprocal ranks": reciprocal(words, vectors), "weighted": weighted(words, vectors)}
