"""The Debian package, for apt and dpkg of Debian and Ubuntu."""

import hashlib, time

from archives import File, ar, below, gz, tar, xz
from program import Program
from release import MACHINES, MAINTAINER, NAME, PROGRAM, ROOT, SUMMARY, VERSION, fail

# The package that has a library, and the prefix of its symbol versions.
LIBRARIES = {"libc.so.6": ("libc6", "GLIBC"), "libm.so.6": ("libc6", "GLIBC"), "libgcc_s.so.1": ("libgcc-s1", "GCC")}
LOADERS = ("ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1")


def _dependencies(program: Program) -> str:
    wanted = {"libc6": "GLIBC"}
    for it in program.libraries:
        if it in LOADERS:
            continue
        if it not in LIBRARIES:
            fail(f"the program needs {it}", "packaging/debian.py does not know which package has it")
        wanted.update([LIBRARIES[it]])
    version = lambda prefix: ".".join(map(str, program.needs(prefix)))
    return ", ".join(f"{name} (>= {version(prefix)})" for name, prefix in sorted(wanted.items()))


def _changelog(epoch: int) -> str:
    when = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(epoch))
    return f"{NAME} ({VERSION}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- {MAINTAINER}  {when}\n"


def _copyright(documents: dict[str, File]) -> str:
    indented = lambda text: "".join(f" {line}\n" if line.strip() else " .\n" for line in text.splitlines())
    mit = (ROOT / "LICENSE-MIT").read_text()
    return (
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
        f"Upstream-Name: Broker\n\nFiles: *\nCopyright: 2026 The Broker developers\nLicense: Expat or Apache-2.0\n"
        "Comment: The licences of what is linked into the program are in THIRD-PARTY-LICENSES.gz beside this file.\n\n"
        f"License: Expat\n{indented(mit)}\nLicense: Apache-2.0\n"
        " On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0.\n"
    )


def debian(program: Program, documents: dict[str, File], epoch: int) -> tuple[str, bytes]:
    completions = program.completions()
    doc = [
        File.text("changelog.gz", ""),
        File.text("copyright", _copyright(documents)),
        File("THIRD-PARTY-LICENSES.gz", gz(documents["THIRD-PARTY-LICENSES"].content)),
        File("broker.cdx.json.gz", gz(documents["broker.cdx.json"].content)),
    ]
    doc[0] = File("changelog.gz", gz(_changelog(epoch).encode()))
    files = [
        File(f"usr/bin/{PROGRAM}", program.content, 0o755),
        *below("usr/share/man/man1", [File(f"{it.path}.gz", gz(it.content)) for it in program.manual()]),
        *below("usr/share/bash-completion/completions", [completions["bash"]]),
        *below("usr/share/zsh/vendor-completions", [completions["zsh"]]),
        *below("usr/share/fish/vendor_completions.d", [completions["fish"]]),
        *below(f"usr/share/doc/{NAME}", doc),
    ]
    architecture = MACHINES[program.machine]["deb"]
    size = sum(-(-len(it.content) // 1024) for it in files)
    control = "".join([
        f"Package: {NAME}\nVersion: {VERSION}\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\n",
        f"Installed-Size: {size}\nDepends: {_dependencies(program)}\nSection: devel\nPriority: optional\n",
        f"Description: {SUMMARY[0].lower()}{SUMMARY[1:]}\n",
        " Broker runs real linters, compiled to WebAssembly and sandboxed, on an\n",
        " in-memory overlay of a workspace, and language servers and commands beside\n",
        " them.\n",
    ])
    sums = "".join(f"{hashlib.md5(it.content).hexdigest()}  {it.path}\n" for it in sorted(files, key=lambda it: it.path))
    package = ar([
        ("debian-binary", b"2.0\n"),
        ("control.tar.xz", xz(tar([File.text("control", control), File.text("md5sums", sums)], epoch, "./", True))),
        ("data.tar.xz", xz(tar(files, epoch, "./", True))),
    ], epoch)
    return f"{NAME}_{VERSION}_{architecture}.deb", package
