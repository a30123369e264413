"""Does tasks in packages of the registries in three ways, and prints what a model would write and read, as Markdown tables.

usage: main.py BROKER FOLDER [WORD]

No model is asked: what one would decide is a script. FOLDER is for what is made on the way; `BROKER_RUNTIME_DIR` and its like name
the daemon's folders. With WORD, only tasks whose names have it are done. After each task the three ways must have left the same files.
"""

import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import packages
import python_javascript
import rust
import typescript
from task import Task
from ways import WAYS, BrokerTools, Parts, Way, size

GROUPS = {"Python and JavaScript": python_javascript.TASKS, "TypeScript and Rust": typescript.TASKS + rust.TASKS}


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
    """All files but what Python and cargo leave behind, and git's."""
    left_out = {"__pycache__", ".git", "target"}
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


def in_all_ways(task: Task, broker: str, folder: pathlib.Path) -> tuple[dict[type[Way], Row], Way]:
    """What each way comes to, and the last of them."""
    rows, left = {}, []
    for kind in WAYS:
        place = folder / kind.__name__ / task.package[1]
        rows[kind], way = done(task, kind, broker, place)
        left.append(contents(place))
        unknown = "" if way.knows_places else "; the findings shown do not name the place"
        print(shown(task.name + unknown, kind, rows[kind]), flush=True)
    differing = {path for one in left for path in one if any(it.get(path) != one[path] for it in left)}
    assert not differing, f"{task.name}: the ways leave other texts in {differing}"
    return rows, way


def group(name: str, tasks: list[Task], broker: str, folder: pathlib.Path) -> Way:
    """Prints a table; the last way has what tools there are."""
    print(f"\n{name}:\n")
    print(line("task", "tools", "bytes written", "bytes read", "calls", "seconds"))
    print("|---|---|---:|---:|---:|---:|")
    sums = {kind: Row() for kind in WAYS}
    fewer = 0
    for number, task in enumerate(tasks):
        rows, way = in_all_ways(task, broker, folder / f"{name[0]}{number}")
        for kind, row in rows.items():
            sums[kind].add(row)
        fewer += way.knows_places and rows[BrokerTools].bytes_out < rows[Parts].bytes_out
    for kind, row in sums.items():
        print(shown("**sum**", kind, row))
    data = f"{sums[BrokerTools].bytes_of_data:,}"
    print(line("**results as data, where a client shows them instead of the text**", "Broker", "", data, "", ""))
    print(f"\nBroker reads fewer bytes than parts of files in {fewer} of {len(tasks)} tasks.")
    return way


def main(broker: str, folder: pathlib.Path, word: str = "") -> None:
    groups = {name: [it for it in tasks if word in it.name] for name, tasks in GROUPS.items()}
    packages.download(packages.default_folder(), list(dict.fromkeys(it.package for tasks in groups.values() for it in tasks)))
    for name, tasks in groups.items():
        if tasks:
            way = group(name, tasks, broker, folder)
    once = size(way.tools) + len(way.instructions.encode())
    print(f"\nThe list of tools and the instructions, once in a session: {once:,} bytes.")


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]), *sys.argv[3:])
