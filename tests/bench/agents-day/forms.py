"""Edits in the forms that models write, made from a text and the text that it is to be."""

import difflib
import pathlib
import re

HASH = {".py", ".pyi", ".toml", ".yml", ".yaml", ".cfg", ".ini", ".sh"}
SLASHES = {".ts", ".tsx", ".js", ".mjs", ".cjs", ".jsx", ".mts", ".rs"}
MARKED = {".md", ".html", ".vue"}
PLAIN = {".rst", ".txt"}


def comment(path: str, text: str) -> str | None:
    ending = pathlib.PurePath(path).suffix
    if ending in HASH:
        return f"# {text}"
    if ending in SLASHES:
        return f"// {text}"
    if ending in MARKED:
        return f"<!-- {text} -->"
    return text if ending in PLAIN else None


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True) if "\x0b" not in text and "\x1c" not in text and "\x85" not in text and "\u2028" not in text else re.findall(r"[^\n]*\n|[^\n]+", text)


def groups(before: str, after: str, around: int) -> list[list[tuple[str, int, int, int, int]]]:
    return list(difflib.SequenceMatcher(None, lines(before), lines(after), autojunk=False).get_grouped_opcodes(around))


def ended(line: str) -> str:
    return line if line.endswith("\n") else line + "\n"


def blocks(_: str, before: str, after: str) -> list[str] | None:
    """A block for each changed place, with as much around it that it is found once."""
    a, b = lines(before), lines(after)
    for around in (1, 2, 3, 6, 12, 30):
        made, text = [], before
        for group in groups(before, after, around):
            old = "".join(a[group[0][1] : group[-1][2]])
            new = "".join(b[group[0][3] : group[-1][4]])
            if not old or text.count(old) != 1 or before.count(old) != 1:
                break
            text = text.replace(old, new)
            made.append((old, new))
        else:
            if text == after and not re.search(r"^(=======|<<<<<<<|>>>>>>>|-{5,} |\+{5,} )", before + after, re.M):
                return [f"<<<<<<< SEARCH\n{ended(old)}=======\n{new and ended(new)}>>>>>>> REPLACE\n" for old, new in made]
    return None


def hunks(before: str, after: str, numbered: bool) -> str:
    a, b, out = lines(before), lines(after), []
    for group in groups(before, after, 3):
        i1, i2, j1, j2 = group[0][1], group[-1][2], group[0][3], group[-1][4]
        span = lambda start, end: f"{start + (end > start)},{end - start}"
        out.append(f"@@ -{span(i1, i2)} +{span(j1, j2)} @@\n" if numbered else "@@\n")
        for kind, x1, x2, y1, y2 in group:
            if kind == "equal":
                out += [" " + ended(it) for it in a[x1:x2]]
            else:
                out += ["-" + ended(it) for it in a[x1:x2]] + ["+" + ended(it) for it in b[y1:y2]]
    return "".join(out)


def unified(old_path: str, path: str, before: str | None, after: str | None) -> str:
    head = f"diff --git a/{old_path} b/{path}\n"
    if before is None:
        return head + f"new file mode 100644\n--- /dev/null\n+++ b/{path}\n" + hunks("", after, True)
    if after is None:
        return head + f"deleted file mode 100644\n--- a/{old_path}\n+++ /dev/null\n" + hunks(before, "", True)
    if old_path != path:
        head += f"rename from {old_path}\nrename to {path}\n"
    return head if before == after else head + f"--- a/{old_path}\n+++ b/{path}\n" + hunks(before, after, True)


def codex(old_path: str, path: str, before: str | None, after: str | None) -> str:
    if before is None:
        body = f"*** Add File: {path}\n" + "".join("+" + ended(it) for it in lines(after))
    elif after is None:
        body = f"*** Delete File: {old_path}\n"
    else:
        moved = f"*** Move to: {path}\n" if path != old_path else ""
        body = f"*** Update File: {old_path}\n{moved}" + hunks(before, after, False)
    return f"*** Begin Patch\n{body}*** End Patch\n"


def sketch(path: str, before: str, after: str) -> str | None:
    a, b = lines(before), lines(after)
    marker = (comment(path, "... existing code ...") or "# ... existing code ...") + "\n"
    out, end = [], 0
    for group in groups(before, after, 3):
        if group[0][1] > end:
            out.append(marker)
        out += [ended(it) for it in b[group[0][3] : group[-1][4]]]
        end = group[-1][2]
    return "".join(out) + (marker if end < len(a) else "")


def applied(before: str, diffs: list[str]) -> str | None:
    """The text that the diffs of an answer lead to, one after the other, or `None` if one does not fit."""
    text: str | None = before
    for diff in diffs:
        text = None if text is None else applied_once(text, diff)
    return text


def applied_once(before: str, diff: str) -> str | None:
    a, out, at = lines(before), [], 0
    body = lines(diff)
    index = 0
    while index < len(body):
        head = re.match(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", body[index])
        if not head:
            return None
        index += 1
        start = int(head[1]) - (head[2] != "0")
        if start < at or start > len(a):
            return None
        out += a[at:start]
        at = start
        while index < len(body) and not body[index].startswith("@@ -"):
            sign, text = body[index][0], body[index][1:]
            index += 1
            if sign == "\\":
                continue
            if index < len(body) and body[index].startswith("\\"):
                text = text.removesuffix("\n")
            if sign in " -":
                if at >= len(a) or a[at] != text:
                    return None
                at += 1
            if sign in " +":
                out.append(text)
    return "".join(out + a[at:])
