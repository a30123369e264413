"""Memory of one editor and 20 agents: on one language server through Broker, and with a server for each."""

import json
import subprocess
import time

import projects
from client import Client
from support import BROKER, SERVERS, Scratch, family, row, scratch, table, weight

AGENTS = 20


class Agent:
    """`broker agent mcp` with a branch of its own, in which it edits and checks."""

    def __init__(self, it: Scratch, number: int, project: projects.Project) -> None:
        command = [BROKER, "agent", "mcp", "--workspace", str(it.root)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, env=it.environment, text=True, **pipes)
        self.last = 0
        version = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}
        self.ask("initialize", version)
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n")
        last = project.text.rstrip("\n").splitlines()[-1]
        comment = comment_of(project)
        edit = f"<<<<<<< SEARCH\n{last}\n=======\n{last}\n{comment} agent {number}\n>>>>>>> REPLACE\n"
        for tool, arguments in [
            ("edit_file", {"target_file": project.path, "code_edit": edit}),
            ("check", {"paths": [project.path]}),
        ]:
            answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
            if answer.get("isError"):
                raise SystemExit(f"error: {tool}: {answer}")

    def ask(self, method: str, params: dict) -> dict:
        self.last += 1
        message = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.last:
                return answer["result"]

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def measure() -> list[str]:
    lines = [f"Memory of one editor and {AGENTS} agents, each with an edit of its own that was checked (sum of PSS)", ""]
    lines += table("server", f"through Broker", "of it the servers", "their processes", f"{AGENTS + 1} servers", "ratio")
    for server in SERVERS:
        ours, of_servers, count = through_broker(server)
        theirs = directly(server)
        lines.append(
            row(server, f"{ours:,.0f} MiB", f"{of_servers:,.0f} MiB", count, f"{theirs:,.0f} MiB", f"{theirs / ours:.1f}")
        )
    return lines


def through_broker(server: str) -> tuple[float, float, int]:
    with scratch() as it:
        project = projects.make(it, server)
        editor = Client("broker", [BROKER, "lsp", "--servers"], it.root, it.environment)
        asked(editor, project)
        agents = [Agent(it, number, project) for number in range(AGENTS)]
        asked(editor, project)
        status = json.loads(it.broker("daemon", "status", "--output-format", "json"))
        servers = [one["pid"] for one in json.loads(it.broker("server", "list", "--output-format", "json")) if one.get("pid")]
        everyone = family([status["pid"], editor.process.pid, *(one.process.pid for one in agents)])
        of_servers = family(servers)
        result = weight(everyone | of_servers), weight(of_servers), len(servers)
        for agent in agents:
            agent.close()
        editor.close()
    return result


def directly(server: str) -> float:
    with scratch() as it:
        project = projects.make(it, server)
        clients = []
        for number in range(AGENTS + 1):
            client = Client(f"{server}-{number}", project.command, it.root, it.environment)
            asked(client, project, f"{comment_of(project)} agent {number}\n")
            clients.append(client)
        result = weight(family([it.process.pid for it in clients]))
        for client in clients:
            client.close()
    return result


def comment_of(project: projects.Project) -> str:
    return "#" if project.language == "python" else "//"


def asked(client: Client, project: projects.Project, more: str = "") -> None:
    """Opens the file, and waits until the server has read the project."""
    uri = client.uri(project.path)
    if uri not in client.versions:
        client.open(project.path, project.language, project.text + more)
    at = {"line": project.line, "character": project.character}
    params = {"textDocument": {"uri": uri}, "position": at}
    deadline = time.monotonic() + 120
    while project.defined_in not in str(client.try_ask("textDocument/definition", params).get("result")):
        if time.monotonic() > deadline:
            raise SystemExit(f"error: {client.name} does not find the definition")
        time.sleep(0.2)
