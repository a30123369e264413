"""Download of the packages of `packages.tsv`, through the machine's own clients: pip, npm, cargo and apt.

`fetch.py` downloads the pinned versions and compares digests. `fetch.py --lock` fills in what a row lacks: version, licence and
digest. A row whose licence is not permissive is refused in both modes.
"""

import argparse
import concurrent.futures
import email
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile

import licences
import packages

# Calls of clients at a time, and packages of a call. They wait for the network, not for a core.
DOWNLOADS = 4
BATCH = 12


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[-1:] or command)
    return done.stdout


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def pypi(rows, folder):
    wanted = [f"{it.name}=={it.version}" if it.version else it.name for it in rows]
    run(["pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--python-version=3.13", "--dest", folder, *wanted])
    plain = lambda name: re.sub(r"[-_.]+", "_", name).lower()  # noqa: E731
    by_name = {plain(os.path.basename(it).split("-")[0]): it for it in glob.glob(f"{folder}/*.whl")}
    return [[by_name[plain(it.name)]] for it in rows]


def pypi_facts(row, folder):
    (path,) = glob.glob(f"{folder}/*.whl")
    with zipfile.ZipFile(path) as wheel:
        (name,) = [it for it in wheel.namelist() if it.count("/") == 1 and it.endswith(".dist-info/METADATA")]
        data = email.message_from_bytes(wheel.read(name))
    classifiers = [it.split(" :: ")[-1] for it in data.get_all("Classifier", []) if it.startswith("License ::")]
    short = str(data.get("License-Expression") or data.get("License", "")).strip()
    licence = short if short and len(short) < 60 and licences.is_permissive(short) else " AND ".join(classifiers) or short[:60]
    return data["Version"], licence.replace("\n", " "), digest(path)


def npm(rows, folder):
    wanted = [f"{it.name}@{it.version}" if it.version else it.name for it in rows]
    told = json.loads(run(["npm", "pack", "--json", "--ignore-scripts", "--pack-destination", folder, *wanted], cwd=folder))
    told = told if isinstance(told, list) else list(told.values())
    files = {it["name"]: f"{folder}/{it['filename'].replace('@', '').replace('/', '-')}" for it in told}
    return [[files[it.name]] for it in rows]


def npm_facts(row, folder):
    (path,) = glob.glob(f"{folder}/*.tgz")
    with tarfile.open(path) as archive:
        # The manifest is the outermost one, in a folder of any name.
        member = next(it for it in archive if it.name.count("/") == 1 and it.name.endswith("/package.json"))
        manifest = json.load(archive.extractfile(member))
    licence = manifest.get("license") or manifest.get("licenses") or ""
    if isinstance(licence, list):
        licence = " OR ".join(it["type"] if isinstance(it, dict) else it for it in licence)
    if isinstance(licence, dict):
        licence = licence.get("type", "")
    return manifest["version"], licence, digest(path)


def crates(rows, folder):
    home = os.environ.get("CARGO_HOME", os.path.expanduser("~/.cargo"))
    found = []
    for row in rows:
        kept = glob.glob(f"{home}/registry/cache/*/{row.name}-{row.version}.crate") if row.version else []
        if not kept:
            told = run(["cargo", "info", "--quiet", "--color", "never", f"{row.name}@{row.version}" if row.version else row.name], cwd=folder)
            version = row.version or next(it.split()[1] for it in told.splitlines() if it.startswith("version:"))
            kept = glob.glob(f"{home}/registry/cache/*/{row.name}-{version}.crate")
        found.append([shutil.copy(kept[0], folder)])
    return found


def crates_facts(row, folder):
    (path,) = glob.glob(f"{folder}/*.crate")
    with tarfile.open(path) as archive:
        member = next(it for it in archive if it.name.count("/") == 1 and it.name.endswith("/Cargo.toml"))
        manifest = tomllib.loads(archive.extractfile(member).read().decode())["package"]
    return manifest["version"], manifest.get("license", ""), digest(path)


