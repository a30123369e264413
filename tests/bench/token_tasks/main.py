"""Does ten tasks in packages of the registries in three ways, and prints what a model would write and read, as a Markdown table.

usage: main.py BROKER FOLDER

No model is asked: what one would decide is a script. FOLDER is for what is made on the way; `BROKER_RUNTIME_DIR` and its like name
the daemon's folders. After each task the three ways must have left the same files.
"""

import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import packages
from tasks import TASKS, Task
from ways import WAYS, BrokerTools, Way, size


@dataclasses.dataclass
class Row:
    bytes_in: int = 0
    bytes_out: int = 0
    calls: int = 0
    seconds: float = 0.0
    bytes_of_data: int = 0

    def add(self, other: "Row") -> None:
        for it in dataclasses.fields(Row):
            setattr(self, it.name, getattr(self, it.name) + getattr(other, it.name))


def prepare(task: Task, folder: pathlib.Path) -> None:
    source = packages.place(packages.default_folder(), *task.package)
    shutil.copytree(source, folder)
    for path, text in task.given.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    for it in task.wrongs():
        text = (folder / it.path).read_text()
        assert text.count(it.before) == 1, it
        (folder / it.path).write_text(text.replace(it.before, it.after))
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)


def contents(folder: pathlib.Path) -> dict[str, bytes]:
    """All files but what Python leaves behind, and git's."""
    left_out = {"__pycache__", ".git"}
    files = (it for it in folder.rglob("*") if it.is_file() and not left_out & set(it.relative_to(folder).parts))
    return {str(it.relative_to(folder)): it.read_bytes() for it in files}


def done(task: Task, kind: type[Way], broker: str, folder: pathlib.Path) -> tuple[Row, Way]:
    prepare(task, folder)
    environment = dict(os.environ)
    if kind is not BrokerTools:
        # The ways share no cache, so that none finds answers of another.
        environment["BROKER_CACHE_DIR"] += f"-{kind.__name__}"
    way = kind(broker, folder, environment)
    try:
        way.do(task)
    finally:
        way.close()
    return Row(way.bytes_in, way.bytes_out, way.calls, way.seconds, getattr(way, "bytes_of_data", 0)), way


def line(*cells: object) -> str:
    return "| " + " | ".join(str(it) for it in cells) + " |"


def shown(what: str, kind: type[Way], row: Row) -> str:
    return line(what, kind.name, f"{row.bytes_in:,}", f"{row.bytes_out:,}", row.calls, f"{row.seconds:.1f}")


def main(broker: str, folder: pathlib.Path) -> None:
    packages.download(packages.default_folder(), list(dict.fromkeys(it.package for it in TASKS)))
    sums = {kind: Row() for kind in WAYS}
    print(line("task", "tools", "bytes written", "bytes read", "calls", "seconds"))
    print("|---|---|---:|---:|---:|---:|")
    for number, task in enumerate(TASKS):
        left = []
        for kind in WAYS:
            place = folder / f"{number}-{kind.__name__}" / task.package[1]
            row, way = done(task, kind, broker, place)
            sums[kind].add(row)
            left.append(contents(place))
            print(shown(task.name, kind, row), flush=True)
        differing = {path for one in left for path in one if any(it.get(path) != one[path] for it in left)}
        assert not differing, f"{task.name}: the ways leave other texts in {differing}"
    for kind, row in sums.items():
        print(shown("**sum**", kind, row))
    once = size(way.tools) + len(way.instructions.encode())
    print(line("**list of tools and instructions, once in a session**", "Broker", 0, f"{once:,}", 0, ""))
    print(line(f"**the same in {len(TASKS)} sessions, one for each task**", "Broker", 0, f"{once * len(TASKS):,}", 0, ""))
    print(line("**results as data, where a client shows them instead of the text**", "Broker", "", f"{sums[BrokerTools].bytes_of_data:,}", "", ""))


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
