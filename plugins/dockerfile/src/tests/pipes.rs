//! What is said of pipes.

use super::check;

/// DL4006: a group fails as what is in it does.
#[test]
fn groups_and_pipes() {
    let run = |script: &str| check(&format!("FROM a:1\nRUN {script}\n"));
    for script in [
        "{ printf 1; { echo 2; }; true; } 2>&1 | c",
        "(echo a; echo b) | c",
        "( (echo a); x=1; echo $x ) >&2 | c",
        "for i in 1 2; do echo $i; done | c",
        "if a; then echo b; elif c; then echo d; else echo e; fi | f",
        "while read x; do echo $x; done </f | c",
        "case $a in (b|c) echo b;; *) echo d; esac | e",
        "case $a in b) echo b;; esac | e",
        "{ a || true; echo b; } | c",
        "a && { echo b; } | c",
        "f() { echo; }; { echo a; } | c",
        "{ echo a <(b); } && { echo }; echo '}'; } | c",
    ] {
        assert_eq!(run(script), "", "{script}");
    }
    for script in [
        "{ echo a; b; } | c",
        "(echo a && b) | c",
        "{ x=$(a); echo $x; } | c",
        "{ echo a | b; } | c",
        "{ a || b; } | c",
        "for i in 1; do a $i; done | c",
        "if a; then b; fi | c",
        "case $a in b) c;; *) echo;; esac | d",
        "{ (a); } | c",
        "{ echo a; } && b | c",
        "echo } | { b | c; }",
        "{ echo a; } | b | c",
        "{ echo a; exit 1; } | c",
        "a <(echo b) | c",
    ] {
        assert_eq!(run(script), "2 DL4006 \"|\"", "{script}");
    }
}
