"""Ways in which an agent does a task: by whole files, by parts of files, and by Broker's tools. Each counts what the model would write
and read, and the time that the tools take."""

import json
import os
import pathlib
import re
import subprocess
import time

from task import By, Change, Task

# Lines that are read on each side of the one that is of interest.
AROUND = 20
SERVER_TIME = 300


def size(value: object) -> int:
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())


class Way:
    """Counts calls; the tools are those of a subclass."""

    name: str

    def __init__(self, broker: str, folder: pathlib.Path, environment: dict[str, str]) -> None:
        self.broker, self.folder, self.environment = broker, folder, environment
        self.bytes_in = self.bytes_out = self.calls = 0
        self.seconds = 0.0
        self.knows_places = True

    def call(self, tool: str, **arguments: object) -> str:
        began = time.monotonic()
        text = self.answer(tool, arguments)
        self.seconds += time.monotonic() - began
        self.calls += 1
        self.bytes_in += size({"name": tool, "arguments": arguments})
        self.bytes_out += len(text.encode())
        return text

    def answer(self, tool: str, arguments: dict) -> str:
        return getattr(self, tool)(**arguments)

    def do(self, task: Task) -> None:
        if task.lints_first:
            self.find(task)
        if task.test:
            self.test(task.test, passes=False)
        if task.search:
            self.search(task.search, task.search_in)
        self.change(task)
        self.judge(task)
        if task.test:
            self.test(task.test, passes=True)

    def find(self, task: Task) -> None:
        """Asks for all findings, and notes whether those shown name each file of the change."""
        self.knows_places = is_shown(self.lint(), task)

    def close(self) -> None:
        pass


def is_shown(text: str, task: Task) -> bool:
    return all(f"\n{it}:" in text for it in files_of(task))


def files_of(task: Task) -> list[str]:
    return list(dict.fromkeys(it.path for it in task.changes))


def folder_of(task: Task) -> str:
    return os.path.commonpath([os.path.dirname(it) for it in files_of(task)])


class WholeFiles(Way):
    """Reads and writes whole files, and asks for all findings of the project."""

    name = "whole files"

    def run(self, command: str) -> str:
        ran = subprocess.run(
            command, shell=True, cwd=self.folder, capture_output=True, text=True, env=self.environment, timeout=SERVER_TIME
        )
        return f"exit code {ran.returncode}\n{ran.stdout}{ran.stderr}"

    def read_file(self, path: str) -> str:
        return (self.folder / path).read_text()

    def write_file(self, path: str, text: str) -> str:
        (self.folder / path).parent.mkdir(exist_ok=True)
        (self.folder / path).write_text(text)
        return f"wrote {path}"

    def lint(self, *paths: str) -> str:
        command = [os.path.basename(self.broker), "check", "--output-format", "concise", *paths]
        return self.call("run", command=" ".join(command))

    def judge(self, _: Task) -> None:
        self.lint()

    def test(self, command: str, passes: bool) -> None:
        text = self.call("run", command=command)
        assert text.startswith("exit code 0\n") == passes, text

    def search(self, regex: str, folder: str) -> None:
        self.call("run", command=f"grep -rnP '{regex}' {folder}")

    def change(self, task: Task) -> None:
        for path in files_of(task):
            text = self.call("read_file", path=path)
            for it in (it for it in task.changes if it.path == path):
                assert it.before in text, it
                text = text.replace(it.before, it.after)
            self.call("write_file", path=path, text=text)
        for path, text in task.written.items():
            self.call("write_file", path=path, text=text)


class Parts(WholeFiles):
    """Reads the lines around a place and replaces texts, as most agents' own tools can; asks for findings in the files that it wrote."""

    name = "parts"

    def read_lines(self, path: str, first: int, last: int) -> str:
        lines = (self.folder / path).read_text().splitlines(keepends=True)[first - 1 : last]
        return "".join(f"{first + at}\t{line}" for at, line in enumerate(lines))

    def replace_in_file(self, path: str, before: str, after: str, replace_all: bool = False) -> str:
        text = (self.folder / path).read_text()
        assert before in text and (replace_all or text.count(before) == 1), (path, before)
        (self.folder / path).write_text(text.replace(before, after))
        return f"edited {path}"

    def change(self, task: Task) -> None:
        for it in task.changes:
            text = (self.folder / it.path).read_text()
            for first, last in around(text, it):
                self.call("read_lines", path=it.path, first=first, last=last)
            everywhere = {"replace_all": True} if text.count(it.before) > 1 else {}
            self.call("replace_in_file", path=it.path, before=it.before, after=it.after, **everywhere)
        for path, text in task.written.items():
            self.call("write_file", path=path, text=text)

    def judge(self, task: Task) -> None:
        self.lint(*files_of(task), *task.written)


