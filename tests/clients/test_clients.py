"""The example clients, as somebody uses them: what they print, and what is on the disk afterwards."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from broker_client import Client, branch_pb2, check_pb2, file_pb2, on_base, on_branch, types_pb2, workspace_pb2
from connection import connect
from errors import problem

EXAMPLES = Path(os.environ["BROKER_TEST_EXAMPLES"])
TCP = os.environ["BROKER_TEST_TCP"]
CLIENTS = {
    "python": [sys.executable, EXAMPLES / "python-client/main.py"],
    "typescript": ["node", EXAMPLES / "typescript-client/dist/main.js"],
}
SERVICES = [f"broker.v1.{it}Service" for it in ("Branch", "Check", "Daemon", "File", "Query", "Rule", "Server", "Workspace")]

# `é` shows that offsets count bytes.
APP = 'import os\nimport sys\n\n\ndef main() -> None:\n    print("é", sys.argv)\n\n\nmain()\n'
FIXED = 'import sys\n\n\ndef main() -> None:\n    print("é", sys.path)\n\n\nmain()\n'
UNUSED = "app.py:1:8: F401 `os` imported but unused"
PATCH = """\
diff --git a/new.py b/new.py
new file mode 100644
--- /dev/null
+++ b/new.py
@@ -0,0 +1,3 @@
+import json
+
+print("new")
"""


class Workspace(unittest.TestCase):
    """A folder of its own for each test."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=os.environ["BROKER_TEST_WORK"])) / "w"
        (self.folder / "package").mkdir(parents=True)
        (self.folder / "app.py").write_text(APP)
        (self.folder / "package/other.py").write_text("ONE = 1\n")

    def on_disk(self) -> dict[str, str]:
        files = (it for it in self.folder.rglob("*") if it.is_file())
        return {it.relative_to(self.folder).as_posix(): it.read_text() for it in files}


UNTOUCHED = {"app.py": APP, "package/other.py": "ONE = 1\n"}


