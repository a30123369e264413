"""What goes wrong between a client and its server: each is a clear error, and the server goes on."""

import contextlib
import http.client
import json
import shutil
import threading
import unittest
import urllib.parse

from support import CLIENT, OLD, HttpServer, Wire, begun, replace, workspace

LARGE = 50 << 20
NO_JSON = [b"{", b"not json", b"\xff\xfe", b"[" * 100_000, b'{"jsonrpc": "2.0", "id": 9, "method": "ping"} trailing']
NO_MESSAGE = ["[]", "null", "7", "{}", '{"jsonrpc": "1.0", "id": 9, "method": "ping"}', '{"jsonrpc": "2.0", "id": 9, "method": 7}']
# Parameters of `tools/call`.
NO_CALL = [None, {}, {"name": 7}, {"name": "read_file", "arguments": "x"}, {"name": "read_file", "arguments": [1]}]

# A JSON value of each type, by the type's name in a schema.
VALUES = {"string": "x", "integer": 7, "boolean": True, "array": [1], "object": {"x": 1}}


class OneBranch(unittest.TestCase):
    """Two sessions that edit one branch, each at the revision that it has seen."""

    def setUp(self):
        folder = workspace(a_py="x = 0\n")
        self.one, self.two = begun(folder), begun(folder)
        self.addCleanup(self.one.kill)
        self.addCleanup(self.two.kill)
        self.one.call("branch_fork", name="both")
        self.text = "x = 0"

    def edit(self, wire: Wire, revision: int, text: str) -> dict:
        edit = {"target_file": "a.py", "code_edit": replace(self.text, text), "branch": "both", "if_revision": revision, "check": False}
        return wire.call("edit_file", **edit)

    def revision(self) -> int:
        return self.two.call("read_file", target_file="a.py", branch="both")["structuredContent"]["revision"]

    def test_the_second_at_a_revision_is_refused(self):
        revision = self.revision()
        first = self.edit(self.one, revision, "x = 1")["structuredContent"]
        self.assertEqual((first["applied"], first["revision"]), (True, revision + 1))
        second = self.edit(self.two, revision, "x = 2")
        self.assertTrue(second["isError"])
        self.assertIn(f"revision {revision + 1}", second["content"][0]["text"])
        self.text = "x = 1"
        self.assertTrue(self.edit(self.two, revision + 1, "x = 2")["structuredContent"]["applied"])

    def test_at_the_same_time_one_of_them_wins(self):
        for turn in range(20):
            revision, answers = self.revision(), {}

            def go(name: str, wire: Wire) -> None:
                answers[name] = self.edit(wire, revision, f"x = '{name} {turn}'")

            threads = [threading.Thread(target=go, args=it) for it in [("one", self.one), ("two", self.two)]]
            for it in threads:
                it.start()
            for it in threads:
                it.join()
            applied = [name for name, answer in answers.items() if not answer["isError"]]
            self.assertEqual(len(applied), 1, answers)
            text = self.two.call("read_file", target_file="a.py", branch="both")["structuredContent"]["text"]
            self.text = f"x = '{applied[0]} {turn}'"
            self.assertEqual(text, self.text + "\n")


class Messages(unittest.TestCase):
    def setUp(self):
        self.wire = begun(workspace(a_py="x = 1\n"))
        self.addCleanup(self.wire.kill)

    def goes_on(self) -> None:
        self.assertFalse(self.wire.call("read_file", target_file="a.py")["isError"])

    # As the official SDKs have it: an answer without an id could be answered in turn.
    def test_a_line_that_is_no_json_is_passed_over(self):
        for line in NO_JSON:
            self.wire.send_bytes(line)
            self.goes_on()

    def test_json_that_is_no_message_is_an_invalid_request(self):
        for line in NO_MESSAGE:
            with self.subTest(line):
                self.wire.send(line)
                self.assertEqual(self.wire.receive()["error"]["code"], -32600)
                self.goes_on()

    def test_an_empty_line_and_an_unknown_notification_are_passed_over(self):
        self.wire.send("")
        self.wire.notify("notifications/no_such_thing", x=1)
        self.wire.notify("notifications/cancelled", requestId=12345)
        self.goes_on()

    def test_an_answer_to_nothing_is_passed_over(self):
        self.wire.send(json.dumps({"jsonrpc": "2.0", "id": 4711, "result": {}}))
        self.goes_on()

    def errors(self) -> list[dict]:
        return [self.wire.answer(self.wire.request_with("tools/call", it))["error"] for it in NO_CALL]

    def test_a_call_without_a_tool_or_arguments_is_an_error(self):
        self.assertEqual(len(self.errors()), len(NO_CALL))
        self.goes_on()

    def test_a_call_without_a_tool_or_arguments_has_invalid_parameters(self):
        self.assertEqual({it["code"] for it in self.errors()}, {-32602})


