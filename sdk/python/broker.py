"""Write a Broker plugin in Python: a rule is a function that yields what it finds.

    from broker import File, rule

    @rule("todo")
    def todo(file: File):
        \"\"\"A TODO is left in the code\"\"\"
        for at in file.find("TODO"):
            yield at.finding("resolve this TODO")

Offsets are in bytes. Other files of the workspace are read with `open`, next to `file.absolute` or below
`settings().root`, the plugin's own configuration with `options`; what was read is part of what the answer rests on. There
is no network and nothing to write to, the clock stands still, and random numbers repeat.

What is printed goes nowhere; `log` is for that. Nothing here needs Broker but `File.query` and `log`, so the rest of a
rule can be tried in plain Python.
"""

from __future__ import annotations

import inspect
import os.path
from ast import Module, parse
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

Severity = Literal["error", "warning", "info", "hint"]
Applicability = Literal["safe", "unsafe", "display-only"]
FixAvailability = Literal["none", "sometimes", "always"]
Level = Literal["debug", "info", "warn", "error"]

# The byte order mark of UTF-8.
MARK = b"\xef\xbb\xbf"


class Problem(Exception):
    """What is wrong with the plugin or its configuration, in one sentence. What is wrong with the file is a finding."""


class LeftOut(Exception):
    """Why this file is left out, for all rules, such as "it is a template": the reason is in the file, which need not be
    wrong. It is a part of the answer, and shown with each."""


class _Checked:
    """What the host would not take is told where it is made, and once more when it is handed over."""

    def __post_init__(self) -> None:
        self._check()


@dataclass
class Edit(_Checked):
    """Replaces the bytes from `start` to `end`."""

    start: int
    end: int
    replacement: str

    def _check(self) -> None:
        _check_place(self.start, self.end)
        _check_text("replacement", self.replacement)


@dataclass
class Fix(_Checked):
    """A change that removes the finding. `safe` keeps what the program means, and `--fix` applies it. One that would write
    what stands for bytes that are not UTF-8 is only displayed."""

    message: str | None
    edits: list[Edit]
    applicability: Applicability = "safe"

    def _check(self) -> None:
        if self.message is not None:
            _check_text("message of a fix", self.message)
        _check_word("applicability", self.applicability, Applicability)
        for edit in self.edits:
            edit._check()


@dataclass
class Related(_Checked):
    """Another place that explains a finding; without a path, in the same file."""

    start: int
    end: int
    message: str
    path: str | None = None

    def _check(self) -> None:
        _check_place(self.start, self.end)
        _check_text("message", self.message)
        if self.path is not None:
            _check_text("path", self.path)


@dataclass
class Finding(_Checked):
    """What is wrong with the bytes from `start` to `end`, in one sentence."""

    start: int
    end: int
    message: str
    severity: Severity = "warning"
    fixes: list[Fix] = field(default_factory=list)
    related: list[Related] = field(default_factory=list)
    unnecessary: bool = False
    deprecated: bool = False

    def _check(self) -> None:
        _check_place(self.start, self.end)
        _check_text("message", self.message)
        _check_word("severity", self.severity, Severity)
        for part in [*self.fixes, *self.related]:
            part._check()

    def fix(self, message: str, replacement: str, applicability: Applicability = "safe") -> Finding:
        """The same, with a fix that replaces just these bytes. For any other, append to `fixes`."""
        self.fixes.append(Fix(message, [Edit(self.start, self.end, replacement)], applicability))
        return self


@dataclass(frozen=True)
class Place:
    """Bytes of the file."""

    start: int
    end: int
    text: str

    def finding(self, message: str, severity: Severity = "warning") -> Finding:
        return Finding(self.start, self.end, message, severity)


@dataclass(frozen=True)
class Capture(Place):
    """What a query found."""

    name: str
    """Without the `@`."""
    in_match: int
    """Captures of one match have the same number."""
    pattern: int
    """Which of the query's patterns it is, from 0."""


