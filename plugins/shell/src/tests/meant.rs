//! Code that is meant as it is written, and code that is not.

use super::*;

/// Scripts that ask for a command, or let it fail, know that `sh` need not have it.
#[test]
fn commands_that_are_asked_for() {
    let sh = |lines: &str| check(&format!("#!/bin/sh\n{lines}\n"));
    for lines in [
        "command -v typeset >/dev/null && typeset -i n",
        "if hash let 2>/dev/null; then\n  for i in 1; do let i+=1; done\nfi",
        "if [ -n \"$(command -v shopt)\" ]; then shopt -s extglob; fi",
        "has() { type \"$1\" >/dev/null 2>&1; }\nif has compgen; then compgen -A function; fi",
        "type pushd >/dev/null 2>&1 || exit 1\npushd /x",
        "f() {\n  if ! type dirs >/dev/null; then return; fi\n  dirs -c\n}",
        "type dirs || { echo no; exit 1; }\nwhile x; do dirs -c; done",
        "shopt -s nullglob 2>/dev/null || true",
        "shopt -s nullglob >/dev/null 2>&1 || set +f",
        "if (shopt -s nullglob) 2>/dev/null; then shopt -s nullglob; fi",
        "trap x ERR 2>/dev/null || :",
        "case $(type source) in *builtin*) source ./x ;; esac",
    ] {
        assert_eq!(sh(lines), "", "{lines}");
    }
    assert_eq!(sh("shopt -s a"), "2 SC3044 \"shopt -s a\"");
    for (lines, code) in [
        ("command -v curl >/dev/null && typeset -i n", "2 SC3044"),
        ("type shopt && shopt -s a\nshopt -s b", "3 SC3044"),
        ("type shopt && shopt -s a || true\nshopt -s b", "3 SC3044"),
        ("pushd /x >/dev/null 2>&1 || exit 1", "2 SC3044"),
        ("pushd /x || true", "2 SC3044"),
        ("shopt -q a && shopt -s b", "2 SC3044"),
        ("type shopt | shopt -s a", "2 SC3044"),
        ("type declare && a=(1)", "2 SC3030"),
        ("# type shopt && x\nshopt -s a", "3 SC3044"),
        ("command shopt -s a", "2 SC3044"),
    ] {
        assert!(sh(lines).starts_with(code), "{lines}: {}", sh(lines));
    }
}

/// SC2068: what splitting may take apart.
#[test]
fn words_that_come_apart() {
    let bash = |lines: &str| check(&format!("#!/bin/bash\n{lines}\n"));
    for (lines, expected) in [
        ("for it in $@; do rm \"$it\"; done", "2 SC2068 \"$@\""),
        ("exec x ${@:2}", "2 SC2068 \"${@:2}\""),
        ("a=(\"$1\" b)\nls ${a[@]}", "3 SC2068 \"${a[@]}\""),
        ("a=()\na+=('b c')\nls ${a[@]:1}", "4 SC2068 \"${a[@]:1}\""),
        ("a[0]=$1\nls ${a[@]}", "3 SC2068 \"${a[@]}\""),
        ("mapfile -t a <f\nls ${a[@]}", "3 SC2068 \"${a[@]}\""),
        ("while IFS= read -r l; do :; done <f\nls $@", "3 SC2068 \"$@\""),
        ("ls $@/x", "2 SC2068 \"$@\""),
        ("logs=(/var/log/*.log)\ncat ${logs[@]}", "3 SC2068 \"${logs[@]}\""),
        ("all=($dir/part[0-9] x)\ncat ${all[@]}", "3 SC2068 \"${all[@]}\""),
        ("all+=(data.???)\ncat ${all[@]:1}", "3 SC2068 \"${all[@]:1}\""),
        ("all=(my\\ file)\ncat ${all[@]}", "3 SC2068 \"${all[@]}\""),
        ("IFS=: read -ra dirs <<<\"$PATH\"\nls ${dirs[@]}", "3 SC2068 \"${dirs[@]}\""),
        ("while IFS=$'\\t' read -r -u 3 -a row; do\n  put ${row[@]}\ndone", "3 SC2068 \"${row[@]}\""),
        ("IFS= read -r -d '' -acells <f\nput ${cells[@]}", "3 SC2068 \"${cells[@]}\""),
        ("both=$1\nboth+=(b)\nls ${both[@]}", "4 SC2068 \"${both[@]}\""),
        ("count() { ls $@; }\ncount \"$dir\"/*.rs", "2 SC2068 \"$@\""),
        ("count() { ls $@; }\ncount \"really, you?\" \"${x%%*}\"", "2 SC2068 \"$@\""),
        ("count() { ls $@; }\nother \"*.rs\"", "2 SC2068 \"$@\""),
    ] {
        assert_eq!(bash(lines), expected, "{lines}");
    }
    for lines in [
        "for it in \"$@\"; do :; done",
        "a=(-x --y=1 $(ls) $b)\nls ${a[@]}",
        "read -ra a <f\nls ${a[@]}",
        "IFS=' ' read -ra a <f\nls ${a[@]}",
        "IFS=$x read -ra a <f\nls ${a[@]}",
        "IFS=, read -r a b <f\nls ${a[@]}",
        "IFS=, read -p -a a <f\nls ${a[@]}",
        "IFS=, grep -a a <f\nls ${a[@]}",
        "a=(\\*.c x\\?)\nls ${a[@]}",
        "a=(--include=*.c https://x/?y=1)\nls ${a[@]}",
        "a=(x] $(ls *.c) 1[)\nls ${a[@]}",
        "set -ef\na=(*.c)\nls ${a[@]}",
        "set -o noglob\na=(*.c)\nls ${a[@]}",
        "a=('b c')\nfor i in ${!a[@]}; do echo \"$i\"; done",
        "ls ${from_elsewhere[@]}",
        "set -- $@",
        "IFS=,\nfor it in $@; do :; done",
        "cat <<<$@",
        "cat <<E\n$@\nE\n# ls $@",
        "echo 'ls $@'",
        "export V=${@PREFIX@V}",
        "found=$(find . -type f)\nrm ${found[@]}",
        "found=()\nfound+=\" $1\"\nrm ${found[@]}",
        "f() { local all=\"$1 x\"; ls ${all[@]}; }\nf a",
        "count() { ls $@ | wc -l; }\ncount \"$dir/*.rs\"",
        "count() { ls ${@:1}; }\ncount '[a-c].rs src/?.rs'",
        "count() { ls $@; }\nboth() { count \"$1\"; }\nboth \\*.rs",
        "all=\"$dir/*.rs\"\ncount() { ls $@; }\ncount \"$all\"",
    ] {
        assert_eq!(bash(lines), "", "{lines}");
    }
}

