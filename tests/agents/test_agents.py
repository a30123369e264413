"""Agents over MCP: the example, clients of each revision of the protocol, two at once, HTTP, and what goes wrong."""

import asyncio
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest
import urllib.error
import urllib.request

from mcp import Client, StdioServerParameters
from support import BROKER, EXAMPLE, OLD, HttpServer, Wire, example_project, replace, workspace


def server(folder: pathlib.Path) -> StdioServerParameters:
    return StdioServerParameters(command=BROKER, args=["agent", "mcp", "--workspace", str(folder)], env=dict(os.environ))


def text_of(result) -> str:
    return "\n".join(it.text for it in result.content if it.type == "text")


class Example(unittest.TestCase):
    def test_the_agent_mends_the_project(self):
        folder = example_project()
        command = [sys.executable, str(EXAMPLE / "agent.py"), BROKER, str(folder)]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        text = (folder / "shop.py").read_text()
        self.assertIn("discount / 100", text)
        self.assertNotIn("totl", text)
        self.assertNotIn("import os", text)


class Stdio(unittest.TestCase):
    def test_old_clients_are_served(self):
        folder = workspace(a_py="import os\n")
        for version in OLD:
            wire = Wire(folder)
            begun = wire.begin(version)
            self.assertEqual(begun["protocolVersion"], version)
            self.assertIn("branch_commit", begun["instructions"])
            tools = wire.ask("tools/list")["result"]["tools"]
            self.assertIn("edit_file", [it["name"] for it in tools])
            read = wire.call("read_file", target_file="a.py")
            self.assertEqual(read["structuredContent"]["text"], "import os\n")
            self.assertEqual(wire.close(), 0)

    def test_the_list_is_short_and_always_the_same(self):
        wire = Wire(workspace())
        wire.begin(OLD[-1])
        first, second = wire.ask("tools/list")["result"], wire.ask("tools/list")["result"]
        self.assertEqual(first, second)
        size = len(json.dumps(first["tools"], separators=(",", ":")))
        # Some four bytes are a token.
        self.assertLess(size, 12_300, f"{size} bytes")
        for tool in first["tools"]:
            self.assertEqual(tool["outputSchema"]["type"], "object", tool["name"])
            self.assertIn("openWorldHint" if tool["name"] != "run_terminal_cmd" else "destructiveHint", tool["annotations"])
        wire.close()

    def test_what_is_wrong_is_said(self):
        folder = workspace(a_py="x = 1\n")
        wire = Wire(folder)
        wire.begin(OLD[-1])
        self.assertIn("error", wire.ask("tools/call", name="no_such_tool", arguments={}))
        self.assertIn("error", wire.ask("no/such/method"))
        for arguments in [{}, {"target_file": 7}, {"target_file": "../x"}, {"target_file": "none.py"}]:
            answer = wire.call("read_file", **arguments)
            self.assertTrue(answer["isError"], arguments)
            self.assertTrue(answer["content"][0]["text"].startswith("error: "), answer)
        answer = wire.call("read_file", target_file=str(folder / "a.py"), typo=1)
        self.assertFalse(answer["isError"], answer)
        self.assertIn("`typo` was ignored", answer["content"][0]["text"])
        answer = wire.call("branch_discard", typo=1)
        self.assertIn("`typo` is none of them", answer["content"][0]["text"])
        answer = wire.call("read_file", target_file="a.py", branch="of another")
        self.assertIn("branch_list", answer["content"][0]["text"])
        wire.send("{ this is no JSON")
        self.assertFalse(wire.call("read_file", target_file="a.py")["isError"])
        shutil.rmtree(folder)
        answer = wire.call("read_file", target_file="a.py")
        self.assertTrue(answer["isError"])
        wire.close()

    def test_an_edit_that_can_be_read_in_two_ways_is_refused_and_picked(self):
        folder = workspace(a_py="def f():\n    a = 1\n    return a\n\n\ndef g():\n    a = 1\n    return a\n")
        wire = Wire(folder)
        wire.begin(OLD[-1])
        edit = "# ... existing code ...\n    a = 1\n    a += 1\n    return a\n# ... existing code ...\n"
        answer = wire.call("edit_file", target_file="a.py", code_edit=edit)
        self.assertTrue(answer["isError"], answer)
        text = answer["content"][0]["text"]
        readings = [line.split()[1].rstrip(":") for line in text.splitlines() if line.startswith("reading ")]
        self.assertGreaterEqual(len(readings), 2, text)
        answer = wire.call("reapply", target_file="a.py", reading=readings[0])
        self.assertFalse(answer.get("isError"), answer)
        now = wire.call("read_file", target_file="a.py")["structuredContent"]["text"]
        self.assertEqual(now.count("a += 1"), 1)
        wire.close()

    def test_a_client_that_reads_data_alone_is_sent_text(self):
        wire = Wire(workspace(a_py="x = 1\n"))
        wire.ask("initialize", protocolVersion=OLD[-1], capabilities={}, clientInfo={"name": "claude-code", "version": "1"})
        wire.notify("notifications/initialized")
        self.assertTrue(all("outputSchema" not in it for it in wire.ask("tools/list")["result"]["tools"]))
        read = wire.call("read_file", target_file="a.py")
        self.assertEqual(read["content"][0]["text"], "a.py, 1 lines\nx = 1\n")
        self.assertNotIn("structuredContent", read)
        wire.close()

    def test_edits_of_claude_code_are_understood(self):
        folder = workspace(a_py="x = 1\ny = 1\n")
        wire = Wire(folder)
        wire.begin(OLD[-1])
        text = lambda: wire.call("read_file", file_path=str(folder / "a.py"))["structuredContent"]["text"]
        often = wire.call("edit_file", file_path=str(folder / "a.py"), old_string="1", new_string="2")
        self.assertIn("in the file 2 times, at lines 1, 2", often["content"][0]["text"])
        wire.call("edit_file", file_path=str(folder / "a.py"), old_string="1", new_string="2", replace_all=True)
        self.assertEqual(text(), "x = 2\ny = 2\n")
        edits = [{"old_string": "x = 2", "new_string": "x = 3"}, {"old_string": "y = 2\n", "new_string": ""}]
        self.assertTrue(wire.call("edit_file", file_path="a.py", edits=edits)["structuredContent"]["applied"])
        self.assertEqual(text(), "x = 3\n")
        wire.call("edit_file", file_path="b.py", old_string="", new_string="def f():\n    return 1\n")
        wire.call("edit_file", target_file="b.py", symbol="f", place="body", code_edit="return 2")
        self.assertEqual(wire.call("read_file", target_file="b.py")["structuredContent"]["text"], "def f():\n    return 2\n")
        wire.close()

    def test_several_files_are_read_at_once(self):
        wire = Wire(workspace(a_py="x = 1\n", b_py="1\n2\n3\n"))
        wire.begin(OLD[-1])
        last = wire.call("read_file", target_file="b.py:-1")["structuredContent"]
        self.assertEqual(last["first_line"], last["total_lines"])
        odd = wire.call("read_file", paths=["b.py:1+2"])["content"][0]["text"]
        self.assertIn("named as a.py:10-40", odd)
        read = wire.call("read_file", paths=["a.py", "none.py", "b.py:2-3"])
        self.assertFalse(read["isError"], read)
        parts = read["content"][0]["text"].split("\n\n")
        self.assertEqual((parts[0], parts[2]), ("a.py, 1 lines\nx = 1", "b.py, lines 2-3 of 3\n2\n3"))
        self.assertTrue(parts[1].startswith("none.py: "), parts)
        self.assertEqual([it["file"] for it in read["structuredContent"]["files"]], ["a.py", "none.py", "b.py"])
        wire.close()

    def test_lines_are_searched_with_what_is_around(self):
        wire = Wire(workspace(a_py="1\nx\n3\n", b_py="x\nx\n"))
        wire.begin(OLD[-1])
        grep = lambda **more: wire.call("grep_search", pattern="x", **more)["content"][0]["text"]
        self.assertEqual(grep(glob="a.py", **{"-C": 1}), "1 line in 1 file\na.py-1-1\na.py:2:x\na.py-3-3")
        self.assertEqual(grep(output_mode="count"), "3 lines in 2 files\na.py:1\nb.py:2")
        self.assertEqual(grep(output_mode="files_with_matches", type="py"), "3 lines in 2 files\na.py\nb.py")
        self.assertEqual(grep(glob="*.rs"), "0 files match the pattern: nothing was searched")
        none = wire.call("grep_search", query="nothing", glob="*.py")["content"][0]["text"]
        self.assertEqual(none, "nothing found in 2 files")
        both = wire.call("grep_search", query="1.x", multiline=True)["content"][0]["text"]
        self.assertEqual(both, "2 lines in 1 file\na.py:1:1\na.py:2:x")
        wire.close()

    def test_a_definition_is_asked_about_by_its_name(self):
        wire = Wire(workspace(a_txt="f\n", b_py="def f():\n    return 1\n", c_py="from b import f\n\nf()\n"))
        wire.begin(OLD[-1])
        found = wire.call("query", kind="definition", symbol="f")["content"][0]["text"]
        self.assertEqual(found, "b.py:1:5 def f():\nthere may be more: no language server was asked")
        renamed = wire.call("query", kind="rename", symbol="f", new_name="g")["content"][0]["text"]
        self.assertIn("no language server handles `b.py`", renamed)
        several = wire.call("query", kind="hover", symbol="none")
        self.assertIn("no definition of `none` is known", several["content"][0]["text"])
        wire.close()

    def test_a_conflict_has_the_lines_of_both_sides(self):
        folder = workspace(a_py="x = 1\n")
        wire = Wire(folder)
        wire.begin(OLD[-1])
        wire.call("edit_file", target_file="a.py", old_string="1", new_string="2")
        (folder / "a.py").write_text("x = 3\n")
        refused = wire.call("branch_commit")["content"][0]["text"]
        self.assertIn("line 1\nbase:\n  x = 1\nours:\n  x = 2\ntheirs:\n  x = 3\n", refused)
        unknown = wire.call("branch_rebase", resolve={"a.py": "theirs", "b.py": "ours"})["content"][0]["text"]
        self.assertIn("`b.py` is in no conflict; `a.py` is", unknown)
        side = wire.call("branch_rebase", resolve={"a.py": "mine"})["content"][0]["text"]
        self.assertIn("`mine` is no side", side)
        one = wire.call("branch_rebase", resolve={"a.py": ["theirs", "ours"]})["content"][0]["text"]
        self.assertIn("`a.py` has 1 conflict, 2 decisions given", one)
        self.assertFalse(wire.call("branch_rebase", resolve={"a.py": ["theirs"]})["isError"])
        self.assertEqual(wire.call("read_file", target_file="a.py")["structuredContent"]["text"], "x = 3\n")
        wire.close()

    def test_branches_are_merged_for_a_look(self):
        wire = Wire(workspace(a_py="def f(a):\n    return a\n", b_py=""))
        wire.begin(OLD[-1])
        other = wire.call("branch_fork", name="other")["structuredContent"]["branch"]
        wire.call("edit_file", target_file="a.py", old_string="return a", new_string="return 1")
        wire.call("edit_file", target_file="a.py", old_string="return a", new_string="return 2", branch=other)
        text = wire.call("branch_merge_preview", branches=[other])["content"][0]["text"]
        self.assertIn("`a.py` was changed on both sides, at the same place: line 2", text)
        self.assertIn("other after ", text)
        wire.close()

    def test_edits_are_made_only_if_clean(self):
        wire = Wire(workspace(a_py="x = 1\n"))
        wire.begin(OLD[-1])
        bad = wire.call("edit_file", target_file="a.py", code_edit=replace("x = 1", "x = undefined_name"), if_clean=True)
        self.assertFalse(bad["structuredContent"]["applied"], bad)
        self.assertEqual(wire.call("read_file", target_file="a.py")["structuredContent"]["text"], "x = 1\n")
        edits = [
            {"target_file": "a.py", "code_edit": replace("x = 1", "x = 2")},
            {"target_file": "a.py", "code_edit": replace("x = 2", "x = undefined")},
        ]
        chain = wire.call("edit_file", edits=edits)["structuredContent"]
        self.assertEqual((chain["applied"], chain["clean_through"]), (True, 1))
        edits = [
            {"target_file": "a.py", "code_edit": replace("x = undefined", "x = helper()")},
            {"target_file": "a.py", "code_edit": replace("x = helper()", "def helper():\n    return 1\n\n\nx = helper()")},
        ]
        chain = wire.call("edit_file", edits=edits)["structuredContent"]
        self.assertEqual((chain["clean_through"], chain["check"]["ok"]), (2, True), chain)
        names = [it["branch"] for it in wire.call("branch_list")["structuredContent"]["branches"]]
        self.assertEqual(len(names), 1, names)
        wire.close()

    def test_an_edit_that_is_made_is_no_error_though_it_cannot_be_checked(self):
        wire = Wire(workspace(a_py="x = 1\n", broker_toml="select = [\n"))
        wire.begin(OLD[-1])
        answer = wire.call("edit_file", target_file="a.py", code_edit=replace("x = 1", "x = 2"))
        self.assertFalse(answer.get("isError"), answer)
        self.assertIn("broker.toml", answer["structuredContent"]["not_checked"])
        self.assertEqual(wire.call("read_file", target_file="a.py")["structuredContent"]["text"], "x = 2\n")
        wire.close()


