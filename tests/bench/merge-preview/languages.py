"""What a text of a language defines: units that can be copied, and names that can be missed."""

import ast
import re


class Unit:
    """A function with its place in lines, from 0; `end` is behind it."""

    def __init__(self, name, container, start, end, head):
        self.name, self.container, self.start, self.end, self.head = name, container, start, end, head


class Python:
    suffix = ".py"
    paths = ["*.py"]

    @staticmethod
    def units(text):
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            return []
        found = []

        def add(body, container):
            for it in body:
                if isinstance(it, ast.FunctionDef | ast.AsyncFunctionDef):
                    start = min([it.lineno, *(d.lineno for d in it.decorator_list)]) - 1
                    found.append(Unit(it.name, container, start, it.end_lineno, ast.unparse(it.args)))
                elif isinstance(it, ast.ClassDef) and container is None:
                    add(it.body, it.name)

        add(tree.body, None)
        return found

    @staticmethod
    def names(text):
        """Top-level classes and constants, besides functions."""
        return set(re.findall(r"^class (\w+)", text, re.M)) | set(re.findall(r"^([A-Z]\w+)(?::.*)? = ", text, re.M))

    @staticmethod
    def fields(text):
        return set(re.findall(r"\bself\.(\w+)(?:: [^=\n]+)? = ", text))

    @staticmethod
    def imports(text):
        found = set()
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            return found
        for it in tree.body:
            if isinstance(it, ast.Import | ast.ImportFrom):
                found.update((name.asname or name.name).split(".")[0] for name in it.names)
        return found

    @staticmethod
    def import_line(path, text):
        """A pattern for lines that import a module."""
        stem = path.rsplit("/", 1)[-1].removesuffix(".py")
        found = re.search(rf"^(?:from [\w.]*\b{stem} import \w+|from \.+ import {stem}|import [\w.]*\b{stem})$", text, re.M)
        return found and found[0] + "\n"

    @staticmethod
    def renamed(lines, unit, name):
        return [re.sub(rf"\bdef {unit.name}\b", f"def {name}", it) for it in lines]

    @staticmethod
    def trivial(name, container):
        return [f"    def {name}(self):", "        return None"] if container else [f"def {name}():", "    return None"]

    @staticmethod
    def place(units, unit_container, lines):
        """The line before which a copy goes: behind the last member, or at the end."""
        members = [it.end for it in units if it.container == unit_container]
        return max(members) if unit_container and members else len(lines)


class Go:
    suffix = ".go"
    paths = ["*.go"]
    head = re.compile(r"^func (?:\((?:\w+ )?\*?(\w+)[^)]*\) )?(\w+)(.*)\{$")

    @classmethod
    def units(cls, text):
        found, lines = [], text.split("\n")
        for start, line in enumerate(lines):
            it = cls.head.match(line)
            if it and "}" in lines[start + 1 :]:
                found.append(Unit(it[2], it[1], start, lines.index("}", start) + 1, it[3]))
        return found

    @staticmethod
    def names(text):
        return set(re.findall(r"^(?:type|var|const) (\w+)", text, re.M))

    @staticmethod
    def fields(text):
        structs = re.findall(r"^type \w+ struct \{\n(.*?)^\}", text, re.M | re.S)
        return set(re.findall(r"^\t(\w+)(?:, \w+)* +\S", "\n".join(structs), re.M))

    @staticmethod
    def imports(text):
        block = re.search(r"^import \((.*?)^\)", text, re.M | re.S)
        return {it.rsplit("/", 1)[-1] for it in re.findall(r'^\t"([^"]+)"', block[1] if block else "", re.M)}

    @staticmethod
    def import_line(path, text):
        return None

    @staticmethod
    def renamed(lines, unit, name):
        return [re.sub(rf"^(func (?:\([^)]*\) )?){unit.name}\b", rf"\g<1>{name}", it) for it in lines]

    @staticmethod
    def trivial(name, container):
        return [f"func {f'(it *{container}) ' if container else ''}{name}() {{", "}"]

    @staticmethod
    def place(units, unit_container, lines):
        return len(lines)


class TypeScript:
    suffix = ".ts"
    paths = ["*.ts"]
    head = re.compile(r"^(?:export )?(?:async )?function (\w+)(.*)$|^(?:export )?const (\w+) = ((?:async )?\(.*\).*=>) \{$")
    member = re.compile(r"^  (?:(?:public|private|protected|static|async) )*(\w+)(?:<[^(]*>)?(\(.*)\{$")

    @classmethod
    def units(cls, text):
        found, lines, container = [], text.split("\n"), None
        for start, line in enumerate(lines):
            of_type = re.match(r"^(?:export )?(?:abstract )?class (\w+)", line)
            container = of_type[1] if of_type else None if line.startswith("}") else container
            it, member = cls.head.match(line), cls.member.match(line)
            if it and "}" in [x.rstrip(";") for x in lines[start:]]:
                end = next(n for n in range(start, len(lines)) if lines[n].rstrip(";") == "}") + 1
                found.append(Unit(it[1] or it[3], None, start, end, it[2] or it[4]))
            elif container and member and member[1] not in ("if", "for", "while", "switch", "constructor") and "  }" in lines[start:]:
                found.append(Unit(member[1], container, start, lines.index("  }", start) + 1, member[2]))
        return found

    @staticmethod
    def names(text):
        return set(re.findall(r"^(?:export )?(?:abstract )?(?:class|interface|type|enum|const) (\w+)", text, re.M))

    @staticmethod
    def fields(text):
        return set(re.findall(r"^  (?:readonly )?(\w+)[?!]?: ", text, re.M))

    @staticmethod
    def imports(text):
        found = set()
        for names in re.findall(r"^import (?:type )?\{([^}]*)\}", text, re.M):
            found.update(it.split(" as ")[-1].replace("type ", "").strip() for it in names.split(",") if it.strip())
        return found

    @staticmethod
    def import_line(path, text):
        stem = path.rsplit("/", 1)[-1].removesuffix(".ts")
        found = re.search(rf"^import [^;\n]* from [\"'][^\"'\n]*/{stem}(?:\.js)?[\"'];$", text, re.M)
        return found and found[0] + "\n"

    @staticmethod
    def renamed(lines, unit, name):
        return [re.sub(rf"\b{unit.name}\b(?=[<(]| = )", name, lines[0], count=1), *lines[1:]]

    @staticmethod
    def trivial(name, container):
        return [f"  {name}() {{", "    return null;", "  }"] if container else [f"function {name}() {{", "  return null;", "}"]

    @staticmethod
    def place(units, unit_container, lines):
        members = [it.end for it in units if it.container == unit_container]
        return max(members) if unit_container and members else len(lines)


ALL = [Python, Go, TypeScript]


def is_checked(path):
    """Whether the tools look at a file: not at what Go passes over, nor at TypeScript's tests, which need packages."""
    parts = path.split("/")
    if path.endswith(".ts"):
        return "src" in parts and not any("test" in it or it.startswith("bench") for it in parts)
    return not any(it.startswith(("_", "testdata")) and not it.startswith("__") for it in parts)


def of(history):
    """The language with the most files."""
    return max(ALL, key=lambda it: len(history.files("HEAD", it.suffix)))
