"""Asks the broker about the pairs: `run` in this folder says how it is called."""

import argparse
import json
import os
import subprocess
import sys
import time

import languages
from history import History
from make import KINDS, made

BRANCHES = 200


class Broker:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def call(self, *arguments, data=b"", codes=(0,)):
        done = subprocess.run([self.program, *arguments], cwd=self.folder, input=data, capture_output=True, check=False)
        if done.returncode not in codes:
            raise RuntimeError(f"{arguments[:3]}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def fork(self, name, patch):
        self.call("branch", "fork", name)
        self.call("branch", "patch", name, "-", data=patch)

    def preview(self, names, *options):
        out = self.call("branch", "merge-preview", "--output-format", "json", *options, *names, codes=(0, 1, 2))
        return json.loads(out)


class Counts:
    """Pairs of one kind, and what was said of them."""

    def __init__(self):
        self.pairs, self.told, self.skipped, self.times = 0, 0, 0, []

    def add(self, preview, seconds):
        self.pairs += 1
        self.told += any(it["definitions"] or it["findings"] for it in preview["pairs"])
        self.skipped += preview["skipped"]
        self.times.append(seconds)


def percent(part, of):
    return f"{100 * part / of:.0f} %" if of else "-"


def ask_pairs(broker, history, pairs):
    """Counts by kind; a pair counts as of its kind if it is wrong, and as harmless else."""
    counts, wrong = {}, []
    for number, (pair, news) in enumerate(pairs):
        history.put(history.tree(pair.parent), broker.folder)
        names = [f"a{number}", f"b{number}"]
        for name, commit in zip(names, (pair.a, pair.b), strict=True):
            broker.fork(name, history.patch(pair.parent, commit))
        start = time.monotonic()
        preview = broker.preview(names)
        seconds = time.monotonic() - start
        kind = pair.kind if news else "harmless"
        counts.setdefault(kind, Counts()).add(preview, seconds)
        told = any(it["definitions"] or it["findings"] for it in preview["pairs"])
        if told != bool(news):
            wrong.append({"pair": pair.data(), "news": news[:3], "preview": preview})
        for name in names:
            broker.call("branch", "discard", name)
    return counts, wrong


def show(counts):
    print(f"{'kind':<14}{'pairs':>7}{'told':>7}{'share':>8}{'skipped':>9}{'median s':>10}{'slowest':>9}")
    for kind in [*KINDS, "harmless"]:
        if it := counts.get(kind):
            times = sorted(it.times)
            middle, slowest = times[len(times) // 2], times[-1]
            print(f"{kind:<14}{it.pairs:>7}{it.told:>7}{percent(it.told, it.pairs):>8}{it.skipped:>9}{middle:>10.2f}{slowest:>9.2f}")


def sum_up(all_counts):
    total = {}
    for counts in all_counts:
        for kind, it in counts.items():
            sums = total.setdefault(kind, Counts())
            sums.pairs, sums.told, sums.skipped = sums.pairs + it.pairs, sums.told + it.told, sums.skipped + it.skipped
            sums.times += it.times
    show(total)
    wrong = [it for kind, it in total.items() if kind != "harmless"]
    found, false = sum(it.told for it in wrong), total["harmless"].told if "harmless" in total else 0
    print(f"recall {percent(found, sum(it.pairs for it in wrong))}, precision {percent(found, found + false)}")
    skipped = sum(it.skipped for it in wrong)
    print(f"skipped: {sum(it.skipped for it in total.values())} pairs, of which {skipped} are wrong together")


def many(broker, history, language, wait):
    """Branches of real commits, all on one parent, in pairs."""
    commits = history.commits(2000, language.paths)
    parent = commits[min(len(commits) - 1, BRANCHES)][0]
    history.put(history.tree(parent), broker.folder)
    names = []
    for number, (commit, _) in enumerate(reversed(commits)):
        moved = history.moved(commit, parent) if len(names) < BRANCHES else None
        if moved and history.tree(moved) != history.tree(parent):
            names.append(f"m{number}")
            broker.fork(names[-1], history.patch(parent, moved))
    pairs = len(names) * (len(names) - 1) // 2
    for _ in ("first", "again"):
        start = time.monotonic()
        it = broker.preview(names, "--wait", wait)
        print(
            f"{len(names)} branches, {pairs} pairs: {it['looked_at']} looked at, {it['skipped']} skipped, "
            f"{it.get('not_looked_at', 0)} not looked at, {time.monotonic() - start:.1f} s"
        )
    for note in it["notes"][:3]:
        print(f"  {note}")
    for name in names:
        broker.call("branch", "discard", name)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--pairs", type=int, default=110)
    arguments.add_argument("--harmless", type=int, default=100)
    arguments.add_argument("--seconds", type=float, default=1800)
    arguments.add_argument("--wait", default="120s")
    arguments.add_argument("--keep")
    arguments.add_argument("--no-many", action="store_true")
    arguments.add_argument("repositories", nargs="+")
    options = arguments.parse_args()
    work, all_counts = options.keep or os.environ["BROKER_TEST_WORK"], []
    for repository in options.repositories:
        name = os.path.basename(repository.partition("@")[0].rstrip("/").removesuffix("/repo"))
        own = os.path.join(work, name)
        pairs = made(repository, own, options.pairs, options.harmless, options.seconds)
        history = History(repository, own)
        folder = os.path.join(os.environ["BROKER_TEST_WORK"], f"{name}-open")
        os.makedirs(folder, exist_ok=True)
        subprocess.run(["git", "init", "-q", folder], check=True)
        broker = Broker(os.environ["BROKER"], folder)
        print(f"{name}: {len(pairs)} pairs, {sum(1 for it in pairs if it[1])} wrong together")
        counts, wrong = ask_pairs(broker, history, pairs)
        show(counts)
        all_counts.append(counts)
        with open(os.path.join(own, "wrong.json"), "w") as out:
            json.dump(wrong, out, indent=1)
        if not options.no_many:
            many(broker, history, languages.of(history), options.wait)
        sys.stdout.flush()
    sum_up(all_counts)


main()
