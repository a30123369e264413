"""Training of the table on pairs of documentation and code, by contrast within a batch.

A batch has one language. It is made of blocks, each of one package, so that most of what a question is told apart from is similar
code; a chunk that BM25 mistakes for the answer is added for each question. Rows that the pairs hardly touch follow the others by a
linear map from MiniLM's vectors.
"""

import argparse
import json
import os
import time

# Before numpy is loaded: the result depends on the number of threads.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

import numpy  # noqa: E402
import scipy.sparse  # noqa: E402

import bm25  # noqa: E402
import model  # noqa: E402
import packages  # noqa: E402
import pairs  # noqa: E402
import tokens  # noqa: E402
import vocabulary  # noqa: E402

SEED = 41
DIMENSIONS = 256
BLOCK = 64
BATCH = 1024
TEMPERATURE = 0.05
EPOCHS = 8
# Pairs of a package and language.
LIMIT = 1500
RATE = 0.004
# Share of a question's words that are left out, at most; share of chunks whose name is not seen.
DROPPED = 0.4
NAMELESS = 0.15
# Best chunks of BM25 among which a wrong answer is drawn.
MISTAKES = 6
# Occurrences from which a row is its own.
RARE = 30.0


def prepared(vocabulary_words, limit, with_mistakes):
    """All pairs as counts of tokens: of questions, of chunks, of names; with languages, packages and mistakes."""
    tokenizer = tokens.Tokenizer(vocabulary_words)
    held_out = pairs.held_out()
    firsts, wholes, codes, names, languages, groups, mistakes = [], [], [], [], [], [], []
    for group, path in enumerate(pairs.files("train")):
        by_language = {}
        for entry in pairs.read(path):
            if not held_out.isdisjoint(pairs.keys(entry)):
                continue
            by_language.setdefault(entry["language"], []).append(entry)
        for language, entries in sorted(by_language.items()):
            entries = entries[:limit]
            start = len(firsts)
            wrong = mistaken(entries) if with_mistakes else [[it] * MISTAKES for it in range(len(entries))]
            mistakes += [[start + it for it in row] for row in wrong]
            for it in entries:
                firsts.append(model.count(tokenizer.ids_of(it["first"])))
                wholes.append(model.count(tokenizer.ids_of(it["whole"])))
                codes.append(model.count(tokenizer.ids_of(it["code"])))
                names.append(model.count(tokenizer.ids_of(it["symbol"]), bonus=1))
                languages.append(language)
                groups.append(group)
    n_tokens = len(vocabulary_words)
    return dict(
        first=plain(firsts, n_tokens),
        whole=plain(wholes, n_tokens),
        code=plain(codes, n_tokens),
        name=plain(names, n_tokens),
        language=numpy.array(languages),
        group=numpy.array(groups),
        mistakes=numpy.array(mistakes, numpy.int32),
    )


def plain(counts, n_tokens):
    found = model.matrix(counts, n_tokens)
    found.data = numpy.fromiter((value for it in counts for value in it.values()), numpy.float32, len(found.data))
    found.sort_indices()
    return found


def mistaken(entries):
    """For each pair of a package, the wrong chunks that BM25 finds first; itself if there are none."""
    if len(entries) < 2:
        return [[number] * MISTAKES for number in range(len(entries))]
    index = bm25.Index(entries)
    found = []
    for at in range(0, len(entries), 256):
        scores = index.search([it["first"] for it in entries[at : at + 256]])
        scores[numpy.arange(len(scores)), at + numpy.arange(len(scores))] = -1
        best = numpy.argsort(-scores, axis=1, kind="stable")[:, :MISTAKES]
        for row, it in zip(best, scores):
            row = [int(number) for number in row if it[number] >= 0]
            found.append((row * MISTAKES)[:MISTAKES])
    return found


def batches(language, group, random):
    """Numbers of pairs: of one language, in blocks of one package."""
    found = []
    for one in sorted(set(language)):
        of = numpy.flatnonzero(language == one)
        blocks = []
        for name in numpy.unique(group[of]):
            members = random.permutation(of[group[of] == name])
            blocks += [members[at : at + BLOCK] for at in range(0, len(members), BLOCK)]
        order = numpy.concatenate([blocks[it] for it in random.permutation(len(blocks))])
        n_batches = max(1, round(len(order) / BATCH))
        found += [it for it in numpy.array_split(order, n_batches) if len(it) > 63]
    return [found[it] for it in random.permutation(len(found))]


