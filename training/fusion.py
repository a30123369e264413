"""Fusion of the scores by words and by vectors.

`fusion.py` chooses the constants on the packages of validation: of reciprocal ranks by trying, of the sum by logistic regression over
the candidates of each question.
"""

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

import numpy  # noqa: E402

# Constant of reciprocal ranks.
K = 5
# Weights of `FEATURES` in a sum.
WEIGHTS = (1.4, 14.0, 1.5, 0.7)
FEATURES = ("share of the best BM25", "cosine", "reciprocal rank by BM25", "reciprocal rank by cosine")
# Best chunks by each that are considered.
CANDIDATES = 100


def order(scores):
    """The rank of each chunk for each question, from 0."""
    best = numpy.argsort(-scores, axis=1, kind="stable")
    found = numpy.empty_like(best)
    numpy.put_along_axis(found, best, numpy.arange(scores.shape[1])[None, :].repeat(len(scores), 0), 1)
    return found


def reciprocal(words, vectors, k=K):
    return 1 / (k + order(words)) + 1 / (k + order(vectors))


def features(words, vectors):
    best = numpy.maximum(words.max(1, keepdims=True), 1e-9)
    return numpy.stack([words / best, vectors, K / (K + order(words)), K / (K + order(vectors))], -1)


def weighted(words, vectors, weights=WEIGHTS):
    return features(words, vectors) @ numpy.array(weights)


def is_name(question):
    """Whether a question is one identifier: its words decide, and vectors only between equals."""
    return len(question.split()) == 1


def all_of(questions, words, vectors):
    found = {"reciprocal ranks": reciprocal(words, vectors), "weighted": weighted(words, vectors)}
    for number, question in enumerate(questions):
        if is_name(question):
            for it in found.values():
                it[number] = words[number] + 1e-4 * vectors[number]
    return found


def fit(groups):
    """Weights that make the right candidate likely, over (features, number of the right one)."""
    weights = numpy.array(WEIGHTS)
    first, second = numpy.zeros(len(weights)), numpy.zeros(len(weights))
    for step in range(1, 401):
        gradient = numpy.zeros(len(weights))
        for given, right in groups:
            likely = given @ weights
            likely = numpy.exp(likely - likely.max())
            gradient += given.T @ (likely / likely.sum()) - given[right]
        gradient /= len(groups)
        first, second = 0.9 * first + 0.1 * gradient, 0.99 * second + 0.01 * gradient**2
        weights = weights - 0.1 * first / (1 - 0.9**step) / (numpy.sqrt(second / (1 - 0.99**step)) + 1e-9)
    return weights


def main():
    import evaluate
    import model
    import packages

    static = model.Model(f"{packages.CACHE}/model.bin")
    groups, tried = [], {it: [] for it in (1, 3, 5, 10, 20, 60)}
    for pool in evaluate.pools("valid", n_questions=100):
        scores = evaluate.scored(pool, pool.questions, {"static": static})
        words, vectors = scores["BM25"], scores["static"]
        for k, found in tried.items():
            found += evaluate.ranks(reciprocal(words, vectors, k), pool.right).tolist()
        given, near = features(words, vectors), numpy.minimum(order(words), order(vectors)) < CANDIDATES
        for number, right in enumerate(pool.right):
            if near[number, right]:
                of = numpy.flatnonzero(near[number])
                groups.append((given[number, of], int(numpy.searchsorted(of, right))))
    for k, found in tried.items():
        print(f"reciprocal ranks, k = {k}: NDCG@10 {evaluate.measures(found)['ndcg']:.4f}")
    print(f"weights over {len(groups)} questions:", dict(zip(FEATURES, fit(groups).round(2).tolist())))


if __name__ == "__main__":
    main()
