"""BM25 as the index has it: `words.rs`, `learn.rs` and `score.rs` of `broker/crates/search`, and the boost by path of `code.rs`."""

import functools
import re

import numpy
import scipy.sparse

import tokens

K1, B = 1.2, 0.6
DEFINED, AROUND = 6, 2
PATH_BOOST = 0.5
EMPTY = set(
    "a an and are as at be by can do does for from how in is it of on or that the there this to used was what when where which with".split()
)
IDENTIFIER = re.compile(r"\w+")


def singular(word):
    if len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word.removesuffix("s")


@functools.cache
def of_identifier(identifier):
    parts = [it for it in tokens.PART.findall(identifier)]
    whole = [singular(identifier.lower())] if len(parts) > 1 else []
    return tuple(whole + [singular(it.lower()) for it in parts if len(it) > 1])


def identifiers(text):
    return [it for it in (run.strip("_") for run in IDENTIFIER.findall(text)) if 2 <= len(it.encode()) <= 64]


def words(text):
    return [word for it in identifiers(text) for word in of_identifier(it)]


def of_question(text):
    full = [it for it in identifiers(text) if it.lower() not in EMPTY]
    return sorted(set(words(" ".join(full) if full else text)))


class Index:
    def __init__(self, chunks):
        self.ids = {}
        rows, columns, weights, lengths = [], [], [], []
        for number, chunk in enumerate(chunks):
            counts, length = {}, 0
            for word in words(chunk["code"]):
                counts[word] = counts.get(word, 0) + 1
                length += 1
            for word in words(chunk["name"]):
                counts[word] = counts.get(word, 0) + DEFINED
            for word in words(chunk["symbol"]):
                counts[word] = counts.get(word, 0) + AROUND
            for word, count in counts.items():
                rows.append(number)
                columns.append(self.ids.setdefault(word, len(self.ids)))
                weights.append(min(count, 255))
            lengths.append(length)
        lengths = numpy.array(lengths, numpy.float32)
        average = max(lengths.mean(), 1.0)
        rows, columns, weights = numpy.array(rows), numpy.array(columns), numpy.array(weights, numpy.float32)
        having = numpy.bincount(columns, minlength=len(self.ids)).astype(numpy.float32)
        self.rarity = numpy.log(1 + numpy.maximum(len(lengths) - having + 0.5, 0) / (having + 0.5)).astype(numpy.float32)
        score = self.rarity[columns] * weights * (K1 + 1) / (weights + K1 * (1 - B + B * lengths[rows] / average))
        shape = (len(lengths), len(self.ids))
        self.scores = scipy.sparse.csr_matrix((score, (rows, columns)), shape=shape, dtype=numpy.float32)
        self.transposed = self.scores.T.tocsr()
        paths = sorted({it["path"] for it in chunks})
        by_path = {it: number for number, it in enumerate(paths)}
        self.path_of = numpy.array([by_path[it["path"]] for it in chunks])
        entries = [(number, self.ids[word]) for number, path in enumerate(paths) for word in set(words(path)) if word in self.ids]
        rows, columns = numpy.array(entries).T if entries else (numpy.zeros(0, int),) * 2
        self.paths = scipy.sparse.csr_matrix((self.rarity[columns], (rows, columns)), shape=(len(paths), len(self.ids)), dtype=numpy.float32)

    def search(self, questions):
        """Scores of all chunks for each question: an array of questions by chunks."""
        asked = [of_question(it) for it in questions]
        known = [[self.ids[it] for it in words if it in self.ids] for words in asked]
        starts = numpy.cumsum([0, *map(len, known)])
        ids = numpy.fromiter((it for row in known for it in row), numpy.int32, starts[-1])
        shape = (len(questions), len(self.ids))
        vectors = scipy.sparse.csr_matrix((numpy.ones(len(ids), numpy.float32), ids, starts), shape=shape)
        # A word that no chunk has counts in the share of a path.
        rarest = numpy.log(1 + (self.scores.shape[0] + 0.5) / 0.5)
        everything = vectors @ self.rarity + rarest * numpy.array([len(a) - len(b) for a, b in zip(asked, known)])
        share = (vectors @ self.paths.T).toarray()[:, self.path_of] / numpy.maximum(everything, 1e-9)[:, None]
        return ((vectors @ self.transposed).toarray() * (1 + PATH_BOOST * share)).astype(numpy.float32)
