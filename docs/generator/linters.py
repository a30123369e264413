"""The linters: a page for each plugin, one for the language servers, one for the checkers, and an overview."""

import tomllib
from pathlib import Path

from .program import PageError, Program, cell, code, filled


def pages(program: Program) -> dict[Path, str]:
    listed = {it["name"]: it for it in program.json("plugin", "list")}
    folder = program.page("reference/linters")
    manifests = {
        it.parent.name: tomllib.loads(it.read_text()) for it in sorted(program.root.glob("plugins/*/broker-plugin.toml"))
    }
    if differ := set(listed) ^ {"broker", *manifests}:
        raise PageError(f"the program and plugins/ differ in {sorted(differ)}: build the program anew")
    made = {folder / "index.md": overview(listed, manifests)}
    made[folder / "broker.md"] = f"Rules: {listed['broker']['rules']}, which `broker rule explain broker/CODE` explains."
    made |= {folder / f"{name}.md": plugin(listed[name], manifest) for name, manifest in manifests.items()}
    made[folder / "servers.md"] = servers(data(program, "language-servers/src/servers.toml")["server"])
    made[folder / "checkers.md"] = checkers(data(program, "native-checkers/src/checkers.toml")["checker"])
    return {page: filled(page, text) for page, text in made.items()}


def data(program: Program, path: str) -> dict:
    return tomllib.loads((program.root / "broker/crates" / path).read_text())


def overview(listed: dict, manifests: dict) -> str:
    rows = [
        f"| [`{name}`]({name}.md) | {cell(it['description'])} | {it['rules']} | {code(it['languages']) or 'any'} |"
        for name, it in ((name, listed[name]) for name in ["broker", *manifests])
    ]
    return "\n".join(["| linter | | rules | languages |", "|---|---|---:|---|", *rows])


def plugin(listed: dict, manifest: dict) -> str:
    name = manifest["name"]
    rules = f"{listed['rules']}, which `broker rule explain {name}/CODE` explains"
    if not listed["rules"]:
        rules = "those of the workspace"
    rows = {
        "about": manifest["description"],
        "version": f"{manifest['version']}, interface {manifest['api']}",
        "rules": rules,
        "languages": code(manifest.get("languages", [])) or "any",
        "files": code(manifest["globs"]),
        "scripts without an extension, of": code(manifest.get("interpreters", [])),
        "configuration files": code(manifest.get("config-files", [])) or "none",
        "asked only with": code(manifest.get("needs", [])),
        "rules of syntax errors": code(manifest.get("syntax-errors", [])),
        "fixes made first": code(manifest.get("fixes-first", [])),
        "reads of the environment": code(manifest.get("capabilities", [])),
    }
    off = f'Turn it off with `--ignore {name}/ALL`, or in `broker.toml`:\n\n```toml\nignore = ["{name}/ALL"]\n```'
    parts = [table(rows), options(name, manifest.get("options", {})), off]
    return "\n\n".join(it for it in parts if it)


def options(name: str, declared: dict) -> str:
    """What can be set in `broker.toml`, each with what it can be."""

    def option(key: str, schema: dict) -> str:
        kind = code(schema["enum"]) if "enum" in schema else schema["type"]
        default = f"; {code([schema['default']])} by default" if "default" in schema else ""
        return f"- `{key}` ({kind}{default}): {schema['description']}."

    lines = [option(key, schema) for key, schema in sorted(declared.items())]
    return "\n".join([f"Options in `[linters.{name}]` of `broker.toml`:", "", *lines]) if lines else ""


EXECUTES = {
    "nothing": "nothing; confined where it is not trusted",
    "configuration": "code that its configuration names; needs trust",
    "build": "code of the project; needs trust",
}


def servers(profiles: list[dict]) -> str:
    parts = []
    for it in profiles:
        rows = {
            "checks": {"types": "types; one such server is asked for each language"}.get(it["checks"], it["checks"]),
            "languages": code(it["languages"]),
            "files": code(it["globs"]),
            "asked where there is": code(it.get("configured-by", []) + it.get("projects", [])),
            "program": code(it["command"][:1]),
            "runs of the workspace": EXECUTES[it["executes"]],
            "installed by": f"`{it['install']}`",
            "configuration files": code(it.get("config-files", [])),
            "limits": it.get("limits", ""),
        }
        parts.append(f"## {it['name']}\n\n{table(rows)}")
    return "\n\n".join(parts)


def checkers(known: list[dict]) -> str:
    parts = []
    for it in known:
        rows = {
            "command": f"`{' '.join(it['command'])}`",
            "languages": code(it.get("languages", [])),
            "files": code(it["globs"]),
            "project": code(it.get("roots", [])) or "the workspace",
            "runs of the workspace": EXECUTES[it["executes"]],
            "time limit": f"{it['timeout']} s" if "timeout" in it else "",
            "installed by": it["install"] if it["install"].startswith("install ") else f"`{it['install']}`",
            "limits": it.get("limits", ""),
        }
        parts.append(f"## {it['name']}\n\n{table(rows)}")
    return "\n\n".join(parts)


def table(rows: dict) -> str:
    """Its rows, without those that have nothing to say."""
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {cell(text)} |" for name, text in rows.items() if text)])