/// SC2145: only the first and the last element stay with what is around them.
#[test]
fn arrays_in_strings() {
    let bash = |lines: &str| check(&format!("#!/bin/bash\n{lines}\n"));
    assert_eq!(bash("grep \"x $@\" f"), "2 SC2145 \"$@\"");
    for lines in [
        "a=(b c); start \"no: ${a[@]}\"",
        "start --files=\"$@\"",
        "start \"--files=$@\"",
        "printf \"got $@\\n\"",
        "say() { echo \"$1\"; }; say \"no $@\"",
        "log() { for it in \"$@\"; do echo \"$(stat \"$it\")\"; done; }; log \"no $@\"",
        "log() { for it in \"$@\"; do touch \"$it\"; done; }; log \"no $@\"",
        "put() { all=(\"$@\"); }; put \"no $@\"",
        "put() { [[ -n \"$@\" ]] && mkdir \"$1\"; }; put \"no $@\"",
        "\"$0\" add \"no $@\"",
        "reprint \"no $@\"",
        "log() { sh \"$@\"; echo \"$@\"; }; log \"no $@\"",
        "log() { printf \"$@\"; }; log \"no $@\"",
        "log() { echo \"$(sort \"$@\")\"; }; log \"no $@\"",
        "bin/log \"no $@\"",
    ] {
        let found = bash(lines);
        assert!(found.starts_with("2 SC2145") && !found.contains(','), "{lines}: {found}");
    }
    for lines in [
        "echo \"a $*\" \"$@\" \"${a[*]}\" \"${#a[@]} of them\"",
        "a=(b)\n[[ \" ${a[@]} \" == *\" b \"* ]]",
        "ls \"${a[@]/#/x}\"",
        "a=(b)\nls \"x${a[@]+y}\"",
        "die() { printf '%s\\n' \"$*\"; exit 1; }\ndie \"no $@\"",
        "echo -e \"got $@\"; builtin echo \"got $@\"; printf '%s ' \"got $@\"",
        "oops() { [ $# -gt 0 ] && printf '%s\\n' \"${@:1}\" >&2; }\nthrow() { oops \"$@\"; exit 1; }\nthrow \"no $@\"",
        "lib::warn \"no $@\"; log_error \"no $@\"",
        "do_\"$@\"; start \"$@\".service",
        "showWarning \"no $@\"; printLines \"no $@\"",
        "tell() { for it in \"$@\"; do [ -n \"$it\" ] && echo \"- $it\"; done; }\ntell \"no $@\"",
        "rename() { [[ -z \"$@\" ]] || title=\"$@\"; }\nrename \"x $@\"\n\"$0\" rename \"y $@\"",
        "rename() { local title=\"$@\"; put \"$title\"; }\nrename \"x $@\"",
    ] {
        assert_eq!(bash(lines), "", "{lines}");
    }
}

