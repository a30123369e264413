"""Tools, each with its own command line and what that prints, as findings with Broker's positions: lines and columns from 1, columns in characters."""

import fnmatch
import json
import os
import pathlib
import re
import struct
import subprocess
from typing import NamedTuple

from projects import Project, program, run

TYPESCRIPT = ["*.ts", "*.tsx", "*.mts", "*.cts", "*.js", "*.jsx", "*.mjs", "*.cjs"]
RULES = ["no-floating-promises", "await-thenable", "no-misused-promises", "no-base-to-string", "restrict-template-expressions", "no-unnecessary-type-assertion"]


class Finding(NamedTuple):
    path: str
    line: int
    column: int
    code: str
    message: str


class Answer(NamedTuple):
    findings: list[Finding]
    # Why the tool told only a part.
    is_cut: str = ""
    # Files that the tool looked at; none if it is asked about all.
    looked_at: frozenset[str] = frozenset()


class Tool:
    name = ""
    globs: list[str] = []
    # What `broker server add` is given.
    added = ""
    configuration = ""
    # Without trust, Broker asks a tool in a sandbox, and without what the workspace defines of it.
    needs_trust = False

    def takes(self, path: str) -> bool:
        return any(fnmatch.fnmatch(pathlib.PurePosixPath(path).name, it) for it in self.globs)

    def ask(self, project: Project) -> Answer:
        raise NotImplementedError

    def aligned(self, found: list[Finding], own: list[Finding]) -> list[Finding]:
        """What Broker found, in the words of the command line where the two fronts of one tool word a message differently."""
        return found


def finding(project: Project, path: str, line: int, column: int, code: object, message: str) -> Finding:
    """`column` is in characters."""
    name = path.replace("file://", "")
    name = os.path.relpath(name, project.copy) if os.path.isabs(name) else os.path.normpath(name)
    return Finding(name, line, column, str(code or ""), normal(project, message))


def normal(project: Project, message: str) -> str:
    """The first line of a message, without the folder."""
    for folder in (project.copy, project.tree):
        message = message.replace(str(folder), "…")
    return message.strip().split("\n")[0].strip()


def in_characters(project: Project, path: str, line: int, column: int) -> int:
    """A column that counts UTF-16 units, from 1."""
    try:
        text = (project.copy / path).read_bytes().decode(errors="replace").removeprefix("\ufeff")
        row = re.split("\r\n|\n|\r", text)[line - 1]
    except (OSError, IndexError):
        return column
    return len(row.encode("utf-16-le")[: 2 * (column - 1)].decode("utf-16-le", errors="ignore")) + 1


class Ty(Tool):
    name = added = "ty"
    globs = ["*.py", "*.pyi"]
    configuration = "[servers]\nuse = ['ty']\n"

    # A finding with its place in the next line.
    head = re.compile(r"^(?:error|warning|info)\[([\w-]+)\]: (.*)\n +--> (.+?):(\d+):(\d+)$", re.M)

    def ask(self, project: Project) -> Answer:
        ran = run(program("ty"), "check", "--output-format", "full", "--color", "never", "--exit-zero", cwd=project.copy)
        return Answer([finding(project, path, int(line), int(column), code, message) for code, message, path, line, column in self.head.findall(ran.stdout.decode())])

    def aligned(self, found: list[Finding], own: list[Finding]) -> list[Finding]:
        """Its server adds what the command line prints below the line of code."""
        by_place: dict[tuple, list[str]] = {}
        for it in own:
            by_place.setdefault(it[:4], []).append(it.message)
        return [it._replace(message=next((own for own in by_place.get(it[:4], []) if it.message.startswith(own)), it.message)) for it in found]


