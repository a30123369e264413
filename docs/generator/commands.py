"""The commands that pages show: each exists, and takes the options that it is given."""

import re

from .cli import helps
from .program import PageError, Program

FENCED = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`(broker [^`]+)`")
# What ends a command, or begins a comment.
END = re.compile(r"[|;<>&]| # |  +#")


def expect_known(program: Program):
    """Fails with all commands and options that the program does not have."""
    root = program.root
    files = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("examples/*/README.md")]
    # These say what was, or are made from the help itself.
    files = [it for it in files if it.name not in ("CHANGELOG.md", "cli.md")]
    wrong = [
        f"{file.relative_to(root)}: `{command}`: {problem}"
        for file in sorted(files)
        for command in shown(file.read_text())
        if (problem := problem_of(command, helps(program)))
    ]
    if wrong:
        raise PageError("\n  ".join([f"{len(wrong)} commands in pages are not those of the program:", *wrong]))


def shown(text: str):
    """The commands in code."""
    for language, block in FENCED.findall(text):
        if language not in ("console", "sh", "text", ""):
            continue
        lines = [it.strip() for it in block.replace("\\\n", " ").splitlines()]
        # Where there are prompts, the other lines are what was printed.
        typed = [it[2:] for it in lines if it.startswith("$ ")] or lines
        yield from (it for it in typed if it.startswith("broker "))
    for found in INLINE.findall(FENCED.sub("", text)):
        yield " ".join(found.split())


def problem_of(command: str, helps: dict[tuple[str, ...], str]) -> str | None:
    words = END.split(command)[0].split()[1:]
    names: tuple[str, ...] = ()
    while words and (*names, words[0]) in helps:
        names = (*names, words.pop(0))
    # `COMMAND` stands for any; a command with others below it may have arguments of its own.
    if not names and words and not words[0].startswith("-") and not words[0].isupper():
        return f"there is no command `{words[0]}`"
    for word in words:
        if word == "--":
            return None
        option = re.match(r"--?[a-z][a-z-]*", word)
        if option and names and not re.search(rf"(?<![\w-]){option[0]}(?![\w-])", helps[names]):
            return f"`broker {' '.join(names)}` has no option `{option[0]}`"
    return None
