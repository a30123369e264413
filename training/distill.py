"""The first table: MiniLM's vector of each word alone, and a weight by how rare it is.

Follows model2vec (MIT), without its principal components: `train.py` chooses the 256 dimensions.
"""

import numpy

import minilm
import packages
import tokens
import vocabulary


def main():
    words = [it.removeprefix(tokens.CONTINUED) for it in vocabulary.read()]
    vectors = minilm.embed(words, batch=256)
    numpy.save(f"{packages.CACHE}/distilled.npy", vectors - vectors.mean(0))


if __name__ == "__main__":
    main()
