"""Eight agents and a user on one workspace after the other: see `run`."""

import argparse
import json
import os
import pathlib
import queue
import statistics
import subprocess
import threading
import time

import agent
import disk
import history
import judge
from support import BROKER, WORK, begun

AGENTS = 8
PAIR_AT = 10


class Tasks:
    """Tasks in order; the last of each agent stays on its branch."""

    def __init__(self, tasks: list[history.Task], last: int) -> None:
        self.queue: queue.SimpleQueue = queue.SimpleQueue()
        self.last = {it.number for it in tasks[-last:]}
        for it in tasks:
            self.queue.put(it)

    def take(self) -> history.Task | None:
        try:
            return self.queue.get_nowait()
        except queue.Empty:
            return None

    def is_last(self, task: history.Task) -> bool:
        return task.number in self.last


def tasks_of(folder: pathlib.Path, found: list, first: int) -> list[history.Task]:
    tasks = [history.Task(first + at, commit[:8], changes) for at, (commit, changes) in enumerate(found)]
    made: list[history.Task] = []
    number = first + len(tasks)
    for at, task in enumerate(tasks):
        made.append(task)
        # Files that are made, moved and deleted, of which histories have few.
        note = f"# Note {task.number}\n\nMade by a task.\n\n" + "".join(f"- item {it}\n" for it in range(12))
        match at % 12:
            case 3:
                task.changes.append(history.Change(f"day/note-{task.number}.md", f"day/note-{task.number}.md", None, note))
            case 7:
                path = f"day/note-{task.number - 4}.md"
                old = note.replace(str(task.number), str(task.number - 4), 1)
                task.changes.append(history.Change(path, f"day/moved-{task.number - 4}.md", old, old.replace("- item 3\n", "- item three\n")))
            case 11:
                path = f"day/moved-{task.number - 8}.md"
                old = note.replace(str(task.number), str(task.number - 8), 1).replace("- item 3\n", "- item three\n")
                task.changes.append(history.Change(path, path, old, None))
        if at % PAIR_AT == PAIR_AT - 1:
            both = pair(folder, task, number)
            made += both
            number += len(both)
    return made


def pair(folder: pathlib.Path, task: history.Task, number: int) -> list[history.Task]:
    """Two tasks that change one line."""
    for change in task.changes:
        if change.before and change.after and change.path == change.old_path:
            lines = change.after.splitlines(keepends=True)
            at = max(range(len(lines)), key=lambda it: len(lines[it]) if len(lines[it]) < 80 else 0)
            barrier = threading.Barrier(2)
            both = []
            for half in range(2):
                other = list(lines)
                other[at] = lines[at].rstrip("\n") + f" changed by {'one' if half else 'the other'}\n"
                both.append(history.Task(number + half, "pair", [history.Change(change.path, change.path, change.after, "".join(other))], barrier))
            return both
    return []


