"""A complete agent loop over MCP, without a model: what a model would decide is a script.

    python agent.py BROKER FOLDER

mends the project in FOLDER (a copy of `project`): looks for what is wrong, edits on a branch, asks what the edits bring,
runs the tests there, and writes everything to the disk at the end.
"""

import asyncio
import os
import sys

from mcp import Client, StdioServerParameters


class Agent:
    """Calls tools, and says what it does."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: object) -> dict:
        result = await self.client.call_tool(tool, arguments)
        text = "\n".join(it.text for it in result.content if it.type == "text")
        if result.is_error:
            raise RuntimeError(f"{tool}: {text}")
        print(f"== {tool}\n{text}\n")
        return result.structured_content or {}

    async def mend(self) -> None:
        # What is wrong with the project as it is.
        found = await self.call("check", all=True)
        assert not found["ok"], "there is something to mend"

        # The name that does not exist: where is the one that is meant?
        await self.call("grep_search", query=r"def tot\w*")
        await self.call("read_file", target_file="shop.py")

        # A sketch: only what changes, with a line around it.
        edit = (
            "# ... existing code ...\n"
            '    lines = [f"{name}: {price}" for name, price in items.items()]\n'
            '    return "\\n".join(lines + [f"total: {total(list(items.values()), Decimal(0))}"])\n'
        )
        edited = await self.call("edit_file", target_file="shop.py", instructions="call total", code_edit=edit)
        branch = edited["branch"]
        assert edited["applied"] and edited["check"]["ok"], "the edit brings nothing new"

        # What linters mend themselves: the import that nothing uses.
        fixed = await self.call("apply_fixes")
        assert fixed["fixed"] == 1, fixed

        # The tests run on the branch, not on the disk.
        ran = await self.call("run_terminal_cmd", command="python3 -m unittest discover -s tests -t .")
        assert ran["exit_code"] == 1, "a discount in percent is still wrong"
        edit = "    return sum_of_all - sum_of_all * discount\n=======\n    return sum_of_all - sum_of_all * discount / 100\n"
        await self.call("edit_file", target_file="shop.py", code_edit=f"<<<<<<< SEARCH\n{edit}>>>>>>> REPLACE\n")
        ran = await self.call("run_terminal_cmd", command="python3 -m unittest discover -s tests -t .")
        assert ran["exit_code"] == 0, ran["output"]

        # Nothing is left, and only now the disk is written.
        found = await self.call("check", all=True)
        assert found["ok"], found
        await self.call("branch_diff", branch=branch)
        await self.call("branch_commit", branch=branch)


async def main(broker: str, folder: str) -> None:
    # The SDK passes on few variables by itself, and none of Broker's.
    server = StdioServerParameters(command=broker, args=["agent", "mcp", "--workspace", folder], env=dict(os.environ))
    async with Client(server) as client:
        await Agent(client).mend()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
