"""Tasks from the history of a repository, and clones to do them in."""

import dataclasses
import pathlib
import subprocess

FILES, LINES = 6, 200
# Lines of a file that `read_file` gives at once, with room for what is added.
LONGEST = 3500


def git(folder: pathlib.Path, *arguments: str, check: bool = True) -> str:
    return git_bytes(folder, *arguments, check=check).decode()


def git_bytes(folder: pathlib.Path, *arguments: str, check: bool = True) -> bytes:
    return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=check).stdout


@dataclasses.dataclass
class Change:
    """A file before and after; `None` is no file."""

    old_path: str
    path: str
    before: str | None
    after: str | None


@dataclasses.dataclass
class Task:
    number: int
    name: str
    changes: list[Change]
    # The other half of a conflict that is made on purpose: both wait for each other here.
    pair: "object | None" = None


def text_at(folder: pathlib.Path, commit: str, path: str) -> str | None:
    """A text that the tools can show whole."""
    try:
        text = git_bytes(folder, "cat-file", "blob", f"{commit}:{path}").decode()
    except (UnicodeDecodeError, subprocess.CalledProcessError):
        return None
    is_plain = "\r" not in text and "\0" not in text and "\f" not in text and text.endswith("\n") and len(text) < 150_000
    return text if is_plain and text.count("\n") < LONGEST else None


def changes_of(folder: pathlib.Path, commit: str) -> list[Change] | None:
    """The changes of a commit against its first parent, if they fit."""
    lines = [it.split("\t") for it in git(folder, "diff", "--numstat", "--no-renames", f"{commit}^1", commit).splitlines()]
    if not 0 < len(lines) <= 2 * FILES or any("-" in it[:2] for it in lines) or sum(int(it[0]) + int(it[1]) for it in lines) > 4 * LINES:
        return None
    if sum(int(it.split("\t")[0]) + int(it.split("\t")[1]) for it in git(folder, "diff", "--numstat", "-M", f"{commit}^1", commit).splitlines()) > LINES:
        return None
    raw = git(folder, "diff", "--raw", "-M", "--abbrev=40", f"{commit}^1", commit).splitlines()
    changes = []
    for line in raw:
        modes, *paths = line.split("\t")
        old_mode, mode, _, _, kind = modes.lstrip(":").split()
        if kind[0] not in "AMDR" or (kind[0] in "MR" and old_mode != mode) or not {old_mode, mode} <= {"100644", "100755", "000000"}:
            return None
        old, new = paths[0], paths[-1]
        before = None if kind == "A" else text_at(folder, f"{commit}^1", old)
        after = None if kind == "D" else text_at(folder, commit, new)
        if (before is None and kind != "A") or (after is None and kind != "D") or old.startswith(".git"):
            return None
        changes.append(Change(old, new, before, after))
    return changes if len(changes) <= FILES else None


def stretch(folder: pathlib.Path, number: int) -> tuple[str, list[tuple[str, list[Change]]]]:
    """The parent of the first of the last commits that make so many tasks, and what each changes. Commits that do not fit are passed over."""
    found: list[tuple[str, list[Change]]] = []
    for commit in git(folder, "rev-list", "--first-parent", "-n", "2000", "HEAD").split():
        changes = changes_of(folder, commit)
        if changes:
            found.append((commit, changes))
        if len(found) == number:
            break
    found.reverse()
    return git(folder, "rev-parse", f"{found[0][0]}^1").strip(), found


def clone(source: pathlib.Path, folder: pathlib.Path) -> None:
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", "--no-checkout", str(source), str(folder)], check=True)


def merged(ours: str, base: str, theirs: str, how: str = "") -> tuple[str, bool]:
    """A merge by lines as git makes it, and whether it is without a conflict. `how` is `--theirs`, `--ours` or `--union`."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, text in (("ours", ours), ("base", base), ("theirs", theirs)):
            files.append(pathlib.Path(folder) / name)
            files[-1].write_text(text, newline="")
        done = subprocess.run(["git", "merge-file", "-p", *([how] if how else []), *map(str, files)], capture_output=True)
        return done.stdout.decode(), done.returncode == 0