class Sdk(unittest.TestCase):
    def test_two_clients_do_not_see_each_other(self):
        folder = workspace(a_py="x = 1\n")

        async def both() -> None:
            async with Client(server(folder)) as one, Client(server(folder)) as two:
                for client, text in [(one, "x = 2\n"), (two, "x = 3\n")]:
                    edited = await client.call_tool("edit_file", {"target_file": "a.py", "code_edit": replace("x = 1", text.strip())})
                    self.assertFalse(edited.is_error, text_of(edited))
                for client, text in [(one, "x = 2\n"), (two, "x = 3\n")]:
                    read = await client.call_tool("read_file", {"target_file": "a.py"})
                    self.assertEqual(read.structured_content["text"], text)
            self.assertEqual((folder / "a.py").read_text(), "x = 1\n")

        asyncio.run(both())

    def test_the_daemon_may_be_started_anew(self):
        folder = workspace(a_py="x = 1\n")

        async def go() -> None:
            async with Client(server(folder)) as client:
                await client.call_tool("edit_file", {"target_file": "a.py", "code_edit": replace("x = 1", "x = 2")})
                subprocess.run([BROKER, "daemon", "stop"], check=True, capture_output=True)
                read = await client.call_tool("read_file", {"target_file": "a.py"})
                self.assertEqual(read.structured_content["text"], "x = 2\n", text_of(read))

        asyncio.run(go())

    def test_a_file_of_a_branch_is_a_resource(self):
        folder = workspace(a_py="x = 1\n")

        async def go() -> None:
            async with Client(server(folder)) as client:
                edited = await client.call_tool("edit_file", {"target_file": "a.py", "code_edit": replace("x = 1", "x = 2")})
                branch = edited.structured_content["branch"]
                read = await client.read_resource(f"broker://branch/{branch}/a.py")
                self.assertEqual(read.contents[0].text, "x = 2\n")

        asyncio.run(go())


