"""The official conformance suite of the Model Context Protocol against `broker agent mcp --http`.

`conformance/REVISION.toml` has the checks that fail, and why. A failure that is not there fails the test, and so does an entry that
passes. Scenarios in which a part applies are held to that part, as the suite's own list of expected failures cannot do.
"""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import tomllib
import unittest

from support import WORK, HttpServer, workspace

HERE = pathlib.Path(__file__).resolve().parent
NODE_MODULES = pathlib.Path(os.environ["BROKER_TEST_NODE_MODULES"])
SUITE = NODE_MODULES / "@modelcontextprotocol/conformance/dist/index.js"
# Has the scenarios of the newest revision, before the suite's release with them.
NEXT_SUITE = NODE_MODULES / "conformance-next/dist/index.js"
# An extension that Broker does not offer, and whose scenarios the suite does not score.
EXTENSION = "tasks-"


class Conformance(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        server = HttpServer(workspace(a_py="x = 1\n"))
        self.addCleanup(server.close)
        command = ["node", str(HERE / "token-proxy.mjs"), server.url, server.token]
        proxy = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = proxy.stdout.readline().strip()
        self.addCleanup(proxy.stdout.close)
        self.addCleanup(proxy.wait, 20)
        self.addCleanup(proxy.terminate)

    def scenarios(self, suite: pathlib.Path, *arguments: str) -> dict[str, list[dict]]:
        """The checks of each scenario that was run."""
        results = pathlib.Path(tempfile.mkdtemp(dir=WORK))
        node = ["node", "--import", (HERE / "old-node.mjs").as_uri(), str(suite)]
        command = [*node, "server", "--url", self.url, "--output-dir", str(results), *arguments]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
        checks = {scenario(it.parent.name): json.loads(it.read_text()) for it in results.glob("*/checks.json")}
        self.assertTrue(checks, ran.stdout + ran.stderr)
        return {name: it for name, it in checks.items() if not name.startswith(EXTENSION)}

    def hold(self, revision: str, count: int, scenarios: dict[str, list[dict]]) -> None:
        failed = {name: ids(checks, "FAILURE", "WARNING") for name, checks in scenarios.items()}
        self.assertEqual({name: it for name, it in failed.items() if it}, expected(revision))
        # A scenario that checked nothing has not passed.
        passed = [name for name, checks in scenarios.items() if ids(checks, "SUCCESS") and not failed[name]]
        self.assertEqual(len(passed) + len(expected(revision)), len(scenarios), sorted(passed))
        self.assertEqual(len(scenarios), count)

    def test_the_revision_with_sessions(self):
        self.hold("2025-11-25", 32, self.scenarios(SUITE, "--suite", "all"))

    def test_the_revision_without_sessions(self):
        self.hold("2026-07-28", 40, self.scenarios(NEXT_SUITE, "--requirements", "2026-07-28"))


def scenario(folder: str) -> str:
    """The name in that of a folder, which is `server-NAME-TIME`."""
    return re.sub(r"-\d{4}-\d{2}-\d{2}T.*$", "", folder).removeprefix("server-")


def ids(checks: list[dict], *statuses: str) -> set[str]:
    return {it["id"] for it in checks if it["status"] in statuses}


def expected(revision: str) -> dict[str, set[str]]:
    entries: dict[str, set[str]] = {}
    for group in tomllib.loads((HERE / "conformance" / f"{revision}.toml").read_text()).values():
        for name, failing in group.items():
            entries.setdefault(name, set()).update(failing)
    return entries


if __name__ == "__main__":
    unittest.main()
