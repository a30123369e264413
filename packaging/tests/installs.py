"""Tests that install the program from each package."""

import os, pathlib, shutil, signal, subprocess, sys

from npm import platform_name
from release import MACHINES, NAME, this_machine
from trial import HOME, first_check, one, run, tree

# What the program itself needs of a system.
LIBRARIES = ("libc.so.6", "libm.so.6", "libgcc_s.so.1")


def wheel(folder: pathlib.Path, scratch: pathlib.Path, tools: dict[str, str]) -> str:
    """Wheel in a fresh virtual environment."""
    venv = scratch / "venv"
    run(sys.executable, "-m", "venv", venv, cwd=scratch)
    pip = [venv / "bin/python", "-m", "pip", "--disable-pip-version-check", "--no-cache-dir"]
    run(*pip, "install", "--quiet", "--no-index", one(folder, "*manylinux*.whl"), cwd=scratch)
    said = first_check(venv / "bin/broker", scratch=scratch)
    run(*pip, "uninstall", "--quiet", "--yes", NAME, cwd=scratch)
    assert not (venv / "bin/broker").exists(), "uninstalling leaves the program behind"
    return said


def _npm_install(packages: list[pathlib.Path], scratch: pathlib.Path) -> pathlib.Path:
    project = scratch / "project"
    project.mkdir()
    (project / "package.json").write_text('{ "name": "project", "private": true }\n')
    run("npm", "install", "--offline", "--no-audit", "--no-fund", *packages, cwd=project)
    return project


def npm(folder: pathlib.Path, scratch: pathlib.Path, tools: dict[str, str]) -> str:
    """npm packages in a fresh folder."""
    packages = [one(folder, f"{NAME}-[0-9]*.tgz"), one(folder, f"{platform_name(this_machine())}-*.tgz")]
    project = _npm_install(packages, scratch)
    program = project / "node_modules/.bin/broker"
    said = first_check(program, scratch=scratch)
    run(program, "check", "--no-such-option", cwd=scratch, wanted=2)
    # A check that never ends by itself, which a signal for the launcher must end, and nothing stays behind.
    environment = {"PATH": os.environ["PATH"], "HOME": HOME.name}
    waiting = subprocess.Popen([program, "check", "--watch", scratch / "tree"], env=environment, stdout=subprocess.PIPE, text=True)
    waiting.stdout.readline()
    waiting.send_signal(signal.SIGTERM)
    # The pipe is closed by the last process that has it.
    waiting.communicate(timeout=30)
    assert waiting.returncode != 0, "it ends with 0 where a signal ended it"
    return said


def npm_alone(folder: pathlib.Path, scratch: pathlib.Path, tools: dict[str, str]) -> str:
    """npm launcher without a program."""
    project = _npm_install([], scratch)
    modules = project / "node_modules"
    modules.mkdir(exist_ok=True)
    run("tar", "xzf", one(folder, f"{NAME}-[0-9]*.tgz"), "-C", modules, cwd=scratch)
    command = ["node", modules / "package/bin/broker.js", "check"]
    done = subprocess.run(command, capture_output=True, text=True)
    wanted = f"error: the package {platform_name(this_machine())} is not installed\nhint: "
    assert done.returncode == 2 and done.stderr.startswith(wanted), f"{done.returncode}: {done.stderr}"
    return ""


def debian(folder: pathlib.Path, scratch: pathlib.Path, tools: dict[str, str]) -> str:
    """Debian package in a root of its own."""
    root = _root(scratch)
    package = one(folder, f"{NAME}_*_{MACHINES[this_machine()]['deb']}.deb")
    database = root / "var/lib/dpkg"
    for it in ("info", "updates", "triggers"):
        (database / it).mkdir(parents=True)
    # What is installed here, by which dpkg judges dependencies.
    shutil.copyfile("/var/lib/dpkg/status", database / "status")
    dpkg = ["bwrap", "--unshare-user", "--uid", "0", "--gid", "0", "--dev-bind", "/", "/", "dpkg", f"--root={root}"]
    run(*dpkg, "--no-triggers", "--install", package, cwd=scratch, PATH="/usr/sbin:/usr/bin:/sbin:/bin")
    said = run("dpkg", f"--root={root}", "--verify", NAME, cwd=scratch)
    assert not said, f"installed files differ: {said}"
    for it in ("man/man1/broker.1.gz", "man/man1/broker-check.1.gz", "bash-completion/completions/broker", f"doc/{NAME}/copyright"):
        assert (root / "usr/share" / it).is_file(), f"{it} is missing"
    said = _check_in(root, "/usr/bin/broker", scratch)
    run(*dpkg, "--no-triggers", "--purge", NAME, cwd=scratch, PATH="/usr/sbin:/usr/bin:/sbin:/bin")
    assert not (root / "usr/bin/broker").exists(), "purging leaves the program behind"
    return said


def tarball(folder: pathlib.Path, scratch: pathlib.Path, tools: dict[str, str]) -> str:
    """Tarball in a root with nothing but libc."""
    root = _root(scratch)
    (root / "opt").mkdir()
    run("tar", "xJf", one(folder, "broker-*.tar.xz"), "-C", root / "opt", cwd=scratch)
    unpacked = one(root / "opt", "broker-*")
    run("sha256sum", "--quiet", "--strict", "-c", "SHA256SUMS", cwd=unpacked)
    for page in (unpacked / "share/man/man1").iterdir():
        text = page.read_text()
        assert ".TH " in text and ".SH NAME" in text, f"{page.name} is no manual page"
    bash = unpacked / "share/bash-completion/completions/broker"
    run("bash", "-n", bash, cwd=scratch)
    complete = f"source {bash}; COMP_WORDS=(broker chec); COMP_CWORD=1; _broker broker chec broker; echo ${{COMPREPLY[@]}}"
    completed = run("bash", "-c", complete, cwd=scratch)
    assert completed.split() == ["check"], f"`broker chec` is completed to {completed!r}"
    return _check_in(root, f"/opt/{unpacked.name}/bin/broker", scratch)


def _root(scratch: pathlib.Path) -> pathlib.Path:
    """A root with the libraries that the program needs, at the places where this system has them."""
    root = scratch / "root"
    loaders = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1"}
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    wanted = [loaders[this_machine()]]
    for library in LIBRARIES:
        paths = [line.split(" => ")[1] for line in known.splitlines() if line.split()[0] == library and "i386" not in line]
        assert paths, f"this system has no {library}"
        wanted.append(paths[0])
    for path in wanted:
        copy = root / path.lstrip("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        copy.chmod(0o755)
    for it in ("tmp", "proc", "dev", "tree", "home"):
        (root / it).mkdir()
    return root


def _check_in(root: pathlib.Path, program: str, scratch: pathlib.Path) -> str:
    files = tree(scratch)
    bare = ["bwrap", "--unshare-all", "--die-with-parent", "--clearenv", "--setenv", "HOME", "/home", "--ro-bind", root, "/",
            "--tmpfs", "/home", "--tmpfs", "/tmp", "--proc", "/proc", "--dev", "/dev", "--ro-bind", files, "/tree", program]
    return first_check(*bare, scratch=scratch, folder="/tree")
