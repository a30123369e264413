"""A command line over `broker_client`: see README.md."""

import argparse
import sys
from pathlib import Path

import grpc

from broker_client import Client, branch_pb2, check_pb2, on_base, on_branch, types_pb2
from connection import connect
from errors import problem


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Talks to the broker's daemon.")
    parser.add_argument("--tcp", metavar="HOST:PORT", help="connect so instead of over the Unix socket")
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name: str, positional: str, about: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=about, description=about)
        for it in positional.split():
            added.add_argument(it)
        return added

    command("open", "folder", "serve a folder; prints the workspace's handle")
    command("fork", "workspace", "fork the workspace's base; prints the branch's handle").add_argument("--name", default="")
    command("replace", "branch path old new", "replace a text that a file has once")
    command("patch", "branch file", "apply a patch")
    command("fix", "branch", "apply the safe fixes of what is found").add_argument("paths", nargs="*")
    check = command("check", "handle", "check a branch; exits with 1 if there are findings, with 2 if not all is known")
    check.add_argument("paths", nargs="*")
    check.add_argument("--base", action="store_true", help="the handle is a workspace's: check its base")
    check.add_argument("--new-only", action="store_true", help="only what differs from the branch's parent")
    check.add_argument("--dependents", action="store_true", help="also what language servers say of files that import these")
    for name, more, about in [
        ("references", "", "print where a name is used in the branch; lines and columns count from 1"),
        ("rename", " name", "rename what is at a place, in the branch"),
    ]:
        added = command(name, "branch path", about)
        added.add_argument("line", type=int)
        added.add_argument("column", type=int)
        for it in more.split():
            added.add_argument(it)
    command("diff", "branch", "print what the branch changed")
    command("commit", "branch", "write the branch to the disk").add_argument("--if-revision", type=int)
    command("discard", "branch", "forget the branch")
    return parser.parse_args()


def run(client: Client, args: argparse.Namespace) -> int:
    match args.command:
        case "open":
            print(client.open(Path(args.folder)))
        case "fork":
            print(client.fork(on_base(args.workspace), args.name))
        case "replace":
            print("revision", client.replace(args.branch, args.path, args.old, args.new))
        case "patch":
            # As bytes, so that line ends stay what they are.
            print("revision", client.patch(args.branch, Path(args.file).read_bytes().decode()))
        case "fix":
            print("fixed", client.fix(args.branch, args.paths))
        case "check":
            target = on_base(args.handle) if args.base else on_branch(args.handle)
            return report(client.check(target, args.paths, args.new_only, args.dependents))
        case "references":
            return places(client.references(args.branch, args.path, args.line, args.column))
        case "rename":
            print("revision", client.rename(args.branch, args.path, args.line, args.column, args.name).applied_revision)
        case "diff":
            print(client.diff(args.branch), end="")
        case "commit":
            for change in client.commit(args.branch, args.if_revision):
                print(branch_pb2.ChangeKind.Name(change.kind).removeprefix("CHANGE_KIND_").lower(), change.path)
        case "discard":
            client.discard(args.branch)
    return 0


def report(events) -> int:
    """Prints findings as they come. No findings and no answer are different things."""
    for event in events:
        match event.WhichOneof("event"):
            case "findings":
                for it in event.findings.findings:
                    fixed = " (fixed)" if it.change == types_pb2.FINDING_CHANGE_FIXED else ""
                    at = it.range.start
                    print(f"{it.path}:{at.line}:{at.column}: {it.code} {it.message}{fixed}", flush=True)
            case "incomplete":
                it = event.incomplete
                print(f"{it.path or 'everything'}: {it.linter or 'every linter'}: {it.reason}", file=sys.stderr)
            case "summary":
                it = event.summary
                level = check_pb2.Completeness.Name(it.completeness).removeprefix("COMPLETENESS_").lower()
                print(f"{it.findings} findings in {it.files} files at revision {it.revision}, {level}")
                return 2 if level != "complete" else 1 if it.findings else 0
    return 2


def places(answer) -> int:
    for it in answer.items:
        at = it.location.range.start
        print(f"{it.location.path}:{at.line}:{at.column}")
    # What the server does not see of the branch, it cannot find.
    if answer.partial_reason:
        print(f"there may be more: {answer.partial_reason}", file=sys.stderr)
    return 2 if answer.partial_reason else 0


def main() -> int:
    args = arguments()
    try:
        with connect(args.tcp) as channel:
            return run(Client(channel), args)
    except grpc.RpcError as error:
        it = problem(error)
        names = " ".join(dict.fromkeys([it.code, it.reason]))
        print(f"error: {names}: {it.message}", file=sys.stderr)
        for place in it.places:
            print(f"  {place}", file=sys.stderr)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
