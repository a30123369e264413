"""The finished program: what it needs of a system, and what it prints for packages."""

import pathlib, re, shutil, subprocess, tempfile

from archives import File
from release import PROGRAM, VERSION, fail

SHELLS = {"bash": "broker", "zsh": "_broker", "fish": "broker.fish", "elvish": "broker.elv", "powershell": "broker.ps1"}
PROCESSORS = {"Advanced Micro Devices X86-64": "x86_64", "AArch64": "aarch64"}


def output(*command: str | pathlib.Path) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    except OSError as error:
        fail(f"cannot run {command[0]}: {error}")
    if done.returncode:
        fail(f"`{' '.join(map(str, command))}` failed", done.stderr.strip())
    return done.stdout


class Program:
    """`native` is a program of the same version that runs here, for packages of another processor."""

    def __init__(self, path: pathlib.Path, native: pathlib.Path):
        for tool in ("readelf", "strip"):
            if not shutil.which(tool):
                fail(f"{tool} is missing", "apt-get install binutils")
        said = output(native, "--version").split()
        if said != [PROGRAM, VERSION]:
            fail(f"{native} is {' '.join(said)}, and Cargo.toml says {VERSION}", "./dev build")
        self.native = native
        header = output("readelf", "-h", path)
        machine = re.search(r"Machine:\s*(.*)", header)[1].strip()
        if machine not in PROCESSORS:
            fail(f"{path} is for {machine}", f"packages are made for {', '.join(PROCESSORS.values())}")
        self.machine = PROCESSORS[machine]
        self._versions = output("readelf", "-W", "--version-info", path)
        self.libraries = sorted(re.findall(r"Shared library: \[(.*)\]", output("readelf", "-W", "-d", path)))
        self.content = _stripped(path)

    def needs(self, prefix: str) -> tuple[int, ...]:
        """The newest symbol version that is asked for: `GLIBC` -> (2, 34)."""
        found = re.findall(rf"Name: {prefix}_([0-9.]+)", self._versions)
        return max((tuple(map(int, it.split("."))) for it in found), default=())

    def completions(self) -> dict[str, File]:
        return {shell: File.text(name, output(self.native, "completions", shell)) for shell, name in SHELLS.items()}

    def manual(self) -> list[File]:
        with tempfile.TemporaryDirectory() as folder:
            output(self.native, "man", folder)
            pages = [File(it.name, it.read_bytes()) for it in sorted(pathlib.Path(folder).iterdir())]
        if not pages:
            fail(f"{self.native} has no manual pages")
        return pages


def _stripped(path: pathlib.Path) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        stripped = pathlib.Path(folder, PROGRAM)
        shutil.copyfile(path, stripped)
        # Of another processor's programs, only some builds of binutils know enough.
        tool = next((it for it in ("llvm-strip", "strip") if shutil.which(it)), "strip")
        output(tool, "--strip-all", stripped)
        return stripped.read_bytes()
