"""The npm packages: the program in one for its platform, and a launcher that asks for all platforms as optional ones, of which
npm installs the one that fits. As @biomejs/biome and oxlint have it."""

import json

from archives import File, below, gz, tar
from program import Program
from release import LICENCE, MACHINES, NAME, PROGRAM, ROOT, SUMMARY, VERSION

HERE = ROOT / "packaging"


def platform_name(machine: str) -> str:
    return f"{NAME}-linux-{MACHINES[machine]['npm']}"


def _archive(manifest: dict, files: list[File], epoch: int) -> tuple[str, bytes]:
    manifest = File.text("package.json", json.dumps(manifest, indent=2) + "\n")
    archive = gz(tar(below("package", [manifest, *files]), epoch))
    return f"{json.loads(manifest.content)['name']}-{VERSION}.tgz", archive


def platform_package(program: Program, documents: dict[str, File], epoch: int) -> tuple[str, bytes]:
    name, cpu = platform_name(program.machine), MACHINES[program.machine]["npm"]
    manifest = {
        "name": name, "version": VERSION, "license": LICENCE,
        "description": f"The program of {NAME} for Linux with glibc on {cpu}",
        "os": ["linux"], "cpu": [cpu], "libc": ["glibc"],
        "preferUnplugged": True,
        "exports": {f"./bin/{PROGRAM}": f"./bin/{PROGRAM}", "./package.json": "./package.json"},
    }
    wanted = ("LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-LICENSES", "broker.cdx.json")
    readme = File.text("README.md", f"The program of `{NAME}`, which is what to install.\n")
    return _archive(manifest, [File(f"bin/{PROGRAM}", program.content, 0o755), readme, *map(documents.get, wanted)], epoch)


def launcher(documents: dict[str, File], epoch: int) -> tuple[str, bytes]:
    platforms = {f"linux-{it['npm']}": platform_name(machine) for machine, it in MACHINES.items()}
    manifest = {
        "name": NAME, "version": VERSION, "license": LICENCE, "description": SUMMARY,
        "keywords": ["linter", "ruff", "deno_lint", "pre-commit"],
        "bin": {PROGRAM: f"bin/{PROGRAM}.js"},
        "engines": {"node": ">=18"},
        "optionalDependencies": {it: VERSION for it in platforms.values()},
    }
    script = (HERE / "launcher.js").read_text().replace("PLATFORMS", json.dumps(platforms))
    readme = File("README.md", (ROOT / "README.md").read_bytes())
    licences = [documents[it] for it in ("LICENSE-APACHE", "LICENSE-MIT")]
    return _archive(manifest, [File.text(f"bin/{PROGRAM}.js", script, 0o755), readme, *licences], epoch)
