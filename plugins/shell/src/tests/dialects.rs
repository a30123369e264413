//! Which shell a script is for.

use super::*;

#[test]
fn shells() {
    let array = "a=(1)\necho \"${a[@]}\"\n";
    assert_eq!(check(&format!("#!/bin/bash\n{array}")), "");
    assert!(check(&format!("#!/bin/sh\n{array}")).contains("SC3030"));
    assert_eq!(check(array), "", "the file does not say that it is for sh");
    assert!(check(&format!("# shellcheck shell=sh\n{array}")).contains("SC3030"));
    assert!(
        check(&format!("\n# why\n#  shellcheck  disable=SC1091  shell=sh # why\n{array}")).contains("SC3030")
    );
    assert_eq!(check(&format!("# shellcheck disable=SC1091 # shell=sh\n{array}")), "");
    assert_eq!(check(&format!("{array}# shellcheck shell=sh\n")), "");
    assert_eq!(check("#!/usr/bin/env fish\n# shellcheck shell=sh\necho\n"), "", "it says that it is for sh");
    let named = |name| lines_of(&[(name, array)], settings(), name);
    assert!(named(".profile").contains("SC3030"), "what starts any shell is for any");
    assert_eq!(named(".bashrc"), "");
    assert_eq!(check("#!/usr/bin/env fish\nset x (date)\nif test; end\n"), "excluded");
    assert_eq!(check("#!/usr/bin/env zsh\nprint -l ${(u)path}\n"), "");
    assert_eq!(
        check("#!/bin/zsh\nif [[ ! -prefix *:* ]]; then a; fi\n"),
        "excluded",
        "of zsh, and unknown to shuck"
    );
}

#[test]
fn shells_that_comments_name() {
    let array = "a=(1)\necho \"${a[@]}\"\n";
    for before in ["\n\n", "# Copyright A\n#\n\n", "# shellcheck disable=SC1091\n"] {
        assert_eq!(
            check(&format!("{before}#!/usr/bin/env bash\n[[ a == b ]] && {array}")),
            format!("{} SC1128 \"\"", before.lines().count() + 1),
            "{before:?}"
        );
        assert!(check(&format!("{before}#!/bin/sh\n{array}")).contains("SC3030"));
    }
    for line in ["# vim: set ft=bash sw=2 :", "# vim:filetype=ksh", "# -*- mode: sh; sh-shell: bash -*-"] {
        assert_eq!(
            lines_of(&[(".profile", &format!("{line}\n{array}"))], settings(), ".profile"),
            "",
            "{line}"
        );
        assert_eq!(
            lines_of(&[(".profile", &format!("{array}{line}\n"))], settings(), ".profile"),
            "",
            "{line}"
        );
    }
    for line in ["# vim: ft=sh", "# -*- mode: sh -*-", "# ft=bash", "echo vim: ft=bash"] {
        let found = lines_of(&[(".profile", &format!("{line}\n{array}"))], settings(), ".profile");
        assert!(found.contains("SC3030"), "{line}");
    }
}