class Adam:
    """Adam over the rows that a step touches, with one second moment for a row."""

    def __init__(self, shape):
        self.first = numpy.zeros(shape, numpy.float32)
        self.second = numpy.zeros(shape[0], numpy.float32)
        self.steps = numpy.zeros(shape[0], numpy.float32)

    def step(self, rows, gradient, rate):
        self.steps[rows] += 1
        steps = self.steps[rows]
        self.first[rows] = first = 0.9 * self.first[rows] + 0.1 * gradient
        square = (gradient * gradient).mean(1) if gradient.ndim > 1 else gradient * gradient
        self.second[rows] = second = 0.99 * self.second[rows] + 0.01 * square
        scale = rate / (1 - 0.9**steps) / (numpy.sqrt(second / (1 - 0.99**steps)) + 1e-12)
        return first * (scale[:, None] if gradient.ndim > 1 else scale)


class Weights:
    """The table, and the logarithms of each token's weight in a question and in a chunk."""

    def __init__(self, distilled, counts, dimensions):
        self.distilled = distilled
        _, _, axes = numpy.linalg.svd(distilled[counts > RARE], full_matrices=False)
        table = distilled @ axes[:dimensions].T
        self.table = (table / numpy.linalg.norm(table, axis=1, keepdims=True)).astype(numpy.float32)
        share = (counts + 1) / counts.sum()
        rarity = numpy.log(1e-3 / (1e-3 + share)).astype(numpy.float32)
        self.logs = [rarity.copy(), rarity.copy()]
        self.counts = counts

    def follow(self):
        """Puts rows that were hardly touched where the linear map of the others has them."""
        trust = (self.counts / (self.counts + RARE)).astype(numpy.float32)
        known = self.counts > 3 * RARE
        given = numpy.hstack([self.distilled, numpy.ones((len(self.distilled), 1), numpy.float32)])
        squares = given[known].T @ given[known]
        squares += numpy.eye(len(squares), dtype=numpy.float32) * 1e-2 * numpy.trace(squares) / len(squares)
        mapped = given @ numpy.linalg.solve(squares, given[known].T @ self.table[known])
        self.table = (trust[:, None] * self.table + (1 - trust[:, None]) * mapped).astype(numpy.float32)


def damped(counted):
    return scipy.sparse.csr_matrix((model.damped(counted.data), counted.indices, counted.indptr), shape=counted.shape)


def forward(counted, rows, logs, table):
    """Vectors of length one, with what the way back needs."""
    weighted = counted.copy()
    weighted.data = weighted.data * numpy.exp(logs[rows])[weighted.indices]
    sums = weighted @ table
    lengths = numpy.maximum(numpy.linalg.norm(sums, axis=1, keepdims=True), 1e-6)
    return weighted, sums / lengths, lengths


def backward(weighted, vectors, lengths, gradient, table):
    gradient = (gradient - vectors * (gradient * vectors).sum(1, keepdims=True)) / lengths
    of_table = weighted.T @ gradient
    return of_table, (of_table * table).sum(1)


def train(data, distilled, arguments):
    random = numpy.random.default_rng(SEED)
    n_tokens = data["code"].shape[1]
    counts = numpy.asarray(data["code"].sum(0)).ravel() + numpy.asarray(data["whole"].sum(0)).ravel()
    weights = Weights(distilled, counts, arguments.dimensions)
    of_table, of_logs = Adam(weights.table.shape), [Adam((n_tokens,)), Adam((n_tokens,))]
    total = arguments.epochs * len(batches(data["language"], data["group"], numpy.random.default_rng(SEED)))
    start, step, losses = time.process_time(), 0, []
    for epoch in range(arguments.epochs):
        for batch in batches(data["language"], data["group"], random):
            rate = arguments.rate * min(1.0, (step + 1) / 50) * max(0.02, 1 - step / total)
            losses.append(one_step(data, batch, weights, of_table, of_logs, rate, random, arguments))
            step += 1
            if step % 25 == 0:
                print(f"epoch {epoch} step {step}/{total} loss {numpy.mean(losses[-25:]):.4f} {time.process_time() - start:.0f} s of CPU", flush=True)
        if epoch < arguments.epochs - 1:
            weights.follow()
    weights.follow()
    return weights


