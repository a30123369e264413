"""Tests that install the SDKs and try a rule with them."""

import pathlib, sys

from release import SDK_NAME
from trial import one, run

PYTHON = '''
from broker import File, rule, rules

@rule("todo")
def todo(file: File):
    """A TODO is left in the code"""
    for at in file.find("TODO"):
        yield at.finding("resolve this TODO")

[it] = rules[0].check(File("a.txt", b"one TODO", None))
assert (it.start, it.end, it.message) == (4, 8, "resolve this TODO"), it
'''

RULES = '''
import { plugin } from 'broker-plugin-sdk';
export const rule = {
  code: 'todo',
  summary: 'A TODO is left in the code',
  *check(file) {
    for (const at of file.find(/TODO/g)) yield at.finding('resolve this TODO');
  },
};
export const lint = plugin({ rules: [rule] });
'''

TRIAL = '''
import assert from 'node:assert/strict';
import 'broker-plugin-sdk/testing';
const { File } = await import('broker-plugin-sdk');
const { lint, rule } = await import('./rules.js');
assert.equal(lint.rules()[0].code, 'todo');
const [it] = rule.check(new File({ path: 'a.txt', content: Buffer.from('one TODO') }));
assert.deepEqual([it.start, it.end, it.message], [4, 8, 'resolve this TODO']);
'''

TYPED = '''
import { plugin, type File } from 'broker-plugin-sdk';
export const lint = plugin({ rules: [{ code: 'a', summary: 'b', *check(file: File) { yield file.find('x')[0]!.finding('c'); } }] });
// @ts-expect-error: a rule has a code
plugin({ rules: [{ summary: 'b', *check() {} }] });
'''


def python(folder: pathlib.Path, scratch: pathlib.Path, tools: dict[str, str]) -> str:
    """SDK for Python, wheel and sources."""
    # The sources make the same wheel.
    (scratch / "made").mkdir()
    pip = ["-m", "pip", "--disable-pip-version-check", "--no-cache-dir"]
    source, wheel = one(folder, "broker_plugin_sdk-*.tar.gz"), one(folder, "broker_plugin_sdk-*.whl")
    here = ["--no-index", "--no-deps", "--no-build-isolation"]
    run(tools["python"], *pip, "wheel", "--quiet", *here, "-w", scratch / "made", source, cwd=scratch)
    assert one(scratch / "made", "*.whl").name == wheel.name
    venv = scratch / "venv"
    run(sys.executable, "-m", "venv", venv, cwd=scratch)
    run(venv / "bin/python", *pip, "install", "--quiet", "--no-index", wheel, cwd=scratch)
    run(venv / "bin/python", "-c", PYTHON, cwd=scratch)
    return ""


def javascript(folder: pathlib.Path, scratch: pathlib.Path, tools: dict[str, str]) -> str:
    """SDK for JavaScript and TypeScript."""
    (scratch / "package.json").write_text('{ "name": "project", "private": true, "type": "module" }\n')
    run("npm", "install", "--offline", "--no-audit", "--no-fund", one(folder, f"{SDK_NAME}-*.tgz"), cwd=scratch)
    (scratch / "rules.js").write_text(RULES)
    (scratch / "trial.js").write_text(TRIAL)
    (scratch / "typed.ts").write_text(TYPED)
    run("node", "trial.js", cwd=scratch)
    options = ["--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2022,webworker"]
    run(tools["tsc"], "--noEmit", *options, "typed.ts", cwd=scratch)
    world = scratch / "node_modules" / SDK_NAME / "wit/deps/broker-plugin.wit"
    assert world.is_file() and not world.is_symlink(), "the interface of plugins is missing"
    return ""
