"""The keys of `broker.toml`, from its JSON schema, each with an example of `examples.toml`."""

import json
import re
import tomllib
from pathlib import Path

from .program import NOTICE, PageError, Program

INTRODUCTION = """
# Configuration reference

Every key of `broker.toml`. [Configuration](../configuration.md) says which files count, and in which order. Editors can use the
[JSON schema](../broker.schema.json), which `broker config schema` prints; `broker config show --file FILE` shows what holds for
a file, and where it is set. An unknown key is an error.

## Top level
"""
EXAMPLES = Path(__file__).with_name("examples.toml")


def pages(program: Program) -> dict[Path, str]:
    schema = json.loads((program.root / "docs/broker.schema.json").read_text())
    text = EXAMPLES.read_text()
    examples = tomllib.loads(text)
    # What `extends` names has to be there.
    (program.workspace / examples["extends"]).touch()
    program.configure(text)
    page = Page(schema["$defs"], examples)
    page.table(schema, [])
    return {program.page("reference/configuration.md"): "\n\n".join([NOTICE + INTRODUCTION.rstrip(), *page.parts]) + "\n"}


class Page:
    def __init__(self, definitions: dict, examples: dict):
        self.definitions = definitions
        self.examples = examples
        self.parts: list[str] = []

    def resolved(self, schema: dict) -> dict:
        """The definition that it refers to, with what it says itself."""
        reference = schema.get("$ref", "")
        definition = self.definitions[reference.rpartition("/")[2]] if reference else {}
        return {"description": "", **definition, **schema, "definition": definition.get("description", "")}

    def table(self, schema: dict, path: list[str]):
        """The keys of a table, then the tables in it."""
        tables = []
        for key, value in sorted(schema["properties"].items()):
            value = self.resolved(value)
            inner, more = value, [*path, key]
            if value.get("type") == "array":
                inner = self.resolved(value["items"])
            elif isinstance(value.get("additionalProperties"), dict):
                inner, more = self.resolved(value["additionalProperties"]), [*more, "NAME"]
            if "properties" in inner:
                tables.append((value, inner, more))
            else:
                self.key(value, [*path, key], key in schema.get("required", []))
        for value, inner, more in tables:
            heading = f"[[{more[0]}]]" if value.get("type") == "array" else f"[{'.'.join(more)}]"
            texts = dict.fromkeys([value["description"], inner["definition"]])
            self.parts += [f"## `{heading}`", *(paragraphs(it) for it in texts if it)]
            self.table(inner, more)

    def key(self, schema: dict, path: list[str], is_required: bool):
        if not schema["description"] and not path[1:]:
            raise PageError(f"docs/broker.schema.json does not describe `{path[0]}`")
        default = "required" if is_required else "not set"
        if "default" in schema:
            default = f"`{written(schema['default'])}`"
        self.parts += [
            f"### `{'.'.join(path)}`",
            paragraphs(schema["description"]),
            f"Type: {self.kind(schema)}  \nDefault: {default}",
            f"```toml\n{self.example(path)}\n```",
        ]

    def kind(self, schema: dict, plural: str = "") -> str:
        schema = self.resolved(schema)
        if "oneOf" in schema:
            return ", ".join(f'`"{it["const"]}"`' for it in schema["oneOf"])
        if "enum" in schema:
            return ", ".join(f'`"{it}"`' for it in schema["enum"])
        if "anyOf" in schema:
            return " or ".join(dict.fromkeys(self.kind(it, plural) for it in schema["anyOf"]))
        if schema["type"] == "array":
            return f"array{plural} of {self.kind(schema['items'], 's')}"
        if "properties" in schema:
            return f"table{plural} of {', '.join(f'`{it}`' for it in schema['properties'])}"
        if schema["type"] == "object":
            values = schema["additionalProperties"]
            return "table" if values is True else f"table of {self.kind(values, 's')}"
        return schema["type"] + plural

    def example(self, path: list[str]) -> str:
        """The key's example, below the head of its table."""
        for head, table in self.places(self.examples, path[:-1], []):
            if path[-1] in table:
                line = f"{path[-1]} = {written(table[path[-1]])}"
                return f"{head}\n{line}" if head else line
        raise PageError(f"{EXAMPLES} has no example of `{'.'.join(path)}`")

    def places(self, value, path: list[str], head: list[str]):
        """The tables of the examples at a path, in which `NAME` is any name."""
        if isinstance(value, list):
            yield from ((f"[[{'.'.join(head)}]]", it) for it in value)
        elif not path:
            yield (f"[{'.'.join(head)}]" if head else "", value)
        elif path[0] == "NAME":
            for name, inner in value.items():
                yield from self.places(inner, path[1:], [*head, name])
        elif path[0] in value:
            yield from self.places(value[path[0]], path[1:], [*head, path[0]])


def paragraphs(text: str) -> str:
    """A text without the breaks within its paragraphs."""
    return "\n\n".join(" ".join(it.split()) for it in text.split("\n\n"))


def written(value) -> str:
    """A value in TOML."""
    if isinstance(value, dict):
        names = ((it if re.fullmatch(r"[\w-]+", it) else json.dumps(it)) for it in value)
        pairs = ", ".join(f"{name} = {written(it)}" for name, it in zip(names, value.values()))
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, str) and "\\" in value and "'" not in value:
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False)
