//! Rules that report some forms only, and rules that comments of ESLint turn off.

use super::*;

#[test]
fn comments_configure_rules_of_eslint() {
    let text = "debugger;\n/* eslint no-debugger: 0, @typescript-eslint/no-dupe-keys: [\"off\"] */\nf({ a: 1, a: 2 });\n";
    let line = text.replace("/*", "//").replace(" */", "");
    let mut repo =
        Repo::new(&[("a.js", text), ("b.js", &line), ("deno/deno.json", "{}"), ("deno/a.js", text)]);
    assert_eq!(repo.check("a.js"), "", "in the whole file");
    assert_eq!(repo.check("b.js"), "no-debugger no-dupe-keys", "no such comment of ESLint's");
    assert_eq!(repo.check("deno/a.js"), "no-debugger no-dupe-keys", "another linter's");
}

/// Rules of which only the form is told that has no other use.
#[test]
fn what_is_a_mistake_in_one_form() {
    let found = |text: &str| Repo::new(&[("a.ts", &format!("export {{}};\n{text}\n"))]).check("a.ts");
    for (code, wrong) in [
        ("getter-return", "f({ get a() { if (b) { return 1; } } });"),
        (
            "getter-return",
            "f(class { get a() { if (b) return 1; c(); } static get #d() { if (e) return 2; } });",
        ),
        ("no-cond-assign", "if (a = b) c();"),
        ("no-cond-assign", "while (a = true) c();"),
        ("no-cond-assign", "f((a = b) ? 1 : 2);"),
        ("no-ex-assign", "try { a(); } catch (e) { e = 'b'; }"),
        ("no-func-assign", "export function a() {}\na = 1;"),
        ("no-sparse-arrays", "f([1, , 2]);"),
        ("require-yield", "export function* a() { return 1; }"),
    ] {
        assert_eq!(found(wrong).split(' ').next(), Some(code), "{wrong}");
    }
    for right in [
        "f({ get a() { warn('old'); } });",
        "f(class { get a(): number | undefined { if (b) return 1; } get c() { d(() => { return 1; }); } });",
        "f(class { get a() { try { return 1; } finally { b(); } } get c() { while (true) { if (d) return 1; } } });",
        "f(class { get a() { switch (b) { case 1: return 1; default: return 2; } } get c() { for (;;) d(); } });",
        "a.b.create(c, { get() { if (d) return 1; } });",
        "Object.defineProperty(a, 'b', { get: () => { if (d) return 1; } });",
        "while (a = b.exec(c)) d(); if (a = b.match(c)) d(); while (a = b) c(); if ((a = b)) c();",
        "for (; a = b[c]; ) d(); do { e(); } while (a = a.next); while (a += 1) c();",
        "try { a(); } catch (e) { e = wrap(e); throw e; }",
        "try { a(); } catch (e) { e = null; ({ e } = b); e += 'c'; }",
        "export function a() { a = b; return a(); }\nexport function c() {}\nc = null; c = function () {}; c = c || d;",
        "f([, 1], [1, , , 2], [, ,], [1, , 2, , 3], [1, 2, ,], [1, , 2, ,], [1, /* none */, 2]); f([1,\n    ,\n  2]); const [, a] = b; a();",
        "f(function* () { return 1; }); f({ *a() { return 1; } }); f(class { *a() { return 1; } });",
        "export function* a() {}\nexport function* b() { return; }\nexport function* c() { if (d) throw e; return 1; }",
        "export function* a() { return yield* b(); }\nexport function* c() { return (yield 1); }",
    ] {
        assert_eq!(found(right), "", "{right}");
    }
    let text = "while (a = b.next()) c();\nf([, 1]);\n";
    let mut repo = Repo::new(&[("deno.json", "{}"), ("a.ts", text)]);
    assert_eq!(repo.check("a.ts"), "no-cond-assign", "as deno says");
    assert_eq!(
        repo.with(select(&["no-sparse-arrays"])).check("a.ts"),
        "no-sparse-arrays",
        "who asks is told"
    );
}

/// In no form, though all that the crate finds is asked for.
#[test]
fn what_is_no_mistake_in_any_form() {
    let codes = &crate::meant::RULES;
    for right in [
        "f({ get a() { return b.c; } }); Object.defineProperty(d, 'e', { get: function () { return f; } });",
        "f(class { get a() { if (b) { return 1; } else { return 2; } } get c() { throw d; } });",
        "let a; if (a === 0) f(); do { } while ((a = b.c) !== null); while ((a = b)) f(); ((a = b)) ? f() : g();",
        "if (a || (a = b)) f(); if ((c => a = c)(d)) f(); for (let i = 0; (a = b[i]); i++) f();",
        "try { f(); } catch (e) { var e2 = 10; { let e = 1; e = 2; f(e); } f(e2); }",
        "var a = function () {}; a = b; function c(c) { c = b; } function d() { var d = b; } c(d);",
        "f([], ['a', 'b',], new Array(23)); const [, x] = y; [, z] = y; f(x);",
        "function* a() { yield 5; return 10; } function b() { return 10; } function* c() {} f(a, b, c);",
    ] {
        let mut repo = Repo::new(&[("a.js", right)]).with(select(codes));
        assert_eq!(repo.check("a.js"), "", "{right}");
    }
}
