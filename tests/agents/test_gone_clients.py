"""Clients that are gone, or want no answer any more, in the middle of a call: what it runs is ended, and others are served."""

import http.client
import json
import signal
import unittest
import urllib.parse

from support import CLIENT, OLD, HttpServer, Wire, begun, commands_with, until, workspace

STATELESS = "2026-07-28"


def ended(word: str, seconds: float = 20) -> None:
    until("the command is ended", lambda: not commands_with(word), seconds)


class Stdio(unittest.TestCase):
    def start(self, seconds: str) -> Wire:
        wire = begun(workspace(a_py="x = 1\n"))
        # Two processes, of which only one is Broker's child.
        wire.request("tools/call", name="run_terminal_cmd", arguments={"command": f"sh -c 'sleep {seconds}; true' && true"})
        until("the command runs", lambda: commands_with(seconds))
        return wire

    def test_a_killed_server(self):
        wire = self.start("7001.1")
        wire.kill()
        ended("7001.1")

    def test_a_client_that_closes_its_end(self):
        wire = self.start("7002.1")
        self.addCleanup(wire.kill)
        wire.process.stdin.close()
        ended("7002.1")

    def test_a_call_that_is_cancelled(self):
        wire = self.start("7003.1")
        self.addCleanup(wire.kill)
        wire.notify("notifications/cancelled", requestId=wire.last, reason="changed my mind")
        ended("7003.1", seconds=3)
        self.assertFalse(wire.call("read_file", target_file="a.py")["isError"])

    def test_a_server_that_is_terminated(self):
        wire = self.start("7004.1")
        self.addCleanup(wire.kill)
        wire.process.send_signal(signal.SIGTERM)
        ended("7004.1")

    def test_another_client_goes_on(self):
        folder = workspace(a_py="x = 1\n")
        other = begun(folder)
        wire = begun(folder)
        wire.request("tools/call", name="run_terminal_cmd", arguments={"command": "sleep 7005.1"})
        until("the command runs", lambda: commands_with("7005.1"))
        wire.kill()
        self.assertFalse(other.call("read_file", target_file="a.py")["isError"])
        self.assertEqual(other.close(), 0)


class HttpClient:
    """A connection, with the headers of its session if it has one."""

    def __init__(self, server: HttpServer) -> None:
        url = urllib.parse.urlsplit(server.url)
        self.path = url.path
        self.connection = http.client.HTTPConnection(url.netloc, timeout=60)
        self.headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": server.token}

    def send(self, method: str, params: dict, **headers: str) -> None:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.connection.request("POST", self.path, json.dumps(message), self.headers | headers)

    def begin(self) -> None:
        self.send("initialize", {"protocolVersion": OLD[-1], "capabilities": {}, "clientInfo": CLIENT})
        answer = self.connection.getresponse()
        answer.read()
        self.headers |= {"Mcp-Session-Id": answer.getheader("Mcp-Session-Id"), "MCP-Protocol-Version": OLD[-1]}

    def run(self, command: str) -> None:
        self.send("tools/call", {"name": "run_terminal_cmd", "arguments": {"command": command}})

    def run_without_session(self, command: str) -> None:
        prefix = "io.modelcontextprotocol/"
        meta = {f"{prefix}protocolVersion": STATELESS, f"{prefix}clientCapabilities": {}, f"{prefix}clientInfo": CLIENT}
        params = {"name": "run_terminal_cmd", "arguments": {"command": command}, "_meta": meta}
        headers = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": "tools/call", "Mcp-Name": "run_terminal_cmd"}
        self.send("tools/call", params, **headers)


class Http(unittest.TestCase):
    def setUp(self):
        self.server = HttpServer(workspace(a_py="x = 1\n"))
        self.addCleanup(self.server.close)
        self.client = HttpClient(self.server)
        self.addCleanup(self.client.connection.close)

    def test_a_terminated_server(self):
        self.client.run_without_session("sleep 7006.1")
        until("the command runs", lambda: commands_with("7006.1"))
        self.server.process.terminate()
        ended("7006.1")

    def test_a_closed_connection_without_a_session(self):
        self.client.run_without_session("sleep 7007.1")
        until("the command runs", lambda: commands_with("7007.1"))
        self.client.connection.close()
        ended("7007.1", seconds=3)

    def test_a_deleted_session(self):
        self.client.begin()
        self.client.run("sleep 7008.1")
        until("the command runs", lambda: commands_with("7008.1"))
        self.client.connection.close()
        self.client.connection.request("DELETE", self.client.path, headers=self.client.headers)
        self.assertEqual(self.client.connection.getresponse().status, 202)
        self.client.connection.close()
        ended("7008.1")


if __name__ == "__main__":
    unittest.main()
