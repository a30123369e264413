//! Texts that go together by their trees, and such that do not.

use super::merge;
use crate::Language;

fn merged(language: &str, base: &str, ours: &str, theirs: &str) -> Option<String> {
    merge(Language::named(language).unwrap(), base, ours, theirs)
}

#[test]
fn definitions_at_one_place_go_together() {
    let base = "import a\n\n\ndef f():\n    return 1\n";
    let with = |name: &str| format!("{base}\n\ndef {name}():\n    return 2\n");
    let want = format!("{}\n\ndef h():\n    return 2\n", with("g"));
    assert_eq!(merged("python", base, &with("g"), &with("h")).unwrap(), want);
    assert_eq!(merged("python", base, &with("g"), &with("g").replace('2', "3")), None, "one name twice");
}

#[test]
fn imports_at_one_place_go_together() {
    let rust = |names: &str| format!("use a::{{{names}}};\n\nfn f() {{}}\n");
    assert_eq!(merged("rust", &rust("x"), &rust("x, y"), &rust("x, z")).unwrap(), rust("x, y, z"));
    let python = |names: &str| format!("from a import {names}\n\nf()\n");
    assert_eq!(merged("python", &python("x"), &python("x, y"), &python("w, x")).unwrap(), python("w, x, y"));
    let script = |line: &str| format!("import {{ a }} from 'a';\n{line}\nf();\n");
    let [base, ours, theirs] = ["", "import { b } from 'b';\n", "import { c } from 'c';\n"].map(script);
    let want = script("import { b } from 'b';\nimport { c } from 'c';\n");
    assert_eq!(merged("typescript", &base, &ours, &theirs).unwrap(), want);
}

#[test]
fn entries_at_one_place_go_together() {
    let json = |entries: &str| format!("{{\n  \"a\": 1{entries}\n}}\n");
    let [ours, theirs] = [",\n  \"b\": 2", ",\n  \"c\": 3"];
    let want = json(&format!("{ours}{theirs}"));
    assert_eq!(merged("json", &json(""), &json(ours), &json(theirs)).unwrap(), want);
    assert_eq!(merged("json", &json(""), &json(ours), &json(",\n  \"b\": 3")), None, "one key, two values");
    let list = |entries: &str| format!("NAMES = [\n    'a',\n{entries}]\n");
    let [ours, theirs] = ["    'b',\n", "    'c',\n"];
    let want = list(&format!("{ours}{theirs}"));
    assert_eq!(merged("python", &list(""), &list(ours), &list(theirs)).unwrap(), want);
}

#[test]
fn methods_and_tests_at_one_place_go_together() {
    let class = |methods: &str| format!("class A {{\n  a() {{}}\n{methods}}}\n");
    let [ours, theirs] = ["\n  b() {\n    f();\n  }\n", "\n  c() {\n    g();\n  }\n"];
    let want = class(&format!("{ours}{theirs}"));
    assert_eq!(merged("typescript", &class(""), &class(ours), &class(theirs)).unwrap(), want);
    let tests = |tests: &str| format!("describe('a', () => {{\n  it('x', () => {{}});\n{tests}}});\n");
    let [ours, theirs] = ["  it('y', () => { f(); });\n", "  it('z', () => { g(); });\n"];
    let want = tests(&format!("{ours}{theirs}"));
    assert_eq!(merged("javascript", &tests(""), &tests(ours), &tests(theirs)).unwrap(), want);
}

#[test]
fn what_one_side_deletes_beside_the_other_sides_addition_is_gone() {
    let function = |name: &str| format!("fn {name}() {{\n    work();\n}}\n");
    let all = |names: &[&str]| names.iter().map(|it| function(it)).collect::<Vec<_>>().join("\n");
    let (base, ours, theirs) = (all(&["a", "b"]), all(&["a"]), all(&["a", "b", "c"]));
    assert_eq!(merged("rust", &base, &ours, &theirs).unwrap(), all(&["a", "c"]));
    let changed = base.replace("fn b() {\n    work();", "fn b() {\n    rest();");
    assert_eq!(merged("rust", &base, &ours, &changed), None, "deleted here, changed there");
}

#[test]
fn statements_have_an_order() {
    let body = |lines: &str| format!("def f():\n    a()\n{lines}");
    assert_eq!(merged("python", &body(""), &body("    b()\n"), &body("    c()\n")), None);
    let module = |lines: &str| format!("a()\n{lines}");
    assert_eq!(merged("python", &module(""), &module("b()\n"), &module("c()\n")), None);
    let (base, ours, theirs) = ("x = 1\n", "x = 2\n", "x = 3\n");
    assert_eq!(merged("python", base, ours, theirs), None, "one value, two changes");
}

#[test]
fn comments_stay_with_their_definitions() {
    let base = "fn a() {}\n";
    let with = |name: &str| format!("{base}\n/// Does {name}.\n#[inline]\nfn {name}() {{}} // {name}\n");
    let want = format!("{}\n/// Does c.\n#[inline]\nfn c() {{}} // c\n", with("b"));
    assert_eq!(merged("rust", base, &with("b"), &with("c")).unwrap(), want);
}

#[test]
fn a_text_with_errors_is_not_merged() {
    let base = "def f():\n    return 1\n";
    let with = |name: &str| format!("{base}\n\ndef {name}():\n    return 2\n");
    assert_eq!(merged("python", base, &with("g"), &(with("h") + "def (\n")), None);
}
