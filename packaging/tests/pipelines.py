"""Tests of what people put into their pipelines: `docs/ci.md`, `action.yml`, `.pre-commit-hooks.yaml`, the container file."""

import json, os, pathlib, re, shutil, subprocess, sys

from release import NAME, ROOT
from trial import HOME, one, run, tree

ADVISORIES = ".github/workflows/advisories.yml"
SNIPPET = re.compile(r"in `([^`\n]+)`:\n\n```(\w+)\n(.*?)```", re.S)


def _program(folder: pathlib.Path, scratch: pathlib.Path) -> pathlib.Path:
    """The folder of the program, as the wheel brings it."""
    venv = scratch / "installed"
    run(sys.executable, "-m", "venv", venv, cwd=scratch)
    pip = [venv / "bin/python", "-m", "pip", "--disable-pip-version-check"]
    run(*pip, "install", "--quiet", "--no-index", one(folder, "*manylinux*.whl"), cwd=scratch)
    return venv / "bin"


def snippets(folder: pathlib.Path, scratch: pathlib.Path, tools: dict[str, str]) -> str:
    """Snippets of docs/ci.md, by the schemas of their files."""
    broker = _program(folder, scratch) / "broker"
    found = SNIPPET.findall((ROOT / "docs/ci.md").read_text())
    workflows = {".github/workflows/broker.yml", ".github/workflows/code-scanning.yml"}
    wanted = {".pre-commit-config.yaml", ".gitlab-ci.yml", "Jenkinsfile", *workflows}
    assert {name for name, _, _ in found} == wanted, f"docs/ci.md has {sorted({name for name, _, _ in found})}"
    yaml = [(name, text) for name, language, text in found if language == "yaml"]
    yaml += [(it, (ROOT / it).read_text()) for it in ("action.yml", ".pre-commit-hooks.yaml", ADVISORIES)]
    for number, (name, text) in enumerate(yaml):
        workspace = scratch / str(number)
        file = workspace / name
        file.parent.mkdir(parents=True)
        file.write_text(text)
        run(broker, "check", workspace, cwd=scratch)
        # That the schemas of these files are asked at all.
        spoilt = re.sub(r"^(\s*(?:- )?)(jobs|repos|id|using|script):", r"\1\2_:", text, count=1, flags=re.M)
        assert spoilt != text
        file.write_text(spoilt)
        run(broker, "check", workspace, cwd=scratch, wanted=1)
    for name, language, text in found:
        if language == "groovy":
            _groovy(text, tools["python"], scratch)
    return f"{len(yaml)} files by schema; of the Jenkinsfile the syntax alone"


def _groovy(text: str, python: str, scratch: pathlib.Path) -> None:
    errors = (
        "import sys, tree_sitter as t, tree_sitter_groovy as g; tree = t.Parser(t.Language(g.language())).parse(sys.argv[1].encode())\n"
        "sys.exit(str(tree.root_node) if tree.root_node.has_error else 0)"
    )
    run(python, "-c", errors, text, cwd=scratch)
    run(python, "-c", errors, text.replace("[sarif", "sarif", 1), cwd=scratch, wanted=1)


def action(folder: pathlib.Path, scratch: pathlib.Path, tools: dict[str, str]) -> str:
    """Steps of action.yml, one after another."""
    load = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))"
    steps = json.loads(run(tools["python"], "-c", load, ROOT / "action.yml", cwd=scratch))
    inputs = {name: it["default"] for name, it in steps["inputs"].items()}
    checkout = tree(scratch)
    # Annotations are from the root of the repository.
    run("git", "init", "--quiet", cwd=checkout)
    inputs |= {"package": str(one(folder, "*manylinux*.whl")), "working-directory": str(checkout), "sarif-file": "out.sarif",
               "args": "--select F401  python"}
    output = scratch / "output"
    output.touch()
    filled = lambda text: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda it: inputs[it[1]], text)
    for step, wanted in zip(steps["runs"]["steps"], (0, 1), strict=True):
        environment = {key: filled(value) for key, value in step["env"].items()}
        # As GitHub's runner starts `shell: bash`.
        environment |= {"RUNNER_TEMP": str(scratch), "GITHUB_OUTPUT": str(output)}
        where = pathlib.Path(filled(step.get("working-directory", str(scratch))))
        said = run("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"], cwd=where, wanted=wanted, **environment)
    assert re.match("::(error|warning) file=python/broker.py,", said), f"it is no annotation: {said}"
    assert output.read_text() == "exit-code=1\n"
    results = [it for part in json.loads((scratch / "tree/out.sarif").read_text())["runs"] for it in part["results"]]
    assert len(results) == 1, f"{len(results)} results"
    return ""


