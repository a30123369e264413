//! Texts that go together by their trees, and such that do not.

use std::fmt::Write as _;

use super::merge;
use crate::Language;

/// The results of a file's cases. Each is a text with the changes of both sides between markers, below a line
/// `### LANGUAGE: TITLE`.
fn shown(cases: &str) -> String {
    let mut shown = String::new();
    for case in cases.split("### ").skip(1) {
        let (title, text) = case.split_once('\n').unwrap();
        let language = Language::named(title.split(':').next().unwrap()).unwrap();
        let [ours, base, theirs] = versions(text);
        let merged = merge(language, &base, &ours, &theirs);
        write!(shown, "### {title}\n{}", merged.as_deref().unwrap_or("(conflict)\n")).unwrap();
    }
    shown
}

/// Ours, base and theirs.
fn versions(text: &str) -> [String; 3] {
    let mut versions = [const { String::new() }; 3];
    let mut version = None;
    for line in text.lines() {
        match line {
            "<<<<<<<" => version = Some(0),
            "|||||||" => version = Some(1),
            "=======" => version = Some(2),
            ">>>>>>>" => version = None,
            _ => {
                let to = version.map_or(0..3, |it| it..it + 1);
                versions[to].iter_mut().for_each(|it| *it += &format!("{line}\n"));
            }
        }
    }
    versions
}

/// A snapshot of the results of `samples/NAME`.
macro_rules! samples {
    ($($name:ident $file:literal;)*) => {
        $(
            #[test]
            fn $name() {
                insta::assert_snapshot!(shown(include_str!(concat!("samples/", $file))));
            }
        )*
    };
}

samples! {
    bodies "bodies.txt";
    imports "imports.txt";
    lists "lists.txt";
    names "names.txt";
}

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

/// Merges that were wrong, or would be.
#[test]
fn what_is_in_doubt_is_a_conflict() {
    let none = |language: &str, base: &str, ours: &str, theirs: &str| {
        assert_eq!(merged(language, base, ours, theirs), None, "{base}");
    };
    // An item that both replaced.
    none(
        "python",
        "class A:\n    pass\n",
        "class A:\n    def f(self):\n        a()\n",
        "class A:\n    def g(self):\n        b()\n",
    );
    none("python", "if x:\n    pass\n", "if x:\n    import a\n", "if x:\n    import b\n");
    none("python", "X = [1, 2, 3]\n", "X = [1, 4, 5, 3]\n", "X = [1, 6, 7, 3]\n");
    // Another indentation.
    none(
        "python",
        "class A:\n    def f(self):\n        return 1\n",
        "class A:\n  def f(self):\n    return 1\n",
        "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n",
    );
    // Another order.
    none(
        "json",
        "{\n  \"a\": {\"x\": 1},\n  \"b\": {\"x\": 2}\n}\n",
        "{\n  \"b\": {\"x\": 2},\n  \"a\": {\"x\": 1}\n}\n",
        "{\n  \"a\": {\"x\": 1, \"y\": 3},\n  \"b\": {\"x\": 2}\n}\n",
    );
    // Several on one line.
    none(
        "rust",
        "fn a() {} fn b() {}\n",
        "fn a() {} // note\nfn b() {}\n",
        "fn a() {} fn c() {} fn b() {}\n",
    );
    // One name twice, in other spellings.
    none("go", "package p\n", "package p\n\nfunc (s *S) B() {}\n", "package p\n\nfunc (x *S) B() {}\n");
    none("javascript", "x = {\n  a,\n};\n", "x = {\n  a,\n  b,\n};\n", "x = {\n  a,\n  b: 7,\n};\n");
    none(
        "python",
        "X = {\n    'a': 1,\n}\n",
        "X = {\n    'a': 1,\n    'b': 2,\n}\n",
        "X = {\n    'a': 1,\n    \"b\": 3,\n}\n",
    );
    none(
        "java",
        "class A {\n  void f(int a) {}\n  void f(char a) {}\n}\n",
        "class A {\n  void f(int a) {}\n  void f(char a) {}\n  void f(long a) {}\n}\n",
        "class A {\n  void f(int a) {}\n  void f(char a) {}\n  void f(long b) {}\n}\n",
    );
    none("python", "import x\n", "import x\nfrom a import n\n", "import x\nfrom b import n\n");
    none(
        "typescript",
        "import x from 'x';\n",
        "import x from 'x';\nimport { n } from 'a';\n",
        "import x from 'x';\nimport n from 'b';\n",
    );
    none("rust", "use x;\n", "use x;\nuse a::N;\n", "use x;\nuse b::N;\n");
    // Numbers and spreads, which depend on the order.
    none("rust", "enum E {\n    A,\n}\n", "enum E {\n    A,\n    B,\n}\n", "enum E {\n    A,\n    C,\n}\n");
    none(
        "javascript",
        "x = {\n  a: 1,\n};\n",
        "x = {\n  a: 1,\n  ...o,\n};\n",
        "x = {\n  a: 1,\n  b: 2,\n};\n",
    );
    none("python", "import x\n", "from __future__ import annotations\nimport x\n", "import sys\nimport x\n");
    // Two changes of one expression.
    none("python", "x = (a +\n     b)\n", "x = (c +\n     b)\n", "x = (a -\n     b)\n");
    none("javascript", "f(a, b,\n  c);\n", "f(a1, b,\n  c);\n", "f(a, b1,\n  c);\n");
    // Languages in which an entry belongs to what is above it.
    none("toml", "x = 1\n", "x = 1\n\n[a]\ny = 1\n", "x = 1\nz = 2\n");
    none("yaml", "r:\n  a: 1\n", "r:\n  a: 1\n  b: 2\n", "r:\n  a: 1\n  c: 3\n");
    none("python", "def f():\r\n    pass\r\n", "def f():\r\n    a()\n", "def f():\r\n    b()\r\n");
}

#[test]
fn ends_of_lines_and_byte_order_marks_are_kept() {
    let text = |names: &[&str]| names.iter().map(|it| format!("import {it}\r\n")).collect::<String>();
    let [base, ours, theirs, want] =
        [&["a"][..], &["a", "b"], &["a", "c"], &["a", "b", "c"]].map(|it| format!("\u{feff}{}", text(it)));
    assert_eq!(merged("python", &base, &ours, &theirs).unwrap(), want);
    assert_eq!(merged("python", &base, &text(&["a", "b"]), &theirs), None);
}

/// A merge whose time grew with the square of the number of entries would not end here.
#[test]
fn long_lists_are_merged_in_linear_time() {
    let names = |more: &str| {
        let entries = (0..40_000).map(|it| format!("\"n{it}\"")).collect::<Vec<_>>().join(",\n");
        format!("{{\"names\": [\n{entries}{more}\n]}}\n")
    };
    let [ours, theirs] = [",\n\"b\"", ",\n\"c\""];
    let both = names(&format!("{ours}{theirs}"));
    assert_eq!(merged("json", &names(""), &names(ours), &names(theirs)).unwrap(), both);
}
