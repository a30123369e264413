"""The Inspector's command line lists and calls every tool, over standard input and over HTTP. Each call is a session."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from support import BROKER, WORK, HttpServer, replace, workspace

NODE_MODULES = pathlib.Path(os.environ["BROKER_TEST_NODE_MODULES"])
INSPECTOR = NODE_MODULES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
TEXT = "import os\n\n\ndef total(prices):\n    return sum(prices)\n\n\nprint(total([1, 2]))\n"
TWICE = "def f():\n    a = 1\n    return a\n\n\ndef g():\n    a = 1\n    return a\n"
SKETCH = "# ... existing code ...\n    a = 1\n    a += 1\n    return a\n# ... existing code ...\n"


class Inspector:
    """The command line with one server."""

    def __init__(self, *server: str) -> None:
        self.server = server
        self.called: set[str] = set()

    def run(self, *arguments: str, may_fail: bool = False) -> dict:
        # Nothing of the user's own is read or written.
        home = tempfile.mkdtemp(dir=WORK)
        command = ["node", str(INSPECTOR), "--cli", *self.server, "--format", "json", *arguments]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ | {"HOME": home})
        assert ran.stdout and (may_fail or ran.returncode == 0), f"exit code {ran.returncode}: {ran.stderr}"
        return json.loads(ran.stdout)

    def call(self, tool: str, **arguments: object) -> dict:
        self.called.add(tool)
        given = ["--tool-name", tool, "--tool-args-json", json.dumps(arguments)]
        # The exit code tells a refusal, too.
        return self.run("--method", "tools/call", *given, may_fail=True)["result"]

    def data(self, tool: str, **arguments: object) -> dict:
        result = self.call(tool, branch="try", **arguments)
        assert not result.get("isError"), result
        return result["structuredContent"]


class Every(unittest.TestCase):
    def test_tools_over_standard_input(self):
        folder = workspace(a_py=TEXT, b_py=TWICE, ty_toml="")
        variables = [f"{it}={os.environ[it]}" for it in sorted(os.environ) if it.startswith("BROKER_") or it == "PATH"]
        environment = [part for it in variables for part in ("-e", it)]
        self.call_all(folder, Inspector(BROKER, "agent", "mcp", "--workspace", str(folder), *environment))

    def test_tools_over_http(self):
        folder = workspace(a_py=TEXT, b_py=TWICE, ty_toml="")
        server = HttpServer(folder)
        self.addCleanup(server.close)
        inspector = Inspector(server.url, "--header", f"Authorization: {server.token}")
        self.call_all(folder, inspector)
        arguments = ["--method", "tools/list", "--protocol-era", "modern"]
        self.assertEqual(len(inspector.run(*arguments)["result"]["tools"]), 25)

    def call_all(self, folder: pathlib.Path, inspector: Inspector) -> None:
        listed = inspector.run("--method", "tools/list", "--strict")["result"]["tools"]
        self.assertEqual(inspector.call("branch_fork", name="try")["structuredContent"]["branch"], "try")
        self.read(inspector)
        self.search(inspector)
        self.edit(inspector)
        self.judge(inspector)
        self.finish(folder, inspector)
        self.assertEqual(inspector.called, {it["name"] for it in listed})
        self.assertEqual(len(listed), 25)

    def read(self, inspector: Inspector) -> None:
        self.assertEqual(inspector.data("read_file", target_file="a.py")["text"], TEXT)
        self.assertEqual(inspector.data("list_dir")["entries"], ["a.py", "b.py", "ty.toml"])
        rule = inspector.data("explain_rule", rule="python/F401")
        self.assertEqual((rule["name"], rule["on_by_default"]), ("unused-import", True))

    def search(self, inspector: Inspector) -> None:
        found = inspector.data("grep_search", query=r"def \w+\(prices")
        self.assertEqual(found["matches"], ["a.py:4:def total(prices):"])
        self.assertEqual(inspector.data("file_search", query="b.p")["files"], ["b.py"])
        found = inspector.data("codebase_search", query="total of prices")["matches"]
        self.assertEqual((found[0]["file"], found[0]["first_line"]), ("a.py", 4))

    def edit(self, inspector: Inspector) -> None:
        edited = inspector.data("edit_file", target_file="a.py", code_edit=replace("print(total([1, 2]))", "print(totl([1, 2]))"))
        self.assertTrue(edited["applied"])
        self.assertFalse(edited["check"]["ok"])
        self.assertIn("totl", json.dumps(edited["check"]))
        # A session remembers what it refused; another one sends the edit again with the reading.
        refused = inspector.call("edit_file", target_file="b.py", code_edit=SKETCH, branch="try")
        self.assertTrue(refused["isError"], refused)
        lines = refused["content"][0]["text"].splitlines()
        readings = [line.split()[1].rstrip(":") for line in lines if line.startswith("reading ")]
        self.assertGreaterEqual(len(readings), 2, refused)
        applied = inspector.data("reapply", target_file="b.py", code_edit=SKETCH, reading=readings[0])
        self.assertTrue(applied["applied"])
        history = inspector.data("diff_history")
        self.assertIn("+    a += 1", history["diff"])
        self.assertEqual(len(history["edits"]), 2)

    def judge(self, inspector: Inspector) -> None:
        self.assertFalse(inspector.data("check")["ok"])
        fixed = inspector.data("apply_fixes", paths=["a.py"])
        self.assertEqual((fixed["fixed"], fixed["files"]), (1, ["a.py"]))
        found = inspector.data("query", kind="references", target_file="a.py", line=3, symbol="total")
        self.assertIn("a.py:3:5 def total(prices):", found["places"])
        ran = inspector.data("run_terminal_cmd", command="echo 'c = 1' > c.py && grep -c import a.py")
        self.assertEqual((ran["exit_code"], ran["output"], ran["written"]), (1, "0\n", ["c.py"]))
        self.assertEqual(inspector.data("branch_undo")["to_revision"], ran["revision"] - 1)
        self.assertEqual(inspector.data("branch_undo", to_revision=ran["revision"])["to_revision"], ran["revision"])
        run = inspector.data("run_terminal_cmd", command="echo begun; sleep 600", is_background=True)["run"]
        self.assertEqual([it["run"] for it in inspector.call("run_list")["structuredContent"]["runs"]], [run])
        self.assertEqual(inspector.call("run_output", run=run)["structuredContent"]["state"], "runs")
        self.assertIn("ended", inspector.call("run_kill", run=run)["structuredContent"]["state"])

    def finish(self, folder: pathlib.Path, inspector: Inspector) -> None:
        self.assertEqual(inspector.data("delete_file", target_file="b.py")["files"][0]["form"], "deletion")
        changes = ["M a.py", "D b.py", "A c.py"]
        self.assertEqual(inspector.data("branch_diff")["changes"], changes)
        self.assertEqual(inspector.data("branch_rebase")["conflicts"], [])
        other = inspector.call("branch_fork", name="other", branch="try")["structuredContent"]["branch"]
        self.assertTrue(inspector.call("branch_merge_preview", branches=["try", other])["structuredContent"]["ok"])
        inspector.call("branch_discard", branch=other)
        self.assertEqual([it["branch"] for it in inspector.call("branch_list")["structuredContent"]["branches"]], ["try"])
        self.assertEqual((folder / "a.py").read_text(), TEXT)
        self.assertEqual(inspector.data("branch_commit")["changes"], changes)
        self.assertEqual(sorted(it.name for it in folder.iterdir()), ["a.py", "c.py", "ty.toml"])
        self.assertNotIn("import os", (folder / "a.py").read_text())
        self.assertEqual(inspector.data("branch_discard")["branch"], "try")


if __name__ == "__main__":
    unittest.main()
