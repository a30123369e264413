"""The file of a model: see the README for its format."""

import struct

import numpy
import scipy.sparse

import tokens

MAGIC = b"BRKEMB\0\1"
HEADER = struct.Struct("<8sIIIf")
# Occurrences that a word counts more which the chunk defines.
DEFINED = 4


def bf16(values):
    """Rounded to the nearest of 16 bits: the upper half of a float of 32."""
    bits = numpy.asarray(values, numpy.float32).view(numpy.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(numpy.uint16)


def from_bf16(values):
    return (values.astype(numpy.uint32) << 16).view(numpy.float32)


def write(path, vocabulary, table, of_question, of_chunk):
    """A table of rows of floats, and each token's weight in a question and in a chunk."""
    largest = numpy.maximum(numpy.abs(table).max(1, keepdims=True), 1e-9)
    rows = numpy.rint(table / largest * 127).astype(numpy.int8)
    scale = largest[:, 0] / 127
    words = b"".join(bytes([len(it)]) + it.encode("ascii") for it in vocabulary)
    with open(path, "wb") as file:
        file.write(HEADER.pack(MAGIC, table.shape[1], len(vocabulary), len(words), float(DEFINED)))
        file.write(words)
        file.write(bf16(scale * of_question).astype("<u2").tobytes())
        file.write(bf16(scale * of_chunk).astype("<u2").tobytes())
        file.write(rows.tobytes())


class Model:
    def __init__(self, path):
        with open(path, "rb") as file:
            magic, dimensions, n_tokens, n_bytes, self.defined = HEADER.unpack(file.read(HEADER.size))
            if magic != MAGIC:
                raise ValueError(f"{path} is no model of this version")
            packed, self.vocabulary, at = file.read(n_bytes), [], 0
            while at < n_bytes:
                self.vocabulary.append(packed[at + 1 : at + 1 + packed[at]].decode("ascii"))
                at += 1 + packed[at]
            read = lambda kind, count: numpy.frombuffer(file.read(count * numpy.dtype(kind).itemsize), kind)  # noqa: E731
            self.of_question, self.of_chunk = from_bf16(read("<u2", n_tokens)), from_bf16(read("<u2", n_tokens))
            self.rows = read("i1", n_tokens * dimensions).reshape(n_tokens, dimensions)
        self.table = self.rows.astype(numpy.float32)
        self.tokenizer = tokens.Tokenizer(self.vocabulary)

    def questions(self, texts):
        counts = [count(self.tokenizer.ids_of(it)) for it in texts]
        return embed(matrix(counts, len(self.vocabulary)), self.table, self.of_question)

    def chunks(self, chunks):
        counts = [count(self.tokenizer.ids_of(it["code"]), self.tokenizer.ids_of(it["symbol"]), self.defined) for it in chunks]
        return embed(matrix(counts, len(self.vocabulary)), self.table, self.of_chunk)


def count(ids, defined=(), bonus=DEFINED):
    found = {}
    for it in ids:
        found[it] = found.get(it, 0.0) + 1.0
    for it in defined:
        found[it] = found.get(it, 0.0) + bonus
    return found


def matrix(counts, n_tokens):
    """A row for each text: the damped number of times that it has a token."""
    starts = numpy.cumsum([0, *map(len, counts)])
    ids = numpy.fromiter((key for it in counts for key in it), numpy.int32, starts[-1])
    values = numpy.fromiter((value for it in counts for value in it.values()), numpy.float32, starts[-1])
    return scipy.sparse.csr_matrix((damped(values), ids, starts), shape=(len(counts), n_tokens))


def damped(values):
    return (1 + numpy.log(values)).astype(numpy.float32)


def embed(counted, table, weights):
    vectors = counted.multiply(weights[None, :]).tocsr() @ table
    return vectors / numpy.maximum(numpy.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
