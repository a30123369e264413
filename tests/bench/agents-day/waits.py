"""How long edits and checks wait for language servers, cold and warm, and whether what came late was told: see `run`.

Each edit adds a line of which the server has something to say, to another file. A finding counts as told if it is in the answer to the edit, in
what begins a later answer, or in the answer of a check; the end asks about each file with a long wait, and holds what was told against that.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import time

import history
from support import BROKER, WORK, begun

# The line that is wrong, the server, the files.
LANGUAGES = {
    "python": ("\n\ndef day_{n}() -> int:\n    return \"day {n}\"\n", "pyright", ".py"),
    "typescript": ("\nexport const day_{n}: number = 'day {n}'\n", "typescript", ".ts"),
    "rust": ("\n#[allow(dead_code)]\nfn day_{n}() -> u32 {{\n    \"day {n}\"\n}}\n", "rust-analyzer", ".rs"),
}


class Session:
    def __init__(self, folder: pathlib.Path, server: str) -> None:
        self.wire, self.server = begun(folder), server
        self.calls = 0
        # Numbers of edits that wait for the server, with the call that asked; calls until an answer had it.
        self.waiting: dict[str, tuple[int, float]] = {}
        self.late: list[int] = []
        self.late_seconds: list[float] = []
        self.told: set[tuple[str, str]] = set()
        self.repeated = 0
        self.edits: list[float] = []
        self.checks: list[float] = []
        self.asked = self.checks_asked = self.with_late = 0
        self.still: dict[str, int] = {}
        self.slow: list[dict] = []

    def call(self, tool: str, **arguments: object) -> tuple[dict, float]:
        began = time.monotonic()
        result = self.wire.answer(self.wire.request("tools/call", name=tool, arguments=arguments), 900)
        seconds = time.monotonic() - began
        self.calls += 1
        if "result" not in result:
            raise SystemExit(json.dumps(result)[:1000])
        result = result["result"]
        text, data = result["content"][0]["text"], result.get("structuredContent") or {}
        late = data.get("since_last_call") or []
        if late:
            self.with_late += 1
            assert text.startswith("since your last call"), text[:300]
        elif "since your last call" in text:
            self.with_late += 1
            late = [{"findings": [{"file": file, "message": "late"} for file in list(self.waiting) if file in text], "text": text}]
        for it in late:
            for finding in it.get("findings", []):
                self.finding(finding, True)
            # A check that has ended has told all of its files.
            if not it.get("findings") and it.get("not_checked"):
                self.slow.append({"late without findings": it})
        for finding in (data.get("check") or data).get("findings", []) if tool in ("edit_file", "check") else []:
            self.finding(finding, False)
        return result, seconds

    def finding(self, it: dict, is_late: bool) -> None:
        if "rule" in it and not it["rule"].startswith(self.server):
            return
        if (it["file"], it.get("message", "")) in self.told and is_late:
            self.repeated += 1
        self.told.add((it["file"], it.get("message", "")))
        if it["file"] in self.waiting:
            asked, began = self.waiting.pop(it["file"])
            self.late.append(self.calls - asked)
            self.late_seconds.append(time.monotonic() - began)

    def edit(self, path: str, line: str, **options: object) -> None:
        text = (self.wire_folder / path).read_text()
        last = "\n".join(text.rstrip("\n").split("\n")[-1:])
        diff = f"--- a/{path}\n+++ b/{path}\n@@ -{text.count(chr(10))},1 +{text.count(chr(10))},{1 + line.count(chr(10))} @@\n {last}\n" + "".join(f"+{it}\n" for it in line.rstrip("\n").split("\n"))
        result, seconds = self.call("edit_file", target_file=path, code_edit=diff, **options)
        if result.get("isError"):
            self.slow.append({"refused": path, "answer": result["content"][0]["text"][:300]})
            return
        self.edits.append(seconds)
        check = result["structuredContent"].get("check") or {}
        still = check.get("still_asked") or []
        for it in still:
            name = it if isinstance(it, str) else json.dumps(it)
            self.still[name] = self.still.get(name, 0) + 1
        if seconds > 5.5:
            self.slow.append({"edit": path, "seconds": round(seconds, 2), "answer": result["content"][0]["text"][-300:]})
        if still:
            self.asked += 1
            if not any(it[0] == path for it in self.told):
                self.waiting[path] = (self.calls, time.monotonic())
        elif not any(it[0] == path for it in self.told):
            self.missed = getattr(self, "missed", [])
            self.missed.append((path, result["content"][0]["text"][-400:]))

    def check(self) -> None:
        result, seconds = self.call("check")
        self.checks.append(seconds)
        data = result.get("structuredContent") or {}
        if data.get("still_asked"):
            self.checks_asked += 1
        if seconds > 30.5:
            self.slow.append({"check": round(seconds, 2), "answer": result["content"][0]["text"][-300:]})


def p(times: list[float]) -> str:
    ordered = sorted(times) or [0.0]
    return f"{statistics.median(ordered):.2f} / {ordered[min(len(ordered) - 1, round(0.99 * (len(ordered) - 1)))]:.2f} / {ordered[-1]:.2f}"


def files(folder: pathlib.Path, ending: str, number: int, skip: int) -> list[str]:
    found = [it for it in history.git(folder, "ls-files", f"*{ending}").splitlines() if not it.endswith(".d.ts") and (folder / it).is_file()]
    able = [it for it in found if 20 < (text := (folder / it).read_text(errors="replace")).count("\n") < 2000 and text.endswith("\n") and "\r" not in text and not text.endswith("\\\n")]
    step = max(1, len(able) // (2 * number))
    return able[skip::step][:number]


def stop() -> None:
    subprocess.run([BROKER, "daemon", "stop"], capture_output=True)


def row(name: str, all_: list[Session], left: int, truly: str) -> None:
    edits = [it for one in all_ for it in one.edits]
    checks = [it for one in all_ for it in one.checks]
    late = [it for one in all_ for it in one.late]
    seconds = [it for one in all_ for it in one.late_seconds]
    asked = sum(it.asked for it in all_)
    print(f"| {name} | {len(edits)} | {p(edits)} | {sum(it <= 5.25 for it in edits)} | {asked} | {len(late)} | {p(late) if late else '-'} | {p(seconds) if late else '-'} | {left} | {len(checks)}: {p(checks)} | {sum(it.checks_asked for it in all_)} | {truly} |", flush=True)
    for one in all_:
        for it in one.slow[:6]:
            print("    ", json.dumps(it, ensure_ascii=False)[:700])
        for it in getattr(one, "missed", [])[:4]:
            print("     no finding and not still asked:", it[0], "|", it[1].replace("\n", " / "))
        if one.still:
            print("     still asked:", dict(sorted(one.still.items(), key=lambda it: -it[1])[:4]))


def phase(session: Session, paths: list[str], line: str, first: int, pause: float, check_each: int) -> None:
    for at, path in enumerate(paths):
        session.edit(path, line.format(n=first + at))
        if check_each and at % check_each == check_each - 1:
            session.check()
        time.sleep(pause)


def drain(session: Session, seconds: float) -> int:
    """Reads on until nothing is waited for, and gives what never came."""
    end = time.monotonic() + seconds
    while session.waiting and time.monotonic() < end:
        time.sleep(1)
        session.call("list_dir")
    return len(session.waiting)


def truth(session: Session, paths: list[str], wait: int) -> str:
    """What a check with a long wait finds that was never told."""
    expected = missing = unknown = 0
    told = {file for file, _ in session.told}
    for start in range(0, len(paths), 10):
        part = paths[start : start + 10]
        before = set(session.told)
        result, _ = session.call("check", paths=part, wait=wait)
        data = result.get("structuredContent") or {}
        found = {it["file"] for it in data.get("findings", []) if it["rule"].startswith(session.server)}
        expected += len(found)
        missing += len(found - told)
        unknown += len(set(part) - found)
        session.told = before | session.told
        if found - told:
            session.slow.append({"never told": sorted(found - told)[:5]})
        if data.get("not_checked"):
            session.slow.append({"not checked": data["not_checked"][:3]})
    return f"{expected} found, {missing} of them never told, {unknown} files without"


def measure(language: str, source: pathlib.Path, options) -> None:
    line, server, ending = LANGUAGES[language]
    folder = WORK / f"{language}-project"
    history.clone(source, folder)
    history.git(folder, "checkout", "--quiet", "--detach", "HEAD")
    if options.prepare.get(language):
        subprocess.run(options.prepare[language], shell=True, cwd=folder, check=False, capture_output=True)
    Session.wire_folder = folder
    number = options.edits
    total = len(history.git(folder, "ls-files", f"*{ending}").splitlines())
    # Cold: a daemon that has just started, several times.
    cold, left, paths = [], 0, files(folder, ending, number, 0)
    truths = []
    for start in range(0, number, options.cold):
        stop()
        part = paths[start : start + options.cold]
        session = Session(folder, server)
        phase(session, part, line, start, options.pause, 0)
        session.check()
        never = drain(session, 90)
        left += never
        truths.append(truth(session, part, options.wait))
        session.call("branch_discard")
        session.wire.close()
        cold.append(session)
        row(f"{language}, {total} files, cold, start {len(cold)}", cold[-1:], never, truths[-1])
    row(f"{language}, {total} files, cold", cold, left, "; ".join(truths))
    session = Session(folder, server)
    warm = files(folder, ending, number, 1)
    session.call("edit_file", target_file=warm[0], code_edit=(folder / warm[0]).read_text(), check=False)
    session.call("check", wait=options.wait)
    phase(session, warm, line, 100, options.pause, options.check_each)
    left = drain(session, 90)
    row(f"{language}, warm", [session], left, truth(session, warm, options.wait))
    session.call("branch_discard")
    session.wire.close()
    stop()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("projects", nargs="+")
    parser.add_argument("--types", type=pathlib.Path, required=True)
    parser.add_argument("--edits", type=int, default=50)
    parser.add_argument("--cold", type=int, default=10, help="edits after each start of the daemon")
    parser.add_argument("--pause", type=float, default=0.5, help="seconds between two calls, in which a model would think")
    parser.add_argument("--wait", type=int, default=300, help="seconds of the checks that say what is true")
    parser.add_argument("--check-each", type=int, default=5, help="a check after so many edits, warm")
    parser.add_argument("--prepare", action="append", default=[], help="LANGUAGE=COMMAND before the first start")
    options = parser.parse_args()
    options.prepare = dict(it.split("=", 1) for it in options.prepare)
    os.environ["PATH"] = f"{options.types.resolve()}:{os.environ['PATH']}"
    subprocess.run([BROKER, "trust", str(WORK)], check=True, capture_output=True)
    print("| project | edits | edit s p50 / p99 / max | within 5 s | still asked | told later | after calls p50 / p99 / max | after s | never told | checks: s | check still asked | at the end |")
    print("| --- |" + " ---: |" * 11)
    for it in options.projects:
        language, project = it.split("=", 1)
        measure(language, pathlib.Path(project).resolve(), options)


if __name__ == "__main__":
    main()