@dataclass
class File:
    """A file to check."""

    path: str
    """Relative to the workspace, with `/`."""
    content: bytes
    """Not necessarily UTF-8."""
    named: str = ""
    """What the user named and what led here: this file, or a folder that it is in."""

    @cached_property
    def text(self) -> str:
        """The content. A byte that is not UTF-8 is one lone surrogate in it."""
        return self.content.decode("utf-8", "surrogateescape")

    @property
    def absolute(self) -> str:
        """Where `open` finds the file and its neighbours."""
        return os.path.join(_settings.root, self.path)

    def offset(self, index: int) -> int:
        """The byte at which the character of `text` with this index begins."""
        return len(self.text[:index].encode("utf-8", "surrogateescape"))

    def at(self, line: int, column: int) -> int:
        """The byte in a line, counted from 1, and in a column, counted in bytes from 0, as `ast` counts them."""
        return min(self._lines[min(line, len(self._lines)) - 1] + column, len(self.content))

    def place(self, start: int, end: int) -> Place:
        return Place(start, end, self.content[start:end].decode("utf-8", "replace"))

    def ast(self) -> Module | None:
        """What Python's own `ast` makes of the file, once for all rules; None if it cannot, or if it is not UTF-8."""
        return self._module

    def node(self, node) -> Place:
        """The place of a node of `ast`."""
        return self.place(self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset))

    def find(self, text: str) -> Iterable[Place]:
        """Where this text stands."""
        wanted = text.encode()
        at = self.content.find(wanted)
        while at >= 0 and wanted:
            yield Place(at, at + len(wanted), text)
            at = self.content.find(wanted, at + len(wanted))

    def query(self, query: str, language: str | None = None) -> list[Capture]:
        """What a query in the language of tree-sitter finds in the file. The host parses it, once for all plugins;
        in the language of the file's name, unless it is given."""
        from broker_component import query as run

        _check_text("query", query)
        if language is not None:
            _check_text("language", language)
        return run(self, query, language)

    @cached_property
    def _module(self) -> Module | None:
        try:
            # As text, since columns count the bytes of UTF-8 whatever encoding the file says it has.
            return parse(self.content.removeprefix(MARK).decode())
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return None

    @cached_property
    def _lines(self) -> list[int]:
        """Where each line begins. A byte order mark is no column of the first one."""
        first = len(MARK) if self.content.startswith(MARK) else 0
        starts = [first]
        for line in self.content[first:].splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        return starts


@dataclass
class Settings:
    """What the user asked for. The rules that are not selected are left out without the plugin's doing."""

    root: str = ""
    """Where the workspace is, without a slash at the end; empty if that is `/`."""
    isolated: bool = False
    """Read no configuration files."""
    config: str | None = None
    """This configuration file, relative to the workspace, and no other."""


@dataclass
class Rule:
    code: str
    summary: str
    explanation: str
    url: str | None
    fix: FixAvailability
    default: bool
    check: Callable[[File], Iterable[Finding]]


rules: list[Rule] = []
_settings = Settings()
_linter_options: dict[str, Any] = {}


def settings() -> Settings:
    return _settings


def options(name: str) -> str | None:
    """The text of the plugin's configuration file, which `config-files` of the manifest names as well: the one of this name in
    the workspace's folder, or the one that the user named. None if there is none, or if none is to be read."""
    if _settings.isolated:
        return None
    path = name if _settings.config is None else _settings.config
    try:
        with open(f"{_settings.root}/{path}", encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        if _settings.config is None:
            return None
        raise Problem(f"there is no {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"cannot read {path}: {error}") from None


def linter_options() -> dict[str, Any]:
    """What `broker.toml` has in the table `[linters.NAME]` of this plugin, with values as `options` of the manifest describes
    them; empty if there is no such table."""
    return _linter_options


def rule(
    code: str,
    *,
    fix: FixAvailability = "none",
    default: bool = True,
    url: str | None = None,
) -> Callable[[Callable[[File], Iterable[Finding]]], Callable[[File], Iterable[Finding]]]:
    """Makes a rule of a function that takes a file and yields findings. The first line of the function's docstring is
    the rule's summary, the rest is the explanation, in Markdown."""
    if not isinstance(code, str):
        raise TypeError('a rule has a code: @rule("code")')
    _check_word("fix", fix, FixAvailability)

    def register(check):
        summary, _, explanation = (inspect.getdoc(check) or code).partition("\n")
        rules.append(Rule(code, summary, explanation.strip(), url, fix, default, check))
        return check

    return register


def log(message: str, level: Level = "info") -> None:
    """A line for Broker's log, which `--verbose` shows when the plugin is run and not its earlier answer taken."""
    from broker_component import log as write

    _check_word("level", level, Level)
    write(str(message), level)


def _check_place(start: int, end: int) -> None:
    whole = isinstance(start, int) and isinstance(end, int)
    if not whole or not 0 <= start <= end < 1 << 32:
        raise ValueError(f"{start!r} to {end!r} are no bytes of a file")


def _check_text(what: str, text: str) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{what} is {text!r}, not a str")


def _check_word(what: str, word: str, allowed) -> None:
    *others, last = get_args(allowed)
    if word not in [*others, last]:
        raise ValueError(f"{what} is `{word}`, not {', '.join(others)} or {last}")
