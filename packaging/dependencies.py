"""The crates that are linked into the program and into its plugins, as cargo resolves them, and where their sources lie."""

import json, os, pathlib, runpy, subprocess, tomllib
from dataclasses import dataclass, field

from release import MACHINES, ROOT, fail


@dataclass
class Crate:
    name: str
    version: str
    licence: str
    authors: list[str]
    repository: str | None
    folder: pathlib.Path
    licence_file: str | None
    own: bool
    checksum: str | None = None
    # Where it is linked in: `program`, `plugins`.
    parts: set[str] = field(default_factory=set)
    # Whether its code runs in a finished program, and not only while one is compiled.
    runs: bool = False
    needs: set[str] = field(default_factory=set)

    @property
    def reference(self) -> str:
        return f"workspace:{self.name}" if self.own else f"pkg:cargo/{self.name}@{self.version}"


@dataclass(frozen=True)
class Data:
    """Files of others that lie in this repository."""

    name: str
    version: str
    reference: str
    licence: str
    text: pathlib.Path


def crates(machine: str) -> list[Crate]:
    """All crates, sorted, those of this repository first."""
    plugins = {f"broker-plugin-{it.parent.name}" for it in ROOT.glob("plugins/*/broker-plugin.toml")}
    found: dict[str, Crate] = {}
    _add(found, "program", ROOT, MACHINES[machine]["rust"], {"broker"})
    # Cargo resolves the same for wasm32-wasip2, which ./dev compiles for where it is there.
    _add(found, "plugins", ROOT / "plugins", "wasm32-wasip1", plugins)
    return sorted(found.values(), key=lambda it: (not it.own, it.name, it.version))


def schemas() -> list[Data]:
    """Where the schemas of well-known files come from."""
    kinds = {"pip": "pypi", "npm": "npm", "cargo": "cargo"}
    found = []
    for kind, name, version, _, licence, _ in runpy.run_path(str(ROOT / "plugins/schemas/update"))["PACKAGES"]:
        text = ROOT / "plugins/schemas/licenses" / f"{licence}.txt"
        words = text.read_text()
        identifier = "Apache-2.0" if "Apache License" in words else "MIT" if "Permission is hereby granted" in words else None
        if not identifier:
            fail(f"{text} is neither Apache-2.0 nor MIT", "name its licence in packaging/dependencies.py")
        reference = f"pkg:{kinds[kind]}/{name.replace('@', '%40')}@{version}"
        found.append(Data(f"{name} ({licence})", version, f"{reference}#{licence}", identifier, text))
    return found


def rust_version() -> str:
    return subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]


def _add(found: dict[str, Crate], part: str, workspace: pathlib.Path, target: str, roots: set[str]) -> None:
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    done = subprocess.run(command, cwd=workspace, capture_output=True, text=True, env={**os.environ, "CARGO_TERM_COLOR": "never"})
    if done.returncode:
        fail(f"`{' '.join(command)}` failed in {workspace}", done.stderr.strip())
    metadata = json.loads(done.stdout)
    lock = tomllib.loads((workspace / "Cargo.lock").read_text())["package"]
    checksums = {(it["name"], it["version"]): it.get("checksum") for it in lock}
    packages = {it["id"]: it for it in metadata["packages"]}
    nodes = {it["id"]: it for it in metadata["resolve"]["nodes"]}
    starts = [it for it in metadata["workspace_members"] if packages[it]["name"] in roots]
    if {packages[it]["name"] for it in starts} != roots:
        fail(f"{workspace} lacks one of {', '.join(sorted(roots))}")

    # What runs is looked at first, so that it is not taken for a tool that is used as well.
    for runs in (True, False):
        seen, waiting = set(), list(starts)
        while waiting:
            it = waiting.pop()
            if it in seen:
                continue
            seen.add(it)
            crate = _crate(found, packages[it], checksums)
            crate.parts.add(part)
            crate.runs |= runs
            for dependency in nodes[it]["deps"]:
                kinds = {kind["kind"] for kind in dependency["dep_kinds"]} - {"dev"}
                other = packages[dependency["pkg"]]
                is_tool = kinds == {"build"} or any("proc-macro" in target["kind"] for target in other["targets"])
                if not kinds or (runs and is_tool):
                    continue
                crate.needs.add(_crate(found, other, checksums).reference)
                waiting.append(dependency["pkg"])


def _crate(found: dict[str, Crate], package: dict, checksums: dict) -> Crate:
    if package["id"] not in found:
        name, version = package["name"], package["version"]
        found[package["id"]] = Crate(
            # An old form of OR.
            name, version, (package["license"] or "").replace("/", " OR "), package["authors"], package["repository"],
            pathlib.Path(package["manifest_path"]).parent, package["license_file"], package["source"] is None,
            checksums.get((name, version)),
        )
    return found[package["id"]]
