//! Fixes of the plugin's own, and severities.

use super::*;

/// The text after the fix of the finding of the rule `code`, or why there is none.
fn fixed(code: &str, text: &str) -> String {
    let path = "a.ts";
    let mut repo = Repo::new(&[(path, text)]).with(select(&[code]));
    let report = repo.report(path, "").unwrap();
    let [found] = &report.diagnostics[..] else { panic!("{report:?}") };
    let [fix] = &found.fixes[..] else { return "none".to_owned() };
    let mut text = text.to_owned();
    for edit in fix.edits.iter().rev() {
        text.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.replacement);
    }
    match fix.applicability {
        Applicability::Safe => text,
        other => format!("{other:?} {text}"),
    }
}

#[test]
fn unused_imports_go() {
    let fixed = |text: &str| fixed("no-unused-vars", text);
    assert_eq!(fixed("import { a, b } from 'c';\nb();\n"), "import { b } from 'c';\nb();\n");
    assert_eq!(fixed("import { a, b as d } from 'c';\na();\n"), "import { a } from 'c';\na();\n");
    assert_eq!(fixed("import { a, b, d } from 'c';\na(d);\n"), "import { a, d } from 'c';\na(d);\n");
    assert_eq!(fixed("import a, { b } from 'c';\na();\n"), "import a from 'c';\na();\n");
    assert_eq!(fixed("import a, { b } from 'c';\nb();\n"), "import { b } from 'c';\nb();\n");
    assert_eq!(fixed("import a, * as b from 'c';\nb.d();\n"), "import * as b from 'c';\nb.d();\n");
    assert_eq!(fixed("import { a, /* why */ b } from 'c';\na();\n"), "none");
    assert_eq!(fixed("import type { A } from 'c';\nf();\n"), "f();\n");
    let unsafe_fix = "Applicability::Unsafe ";
    assert_eq!(fixed("import a from 'c';\nf();\n"), format!("{unsafe_fix}f();\n"), "the module runs");
    assert_eq!(fixed("import a from 'c'; f();\n"), format!("{unsafe_fix} f();\n"));
    assert_eq!(fixed("const ä = 1; export {};\n"), "none", "no import");
}

#[test]
fn names_that_are_not_assigned_again_are_constants() {
    let fixed = |text: &str| fixed("prefer-const", text);
    assert_eq!(fixed("let a = 1; f(a);"), "const a = 1; f(a);");
    assert_eq!(fixed("for (let a of b) f(a);"), "for (const a of b) f(a);");
    assert_eq!(fixed("let a; a = 1; f(a);"), "none");
    assert_eq!(fixed("let a = 1, b = 2; b = 3; f(a, b);"), "none");
}

#[test]
fn var_becomes_let_where_nothing_sees_it_earlier() {
    let fixed = |text: &str| fixed("no-var", &format!("{text}\nexport {{}};\n"));
    let is = |text: &str| format!("{text}\nexport {{}};\n");
    assert_eq!(fixed("var a = 1; f(a);"), is("let a = 1; f(a);"));
    assert_eq!(
        fixed("function f() { var a; return () => a; }"),
        is("function f() { let a; return () => a; }")
    );
    assert_eq!(fixed("g(() => { var a = 1; h(a); });"), is("g(() => { let a = 1; h(a); });"));
    for text in [
        "f(a); var a = 1;",
        "if (b) { var a = 1; } f(a);",
        "for (var a = 0; a < 1; a++) f(a);",
        "var { a } = b; f(a);",
        "f(); var a = 1; function f() { return a; }",
        "function f(a) { var a = 1; return a; }",
        "export var a = 1;",
        "var a = a || {}; f(a);",
        "switch (b) { case 1: var a = 1; f(a); }",
    ] {
        assert_eq!(fixed(text), "none", "{text}");
    }
}

#[test]
fn equality_is_strict_where_both_are_of_one_type() {
    let fixed = |text: &str| fixed("eqeqeq", text);
    assert_eq!(fixed("f(typeof a == 'string');"), "f(typeof a === 'string');");
    assert_eq!(fixed("f('ä' != typeof a);"), "f('ä' !== typeof a);");
    assert_eq!(fixed("f(a == 1);"), "Applicability::Unsafe f(a === 1);");
    assert_eq!(fixed("f(a /* b */ == 1);"), "none");
    assert_eq!(fixed("f(a == null);"), "none");
}

#[test]
fn what_throws_is_an_error() {
    let severity = |text: &str| {
        let report = Repo::new(&[("a.ts", text)]).report("a.ts", "").unwrap();
        report.diagnostics[0].severity
    };
    assert_eq!(severity("const a = 1;\na = 2;\n"), Severity::Error);
    assert_eq!(severity("f({ a: 1, a: 2 });\n"), Severity::Warning);
}