def pre_commit(folder: pathlib.Path, scratch: pathlib.Path, tools: dict[str, str]) -> str:
    """Hooks, by pre-commit."""
    programs = _program(folder, scratch)
    # virtualenv has setuptools with it, which pre-commit makes its environments with.
    where = "import os, virtualenv.seed.wheels.embed as it; print(os.path.dirname(it.__file__))"
    bundled = run(tools["python"], "-c", where, cwd=scratch).strip()
    environment = {
        "PATH": f"{programs}:{pathlib.Path(tools['python']).parent}:{os.environ['PATH']}", "PRE_COMMIT_HOME": str(scratch / "pre-commit"),
        "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
        "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always",
        # What `additional_dependencies` is installed from.
        "PIP_FIND_LINKS": f"{folder} {bundled}", "PIP_NO_INDEX": "1", "VIRTUALENV_NO_DOWNLOAD": "1",
    }
    command = lambda *it, cwd, wanted=0: run(*it, cwd=cwd, wanted=wanted, **environment)
    hooks, project = scratch / "hooks", scratch / "project"
    for it in (hooks, project):
        it.mkdir()
        command("git", "init", "--quiet", "--initial-branch", "main", cwd=it)
    shutil.copyfile(ROOT / ".pre-commit-hooks.yaml", hooks / ".pre-commit-hooks.yaml")
    command("git", "add", ".", cwd=hooks)
    command("git", "commit", "--quiet", "-m", "hooks", cwd=hooks)
    revision = command("git", "rev-parse", "HEAD", cwd=hooks).strip()

    install = [text for name, _, text in SNIPPET.findall((ROOT / "docs/ci.md").read_text()) if name == ".pre-commit-config.yaml"]
    remote = install[0].replace("https://github.com/OWNER/broker", str(hooks)).replace("v0.1.0", revision)
    remote += "      - id: broker-files\n        stages: [manual]\n"
    config, module = project / ".pre-commit-config.yaml", project / "a.py"
    for text in (remote, install[1]):
        config.write_text(text)
        module.write_text("import os\n")
        command("git", "add", ".", cwd=project)
        command("git", "commit", "--quiet", "-m", "what was there before", cwd=project)
        command("pre-commit", "install", cwd=project)
        command("pre-commit", "install-hooks", cwd=project)
        module.write_text("import os\nimport sys\n")
        command("git", "add", ".", cwd=project)
        # What is not staged is of no concern.
        module.write_text("import os\nimport sys\nimport wave\n")
        at_home = {**environment, "HOME": HOME.name}
        done = subprocess.run(["git", "commit", "-m", "refused"], cwd=project, env=at_home, capture_output=True, text=True)
        assert done.returncode == 1 and "`sys`" in done.stderr, f"{done.returncode}: {done.stdout}{done.stderr}"
        assert "`wave`" not in done.stderr and "`os`" not in done.stderr, done.stderr
        assert module.read_text().endswith("import wave\n"), "what was not staged is lost"
        module.write_text("import os\n\nprint(1)\n")
        command("git", "commit", "--quiet", "-am", "accepted", cwd=project)
        if text == remote:
            said = command("pre-commit", "run", "--all-files", "--hook-stage", "manual", "broker-files", cwd=project, wanted=1)
            assert "`os`" in said, said
        (project / ".git/hooks/pre-commit").unlink()
    return "by a program in the PATH, and by a wheel that pre-commit installs"


def container_file(folder: pathlib.Path, scratch: pathlib.Path, tools: dict[str, str]) -> str:
    """Container file, by Broker's own rules."""
    broker = _program(folder, scratch) / "broker"
    text = (ROOT / "packaging/Containerfile").read_text()
    assert f"COPY {NAME}_" in text, "it copies another package"
    (scratch / "tree").mkdir()
    file = scratch / "tree/Containerfile"
    file.write_text(text)
    run(broker, "check", scratch / "tree", cwd=scratch)
    file.write_text(text.replace("CMD [", "CMDS ["))
    run(broker, "check", scratch / "tree", cwd=scratch, wanted=1)
    return ""
