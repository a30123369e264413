//! Rules that shuck has not.

use super::*;

fn sh(lines: &str) -> String {
    check(&format!("#!/bin/sh\n{lines}\n"))
}

#[test]
fn names_that_are_read() {
    for (lines, expected) in [
        ("read -r $name\necho \"hi $name\"", "2 SC2229 \"$name\""),
        ("read -rp 'name: ' -t 5 \"${name}\"\necho \"${name:-x}\"", "2 SC2229 \"\\\"${name}\\\"\""),
        ("name=\"\"\nif x; then read -- $name; fi\n[ \"$name\" = y ]", "3 SC2229 \"$name\""),
        ("x=$(read $name; echo \"$name\")\necho \"$x\"", "2 SC2229 \"$name\""),
    ] {
        assert_eq!(check(&format!("#!/bin/bash\n{lines}\n")), expected, "{lines}");
    }
    for lines in [
        "read -r name\necho \"$name\"",
        "var=name\nread -r \"$var\"\necho \"$var\"",
        "for v in a b; do read -r $v; echo \"$v\"; done",
        "ask() { printf -v name x; read -r $name; echo \"$name\"; }\nask",
        "echo \"${name:=a}\"\nread $name",
        "ask() { read -r \"$1\"; }\nask x",
        "read -p \"$prompt\" a\necho \"$prompt$a\"",
        "read $opts a\necho \"$opts$a\"",
        "read $name",
        ". ./lib\nread $name\necho \"$name\"",
        "cat <<E\nread $name\nE\n# read $name\necho \"$name\" 'read $name'",
        "# shellcheck disable=SC2229\nread $name\necho \"$name\"",
    ] {
        assert_eq!(check(&format!("#!/bin/bash\n{lines}\n")), "", "{lines}");
    }
}

#[test]
fn comparisons_that_are_commands() {
    assert_eq!(sh("if $n == 2; then :; fi"), "2 SC2284 \"$n == 2\"");
    assert_eq!(sh("a && \"${n}\" != \"$m\" && b"), "2 SC2284 \"\\\"${n}\\\" != \\\"$m\\\"\"");
    assert_eq!(sh("while ! $n = x; do :; done"), "2 SC2284 \"$n = x\"");
    for lines in [
        "[ \"$n\" = 2 ]",
        "$test \"$n\" = 2",
        "$cmd \"==\" 2",
        "$cmd == 2 3",
        "$cmd ==",
        "echo \"$n\" == 2",
        "echo '$n == 2'\n# $n == 2",
    ] {
        assert!(!sh(lines).contains("SC2284"), "{lines}: {}", sh(lines));
    }
    assert!(!check("#!/bin/zsh\n$n == 2\n").contains("SC2284"));
}

#[test]
fn assignments_by_set() {
    assert_eq!(sh("set name=x"), "2 SC2121 \"name=x\"");
    assert_eq!(sh("if a; then set PATH=\"/x:$PATH\"; fi"), "2 SC2121 \"PATH=\\\"/x:$PATH\\\"\"");
    for (line, name) in [("set list+=x", "`list`"), ("set list=x", "`list`")] {
        let text = format!("#!/bin/bash\n{line}\n");
        let found = report(&[("a.sh", &text)], settings(), "a.sh").unwrap().diagnostics;
        assert!(found[0].message.contains(&format!("and {name} stays")), "{}", found[0].message);
    }
    for lines in
        ["set -- a=1", "set a=1 b=2", "set \"a=1\"", "set -e", "set $x", "set a", "name=x", "set --opt=x"]
    {
        assert!(!sh(lines).contains("SC2121"), "{lines}: {}", sh(lines));
    }
}

#[test]
fn first_lines() {
    for first in ["#/bin/sh", "#/usr/bin/env bash", "#/usr/local/bin/bash -eu"] {
        assert_eq!(check(&format!("{first}\nls\n")), "1 SC1113 \"#\"", "{first}");
    }
    for first in
        ["#!/bin/sh", "# /bin/sh", "#/bin/sh runs this", "#/etc/rc", "#/", "#", "#!/bin/sh\n#/bin/bash"]
    {
        assert!(!check(&format!("{first}\nls\n")).contains("SC1113"), "{first}");
    }
    assert_eq!(check("#/bin/sh\n# shellcheck disable=SC1113\nls\n"), "");
}

#[test]
fn which_of_them_hold() {
    let script = "#!/bin/sh\nset a=1\n";
    let with = |config: (&str, &str), settings| lines_of(&[("a.sh", script), config], settings, "a.sh");
    let none = ("x", "");
    assert_eq!(with(none, select(&["SC2121"])), "2 SC2121 \"a=1\"");
    assert_eq!(with(none, select(&["assignment-by-set"])), "2 SC2121 \"a=1\"");
    assert_eq!(with(none, select(&["SC2086"])), "");
    assert_eq!(with(none, Settings { ignore: vec!["SC2121".to_owned()], ..settings() }), "");
    assert_eq!(with((".shellcheckrc", "disable=SC2120-SC2122\n"), settings()), "");
    assert_eq!(with((".shellcheckrc", "disable=all\n"), settings()), "");
    assert_eq!(with((".shuck.toml", ""), settings()), "");
    assert_eq!(check("#!/bin/sh\n# shellcheck disable=SC2121\n\nls\nif a; then set a=1; fi\n"), "");
    assert_eq!(
        check("#!/bin/sh\nls\n# shellcheck disable=SC1091,SC2121 # why\nset a=1\nset b=1\n"),
        "5 SC2121 \"b=1\""
    );
}

#[test]
fn empty_strings_as_commands() {
    assert_eq!(sh("a=$(b || \"\")\necho \"$a\""), "2 SC2286 \"\\\"\\\"\"");
    assert_eq!(sh("if x; then '' y; fi"), "2 SC2286 \"''\"");
    for lines in [
        "a=\"\"",
        "a='' b",
        "echo \"\"",
        "x || echo ''",
        "\"$x\"",
        "case \"\" in '') a ;; esac",
        "[ \"\" = a ]",
    ] {
        assert!(!sh(lines).contains("SC2286"), "{lines}: {}", sh(lines));
    }
}

#[test]
fn tests_without_quotes() {
    assert!(sh("if [ -n $x ]; then a; fi").contains("SC2070"));
    assert!(!sh("if [ -n \"$x\" ]; then a; fi").contains("SC2070"));
    let in_loop = |words: &str, before: &str| {
        sh(&format!("for x in {words}; do\n{before}\nif [ -n $x ]; then a; fi\ndone")).contains("SC2070")
    };
    for words in ["$(ls)", "a 'b' $c", "\"$d/\" ${e}f"] {
        assert!(!in_loop(words, "echo \"$x\" \"${x}\""), "{words}");
    }
    for words in ["\"$@\"", "a ''", "a \"$b\""] {
        assert!(in_loop(words, ""), "{words}");
    }
    for before in ["x=$(a)", "read -r x", "IFS=:", ":\ndone\nfor y in a; do"] {
        assert!(in_loop("$(ls)", before), "{before}");
    }
}
