"""Measures what an editor waits for: see tests/bench/lsp."""

import sys

import latency
import memory
import proxy

ALL = {"latency": latency.measure, "proxy": proxy.measure, "memory": memory.measure}


def main() -> None:
    names = sys.argv[1:] or list(ALL)
    unknown = [it for it in names if it not in ALL]
    if unknown:
        sys.exit(f"error: there is no `{unknown[0]}`\nhint: {', '.join(ALL)}")
    for name in names:
        for line in ALL[name]():
            print(line, flush=True)
        print(flush=True)


if __name__ == "__main__":
    main()
