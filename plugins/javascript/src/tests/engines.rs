//! Code on which an engine differs from swc or deno_lint.

use super::*;

fn lines(name: &str, text: &str) -> String {
    Repo::new(&[(name, text)]).lines(name)
}

#[test]
fn names_that_are_declared_twice() {
    assert_eq!(lines("a.js", "let size = 1;\nlet size = 2;\n"), "2 syntax-error \"size\"");
    assert_eq!(lines("a.js", "import { f } from 'b';\nconst f = 1;\nf();\n"), "2 syntax-error \"f\"");
    assert_eq!(lines("a.js", "class A { #b; c() { return this.#d + this.#b; } }\n"), "1 syntax-error \"#d\"");
    let text = "let size = 1;\nlet size = 2;\n";
    let mut repo = Repo::new(&[("deno.json", "{\"lint\": {\"rules\": {\"tags\": []}}}"), ("a.js", text)]);
    assert_eq!(repo.check("a.js"), "", "as deno lint says");
    let mut repo =
        Repo::new(&[("a.js", text)]).with(Settings { ignore: vec!["syntax-error".to_owned()], ..settings() });
    assert!(!repo.check("a.js").contains("syntax-error"));
}

#[test]
fn what_a_rule_says_is_said_once() {
    let found = |text: &str| Repo::new(&[("a.js", text)]).check("a.js");
    assert_eq!(found("export function f(row, row) {}"), "no-dupe-args");
    assert_eq!(found("export class A { constructor() { super(); } }"), "constructor-super");
    assert_eq!(found("export class A { b() { let c; let c; } }").split(' ').next(), Some("no-unused-vars"));
    assert!(found("export class A { b() { let c; let c; } }").contains("syntax-error"));
}

#[test]
fn await_is_a_name_in_a_script() {
    let text = "function f(await) { return await; }\nvar await = f;\nlet a = async () => await b;\n";
    assert_eq!(lines("a.js", text), "");
    assert_eq!(lines("a.cjs", "exports.await = function (await) { return [await]; };\n"), "");
    for text in ["function f() { await g(); }", "function f() { await(g()); }"] {
        assert!(Repo::new(&[("a.js", text)]).check("a.js").ends_with("no-await-in-sync-fn"), "{text}");
    }
}

/// Valid, and nothing that swc can read.
#[test]
fn what_another_parser_can_read_is_left_out() {
    let surrogates = "f('\\ud800\\u{20000}');\n";
    assert_eq!(lines("a.js", surrogates), "excluded");
    let twice = "f(class { static constructor() {} static constructor() {} });\n";
    assert_eq!(lines("a.js", twice), "excluded");
    let mut repo = Repo::new(&[("a.js", surrogates)]);
    let log = repo.report("a.js", "").unwrap();
    assert!(matches!(log.completeness, Completeness::Excluded), "{log:?}");
}

/// Each ends the plugin where it is given to the crates as it is.
#[test]
fn what_the_crates_panic_at() {
    assert_eq!(lines("a.jsx", "f(<a b=\"&#;\">&#; &#xD800; &#x;</a>);\n"), "");
    assert_eq!(lines("a.js", "f(<a>{'&#;'}&#;</a>);\nf({ c: 1, c: 2 });\n"), "2 no-dupe-keys \"c\"");
    for (name, text) in
        [("a.jsx", "f(<a:b.c />);\n"), ("a.tsx", "f(<a : b . c></a>);\n"), ("a.js", "f(0x_1n);\n")]
    {
        assert!(lines(name, text).contains("syntax-error"), "{name} {}", lines(name, text));
    }
    let mut repo = Repo::new(&[("deno.json", "{}"), ("a.jsx", "f(<a:b.c />);\n")]);
    assert!(repo.check("a.jsx").contains("syntax-error"), "{}", repo.check("a.jsx"));
    assert_eq!(lines("a.js", "for ({ get a() {} }.b of c) d();\n"), "");
    assert_eq!(
        lines("a.js", "f(/(?<\\u0041\\u0042>a)\\k<AB/);\n").split(' ').nth(1),
        Some("no-invalid-regexp")
    );
    let mut repo = Repo::new(&[("a.jsx", "f(<a b={true}>&#;</a>);\n")]).with(select(&["jsx-boolean-value"]));
    let report = repo.report("a.jsx", "").unwrap();
    assert!(
        matches!(&report.diagnostics[..], [it] if it.fixes.is_empty()),
        "of a text that was changed: {report:?}"
    );
}

