"""The disk of a workspace: every text that its files had, and a user who saves some of them."""

import ctypes
import hashlib
import os
import pathlib
import random
import select
import struct
import threading
import time

import forms

CLOSE_WRITE, MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x8, 0x40, 0x80, 0x100, 0x200
IS_DIR = 0x40000000


def text_of(file: pathlib.Path) -> str | None:
    try:
        return file.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return None


def is_outside(path: str) -> bool:
    """What is no file of the workspace: version control, and what a save goes through."""
    name = path.rsplit("/", 1)[-1]
    return path == ".git" or path.startswith(".git/") or name.endswith(".user~") or name.startswith(".broker-")


class Watch(threading.Thread):
    """Keeps each text of each file, with the time at which it was seen. Two that follow each other within the time of a read are seen as one."""

    def __init__(self, root: pathlib.Path) -> None:
        super().__init__(daemon=True)
        self.root, self.versions, self.ended = root, {}, False
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self.libc.inotify_init1(os.O_NONBLOCK)
        self.folders: dict[int, str] = {}
        self.cookies: set[str] = set()
        self.add("")
        self.start()

    def add(self, folder: str) -> None:
        if is_outside(folder):
            return
        mask = CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE
        watch = self.libc.inotify_add_watch(self.fd, os.fsencode(self.root / folder), mask)
        if watch < 0:
            return
        self.folders[watch] = folder
        for entry in os.scandir(self.root / folder):
            path = f"{folder}/{entry.name}".lstrip("/")
            if entry.is_dir(follow_symlinks=False):
                self.add(path)
            elif entry.is_file(follow_symlinks=False):
                self.see(path)

    def see(self, path: str) -> None:
        text = text_of(self.root / path)
        known = self.versions.setdefault(path, [(0.0, None)] if self.is_alive() else [])
        if not known or known[-1][1] != text:
            known.append((time.monotonic(), text))

    def run(self) -> None:
        while not self.ended:
            if not select.select([self.fd], [], [], 0.1)[0]:
                continue
            data, at = os.read(self.fd, 1 << 16), 0
            while at < len(data):
                watch, mask, _, length = struct.unpack_from("iIII", data, at)
                name = data[at + 16 : at + 16 + length].rstrip(b"\0").decode(errors="replace")
                at += 16 + length
                path = f"{self.folders.get(watch, '')}/{name}".lstrip("/")
                if mask & IS_DIR and mask & (CREATE | MOVED_TO):
                    self.add(path)
                elif not mask & IS_DIR and not (mask & CREATE) and not is_outside(path):
                    self.see(path)

    def close(self) -> None:
        time.sleep(0.5)
        self.ended = True
        self.join()
        os.close(self.fd)

    def within(self, path: str, began: float, ended: float) -> list[str | None]:
        """Texts that a file had between two times."""
        found, last = [], None
        for when, text in self.versions.get(path, [(0.0, None)]):
            if when <= began:
                last = [text]
            elif when <= ended + 0.05:
                found.append(text)
        return (last or [None]) + found


class User(threading.Thread):
    """Saves files at moments of its own: appends lines to texts, and changes lines of sources."""

    def __init__(self, root: pathlib.Path, seed: int, texts: list[str], sources: list[str], pause: float) -> None:
        super().__init__(daemon=True)
        self.root, self.random = root, random.Random(seed)
        self.texts, self.sources, self.pause = texts, sources, pause
        self.saves: list[dict] = []
        self.ended = threading.Event()

    def run(self) -> None:
        while not self.ended.wait(self.random.uniform(0.2, 2 * self.pause)):
            try:
                (self.append if self.random.random() < 0.4 and self.texts else self.change)(f"usersave-{len(self.saves):04d}")
            except (OSError, UnicodeDecodeError, IndexError):
                pass

    def append(self, token: str) -> None:
        path = self.random.choice(self.texts)
        file, line = self.root / path, (forms.comment(path, token) or token) + "\n"
        began = time.monotonic()
        with open(os.open(file, os.O_WRONLY | os.O_APPEND), "w") as out:
            out.write(line)
        self.saves.append({"kind": "append", "path": path, "token": token, "line": line, "began": began, "ended": time.monotonic()})

    def change(self, token: str) -> None:
        path = self.random.choice(self.sources)
        file = self.root / path
        began = time.monotonic()
        before = file.read_bytes().decode()
        lines = forms.lines(before)
        signs = ("#", "//", " *", "*")
        able = [at for at, it in enumerate(lines) if it.strip() == "" or it.lstrip().startswith(signs) and "day-" not in it and "usersave" not in it]
        at = self.random.choice(able)
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())].rstrip("\n")
        old, lines[at] = lines[at], f"{indent}{forms.comment(path, token) or token}\n"
        after = "".join(lines)
        how = self.random.choice(["in place", "by rename"])
        if how == "in place":
            file.write_bytes(after.encode())
        else:
            other = file.with_name(f".{file.name}.user~")
            other.write_bytes(after.encode())
            os.chmod(other, file.stat().st_mode & 0o777)
            other.rename(file)
        self.saves.append({"kind": how, "path": path, "token": token, "line": lines[at], "old": old, "before": before, "after": after, "began": began, "ended": time.monotonic()})

    def close(self) -> None:
        self.ended.set()
        self.join()


def sums(folder: pathlib.Path) -> dict[str, str]:
    """Every file below a folder by its mode and content."""
    found = {}
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not file.is_symlink():
            found[str(file.relative_to(folder))] = f"{file.stat().st_mode:o} {hashlib.sha256(file.read_bytes()).hexdigest()}"
        else:
            found[str(file.relative_to(folder))] = f"{file.lstat().st_mode:o}"
    return found
