//! Findings in a file.

use super::*;

#[test]
fn suppressions() {
    let mut repo = Repo::new(&[
        ("deno.json", "{}"),
        ("file.ts", "// deno-lint-ignore-file\nlet a = 1;\n"),
        ("code.ts", "// deno-lint-ignore-file prefer-const -- old code\nlet a = 1;\n"),
        ("line.ts", "// deno-lint-ignore prefer-const, no-unused-vars\nlet a = 1;\n"),
        ("unused.ts", "// deno-lint-ignore prefer-const no-slow-types\nexport const a = 1;\n"),
        ("unknown.ts", "// deno-lint-ignore nonsense\nexport const a = 1;\n"),
        ("untagged.ts", "// deno-lint-ignore\nlet a = 1;\n"),
        ("off.ts", "// deno-lint-ignore no-console\nexport const a = 1;\n"),
        ("plugins/deno.json", r#"{"lint": {"plugins": ["./mine.ts"]}}"#),
        ("plugins/a.ts", "// deno-lint-ignore mine/rule\nexport const a = 1;\n"),
        ("excluded/deno.json", r#"{"lint": {"rules": {"exclude": ["ban-unused-ignore"]}}}"#),
        ("excluded/a.ts", "// deno-lint-ignore prefer-const\nexport const a = 1;\n"),
    ]);
    assert_eq!(repo.check("file.ts"), "");
    assert_eq!(repo.check("code.ts"), "no-unused-vars");
    assert_eq!(repo.check("line.ts"), "");
    assert_eq!(repo.check("unused.ts"), "ban-unused-ignore");
    assert_eq!(repo.check("unknown.ts"), "ban-unknown-rule-code");
    assert_eq!(repo.check("untagged.ts"), "ban-untagged-ignore no-unused-vars prefer-const");
    assert_eq!(repo.check("off.ts"), "", "not on here, so that its use cannot be judged");
    assert_eq!(repo.check("plugins/a.ts"), "", "it may be a plugin's, and those are not run");
    assert_eq!(repo.check("excluded/a.ts"), "", "deno tells it all the same");
}

#[test]
fn syntax_errors() {
    let mut repo = Repo::new(&[
        ("fatal.ts", "const é = 1;\nlet x = ;\n"),
        ("early.ts", "export const a;\n"),
        ("flow.js", "// @flow\ntype A = {| a: number |};\n"),
        ("view.js", "export default () => <div key={1} />;\n"),
        ("deno/deno.json", "{}"),
        ("deno/flow.js", "// @flow\ntype A = {| a: number |};\n"),
        ("deno/view.js", "export default () => <div key={1} />;\n"),
        ("half.js", "function f( {\n  if (a"),
        ("flow/package.json", r#"{"dependencies": {"flow-bin": "1"}}"#),
        ("flow/a.js", "export const a = (b: ?c) => b;\n"),
        ("flow/a.ts", "export const a = ;\n"),
        ("typed.js", "export const a = (b: c) => b;\n"),
        ("page.js", "---\n---\nvar a = {{ site.a }};\n"),
    ]);
    assert_eq!(repo.check("flow/a.js"), "excluded", "the project's types are Flow's");
    assert_eq!(repo.check("flow/a.ts"), "syntax-error", "these are not");
    assert_eq!(repo.check("typed.js"), "syntax-error", "no tool that takes types out");
    assert_eq!(repo.check("page.js"), "excluded", "a template");
    let report = repo.report("fatal.ts", "").unwrap();
    let [found] = &report.diagnostics[..] else { panic!("{report:?}") };
    assert_eq!((found.code.as_str(), found.severity), ("syntax-error", Severity::Error));
    assert_eq!((found.span.start, found.span.end), (22, 23), "{found:?}");
    assert_eq!(found.message, "Expression expected");
    assert_eq!(repo.check("early.ts"), "syntax-error");
    assert_eq!(repo.check("flow.js"), "excluded", "types of another language");
    assert_eq!(repo.check("deno/flow.js"), "syntax-error", "Deno has none of these");
    assert_eq!(repo.check("view.js"), "", "outside Deno, tools let `.js` have JSX");
    assert_eq!(repo.check("deno/view.js"), "syntax-error", "Deno does not");
    assert_eq!(repo.check("half.js"), "syntax-error");
    let mut repo = repo.with(select(&["no-window"]));
    assert_eq!(repo.check("half.js"), "syntax-error", "whatever is selected");
    let mut repo = repo.with(Settings { ignore: vec!["syntax-error".to_owned()], ..settings() });
    assert_eq!(repo.check("half.js"), "");
}

#[test]
fn templates_are_left_out() {
    let front = "---\nlayout: null\n---\nconst a = 1;\nfoo(a);\n";
    let typo = "export default () => <a style={{ b }} c= />;\n";
    let mut repo = Repo::new(&[
        ("front.js", front),
        ("erb.js", "const a = <%= a %>;\nfoo(a);\n"),
        ("liquid.js", "{% if a %}\nfoo(1);\n{% endif %}\n"),
        ("value.js", "const a = {{ site.a | jsonify }};\nfoo(a);\n"),
        ("_includes/part.js", "a: 1,\nb: 2\n"),
        ("part.js", "a: 1,\nb: 2\n"),
        ("typo.jsx", typo),
        ("object.js", "foo({{ a: 1 }});\n"),
        ("elsewhere.js", "const a = \"<%= a %>\";\nlet x = ;\nfoo(a);\n"),
    ]);
    for name in ["front.js", "erb.js", "liquid.js", "value.js", "_includes/part.js"] {
        assert_eq!(repo.check(name), "excluded", "{name}");
    }
    for name in ["part.js", "typo.jsx", "object.js", "elsewhere.js"] {
        assert_eq!(repo.check(name), "syntax-error", "{name}");
    }
}

/// An object or a function that another program evaluates.
#[test]
fn expressions_are_left_out() {
    let object = "/* Settings. */\n{\n  port: 80,\n  hosts: [{ name: 'a' }], // all\n}\n";
    let mut repo = Repo::new(&[
        ("object.js", object),
        ("function.js", "function (row) {\n  emit(row.id, null);\n}\n// the end"),
        ("ended.js", "async function* (row) { yield row; };\n"),
        ("class.cjs", "class { a() {} }\nfoo();\n"),
        ("element.js", "{ a: 1, view: () => <a /> }\n"),
        ("pairs.js", "{ a: 1, b: 2 }) + ({ c: 3, d: 4 }\n"),
        ("typo.js", "{\n  a: 1,\n  b: 2\n  c: 3\n}\n"),
        ("two.js", "function (a) { b(a); }\nfunction (c) { d(c); }\n"),
        ("empty.js", "\n"),
        ("deno/deno.json", "{}"),
        ("deno/object.js", object),
    ]);
    for name in ["object.js", "function.js", "ended.js", "element.js"] {
        assert_eq!(repo.check(name), "excluded", "{name}");
    }
    for name in ["class.cjs", "pairs.js", "typo.js", "two.js", "deno/object.js"] {
        assert!(repo.check(name).contains("syntax-error"), "{name}: {}", repo.check(name));
    }
    assert_eq!(repo.check("empty.js"), "");
}

/// Each at the key that repeats another one; in a project of Deno's, at the object, as Deno does.
#[test]
fn places_of_duplicate_keys() {
    let text = "f({\n  b: { b: 1 },\n  'a-b': 2,\n  1: 3,\n  b() {},\n  get b() {},\n  [\"a-b\"]: 4,\n  0x1: 5,\n  b });\n";
    let disabled = "f({\n  a: 1,\n  // eslint-disable-next-line no-dupe-keys\n  a: 2,\n});\n";
    let mut repo = Repo::new(&[
        ("a.js", text),
        ("disabled.js", disabled),
        ("deno/deno.json", "{}"),
        ("deno/a.js", "f({ a: 1, a: 2 });\n"),
    ]);
    let lines = repo.lines("a.js");
    let key = |line: u8, key: &str| format!("{line} no-dupe-keys {key:?}");
    let expected = [key(5, "b"), key(6, "b"), key(7, "[\"a-b\"]"), key(8, "0x1"), key(9, "b")];
    assert_eq!(lines, expected.join(", "));
    assert_eq!(repo.lines("disabled.js"), "", "ESLint looks for the comment there");
    assert_eq!(repo.lines("deno/a.js"), key(1, "{ a: 1, a: 2 }"));
}

/// Findings of deno_lint that are wrong.
#[test]
fn what_is_wrong_in_the_crate() {
    let methods = "export class A {\n  a() {}\n  b() {}\n  a() {}\n}\n";
    let accessors =
        "export class A {\n  get a() {\n    return 1;\n  }\n  b() {}\n  set a(c) {\n    c.b();\n  }\n}\n";
    let mut repo = Repo::new(&[
        ("deno.json", "{}"),
        ("a.js", methods),
        ("a.ts", methods),
        ("accessors.ts", accessors),
        ("let.ts", "export let a!: number;\nexport function f() {\n  let b!: string;\n  return b;\n}\n"),
        ("const.ts", "export function f() {\n  let b = !0;\n  return b;\n}\n"),
        ("twice.ts", "export const a = (b: boolean) => {\n  if (!!!b) return 1;\n  return 2;\n};\n"),
        ("void.tsx", "export const a = <br key={1}>b</br>;\n"),
    ]);
    assert_eq!(repo.check("a.js"), "no-dupe-class-members no-dupe-class-members");
    let typed = "no-dupe-class-members adjacent-overload-signatures no-dupe-class-members";
    assert_eq!(repo.check("a.ts"), typed);
    assert_eq!(repo.check("accessors.ts"), "", "a getter and its setter");
    assert_eq!(repo.check("let.ts"), "");
    assert_eq!(repo.check("const.ts"), "prefer-const");
    assert_eq!(repo.check("twice.ts"), "no-extra-boolean-cast");
    let report = repo.report("void.tsx", "").unwrap();
    let [found] = &report.diagnostics[..] else { panic!("{report:?}") };
    assert_eq!(found.code, "jsx-void-dom-elements-no-children");
    assert_eq!(found.message, "`<br>` can have no children");
}

#[test]
fn what_is_often_meant() {
    let text = "try { f(); } finally { if (e_1) throw e_1.error; }\nif (typeof a.b === c) d();\na.href = a.href;\nif (typeof a.b === 'unknown') c();\nJSON = {};\nd[0] = d[0];\n";
    let mut repo = Repo::new(&[
        ("a.js", text),
        ("b.js", "function f(a) {\n  a = a;\n  return typeof a === 'strnig';\n}\n"),
    ]);
    assert_eq!(repo.check("a.js"), "");
    assert_eq!(repo.check("b.js"), "no-self-assign valid-typeof");
    let mut repo = Repo::new(&[("a.js", text), ("deno.json", "{}")]);
    assert_eq!(
        repo.check("a.js"),
        "no-unsafe-finally valid-typeof no-self-assign valid-typeof no-global-assign no-self-assign",
        "as deno says"
    );
}

/// The crate's parser goes on after some of the errors that JSX makes, and its rules miss what is in it.
#[test]
fn jsx_in_javascript() {
    let text = "import { A } from 'a';\nimport { b as c } from 'b';\nexport const d = <A e={ c } />;\n";
    assert_eq!(Repo::new(&[("a.js", text)]).check("a.js"), "");
}

#[test]
fn what_handles_an_error_is_reached() {
    let text =
        "export function f() {\n  try {\n    throw g();\n  } catch (e) {\n    return e.stack;\n  }\n}\n";
    assert_eq!(Repo::new(&[("a.js", text)]).check("a.js"), "");
    let text = "export function f() {\n  return 1;\n  g();\n}\n";
    assert_eq!(Repo::new(&[("a.js", text)]).check("a.js"), "no-unreachable");
}

#[test]
fn names_that_are_not_used_for_a_reason() {
    let lines = |name: &str, text: &str| Repo::new(&[(name, text)]).lines(name);
    let module = |text: &str| lines("a.ts", &format!("export {{}};\n{text}\n"));
    let told = |name: &str| format!("2 no-unused-vars {name:?}");
    assert_eq!(module("import a, { b } from 'c'; b();"), told("a"));
    assert_eq!(module("function f() { const a = 1; } f();"), told("a"));
    assert_eq!(
        module("const f = (a: number) => { const b = 1; return () => { let c; }; }; f(1);"),
        "2 no-unused-vars \"b\", 2 no-unused-vars \"c\""
    );
    assert_eq!(module("const { a, b } = c(); b();"), told("a"));
    assert_eq!(module("class A {}"), told("A"));
    assert_eq!(module("addEventListener('a', (event) => { function f() {} });"), told("f"));
    assert_eq!(module("function f(a: number, { b }: C, ...c: D) {} f(1, {}, 2);"), "");
    assert_eq!(module("try { f(); } catch (error) {}"), "");
    assert_eq!(module("for (const a of b) c(); for (const a in b) c(); const [d, e] = f(); e();"), "");
    assert_eq!(module("const { a, ...rest } = c(); rest();"), "");
    assert_eq!(module("const a = exports.a = 1; const b = (exports.b = ((c = 1)));"), "");
    assert_eq!(module("const a = (b);"), told("a"));
    assert_eq!(module("var $a$; const $b = 1;"), "2 no-unused-vars \"$b\"");
    assert_eq!(module("class A { set a(b) {} constructor(private c: D) {} } new A();"), "");
    assert_eq!(lines("a.js", "function onClick() {}\nvar a = 1;\nclass B {}\n"), "", "a page may use them");
    assert_eq!(lines("a.js", "function f() { var b; }\n"), "1 no-unused-vars \"b\"");
    assert_eq!(lines("a.js", "var a = require('a');\n"), "1 no-unused-vars \"a\"");
    let mut repo = Repo::new(&[("a.ts", "export const f = (a) => 1;\n"), ("deno.json", "{}")]);
    assert_eq!(repo.check("a.ts"), "no-unused-vars", "deno tells all");
    let mut repo = Repo::new(&[("a.ts", "export const f = (a) => 1;\n")]).with(select(&["no-unused-vars"]));
    assert_eq!(repo.check("a.ts"), "no-unused-vars", "who asks is told");
}

#[test]
fn names_that_only_types_use() {
    let text = "import { A, B, type C } from 'a';\nimport Used = A.B;\nimport Unused = A.B;\nexport import D = A.B;\n\
                import e = require('e');\nclass F {}\nnamespace G {\n  export type H = 1;\n}\nexport const i: Used = 1;\n\
                export type J = e.K | F | G.H;\n";
    let unused = "1 no-unused-vars \"B\", 1 no-unused-vars \"C\", 3 no-unused-vars \"Unused\"";
    assert_eq!(Repo::new(&[("a.ts", text)]).lines("a.ts"), unused);
    let mut repo =
        Repo::new(&[("deno.json", "{}"), ("a.ts", "import { A } from 'a';\nexport import D = A.B;\n")]);
    assert_eq!(repo.check("a.ts"), "", "whatever is configured");
    let text = "import { Node, Other, Third } from 'a';\nconst Fourth = require('b');\n/**\n * @param {Node[]} a Third\n \
                * @see Other\n * @returns {import('c').D & Fourth}\n */\nexport function f(a) {\n  return a;\n}\n";
    assert_eq!(Repo::new(&[("a.js", text)]).lines("a.js"), "1 no-unused-vars \"Third\"");
}

/// swc takes these for shifts.
#[test]
fn two_lists_of_types_open_at_once() {
    let lines = |name: &str, text: &str| Repo::new(&[(name, text)]).lines(name);
    for text in [
        "expect(1).toBe<<C extends number>(s: C) => D<C>>();",
        "new A<<T>(x: T) => T>(1);",
        "a?.b<<T>(x: T) => T>(1);",
        "a[0]<<T>(x: T) => T>`b`;",
        "export const b = c<<T>(x: T) => T>;",
        "export class A extends B<<T>(x: T) => T> {}",
        "export type A = typeof b<<T>(x: T) => T>;",
        "export const a = b<<T>() => void, <U>(c: U) => U>(1 << 2, d<<T>(x: T) => T>());",
    ] {
        assert_eq!(lines("a.ts", text), "", "{text}");
    }
    assert_eq!(lines("a.tsx", "export const a = <B<<T,>(x: T) => T> c={1} />;\n"), "");
    let text = "export const é = b<<T>(x: T) => T>(1); function f() { const g = 1; } f();\n";
    assert_eq!(lines("a.ts", text), "1 no-unused-vars \"g\"", "at its place");
    assert_eq!(lines("a.ts", "let a = b<<T>(x: T) => T>(c); let d = ;\n"), "1 syntax-error \";\"");
    assert_eq!(
        Repo::new(&[("a.js", "b<<T>(x) => 1;\n")]).check("a.js"),
        "syntax-error",
        "types are TypeScript's"
    );
}

#[test]
fn kinds_of_files() {
    let text = "import type { T } from \"./t.ts\";\nexport type S = T;\n";
    let mut repo = Repo::new(&[
        ("a.mts", text),
        ("a.cts", "import fs = require(\"fs\");\nexport = fs;\n"),
        ("a.d.ts", "declare namespace a {\n  const b: number;\n}\n"),
        ("a.ts", "namespace a {\n  export const b = 1;\n}\nexport default a;\n"),
        ("a.cjs", "module.exports = 010;\nreturn;\n"),
        ("a.mjs", "export const a = await 1;\n"),
        ("a.jsx", "export default () => <a b={true} />;\n"),
        ("empty.ts", ""),
    ])
    .with(select(&["recommended"]));
    assert_eq!(repo.check("a.mts"), "");
    assert_eq!(repo.check("a.cts"), "");
    assert_eq!(repo.check("a.d.ts"), "");
    assert_eq!(repo.check("a.ts"), "no-namespace");
    assert_eq!(repo.check("a.cjs"), "no-octal");
    assert_eq!(repo.check("a.mjs"), "");
    assert_eq!(repo.check("a.jsx"), "jsx-boolean-value");
    assert_eq!(repo.check("empty.ts"), "");
}

#[test]
fn spans_are_bytes_of_the_file() {
    let text = "\u{feff}const ä = \"ß😀\"; var ö;\r\n\tvar 𝒳 = ä;\r\n";
    let mut repo = Repo::new(&[("a.ts", text)]).with(select(&["no-var", "no-unused-vars"]));
    let report = repo.report("a.ts", "").unwrap();
    let spans = report.diagnostics.iter().map(|it| &text[it.span.start as usize..it.span.end as usize]);
    assert_eq!(spans.collect::<Vec<_>>(), ["var", "ö", "var", "𝒳"]);
    fs::write(repo.root.path().join("latin.js"), b"// caf\xe9\n").unwrap();
    let report = repo.report("latin.js", "").unwrap();
    let [found] = &report.diagnostics[..] else { panic!("{report:?}") };
    assert_eq!((found.code.as_str(), found.severity), ("syntax-error", Severity::Error));
    assert_eq!((found.span.start, found.span.end), (6, 7));
}

#[test]
fn messages_tags_and_links() {
    let mut repo = Repo::new(&[("a.ts", "export {};\nconst a = 1;\n")]);
    let report = repo.report("a.ts", "").unwrap();
    let [found] = &report.diagnostics[..] else { panic!("{report:?}") };
    let hint = "If this is intentional, prefix it with an underscore like `_a`";
    assert_eq!(found.message, format!("`a` is never used: {hint}"));
    assert_eq!((found.severity, found.tags), (Severity::Warning, Tags::UNNECESSARY));
    assert_eq!(found.url.as_deref(), Some("https://docs.deno.com/lint/rules/no-unused-vars"));
}

/// The text after the fix of its only finding, or why there is none.
fn fixed(text: &str) -> String {
    let path = "a.tsx";
    let mut repo = Repo::new(&[(path, text), ("deno.json", "{}")]).with(select(&[
        "jsx",
        "no-window",
        "no-process-global",
    ]));
    let report = repo.report(path, "").unwrap();
    let [found] = &report.diagnostics[..] else { panic!("{report:?}") };
    let Some(fix) = found.fixes.first() else { return "no fix".to_owned() };
    let mut text = text.to_owned();
    for edit in fix.edits.iter().rev() {
        text.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.replacement);
    }
    format!("{:?} {text}", fix.applicability)
}

#[test]
fn fixes() {
    assert_eq!(fixed("<a ä b={true} />"), "Applicability::Safe <a ä b />");
    assert_eq!(fixed("\u{feff}<a>ä ></a>"), "Applicability::Safe \u{feff}<a>ä &gt;</a>");
    assert_eq!(fixed("<a b={'c'} />"), "Applicability::Safe <a b=\"c\" />");
    assert_eq!(fixed(r#"<a b={'"'} />"#), "no fix", "a quote would end the attribute");
    assert_eq!(fixed(r#"<a>{"&lt;"}</a>"#), "no fix", "an entity would be read as one");
    assert_eq!(fixed(r#"<a>{"b"}</a>"#), "Applicability::Safe <a>b</a>");
    assert_eq!(fixed("<a {...b} {...b} />"), "Applicability::Safe <a {...b} />");
    assert_eq!(fixed("<a {...b} { ...b } />"), "no fix", "the crate's would leave a brace behind");
    assert_eq!(fixed("window.a;"), "Applicability::Unsafe globalThis.a;");
    assert_eq!(
        fixed("process.exit();"),
        "Applicability::Unsafe import process from \"node:process\";\nprocess.exit();"
    );
}

#[test]
fn nesting() {
    let told_of = |text: &str| {
        let mut repo = Repo::new(&[("a.ts", text)]);
        let report = repo.report("a.ts", "a.ts").unwrap();
        match &report.completeness {
            Completeness::Partial(why) => why.clone(),
            _ => told(Ok(report)),
        }
    };
    let around = |open: &str, close: &str| format!("{}1{};\n", open.repeat(10_000), close.repeat(10_000));
    let deep = "not parsed, as it is nested more than 4000 levels deep";
    assert_eq!(told_of(&around("export default ([", "])")), deep);
    assert_eq!(told_of(&around("`${", "}`")), deep);
    assert_eq!(told_of(&around("() => ", "")), deep);
    assert_eq!(told_of(&around("type A = B<", ">")), deep);
    assert_eq!(told_of(&"(a < b); ".repeat(10_000)), "");
    assert_eq!(told_of(&format!("export default [{}];\n", "() => a, ".repeat(10_000))), "");
}

#[test]
fn one_file_has_no_say_in_another() {
    let mut repo = Repo::new(&[("a.ts", "// deno-lint-ignore-file\n"), ("b.ts", "export {};\nvar a = 1;\n")]);
    let alone = repo.check("b.ts");
    assert_eq!(alone, "no-unused-vars");
    assert_eq!(repo.check("a.ts"), "");
    assert_eq!(repo.check("b.ts"), alone);
}

#[test]
fn leftovers_in_vendored_libraries() {
    let text = "const used = 1;\nfunction f() { const left = 1; return used; const o = { a: 1, a: 2 }; g(o); }\n\
                f();\nif (used === NaN) f();\n";
    let banner = format!("/*! lib v2.1.0 | MIT */\n{text}");
    let mut repo = Repo::new(&[
        ("site_libs/lib.js", text),
        ("js/jquery-ui.js", text),
        ("js/lib.js", &banner),
        ("js/own.js", text),
        ("deno/deno.json", "{}"),
        ("deno/vendored/lib.js", text),
    ]);
    for path in ["site_libs/lib.js", "js/jquery-ui.js", "js/lib.js"] {
        assert_eq!(repo.check(path), "use-isnan", "{path}");
    }
    assert_eq!(
        repo.check("js/own.js"),
        "no-unused-vars no-unreachable no-dupe-keys no-unreachable use-isnan"
    );
    assert!(repo.check("deno/vendored/lib.js").contains("no-unused-vars"), "a project of Deno's");
    let mut repo = repo.with(select(&["no-unused-vars"]));
    assert_eq!(repo.check("js/jquery-ui.js"), "no-unused-vars", "the user asks for it");
}