#[test]
fn regular_expressions() {
    for text in [
        "f(/[\\p{L}--[a-z]]/v, /🦊\\//g, /(?<y>a)|(?<y>b)/, /(?i:a)b/, /\\p{Script=Kawi}/u);",
        "f(new RegExp('[\\\\w--[a]]', 'v'), RegExp('(?-s:a)'), new RegExp('[[a]&&b]', flags));",
        "function g(RegExp) { return new RegExp('('); } f(new RegExp(a), new RegExp('\\ud800'), g);",
    ] {
        assert_eq!(lines("a.js", text), "", "{text}");
    }
    let wrong = "f(/(?:a/);\nf(new RegExp('[', flags));\nf(RegExp('a', 'gg'));\nf(RegExp(RegExp('*')));\n";
    assert_eq!(Repo::new(&[("a.js", wrong)]).check("a.js"), ["no-invalid-regexp"; 4].join(" "));
    let text = "// deno-lint-ignore no-invalid-regexp\nf(RegExp('('));\n";
    assert_eq!(lines("a.js", text), "");
    let mut repo = Repo::new(&[("deno.json", "{}"), ("a.js", "f(/[a--b]/v, RegExp('('));\n")]);
    assert_eq!(repo.lines("a.js"), "1 no-invalid-regexp \"RegExp('(')\"");
}

#[test]
fn setters_in_descriptors() {
    for text in [
        "Object.defineProperty(a, 'b', { set(c) { return 1; } });",
        "Reflect.defineProperty(a, 'b', { set: function (c) { if (c) return d; } });",
        "Object.defineProperties(a, { b: { get() { return 1; }, 'set': (c) => { return c; } } });",
        "Object.create(null, { b: { set: c => c } });",
    ] {
        assert_eq!(Repo::new(&[("a.js", text)]).check("a.js"), "no-setter-return", "{text}");
    }
    for text in [
        "Object.defineProperty(a, 'b', { set(c) { this.d = c; return; }, get() { return 1; } });",
        "Object.defineProperty(a, 'b', { set: c => (this.d = c), value: { set() { return 1; } } });",
        "Object.defineProperty(a, 'b', { set(c) { d(() => { return 1; }, function () { return 2; }); } });",
        "Object.defineProperties(a, { set() { return 1; } }); Object.create({ b: { set() { return 1; } } });",
        "map.defineProperty(a, 'b', { set() { return 1; } }); f({ set() { return 1; } });",
        "function f(Object) { Object.create(a, { b: { set() { return 1; } } }); } f();",
        "Object.defineProperty(...a, { set() { return 1; } }, { set() { return 1; } });",
    ] {
        assert_eq!(Repo::new(&[("a.js", text)]).check("a.js"), "", "{text}");
    }
    let text = "Object.defineProperty(a, 'b', { set(c) { return 1; } });\n";
    let mut repo = Repo::new(&[("deno.json", "{}"), ("a.js", text)]);
    assert!(!repo.check("a.js").contains("no-setter-return"), "as deno lint says");
}

/// The loop has to have a variable.
#[test]
fn variables_of_loops_that_are_declared_elsewhere() {
    for text in [
        "function f(a) { var key; for (key in a) return false; return true; } f();",
        "function f(a) { let row; for (row of a) { b(); } } f();",
        "function f(a) { let key, value; for ([key, { value }] of a) b(); } f();",
    ] {
        assert_eq!(lines("a.js", text), "", "{text}");
    }
    let text = "function f(a) { var key, other; for (key in a) return false; other = 1; } f();";
    assert_eq!(lines("a.js", text), "1 no-unused-vars \"other\"");
    let text = "function f(a) { let key; for (const b of a) { let key; for (key in b) c(); } } f();";
    assert_eq!(lines("a.js", text), "1 no-unused-vars \"key\"", "another one of the name");
}

/// An import makes a module of a file.
#[test]
fn imports_are_put_into_modules_alone() {
    let fixes = |files: &[(&str, &str)], name: &str| {
        let mut repo = Repo::new(files).with(select(&["no-process-global", "no-node-globals"]));
        let report = repo.report(name, "").unwrap();
        assert!(!report.diagnostics.is_empty(), "{name}");
        report.diagnostics.iter().map(|it| it.fixes.len()).sum::<usize>()
    };
    let plain = "'use strict';\nf(process.argv);\n";
    let common = "const g = require('g');\ng(process.argv, Buffer);\n";
    assert_eq!(fixes(&[("a.js", plain)], "a.js"), 0);
    assert_eq!(fixes(&[("a.js", common)], "a.js"), 0);
    assert_eq!(fixes(&[("a.cjs", plain)], "a.cjs"), 0);
    assert_eq!(fixes(&[("a.cts", "import g = require('g');\ng(process.argv);\n")], "a.cts"), 0);
    assert_eq!(fixes(&[("package.json", "{}"), ("a.js", plain)], "a.js"), 0);
    assert!(fixes(&[("a.mjs", plain)], "a.mjs") > 0);
    assert!(fixes(&[("a.js", "import 'g';\nf(process.argv);\n")], "a.js") > 0);
    let package = ("package.json", "{\"type\": \"module\"}");
    assert!(fixes(&[package, ("src/a.js", plain)], "src/a.js") > 0);
    assert_eq!(fixes(&[package, ("src/a.js", common)], "src/a.js"), 0, "it is none");
    assert_eq!(fixes(&[package, ("in/package.json", "{}"), ("in/a.js", plain)], "in/a.js"), 0);
    assert!(fixes(&[("deno.json", "{}"), ("a.ts", plain)], "a.ts") > 0, "all are modules there");
    let global = "f(global.a);\n";
    assert_eq!(fixes(&[("a.cjs", global)], "a.cjs"), 1, "`globalThis` is no import");
}
