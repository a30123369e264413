"""A scripted agent: it does tasks with the tools of `broker agent mcp`, looks at every answer, and notes what was acknowledged."""

import hashlib
import json
import pathlib
import random
import re
import threading
import time
from collections import defaultdict

import forms
import history
from support import Wire

LONG = 900
IF_CLEAN = True
TOKEN = re.compile(r"day-\d{3}-\d-\d|usersave-\d{4}")
CONFLICT = "both sides changed"
FORMS = ["blocks", "unified", "codex", "sketch", "whole", "chain", "strings"]


class Log:
    """What all agents did, for the judge."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.times: dict[str, list[float]] = defaultdict(list)
        self.counts: dict[str, int] = defaultdict(int)
        self.commits: list[dict] = []
        self.edits: list[dict] = []
        self.violations: list[dict] = []
        self.examples: dict[str, list] = defaultdict(list)
        # Tokens of acknowledged edits, and what became of them: `edited`, `committed`, `given up`, `resolved`, `live`.
        self.tokens: dict[str, dict] = {}

    def count(self, what: str, number: int = 1) -> None:
        with self.lock:
            self.counts[what] += number

    def violation(self, what: str, **details: object) -> None:
        with self.lock:
            self.violations.append({"what": what, **details})

    def example(self, what: str, **details: object) -> None:
        with self.lock:
            if len(self.examples[what]) < 6:
                self.examples[what].append(details)


class GivenUp(Exception):
    pass


class Agent(threading.Thread):
    def __init__(self, number: int, folder: pathlib.Path, tasks, log: Log, watch, seed: int, python: str) -> None:
        super().__init__(daemon=True)
        self.number, self.folder, self.tasks, self.log, self.watch = number, folder, tasks, log, watch
        self.random, self.python = random.Random(seed * 100 + number), python
        self.wire = Wire(folder)
        self.wire.begin()
        tools = {it["name"]: it["inputSchema"]["properties"] for it in self.wire.ask("tools/list")["result"]["tools"] if "properties" in it["inputSchema"]}
        self.has_strings = "old_string" in tools["edit_file"]
        # Tokens in what this agent was shown of each file during a task.
        self.seen: dict[str, set[str]] = {}
        self.done = 0
        self.branch = ""
        self.failed: str | None = None
        self.last_texts: dict[str, str | None] = {}

    # Calls

    def call(self, tool: str, **arguments: object) -> dict:
        if tool == "edit_file":
            self.sent = arguments
        began = time.monotonic()
        request = self.wire.request("tools/call", name=tool, arguments=arguments)
        answer = self.wire.answer(request, LONG)
        seconds = time.monotonic() - began
        result = answer.get("result") or {"isError": True, "content": [{"text": f"no result: {json.dumps(answer)[:500]}"}]}
        data = result.get("structuredContent") or {}
        with self.log.lock:
            self.log.times[tool].append(seconds)
            if seconds > (6 if tool == "edit_file" else 31):
                self.log.counts[f"slow: {tool} over {6 if tool == 'edit_file' else 31} s"] += 1
            if result.get("isError"):
                self.log.counts[f"errors of {tool}"] += 1
            if data.get("since_last_call"):
                self.log.counts["answers with findings that came late"] += 1
            if (data.get("check") or data).get("still_asked"):
                self.log.counts[f"{tool} still_asked"] += 1
        self.branch = data.get("branch") or self.branch
        return result

    @staticmethod
    def text(result: dict) -> str:
        return result["content"][0]["text"]

    def read(self, path: str) -> str | None:
        result = self.call("read_file", target_file=path, should_read_entire_file=True)
        if result.get("isError"):
            return None
        data = result["structuredContent"]
        if data["last_line"] < data["total_lines"]:
            self.log.count("files too long to read whole")
            raise GivenUp("long file")
        with self.log.lock:
            self.seen.setdefault(path, set()).update(TOKEN.findall(data["text"]))
        return data["text"]

    # Edits

    def edit(self, form: str, old_path: str, path: str, before: str | None, after: str | None) -> dict | None:
        """The answer, or `None` if the form cannot say it."""
        options = {"check": False} if self.random.random() < 0.15 else {}
        if after is None and form not in ("unified", "codex"):
            return self.call("delete_file", target_file=old_path, **options)
        if form in ("unified", "codex") or old_path != path:
            make = forms.codex if form == "codex" else forms.unified
            target = {"target_file": path} if old_path == path and self.random.random() < 0.5 else {}
            return self.call("edit_file", code_edit=make(old_path, path, before, after), **target, **options)
        if before is None or form == "whole":
            return self.call("edit_file", target_file=path, code_edit=after, **options)
        if form == "sketch":
            return self.call("edit_file", target_file=path, code_edit=forms.sketch(path, before, after), **options)
        made = forms.blocks(path, before, after)
        if not made:
            return None
        if form == "chain":
            return self.call("edit_file", edits=[{"target_file": path, "code_edit": it} for it in made], **options)
        if form == "strings":
            if not self.has_strings or len(made) != 1:
                return None
            old, new = re.fullmatch(r"<<<<<<< SEARCH\n(.*?)=======\n(.*?)>>>>>>> REPLACE\n", made[0], re.S).groups()
            return self.call("edit_file", target_file=path, old_string=old, new_string=new, **options)
        return self.call("edit_file", target_file=path, code_edit="".join(made), **options)

    def change(self, task: history.Task, change: history.Change, kinds: list[str]) -> str | None:
        """Makes a change on the branch, with a token of its own, and gives the token."""
        token = f"day-{task.number:03d}-{task.changes.index(change)}-{self.number}"
        kinds = list(kinds)
        for attempt in range(6):
            began = time.monotonic()
            current = self.read(change.old_path)
            if current is None and change.before is not None:
                self.log.count("files: not there (an earlier commit was passed over)")
                return None
            if change.after is None:
                wanted = None
            elif change.before is None:
                wanted = change.after if current is None else history.merged(current, "", change.after, "--theirs")[0]
            else:
                wanted = history.merged(current, change.before, change.after, "--theirs")[0]
            if change.before is None and current is not None:
                wanted = change.after
            if wanted == current and change.path == change.old_path:
                self.log.count("files: nothing to do")
                return None
            has_token = wanted is not None
            if has_token:
                wanted = with_token(change.path, current or "", wanted, token)
            if wanted and current and current.endswith("\n") != wanted.endswith("\n"):
                wanted = wanted.rstrip("\n") + ("\n" if current.endswith("\n") else "")
            form = kinds[min(attempt, len(kinds) - 1)] if attempt < 4 else "whole"
            before = None if current is None else current
            result = self.edit(form, change.old_path, change.path, before, wanted)
            if result is None:
                self.log.count(f"{form}: cannot say it")
                kinds[min(attempt, len(kinds) - 1)] = "whole"
                continue
            self.log.count(f"{form}: sent")
            if result.get("isError"):
                self.log.count(f"{form}: refused")
                self.log.example(f"{form}: refused", path=change.path, answer=self.text(result)[:700])
                continue
            back = self.read(change.path)
            ended = time.monotonic()
            data = result["structuredContent"]
            # A file has several, of which each begins where the one before ends, if it was edited several times.
            diffs = [it["diff"] for it in data.get("files", []) if it["file"] in (change.path, change.old_path)]
            self.note_edit(task, change, form, began, ended, current, wanted, back, diffs, result, token)
            told = None
            if wanted is not None:
                told = forms.applied(current or "", diffs) if diffs else None
            is_cut = "left out)\n" in "".join(diffs) or "more lines\n" in "".join(diffs)
            if back == wanted and (wanted is None or told == wanted or is_cut):
                self.log.count(f"{form}: as wanted")
                return token if has_token and token in (back or "") else ""
            if back == wanted:
                self.log.count(f"{form}: as wanted, but the answer's diff has more (the file had changed since it was read)")
                self.log.example("diff has more", form=form, path=change.path, diff="".join(diffs)[:1500], wanted=diff(current or "", wanted or ""))
            else:
                self.log.count(f"{form}: another text, of which the answer has the diff" if told == back else f"{form}: another text")
                self.log.example(f"{form}: another text", path=change.path, told=told == back, answer=self.text(result)[:1500], wanted=diff(current or "", wanted or ""))
            if attempt == 5:
                return token
            undone = self.call("branch_undo")
            if undone.get("isError"):
                self.log.example("undo refused", answer=self.text(undone))
                raise GivenUp("undo")
            with self.log.lock:
                self.log.tokens.pop(token, None)
        self.log.count("files: all forms refused")
        raise GivenUp("all forms refused")

    def note_edit(self, task, change, form, began, ended, current, wanted, back, diffs, result, token) -> None:
        with self.log.lock:
            self.log.edits.append(dict(
                task=task.number, agent=self.number, folder=self.folder.name, path=change.path, old_path=change.old_path, form=form, began=began, ended=ended,
                current=current, wanted=wanted, back=back, diffs=diffs, sent=self.sent, answer=self.text(result),
            ))
            if wanted is not None and token in wanted:
                self.log.tokens[token] = dict(path=change.path, state="edited", folder=self.folder.name)

    # Tasks

    def run(self) -> None:
        try:
            while task := self.tasks.take():
                self.do(task)
                self.done += 1
        except Exception as error:  # The others go on.
            import traceback

            self.failed = traceback.format_exc()
            self.log.violation("an agent ended", agent=self.number, error=str(error))

    def do(self, task: history.Task) -> None:
        self.seen = {}
        self.look_around(task)
        began = time.monotonic()
        kinds = [FORMS[(task.number + at) % len(FORMS)] for at in range(len(FORMS))]
        tokens: dict[str, str] = {}
        paths: dict[str, None] = {}
        try:
            for at, change in enumerate(task.changes):
                token = self.change(task, change, kinds[at % len(kinds) :] + kinds)
                if token is None:
                    continue
                if token:
                    tokens[token] = change.path
                paths[change.path] = paths[change.old_path] = None
            if not paths:
                self.log.count("tasks: nothing to do")
                if task.pair:
                    task.pair.abort()
                return
            if task.pair:
                try:
                    task.pair.wait(60)
                except threading.BrokenBarrierError:
                    self.log.count("pairs that did not meet")
            if task.number % 4 == 0:
                self.call("check")
            if task.number % 7 == 3:
                self.undo_and_again(next(iter(paths)))
            texts = {path: self.read(path) for path in paths}
            self.test(texts)
            if self.tasks.is_last(task):
                self.keep(tokens, texts)
                return
            self.commit(task, tokens, list(paths), texts, began)
        except GivenUp as why:
            self.give_up(task, tokens, str(why))

    def undo_and_again(self, path: str) -> None:
        """Undoes an undo: the text must be the same."""
        before = self.read(path)
        last = self.call("diff_history")
        if last.get("isError"):
            return
        revision = last["structuredContent"]["revision"]
        answers = [self.text(self.call("branch_undo")), self.text(self.call("branch_undo", to_revision=revision))]
        after = self.read(path)
        if before != after:
            self.log.violation("undo of an undo is another text", path=path, answers=answers, diff=diff(before or "", after or ""))

    def keep(self, tokens: dict[str, str], texts: dict[str, str | None]) -> None:
        self.last_texts = texts
        self.log.count("tasks: left on the branch on purpose")
        with self.log.lock:
            for token in tokens:
                self.log.tokens[token] |= dict(state="live", branch=self.branch)

    def give_up(self, task: history.Task, tokens: dict[str, str], why: str) -> None:
        if task.pair:
            task.pair.abort()
        self.log.count(f"tasks: given up ({why})")
        self.call("branch_discard")
        with self.log.lock:
            for token in self.log.tokens:
                if token.startswith(f"day-{task.number:03d}-") and token.endswith(f"-{self.number}"):
                    self.log.tokens[token]["state"] = "given up"

    def look_around(self, task: history.Task) -> None:
        path = task.changes[0].path
        number = task.number
        name = pathlib.PurePath(path).stem
        self.call("grep_search", query=re.escape(name), include_pattern=f"*{pathlib.PurePath(path).suffix or path}")
        if number % 2:
            self.call("file_search", query=name)
        if number % 3 == 0:
            self.call("list_dir", relative_workspace_path=str(pathlib.PurePath(path).parent))
        if number % 5 == 0:
            self.call("codebase_search", query=f"where {name} is defined")
            self.call("branch_list")
        if number % 6 == 0:
            text = self.read(path) or ""
            found = re.search(r"^(?:def|class|export function|export const|function) +(\w+)", text, re.M)
            if found:
                line = text[: found.start()].count("\n") + 1
                for kind in ("references", "hover"):
                    result = self.call("query", kind=kind, target_file=path, line=line, symbol=found[1])
                    if result.get("isError"):
                        self.log.example("query refused", answer=self.text(result)[:300])
        if number % 10 == 0:
            self.fixes_on_a_fork(path)
        if number % 12 == 5:
            self.background()
        if number % 15 == 0:
            self.call("explain_rule", rule="python/F401")

    def fixes_on_a_fork(self, path: str) -> None:
        forked = self.call("branch_fork")
        if forked.get("isError"):
            self.log.example("fork refused", answer=self.text(forked))
            return
        branch = forked["structuredContent"]["branch"]
        mine = self.branch
        self.call("apply_fixes", branch=branch, paths=[path])
        self.call("branch_discard", branch=branch)
        self.branch = mine

    def background(self) -> None:
        started = self.call("run_terminal_cmd", command="echo begun; sleep 30", is_background=True)
        found = re.search(r'"run": "([^"]+)"', json.dumps(started.get("structuredContent") or {}))
        self.call("run_list")
        if found:
            self.call("run_output", run=found[1])
            self.call("run_kill", run=found[1])
        else:
            self.log.example("background", answer=json.dumps(started)[:400])

    def test(self, texts: dict[str, str | None]) -> None:
        """Runs a test, and sees that commands have the branch's text."""
        for path, text in list(texts.items())[:2]:
            if text is None:
                continue
            ending = pathlib.PurePath(path).suffix
            test = f"{self.python} -m py_compile '{path}'" if ending == ".py" else f"node --check '{path}'" if ending in (".js", ".mjs", ".cjs") else "true"
            more = "; git status --short | head -3" if self.random.random() < 0.1 else ""
            result = self.call("run_terminal_cmd", command=f"sha256sum '{path}'; {test}{more}")
            if result.get("isError"):
                self.log.example("run refused", answer=self.text(result)[:500])
                continue
            data = result["structuredContent"]
            self.log.count("tests passed" if data["exit_code"] == 0 else "tests failed")
            if data["exit_code"]:
                self.log.example("tests failed", path=path, output=data["output"][-500:])
            if hashlib.sha256(text.encode()).hexdigest() not in data["output"]:
                self.log.violation("a command has another text than the branch", path=path, output=data["output"], branch=self.branch)

    # Commits

    def commit(self, task, tokens, paths, texts, began) -> None:
        touched = (began, time.monotonic())
        sides: list[str] = []
        for attempt in range(4):
            options = {"if_clean": True} if IF_CLEAN and task.number % 9 == 4 and attempt == 0 else {}
            if self.random.random() < 0.1:
                self.call("branch_commit", dry_run=True)
            called = time.monotonic()
            result = self.call("branch_commit", **options)
            answered = time.monotonic()
            if not result.get("isError"):
                self.committed(task, tokens, texts, touched, called, answered, result, attempt, sides)
                return
            answer = self.text(result)
            if options:
                self.log.count("commits: refused by if_clean")
                self.log.count("commits: refused by if_clean: " + answer[:32])
                self.log.example("if_clean", answer=answer[:600])
                if CONFLICT not in answer:
                    continue
            if CONFLICT not in answer and "changed" not in answer:
                self.log.count("commits: refused otherwise")
                self.log.example("commit refused", answer=answer[:800])
                continue
            self.log.count("conflicts told")
            if task.pair and attempt == 0:
                self.log.count("conflicts told: of those made on purpose")
            self.log.example("conflict", answer=answer[:800])
            if attempt == 3:
                break
            began = time.monotonic()
            self.resolve(task, paths, texts, attempt, sides)
            touched = (began, time.monotonic())
        raise GivenUp("conflict, three times")

    def resolve(self, task, paths, texts, attempt, sides: list[str]) -> None:
        way = ["sides", "markers", "keep_ours", "text"][(task.number // 3 + attempt) % 4]
        if way == "sides":
            side = ["both", "ours", "theirs"][task.number % 3]
            result = self.call("branch_rebase", resolve={path: [side] for path in paths})
        elif way == "text":
            resolve = {}
            for path in paths:
                disk = self.watch.within(path, time.monotonic(), time.monotonic())[-1]
                if texts[path] is not None and disk is not None:
                    resolve[path] = {"text": history.merged(texts[path], "", disk, "--ours")[0]}
            result = self.call("branch_rebase", resolve=resolve)
        else:
            result = self.call("branch_rebase", on_conflict=way)
        sides.append(way)
        self.log.count(f"rebase by {way}: " + ("refused" if result.get("isError") else "done"))
        if result.get("isError"):
            self.log.example(f"rebase by {way}", answer=self.text(result)[:600])
            if way in ("sides", "text"):
                way = "markers"
                result = self.call("branch_rebase", on_conflict=way)
                self.log.count("rebase by markers after that: " + ("refused" if result.get("isError") else "done"))
            if result.get("isError"):
                self.log.example("rebase refused", answer=self.text(result)[:600])
                return
        for path in paths:
            text = self.read(path)
            if text and re.search(r"^<<<<<<< ", text, re.M):
                side = ["both", "ours", "theirs"][task.number % 3]
                solved = without_markers(text, side)
                answer = self.call("edit_file", target_file=path, code_edit=forms.unified(path, path, text, solved))
                back = self.read(path)
                if answer.get("isError") or back != solved:
                    self.log.example("markers by diff", answer=self.text(answer)[:600])
                    answer = self.call("edit_file", target_file=path, code_edit=solved)
                    back = self.read(path)
                if back != solved:
                    self.log.count("markers: not taken out")
                    self.log.example("markers", answer=self.text(answer)[:600], told=not answer.get("isError"))
                text = back
            texts[path] = text

    def committed(self, task, tokens, texts, touched, called, answered, result, attempt, sides) -> None:
        data = result["structuredContent"]
        self.log.count("tasks: done")
        if attempt:
            self.log.count("tasks: done after a conflict or refusal")
        if data.get("merged"):
            self.log.count("commits that merged", 1)
        with self.log.lock:
            self.log.commits.append(dict(
                task=task.number, agent=self.number, folder=self.folder.name, texts=dict(texts), touched=touched, called=called, answered=answered,
                changes=data["changes"], merged=data.get("merged", []), by_syntax=data.get("merged_by_syntax", []), notes=data.get("notes", []),
                left=data.get("left", []), attempt=attempt, answer=self.text(result), pair=bool(task.pair), sides=sides, seen={path: set(it) for path, it in self.seen.items()},
            ))
            for token, path in tokens.items():
                in_text = token in (texts.get(path) or "")
                self.log.tokens[token]["state"] = "committed" if in_text else "resolved"

    def close(self) -> None:
        self.wire.close()


def diff(before: str, after: str) -> str:
    return forms.hunks(before, after, True)[:1500]


def with_token(path: str, before: str, after: str, token: str) -> str:
    """A line of its own behind the first change."""
    line = forms.comment(path, token)
    if not line:
        return after
    b = forms.lines(after)
    for group in forms.groups(before, after, 0) or [[("insert", 0, 0, 0, len(b))]]:
        for kind, _, _, start, end in group:
            if kind == "equal":
                continue
            at = end if end else start
            last = b[at - 1] if 0 < at <= len(b) else "\n"
            if last.rstrip("\n").endswith("\\"):
                continue
            indent = last[: len(last) - len(last.lstrip())].rstrip("\n")
            b.insert(at, f"{indent}{line}\n")
            return "".join(b)
    return after


def without_markers(text: str, side: str) -> str:
    out, part = [], None
    for line in forms.lines(text):
        if line.startswith("<<<<<<< "):
            part = "ours"
        elif part and line.startswith("||||||| "):
            part = "base"
        elif part and line.rstrip("\n") == "=======":
            part = "theirs"
        elif part and line.startswith(">>>>>>> "):
            part = None
        elif part is None or part == side or (side == "both" and part != "base"):
            out.append(line)
    return "".join(out)