class Tests:
    """Of one client; both have the same commands."""

    client: str

    def run_client(self, *args, exits: int = 0, env: dict[str, str] | None = None) -> str:
        """What it prints; what it complains of if that is what it should do."""
        command = [*CLIENTS[self.client], *args]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, exits, f"{args}\n{done.stdout}\n{done.stderr}")
        return done.stderr if exits == 2 else done.stdout.removesuffix("\n")

    def test_an_edit_is_checked_and_committed(self) -> None:
        run = self.run_client
        workspace = run("open", self.folder)
        self.assertEqual(run("open", self.folder), workspace)
        branch = run("fork", workspace, "--name", "walk")
        first = f"{UNUSED}\n1 findings in 2 files at revision 0, complete"
        self.assertEqual(run("check", branch, exits=1), first)
        self.assertEqual(run("replace", branch, "app.py", "argv", "path"), "revision 1")
        self.assertEqual(run("check", "--new-only", branch, "app.py"), "0 findings in 1 files at revision 1, complete")
        self.assertEqual(run("fix", branch), "fixed 1")
        fixed = f"{UNUSED} (fixed)\n0 findings in 2 files at revision 2, complete"
        self.assertEqual(run("check", "--new-only", branch), fixed)
        patch = run("diff", branch).splitlines()
        self.assertEqual(patch[0], "diff --git a/app.py b/app.py")
        changed = [it for it in patch[3:] if it[0] in "+-"]
        self.assertEqual(changed, ["-import os", '-    print("é", sys.argv)', '+    print("é", sys.path)'])
        self.assertEqual(self.on_disk(), UNTOUCHED)
        self.assertIn(UNUSED, run("check", "--base", workspace, exits=1))
        self.assertEqual(run("commit", branch, "--if-revision", "2"), "modified app.py")
        self.assertEqual(self.on_disk(), UNTOUCHED | {"app.py": FIXED})
        self.assertEqual(run("diff", branch), "")
        run("discard", branch)
        self.assertEqual(run("check", "--base", workspace), "0 findings in 2 files at revision 0, complete")

    @unittest.skipUnless("BROKER_TEST_TY" in os.environ, "BROKER_TEST_TY is not set")
    def test_a_server_knows_the_branch(self) -> None:
        (self.folder / "ty.toml").write_text("")
        (self.folder / "use.py").write_text("from package.other import ONE\n\nprint(ONE + 1)\n")
        run = self.run_client
        branch = run("fork", run("open", self.folder))
        run("replace", branch, "package/other.py", "ONE", '"é"; ONE')
        used = "package/other.py:1:6\nuse.py:1:27\nuse.py:3:7"
        self.assertEqual(run("references", branch, "package/other.py", "1", "6"), used)
        self.assertEqual(run("rename", branch, "package/other.py", "1", "6", "UNO"), "revision 2")
        self.assertIn("+print(UNO + 1)", run("diff", branch))
        run("replace", branch, "package/other.py", "= 1", '= ""')
        self.assertNotIn("use.py", run("check", "--new-only", branch, "package/other.py"))
        self.assertIn("use.py:3:7: ", run("check", "--new-only", "--dependents", branch, "package/other.py", exits=1))
        self.assertEqual((self.folder / "use.py").read_text(), "from package.other import ONE\n\nprint(ONE + 1)\n")

    def test_a_patch_brings_a_new_finding(self) -> None:
        patch = self.folder.parent / "new.patch"
        patch.write_text(PATCH)
        run = self.run_client
        branch = run("fork", run("open", self.folder))
        self.assertEqual(run("patch", branch, patch), "revision 1")
        new = "new.py:1:8: F401 `json` imported but unused\n1 findings in 3 files at revision 1, complete"
        self.assertEqual(run("check", "--new-only", branch, exits=1), new)
        run("discard", branch)
        self.assertEqual(self.on_disk(), UNTOUCHED)
        self.assertIn("error: NOT_FOUND: there is no branch", run("check", branch, exits=2))

    def test_a_conflict_is_told_and_nothing_is_written(self) -> None:
        run = self.run_client
        branch = run("fork", run("open", self.folder))
        run("replace", branch, "app.py", "argv", "path")
        run("replace", branch, "package/other.py", "ONE", "TWO")
        (self.folder / "app.py").write_text("USER = 1\n")
        error = run("commit", branch, exits=2)
        self.assertTrue(error.startswith("error: ABORTED CONFLICT: "), error)
        self.assertEqual(error.splitlines()[1:], ["  app.py"])
        self.assertEqual(self.on_disk(), UNTOUCHED | {"app.py": "USER = 1\n"})
        run("discard", branch)

    def test_errors_have_reasons(self) -> None:
        run = self.run_client
        workspace = run("open", self.folder)
        branch = run("fork", workspace, "--name", "errors")
        self.assertIn("ALREADY_EXISTS NAME_TAKEN", run("fork", workspace, "--name", "errors", exits=2))
        self.assertIn("error: NOT_FOUND: there is no branch `nothing`", run("diff", "nothing", exits=2))
        self.assertIn("ABORTED STALE_REVISION", run("commit", branch, "--if-revision", "7", exits=2))
        absolute = run("check", branch, "/etc/passwd", exits=2)
        self.assertIn("INVALID_ARGUMENT INVALID_FIELD", absolute)
        self.assertIn("\n  paths\n", absolute)
        run("discard", branch)

    def test_a_port_wants_the_token(self) -> None:
        run = self.run_client
        workspace = run("--tcp", TCP, "open", self.folder)
        self.assertIn(UNUSED, run("--tcp", TCP, "check", "--base", workspace, exits=1))
        wrong = run("--tcp", TCP, "open", self.folder, exits=2, env={"BROKER_TOKEN": "wrong"})
        self.assertIn("error: UNAUTHENTICATED", wrong)

    def test_without_a_daemon_it_says_so(self) -> None:
        run = self.run_client
        gone = {"BROKER_RUNTIME_DIR": str(self.folder)}
        self.assertIn("error: UNAVAILABLE", run("open", self.folder, exits=2, env=gone))


class PythonClient(Tests, Workspace):
    client = "python"


class TypeScriptClient(Tests, Workspace):
    client = "typescript"


class Reflection(Workspace):
    def test_a_client_needs_no_proto_files(self) -> None:
        for way in ([], ["--tcp", TCP]):
            command = [sys.executable, EXAMPLES / "python-client/by_reflection.py", *way, self.folder]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("broker.v1.CheckService.Check(CheckRequest) -> stream CheckResponse\n", done.stdout)
            self.assertIn("app.py:1: F401 `os` imported but unused\n", done.stdout)
        self.assertEqual(self.on_disk(), UNTOUCHED)

    def test_every_service_is_told(self) -> None:
        with connect() as channel:
            told = ProtoReflectionDescriptorDatabase(channel).get_services()
        self.assertLessEqual({*SERVICES, "grpc.health.v1.Health"}, set(told))


class Health(unittest.TestCase):
    def test_every_service_is_well(self) -> None:
        with connect() as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            for service in ["", *SERVICES]:
                answer = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=10)
                self.assertEqual(answer.status, health_pb2.HealthCheckResponse.SERVING, service)
            with self.assertRaises(grpc.RpcError) as raised:
                stub.Check(health_pb2.HealthCheckRequest(service="broker.v1.NoService"), timeout=10)
            self.assertEqual(raised.exception.code(), grpc.StatusCode.NOT_FOUND)


