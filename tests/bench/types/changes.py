"""Random edits of Python and TypeScript: what agents get wrong, at a random place."""

import random
import re
from collections.abc import Callable
from pathlib import PurePosixPath

KINDS = {"rename a name": 25, "delete a line": 20, "another type of a literal": 17, "signature": 16, "new file": 8, "delete a file": 7, "rename a file": 7}
NAME = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w{2,}\b")
KEYWORDS = set(
    "and assert async await break class const continue def default del elif else except export extends False finally for from function global if implements import in "
    "instanceof interface is lambda let new None nonlocal not null number object pass raise return string switch this throw true false True try type typeof undefined "
    "unknown var void while with yield boolean case catch self any never keyof infer readonly".split()
)
LITERAL = re.compile(r"(?<![\w.\"'`])\d+(?![\w.\"'`])|\"[^\"\\\n]*\"|'[^'\\\n]*'|\b(?:True|False|true|false)\b")
PYTHON_FUNCTION = re.compile(r"^(?P<head>(?:async )?def (?P<name>[A-Za-z]\w+)\()(?P<rest>.*)$", re.M)
TYPESCRIPT_FUNCTION = re.compile(r"^(?P<head>export (?:default )?(?:async )?function (?P<name>\w+)(?:<[^(]*>)?\()(?P<rest>.*)$|^(?P<head2>export const (?P<name2>\w+) = (?:async )?\()(?P<rest2>.*)$", re.M)


class Change:
    """Texts by path; `None` for a file that is deleted."""

    def __init__(self, kind: str, what: str, texts: dict[str, str | None], moved: tuple[str, str] | None = None) -> None:
        self.kind, self.what, self.texts, self.moved = kind, what, texts, moved


class Changes:
    def __init__(self, texts: dict[str, str], seed: int) -> None:
        self.texts, self.random = texts, random.Random(seed)
        self.paths = sorted(it for it, text in texts.items() if text.strip())
        self.is_python = any(it.endswith(".py") for it in texts)
        self.users: dict[str, set[str]] = {}
        for path, text in texts.items():
            for name in set(re.findall(r"[A-Za-z_]\w+", text)):
                self.users.setdefault(name, set()).add(path)

    def next(self) -> Change:
        makers: dict[str, Callable[[], Change | None]] = {
            "rename a name": self.renamed_name, "delete a line": self.deleted_line, "another type of a literal": self.other_literal,
            "signature": self.signature, "new file": self.new_file, "delete a file": self.deleted_file, "rename a file": self.renamed_file,
        }
        while True:
            kind = self.random.choices(list(KINDS), list(KINDS.values()))[0]
            if change := makers[kind]():
                return change

    def path(self) -> str:
        return self.random.choice(self.paths)

    def replaced(self, kind: str, path: str, start: int, end: int, by: str) -> Change:
        text = self.texts[path]
        line = text.count("\n", 0, start) + 1
        return Change(kind, f"{path}:{line} `{text[start:end][:60]}` -> `{by[:60]}`", {path: text[:start] + by + text[end:]})

    def renamed_name(self) -> Change | None:
        path = self.path()
        found = [it for it in NAME.finditer(self.texts[path]) if it.group() not in KEYWORDS]
        if not found:
            return None
        it = self.random.choice(found)
        return self.replaced("rename a name", path, it.start(), it.end(), it.group() + "_x")

    def deleted_line(self) -> Change | None:
        path = self.path()
        lines = self.texts[path].splitlines(keepends=True)
        at = self.random.choice([it for it, line in enumerate(lines) if line.strip()])
        return Change("delete a line", f"{path}:{at + 1} `{lines[at].strip()[:60]}`", {path: "".join(lines[:at] + lines[at + 1 :])})

    def other_literal(self) -> Change | None:
        path = self.path()
        found = list(LITERAL.finditer(self.texts[path]))
        if not found:
            return None
        it = self.random.choice(found)
        return self.replaced("another type of a literal", path, it.start(), it.end(), '"x"' if it.group()[0] not in "\"'" else "17")

    def signature(self) -> Change | None:
        """Of a function that other files name."""
        for _ in range(30):
            path = self.path()
            pattern = PYTHON_FUNCTION if self.is_python else TYPESCRIPT_FUNCTION
            found = [it for it in pattern.finditer(self.texts[path]) if len(self.users.get(name_of(it), ())) > 1]
            if found:
                break
        else:
            return None
        it = self.random.choice(found)
        at = it.end("head") if it.group("head") else it.end("head2")
        way = self.random.randrange(3)
        if way == 0:
            return self.replaced("signature", path, at, at, "added_x, " if self.is_python else "added_x: number, ")
        if way == 1:
            return self.replaced("signature", path, at, at, "added_x: int, " if self.is_python else "added_x: Promise<string>, ")
        start = it.start("name") if it.group("name") else it.start("name2")
        return self.replaced("signature", path, start, start + len(name_of(it)), name_of(it) + "_x")

    def new_file(self) -> Change:
        """Imports an old one, and with luck an old one imports it."""
        path = self.path()
        folder, suffix = PurePosixPath(path).parent, PurePosixPath(path).suffix
        name = f"fresh_{self.random.randrange(1000)}"
        new = str(folder / f"{name}{suffix if suffix != '.pyi' else '.py'}")
        old = PurePosixPath(path).stem
        if self.is_python:
            is_package = str(folder / "__init__.py") in self.texts
            source = f".{old}" if is_package else old
            names = re.findall(r"^(?:def|class) ([A-Za-z]\w+)", self.texts[path], re.M) or ["nothing_x"]
            chosen = self.random.choice(names)
            text = f"from {source} import {chosen}\n\n\ndef fresh(a: int) -> str:\n    return a\n\n\nx: int = {chosen}\n"
            line = f"from {'.' if is_package else ''}{name} import fresh\nfresh('a')\n"
        else:
            names = re.findall(r"^export (?:default )?(?:async )?(?:function|const|class|interface|type) (\w+)", self.texts[path], re.M) or ["nothing_x"]
            chosen = self.random.choice(names)
            text = f"import {{ {chosen} }} from './{old}'\n\nexport function fresh(a: number): string {{\n  return a\n}}\n\nexport const x: number = {chosen}\n"
            line = f"\nimport {{ fresh }} from './{name}'\nfresh('a')\n"
        texts: dict[str, str | None] = {new: text}
        if self.random.random() < 0.6:
            texts[path] = self.texts[path].rstrip("\n") + "\n" + line
        return Change("new file", f"{new}, {'imported by ' + path if path in texts else 'imported by nothing'}", texts)

    def deleted_file(self) -> Change:
        path = self.path()
        return Change("delete a file", path, {path: None})

    def renamed_file(self) -> Change:
        path = self.path()
        it = PurePosixPath(path)
        head, dot, tail = it.name.partition(".")
        new = str(it.parent / f"{head}_x{dot}{tail}")
        return Change("rename a file", f"{path} -> {new}", {path: None, new: self.texts[path]}, (path, new))


def name_of(found: re.Match) -> str:
    groups = found.groupdict()
    return groups.get("name") or groups.get("name2") or ""