def one_step(data, batch, weights, of_table, of_logs, rate, random, arguments):
    whole = random.random(len(batch)) < 0.35
    questions = scipy.sparse.vstack([data["first"][batch[~whole]], data["whole"][batch[whole]]], format="csr")
    batch = numpy.concatenate([batch[~whole], batch[whole]])
    questions = damped(questions)
    kept = random.random(len(questions.data)) >= numpy.repeat(random.random(len(batch)) * arguments.dropped, numpy.diff(questions.indptr))
    questions.data = questions.data * kept
    wrong = data["mistakes"][batch, random.integers(MISTAKES, size=len(batch))] if arguments.mistakes else batch[:0]
    wrong = numpy.setdiff1d(wrong, batch)
    members = numpy.concatenate([batch, wrong])
    named = (random.random(len(members)) >= NAMELESS).astype(numpy.float32) * model.DEFINED
    chunks = damped((data["code"][members] + scipy.sparse.diags(named) @ data["name"][members]).tocsr())
    rows = numpy.union1d(questions.indices, chunks.indices)
    ids = numpy.zeros(data["code"].shape[1], numpy.int32)
    ids[rows] = numpy.arange(len(rows))
    table = weights.table[rows]
    questions, chunks = local_of(questions, ids, len(rows)), local_of(chunks, ids, len(rows))
    q_weighted, q, q_lengths = forward(questions, rows, weights.logs[0], table)
    c_weighted, c, c_lengths = forward(chunks, rows, weights.logs[1], table)
    similar = (q @ c.T) / arguments.temperature
    n = len(batch)
    right = numpy.arange(n)
    by_question = numpy.exp(similar - similar.max(1, keepdims=True))
    by_question /= by_question.sum(1, keepdims=True)
    square = similar[:, :n]
    by_chunk = numpy.exp(square - square.max(0, keepdims=True))
    by_chunk /= by_chunk.sum(0, keepdims=True)
    loss = -numpy.log(by_question[right, right] + 1e-12).mean()
    by_question *= 0.7
    by_question[:, :n] += 0.3 * by_chunk
    by_question[right, right] -= 1
    by_question *= 1 / (n * arguments.temperature)
    g_question = backward(q_weighted, q, q_lengths, by_question @ c, table)
    g_chunk = backward(c_weighted, c, c_lengths, by_question.T @ q, table)
    weights.table[rows] -= of_table.step(rows, g_question[0] + g_chunk[0], rate)
    weights.logs[0][rows] -= of_logs[0].step(rows, g_question[1], rate)
    weights.logs[1][rows] -= of_logs[1].step(rows, g_chunk[1], rate)
    return loss


def local_of(counted, ids, n_rows):
    return scipy.sparse.csr_matrix((counted.data, ids[counted.indices], counted.indptr), shape=(counted.shape[0], n_rows))


def load(words, limit, with_mistakes):
    name = f"{packages.CACHE}/training-{limit}-{with_mistakes}.npz"
    if os.path.exists(name):
        with numpy.load(name) as kept:
            if int(kept["n_tokens"]) == len(words):
                found = {it: kept[it] for it in ("language", "group", "mistakes")}
                for it in ("first", "whole", "code", "name"):
                    parts = (kept[f"{it}_data"], kept[f"{it}_indices"], kept[f"{it}_indptr"])
                    found[it] = scipy.sparse.csr_matrix(parts, shape=(len(found["group"]), len(words)))
                return found
    found = prepared(words, limit, with_mistakes)
    kept = {it: found[it] for it in ("language", "group", "mistakes")}
    for it in ("first", "whole", "code", "name"):
        kept |= {f"{it}_data": found[it].data, f"{it}_indices": found[it].indices, f"{it}_indptr": found[it].indptr}
    numpy.savez(name, n_tokens=len(words), **kept)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", default=f"{packages.CACHE}/model.bin")
    parser.add_argument("--dimensions", type=int, default=DIMENSIONS)
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="0 writes what is distilled, untrained")
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--temperature", type=float, default=TEMPERATURE)
    parser.add_argument("--dropped", type=float, default=DROPPED)
    parser.add_argument("--mistakes", type=int, default=1, help="0 trains without the mistakes of BM25")
    parser.add_argument("--limit", type=int, default=LIMIT, help="pairs of a package and language")
    arguments = parser.parse_args()
    words = vocabulary.read()
    start = time.process_time()
    data = load(words, arguments.limit, arguments.mistakes)
    print(f"prepared in {time.process_time() - start:.0f} s of CPU", flush=True)
    names, counts = numpy.unique(data["language"], return_counts=True)
    print(json.dumps(dict(zip(names.tolist(), counts.tolist()))), flush=True)
    weights = train(data, numpy.load(f"{packages.CACHE}/distilled.npy"), arguments)
    model.write(arguments.output, words, weights.table, numpy.exp(weights.logs[0]), numpy.exp(weights.logs[1]))


if __name__ == "__main__":
    main()
