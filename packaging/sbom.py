"""A bill of materials in CycloneDX 1.6: the crates of the program and of its plugins, and the schemas in them."""

import json, time, uuid

from dependencies import Crate, Data
from release import LICENCE, NAME, PROGRAM, VERSION


def document(crates: list[Crate], data: list[Data], rust: str, machine: str, epoch: int) -> str:
    root = f"pkg:generic/{PROGRAM}@{VERSION}?arch={machine}"
    std = f"pkg:generic/rust-std@{rust}"
    components = [*map(_crate, crates), *map(_data, data), {
        "type": "library", "bom-ref": std, "name": "rust-std", "version": rust, "purl": std, "scope": "required",
        "licenses": [{"expression": "MIT OR Apache-2.0"}],
    }]
    starts = [it for it in crates if it.own and it.name == "broker"] + [it for it in crates if it.own and it.parts == {"plugins"}]
    graph = {it.reference: set(it.needs) for it in crates}
    graph[root] = {it.reference for it in [*starts, *data]} | {std}
    # The same but for its number, which is made of it.
    content = json.dumps([components, sorted((key, sorted(value)) for key, value in graph.items())])
    return json.dumps({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, root + content)}",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
            "lifecycles": [{"phase": "build"}],
            "tools": {"components": [{"type": "application", "name": f"{NAME} packaging", "version": VERSION}]},
            "component": {
                "type": "application", "bom-ref": root, "name": PROGRAM, "version": VERSION, "purl": root,
                "licenses": [{"expression": LICENCE}],
            },
        },
        "components": components,
        "dependencies": [{"ref": key, "dependsOn": sorted(graph[key])} for key in sorted(graph)],
    }, indent=1) + "\n"


def _crate(it: Crate) -> dict:
    component = {
        "type": "library", "bom-ref": it.reference, "name": it.name, "version": it.version,
        # `excluded` is for what takes part in compiling alone.
        "scope": "required" if it.runs else "excluded",
        "licenses": [{"expression": it.licence}] if it.licence else [{"license": {"name": "in THIRD-PARTY-LICENSES"}}],
        "properties": [{"name": "broker:part", "value": part} for part in sorted(it.parts)],
    }
    if it.authors:
        component["authors"] = [{"name": name} for name in it.authors]
    if it.checksum:
        component["hashes"] = [{"alg": "SHA-256", "content": it.checksum}]
    if not it.own:
        component["purl"] = it.reference
    if it.repository:
        component["externalReferences"] = [{"type": "vcs", "url": it.repository}]
    return component


def _data(it: Data) -> dict:
    return {
        "type": "library", "bom-ref": it.reference, "name": it.name, "version": it.version, "purl": it.reference.split("#")[0],
        "scope": "required", "licenses": [{"expression": it.licence}],
        "properties": [{"name": "broker:part", "value": "plugins"}],
    }
