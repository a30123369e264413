//! Findings that depend on what a script's conditions are.

use super::*;

fn sh(lines: &str) -> String {
    check(&format!("#!/bin/sh\n{lines}\n"))
}

/// A script whose conditions ask which shell runs it knows what that shell has.
#[test]
fn scripts_that_ask_for_the_shell() {
    for condition in [
        "if [ -n \"$BASH_VERSION\" ]; then :; fi",
        "if x; then :; elif test \"${ZSH_VERSION-}\"; then :; fi",
        "is_ksh() { [ \"${KSH_VERSION:-no}\" != no ]; }",
        "[ -z \"$BASH\" ] && exec bash \"$0\"",
        "x; echo \"$BASH_VERSION\" | grep -q '^5' || exit 1",
        "case ${BASH_VERSION:-none} in 5*) ;; esac",
        "case $(basename \"$BASH\") in sh) ;; esac",
        "while [ \"${BASH_VERSINFO:-0}\" -lt 4 ]; do :; done",
        "has_bash=${BASH_VERSION:+yes}",
        "if [ -n \"${BASH_SOURCE-}\" ]; then :; fi",
        "[[ -n $ZSH_VERSION || $x ]] || :",
        "if (( BASH_VERSINFO > 3 )); then :; fi",
        "if [ \"$(expr \"${BASH_VERSION}\" : 5)\" = 1 ]; then :; fi",
    ] {
        assert_eq!(sh(&format!("{condition}\nx=(1 2)\nlet x++")), "", "{condition}");
    }
    for other in [
        "# if [ -n \"$BASH_VERSION\" ]",
        "echo \"bash $BASH_VERSION\"",
        "cd /x && echo \"$BASH_VERSION\" && :",
        "[ x = '$BASH_VERSION' ]",
        "f() { cd \"$BASH_HOME\" || exit; }",
        "if [ \"$BASHRC\" = x ]; then :; fi",
        "export BASH_ENV=/x ZSH_THEME=y",
    ] {
        assert_eq!(sh(&format!("{other}\nx=(1 2)")), "3 SC3030 \"(1 2)\"", "{other}");
    }
    for line in ["here=$(dirname \"${BASH_SOURCE[0]}\")", "if [ \"${BASH_SOURCE[0]}\" = \"$0\" ]; then :; fi"]
    {
        assert!(sh(&format!("{line}\nif [[ a ]]; then :; fi")).contains("3 SC3010"), "{line}");
    }
}

/// SC2105: `break` in the condition of a loop ends the loop.
#[test]
fn loops_that_end_in_their_conditions() {
    for lines in [
        "while case $# in 0) break ;; esac do shift; done",
        "until\n  [ -e /x ] || break\n  y\ndo :; done",
        "while { a || break; }; do :; done",
        "for i in 1; do while b || break; do :; done; done",
    ] {
        assert_eq!(sh(lines), "", "{lines}");
    }
    for lines in [
        "echo \"do not wait while it runs\"; if a; then break; fi",
        "echo until then; break",
        "x='for y'; [ -e /a ] && break",
        "cat <<E; break\nwhile this\nE",
        "while a; do :; done; break",
        "until a || b; do :; done\nif c; then break; fi",
    ] {
        assert!(sh(lines).contains("SC2105 \"break\""), "{lines}: {}", sh(lines));
    }
}