def debian(rows, folder):
    wanted = [f"{it.name}={it.version}" if it.version else it.name for it in rows]
    run(["apt-get", *packages.apt_options(), "source", "--download-only", "--quiet", *wanted], cwd=folder)
    found = {}
    for path in glob.glob(f"{folder}/*.dsc"):
        with open(path, encoding="utf8", errors="replace") as file:
            text = file.read()
        parts = re.findall(r"^ [0-9a-f]{64} \d+ (\S+)$", text, re.M)
        found[re.search(r"^Source: (\S+)", text, re.M)[1]] = [path, *(f"{folder}/{it}" for it in parts)]
    return [found[it.name] for it in rows]


def debian_facts(row, folder):
    (path,) = glob.glob(f"{folder}/*.dsc")
    with open(path, encoding="utf8", errors="replace") as file:
        version = next(it.split()[1] for it in file if it.startswith("Version:"))
    return version, licences.of_debian(folder), digest(path)


def deb(rows, folder):
    wanted = [f"{it.name}={it.version}" if it.version else it.name for it in rows]
    run(["apt-get", *packages.apt_options(), "download", "--quiet", *wanted], cwd=folder)
    return [glob.glob(f"{folder}/{it.name}_*.deb") for it in rows]


def deb_facts(row, folder):
    (path,) = glob.glob(f"{folder}/*.deb")
    version = run(["dpkg-deb", "--field", path, "Version"]).strip()
    return version, licences.of_stanzas(packages.copyright_of_deb(path)), digest(path)


FETCH = {"pypi": (pypi, pypi_facts), "npm": (npm, npm_facts), "crates": (crates, crates_facts), "debian": (debian, debian_facts), "deb": (deb, deb_facts)}


def fetch(rows):
    """Downloads packages of one registry in one call of its client, and those of a failed call one by one."""
    download, facts = FETCH[rows[0].registry]
    try:
        with tempfile.TemporaryDirectory(dir=packages.CACHE) as folder:
            for row, files in zip(rows, download(rows, folder), strict=True):
                with tempfile.TemporaryDirectory(dir=packages.CACHE) as one:
                    for it in files:
                        os.link(it, f"{one}/{os.path.basename(it)}")
                    found = facts(row, one)
                    with open(f"{one}/.found.json", "w") as file:
                        json.dump(found, file)
                    shutil.copytree(one, packages.folder(row._replace(version=found[0])), dirs_exist_ok=True)
    except Exception as error:
        if len(rows) == 1:
            print(f"{rows[0].registry} {rows[0].name}: {type(error).__name__} {error}", file=sys.stderr, flush=True)
            return
        for row in rows:
            fetch([row])


def locked(row):
    """Returns the row with what was found, or raises why it cannot be used."""
    kept = packages.kept(row)
    if not kept:
        raise ValueError("not downloaded")
    with open(f"{kept}/.found.json") as file:
        version, licence, sha256 = json.load(file)
    # A package of a base model may leave out the model's licence: the table says it.
    if row.split == "base":
        licence = licence or row.licence
    # What is only measured on may have any licence: nothing of it is in the model.
    if not licences.is_permissive(licence) and row.split != "extra":
        raise ValueError(f"licence {licence!r}")
    if row.digest and row.digest != sha256:
        raise ValueError(f"digest {sha256}, pinned {row.digest}")
    return row._replace(version=version, licence=licence, digest=sha256)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lock", action="store_true", help="pin what is not pinned, and drop what cannot be used")
    arguments = parser.parse_args()
    rows = packages.read()
    os.makedirs(packages.CACHE, exist_ok=True)
    missing = [it for it in rows if not packages.kept(it)]
    if any(it.registry in ("debian", "deb") for it in missing):
        packages.update_apt()
    batches = []
    for registry in FETCH:
        of = [it for it in missing if it.registry == registry]
        batches += [of[at : at + BATCH] for at in range(0, len(of), BATCH)]
    with concurrent.futures.ThreadPoolExecutor(DOWNLOADS) as pool:
        list(pool.map(fetch, batches))
    good, failed = [], 0
    for row in rows:
        try:
            good.append(locked(row))
        except Exception as error:
            failed += 1
            print(f"{row.registry} {row.name}: {error}", file=sys.stderr)
    if arguments.lock:
        packages.write(good)
    print(f"{len(good)} packages, {failed} failed")
    return 1 if failed and not arguments.lock else 0


if __name__ == "__main__":
    sys.exit(main())
