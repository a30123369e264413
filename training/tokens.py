"""Tokens of a text: the words of its identifiers, each whole if the vocabulary has it, or in pieces.

The rules are those of the README, and are followed by the index in Rust: a change here is a change of the model's version.
"""

import re

# Letters, digits and underscores in a row. Letters of other scripts join in, so that a word with one is seen as a whole, and dropped.
RUN = re.compile("[A-Za-z0-9_\u00c0-\u1fff\u2c00-\u2fff\u3040-\ufe2f\ufe50-\U0010ffff]+")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# Bytes of an identifier; what is longer is data.
LONGEST = 64
# Pieces of a word; what needs more is of another language, or noise.
MAX_PIECES = 4
CONTINUED = "##"


def words(text):
    """The words of a text in lower case, of at least two letters or digits."""
    for run in RUN.findall(text):
        if len(run) <= LONGEST and run.isascii():
            for part in PART.findall(run):
                if len(part) > 1:
                    yield part.lower()


class Tokenizer:
    def __init__(self, vocabulary):
        self.ids = {it: number for number, it in enumerate(vocabulary)}
        self.longest = max(len(it) for it in vocabulary)
        self.known = {}

    def pieces(self, word):
        """The ids of a word: its own, or those of the longest pieces from the left; none if it needs too many."""
        whole = self.ids.get(word)
        if whole is not None:
            return (whole,)
        if word.isdigit():
            return ()
        found, at = [], 0
        while at < len(word):
            if len(found) == MAX_PIECES:
                return ()
            mark = CONTINUED if at else ""
            for end in range(min(len(word), at + self.longest), at, -1):
                piece = self.ids.get(mark + word[at:end])
                if piece is not None:
                    break
            else:
                return ()
            found.append(piece)
            at = end
        return tuple(found)

    def ids_of(self, text):
        found = []
        for run in RUN.findall(text):
            known = self.known.get(run)
            if known is None:
                known = self.known[run] = tuple(it for word in words(run) for it in self.pieces(word))
            found.extend(known)
        return found
