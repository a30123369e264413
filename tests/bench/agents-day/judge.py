"""Judges a day by its log: whether each text that the disk had is one that an acknowledged commit or a save leads to, and whether anything is lost."""

import pathlib
import re
import subprocess
from collections import Counter

import disk
import forms
import history

TOKEN = re.compile(r"day-\d{3}-\d-\d|usersave-\d{4}")


def tokens(text: str | None) -> set[str]:
    return set(TOKEN.findall(text or ""))


class Judge:
    def __init__(self, folder: pathlib.Path, log, watch: disk.Watch, user: disk.User) -> None:
        self.folder, self.log, self.watch, self.user = folder, log, watch, user
        self.commits = [it for it in log.commits if it["folder"] == folder.name]
        self.transitions = Counter()
        # Why a token went: by path and token.
        self.went: dict[str, tuple[str, dict]] = {}

    def judge(self) -> None:
        for path, versions in self.watch.versions.items():
            for (_, before), (when, after) in zip(versions, versions[1:]):
                self.transition(path, when, before, after)
        self.edits()
        self.lost()
        self.markers()

    # What changed the disk

    def candidates(self, path: str, when: float) -> list[dict]:
        commits = [it | {"is": "commit"} for it in self.commits if path in it["texts"] and it["called"] - 0.05 <= when <= it["answered"] + 1]
        saves = [it | {"is": "save"} for it in self.user.saves if it["path"] == path and it["began"] - 0.05 <= when <= it["ended"] + 1]
        return saves + commits

    def transition(self, path: str, when: float, before: str | None, after: str | None) -> None:
        found = self.candidates(path, when)
        for it in found:
            results = self.results(path, before, it)
            if after in results:
                why = results[after]
                self.transitions[f"{it['is']}: {why}"] += 1
                self.note(path, when, before, after, it, why)
                return
        # Two that were seen as one.
        for first in found:
            for middle in self.results(path, before, first):
                for second in found:
                    if second is not first and after in self.results(path, middle, second):
                        self.transitions["two at once"] += 1
                        self.note(path, when, before, middle, first, "two at once")
                        self.note(path, when, middle, after, second, "two at once")
                        return
        for it in found:
            if it["is"] == "commit" and it["texts"][path] == after:
                self.transitions["commit: written over a text that it was not made from"] += 1
                self.log.violation("a commit was written over a text that it was not merged with", path=path, task=it["task"], agent=it["agent"], answer=it["answer"],
                                   lost=sorted(tokens(before) - tokens(after)), diff=forms.hunks(before or "", after or "", True)[:1200])
                self.note(path, when, before, after, it, "overwrote")
                return
            if it["is"] == "save" and it["kind"] != "append" and it["after"] == after:
                self.transitions["save: over a text that came between the user's read and write"] += 1
                self.note(path, when, before, after, it, "the user's own race")
                return
        for it in found:
            if it["is"] == "commit" and (path in it["merged"] or it["merged"]):
                mine = tokens(it["texts"][path])
                if mine <= tokens(after) | set(self.went) and tokens(before) - tokens(after) <= {t for t in tokens(before) if any(t in (b or "") for b in self.bases(path, it)) and t not in mine}:
                    kind = "by syntax" if path in it["by_syntax"] else "by lines, not as git does"
                    self.transitions[f"commit: merged {kind}"] += 1
                    fits = [at for at, (when_, base) in enumerate(self.watch.versions[path]) if base is not None and history.merged(it["texts"][path], base, before)[0] == after]
                    self.log.example(f"merged {kind}", path=path, fits=fits, versions=[it_[0] for it_ in self.watch.versions[path]], touched=it["touched"], called=it["called"], when=when, attempt=it["attempt"], git=[history.merged(it["texts"][path], base, before)[1] for base in self.bases(path, it)], task=it["task"], diff=forms.hunks(before or "", after or "", True)[:800])
                    self.note(path, when, before, after, it, "merged")
                    return
        self.transitions["not explained"] += 1
        self.log.violation("a text on the disk that nothing explains", path=path, when=when, candidates=[(it["is"], it.get("task", it.get("token")), it.get("answer")) for it in found],
                           lost=sorted(tokens(before) - tokens(after)), diff=forms.hunks(before or "", after or "", True)[:1500])
        self.note(path, when, before, after, {"is": "nothing"}, "not explained")

    def bases(self, path: str, commit: dict) -> list[str | None]:
        return self.watch.within(path, *commit["touched"])

    def results(self, path: str, before: str | None, it: dict) -> dict[str | None, str]:
        """Texts that a save or a commit may have led to, each with how."""
        if it["is"] == "save":
            if it["kind"] == "append":
                return {(before or "") + it["line"]: "append"}
            return {it["after"]: "change"} if it["before"] == before else {}
        text, bases = it["texts"][path], self.bases(path, it)
        found: dict[str | None, str] = {}
        if before in bases:
            found[text] = "from the text that it was made from"
        if text is None or before is None:
            return found
        for base in bases:
            if base is not None and base != before:
                merged, is_clean = history.merged(text, base, before)
                if is_clean:
                    found.setdefault(merged, "merged as git does, told" if path in it["merged"] else "merged as git does, not told")
        return found

    def note(self, path: str, when: float, before: str | None, after: str | None, it: dict, why: str) -> None:
        for token in tokens(before) - tokens(after):
            knowing = it["is"] == "commit" and token in it["seen"].get(path, ())
            chosen = it["is"] == "commit" and bool(it["sides"])
            self.went[token] = (why, {"path": path, "knowing": knowing, "chosen": chosen, "by": it.get("task", it.get("token")), "is": it["is"], "when": when, "answer": it.get("answer")})
        for token in tokens(after) - tokens(before):
            self.went.pop(token, None)

    # What agents were told

    def edits(self) -> None:
        for it in self.log.edits:
            if it["folder"] != self.folder.name or it["wanted"] == it["back"]:
                continue
            told = "".join(it["diffs"])
            texts = [it["current"], *self.watch.within(it["old_path"], it["began"], it["ended"])]
            if any(forms.applied(text or "", it["diffs"]) == it["back"] for text in texts):
                self.log.count("edits of another text than wanted: told")
            elif "left out)\n" in told or "more lines\n" in told:
                self.log.count("edits of another text than wanted: the diff of the answer is cut")
                self.log.example("another text, the diff is cut", **{key: it[key] for key in ("task", "path", "form", "current", "sent", "wanted", "back")})
            else:
                self.log.violation("an edit is another text than wanted and than told", **{key: it[key] for key in ("task", "path", "form", "answer")},
                                   wanted=forms.hunks(it["current"] or "", it["wanted"] or "", True)[:1500], got=forms.hunks(it["current"] or "", it["back"] or "", True)[:1500])

    # What is there at the end

    def lost(self) -> None:
        there: set[str] = set()
        for path in self.watch.versions:
            there |= tokens(disk.text_of(self.folder / path))
        for token, it in self.log.tokens.items():
            if it["folder"] != self.folder.name:
                continue
            if it["state"] == "committed" and token not in there:
                self.gone(token, it)
            elif it["state"] == "committed":
                self.log.count("tokens of edits on the disk")
            else:
                self.log.count(f"tokens of edits: {it['state']}")
                if it["state"] == "edited":
                    self.log.violation("an edit of which nobody knows", token=token, **it)
        for it in self.user.saves:
            if it["token"] in there:
                self.log.count("saves on the disk")
            else:
                self.gone(it["token"], it)

    def gone(self, token: str, it: dict) -> None:
        why, by = self.went.get(token, ("never seen on the disk", {}))
        kind = "saves" if token.startswith("user") else "tokens of edits"
        if by.get("knowing"):
            self.log.count(f"{kind}: replaced by a later task that had seen it")
        elif by.get("chosen"):
            self.log.count(f"{kind}: on the other side of a conflict that an agent decided")
        elif why == "the user's own race" or (by.get("is") == "save"):
            self.log.count(f"{kind}: overwritten by the user's own save")
        elif token.startswith("user") and kept(token):
            self.log.count("saves: kept in the journal's folder")
        else:
            edits = [it for it in self.log.edits if it["path"] == by.get("path") and it["task"] == by.get("by") and by.get("is") == "commit"]
            shown = [dict(form=it["form"], began=it["began"], ended=it["ended"], read=token in (it["current"] or ""), back=token in (it["back"] or ""), told=[token in it["answer"], "left out" in it["answer"]], sent=it["sent"], diffs=it["diffs"]) for it in edits]
            self.log.violation("lost", token=token, why=why, **by, edits=shown, save={key: it[key] for key in ("kind", "path", "began", "ended") if key in it})

    def markers(self) -> None:
        for path in self.watch.versions:
            text = disk.text_of(self.folder / path) or ""
            if re.search(r"^(<<<<<<< |>>>>>>> )", text, re.M) and not re.search(r"^(<<<<<<< |>>>>>>> )", self.watch.versions[path][0][1] or "", re.M):
                self.log.violation("conflict markers on the disk", path=path)


def kept(token: str) -> bool:
    import os

    found = subprocess.run(["grep", "-rl", token, os.environ["BROKER_STATE_DIR"]], capture_output=True, text=True).stdout
    return "/kept/" in found
