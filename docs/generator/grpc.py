"""The gRPC interface: services and messages of `proto/broker/v1` with their comments, and the table of errors."""

import re
from pathlib import Path

from .program import NOTICE, PageError, Program, cell

INTRODUCTION = """
# gRPC

The daemon serves the package `broker.v1` on a Unix socket, and over TCP if asked ([Branches](../branches.md#the-daemon)). This
page is made from the comments of `proto/broker/v1/*.proto`; server reflection has the same. `examples/python-client` and
`examples/typescript-client` are clients.
"""
ORDER = ["workspace", "branch", "file", "check", "query", "run", "tool", "rule", "server", "daemon", "types"]
# What opens a block, an rpc, and a field or value of an enum.
BLOCK = re.compile(r"(service|message|enum|oneof) (\w+) \{(\})?$")
RPC = re.compile(r"rpc (\w+)\((stream )?([\w.]+)\) returns \((stream )?([\w.]+)\)( \{)?;?(\})?$")
FIELD = re.compile(r"((?:repeated |optional )?(?:map<[^>]+>|[\w.]+) )?(\w+) = (\d+)(?: \[[^\]]*\])?;$")


class Item:
    """A service, message, enum or oneof, or a line of one."""

    def __init__(self, kind: str, name: str, comment: str, **more):
        self.kind, self.name, self.comment, self.more = kind, name, comment, more
        self.items: list[Item] = []


def parse(path: Path) -> Item:
    """A file with all that is in it."""
    root = Item("file", path.stem, "")
    stack, comment = [root], []
    for number, line in enumerate(map(str.strip, path.read_text().splitlines()), 1):
        if line.startswith("//"):
            comment.append(line[2:].strip())
            continue
        # An empty line of a comment divides paragraphs.
        text = "\n\n".join(" ".join(it.split()) for it in "\n".join(comment).split("\n\n"))
        if not line:
            # What stands at the top is about the file, before `syntax`.
            comment = []
            continue
        if line.startswith("syntax"):
            root.comment = text
        elif found := BLOCK.match(line):
            item = Item(found[1], found[2], text)
            stack[-1].items.append(item)
            if not found[3]:
                stack.append(item)
        elif found := RPC.match(line):
            take, give = (found[2] or "") + found[3], (found[4] or "") + found[5]
            stack[-1].items.append(Item("rpc", found[1], text, take=take, give=give))
        elif line == "}":
            stack.pop()
        elif found := FIELD.match(line):
            stack[-1].items.append(Item("field", found[2], text, type=(found[1] or "").strip(), number=found[3]))
        elif not line.startswith(("package ", "import ", "reserved ", "option ")):
            raise PageError(f"{path}:{number}: docs/generator/grpc.py cannot read `{line}`")
        comment = []
    if len(stack) != 1:
        raise PageError(f"{path}: a block is not closed")
    return root


def pages(program: Program) -> dict[Path, str]:
    folder = program.root / "proto/broker/v1"
    names = {it.stem for it in folder.glob("*.proto")}
    if names != set(ORDER):
        raise PageError(f"ORDER in docs/generator/grpc.py and {folder} differ: {sorted(names ^ set(ORDER))}")
    files = [parse(folder / f"{name}.proto") for name in ORDER]
    known = {it.name for file in files for it in walk(file) if it.kind in ("message", "enum")}
    parts = [NOTICE + INTRODUCTION.rstrip(), errors(program)]
    services = [it for file in files for it in file.items if it.kind == "service"]
    parts += [service(it, known) for it in services]
    parts.append("## Messages")
    for file in files:
        parts += [f"### {file.name}.proto\n\n{file.comment}"]
        parts += [block(it, known) for it in walk(file) if it.kind in ("message", "enum")]
    return {program.page("reference/grpc.md"): "\n\n".join(parts) + "\n"}


def walk(item: Item):
    for it in item.items:
        yield it
        if it.kind in ("message", "enum"):
            yield from walk(it)


def linked(name: str, known: set[str]) -> str:
    """The name of a type, as a link where this page has it."""
    if name.startswith("map<"):
        return f"`{name}`"
    bare = name.split()[-1]
    written = f"[`{bare}`](#{bare.lower()})" if bare in known else f"`{bare}`"
    return " ".join([*name.split()[:-1], written])


def service(item: Item, known: set[str]) -> str:
    lines = [f"## {item.name}", "", item.comment]
    for it in item.items:
        call = f"{linked(it.more['take'], known)} → {linked(it.more['give'], known)}"
        lines += ["", f"### {item.name}/{it.name}", "", call, "", it.comment]
    return "\n".join(lines)


def block(item: Item, known: set[str]) -> str:
    lines = [f"#### {item.name}", "", item.comment]
    rows = list(fields(item, known))
    if rows:
        head = "| value | number | |" if item.kind == "enum" else "| field | type | |"
        lines += ["", head, "|---|---|---|", *rows]
    return "\n".join(lines)


def fields(item: Item, known: set[str]):
    for it in item.items:
        if it.kind == "oneof":
            yield f"| one of `{it.name}` | | {cell(it.comment)} |"
            yield from fields(it, known)
        elif it.kind == "field":
            about = it.more["number"] if item.kind == "enum" else linked(it.more["type"], known)
            yield f"| `{it.name}` | {about} | {cell(it.comment)} |"


def errors(program: Program) -> str:
    """The section of `proto/README.md`, which a test holds to the table in the code."""
    text = (program.root / "proto/README.md").read_text()
    section = text.partition("\n## Errors\n")[2].partition("\n## ")[0]
    if not section:
        raise PageError("proto/README.md has no section `Errors`")
    return f"## Errors\n\n{section.strip()}"
