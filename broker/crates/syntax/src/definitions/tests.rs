//! Definitions of a small text of each language.

use std::fmt::Write as _;

use super::*;

/// Each definition with its kind, its name, its lines from 1 and the line of its name, indented below the one around it.
fn shown(language: &str, text: &str) -> String {
    let language = Language::named(language).unwrap();
    let tree = Tree::parse(language, text.to_owned().into(), &|| false).unwrap();
    let all = definitions(&tree);
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    let mut shown = String::new();
    for it in &all {
        let depth = std::iter::successors(it.parent, |at| all[*at].parent).count();
        let (indent, kind, name) = ("  ".repeat(depth), it.kind.name(), it.full_name());
        let last = text[..it.whole.end].trim_end().len();
        let (first, last, at) = (line(it.whole.start), line(last), line(it.name_range.start));
        let body = if it.body.is_some() { " {}" } else { "" };
        writeln!(shown, "{indent}{kind} {name} {first}-{last} @{at}{body}").unwrap();
    }
    let broken = if tree.has_error() { "the text has errors\n" } else { "" };
    format!("{broken}{shown}")
}

/// A snapshot of the definitions of `samples/NAME`.
macro_rules! samples {
    ($($name:ident $language:literal $file:literal;)*) => {
        $(
            #[test]
            fn $name() {
                insta::assert_snapshot!(shown($language, include_str!(concat!("samples/", $file))));
            }
        )*
    };
}

samples! {
    c "c" "sample.c";
    cpp "cpp" "sample.cpp";
    csharp "csharp" "sample.cs";
    css "css" "sample.css";
    dart "dart" "sample.dart";
    elixir "elixir" "sample.ex";
    go "go" "sample.go";
    graphql "graphql" "sample.graphql";
    java "java" "sample.java";
    javascript "javascript" "sample.js";
    kotlin "kotlin" "sample.kt";
    lua "lua" "sample.lua";
    php "php" "sample.php";
    proto "proto" "sample.proto";
    python "python" "sample.py";
    ruby "ruby" "sample.rb";
    rust "rust" "sample.rs";
    scala "scala" "sample.scala";
    shellscript "shellscript" "sample.sh";
    swift "swift" "sample.swift";
    terraform "terraform" "sample.tf";
    typescript "typescript" "sample.ts";
    typescriptreact "typescriptreact" "sample.tsx";
    zig "zig" "sample.zig";
}

#[test]
fn each_query_fits_its_grammar() {
    let wrong = Language::all().filter_map(|it| Some((it, rules::made(it)?.err()?)));
    let wrong: Vec<_> = wrong.map(|(language, error)| format!("{language:?}: {error}")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn comments_above_belong_to_a_definition() {
    let leads = |language: &str, text: &str| {
        let tree =
            Tree::parse(Language::named(language).unwrap(), text.to_owned().into(), &|| false).unwrap();
        all_definitions(&tree)
            .into_iter()
            .map(|it| text[it.whole.start..it.head].to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(leads("yaml", "# a\na:\n  b: 1\n# c\n# d\ne: 2 # e\nf: 3\n"), ["# a\n", "", "# c\n# d\n", ""]);
    assert_eq!(leads("python", "def a():\n    b()\n    # c\ndef d():\n    pass\n"), ["", ""]);
}

#[test]
fn bodies_are_those_of_values_and_blocks() {
    let body = |language: &str, text: &str| {
        let tree =
            Tree::parse(Language::named(language).unwrap(), text.to_owned().into(), &|| false).unwrap();
        let all = definitions(&tree);
        all.iter().map(|it| it.body.clone().map_or("", |it| &text[it]).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(body("typescript", "const f = () => 1;\nit('x', () => { a });\n"), ["1", "{ a }"]);
    assert_eq!(body("typescript", "export const C = memo(() => { b });\n"), ["{ b }"]);
    assert_eq!(body("rust", "fn f() { 1 }\nstruct S;\n"), ["{ 1 }", ""]);
    assert_eq!(body("kotlin", "fun f() = 1\n"), ["= 1"]);
}

/// Minor definitions are those of edits; the form of a test is what it is without regard to that.
#[test]
fn edits_have_more_definitions_than_outlines() {
    let all = |language: &str, text: &str| {
        let tree =
            Tree::parse(Language::named(language).unwrap(), text.to_owned().into(), &|| false).unwrap();
        let count = definitions(&tree).len();
        let all = all_definitions(&tree);
        let shown = all.iter().map(|it| {
            let parameters = it.parameters.clone().map_or("", |it| &text[it]);
            format!("{} {} {}{parameters}", it.kind.name(), it.form.name(), it.full_name())
        });
        format!("{count}: {}", shown.collect::<Vec<_>>().join(", "))
    };
    let python = "def test_a(b):\n    'c'\n    'd'\n";
    assert_eq!(all("python", python), "1: test function test_a(b), docstring docstring 'c'");
    let script = "let a = 1;\napp.get('/b', (c) => {});\nit('d', () => {});\n";
    assert_eq!(all("typescript", script), "1: value value a, call call app.get '/b', test test it 'd'");
    let yaml = "a:\n  - b: c\n    d: e\n";
    assert_eq!(all("yaml", yaml), "0: entry entry a, entry entry b c.b, entry entry b c.d");
    assert_eq!(all("json", "{\"a\": 1}"), "0: entry entry \"a\"");
    let rust = "#[cfg(test)]\nmod tests {\n    const A: u8 = 1;\n}\n";
    assert_eq!(all("rust", rust), "2: test module tests, constant constant A");
}

/// A time that grew with the square of the number of entries would not end here.
#[test]
fn long_documents_take_linear_time() {
    let json = |text: String| {
        let tree = Tree::parse(Language::named("json").unwrap(), text.into(), &|| false).unwrap();
        all_definitions(&tree).len()
    };
    let entries: Vec<_> = (0..100_000).map(|it| format!("\"n{it}\": {it}")).collect();
    assert_eq!(json(format!("{{\n{}\n}}\n", entries.join(",\n"))), entries.len());
}

#[test]
fn definitions_are_bounded_by_depth_alone() {
    let count = |language: &str, text: String| {
        let tree = Tree::parse(Language::named(language).unwrap(), text.into(), &|| false).unwrap();
        definitions(&tree).len()
    };
    assert_eq!(count("python", "A = 1\n".repeat(20_000)), 20_000);
    let calls = format!("export const A = {}{};", "f(".repeat(3_000), ")".repeat(3_000));
    assert_eq!(count("typescript", calls), 1);
    let deep = |most: usize| format!("{}{}", "function f() {".repeat(most), "}".repeat(most));
    assert_eq!(count("typescript", deep(100)), 100);
    assert!(count("typescript", deep(3_000)) < 200);
}
