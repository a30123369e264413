"""The vocabulary: words that many packages use, frequent English ones, and pieces for the rest."""

import collections
import math

import packages
import pairs
import tokens

# Words and pieces in all; a row of the table costs 260 bytes and the word.
SIZE = 29_500
PIECES = 2_500
# English words that the packages may lack, but the code of an application has: those of MiniLM's vocabulary, the most frequent first.
ENGLISH = 14_000


def counted():
    """For each word, in how many packages it is, and the sum of logarithms of how often."""
    spread, weight = collections.Counter(), collections.Counter()
    for path in pairs.files("train"):
        counts = collections.Counter()
        for entry in pairs.read(path):
            counts.update(tokens.words(entry["code"]))
            counts.update(tokens.words(entry.get("whole", "")))
        for word, count in counts.items():
            spread[word] += 1
            weight[word] += math.log1p(count)
    return spread, weight


def english():
    import minilm

    vocabulary = sorted(minilm.tokenizer().get_vocab().items(), key=lambda it: it[1])
    words = [it for it, _ in vocabulary if it.isascii() and it.isalpha() and len(it) > 2]
    return words[:ENGLISH]


def build():
    spread, weight = counted()
    known = english()
    is_known = set(known)
    # Numbers say little beyond the small and the famous ones.
    ranked = [it for it in weight if spread[it] >= (3 if not it.isdigit() else 40) and len(it) <= 24]
    ranked.sort(key=lambda it: (-weight[it], it))
    n_words = SIZE - PIECES
    chosen = dict.fromkeys(ranked[: n_words - 5_000])
    for word in known:
        if len(chosen) >= n_words:
            break
        chosen.setdefault(word)
    for word in ranked:
        if len(chosen) >= n_words:
            break
        chosen.setdefault(word)
    letters = "abcdefghijklmnopqrstuvwxyz"
    for it in letters:
        chosen.setdefault(it)
    rest = collections.Counter()
    for word in weight:
        if word in chosen or not word.isalpha() or len(word) > 32:
            continue
        for end in range(len(word) - 1, 1, -1):
            if word[:end] in chosen:
                rest[word[end:]] += weight[word]
                break
    pieces = [it for it, _ in sorted(rest.items(), key=lambda it: (-it[1], it[0])) if 1 < len(it) <= 8]
    found = list(chosen) + [tokens.CONTINUED + it for it in letters]
    found += [tokens.CONTINUED + it for it in pieces[: SIZE - len(found)]]
    print(f"{len(weight)} words, {len(ranked)} in several packages, {len(is_known & set(chosen))} English; {len(found)} rows")
    return sorted(found)


def main():
    with open(f"{packages.CACHE}/vocabulary.txt", "w", encoding="ascii") as file:
        file.writelines(it + "\n" for it in build())


def read():
    with open(f"{packages.CACHE}/vocabulary.txt", encoding="ascii") as file:
        return file.read().split()


if __name__ == "__main__":
    main()