/// SC2146: an action behind `-o` that is for what is not pruned.
#[test]
fn finds_that_prune() {
    let bash = |lines: &str| check(&format!("#!/bin/bash\n{lines}\n"));
    for lines in [
        "find . \\( \"${pruned[@]}\" -false \\) -o -type f -exec sed p {} +",
        "find . \\( -path ./a -prune -o -false \\) -o -type f -exec sed p {} +",
        "find . -path ./a -prune -o -name b -print",
        "find \"$dir\" $pruned -o -type f -delete",
        "find . \"$@\" -o -type f -delete",
    ] {
        assert_eq!(bash(lines), "", "{lines}");
    }
    for lines in [
        "find . -name a -o -name b -delete",
        "find $dir -name a -o -name b -delete",
        "find \"$one\" \"$two\" -name \"$a\" -o -name $b -delete",
        "find . -type f -name a -o -name b -exec rm {} +",
    ] {
        assert!(bash(lines).starts_with("2 SC2146"), "{lines}: {}", bash(lines));
    }
}

/// SC2069: where nothing takes what is written to the standard output.
#[test]
fn redirections_in_the_wrong_order() {
    let sh = |lines: &str| check(&format!("#!/bin/sh\n{lines}\n"));
    for lines in [
        "make 2>&1 >/dev/null",
        "make 2>&1 >>log &",
        "if a 2>&1 >log; then :; fi",
        "f() { a 2>&1 >/dev/null; }; f",
    ] {
        assert_eq!(sh(lines), "2 SC2069 \"2>&1\"", "{lines}");
    }
    for lines in [
        "make >log 2>&1",
        "make 2>&1 >log | grep x",
        "{ a; b 2>&1 >/dev/null; } | grep x",
        "(a 2>&1 >/dev/null) >log",
        "x=$(a 2>&1 >/dev/null)",
        "f() { a 2>&1 >/dev/null; }\ng() { f; }\nx=\"$(g)\"",
        "f() { a 2>&1 >/dev/null; }",
        "exec >log\na 2>&1 >/dev/null",
        "dialog 2>&1 >/dev/tty",
    ] {
        assert_eq!(sh(lines), "", "{lines}");
    }
}

/// SC2088: only what is used as a file.
#[test]
fn tildes_in_quotes() {
    let sh = |lines: &str| check(&format!("#!/bin/sh\n{lines}\n"));
    for (lines, expected) in [
        ("mkdir -p \"~/a\"", "~/a"),
        ("rm '~/a b'", "'~/a b'"),
        ("echo a >>\"~/b\"", "~/b"),
        ("[ -d \"~/a\" ] && :", "~/a"),
        ("cd \"~/$1\" || exit", "~/"),
    ] {
        assert_eq!(sh(lines), format!("2 SC2088 \"{expected}\""), "{lines}");
    }
    for lines in [
        "echo 'in ~/a'",
        "echo '~/a is there'",
        "x='~/a'",
        "grep '~/a' f",
        "[ \"$x\" = \"~/\" ]",
        "ssh h ls '~/a'",
        "case $1 in '~/'*) ;; esac",
        "rm ~/\"a b\" \"$HOME/a\"",
        "cat <<E\n~/a\nE",
    ] {
        assert_eq!(sh(lines), "", "{lines}");
    }
}

/// SC2240: a `sh` that knows no arguments there leaves the script's own.
#[test]
fn sourced_with_arguments() {
    let sh = |lines: &str| check(&format!("#!/bin/sh\n{lines}\n"));
    assert_eq!(sh(". \"$d\" one"), "2 SC2240 \"one\"");
    assert_eq!(sh(". ./a \"$@\"\n. ./b >c"), "");
    assert_eq!(check("#!/bin/bash\n. ./a one\n"), "");
}

/// SC2168 and SC2105: a function or a loop of another script may read a file that names no interpreter.
#[test]
fn fragments() {
    for lines in ["local port=80\necho \"$port\"", "[ -f a ] || continue", "break"] {
        assert_eq!(check(&format!("# shellcheck shell=bash\n{lines}\n")), "", "{lines}");
        let found = check(&format!("#!/bin/bash\n{lines}\n"));
        assert!(found.contains("SC2168") || found.contains("SC2105"), "{lines}: {found}");
        let found = check(&format!("#/bin/bash\n{lines}\n"));
        assert!(found.contains("SC2168") || found.contains("SC2105"), "its `!` is missing, {lines}: {found}");
    }
}
