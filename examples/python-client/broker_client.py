"""What an agent does with a branch, one method each."""

import sys
from collections.abc import Iterator
from pathlib import Path

import grpc

# The generated modules import each other as `broker.v1`.
sys.path.insert(0, str(Path(__file__).parent / "generated"))

from broker.v1 import branch_pb2, branch_pb2_grpc, check_pb2, check_pb2_grpc, file_pb2, file_pb2_grpc  # noqa: E402
from broker.v1 import query_pb2, query_pb2_grpc, types_pb2, workspace_pb2, workspace_pb2_grpc  # noqa: E402

# Seconds. Nothing here should take so long; without a deadline, a call could wait forever.
TIMEOUT = 60


def on_branch(branch_id: str) -> types_pb2.Target:
    return types_pb2.Target(branch_id=branch_id)


def on_base(workspace_id: str) -> types_pb2.Target:
    return types_pb2.Target(workspace_id=workspace_id)


class Client:
    def __init__(self, channel: grpc.Channel) -> None:
        self.workspaces = workspace_pb2_grpc.WorkspaceServiceStub(channel)
        self.branches = branch_pb2_grpc.BranchServiceStub(channel)
        self.files = file_pb2_grpc.FileServiceStub(channel)
        self.checks = check_pb2_grpc.CheckServiceStub(channel)
        self.queries = query_pb2_grpc.QueryServiceStub(channel)

    def open(self, folder: Path) -> str:
        """The workspace's handle. To open a folder that is open already costs nothing."""
        request = workspace_pb2.OpenWorkspaceRequest(root=str(folder.absolute()))
        return self.workspaces.OpenWorkspace(request, timeout=TIMEOUT).workspace.workspace_id

    def fork(self, parent: types_pb2.Target, name: str = "") -> str:
        """The new branch's handle."""
        request = branch_pb2.ForkBranchRequest(parent=parent, name=name)
        return self.branches.ForkBranch(request, timeout=TIMEOUT).branch.branch_id

    def read(self, target: types_pb2.Target, path: str) -> tuple[file_pb2.FileInfo, bytes]:
        """A file as the branch or the base has it. Its description comes first, then pieces of it."""
        parts = self.files.ReadFile(file_pb2.ReadFileRequest(target=target, path=path), timeout=TIMEOUT)
        info = next(parts).info
        return info, b"".join(part.content for part in parts)

    def replace(self, branch_id: str, path: str, old: str, new: str) -> int:
        """Puts `new` in place of the only `old` in a file. Gives the new revision."""
        info, content = self.read(on_branch(branch_id), path)
        searched = old.encode()
        if content.count(searched) != 1:
            raise ValueError(f"{path} has the text {content.count(searched)} times, not once")
        # Spans count bytes of UTF-8, not characters.
        start = content.index(searched)
        span = types_pb2.Span(start=start, end=start + len(searched))
        edits = [types_pb2.TextEdit(span=span, replacement=new)]
        # The hash makes the edit safe: had the file changed since it was read, the offsets would be wrong.
        text = file_pb2.EditText(path=path, edits=edits, if_content_hash=info.content_hash)
        return self._edit(branch_id, [file_pb2.FileEdit(text=text)])

    def patch(self, branch_id: str, patch: str) -> int:
        """Applies what `diff -u` or `git diff` wrote. Gives the new revision."""
        return self._edit(branch_id, [file_pb2.FileEdit(patch=file_pb2.ApplyPatch(patch=patch))])

    def fix(self, branch_id: str, paths: list[str]) -> int:
        """Has the safe fixes made of what the linters find, as one edit of the branch. Says how many."""
        request = check_pb2.FixFilesRequest(branch_id=branch_id, paths=paths)
        return self.checks.FixFiles(request, timeout=TIMEOUT).fixes

    def check(
        self, target: types_pb2.Target, paths: list[str], new_only: bool = False, dependents: bool = False
    ) -> Iterator[check_pb2.CheckResponse]:
        """`started`, then findings as they come, then a `summary`. To stop reading early cancels the check.

        With `dependents`, language servers are also asked about the files that import those at `paths`.
        """
        request = check_pb2.CheckRequest(target=target, paths=paths, new_only=new_only, dependents=dependents)
        return self.checks.Check(request, timeout=TIMEOUT)

    def references(self, branch_id: str, path: str, line: int, column: int) -> query_pb2.QueryResponse:
        """Where the name at a place is used, in the branch. A language server answers, if the user trusts the folder."""
        kind = query_pb2.QUERY_KIND_REFERENCES
        return self._query(branch_id, kind, path, line, column)

    def rename(self, branch_id: str, path: str, line: int, column: int, name: str) -> query_pb2.QueryResponse:
        """Renames what is at a place, in the branch; refused if the branch is edited meanwhile."""
        kind = query_pb2.QUERY_KIND_RENAME
        return self._query(branch_id, kind, path, line, column, text=name, apply=True)

    def diff(self, branch_id: str) -> str:
        """What the branch changed, as a patch."""
        request = branch_pb2.DiffBranchRequest(branch_id=branch_id)
        return "".join(part.patch for part in self.branches.DiffBranch(request, timeout=TIMEOUT))

    def commit(self, branch_id: str, if_revision: int | None = None) -> list[branch_pb2.FileChange]:
        """Writes the branch to the disk, all or nothing. With a revision, only if the branch is still at it."""
        request = branch_pb2.CommitBranchRequest(branch_id=branch_id, if_revision=if_revision)
        return list(self.branches.CommitBranch(request, timeout=TIMEOUT).changes)

    def discard(self, branch_id: str) -> None:
        self.branches.DiscardBranch(branch_pb2.DiscardBranchRequest(branch_id=branch_id), timeout=TIMEOUT)

    def _query(self, branch_id: str, kind, path: str, line: int, column: int, **more) -> query_pb2.QueryResponse:
        # Lines and columns count from 1, columns in characters.
        position = types_pb2.Position(line=line, column=column)
        request = query_pb2.QueryRequest(target=on_branch(branch_id), kind=kind, path=path, position=position, **more)
        return self.queries.Query(request, timeout=TIMEOUT)

    def _edit(self, branch_id: str, edits: list[file_pb2.FileEdit]) -> int:
        request = file_pb2.EditFilesRequest(branch_id=branch_id, edits=edits)
        return self.files.EditFiles(request, timeout=TIMEOUT).revision
