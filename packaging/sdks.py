"""The packages of the SDKs, by the usual tools of their languages: hatchling, and npm."""

import json, os, pathlib, shutil, subprocess, tempfile, tomllib

from release import LICENCE, ROOT, SDK_NAME, VERSION, fail


def sdks(tools: dict[str, str], epoch: int) -> list[tuple[str, bytes]]:
    return [*_python(tools["python"], epoch), *_javascript(tools["tsc"])]


def _python(python: str, epoch: int) -> list[tuple[str, bytes]]:
    _check("sdk/python/pyproject.toml", tomllib.loads((ROOT / "sdk/python/pyproject.toml").read_text())["project"])
    with tempfile.TemporaryDirectory() as folder:
        project, out = pathlib.Path(folder, "project"), pathlib.Path(folder, "out")
        _copy("sdk/python", project, ["broker.py", "broker_component.py", "pyproject.toml", "README.md"])
        hooks = "from hatchling.build import *; import sys; build_sdist(sys.argv[1]); build_wheel(sys.argv[1])"
        _run([python, "-c", hooks, out], project, SOURCE_DATE_EPOCH=str(epoch))
        return [(it.name, it.read_bytes()) for it in sorted(out.iterdir())]


def _javascript(tsc: str) -> list[tuple[str, bytes]]:
    manifest = json.loads((ROOT / "sdk/javascript/package.json").read_text())
    _check("sdk/javascript/package.json", manifest)
    with tempfile.TemporaryDirectory() as folder:
        project, out = pathlib.Path(folder, "project"), pathlib.Path(folder, "out")
        _copy("sdk/javascript", project, ["broker.js", "testing.js", "package.json", "README.md", "wit"])
        out.mkdir()
        # The sources name no types of Node.js, so none are looked for.
        _run([tsc, "--declaration", "--emitDeclarationOnly", "--allowJs", "--skipLibCheck", "--target", "es2022",
              "--module", "nodenext", "--lib", "es2022,webworker", "broker.js"], project)
        _run(["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", out], project)
        return [(it.name, it.read_bytes()) for it in sorted(out.iterdir())]


def _check(file: str, manifest: dict) -> None:
    wanted = {"name": SDK_NAME, "version": VERSION, "license": LICENCE}
    for key, value in wanted.items():
        if manifest.get(key) != value:
            fail(f"{file}: `{key}` is {manifest.get(key)!r}, and should be {value!r}")


def _copy(start: str, project: pathlib.Path, names: list[str]) -> None:
    project.mkdir()
    for source in [*(ROOT / start / it for it in names), ROOT / "LICENSE-APACHE", ROOT / "LICENSE-MIT"]:
        if source.is_dir():
            shutil.copytree(source, project / source.name)
        else:
            shutil.copyfile(source, project / source.name)


def _run(command: list, folder: pathlib.Path, **environment: str) -> None:
    environment = {**os.environ, **environment}
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        fail(f"`{' '.join(map(str, command))}` failed", done.stdout.strip())
