//! Replacements of texts and edits of definitions.

use std::fmt::Write as _;

use overlay::Memory;

use super::*;

/// The text after an edit, or the reason and the advice.
fn edited(path: &str, text: Option<&str>, edit: &Targeted) -> String {
    let view = Memory::from_files(text.map(|it| (path, it.to_owned()))).unwrap();
    let trees = Trees::new(1 << 20);
    match plan_targeted(&view, &WorkspacePath::new(path).unwrap(), edit, None, &trees, &|| false) {
        Ok(FileChange::Write { applied, .. }) => {
            assert_eq!(applied.new_syntax_errors, [], "{}", applied.text);
            applied.text
        }
        Ok(other) => panic!("{other:?}"),
        Err(refused) => format!("{refused}; {}", refused.advice()),
    }
}

fn replaced(text: &str, old: &str, new: &str, all: bool) -> String {
    let (old, new) = (old.to_owned(), new.to_owned());
    edited("a.py", Some(text), &Targeted::Text(TextReplacement { old, new, all }))
}

fn defined(path: &str, text: &str, name: &str, place: DefinitionPlace, code: &str) -> String {
    let edit = DefinitionEdit { name: name.to_owned(), place, code: code.to_owned() };
    edited(path, Some(text), &Targeted::Definition(edit))
}

#[test]
fn a_text_is_replaced_where_it_stands_once() {
    assert_eq!(replaced("a = 1\nb = 1\n", "a = 1", "a = 2", false), "a = 2\nb = 1\n");
    assert_eq!(replaced("a = 1\nb = 1\n", "a = 1\n", "", false), "b = 1\n");
    assert_eq!(replaced("a = 1\nb = 1\n", "1", "2", true), "a = 2\nb = 2\n");
    assert_eq!(replaced("a\r\nb\r\n", "a\nb", "c\nd", false), "c\r\nd\r\n");
    let new = TextReplacement { old: String::new(), new: "x = 1\n".to_owned(), all: false };
    assert_eq!(edited("new.py", None, &Targeted::Text(new.clone())), "x = 1\n");
    assert_eq!(edited("a.py", Some("\n"), &Targeted::Text(new.clone())), "x = 1\n");
    assert!(edited("a.py", Some("y = 1\n"), &Targeted::Text(new)).starts_with("`old_string` is empty"));
}

#[test]
fn line_ends_are_those_of_the_file() {
    assert_eq!(replaced("a\r\nb\nc\n", "a\nb", "a\nx\nb", false), "a\r\nx\r\nb\nc\n");
    assert_eq!(replaced("a\nb\n", "a\r\nb", "c\r\nd", false), "c\nd\n");
    assert_eq!(replaced("a\r\nb\n", "a\nb", "", false), "\n");
    assert_eq!(replaced("a\r\nb\nc\r\n", "\nb\n", "\n", false), "a\r\nc\r\n");
    let mixed = "a\r\nb\na\nb\n";
    assert_eq!(replaced(mixed, "a\r\nb", "x\r\nb", false), "x\r\nb\na\nb\n", "it stands so once");
    assert_eq!(replaced(mixed, "a\nb", "x\nb", true), "x\r\nb\nx\nb\n");
    assert!(replaced(mixed, "a\nb", "x", false).contains("is in the file 2 times, at lines 1, 3"));
    assert_eq!(replaced("a\r\nb\n", "a\r\n", "a\n", false), "a\nb\n", "the end is what changes");
    let python = "def f():\r\n    a()\r\n\nx = 1\n";
    let code = "def f():\n    a()\n    b()";
    let want = "def f():\r\n    a()\r\n    b()\r\n\nx = 1\n";
    assert_eq!(defined("a.py", python, "f", DefinitionPlace::Whole, code), want);
}

