"""Tests of what packages say, and of their bytes."""

import json, pathlib, re, subprocess, sys

from release import ROOT
from trial import one, run


def sums(folder: pathlib.Path, scratch: pathlib.Path, tools: dict[str, str]) -> str:
    """Checksums."""
    said = run("sha256sum", "--strict", "-c", "SHA256SUMS", cwd=folder)
    listed = len(said.splitlines())
    there = sum(1 for it in folder.iterdir() if it.is_file()) - 1
    assert listed == there, f"{listed} files are listed, and {there} are there"
    return f"{listed} files"


def bill_of_materials(folder: pathlib.Path, scratch: pathlib.Path, tools: dict[str, str]) -> str:
    """Bill of materials and licences."""
    validate = (
        "import sys; from cyclonedx.schema import SchemaVersion; from cyclonedx.validation.json import JsonStrictValidator\n"
        "problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())\n"
        "sys.exit(problem and str(problem))"
    )
    run(tools["python"], "-c", validate, folder / "broker.cdx.json", cwd=scratch)
    bill = json.loads((folder / "broker.cdx.json").read_text())
    names = {it["bom-ref"] for it in bill["components"]} | {bill["metadata"]["component"]["bom-ref"]}
    absent = {it for entry in bill["dependencies"] for it in [entry["ref"], *entry["dependsOn"]]} - names
    assert not absent, f"not described: {absent}"
    licences = (folder / "THIRD-PARTY-LICENSES").read_text()
    crates = [it for it in bill["components"] if it.get("purl", "").startswith("pkg:cargo/") and "hashes" in it]
    # Once in the list, and once or more above a text.
    mentions = lambda it: len(re.findall(rf"(?<![\w-]){re.escape(it['name'])} {re.escape(it['version'])}(?![\w.])", licences))
    without = [it["bom-ref"] for it in crates if mentions(it) < 2]
    assert crates and not without, f"without a text: {without}"
    return f"{len(bill['components'])} components, {len(crates)} crates with licence texts"


def wheel_tag(folder: pathlib.Path, scratch: pathlib.Path, tools: dict[str, str]) -> str:
    """The manylinux tag, by auditwheel."""
    wheel = one(folder, "*manylinux*.whl")
    tag = re.search(r"manylinux_\d+_\d+_\w+", wheel.name)[0]
    said = " ".join(run(pathlib.Path(tools["python"]).parent / "auditwheel", "show", wheel, cwd=scratch).split())
    assert f'following platform tag: "{tag}"' in said, f"the wheel says {tag}, auditwheel says: {said}"
    return tag


def equal_again(folder: pathlib.Path, scratch: pathlib.Path, tools: dict[str, str], program: list) -> str:
    """Made a second time, and equal."""
    again = scratch / "again"
    subprocess.run([sys.executable, ROOT / "packaging/build", program[0], again, *program[1:]], check=True, stdout=subprocess.DEVNULL)
    then, now = ((it / "SHA256SUMS").read_text().splitlines() for it in (folder, again))
    assert then == now, "\n".join(sorted(set(then) ^ set(now)))
    return f"{len(now)} files"
