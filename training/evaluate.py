"""Measures of search on packages that no training has seen: the first paragraph of a function's documentation, or its name, finds it.

The documentation is taken out of all functions of the pool. A pool is one package, as a search is within one repository.
"""

import argparse
import json
import os
import re

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

import numpy  # noqa: E402

import bm25  # noqa: E402
import fusion  # noqa: E402
import model  # noqa: E402
import packages  # noqa: E402
import pairs  # noqa: E402
import tokens  # noqa: E402

SEED = 7
# Questions of a package and language; chunks without which it is too small to be searched; chunks that MiniLM reads.
QUESTIONS = 200
SMALLEST = 100
SAMPLE = 150
IDENTIFIER = re.compile(r"\w+(::\w+)*")


class Pool:
    def __init__(self, package, language, chunks, seed=SEED, n_questions=QUESTIONS):
        random = numpy.random.default_rng(seed)
        self.package, self.language, self.chunks = package, language, chunks
        asked = [number for number, it in enumerate(chunks) if "first" in it]
        asked = sorted(random.permutation(asked)[:n_questions].tolist())
        self.right = numpy.array(asked, int)
        self.questions = [chunks[it]["first"] for it in asked]
        names = {}
        for it in chunks:
            names[it["name"]] = names.get(it["name"], 0) + 1
        alone = [number for number, it in enumerate(chunks) if names[it["name"]] == 1 and IDENTIFIER.fullmatch(it["name"]) and len(list(tokens.words(it["name"]))) > 1]
        self.named = numpy.array(sorted(random.permutation(alone)[:n_questions].tolist()), int)
        self.names = [chunks[it]["name"] for it in self.named]


def pools(split, package=None, limit=None, n_questions=QUESTIONS):
    for path in pairs.files(split):
        if package and package not in path:
            continue
        by_language = {}
        for entry in pairs.read(path):
            by_language.setdefault(entry["language"], []).append(entry)
        for language, chunks in sorted(by_language.items()):
            if limit:
                # Those with documentation first, so that there is something to ask.
                chunks = sorted(chunks, key=lambda it: "first" not in it)[:limit]
            pool = Pool(pairs.package(path), language, chunks, n_questions=n_questions)
            if len(chunks) >= SMALLEST and len(pool.right) >= 20:
                yield pool


def ranks(scores, right):
    """The rank of the right chunk, from 1; of equal ones the first in the pool is first."""
    own = scores[numpy.arange(len(right)), right][:, None]
    before = numpy.arange(scores.shape[1])[None, :] < right[:, None]
    return 1 + (scores > own).sum(1) + ((scores == own) & before).sum(1)


def measures(found):
    found = numpy.asarray(found, float)
    gain = numpy.where(found <= 10, 1 / numpy.log2(1 + found), 0)
    return dict(n=len(found), ndcg=gain.mean(), mrr=(1 / found).mean(), first=(found == 1).mean(), recall8=(found <= 8).mean())


class Table:
    """Ranks by language and system."""

    def __init__(self):
        self.ranks = {}

    def add(self, language, system, found):
        self.ranks.setdefault((language, system), []).extend(found.tolist())

    def show(self, title, measure=("ndcg", "mrr", "recall8")):
        languages = list(dict.fromkeys(it[0] for it in self.ranks))
        systems = list(dict.fromkeys(it[1] for it in self.ranks))
        print(f"\n## {title}\n\n| | n | " + " | ".join(systems) + " |\n|---" * 1 + "|---" * (len(systems) + 1) + "|")
        every = {}
        for language in languages:
            cells, n = [], 0
            for system in systems:
                if (language, system) not in self.ranks:
                    cells.append("–")
                    continue
                it = measures(self.ranks[language, system])
                n = it["n"]
                every.setdefault(system, []).append([it[key] for key in measure])
                cells.append(" / ".join(f"{it[key]:.3f}" for key in measure))
            print(f"| {language} | {n} | " + " | ".join(cells) + " |")
        if len(languages) > 1:
            cells = [" / ".join(f"{it:.3f}" for it in numpy.mean(every[system], axis=0)) for system in systems]
            print("| mean | | " + " | ".join(cells) + " |", flush=True)


def scored(pool, questions, models, minilm=None):
    """Scores of each system for these questions."""
    index = bm25.Index(pool.chunks)
    found = {"BM25": index.search(questions)}
    for name, it in models.items():
        found[name] = it.questions(questions) @ it.chunks(pool.chunks).T
    if minilm:
        found["MiniLM"] = minilm.kept(questions) @ minilm.kept([it["code"] for it in pool.chunks]).T
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", default="test")
    parser.add_argument("--package")
    parser.add_argument("--model", action="append", default=[], help="NAME=FILE; the last one is fused")
    parser.add_argument("--minilm", action="store_true", help=f"with MiniLM, on {SAMPLE} chunks of a package")
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--names", action="store_true", help="also by the name of a function")
    parser.add_argument("--packages", action="store_true", help="a row for each package")
    arguments = parser.parse_args()
    given = arguments.model or [f"static={packages.CACHE}/model.bin"]
    models = {it.split("=")[0]: model.Model(it.split("=")[1]) for it in given}
    last = list(models)[-1]
    minilm = None
    if arguments.minilm:
        import minilm
    table, by_name, sizes = Table(), Table(), {}
    for pool in pools(arguments.split, arguments.package, SAMPLE if minilm else None, arguments.questions):
        row = f"{pool.language} {pool.package}" if arguments.packages else pool.language
        sizes.setdefault(row, []).append((pool.package, len(pool.chunks)))
        scores = scored(pool, pool.questions, models, minilm)
        fused = fusion.all_of(pool.questions, scores["BM25"], scores[last])
        scores |= fused
        if minilm:
            scores["MiniLM + BM25"] = fusion.reciprocal(scores["BM25"], scores["MiniLM"])
        for system, it in scores.items():
            table.add(row, system, ranks(it, pool.right))
        if arguments.names and len(pool.named):
            scores = scored(pool, pool.names, {last: models[last]})
            scores |= fusion.all_of(pool.names, scores["BM25"], scores[last])
            for system, it in scores.items():
                by_name.add(row, system, ranks(it, pool.named))
    print(json.dumps(sizes))
    table.show("Documentation finds its function: NDCG@10 / MRR / recall@8")
    if arguments.names:
        by_name.show("A name finds its function: MRR / first / recall@8", ("mrr", "first", "recall8"))


if __name__ == "__main__":
    main()
