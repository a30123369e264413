"""One whole task, `task.json`, with the official SDKs: from the fork of a branch to what is on the disk."""

import asyncio
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from mcp import Client, StdioServerParameters
from support import BROKER, WORK, example_project

HERE = pathlib.Path(__file__).resolve().parent
NODE_MODULES = pathlib.Path(os.environ["BROKER_TEST_NODE_MODULES"])


class Task(unittest.TestCase):
    def setUp(self):
        self.folder = example_project()

    def test_typescript(self):
        program = pathlib.Path(tempfile.mkdtemp(dir=WORK))
        shutil.copy(HERE / "do-task.mjs", program)
        (program / "node_modules").symlink_to(NODE_MODULES)
        command = ["node", str(program / "do-task.mjs"), str(HERE / "task.json"), BROKER, str(self.folder)]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.mended()

    def test_python(self):
        server = StdioServerParameters(command=BROKER, args=["agent", "mcp", "--workspace", str(self.folder)], env=dict(os.environ))

        steps = json.loads((HERE / "task.json").read_text())

        async def go() -> list:
            async with Client(server) as client:
                return [await client.call_tool(it["tool"], it["arguments"]) for it in steps]

        for step, result in zip(steps, asyncio.run(go()), strict=True):
            self.assertFalse(result.is_error, result.content)
            self.holds(result.structured_content, step["expect"], step["tool"])
        self.mended()

    def holds(self, found: object, wanted: object, what: str) -> None:
        """Compares of an object the fields that are wanted, of anything else all."""
        if not isinstance(wanted, dict):
            return self.assertEqual(found, wanted, what)
        for name, inner in wanted.items():
            self.holds(found[name], inner, f"{what}: {name}")

    def mended(self) -> None:
        text = (self.folder / "shop.py").read_text()
        self.assertIn("discount / 100", text)
        self.assertNotIn("totl", text)
        self.assertNotIn("import os", text)
        self.assertEqual(sorted(it.name for it in self.folder.iterdir()), ["pyproject.toml", "shop.py", "tests"])


if __name__ == "__main__":
    unittest.main()
