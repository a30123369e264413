"""A mix of calls, the same in each turn, with what each must answer."""

from support import Wire, replace, workspace

FILES = 20


class Calls:
    """Files in a workspace, and what the branch must have in them."""

    def __init__(self) -> None:
        self.folder = workspace(**{f"module{it}_py": f'"""Module {it}."""\n\nVALUE = 0\n' for it in range(FILES)})
        self.values = [0] * FILES

    def make(self, wire: Wire, number: int) -> None:
        at = number // len(KINDS) % FILES
        KINDS[number % len(KINDS)](self, wire, at, number)

    def data(self, wire: Wire, tool: str, **arguments: object) -> dict:
        result = wire.call(tool, **arguments)
        assert not result.get("isError"), (tool, arguments, result)
        return result["structuredContent"]

    def edit(self, wire: Wire, at: int, number: int) -> None:
        edited = self.data(wire, "edit_file", target_file=f"module{at}.py", code_edit=replace(f"VALUE = {self.values[at]}", f"VALUE = {number + 1}"))
        assert edited["applied"] and edited["check"]["ok"], edited
        self.values[at] = number + 1

    def read(self, wire: Wire, at: int, _: int) -> None:
        read = self.data(wire, "read_file", target_file=f"module{at}.py")
        assert read["text"] == f'"""Module {at}."""\n\nVALUE = {self.values[at]}\n', read

    def grep(self, wire: Wire, at: int, _: int) -> None:
        found = self.data(wire, "grep_search", query=f"^VALUE = {self.values[at]}$", include_pattern=f"module{at}.py")
        assert found["matches"] == [f"module{at}.py:3:VALUE = {self.values[at]}"], found

    def check(self, wire: Wire, _: int, __: int) -> None:
        assert self.data(wire, "check")["ok"]

    def list(self, wire: Wire, _: int, __: int) -> None:
        assert len(self.data(wire, "list_dir")["entries"]) == FILES

    def refuse(self, wire: Wire, at: int, _: int) -> None:
        refused = wire.call("edit_file", target_file=f"module{at}.py", code_edit="<<<<<<< SEARCH\nno such line\n=======\n>>>>>>> REPLACE\n")
        assert refused["isError"], refused


KINDS = [Calls.edit, Calls.read, Calls.grep, Calls.check, Calls.list, Calls.refuse]
