"""Variables of the environment: lists from the sources, and a look at whether the page describes every variable that is read."""

import re
from pathlib import Path

from .program import PageError, Program, code, filled

NAME = re.compile(r'"((?:BROKER|OTEL)_[A-Z_]*[A-Z])"')
# Variables of the build and of tests.
OTHERS = re.compile(r"BROKER_(BUILD|BUNDLE|RUSTC|TARGET|DEV_|TEST_|CHURN|KILL|OPERATIONS|RACE|SEED|SKETCH|APPLY_PATCH|GUESTS)")


def pages(program: Program) -> dict[Path, str]:
    page = program.page("reference/environment.md")
    text = page.read_text()
    read = {name for file in sources(program.root) for name in NAME.findall(file.read_text())}
    missing = sorted(name for name in read if not OTHERS.match(name) and f"`{name}`" not in text)
    if missing:
        raise PageError(f"{page} does not describe {', '.join(missing)}")
    gone = sorted(name for name in re.findall(r"`(BROKER_[A-Z_]+)`", text) if name not in read)
    if gone:
        raise PageError(f"{page} describes {', '.join(gone)}, which no source reads")
    return {page: filled(page, lists(program.root / "broker/crates"))}


def lists(crates: Path) -> str:
    """The variables that programs get which Broker starts."""
    servers = (crates / "language-servers/src/environment.rs").read_text()
    runs = (crates / "shadow/src/defaults.rs").read_text()
    return f"""
## Variables that are handed on

Language servers and checkers get these variables of the user:
{code(constant(servers, "OF_USER"))}.

And these of a project, from the shell of the last command for the workspace:
{code(constant(servers, "OF_PROJECT"))}.

Commands of `broker run` get these, besides those of `--env` and of `env` in [`[run]`](configuration.md#run):
{code(constant(runs, "VARIABLES"))}.

Of the home folder they see:
{code("~/" + it for it in constant(runs, "OF_HOME"))}, and what these variables name:
{code(constant(runs, "FOLDERS"))}; of `CARGO_HOME` `bin`, `env`, `git` and `registry`.
"""


def constant(source: str, name: str) -> list[str]:
    """The strings of a list in Rust."""
    found = re.search(rf"const {name}: (?:&?\[&str(?:; \d+)?\]) = &?\[(.*?)\];", source, re.DOTALL)
    if not found:
        raise PageError(f"docs/generator/environment.py does not find the list {name}")
    return re.findall(r'"([^"]+)"', found[1])


def sources(root: Path):
    """The sources of the program, without tests."""
    for file in sorted((root / "broker").rglob("*.rs")):
        if not {"tests", "benches", "testkit", "target", "examples"} & set(file.relative_to(root).parts) and file.name != "tests.rs":
            yield file