#[test]
fn hints_name_the_places_that_are_most_alike() {
    let hint = |text: &str, old: &str| {
        let refusal = replaced(text, old, "x", false);
        refusal
            .split("; Read the file")
            .next()
            .unwrap()
            .trim_start_matches("`old_string` is not in the file")
            .to_owned()
    };
    let text = "@overload\ndef f(a: int) -> int: ...\n@overload\ndef f(a: str) -> str: ...\n";
    let of = |kind: &str| format!("@overload\ndef f(a: {kind}) -> {kind}: ...");
    insta::assert_snapshot!(
        [
            hint(text, &of("str").replace("...", "pass")),
            hint(text, &of("bytes")),
            hint(text, "def f(a: str) -> str: pass"),
            hint("def f():\n    return 1\n\ndef f():\n    return 2\n", "def f():\n    return 3"),
            hint("def f():\n    return 1\n\ndef f():\n    return 2\n", "def g():\n    return 2"),
            hint("a = 1\r\nb = 1\n\rc = 1\r\nd = 2\n", "c = 1\nd = 3"),
            hint("a = 1\n", "a = 1\nb = 2"),
        ]
        .join("\n")
    );
}

#[test]
fn what_is_not_found_or_found_often_names_lines() {
    let often = replaced("a = 1\nb = 1\n", "1", "2", false);
    assert!(often.starts_with("`old_string` is in the file 2 times, at lines 1, 2; "), "{often}");
    let text = "def f():\n    a = 1\n    b = 2\n";
    let of = |old: &str| replaced(text, old, "x", false).split("; ").next().unwrap().to_owned();
    let differs = "it is like line 1 on, but line 3 is `b = 2`, not `c = 2`";
    assert_eq!(of("def f():\n    a = 1\n    c = 2"), format!("`old_string` is not in the file: {differs}"));
    assert_eq!(of("a = 1\nb = 2"), "`old_string` is not in the file: line 2 has it with other blanks");
    assert_eq!(of("f():\n    b"), "`old_string` is not in the file: its first line is only a part of line 1");
    assert_eq!(of("nothing of it"), "`old_string` is not in the file");
    assert!(replaced(text, "a = 1", "a = 1", false).starts_with("the edit changes nothing"));
}

#[test]
fn a_definition_is_edited_by_its_name() {
    use DefinitionPlace::{After, Before, Body, Whole};
    let python = "import os\n\n\n# Adds.\n@cache\ndef add(a, b):\n    return a + b\n\n\nclass A:\n    def f(self): pass\n\n    def g(self):\n        return 1\n";
    let rust = "/// Doc.\n#[inline]\nfn f() {\n    one();\n}\n\nimpl Shape for A {\n    fn area(&self) -> u32 { 1 }\n}\n";
    let script =
        "// Doc.\nexport const f = (a: number) => a;\n\nexport class A {\n\tm() {\n\t\treturn 1;\n\t}\n}\n";
    let cpp = "template <class T>\nstruct A {\n  int m;\n};\n";
    let cases = [
        ("a.py", python, "add", Whole, "def add(a, b, c):\n    return a + b + c\n"),
        ("a.py", python, "add", Whole, "# Sums.\ndef add(*all):\n    return sum(all)\n"),
        ("a.py", python, "add()", Before, "def one():\n    return 1"),
        ("a.py", python, "A.g", After, "def h(self):\n    return 2"),
        ("a.py", python, "A.f", Body, "x = 1\nreturn x"),
        ("a.py", python, "g", Body, "return 2"),
        ("a.rs", rust, "f", Body, "two();\nthree();"),
        ("a.rs", rust, "A::area", Body, "2"),
        ("a.rs", rust, "area", Before, "fn name(&self) -> &str {\n    \"a\"\n}"),
        ("a.rs", rust, "f", Whole, "fn f(a: u32) {\n    a;\n}"),
        ("a.ts", script, "f", Whole, "export const f = (a: number) => a + 1;"),
        ("a.ts", script, "f", Body, "a + 2"),
        ("a.ts", script, "A.m", Body, "{\n\treturn 2;\n}"),
        ("a.ts", script, "A.m", After, "n() {\n\treturn 3;\n}"),
        ("a.cpp", cpp, "A", Whole, "template <class T>\nstruct A {\n  T m;\n};"),
    ];
    let mut shown = String::new();
    for (path, text, name, place, code) in cases {
        writeln!(shown, "==== {path} {name} {place:?}\n{}", defined(path, text, name, place, code)).unwrap();
    }
    insta::assert_snapshot!(shown);
}

