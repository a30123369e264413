"""The licence texts of all that is linked into the program or its plugins, each text once."""

import pathlib, re

from dependencies import Crate, Data
from release import PROGRAM, ROOT, VERSION, fail

TEXTS = ROOT / "packaging/texts"
NAMES = re.compile(r"^(un)?licen[cs]es?([-_. ].*)?$|^(copying|copyright|notice|patents)([-_. ].*)?$", re.I)
# Code and data, whatever their names.
NO_TEXT = {".rs", ".py", ".js", ".json", ".toml", ".html", ".snap", ".yml", ".yaml", ".c", ".h", ".svg", ".sh"}
# Folders that are not compiled.
LEFT_OUT = {"tests", "test", "testdata", "test-data", "fixtures", "resources", "benches", "examples", "target"}

TOOLCHAIN = """\
The program and its plugins contain parts of the standard library of Rust {rust} (MIT OR Apache-2.0, the Rust project's
contributors), and of compiler-rt, a part of LLVM (Apache-2.0 WITH LLVM-exception). The plugins contain parts of wasi-libc
(Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT), which is based on musl (MIT, Copyright (c) 2005-2020 Rich Felker, et al.)
and cloudlibc (BSD-2-Clause, Copyright (c) 2015-2017 Nuxi, https://nuxi.nl/).
"""


def texts_of(crate: Crate) -> list[tuple[str, str]]:
    """Path and text of each licence file in the crate's sources."""
    found = {}
    if crate.licence_file:
        found[pathlib.Path(crate.folder, crate.licence_file)] = crate.licence_file
    for path in sorted(crate.folder.rglob("*")):
        inner = path.relative_to(crate.folder)
        wanted = NAMES.match(path.name) or inner.parts[0] == "LICENSES"
        if wanted and path.suffix not in NO_TEXT and not LEFT_OUT.intersection(inner.parts) and path.is_file():
            found.setdefault(path, str(inner))
    read = lambda it: it.read_text(errors="replace").replace("\r\n", "\n").replace("\f", "\n").strip("\n")
    texts = [(name, read(path)) for path, name in found.items() if path.is_file()]
    # A file that only says that the licences are in others is of use with those.
    return [(name, text) for name, text in texts if text.strip()]


def document(crates: list[Crate], data: list[Data], rust: str) -> str:
    crates = [it for it in crates if not it.own]
    users: dict[str, list[str]] = {}
    texts: dict[str, str] = {}

    def add(text: str, user: str) -> None:
        key = " ".join(text.split())
        texts.setdefault(key, text)
        if user not in users.setdefault(key, []):
            users[key].append(user)

    for crate in crates:
        found = texts_of(crate)
        for _, text in found:
            add(text, f"{crate.name} {crate.version}")
        # A crate whose sources carry at most a notice, and no licence.
        if not any("copyright" not in name.lower() and "notice" not in name.lower() for name, _ in found):
            for text in _standard(crate):
                add(text, f"{crate.name} {crate.version}")
    for it in data:
        add(it.text.read_text().strip("\n"), f"{it.name} {it.version}: schemas")

    line = "=" * 100
    title = f"Third-party software in {PROGRAM} {VERSION}"
    out = [
        title, "=" * len(title), "",
        f"{len(crates)} crates and {len(data)} sets of schemas are linked into the program or its plugins, or compile them. The sources of",
        "each crate are in the registry of Rust's packages under its name and version, unmodified; this holds for those under",
        "MPL-2.0 as well. The texts of all licences follow the list, each once, with those that it is of.", "",
        TOOLCHAIN.format(rust=rust), line, "",
        *(f"{it.name} {it.version}: {it.licence or 'see its text'}" for it in crates),
        *(f"{it.name} {it.version}: {it.licence} (schemas)" for it in data), "",
    ]
    for key in sorted(texts, key=lambda it: (users[it][0], it)):
        out += [line, *_wrapped(users[key]), line, "", texts[key], ""]
    return "\n".join(out)


def _standard(crate: Crate) -> list[str]:
    """The texts of a crate's licence where its sources have none."""
    if not crate.licence:
        fail(f"{crate.name} {crate.version} has neither a licence nor a text of one", "it must not be shipped")
    holders = ", ".join(re.sub(r"\s*<.*?>", "", it) for it in crate.authors) or f"the authors of {crate.name}"
    texts = []
    for expression in crate.licence.replace("(", "").replace(")", "").replace(" AND ", " OR ").split(" OR "):
        path = TEXTS / f"{expression.strip().replace(' ', '-')}.txt"
        if not path.is_file():
            fail(f"{crate.name} {crate.version} carries no text of {expression}", f"put it into {path}")
        texts.append(path.read_text().replace("HOLDERS", holders).strip("\n"))
    return texts


def _wrapped(words: list[str]) -> list[str]:
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) > 98 and lines[-1]:
            lines.append("")
        lines[-1] += (", " if lines[-1] else "") + word
    return lines
