"""A point in time without a time zone means something else on each machine.

Python's own `ast` reads the file. One that it cannot read is left to the linters that say why.
"""

import ast
from collections.abc import Iterator
from functools import lru_cache

from broker import Edit, File, Finding, Fix, rule

# How many arguments it takes to leave the zone out.
NAIVE = {"datetime.datetime.now": 0, "datetime.datetime.today": 0, "datetime.datetime.fromtimestamp": 1}
OUTDATED = {"datetime.datetime.utcnow": "now", "datetime.datetime.utcfromtimestamp": "fromtimestamp"}


@rule("naive-now", fix="sometimes")
def naive_now(file: File) -> Iterator[Finding]:
    """The time of a clock without its time zone

    `datetime.now()` is the wall clock of whatever machine runs it, and nothing in the value says so: compared with or
    subtracted from the time of another machine, or across a change of the clocks, it is wrong. Ask for a zone:
    `datetime.now(timezone.utc)`, or `datetime.now().astimezone()` for the local one.
    """
    module = read(file.ast())
    for call, name in module.calls:
        leaves_out = len(call.args) == NAIVE.get(name, -1) and not any(it.arg in ("tz", None) for it in call.keywords)
        if leaves_out and id(call) not in module.zoned:
            found = file.node(call).finding(f"`{short(name)}` without a time zone is the clock of this machine")
            if not name.endswith("today"):
                add_zone(file, module, call, found, [])
            yield found


@rule("outdated-utc", fix="sometimes", url="https://docs.python.org/3/library/datetime.html#datetime.datetime.utcnow")
def outdated_utc(file: File) -> Iterator[Finding]:
    """The time in UTC without saying so

    `datetime.utcnow()` looks like local time to all that takes it, and is deprecated since Python 3.12.
    """
    module = read(file.ast())
    for call, name in module.calls:
        if name in OUTDATED:
            found = file.node(call).finding(f"`{short(name)}` gives UTC and does not say so")
            found.deprecated = True
            end = file.node(call.func).end
            start = end - len(name.rpartition(".")[2])
            add_zone(file, module, call, found, [Edit(start, end, OUTDATED[name])])
            yield found


def add_zone(file: File, module: "Module", call: ast.Call, found: Finding, edits: list[Edit]) -> None:
    """A fix, where the file has a name for UTC and the call is plain. The value then behaves otherwise."""
    utc = module.utc()
    after = file.node(call.args[-1]).end if call.args else file.node(call.func).end
    rest = file.content[after : file.node(call).end].decode("utf-8", "replace")
    plain = rest in (")", "()") and not call.keywords
    if utc and plain:
        edit = Edit(after, after, f", {utc}") if call.args else Edit(after + 1, after + 1, utc)
        found.fixes.append(Fix(f"Ask for `{utc}`", [*edits, edit], "unsafe"))


class Module:
    """What a file calls things of `datetime`, and where."""

    def __init__(self, tree: ast.AST | None):
        nodes = list(ast.walk(tree)) if tree else []
        self.names = dict(pair for it in nodes for pair in imported(it))
        calls = [(it, self.qualified(it.func)) for it in nodes if isinstance(it, ast.Call)]
        self.calls = [(call, name) for call, name in calls if name.startswith("datetime.datetime.")]
        self.zoned = {id(it.value) for it in nodes if isinstance(it, ast.Attribute) and it.attr == "astimezone"}

    def qualified(self, node: ast.AST) -> str:
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        first = self.names.get(node.id, "") if isinstance(node, ast.Name) else ""
        return ".".join([first, *reversed(parts)])

    def utc(self) -> str | None:
        spelled = {"datetime": ".timezone.utc", "datetime.timezone": ".utc", "datetime.UTC": ""}
        return next((local + spelled[it] for local, it in self.names.items() if it in spelled), None)


def imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Each name that an import makes, and what it stands for."""
    if isinstance(node, ast.Import):
        yield from ((it.asname or it.name, it.name) for it in node.names if it.name == "datetime")
    elif isinstance(node, ast.ImportFrom) and node.module == "datetime":
        yield from ((it.asname or it.name, f"datetime.{it.name}") for it in node.names)


@lru_cache(maxsize=1)
def read(tree: ast.AST | None) -> Module:
    return Module(tree)


def short(name: str) -> str:
    return name.removeprefix("datetime.") + "()"
