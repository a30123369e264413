"""A project in two folders: the one that Broker works on, and a copy in which the tool's own command line runs."""

import json
import os
import pathlib
import subprocess

BROKER = os.environ["BROKER"]
WORK = pathlib.Path(os.environ["BROKER_TEST_WORK"])
# What is installed in a project: shared by the two folders, as nothing writes to it.
INSTALLED = ["node_modules", ".venv"]
OURS = ["broker.toml", "broker.lock"]


def run(*command: object, cwd: pathlib.Path, given: bytes = b"", **options: object) -> subprocess.CompletedProcess:
    return subprocess.run([str(it) for it in command], cwd=cwd, input=given, capture_output=True, **options)


class Project:
    def __init__(self, source: pathlib.Path, tool, name: str = "") -> None:
        self.name, self.tool = name or source.name, tool
        self.tree, self.copy = WORK / tool.name / self.name / "tree" / self.name, WORK / tool.name / self.name / "copy" / self.name
        for folder in (self.tree, self.copy):
            folder.parent.mkdir(parents=True, exist_ok=True)
            if folder.exists():
                continue
            run("git", "clone", "--quiet", source, folder, cwd=WORK, check=True)
            with (folder / ".git/info/exclude").open("a") as exclude:
                exclude.write("".join(f"{it}\n" for it in [*INSTALLED, *OURS]))
            for it in INSTALLED:
                for found in installed(source, it):
                    (folder / found).parent.mkdir(parents=True, exist_ok=True)
                    run("cp", "-al", source / found, folder / found, cwd=WORK, check=True)
        (self.tree / "broker.toml").write_text(tool.configuration)
        if tool.needs_trust:
            self.broker("trust")
        if tool.added and (added := self.broker("server", "add", tool.added)).returncode:
            raise SystemExit(f"error: {added.stderr.decode().strip()}")

    def broker(self, *arguments: object, given: bytes = b"") -> subprocess.CompletedProcess:
        return run(BROKER, *arguments, cwd=self.tree, given=given)

    def files(self) -> list[str]:
        """Files of the tool that git keeps, or would."""
        listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=self.copy).stdout.decode()
        return sorted(it for it in set(listed.split("\0")) if it and self.tool.takes(it) and (self.copy / it).is_file() and not (self.copy / it).is_symlink())

    def report(self, branch: str = "", *more: str) -> dict:
        """Broker's answer about the workspace or a branch."""
        about = ["--branch", branch] if branch else []
        checked = self.broker("check", *about, "--select", f"{self.tool.name}/ALL", "--output-format", "json", *more)
        try:
            return json.loads(checked.stdout)
        except ValueError:
            raise SystemExit(f"error: {checked.stderr.decode()[:2000]}") from None


def installed(source: pathlib.Path, name: str) -> list[pathlib.Path]:
    found = []
    for folder, names, _ in os.walk(source):
        if name in names:
            found.append((pathlib.Path(folder) / name).relative_to(source))
        names[:] = [it for it in names if it not in INSTALLED and it != ".git"]
    return found


def program(name: str) -> str:
    """A program of the store."""
    tools = pathlib.Path(os.environ["BROKER_DATA_DIR"]) / "tools"
    found = sorted(tools.glob(f"*/bin/{name}"))
    if not found:
        raise SystemExit(f"error: {name} is not in the store")
    return str(found[0])


def load() -> str:
    return "load " + " ".join(f"{it:.1f}" for it in os.getloadavg())
