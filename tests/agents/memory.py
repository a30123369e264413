"""Makes many calls in one session, and prints the resident memory of the daemon and of `broker agent mcp` as they go on.

usage: memory.py CALLS
"""

import pathlib
import sys
import time

from calls import Calls
from support import BROKER, Wire

SAMPLES = 20


def resident(pid: int) -> int:
    """KiB."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1])


def daemon() -> int:
    """The process of this bench's daemon, by the runtime folder in its variables."""
    here = [it for it in environment("self") if it.startswith("BROKER_RUNTIME_DIR=")]
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            arguments = (folder / "cmdline").read_text().split("\0")
            if arguments[:2] == [BROKER, "daemon", "serve"] and set(here) <= set(environment(folder.name)):
                return int(folder.name)
        except OSError:
            continue
    raise SystemExit("error: the daemon is not found")


def environment(process: str) -> list[str]:
    return (pathlib.Path("/proc") / process / "environ").read_text().split("\0")


def main(count: int) -> None:
    calls = Calls()
    wire = Wire(calls.folder)
    wire.begin()
    began = time.monotonic()
    print("| calls | daemon MiB | broker agent mcp MiB | calls a second |\n|---:|---:|---:|---:|")
    for number in range(count + 1):
        if number % max(1, count // SAMPLES) == 0:
            megabytes = [resident(it) / 1024 for it in (daemon(), wire.process.pid)]
            rate = number / (time.monotonic() - began)
            print(f"| {number} | {megabytes[0]:.1f} | {megabytes[1]:.1f} | {rate:.0f} |", flush=True)
        calls.make(wire, number)
    wire.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