class Pyright(Tool):
    name = added = "pyright"
    globs = ["*.py", "*.pyi"]
    configuration = "[servers]\nuse = ['pyright']\n"

    def ask(self, project: Project) -> Answer:
        # All files: Broker asks also about those that the configuration does not include.
        ran = run(program("pyright"), "--outputjson", *project.files(), cwd=project.copy)
        found = []
        for it in json.loads(ran.stdout)["generalDiagnostics"]:
            start = it.get("range", {}).get("start", {"line": 0, "character": 0})
            path = os.path.relpath(it["file"], project.copy)
            column = in_characters(project, path, start["line"] + 1, start["character"] + 1)
            found.append(finding(project, it["file"], start["line"] + 1, column, it.get("rule") or "Pyright", it["message"]))
        return Answer(found)


class TypeScript(Tool):
    name = added = "typescript"
    globs = TYPESCRIPT
    configuration = "[servers]\nuse = ['typescript']\n"
    line = re.compile(r"^(.+?)\((\d+),(\d+)\): error TS(\d+): (.*)$", re.M)
    syntax = range(1000, 2000)

    def ask(self, project: Project) -> Answer:
        ran = run(program("tsc"), "--noEmit", "--pretty", "false", "--listFiles", "-p", ".", cwd=project.copy)
        said = ran.stdout.decode()
        looked_at = frozenset(os.path.relpath(it, project.copy) for it in said.split("\n") if os.path.isabs(it))
        found, is_cut = [], ""
        for path, line, column, code, message in self.line.findall(said):
            if int(code) in self.syntax:
                is_cut = "syntax errors"
            at = in_characters(project, path, int(line), int(column))
            found.append(finding(project, path, int(line), at, code, message))
        if re.search(r"^error TS", said, re.M):
            is_cut = re.search(r"^error TS.*$", said, re.M).group()
        return Answer(found, is_cut, looked_at)


class Tsgolint(TypeScript):
    """Types are compared with `tsc`, rules with the tool itself."""

    name = added = "tsgolint"
    needs_trust = True
    tells_no_rules = False
    configuration = "[checkers.tsgolint.rules]\n" + "".join(f"{it} = 'error'\n" for it in RULES)

    def ask(self, project: Project) -> Answer:
        types = super().ask(project)
        files = [str(project.copy / it) for it in project.files() if it in types.looked_at]
        question = {"version": 2, "configs": [{"file_paths": files, "rules": [{"name": it} for it in RULES]}], "report_syntactic": True, "report_semantic": True}
        ran = run(program("tsgolint"), "headless", cwd=project.copy, given=json.dumps(question).encode())
        found = [it._replace(code=f"TS{it.code}") for it in types.findings]
        texts: dict[str, str] = {}
        self.tells_no_rules = False
        for it in frames(ran.stdout):
            # What a build would write, and where to: Broker asks as for `--noEmit`, which this has no word for.
            if it["message"]["id"] == "tsconfig-error":
                self.tells_no_rules = True
                continue
            if not it.get("rule") or not it.get("file_path"):
                # Types, which only this tells where `tsc` stops at syntax errors.
                if not (types.is_cut and it.get("file_path")):
                    continue
            path = it["file_path"]
            if path not in texts:
                texts[path] = pathlib.Path(path).read_bytes().decode().removeprefix("\ufeff")
            before = texts[path].encode()[: it["range"]["pos"]].decode(errors="ignore")
            line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
            code = it.get("rule") or it["message"]["id"]
            found.append(finding(project, path, line, column, code, it["message"]["description"]))
        return Answer(found, "" if types.is_cut == "syntax errors" else types.is_cut, types.looked_at)

    def aligned(self, found: list[Finding], own: list[Finding]) -> list[Finding]:
        return [it for it in found if not (self.tells_no_rules and it.code in RULES)]


def frames(printed: bytes) -> list[dict]:
    found, at = [], 0
    while at + 5 <= len(printed):
        length, kind = struct.unpack_from("<IB", printed, at)
        if kind == 1:
            found.append(json.loads(printed[at + 5 : at + 5 + length]))
        at += 5 + length
    return found


TOOLS = {it.name: it for it in (Ty(), Pyright(), TypeScript(), Tsgolint())}
