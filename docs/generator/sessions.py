"""Sessions at a terminal: the commands of a marked block are run, and the block gets what they print."""

import re
import subprocess
from pathlib import Path

from .program import PageError, Program

# The mark before a block names the workspace that it is run in.
BLOCK = re.compile(r"(<!-- session: ([\w-]+) -->\n```console\n)(.*?)(```\n)", re.DOTALL)
SUM = "def total(prices):\n    return sum(prices)\n"
ORDERS = """import requests


def order(number):
    return requests.get(f"https://shop.example/orders/{number}").json()


def stock():
    return requests.get("https://shop.example/stock", timeout=3).json()
"""
RULE = """id: requests-timeout
language: python
severity: warning
message: requests.$METHOD without a timeout may wait for ever
rule:
  pattern: requests.$METHOD($$$ARGS)
constraints:
  METHOD: { regex: ^(get|post|put|patch|delete|head|options|request)$ }
"""
TEST = """id: requests-timeout
valid:
  - requests.get(url, timeout=3)
  - requests.codes(404)
invalid:
  - requests.get(url)
  - requests.request("GET", url)
"""
WORKSPACES = {
    "branch": {"cart.py": SUM},
    "agent": {"cart.py": SUM},
    "edit": {"cart.py": SUM},
    "check": {"cart.py": "import os\n\n\ndef total(prices=[]):\n    return sum(prices)\n"},
    "tree": {"cart.py": "if cart == None:\n    cart = []\n"},
    "rule": {"orders.py": ORDERS, ".broker/rules/requests.yml": RULE},
    "rule-test": {".broker/rules/requests.yml": RULE, ".broker/rules/tests/requests.yml": TEST},
}
# The made-up name of an agent's branch.
MADE_UP = (re.compile(r"\bagent-[0-9a-f]+"), "agent-8117176487b224daf71")


# What can be read in two minutes.
README_BYTES = 6000


def pages(program: Program) -> dict[Path, str]:
    made = {}
    for page in [program.root / "README.md", *sorted(program.root.glob("docs/*.md"))]:
        text = page.read_text()
        if BLOCK.search(text):
            made[page] = BLOCK.sub(lambda it: it[1] + played(program, it[2], it[3], page) + it[4], text)
    if (size := len(made[program.root / "README.md"].encode())) > README_BYTES:
        raise PageError(f"README.md has {size} bytes, and may have {README_BYTES}: move something to docs")
    return made


def played(program: Program, name: str, block: str, page: Path) -> str:
    """The commands of a block, each with what it prints to standard output."""
    if name not in WORKSPACES:
        raise PageError(f"{page}: docs/generator/sessions.py has no workspace `{name}`")
    folder = program.scratch(name)
    workspace = folder / "shop"
    # Which makes it a repository, wherever the folder for temporary files is.
    (workspace / ".git").mkdir(parents=True)
    for path, text in WORKSPACES[name].items():
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text(text)
    (folder / "broker").symlink_to(program.path)
    environment = {**program.environment, "PATH": f"{folder}:{program.environment['PATH']}"}

    def run(command: str) -> str:
        shell = ["bash", "-c", command]
        done = subprocess.run(shell, cwd=workspace, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        # A finding is no failure.
        if done.returncode > 1:
            raise PageError(f"{page}: `{command}` exits with {done.returncode}: {done.stderr.strip()}")
        return MADE_UP[0].sub(MADE_UP[1], done.stdout)

    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    try:
        return "".join(f"{line}\n{run(line[2:])}" for line in commands)
    finally:
        subprocess.run(["broker", "daemon", "stop"], executable=program.path, env=environment, capture_output=True, check=False)
