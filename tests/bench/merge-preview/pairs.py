"""Pairs of changes whose lines merge: a real commit, and beside it a use of what it takes away, or its neighbour.

A use is a copy, under another name, of a function that is there before the commit: as if someone had written another
one like it meanwhile."""

import re

from languages import is_checked

COPY = "of_other_branch"


class Pair:
    def __init__(self, kind, what, parent, a, b, tree):
        self.kind, self.what, self.parent, self.a, self.b, self.tree = kind, what, parent, a, b, tree

    def data(self):
        return self.__dict__


class Maker:
    def __init__(self, history, language, per_kind):
        self.history, self.language, self.per_kind = history, language, per_kind
        self.counts = {}

    def wanted(self, kind):
        return self.counts.get(kind, 0) < self.per_kind

    def pair(self, kind, what, parent, a, b):
        """The pair, if the merge is clean and something that neither has."""
        tree = self.history.merge(a, b)
        if tree is None or tree in (self.history.tree(a), self.history.tree(b)):
            return None
        return Pair(kind, what, parent, a, b, tree)

    def positives(self, commit, parent):
        """Pairs of one commit that may be wrong together, at most one of each kind."""
        before = {path: it for path, it in self.history.files(parent, self.language.suffix).items() if is_checked(path)}
        after = self.history.files(commit, self.language.suffix)
        text = lambda files, path: self.history.text(files[path]) if path in files else ""
        for status, old, new in self.history.changed(commit, self.language.suffix):
            if not is_checked(old) or not is_checked(new):
                continue
            texts = text(before, old), text(after, new)
            if status in "DR" and self.wanted("module gone"):
                yield self.module_gone(commit, parent, before, old)
            if status in "MR":
                for kind, name in self.taken_away(*texts):
                    if self.wanted(kind):
                        yield self.copy(kind, name, commit, parent, before, old)
                yield from self.both_add(commit, parent, before, old, texts)

    def taken_away(self, before, after):
        """Names that are gone or have other parameters, each with its kind."""
        units = lambda text: {(it.container, it.name): it.head for it in self.language.units(text)}
        old, new = units(before), units(after)
        for key, head in old.items():
            if key not in new:
                yield "gone", key[1]
            elif new[key] != head:
                yield "signature", key[1]
        yield from (("gone", it) for it in sorted(self.language.names(before) - self.language.names(after)))
        yield from (("field gone", it) for it in sorted(self.language.fields(before) - self.language.fields(after)))
        yield from (("import gone", it) for it in sorted(self.language.imports(before) - self.language.imports(after)))

    def copy(self, kind, name, commit, parent, files, own):
        """A copy of a function that uses the name, in the same file if it is there."""
        use = rf"\.{name}\b" if kind == "field gone" else rf"\b{name}\b"
        use += r"\(" if kind == "signature" else ""
        paths = [own] if kind == "import gone" else [own, *(it for it in sorted(files) if it != own)]
        for path in paths:
            text = self.history.text(files[path]) if path in files else ""
            if not re.search(use, text):
                continue
            lines, units = text.rstrip("\n").split("\n"), self.language.units(text)
            for unit in units:
                body = lines[unit.start : unit.end]
                if unit.name != name and len(body) < 60 and re.search(use, "\n".join(body[1:])):
                    copied = self.language.renamed(body, unit, f"{unit.name}_{COPY}")
                    found = self.inserted(path, lines, units, unit.container, copied, parent)
                    pair = self.pair(kind, f"{name} in {path}", parent, commit, found)
                    if pair:
                        return pair
        return None

    def inserted(self, path, lines, units, container, new, parent):
        at = self.language.place(units, container, lines)
        text = "\n".join([*lines[:at], "", *([] if container else [""]), *new, *lines[at:]]) + "\n"
        return self.history.with_files(parent, {path: text})

    def both_add(self, commit, parent, files, path, texts):
        """A definition that the commit adds, added at another place as well."""
        keys = [{(it.container, it.name) for it in self.language.units(text)} for text in texts]
        for container, name in sorted(keys[1] - keys[0], key=str):
            kind = "both add"
            if not self.wanted(kind):
                return
            other = path
            if self.language.suffix == ".go":
                folder = path.rpartition("/")[0]
                package = re.search(r"^package .*", texts[0], re.M)
                beside = (it for it in sorted(files) if it != path and it.rpartition("/")[0] == folder)
                same = (it for it in beside if package and package[0] + "\n" in self.history.text(files[it]))
                other = next(same, None)
            if other is None:
                continue
            text = self.history.text(files[other])
            lines, units = text.rstrip("\n").split("\n"), self.language.units(text)
            if container and self.language.suffix != ".go" and not any(it.container == container for it in units):
                continue
            new = self.language.trivial(name, container)
            yield self.pair(kind, f"{name} in {other}", parent, commit, self.inserted(other, lines, units, container, new, parent))
            return

    def module_gone(self, commit, parent, files, path):
        for importer, content in sorted(files.items()):
            line = self.language.import_line(path, self.history.text(content)) if importer != path else None
            if line:
                folder = importer.rpartition("/")[0]
                new = f"{folder}/{COPY}".lstrip("/") + self.language.suffix
                return self.pair("module gone", path, parent, commit, self.history.with_files(parent, {new: line}))
        return None

    def harmless(self, commit, parent, next_commit):
        """A commit and the next one, as if both had been made at one time."""
        moved = self.history.moved(next_commit, parent)
        return self.pair("harmless", next_commit[:12], parent, commit, moved) if moved else None
