"""Definition and hover through `broker lsp --servers`, and from the server itself."""

import time

import projects
from client import Client
from support import BROKER, PAUSE, ROUNDS, SERVERS, busy, milliseconds, row, scratch, table

BRANCHES, CLIENTS = 20, 2
WARM_UP = 20
METHODS = {"definition": "textDocument/definition", "hover": "textDocument/hover"}


class Asker:
    def __init__(self, client: Client, project: projects.Project) -> None:
        self.client, self.project, self.is_longer = client, project, False
        self.uri = client.open(project.path, project.language, project.text)
        at = {"line": project.line, "character": project.character}
        self.params = {"textDocument": {"uri": self.uri}, "position": at}
        # Until the server has read the project.
        deadline = time.monotonic() + 120
        while project.defined_in not in str(self.ask("definition")[1]):
            if time.monotonic() > deadline:
                raise SystemExit(f"error: {client.name} does not find the definition: {self.ask('definition')}")
            time.sleep(0.2)

    def type(self) -> None:
        """Changes the end of the first line, so that each question is about a text that was just typed."""
        end = len(self.project.text.splitlines()[0])
        if self.is_longer:
            self.client.change(self.uri, 0, end, end + 1, "")
        else:
            self.client.change(self.uri, 0, end, end, " ")
        self.is_longer = not self.is_longer

    def ask(self, kind: str) -> tuple[float, object]:
        start = time.perf_counter()
        while True:
            answer = self.client.try_ask(METHODS[kind], self.params)
            # A server that was still taking in what was typed wants to be asked again.
            if answer.get("error", {}).get("code") not in (-32801, -32802):
                return time.perf_counter() - start, answer.get("result")


def measure() -> list[str]:
    lines = [f"Through `broker lsp --servers` and from the server itself, {ROUNDS} questions each in turns, {PAUSE} ms apart", ""]
    lines += table("server", "question", "way", "p50", "p99", f"p50, {BRANCHES} branches are checked", "p99")
    for server in SERVERS:
        lines += of_server(server)
    return lines


def of_server(server: str) -> list[str]:
    with scratch() as it:
        project = projects.make(it, server)
        ways = [("broker", [BROKER, "lsp", "--servers"]), (server, project.command)]
        askers = [Asker(Client(name, command, it.root, it.environment), project) for name, command in ways]
        alone = turns(askers)
        with busy(it, BRANCHES, CLIENTS, project.path) as did:
            together = turns(askers)
        for asker in askers:
            asker.client.close()
    rows = []
    for kind in METHODS:
        for asker in askers:
            name = asker.client.name
            rows.append(row(server, kind, name, *milliseconds(alone[name, kind]), *milliseconds(together[name, kind])))
    return [*rows, row(server, "checks meanwhile", did[0], "", "", "", "")]


def turns(askers: list[Asker]) -> dict[tuple[str, str], list[float]]:
    times: dict[tuple[str, str], list[float]] = {}
    for number in range(WARM_UP + ROUNDS):
        for kind in METHODS:
            for asker in askers:
                time.sleep(PAUSE / 1_000)
                asker.type()
                taken, answer = asker.ask(kind)
                if answer is None:
                    raise SystemExit(f"error: {asker.client.name} has no answer to {kind}")
                if number >= WARM_UP:
                    times.setdefault((asker.client.name, kind), []).append(taken)
    return times
