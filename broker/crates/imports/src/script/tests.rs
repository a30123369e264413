//! Each way to import in JavaScript and TypeScript, and what only looks like one.

use super::super::tests::{check, check_each};

#[test]
fn each_way_to_import() {
    let files = [
        ("lib/m.ts", ""),
        ("a.ts", "import { x } from './lib/m';"),
        ("b.tsx", "export * from \"./lib/m.js\"\n"),
        ("c.js", "const m = require('./lib/m')"),
        ("d.ts", "import type {\n  X,\n} from '@/lib/m'"),
        ("e.ts", "await import(`./lib/m`); import './other'"),
        ("f.ts", "// 'm' and './lib/n' are not imported\nimport m from 'm'\n"),
        ("lib/g.ts", "import './m'"),
        ("h.ts", "import 'n'"),
    ];
    check("ts", &files, "lib/m.ts", "a.ts b.tsx c.js d.ts e.ts f.ts lib/g.ts");
}

#[test]
fn each_relative_path() {
    let texts = [
        "import(/* webpackChunkName: \"m\" */ \"./lib/m\")",
        "import x from /* c */ \"./lib/m\"",
        "export * as x from './lib/m'",
        "import x = require(\"./lib/m\")",
        "/// <reference path=\"./lib/m.ts\" />",
        "/** @type {import(\"./lib/m\").X} */",
        "/** @import { X } from './lib/m' */",
        "require.resolve(\n'./lib/m'\n)",
        "new URL(\"./lib/m\", import.meta.url)",
        "new Worker('./lib/m.ts')",
        "jest.mock(\"./lib/m\")",
        "vi.mock(\"../it/../it/lib/m\")",
        "define(['a', './lib/m'], f)",
        "const r = /['\"`]/, m = import('./lib/m')",
        "<p>don't</p>; import(`./lib/m`)",
        "declare module './lib/m' {}",
        "import m from './lib/m?raw'",
        "import m from './lib/m.js?worker'",
        "import{x}from\"./lib/m\"",
        "\u{feff}import './lib/m'",
        "import {\r\n x\r\n} from\r\n'./lib/m'\r\n",
    ];
    check_each("ts", &[("it/lib/m.ts", "")], "it/x.ts", &texts, "it/lib/m.ts");
    check_each(
        "ts",
        &[("index.ts", "")],
        "x.ts",
        &["import '.'", "import './'", "import './index'", "vi.mock('.')", "f(proxyquire('.', {}))"],
        "index.ts",
    );
    check("ts", &[("index.ts", ""), ("x.ts", "'a.b'.split('.'); join('..', a)")], "index.ts", "");
    check_each("ts", &[("d.json", "")], "x.cjs", &["require('./d')", "require('./d.json')"], "d.json");
    check_each("ts", &[("s.d.css.ts", "")], "x.ts", &["import './s.css'"], "s.d.css.ts");
}

#[test]
fn each_other_path() {
    let texts = [
        "import /* c */ '@/lib/m'",
        "import x from // \"of\"\n  // it\n  '~/lib/m'",
        "export * as x from '#lib/m'",
        "import type X from 'lib/m'",
        "import x = require ( 'lib/m' )",
        "import(/* webpackChunkName: \"m\" */\n 'lib/m')",
        "import(`lib/m`)",
        "require.resolve('lib/m')",
        "vi.mock('@/lib/m')",
        "await vi.importActual('@/lib/m')",
        "/// <reference path = 'lib/m.ts' />",
        "declare module '@/lib/m' {}",
        "importScripts('lib/m.js')",
    ];
    check_each("ts", &[("src/lib/m.ts", "")], "x.ts", &texts, "src/lib/m.ts");
    check("ts", &[("lib/m.ts", ""), ("x.ts", "it('m'); f = 'lib/m'")], "lib/m.ts", "");
}

#[test]
fn folders_and_packages() {
    let files = [
        ("packages/ui/src/index.ts", ""),
        ("app/a.ts", "import { B } from '@mine/ui'"),
        ("packages/ui/b.ts", "import '.'\nimport './src'"),
    ];
    check("ts", &files, "packages/ui/src/index.ts", "app/a.ts packages/ui/b.ts");
    check_each("ts", &[("ui/src/a/b.ts", "")], "x.ts", &["import '@mine/ui/a/b'"], "ui/src/a/b.ts");
}

#[test]
fn packages_by_their_names() {
    let named = ("design/package.json", "{\"name\": \"@mine/ui\", \"main\": \"./code/start.js\"}");
    for (file, text) in [
        ("design/code/start.ts", "import '@mine/ui'"),
        ("design/index.ts", "require('@mine/ui')"),
        ("design/src/index.ts", "export * from '@mine/ui'"),
        ("design/src/b.tsx", "import '@mine/ui/b'"),
        ("design/b/c.ts", "import '@mine/ui/b/c.js'"),
    ] {
        check_each("ts", &[named, (file, "")], "app/x.ts", &[text], file);
    }
}

#[test]
fn through_components() {
    let files =
        [("a.ts", ""), ("b.vue", "<script>import './a'</script>"), ("c.ts", "import B from './b.vue'")];
    check("ts", &files, "a.ts", "b.vue c.ts");
}
