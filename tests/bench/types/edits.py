"""Random edits on branches of Broker, compared with each tool's own command line on a copy of the tree with the edit: see `run`."""

import argparse
import collections
import json
import pathlib
import time

from changes import Change, Changes
from projects import Project, load
from tools import TOOLS, Answer, Finding, normal

Counts = collections.Counter


class Copy:
    """An edit in the copy, for as long as the tool runs."""

    def __init__(self, project: Project, change: Change) -> None:
        self.project, self.change, self.before = project, change, {}

    def __enter__(self) -> None:
        for path, text in self.change.texts.items():
            file = self.project.copy / path
            self.before[file] = file.read_bytes() if file.exists() else None
            put(file, None if text is None else text.encode())

    def __exit__(self, *_: object) -> None:
        for file, content in self.before.items():
            put(file, content)


def put(file: pathlib.Path, content: bytes | None) -> None:
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content)


def edit(project: Project, change: Change, branch: str) -> None:
    texts = dict(change.texts)
    commands = []
    if change.moved:
        commands.append((("branch", "mv", branch, *change.moved), b""))
        texts = {}
    for path, text in texts.items():
        commands.append((("branch", "rm", branch, path), b"") if text is None else (("branch", "write", branch, path), text.encode()))
    for arguments, given in [(("branch", "fork", branch), b""), *commands]:
        if (ran := project.broker(*arguments, given=given)).returncode:
            raise SystemExit(f"error: {arguments}: {ran.stderr.decode()}")


def found_by_broker(project: Project, report: dict) -> list[Finding]:
    return [Finding(it["path"], it["line"], it["column"], it["code"] or "", normal(project, it["message"])) for it in report["findings"] if it["linter"] == project.tool.name and it["severity"] != "hint"]


class Comparison:
    def __init__(self, project: Project, report: dict, own: Answer) -> None:
        found = project.tool.aligned(found_by_broker(project, report), own.findings)
        # In no project of the tool, or in another one.
        self.outside = [it for it in found if own.looked_at and it.path not in own.looked_at]
        found = [it for it in found if it not in self.outside]
        # Some tools print a finding twice.
        ours, theirs = set(found), set(own.findings)
        self.unknown = {it["path"]: it["reason"] for it in report["incomplete"] if it["linter"] == project.tool.name}
        self.excluded = {it["path"]: it["reason"] for it in report.get("excluded", []) if it["linter"] == project.tool.name}
        self.equal = len(ours & theirs)
        missing, more = sorted(theirs - ours), sorted(ours - theirs)
        everything = None in self.unknown
        self.told = [it for it in missing if everything or it.path in self.unknown]
        self.left_out = [it for it in missing if it not in self.told and it.path in self.excluded]
        self.missing = [it for it in missing if it not in self.told and it not in self.left_out]
        self.more_told = [it for it in more if everything or it.path in self.unknown]
        self.more = [it for it in more if it not in self.more_told]
        # The tool told only a part.
        self.cut = bool(own.is_cut)
        self.beyond = self.more if own.is_cut else []
        self.more = [] if own.is_cut else self.more

    def verdict(self) -> str:
        if self.missing or self.more:
            return "differs"
        if self.told or self.more_told or self.left_out:
            return "told as partial"
        return "equal as far as the tool says" if self.cut else "equal"

    def data(self) -> dict:
        shown = {name: getattr(self, name) for name in ("missing", "more", "told", "more_told", "left_out", "beyond", "outside")}
        return {name: [list(it) for it in found[:20]] for name, found in shown.items() if found} | {"unknown": dict(list(self.unknown.items())[:5]), "unknown_files": len(self.unknown)}


def measure(project: Project, number: int, seed: int, log: pathlib.Path | None) -> Counts:
    counts: Counts = collections.Counter()
    own = project.tool.ask(project)
    first = Comparison(project, project.report(), own)
    print(f"{project.tool.name} {project.name}: {len(project.files())} files, {len(own.findings)} findings without an edit: {first.verdict()}; {load()}", flush=True)
    write(log, {"tool": project.tool.name, "project": project.name, "edit": None, "verdict": first.verdict(), **first.data()})
    # What differs without an edit is told once.
    known = collections.Counter(it[:1] + it[3:] for it in [*first.missing, *first.more])
    texts = {it: (project.copy / it).read_bytes().decode(errors="surrogateescape") for it in project.files()}
    texts = {it: text for it, text in texts.items() if text.isprintable() or "\udc80" not in text}
    changes = Changes({it: text for it, text in texts.items() if not any("\ud800" <= c <= "\udfff" for c in text)}, seed)
    for at in range(number):
        change = changes.next()
        branch = f"e{seed}-{at}"
        edit(project, change, branch)
        start = time.monotonic()
        report = project.report(branch)
        by_broker = time.monotonic() - start
        with Copy(project, change):
            start = time.monotonic()
            own = project.tool.ask(project)
            by_tool = time.monotonic() - start
            compared = Comparison(project, report, own)
        project.broker("branch", "discard", branch)
        compared.missing = [it for it in compared.missing if it[:1] + it[3:] not in known]
        compared.more = [it for it in compared.more if it[:1] + it[3:] not in known]
        verdict = compared.verdict()
        counts[verdict] += 1
        counts[f"{change.kind}: {verdict}"] += 1
        counts["findings equal"] += compared.equal
        for name in ("missing", "more", "told", "more_told", "left_out", "beyond", "outside"):
            counts[f"findings {name}"] += len(getattr(compared, name))
        write(log, {
            "tool": project.tool.name, "project": project.name, "seed": seed, "at": at, "kind": change.kind, "edit": change.what, "verdict": verdict, "cut": own.is_cut,
            "equal": compared.equal, "broker_s": round(by_broker, 2), "tool_s": round(by_tool, 2), **compared.data(),
        })
        if compared.missing or compared.more:
            print(f"  {at} {change.kind}: {change.what}: missing {compared.missing[:2]}, more {compared.more[:2]}", flush=True)
    return counts


def write(log: pathlib.Path | None, row: dict) -> None:
    if log:
        with log.open("a") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("projects", nargs="+", type=pathlib.Path)
    parser.add_argument("--tool", choices=TOOLS, action="append")
    parser.add_argument("--edits", type=int, default=250, help="of each tool, over all projects")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=pathlib.Path, help="a row of JSON for each edit")
    options = parser.parse_args()
    rows = {}
    for name in options.tool or TOOLS:
        suits = [it.resolve() for it in options.projects if Project(it.resolve(), TOOLS[name]).files()]
        counts: Counts = collections.Counter()
        for at, source in enumerate(suits):
            number = options.edits // len(suits) + (at < options.edits % len(suits))
            counts += measure(Project(source, TOOLS[name]), number, options.seed + at, options.log)
        rows[name] = counts
        print(f"\n{name}: " + "; ".join(f"{what}: {count}" for what, count in sorted(counts.items())), flush=True)
    print("\n| tool | edits | equal | equal as far as the tool says | told as partial | differs | findings equal | missing, untold | more, untold |\n|---|---|---|---|---|---|---|---|---|")
    for name, counts in rows.items():
        verdicts = [counts[it] for it in ("equal", "equal as far as the tool says", "told as partial", "differs")]
        print("| " + " | ".join(map(str, [name, sum(verdicts), *verdicts, counts["findings equal"], counts["findings missing"], counts["findings more"]])) + " |")
    raise SystemExit(any(counts["differs"] for counts in rows.values()))


if __name__ == "__main__":
    main()