/// The text with code in the place of a definition.
fn redefined(path: &str, text: &str, code: &str) -> String {
    defined(path, text, "f", DefinitionPlace::Whole, code)
}

#[test]
fn what_stands_above_a_definition_stays_unless_the_code_has_its_own() {
    let rust = "/// Doc.\n/// More.\n// TODO\n#[inline]\n#[allow(\n    dead_code\n)]\nfn f() {}\n";
    let python = "# Adds.\n@route(\n    \"/)\",\n)\ndef f():\n    pass\n";
    let java = "class A {\n    /** Doc. */\n    @Override\n    public int f() { return 1; }\n}\n";
    let script = "class A {\n\t/**\n\t * Doc.\n\t */\n\t@Input() f = 1;\n}\n";
    let elixir = "defmodule A do\n  @doc \"\"\"\n  Doc.\n  \"\"\"\n  @spec f() :: 1\n  def f(), do: 1\nend\n";
    let cases = [
        ("a.rs", rust, "fn f() { 1 }"),
        ("a.rs", rust, "#[cold]\nfn f() {}"),
        ("a.rs", rust, "/// New.\nfn f() {}"),
        ("a.rs", rust, "/// New.\n#[cold]\nfn f() {}"),
        ("a.rs", rust, "/// TODO\nfn f() {}"),
        ("a.rs", "#[inline]\nfn f() {}\n", "/// New.\nfn f() {}"),
        ("a.py", python, "@new\ndef f():\n    pass"),
        ("a.py", python, "# Sums.\ndef f():\n    pass"),
        ("a.py", python, "@new\ndef f():\n    \"\"\"Adds.\"\"\""),
        ("a.py", &python.replace('\n', "\r\n"), "# Sums.\ndef f():\n    pass"),
        ("A.java", java, "public int f() { return 2; }"),
        ("A.java", java, "@Deprecated\npublic int f() { return 2; }"),
        ("A.java", java, "@Deprecated public int f() { return 2; }"),
        ("A.java", java, "/** New. */\npublic int f() { return 2; }"),
        ("a.ts", script, "@Input() f = 2;"),
        ("a.ts", script, "/** New. */\nf = 2;"),
        ("a.ex", elixir, "@spec f() :: 2\ndef f(), do: 2"),
        ("a.cs", "class A {\n  // Doc.\n  [B]\n  int f() { return 1; }\n}\n", "[C] int f() { return 2; }"),
        ("a.ex", elixir, "@doc \"New.\"\ndef f(), do: 2"),
    ];
    let mut shown = String::new();
    for (path, text, code) in cases {
        writeln!(shown, "==== {path} {}\n{}", code.replace('\n', "⏎"), redefined(path, text, code)).unwrap();
    }
    insta::assert_snapshot!(shown.replace('\r', "␍"));
}

#[test]
fn a_definition_that_is_not_there_or_several_times_is_told() {
    let text = "class A:\n    def f(self):\n        pass\n\n\nclass B:\n    def f(self):\n        pass\n";
    let of = |name: &str, path: &str| defined(path, text, name, DefinitionPlace::Body, "return 1");
    assert!(of("f", "a.py").starts_with("the file defines `f` 2 times, at lines 2, 7; Name what is around"));
    assert!(of("g", "a.py").starts_with("the file does not define `g`, but A, f, B, f; "));
    assert!(of("f", "a.txt").starts_with("definitions of `a.txt` are not known; "));
    assert!(of("B.f", "a.py").contains("class B:\n    def f(self):\n        return 1\n"));
    let none = defined("a.rs", "struct A;\n", "A", DefinitionPlace::Body, "x");
    assert!(none.starts_with("`A` has no body; "), "{none}");
}
