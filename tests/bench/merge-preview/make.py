"""Makes pairs of one repository and says which of them are wrong together. They are kept in the folder."""

import json
import os
import sys
import time

import languages
from history import History
from pairs import Maker, Pair
from tools import Truth

KINDS = ("gone", "signature", "both add", "import gone", "field gone", "module gone")


def made(repository, work, positives, harmless, seconds):
    """Pairs with what is new in their merges: at most so many of each, found in this time."""
    os.makedirs(work, exist_ok=True)
    kept = os.path.join(work, "pairs.json")
    if os.path.exists(kept):
        return [(Pair(**it["pair"]), it["news"]) for it in json.load(open(kept))]
    history = History(repository, work)
    language = languages.of(history)
    truth = Truth(history, work, language.suffix)
    if not truth.tools:
        return []
    maker = Maker(history, language, -(-positives // len(KINDS)) * 2)
    found, end, peaceful, last = [], time.monotonic() + seconds, 0, None
    for commit, parent in history.commits(3000, language.paths):
        if time.monotonic() > end or (sum(maker.counts.values()) >= positives and peaceful >= harmless):
            break
        try:
            pairs = list(maker.positives(commit, parent)) if sum(maker.counts.values()) < positives else []
            if peaceful < harmless and last:
                pairs.append(maker.harmless(commit, parent, last))
            judged = [(pair, truth.news(pair)) for pair in filter(None, pairs)]
        except RuntimeError as error:
            # A clone need not have all contents.
            print(f"{commit[:12]} is passed over: {error}", file=sys.stderr)
            continue
        last = commit
        for pair, news in judged:
            if pair.kind == "harmless":
                # What the neighbour itself brings to this parent is not the merge's.
                if not news:
                    peaceful += 1
                    found.append((pair, news))
            elif news and maker.wanted(pair.kind):
                maker.counts[pair.kind] = maker.counts.get(pair.kind, 0) + 1
                found.append((pair, news))
            elif not news and peaceful < harmless:
                peaceful += 1
                found.append((pair, news))
            print(f"  {len(found)} pairs, {maker.counts}, {peaceful} harmless", file=sys.stderr, end="\r")
    print(file=sys.stderr)
    with open(kept, "w") as out:
        json.dump([{"pair": pair.data(), "news": news} for pair, news in found], out)
    return found


if __name__ == "__main__":
    repository, work, positives, harmless, seconds = sys.argv[1:]
    result = made(repository, work, int(positives), int(harmless), float(seconds))
    print(len(result), "pairs")
