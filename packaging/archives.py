"""Archives whose bytes depend on nothing but names, modes and contents: owner, time and order are fixed."""

import base64, gzip, hashlib, io, lzma, tarfile, time, zipfile
from dataclasses import dataclass


@dataclass(frozen=True)
class File:
    path: str
    content: bytes
    mode: int = 0o644

    @staticmethod
    def text(path: str, content: str, mode: int = 0o644) -> "File":
        return File(path, content.encode(), mode)


def below(folder: str, files: list[File]) -> list[File]:
    return [File(f"{folder}/{it.path}", it.content, it.mode) for it in files]


def tar(files: list[File], epoch: int, start: str = "", folders: bool = False) -> bytes:
    """`start` comes before each path; `folders` adds an entry for each folder, as dpkg wants it."""
    entries = {it.path: it for it in files}
    if len(entries) != len(files):
        raise ValueError(f"a path occurs twice in {sorted(it.path for it in files)}")
    names = set(entries)
    if folders:
        names |= {"/".join(parts[:i]) for parts in (it.split("/") for it in entries) for i in range(len(parts))}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name in sorted(names):
            entry = entries.get(name)
            info = tarfile.TarInfo((start + name).rstrip("/") + ("" if entry else "/"))
            info.mtime, info.uname, info.gname = epoch, "root", "root"
            info.type = tarfile.REGTYPE if entry else tarfile.DIRTYPE
            info.mode = entry.mode if entry else 0o755
            info.size = len(entry.content) if entry else 0
            archive.addfile(info, io.BytesIO(entry.content) if entry else None)
    return out.getvalue()


def gz(content: bytes) -> bytes:
    return gzip.compress(content, 9, mtime=0)


def xz(content: bytes) -> bytes:
    # With the targets of x86's calls made absolute, the program takes a fiftieth less; `tar` and `dpkg` know the filter.
    filters = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 9}]
    return lzma.compress(content, format=lzma.FORMAT_XZ, filters=filters)


def zip_(files: list[File], epoch: int) -> bytes:
    """A ZIP of files in the order that they are given in."""
    out = io.BytesIO()
    # ZIP knows no time before 1980.
    when = time.gmtime(max(epoch, 315532800))[:6]
    with zipfile.ZipFile(out, "w") as archive:
        for it in files:
            info = zipfile.ZipInfo(it.path, when)
            info.create_system = 3
            info.external_attr = (0o100000 | it.mode) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, it.content, compresslevel=9)
    return out.getvalue()


def ar(members: list[tuple[str, bytes]], epoch: int) -> bytes:
    out = [b"!<arch>\n"]
    for name, content in members:
        out.append(f"{name:<16}{epoch:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode())
        out.append(content + b"\n" * (len(content) % 2))
    return b"".join(out)


def record_hash(content: bytes) -> str:
    """As a wheel's RECORD has it."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