class Errors(Workspace):
    """Codes and reasons: programs rely on them, so they do not change within broker.v1."""

    def setUp(self) -> None:
        super().setUp()
        self.channel = connect()
        self.addCleanup(self.channel.close)
        self.client = Client(self.channel)
        self.workspace = self.client.open(self.folder)
        self.branch = self.client.fork(on_base(self.workspace))

    def edit(self, *edits: file_pb2.FileEdit, **more) -> int:
        request = file_pb2.EditFilesRequest(branch_id=self.branch, edits=edits, **more)
        return self.client.files.EditFiles(request, timeout=60).revision

    def refused(self, expected: str, call) -> None:
        with self.assertRaises(grpc.RpcError) as raised:
            list(call()) if expected.startswith("stream ") else call()
        found = problem(raised.exception)
        self.assertEqual(f"{found.code} {found.reason}", expected.removeprefix("stream "), found.message)
        self.assertNotEqual(found.message, "")

    def text(self, start: int, end: int, **more) -> file_pb2.FileEdit:
        edit = types_pb2.TextEdit(span=types_pb2.Span(start=start, end=end), replacement="x")
        return file_pb2.FileEdit(text=file_pb2.EditText(path="app.py", edits=[edit], **more))

    def test_edits(self) -> None:
        write = lambda path, **more: file_pb2.FileEdit(write=file_pb2.WriteFile(path=path, content=b"x", **more))
        patch = lambda text: file_pb2.FileEdit(patch=file_pb2.ApplyPatch(patch=text))
        misfit = "--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\n-nothing\n+x\n"
        inside_e = APP.encode().index("é".encode()) + 1
        for expected, edit in [
            ("INVALID_ARGUMENT INVALID_FIELD", write("/etc/passwd")),
            ("INVALID_ARGUMENT INVALID_FIELD", write("../outside")),
            ("INVALID_ARGUMENT INVALID_FIELD", file_pb2.FileEdit()),
            ("FAILED_PRECONDITION EDIT_REFUSED", self.text(0, 10_000)),
            ("FAILED_PRECONDITION EDIT_REFUSED", self.text(5, 2)),
            ("FAILED_PRECONDITION EDIT_REFUSED", self.text(inside_e, inside_e)),
            ("FAILED_PRECONDITION OTHER_CONTENT", self.text(0, 0, if_content_hash="0" * 64)),
            ("FAILED_PRECONDITION OTHER_CONTENT", write("app.py", if_content_hash="missing")),
            ("NOT_FOUND FILE_NOT_FOUND", file_pb2.FileEdit(remove=file_pb2.RemovePath(path="nothing"))),
            ("INVALID_ARGUMENT PATCH_DOES_NOT_APPLY", patch("no patch")),
            ("INVALID_ARGUMENT PATCH_DOES_NOT_APPLY", patch(misfit)),
            ("INVALID_ARGUMENT PATCH_DOES_NOT_APPLY", patch(PATCH.replace("b/new.py", "b/../../new.py"))),
        ]:
            with self.subTest(edit=edit):
                # All or none: the good edit before it is undone.
                self.refused(expected, lambda: self.edit(write("good"), edit))
                self.refused("stream NOT_FOUND FILE_NOT_FOUND", lambda: self.client.read(on_branch(self.branch), "good"))
        self.refused("ABORTED STALE_REVISION", lambda: self.edit(write("good"), if_revision=7))
        self.refused("INVALID_ARGUMENT LIMIT_EXCEEDED", lambda: self.edit(*[write("good")] * 10_001))
        self.assertEqual(self.edit(write("good"), if_revision=0), 1)

    def test_questions(self) -> None:
        check = lambda **fields: self.client.checks.Check(check_pb2.CheckRequest(**fields), timeout=60)
        relative = workspace_pb2.OpenWorkspaceRequest(root="relative")
        base, branch = on_base(self.workspace), on_branch(self.branch)
        self.refused("stream INVALID_ARGUMENT INVALID_FIELD", lambda: check())
        self.refused("stream INVALID_ARGUMENT INVALID_FIELD", lambda: check(target=base, new_only=True))
        self.refused("stream INVALID_ARGUMENT INVALID_FIELD", lambda: check(target=branch, revision=7))
        self.refused("stream NOT_FOUND NOT_FOUND", lambda: check(target=on_branch("nothing")))
        self.refused("INVALID_ARGUMENT INVALID_FIELD", lambda: self.client.workspaces.OpenWorkspace(relative, timeout=60))
        self.refused("INVALID_ARGUMENT LIMIT_EXCEEDED", lambda: self.client.fork(base, "n" * 5000))

    def test_a_path_that_is_not_there_is_no_clean_answer(self) -> None:
        *_, last = self.client.check(on_branch(self.branch), ["nothing.py"])
        self.assertEqual(last.summary.completeness, check_pb2.COMPLETENESS_FAILED)

    def test_what_is_done_twice_is_done_once(self) -> None:
        fork = branch_pb2.ForkBranchRequest(parent=on_base(self.workspace), request_id="once")
        both = {self.client.branches.ForkBranch(fork, timeout=60).branch.branch_id for _ in range(2)}
        self.assertEqual(len(both), 1)
        edits = [file_pb2.FileEdit(create_directory=file_pb2.CreateDirectory(path="new"))]
        self.assertEqual({self.edit(*edits, request_id="once") for _ in range(2)}, {1})


if __name__ == "__main__":
    unittest.main()
