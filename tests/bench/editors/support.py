"""What the measurements share: folders of their own, clients that keep branches busy, tables, and what processes weigh."""

import contextlib
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Iterator

BROKER = os.environ["BROKER"]
BUSY = os.environ["BROKER_BENCH_BRANCHES"]
ROUNDS = int(os.environ.get("ROUNDS", "300"))
# Milliseconds before each keystroke that a question is about; a person takes some 200 from one to the next.
PAUSE = int(os.environ.get("PAUSE", "0"))
SERVERS = os.environ.get("SERVERS", "ty pyright rust-analyzer typescript-language-server").split()


class Scratch:
    """A project and all that Broker keeps, in a folder that goes with the measurement."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.root = folder, folder / "project"
        self.root.mkdir()
        (folder / "run").mkdir(mode=0o700)
        self.environment = os.environ | {
            "BROKER_RUNTIME_DIR": str(folder / "run"),
            "BROKER_STATE_DIR": str(folder / "state"),
            "BROKER_CACHE_DIR": str(folder / "cache"),
            "BROKER_DATA_DIR": str(folder / "data"),
            "PATH": f"{os.environ['BROKER_BENCH_BIN']}:{os.environ['PATH']}",
        }

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def broker(self, *arguments: str, text: str | None = None) -> str:
        command = [BROKER, *arguments]
        done = subprocess.run(command, cwd=self.root, env=self.environment, input=text, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"error: {' '.join(command)}: {done.stderr}")
        return done.stdout

    def program(self, name: str) -> str:
        found = shutil.which(name, path=self.environment["PATH"])
        if not found:
            raise SystemExit(f"error: {name} is not installed")
        return found


@contextlib.contextmanager
def scratch() -> Iterator[Scratch]:
    with tempfile.TemporaryDirectory(prefix="broker-editors.", ignore_cleanup_errors=True) as folder:
        it = Scratch(pathlib.Path(folder).resolve())
        try:
            yield it
        finally:
            subprocess.run([BROKER, "daemon", "stop"], env=it.environment, capture_output=True)


@contextlib.contextmanager
def busy(it: Scratch, branches: int, clients: int, path: str) -> Iterator[list[str]]:
    """Clients that edit and check branches as fast as they are answered. What they did is in the list afterwards."""
    socket = it.folder / "run" / "broker.sock"
    command = [BUSY, BROKER, "--busy", str(it.root), "--socket", str(socket), "--file", path]
    command += ["--branches", str(branches), "--clients", str(clients)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=it.environment)
    line = process.stdout.readline()
    if not line.startswith("busy"):
        raise SystemExit("error: the clients do not begin")
    did: list[str] = []
    try:
        yield did
    finally:
        process.stdin.close()
        did.append(process.stdout.read().strip())
        process.wait()


def milliseconds(times: list[float]) -> tuple[str, str]:
    """p50 and p99."""
    ordered = sorted(times)
    p99 = ordered[min(len(ordered) - 1, round(0.99 * (len(ordered) - 1)))]
    return f"{statistics.median(ordered) * 1e3:.1f} ms", f"{p99 * 1e3:.1f} ms"


def row(*cells: object) -> str:
    return "| " + " | ".join(str(it) for it in cells) + " |"


def table(*names: str) -> list[str]:
    return [row(*names), row(*["---"] + ["---:"] * (len(names) - 1))]


def processes() -> dict[int, int]:
    """Parents of all processes."""
    parents = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
    return parents


def family(pids: list[int]) -> set[int]:
    """Processes with all that are below them."""
    parents, found = processes(), set(pids)
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            return found
        found |= more


def weight(pids: set[int]) -> float:
    """Proportional memory of processes, in MiB: what they share counts once."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024