def around(text: str, change: Change) -> list[tuple[int, int]]:
    """The lines to read for a change, of the first place only where it is made everywhere."""
    line = text[: text.index(change.before)].count("\n") + 1
    return [(max(1, line - AROUND), line + AROUND)]


class BrokerTools(Way):
    """Calls the tools of `broker agent mcp` over standard input."""

    name = "Broker"

    def __init__(self, broker: str, folder: pathlib.Path, environment: dict[str, str]) -> None:
        super().__init__(broker, folder, environment)
        command = [broker, "agent", "mcp", "--workspace", str(folder)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.last = self.bytes_of_data = 0
        self.on_branch: dict[str, str] = {}
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.instructions = self.ask("initialize", client)["instructions"]
        self.tools = self.ask("tools/list", {})["tools"]

    def ask(self, method: str, params: dict) -> dict:
        self.last += 1
        message = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.last:
                return answer["result"]

    def call(self, tool: str, **arguments: object) -> str:
        return super().call(tool, **arguments, **self.on_branch)

    def answer(self, tool: str, arguments: dict) -> str:
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        text = "\n".join(it["text"] for it in result["content"])
        assert not result.get("isError"), (tool, arguments, text)
        self.data = result["structuredContent"]
        self.bytes_of_data += size(self.data)
        return text

    def lint(self, *paths: str) -> str:
        return self.call("check", all=True, **({"paths": paths} if paths else {}))

    def find(self, task: Task) -> None:
        """Of too many findings some are not shown: then those of the folder are asked for, and of single files. Fixes need no places."""
        text = self.lint()
        for paths in [[folder_of(task)], files_of(task)]:
            if task.by is not By.FIXES and not is_shown(text, task):
                text = self.lint(*paths)
        self.knows_places = task.by is By.FIXES or is_shown(text, task)

    def judge(self, _: Task) -> None:
        """Each edit has answered already; the branch as a whole once more, as the server's instructions say."""
        self.call("check")
        while self.data.get("still_asked"):
            self.call("check")
        assert self.data["ok"], self.data

    def test(self, command: str, passes: bool) -> None:
        self.call("run_terminal_cmd", command=command)
        assert (self.data["exit_code"] == 0) == passes, self.data

    def search(self, regex: str, folder: str) -> None:
        self.call("grep_search", query=regex, **({} if folder == "." else {"include_pattern": f"{folder}/**"}))

    def change(self, task: Task) -> None:
        match task.by:
            case By.RENAME:
                self.rename(task.changes)
            case By.FIXES:
                # Fixes are made on a branch that is there.
                self.call("branch_fork", name="fixes")
                self.on_branch = {"branch": "fixes"}
                self.call("apply_fixes", paths=[folder_of(task)], rules=[task.rule])
            case By.EDITS:
                self.edit(task)

    def rename(self, changes: list[Change]) -> None:
        definition = changes[-1]
        old, new = (re.sub(r"\W", "", it) for it in (definition.before, definition.after))
        text = (self.folder / definition.path).read_text()
        (place,) = re.finditer(rf"\b(def|fn|function) {old}\b", text)
        line = text[: place.start()].count("\n") + 1
        self.call("query", kind="rename", target_file=definition.path, line=line, symbol=old, new_name=new)
        assert self.data["applied"], self.data

    def edit(self, task: Task) -> None:
        edits = []
        for it in task.changes:
            for first, last in around((self.folder / it.path).read_text(), it):
                self.call("read_file", target_file=it.path, start_line_one_indexed=first, end_line_one_indexed_inclusive=last)
            edits.append({"target_file": it.path, "code_edit": block(it)})
        edits += [{"target_file": path, "code_edit": text} for path, text in task.written.items()]
        if len(edits) == 1:
            self.call("edit_file", **edits[0])
        else:
            self.call("edit_file", edits=edits)
        assert self.data["applied"], self.data

    def do(self, task: Task) -> None:
        super().do(task)
        self.call("branch_commit")

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()


def block(change: Change) -> str:
    before, after = change.before.removesuffix("\n"), change.after.removesuffix("\n")
    return f"<<<<<<< SEARCH\n{before}\n=======\n{after}\n>>>>>>> REPLACE\n"


WAYS = [WholeFiles, Parts, BrokerTools]
