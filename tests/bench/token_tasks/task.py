"""A task, as data: what is wrong with a package first, what mends it, and how an agent finds out."""

import dataclasses
import enum


class By(enum.Enum):
    """What Broker's tools have for the change; plain tools always edit."""

    EDITS = enum.auto()
    RENAME = enum.auto()
    FIXES = enum.auto()


@dataclasses.dataclass(frozen=True)
class Change:
    """Replaces a text in a file, wherever it stands there."""

    path: str
    before: str
    after: str

    def reversed(self) -> "Change":
        return Change(self.path, self.after, self.before)


@dataclasses.dataclass(frozen=True)
class Task:
    name: str
    package: tuple[str, str, str]
    changes: list[Change]
    # Whether the package has what `changes` bring already, so that they are taken back first.
    is_broken_first: bool = False
    # Files that the package gets first, and those that the agent writes.
    given: dict[str, str] = dataclasses.field(default_factory=dict)
    written: dict[str, str] = dataclasses.field(default_factory=dict)
    # What the agent begins with: a search, the linters, or the test.
    search: str | None = None
    search_in: str = "."
    lints_first: bool = False
    test: str | None = None
    by: By = By.EDITS
    # The rule whose fixes are made.
    rule: str = ""

    def wrongs(self) -> list[Change]:
        return [it.reversed() for it in self.changes] if self.is_broken_first else []


def unused(path: str, line: str, next_line: str) -> Change:
    """Takes a line away before another one."""
    return Change(path, f"{line}\n{next_line}\n", f"{next_line}\n")
