"""What tests of packages share: commands in an empty environment, and the first check of a small tree."""

import os, pathlib, re, shutil, subprocess, tempfile, time

from release import ROOT, VERSION

# What is put into a real file, and what must be found there.
KNOWN = "\n\nimport wave\n"
RULE = "python/F401"
PLACE = "python/broker.py"

HOME = tempfile.TemporaryDirectory(prefix="broker-package-home-")


def one(folder: pathlib.Path, pattern: str) -> pathlib.Path:
    found = sorted(folder.glob(pattern))
    assert len(found) == 1, f"{pattern}: {len(found)} files in {folder}"
    return found[0]


def run(*command, cwd: pathlib.Path, wanted: int = 0, **environment: str) -> str:
    """Runs a command with nothing of this environment but the search path; answers with what it prints."""
    environment = {"PATH": os.environ["PATH"], "HOME": HOME.name, "LC_ALL": "C.UTF-8", **environment}
    try:
        done = subprocess.run([str(it) for it in command], cwd=cwd, env=environment, capture_output=True, text=True)
    except OSError as error:
        raise AssertionError(f"{command[0]} cannot be run: {error}")
    said = (done.stdout + done.stderr).strip()
    assert done.returncode == wanted, f"`{' '.join(map(str, command))}` ended with {done.returncode}, not {wanted}:\n{said}"
    return done.stdout


def tree(scratch: pathlib.Path) -> pathlib.Path:
    """The SDKs in their languages, which is clean but for one finding."""
    folder = scratch / "tree"
    # Without those that have findings of their own.
    left_out = shutil.ignore_patterns("__pycache__", "node_modules", "test_broker.py", "broker_component.py")
    shutil.copytree(ROOT / "sdk", folder, ignore=left_out)
    shutil.copyfile(ROOT / "packaging/Containerfile", folder / "Containerfile")
    with open(folder / PLACE, "a") as file:
        file.write(KNOWN)
    return folder


def first_check(*program, scratch: pathlib.Path, folder: str | None = None, **environment: str) -> str:
    """`program` is what starts broker; `folder` is where the tree is for it. Nothing is cached before."""
    files = scratch / "tree"
    if not files.exists():
        tree(scratch)
    line = (files / PLACE).read_text().count("\n")
    said = run(*program, "--version", cwd=scratch, **environment)
    assert said == f"broker {VERSION}\n", f"it is {said!r}"
    home = scratch / "home"
    home.mkdir(exist_ok=True)
    command = [*map(str, program), "check", "--output-format", "concise", folder or str(files)]
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), **environment}
    start = time.monotonic()
    with open(scratch / "problems", "w+") as problems:
        check = subprocess.Popen(command, cwd=scratch, env=environment, stdout=subprocess.PIPE, stderr=problems, text=True)
        first = check.stdout.readline()
        after = time.monotonic() - start
        rest = check.stdout.read()
        check.wait()
        problems.seek(0)
        said = f"{first}{rest}{problems.read()}"
    assert check.returncode == 1, f"the check ended with {check.returncode}, not 1:\n{said}"
    assert f"{PLACE}:{line}:8: warning {RULE} " in first, f"the first line is no {RULE} in line {line}:\n{said}"
    assert re.search("^1 finding in ", said, re.M), f"there is more than one finding:\n{said}"
    return f"first finding after {after:.2f} s"