def processes_of(folder: pathlib.Path) -> list[str]:
    found = []
    for it in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (it / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            environment = (it / "environ").read_bytes().decode(errors="replace")
            cwd = os.readlink(it / "cwd")
        except OSError:
            continue
        if int(it.name) != os.getpid() and (str(folder) in cwd or f"BROKER_RUNTIME_DIR={os.environ['BROKER_RUNTIME_DIR']}\0" in environment) and "day.py" not in line and "agents-day/run" not in line:
            found.append(f"{it.name} {line[:200]}")
    return found


def mounts_of(folder: pathlib.Path) -> list[str]:
    return [it for it in pathlib.Path("/proc/mounts").read_text().splitlines() if str(folder) in it or os.environ["BROKER_CACHE_DIR"] in it]


def daemon_memory() -> str:
    total = {}
    for it in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (it / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if f"BROKER_RUNTIME_DIR={os.environ['BROKER_RUNTIME_DIR']}\0" not in (it / "environ").read_bytes().decode(errors="replace") or "daemon" not in line:
                continue
            rss = next(int(row.split()[1]) for row in (it / "status").read_text().splitlines() if row.startswith("VmRSS"))
            total[f"{it.name} {line[:60]}"] = rss // 1024
        except (OSError, StopIteration):
            continue
    return ", ".join(f"{name}: {mb} MiB" for name, mb in total.items())


def workspace(source: pathlib.Path, name: str, number: int, first: int) -> tuple[pathlib.Path, list[history.Task]]:
    folder = WORK / name
    history.clone(source, folder)
    base, found = history.stretch(folder, number)
    history.git(folder, "checkout", "--quiet", "--detach", base)
    history.git(folder, "remote", "remove", "origin")
    return folder, tasks_of(folder, found, first)


def day(folder: pathlib.Path, tasks: list[history.Task], log: agent.Log, seed: int, pause: float) -> None:
    git_before = disk.sums(folder / ".git")
    watch = disk.Watch(folder)
    tracked = set(history.git(folder, "ls-files").splitlines())
    touched = [change.path for task in tasks for change in task.changes if change.path in tracked]
    texts = sorted({it for it in tracked if it.endswith((".md", ".rst", ".txt")) and (folder / it).is_file()})[:40] + [it for it in touched if it.endswith((".md", ".rst"))][:20]
    sources = [it for it in touched if it.endswith((".py", ".ts", ".js"))]
    user = disk.User(folder, seed, texts, sources, pause)
    order = Tasks(tasks, AGENTS)
    began = time.monotonic()
    agents = [agent.Agent(number, folder, order, log, watch, seed, "/usr/bin/python3") for number in range(AGENTS)]
    user.start()
    for it in agents:
        it.start()
    for it in agents:
        it.join()
    user.close()
    print(f"{folder.name}: {len(tasks)} tasks in {time.monotonic() - began:.0f} s, by agent {[it.done for it in agents]}, {len(user.saves)} saves", flush=True)
    for it in agents:
        if it.failed:
            print(it.failed)
    # Texts that stay on branches are there, also after the sessions are gone.
    for it in agents:
        it.close()
    wire = begun(folder)
    for it in agents:
        for path, text in it.last_texts.items():
            result = wire.call("read_file", target_file=path, branch=it.branch, should_read_entire_file=True)
            got = None if result.get("isError") else result["structuredContent"]["text"]
            log.count("files on live branches read again")
            if got != text:
                log.violation("a live branch has another text", branch=it.branch, path=path, answer=result["content"][0]["text"][:300])
    print(f"{folder.name}: daemon {daemon_memory()}; folder of the branches {size(pathlib.Path(os.environ['BROKER_STATE_DIR']))} MiB", flush=True)
    wire.close()
    watch.close()
    it = judge.Judge(folder, log, watch, user)
    it.judge()
    print(f"{folder.name}: texts on the disk: {dict(it.transitions)}", flush=True)
    git_after = disk.sums(folder / ".git")
    if git_before != git_after:
        log.violation(".git has changed", files=[name for name in git_before.keys() | git_after.keys() if git_before.get(name) != git_after.get(name)][:20])


def size(folder: pathlib.Path) -> int:
    return sum(it.stat().st_size for it in folder.rglob("*") if it.is_file()) >> 20


def report(log: agent.Log) -> None:
    print("\n| tool | calls | errors | p50 ms | p99 ms | max ms |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for tool, times in sorted(log.times.items()):
        ordered = sorted(times)
        p99 = ordered[min(len(ordered) - 1, round(0.99 * (len(ordered) - 1)))]
        print(f"| {tool} | {len(times)} | {log.counts.get(f'errors of {tool}', 0)} | {statistics.median(ordered) * 1e3:.0f} | {p99 * 1e3:.0f} | {ordered[-1] * 1e3:.0f} |")
    print()
    for name, number in sorted(log.counts.items()):
        if not name.startswith("errors of "):
            print(f"{name}: {number}")
    print(f"\nviolations: {len(log.violations)}")
    for it in log.violations[:40]:
        print(json.dumps(it, ensure_ascii=False)[:600])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("repositories", nargs="+", type=pathlib.Path)
    parser.add_argument("--types", type=pathlib.Path)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between two saves of the user, on the average")
    parser.add_argument("--no-if-clean", action="store_true", help="no commit says `if_clean`")
    parser.add_argument("--log", type=pathlib.Path)
    options = parser.parse_args()
    if options.types:
        os.environ["PATH"] = f"{options.types.resolve()}:{os.environ['PATH']}"
        subprocess.run([BROKER, "trust", str(WORK)], check=True, capture_output=True)
    log, first = agent.Log(), 0
    agent.IF_CLEAN = not options.no_if_clean
    for at, source in enumerate(options.repositories):
        number = options.tasks // len(options.repositories) + (at < options.tasks % len(options.repositories))
        name = source.parent.name.split("+")[-1] if source.name == "repo" else source.name
        folder, tasks = workspace(source.resolve(), name, number, first)
        first += len(tasks)
        day(folder, tasks, log, options.seed + at, options.pause)
    print("daemon at the end:", daemon_memory())
    subprocess.run([BROKER, "daemon", "stop"], capture_output=True)
    deadline = time.monotonic() + 30
    while processes_of(WORK) and time.monotonic() < deadline:
        time.sleep(0.2)
    for what, found in (("processes", processes_of(WORK)), ("mounts", mounts_of(WORK))):
        if found:
            log.violation(f"{what} are left", found=found)
    report(log)
    if options.log:
        options.log.write_text(json.dumps({"examples": log.examples, "violations": log.violations, "counts": log.counts}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
