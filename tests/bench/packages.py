#!/usr/bin/env python3
"""Brings the well-known packages of `findings/packages.tsv`, and makes repositories of them.

usage: packages.py [FOLDER]

pip, npm and cargo bring the packages the first time (pip asks the build backends of source distributions for metadata,
so that it runs their code). In FOLDER they become two repositories of many languages: `small` with the smallest packages,
2,000 files in all, and `all`. The paths of both are printed.
"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SMALL = 2_000


def packages():
    lines = (HERE / "findings" / "packages.tsv").read_text().splitlines()
    return [tuple(line.split("\t")) for line in lines if line and not line.startswith("#")]


def default_folder():
    base = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    return base / "broker-bench" / "findings"


def place(folder, registry, name, version):
    return folder / registry / f"{name.replace('/', '+')}-{version}"


def unpack(archive, folder):
    """All archives have one folder at the top, which becomes `folder`."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as part:
        with tarfile.open(archive) as tar:
            tar.extractall(part, filter="data")
        (top,) = pathlib.Path(part).iterdir()
        top.rename(folder)


def from_pypi(name, version, folder):
    with tempfile.TemporaryDirectory() as download:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary=:all:", "-d", download]
        subprocess.run([*pip, f"{name}=={version}"], check=True)
        (archive,) = pathlib.Path(download).iterdir()
        unpack(archive, folder)


def from_npm(name, version, folder):
    with tempfile.TemporaryDirectory() as download:
        npm = ["npm", "pack", "--silent", "--ignore-scripts", f"{name}@{version}"]
        subprocess.run(npm, cwd=download, check=True, stdout=subprocess.DEVNULL)
        (archive,) = pathlib.Path(download).iterdir()
        unpack(archive, folder)


def from_crates(name, version, folder):
    """Cargo brings what the crate depends on as well; that is left behind."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as project:
        project = pathlib.Path(project)
        (project / "src").mkdir()
        (project / "src" / "lib.rs").touch()
        dependency = f'{name} = {{ version = "={version.split("+")[0]}", default-features = false }}'
        manifest = f'[package]\nname = "sample"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n{dependency}\n[workspace]\n'
        (project / "Cargo.toml").write_text(manifest)
        vendor = ["cargo", "vendor", "--quiet", "--versioned-dirs", "vendor"]
        subprocess.run(vendor, cwd=project, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = project / "vendor" / f"{name}-{version}"
        (found / ".cargo-checksum.json").unlink()
        found.rename(folder)


CLIENTS = {"pypi": from_pypi, "npm": from_npm, "crates": from_crates}


def download(folder, wanted):
    missing = [it for it in wanted if not place(folder, *it).exists()]
    if not missing:
        return
    print(f"  downloading {len(missing)} packages to {folder}", file=sys.stderr)
    for registry in CLIENTS:
        (folder / registry).mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(CLIENTS[it[0]], *it[1:], place(folder, *it)) for it in missing]
        for job in concurrent.futures.as_completed(jobs):
            job.result()


# Repositories.


def files(folder):
    return sum(len(names) for _, _, names in os.walk(folder))


def repository(folder, sources):
    if not folder.exists():
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        for source in sources:
            shutil.copytree(source, part / source.parent.name / source.name, symlinks=True)
        subprocess.run(["git", "init", "--quiet", str(part)], check=True)
        part.rename(folder)
    return folder


def trees(downloaded, folder):
    """Makes the two repositories in a folder, of packages that are there."""
    sources = sorted((place(downloaded, *it) for it in packages()), key=files)
    small, total = [], 0
    for source in sources:
        total += files(source)
        if total > SMALL:
            break
        small.append(source)
    return repository(folder / "small", small), repository(folder / "all", sources)


def main():
    downloaded = default_folder()
    download(downloaded, packages())
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else downloaded.parent / "trees"
    for repository_folder in trees(downloaded, folder):
        print(repository_folder)


if __name__ == "__main__":
    main()
