"""The table of packages, and where they are kept."""

import glob
import io
import os
import re
import subprocess
import tarfile
from typing import NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = f"{HERE}/packages.tsv"
CACHE = os.environ.get("BROKER_TRAINING_CACHE", os.path.expanduser("~/.cache/broker-training"))
SPLITS = ("base", "train", "valid", "test", "extra")


class Package(NamedTuple):
    registry: str
    split: str
    name: str
    version: str
    licence: str
    digest: str


def read():
    with open(TABLE, encoding="utf8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return [Package(*row, *[""] * (6 - len(row))) for row in rows]


def write(rows):
    rows = sorted(rows, key=lambda it: (it.registry, SPLITS.index(it.split), it.name))
    with open(TABLE, "w", encoding="utf8") as file:
        file.write("# registry\tsplit\tname\tversion\tlicence\tsha256 of the file; of Debian's sources, of the .dsc\n")
        file.writelines("\t".join(it) + "\n" for it in rows)


def folder(row):
    return f"{CACHE}/{row.registry}/{row.name}/{row.version}"


def kept(row):
    """The folder of a package that was downloaded, of any version if none is pinned."""
    folders = [folder(row)] if row.version else sorted(glob.glob(f"{CACHE}/{row.registry}/{row.name}/*"))
    return next((it for it in folders if os.path.isfile(f"{it}/.found.json")), None)


def tar_of_deb(path):
    """The files of a binary package of Debian."""
    packed = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], check=True, capture_output=True).stdout
    return tarfile.open(fileobj=io.BytesIO(packed))


def copyright_of_deb(path):
    with tar_of_deb(path) as archive:
        for member in archive:
            if member.isfile() and re.search(r"usr/share/doc/[^/]+/copyright$", member.name):
                return archive.extractfile(member).read().decode("utf8", "replace")
    return ""


def apt_options():
    """apt with the machine's sources, but for source packages, and its lists in the cache."""
    apt = f"{CACHE}/apt"
    return [
        "-o", "Dir::Etc::sourcelist=/dev/null",
        "-o", f"Dir::Etc::sourceparts={apt}/parts",
        "-o", f"Dir::State::lists={apt}/lists",
        "-o", f"Dir::Cache={apt}",
        "-o", "APT::Sandbox::User=root",
    ]  # fmt: skip


def update_apt():
    apt = f"{CACHE}/apt"
    for name in ("parts", "lists/partial", "archives/partial"):
        os.makedirs(f"{apt}/{name}", exist_ok=True)
    with open("/etc/apt/sources.list.d/debian.sources", encoding="utf8") as file:
        text = re.sub(r"^Types:.*$", "Types: deb deb-src", file.read(), flags=re.M)
    with open(f"{apt}/parts/source.sources", "w", encoding="utf8") as file:
        file.write(text)
    subprocess.run(["apt-get", *apt_options(), "--quiet", "--quiet", "update"], check=True)
