"""The command line: the help of every command."""

from functools import cache
from pathlib import Path

from .program import NOTICE, Program

INTRODUCTION = """
# Command line

Help of every command, as `broker COMMAND --help` prints it.
"""


def pages(program: Program) -> dict[Path, str]:
    parts = [NOTICE + INTRODUCTION.rstrip()]
    for names, text in helps(program).items():
        heading = "#" * max(2, min(len(names) + 1, 4))
        parts.append(f"{heading} {' '.join(['broker', *names])}\n\n```text\n{text}\n```")
    return {program.page("reference/cli.md"): "\n\n".join(parts) + "\n"}


@cache
def helps(program: Program) -> dict[tuple[str, ...], str]:
    """The help of the program and every command, each before those that are below it."""
    return {names: help_of(program, names) for names in [(), *commands(program, ())]}


def help_of(program: Program, names: tuple[str, ...]) -> str:
    return "\n".join(line.rstrip() for line in program.run(*names, "--help").strip().splitlines())


def commands(program: Program, names: tuple[str, ...]):
    # The short help has a line per command.
    lines = iter(program.run(*names, "-h").splitlines())
    for line in lines:
        if line == "Commands:":
            break
    for line in lines:
        if not line:
            return
        # Further lines of a description are indented more.
        if line.startswith("   ") or (name := line.split()[0]) == "help":
            continue
        yield (*names, name)
        yield from commands(program, (*names, name))