class Http(unittest.TestCase):
    def setUp(self):
        self.folder = workspace(a_py="x = 1\n")
        self.server = HttpServer(self.folder)
        self.addCleanup(self.server.close)

    def post(self, message: dict, **headers: str) -> tuple[int, str]:
        base = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        request = urllib.request.Request(self.server.url, json.dumps(message).encode(), base | headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def test_only_who_has_the_token_and_comes_from_here_is_served(self):
        client = {"name": "test", "version": "1"}
        begin = {"protocolVersion": OLD[-1], "capabilities": {}, "clientInfo": client}
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin}
        self.assertEqual(self.post(message)[0], 401)
        self.assertEqual(self.post(message, Authorization="Bearer wrong")[0], 401)
        own = {"Authorization": self.server.token}
        self.assertEqual(self.post(message, **own, Origin="http://evil.example")[0], 403)
        self.assertEqual(self.post(message, **own, Host="evil.example")[0], 403)
        status, text = self.post(message, **own)
        self.assertEqual(status, 200)
        self.assertIn("branch_commit", text)

    def test_a_stateless_client_names_its_branch(self):
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        }

        def call(tool: str, **arguments: object) -> dict:
            params = {"name": tool, "arguments": arguments, "_meta": meta}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool}
            status, text = self.post(message, Authorization=self.server.token, **headers)
            self.assertEqual(status, 200, text)
            line = next(it for it in text.splitlines() if '"result"' in it or '"error"' in it)
            return json.loads(line.removeprefix("data:"))["result"]

        edited = call("edit_file", target_file="a.py", code_edit=replace("x = 1", "x = 2"))
        branch = edited["structuredContent"]["branch"]
        self.assertEqual(call("read_file", target_file="a.py")["structuredContent"]["text"], "x = 1\n")
        read = call("read_file", target_file="a.py", branch=branch)
        self.assertEqual(read["structuredContent"]["text"], "x = 2\n")


class CommandLine(unittest.TestCase):
    def test_a_tool_is_called(self):
        folder = workspace(a_py="x = 1\n")

        def tool(*arguments: str) -> subprocess.CompletedProcess:
            return subprocess.run([BROKER, "agent", "tool", *arguments], cwd=folder, capture_output=True, text=True)

        self.assertIn("edit_file: ", tool().stdout)
        read = tool("read_file", "--json", '{"target_file": "a.py"}', "--output-format", "json")
        self.assertEqual(json.loads(read.stdout)["structured"]["text"], "x = 1\n")
        wrong = tool("read_file", "--json", '{"target_file": "b.py"}')
        self.assertEqual(wrong.returncode, 1, wrong.stderr)
        logged = subprocess.run([BROKER, "agent", "log", "--output-format", "json"], capture_output=True, text=True)
        self.assertIn(("read_file", "b.py", True), [(it["tool"], it.get("file"), it["is_error"]) for it in json.loads(logged.stdout)])


if __name__ == "__main__":
    unittest.main()
