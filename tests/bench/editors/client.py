"""A language client: one thread reads, the measurement waits."""

import json
import os
import pathlib
import queue
import subprocess
import threading
import time

PATIENCE = 120


class Client:
    """A server with the documents that are open in it."""

    def __init__(self, name: str, command: list[str], root: pathlib.Path, environment: dict[str, str], pull: bool = False) -> None:
        self.name, self.root, self.pull = name, root, pull
        log = (root.parent / f"{name.replace('/', '-')}.log").open("ab")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": log}
        self.process = subprocess.Popen(command, cwd=root, env=environment, **pipes)
        log.close()
        self.last, self.versions = 0, {}
        self.answers: dict[int, dict] = {}
        self.published: dict[str, tuple[int | None, list[dict]]] = {}
        self.changed = threading.Condition()
        self.closed = False
        self.out: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        self.server = self.ask("initialize", self.introduction())
        self.notify("initialized", {})

    def introduction(self) -> dict:
        document = {
            "publishDiagnostics": {"versionSupport": True, "relatedInformation": True, "tagSupport": {"valueSet": [1, 2]}},
            "definition": {"linkSupport": True},
            "hover": {"contentFormat": ["markdown", "plaintext"]},
            "synchronization": {"didSave": True},
        }
        workspace = {"configuration": True, "workspaceFolders": True}
        if self.pull:
            document["diagnostic"] = {"relatedDocumentSupport": True}
            workspace["diagnostics"] = {"refreshSupport": True}
        folder = {"uri": self.root.as_uri(), "name": self.root.name}
        return {
            "processId": os.getpid(),
            "rootUri": folder["uri"],
            "workspaceFolders": [folder],
            "capabilities": {"textDocument": document, "workspace": workspace, "window": {"workDoneProgress": True}},
        }

    def read(self) -> None:
        stream = self.process.stdout
        while True:
            length = 0
            while (header := stream.readline().strip()):
                name, _, value = header.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if not length:
                break
            message = json.loads(stream.read(length))
            with self.changed:
                self.take(message)
                self.changed.notify_all()
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    def take(self, message: dict) -> None:
        method = message.get("method")
        if method is None:
            self.answers[message["id"]] = message
        elif "id" in message:
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": self.result_for(method, message.get("params"))})
        elif method == "textDocument/publishDiagnostics":
            params = message["params"]
            self.published[params["uri"]] = (params.get("version"), params["diagnostics"])

    def result_for(self, method: str, params: dict | None) -> object:
        if method == "workspace/configuration":
            return [None for _ in params["items"]]
        if method == "workspace/workspaceFolders":
            return [{"uri": self.root.as_uri(), "name": self.root.name}]
        return None

    def send(self, message: dict) -> None:
        body = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def notify(self, method: str, params: dict) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method: str, params: object) -> int:
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def wait(self, what: str, look):
        deadline = time.monotonic() + PATIENCE
        with self.changed:
            while True:
                found = look()
                if found is not None:
                    return found
                left = deadline - time.monotonic()
                if self.closed or left <= 0:
                    raise SystemExit(f"error: {self.name}: this never came: {what}")
                self.changed.wait(left)

    def try_ask(self, method: str, params: object) -> dict:
        number = self.request(method, params)
        return self.wait(method, lambda: self.answers.pop(number, None))

    def ask(self, method: str, params: object) -> object:
        answer = self.try_ask(method, params)
        if "error" in answer:
            raise SystemExit(f"error: {self.name}: {method}: {answer['error']}")
        return answer["result"]

    def uri(self, path: str) -> str:
        return (self.root / path).as_uri()

    def open(self, path: str, language: str, text: str) -> str:
        uri = self.uri(path)
        self.versions[uri] = 1
        self.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": language, "version": 1, "text": text}})
        return uri

    def change(self, uri: str, line: int, start: int, end: int, text: str) -> None:
        self.versions[uri] += 1
        at = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
        document = {"uri": uri, "version": self.versions[uri]}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"range": at, "text": text}]})

    def findings(self, uri: str) -> list[dict]:
        """Findings in the text that was sent last."""
        if self.pull:
            while True:
                answer = self.try_ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
                if "result" in answer:
                    return answer["result"]["items"]
                if answer["error"]["code"] not in (-32801, -32802):
                    raise SystemExit(f"error: {self.name}: {answer['error']}")
        version = self.versions[uri]

        def look() -> list[dict] | None:
            of, findings = self.published.get(uri, (None, []))
            return findings if of is not None and of >= version else None

        return self.wait(f"findings of version {version}", look)

    def close(self) -> None:
        self.try_ask("shutdown", None)
        self.notify("exit", {})
        self.process.wait(timeout=30)