class Arguments(unittest.TestCase):
    def wrong(self) -> list[tuple[str, str, dict]]:
        """Answers to each argument of each tool with each type that it has not."""
        wire = begun(workspace(a_py="x = 1\n"))
        self.addCleanup(wire.kill)
        answers = []
        for tool in wire.ask("tools/list")["result"]["tools"]:
            properties, required = tool["inputSchema"].get("properties", {}), tool["inputSchema"].get("required", [])
            for name, property in properties.items():
                for value in wrong_values(property):
                    arguments = {it: fitting(properties[it]) for it in required} | {name: value}
                    answers.append((tool["name"], name, wire.call(tool["name"], **arguments)))
        self.assertEqual(wire.call("branch_list")["structuredContent"]["branches"], [])
        return answers

    def test_each_of_another_type_is_refused(self):
        answers = self.wrong()
        self.assertGreater(len(answers), 200)
        for tool, name, answer in answers:
            with self.subTest(tool=tool, argument=name):
                self.assertTrue(answer["isError"], answer)
                self.assertTrue(answer["content"][0]["text"].startswith(f"error: arguments of `{tool}`: `{name}"), answer)

    def test_what_clients_send_instead_is_taken(self):
        wire = begun(workspace(a_py="x = 1\ny = 2\nz = 3\n"))
        self.addCleanup(wire.kill)
        lines = {"start_line_one_indexed": "2", "end_line_one_indexed_inclusive": 2.0, "branch": None}
        read = wire.call("read_file", relative_workspace_path="a.py", explanation="why", should_read_entire_file="false", **lines)
        self.assertEqual(read["structuredContent"]["text"], "y = 2\n")
        edits = json.dumps([{"target_file": "a.py", "code_edit": replace("x = 1", "x = 2"), "instructions": "x is 2"}])
        self.assertTrue(wire.call("edit_file", edits=edits, check="")["structuredContent"]["applied"])
        self.assertTrue(wire.call("check", paths="a.py", all="True")["structuredContent"]["ok"])
        found = wire.call("grep_search", query="x = 2", include_pattern="*.txt|*.py", case_sensitive=None)
        self.assertEqual(found["structuredContent"]["matches"], ["a.py:1:x = 2"])

    def large(self, wire: Wire) -> int:
        text = "x = '" + "y" * LARGE + "'\n"
        return wire.request("tools/call", name="edit_file", arguments={"target_file": "a.py", "code_edit": text})

    def test_a_large_one_does_no_harm(self):
        wire = begun(workspace(a_py="x = 1\n"))
        self.addCleanup(wire.kill)
        self.large(wire)
        self.assertEqual(wire.call("read_file", target_file="a.py")["structuredContent"]["text"], "x = 1\n")

    def test_a_large_one_is_refused(self):
        wire = begun(workspace(a_py="x = 1\n"))
        self.addCleanup(wire.kill)
        self.assertTrue(wire.answer(self.large(wire), seconds=10))

    def test_a_large_one_over_http_is_refused(self):
        server = HttpServer(workspace(a_py="x = 1\n"))
        self.addCleanup(server.close)
        begin = {"protocolVersion": OLD[-1], "capabilities": {}, "clientInfo": CLIENT}
        self.assertEqual(post(server, begin | {"x": "y" * LARGE}), 413)
        self.assertEqual(post(server, begin), 200)


def types(property: dict) -> set[str]:
    stated = property.get("type", [])
    found = {stated} if isinstance(stated, str) else set(stated)
    if "enum" in property or "$ref" in property or "anyOf" in property:
        found.add("string")
    return found


def wrong_values(property: dict) -> list[object]:
    """Values of each type that an argument has not. The only element of a list of texts may stand in the list's place."""
    taken = types(property) | ({"string"} if property.get("items", {}).get("type") == "string" else set())
    return [value for name, value in VALUES.items() if name not in taken]


def fitting(property: dict) -> object:
    if "enum" in property:
        return property["enum"][0]
    return VALUES[next(it for it in VALUES if it in types(property))]


def post(server: HttpServer, params: dict) -> int:
    """The status of an answer, which may come before all is sent."""
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": server.token}
    url = urllib.parse.urlsplit(server.url)
    connection = http.client.HTTPConnection(url.netloc, timeout=60)
    try:
        with contextlib.suppress(ConnectionError):
            connection.request("POST", url.path, message, headers)
        return connection.getresponse().status
    finally:
        connection.close()


class Folder(unittest.TestCase):
    def test_one_that_was_removed_is_named_and_one_that_comes_back_is_served(self):
        folder = workspace(a_py="x = 1\n")
        wire = begun(folder)
        self.addCleanup(wire.kill)
        wire.call("edit_file", target_file="a.py", code_edit=replace("x = 1", "x = 2"))
        shutil.rmtree(folder)
        calls = {
            "read_file": {"target_file": "b.py"},
            "list_dir": {},
            "grep_search": {"query": "x"},
            "check": {"all": True},
            "run_terminal_cmd": {"command": "true"},
            "branch_commit": {},
        }
        for tool, arguments in calls.items():
            with self.subTest(tool):
                answer = wire.call(tool, **arguments)
                self.assertTrue(answer["isError"], answer)
                self.assertTrue(answer["content"][0]["text"].startswith("error: "), answer)
        folder.mkdir()
        (folder / "a.py").write_text("x = 1\n")
        read = wire.call("read_file", target_file="a.py")
        self.assertEqual(read["structuredContent"]["text"], "x = 2\n", read)


if __name__ == "__main__":
    unittest.main()
