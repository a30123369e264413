"""From a keystroke to its findings, in files of 500 lines: alone, and while agents check 200 branches."""

import sysconfig
import pathlib
import time

from client import Client
from support import BROKER, ROUNDS, Scratch, busy, milliseconds, row, scratch, table

LINES = 500
BRANCHES, CLIENTS = 200, 8
WARM_UP = 20
# Keystrokes of one client before the turn of the next, and the seconds before each: a person types in one file for a while, and
# between two keystrokes the processors sleep.
BURST = 10
PAUSE = 0.05


def python_file() -> str:
    """A real file up to a definition, with one that is edited at its end."""
    lines = (pathlib.Path(sysconfig.get_paths()["stdlib"]) / "argparse.py").read_text().splitlines()
    end = max(number for number, line in enumerate(lines[: LINES - 6]) if line.startswith(("class ", "def ")))
    filling = ["#"] * (LINES - 4 - end)
    return "\n".join(lines[:end] + filling + ["", "def edited():", "    unused_0000 = 1", ""])


def javascript_file() -> str:
    functions = []
    for number in range((LINES - 4) // 8):
        functions.append(
            f"export function f{number}(values) {{\n"
            f"  const found = [];\n"
            f"  for (const it of values) {{\n"
            f"    if (it.name === 'n{number}' && it.weight > {number}) found.push(it);\n"
            f"  }}\n"
            f"  return found.map((it) => it.name);\n"
            f"}}\n"
        )
    text = "\n".join(functions)
    filling = "//\n" * (LINES - 4 - text.count("\n"))
    return text + filling + "export function edited() {\n  const unused_0000 = 1;\n}\n"


class Typist:
    """A client with a file in which the name of a variable is typed that no one uses, so that each text has another finding."""

    def __init__(self, client: Client, path: str, language: str, text: str) -> None:
        self.client = client
        self.uri = client.open(path, language, text)
        self.line = next(number for number, it in enumerate(text.splitlines()) if "unused_0000" in it)
        self.column = text.splitlines()[self.line].index("0000")
        self.times: list[float] = []
        client.findings(self.uri)

    def type(self, number: int) -> float:
        digits = f"{number % 10_000:04}"
        start = time.perf_counter()
        self.client.change(self.uri, self.line, self.column, self.column + 4, digits)
        findings = self.client.findings(self.uri)
        taken = time.perf_counter() - start
        if not any(f"unused_{digits}" in it["message"] for it in findings):
            raise SystemExit(f"error: {self.client.name} does not find what was typed in {self.uri}: {findings}")
        return taken


def typists(it: Scratch) -> list[Typist]:
    """Clients in an order in which those that are compared follow each other."""
    biome = it.program("biome")
    ruff = it.program("ruff")
    python, javascript = python_file(), javascript_file()
    # A project of its own, since Broker's linter of JavaScript leaves one with settings of biome's to biome.
    other = it.folder / "other"
    other.mkdir()
    (other / "biome.json").write_text('{ "root": true }\n')
    made = []
    for name, command, extension, language, text, pulls in [
        ("broker", [BROKER, "lsp"], "py", "python", python, (False, True)),
        ("ruff server", [ruff, "server"], "py", "python", python, (False, True)),
        ("broker", [BROKER, "lsp"], "js", "javascript", javascript, (False, True)),
        ("biome lsp-proxy", [biome, "lsp-proxy"], "js", "javascript", javascript, (False,)),
    ]:
        for pull in pulls:
            # A file of its own: of two editors on one file the last one counts.
            path = f"edited{len(made)}.{extension}"
            root = other if "biome" in name else it.root
            (root / path).write_text(text)
            client = Client(name, command, root, it.environment, pull)
            made.append(Typist(client, path, language, text))
    return made


def measure() -> list[str]:
    with scratch() as it:
        it.write("broker.toml", "")
        it.write("ruff.toml", "lint.select = ['E4', 'E7', 'E9', 'F']\n")
        it.write("agents.py", python_file())
        all_typists = typists(it)
        alone = turns(all_typists, 0)
        with busy(it, BRANCHES, CLIENTS, "agents.py") as did:
            together = turns(all_typists, 5_000)
        for typist in all_typists:
            typist.client.close()
    lines = [f"From a keystroke to its findings, in a file of {LINES} lines, {ROUNDS} keystrokes each, {BURST} in a turn", ""]
    lines += table("server", "file", "findings are", "p50", "p99", f"p50, {BRANCHES} busy branches", "p99")
    for typist, one, other in zip(all_typists, alone, together):
        kind = "asked for" if typist.client.pull else "published"
        lines.append(row(typist.client.name, typist.uri.rsplit(".", 1)[1], kind, *milliseconds(one), *milliseconds(other)))
    return [*lines, "", f"Meanwhile {did[0]} by {CLIENTS} clients."]


def turns(all_typists: list[Typist], first: int) -> list[list[float]]:
    times: list[list[float]] = [[] for _ in all_typists]
    end = first + WARM_UP + ROUNDS
    for burst in range(first, end, BURST):
        for typist, own in zip(all_typists, times):
            for number in range(burst, min(burst + BURST, end)):
                time.sleep(PAUSE)
                taken = typist.type(number)
                if number >= first + WARM_UP:
                    own.append(taken)
    return times
