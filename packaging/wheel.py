"""The wheel: `pip install` puts the program beside Python's own. PEP 427, 600 (manylinux) and 770 (SBOM)."""

from archives import File, below, record_hash, zip_
from program import Program
from release import LICENCE, MACHINES, NAME, PROGRAM, ROOT, SUMMARY, VERSION


def tag(program: Program) -> str:
    major, minor = program.needs("GLIBC")[:2]
    return f"py3-none-manylinux_{major}_{minor}_{MACHINES[program.machine]['wheel']}"


def wheel(program: Program, documents: dict[str, File], epoch: int) -> tuple[str, bytes]:
    stem = f"{NAME.replace('-', '_')}-{VERSION}"
    info = f"{stem}.dist-info"
    licences = [documents[it] for it in ("LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-LICENSES")]
    metadata = "\n".join([
        "Metadata-Version: 2.4",
        f"Name: {NAME}",
        f"Version: {VERSION}",
        f"Summary: {SUMMARY}",
        f"License-Expression: {LICENCE}",
        *(f"License-File: {it.path}" for it in licences),
        "Keywords: linter,ruff,pre-commit,language-server",
        "Classifier: Environment :: Console",
        "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: Topic :: Software Development :: Quality Assurance",
        "Description-Content-Type: text/markdown",
        "",
        (ROOT / "README.md").read_text(),
    ])
    about = f"Wheel-Version: 1.0\nGenerator: {NAME} packaging\nRoot-Is-Purelib: false\nTag: {tag(program)}\n"
    files = [
        File(f"{stem}.data/scripts/{PROGRAM}", program.content, 0o755),
        File.text(f"{info}/METADATA", metadata),
        File.text(f"{info}/WHEEL", about),
        *below(f"{info}/licenses", licences),
        *below(f"{info}/sboms", [documents["broker.cdx.json"]]),
    ]
    record = "".join(f"{it.path},{record_hash(it.content)},{len(it.content)}\n" for it in files)
    files.append(File.text(f"{info}/RECORD", f"{record}{info}/RECORD,,\n"))
    return f"{stem}-{tag(program)}.whl", zip_(files, epoch)
