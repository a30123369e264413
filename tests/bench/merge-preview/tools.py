"""What linters and type checkers say of a tree, without positions; kept by tree."""

import json
import os
import re
import shutil
import subprocess


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=600)
    return done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def without_places(text):
    return re.sub(r"\d+", "#", text)


def ruff(folder):
    out, _ = run(["ruff", "check", "--isolated", "--no-cache", "--select", "F,E9", "--output-format", "json", "."], folder)
    for it in json.loads(out or "[]"):
        yield os.path.relpath(it["filename"], folder), f"ruff {it['code']} {without_places(it['message'])}"


def pyright(folder):
    out, _ = run(["pyright", "--outputjson", "."], folder)
    for it in json.loads(out)["generalDiagnostics"]:
        if it["severity"] == "error":
            path = os.path.relpath(it["file"], folder)
            yield path, f"pyright {it.get('rule')} {without_places(it['message'])}"


def ty(folder):
    out, _ = run(["ty", "check", "--output-format", "concise", "."], folder)
    for line in out.splitlines():
        it = re.match(r"^(\S+?):\d+:\d+: error(.*)$", line)
        if it:
            yield it[1], f"ty {without_places(it[2])}"


def go_vet(folder):
    _, said = run(["go", "vet", "./..."], folder)
    for line in said.splitlines():
        it = re.match(r"^(?:vet: )?(\S+?\.go):\d+(?::\d+)?: (.*)$", line)
        if it:
            yield os.path.normpath(it[1]), f"vet {without_places(it[2])}"


def tsc(folder):
    files = subprocess.run(
        "find . -name '*.ts' -not -path '*/node_modules/*' -not -path '*test*' -not -path '*/bench*' -not -name '*.config.ts' -path '*src*'",
        shell=True, cwd=folder, capture_output=True, check=True,
    ).stdout.decode().split()
    options = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext"]
    options += ["--incremental", "--tsBuildInfoFile", folder + ".tsbuildinfo"]
    out, _ = run(["tsc", *options, *files], folder)
    for line in out.splitlines():
        it = re.match(r"^(\S+?)\(\d+,\d+\): error (.*)$", line)
        if it:
            yield os.path.normpath(it[1]), f"tsc {without_places(it[2])}"


# Of tools in one group, the first that is installed is asked.
OF_LANGUAGE = {".py": [[ruff], [ty, pyright]], ".go": [[go_vet]], ".ts": [[tsc]]}
PROGRAMS = {ruff: "ruff", ty: "ty", pyright: "pyright", go_vet: "go", tsc: "tsc"}


class Truth:
    def __init__(self, history, work, suffix):
        self.history, self.folder = history, os.path.join(work, "tree")
        groups = [[it for it in group if shutil.which(PROGRAMS[it])] for group in OF_LANGUAGE[suffix]]
        self.tools = [it[0] for it in groups if it]
        self.kept = os.path.join(work, "said.json")
        self.said = json.load(open(self.kept)) if os.path.exists(self.kept) else {}

    def of(self, tree):
        """Everything that the tools say of a tree."""
        if tree not in self.said:
            self.history.put(tree, self.folder)
            found = {f"{path}: {what}" for tool in self.tools for path, what in tool(self.folder)}
            self.said[tree] = sorted(found)
            with open(self.kept, "w") as kept:
                json.dump(self.said, kept)
        return set(self.said[tree])

    def news(self, pair):
        """What is said of the merge and of neither side."""
        sides = [self.history.tree(it) for it in (pair.a, pair.b)]
        return sorted(self.of(pair.tree) - self.of(sides[0]) - self.of(sides[1]))
