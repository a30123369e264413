"""The tarball: all that there is, to be unpacked anywhere."""

import hashlib

from archives import File, below, tar, xz
from program import Program
from release import MACHINES, PROGRAM, ROOT, VERSION


def tarball(program: Program, documents: dict[str, File], epoch: int) -> tuple[str, bytes]:
    completions = program.completions()
    files = [
        File(f"bin/{PROGRAM}", program.content, 0o755),
        *below("share/man/man1", program.manual()),
        *below("share/bash-completion/completions", [completions["bash"]]),
        *below("share/zsh/site-functions", [completions["zsh"]]),
        *below("share/fish/vendor_completions.d", [completions["fish"]]),
        *below("share/broker/completions", [completions["elvish"], completions["powershell"]]),
        *(File(it, (ROOT / it).read_bytes()) for it in ("README.md", "CHANGELOG.md")),
        *documents.values(),
    ]
    files.sort(key=lambda it: it.path)
    sums = "".join(f"{hashlib.sha256(it.content).hexdigest()}  {it.path}\n" for it in files)
    stem = f"{PROGRAM}-{VERSION}-{MACHINES[program.machine]['rust']}"
    return f"{stem}.tar.xz", xz(tar(below(stem, [*files, File.text("SHA256SUMS", sums)]), epoch))
