"""What the tests of agents share: workspaces, clients by hand, and a server over HTTP."""

import json
import os
import pathlib
import queue
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable

BROKER = os.environ["BROKER"]
WORK = pathlib.Path(os.environ["BROKER_TEST_WORK"])
EXAMPLE = pathlib.Path(os.environ["BROKER_TEST_EXAMPLE"])
OLD = ["2025-03-26", "2025-06-18", "2025-11-25"]
CLIENT = {"name": "test", "version": "1"}


def workspace(**files: str) -> pathlib.Path:
    folder = pathlib.Path(tempfile.mkdtemp(dir=WORK))
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


def example_project() -> pathlib.Path:
    folder = pathlib.Path(tempfile.mkdtemp(dir=WORK)) / "project"
    shutil.copytree(EXAMPLE / "project", folder)
    return folder


def replace(before: str, after: str) -> str:
    """A SEARCH/REPLACE block."""
    return f"<<<<<<< SEARCH\n{before}\n=======\n{after}\n>>>>>>> REPLACE\n"


def until(what: str, holds: Callable[[], bool], seconds: float = 20) -> None:
    """Polls for what has no event to wait for, such as the end of a process of another program."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.02)


def commands_with(word: str) -> list[str]:
    """Command lines of all processes that have an argument."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            arguments = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if word in arguments:
            found.append(" ".join(arguments))
    return found


class Wire:
    """JSON-RPC by hand."""

    def __init__(self, folder: pathlib.Path) -> None:
        command = [BROKER, "agent", "mcp", "--workspace", str(folder)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.last = 0
        self.received: queue.Queue[str] = queue.Queue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self) -> None:
        for line in self.process.stdout:
            self.received.put(line)
        self.received.put("")

    def send(self, line: str) -> None:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def send_bytes(self, line: bytes) -> None:
        self.process.stdin.buffer.write(line + b"\n")
        self.process.stdin.buffer.flush()

    def notify(self, method: str, **params: object) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "method": method} | ({"params": params} if params else {})))

    def request(self, method: str, **params: object) -> int:
        return self.request_with(method, params)

    def request_with(self, method: str, params: object) -> int:
        """With parameters of any type."""
        self.last += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}))
        return self.last

    def receive(self, seconds: float = 60) -> dict:
        try:
            line = self.received.get(timeout=seconds)
        except queue.Empty:
            raise AssertionError(f"no answer within {seconds} s") from None
        assert line, "the server ended"
        return json.loads(line)

    def answer(self, request: int, seconds: float = 60) -> dict:
        while True:
            answer = self.receive(seconds)
            if answer.get("id") == request:
                return answer

    def ask(self, method: str, **params: object) -> dict:
        return self.answer(self.request(method, **params))

    def begin(self, version: str = OLD[-1]) -> dict:
        answer = self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=CLIENT)
        self.notify("notifications/initialized")
        return answer["result"]

    def call(self, tool: str, **arguments: object) -> dict:
        return self.ask("tools/call", name=tool, arguments=arguments)["result"]

    def close(self) -> int:
        self.process.stdin.close()
        return self.ended()

    def kill(self) -> None:
        self.process.kill()
        self.ended()
        self.process.stdin.close()

    def ended(self) -> int:
        status = self.process.wait(timeout=20)
        self.reader.join()
        self.process.stdout.close()
        return status


def begun(folder: pathlib.Path) -> Wire:
    """A client that is ready to call tools."""
    wire = Wire(folder)
    wire.begin()
    return wire


class HttpServer:
    """`broker agent mcp --http`, with its address and the header that its clients send."""

    def __init__(self, folder: pathlib.Path) -> None:
        command = [BROKER, "agent", "mcp", "--workspace", str(folder), "--http", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[-1]
        self.token = self.process.stdout.readline().split(maxsplit=1)[1].strip()

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=20)
        self.process.stdout.close()
