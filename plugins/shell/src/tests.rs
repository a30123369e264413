//! Findings in small scripts.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

use broker_plugin_sdk::{
    testing::{self, select, settings},
    *,
};

use crate::Shell;

mod brackets;
mod busybox;
mod conditions;
mod continuations;
mod dialects;
mod meant;
mod mistakes;
mod switches;
mod workflow;

/// Report on `path` in a project of `files`.
fn report(files: &[(&str, &str)], settings: Settings, path: &str) -> Result<Report, String> {
    let project = testing::Project::<Shell>::new(files).try_with(settings);
    project.map_err(|it| format!("{it:?}"))?.report(path, "")
}

/// `line code "text it is about"` of each finding; `excluded`, or what is wrong with the configuration.
fn lines_of(files: &[(&str, &str)], settings: Settings, path: &str) -> String {
    let project = testing::Project::<Shell>::new(files).try_with(settings);
    project.map_or_else(|it| format!("{it:?}"), |mut it| it.lines(path))
}

fn check(text: &str) -> String {
    lines_of(&[("a.sh", text)], settings(), "a.sh")
}

#[test]
fn what_is_right_has_no_findings() {
    assert_eq!(check("#!/bin/sh\nset -eu\nname=\"${1:-x}\"\necho \"$name\"\n"), "");
    assert_eq!(check("#!/bin/bash\nlist=(a b)\n[[ ${#list[@]} -gt 1 ]] && echo \"${list[@]}\"\n"), "");
    assert_eq!(check(""), "");
}

#[test]
fn shucks_findings() {
    assert_eq!(check("#!/bin/sh\nf() { local foo=1; }\nf\n[ -f *.a ]\n"), "2 C001 \"foo\", 4 C102 \"*.a\"");
    assert_eq!(check("#!/bin/sh\nif [[ a == b ]]; then :; fi\n").split(' ').nth(1), Some("X001"));
    let found = report(&[("a.sh", "#!/bin/sh\nf() { local foo=1; }\nf\n")], settings(), "a.sh").unwrap();
    let [found] = &found.diagnostics[..] else { panic!("{found:?}") };
    assert_eq!((found.name.as_deref(), found.severity), (Some("unused-assignment"), Severity::Warning));
    assert_eq!(found.url.as_deref(), Some("https://www.shellcheck.net/wiki/SC2034"));
    assert_eq!(found.fixes[0].applicability, Applicability::Unsafe);
}

/// Rules whose findings are mostly meant; on where shuck is configured, and where they are selected.
#[test]
fn what_may_be_right_is_suppressed() {
    let script = "#!/bin/bash\necho 'costs $5 of $HOME'\nPGHOST= PGPORT= psql\n. \"$dir/lib.sh\"\n\
                  f() { g \"$1\"; }\nf\ntrap \"rm $x\" EXIT\ncd /x\ncd \"$(dirname \"$BASH_SOURCE\")\" || exit\necho \"${x#$y}\"\n";
    assert_eq!(check(script), "");
    let configured = lines_of(&[("a.sh", script), (".shuck.toml", "")], settings(), "a.sh");
    for code in ["C004", "C005", "C006", "C008", "C024", "C055", "C100"] {
        assert!(configured.contains(code), "{code} in {configured}");
    }
    let chosen = report(&[("a.sh", script)], select(&["C055"]), "a.sh").unwrap();
    assert_eq!(
        chosen.diagnostics[0].message,
        "quote what is expanded in a pattern (`${a#\"$b\"}`), or it is a pattern as well"
    );
}

/// Only where a finding is, and not in quotes.
#[test]
fn templates_are_left_out() {
    let excluded =
        ["if [[ ! \"$PATH\" == *<%= BASE %>/bin* ]]; then\n  :\nfi\n", "for x in <% list %>; do\n  :\n"];
    for text in excluded {
        assert_eq!(check(&format!("#!/bin/bash\n{text}")), "excluded", "{text}");
    }
    let heredoc = "#!/bin/sh\ncat <<'EOF'\n<%= a %>\nEOF\nif true; then\n";
    assert!(check(heredoc).contains("syntax-error"), "{}", check(heredoc));
    let quoted = "#!/bin/sh\nf() { local foo=1; echo '<%= a %> {% b %}'; }\nf\n";
    assert_eq!(check(quoted), "2 C001 \"foo\"");
    let format = "#!/bin/sh\nif docker ps --format {{.ID}}; then\n";
    assert!(check(format).contains("syntax-error"), "no template's: {}", check(format));
}

/// C006: only what is spelt almost as a variable of the script.
#[test]
fn names_that_nothing_assigns() {
    let sh = |lines: &str| check(&format!("#!/bin/bash\n{lines}\n"));
    assert_eq!(sh("names=(a)\necho \"$nmaes\" \"${names[@]}\""), "3 C006 \"$nmaes\"");
    let found = report(&[("a.sh", "#!/bin/sh\nname=1\necho \"$name$nmae\"\n")], settings(), "a.sh").unwrap();
    assert_eq!(found.diagnostics[0].severity, Severity::Warning, "something else may have set it");
    for command in ["read_into -n : line2 nmaes", "fill 'nmaes'", "f() { into \"$1\" nmaes; }; f"] {
        let script = format!("{command}\nnames=(a)\necho \"$nmaes\" \"${{names[@]}}\"");
        assert_eq!(sh(&script), "", "a command is given its name");
    }
    assert_eq!(sh("names=1; echo nmaes; fill x=nmaes\necho \"$nmaes\" \"$names\""), "3 C006 \"$nmaes\"");
    assert_eq!(sh("echo \"$enable_prof\""), "", "of a caller");
    assert_eq!(
        sh(
            "docker build --build-arg no_proxx=1 --build-arg http_proxy=$http_proxy https_proxy=$https_proxy $no_proxy"
        ),
        ""
    );
    assert_eq!(
        sh("npm_package_versio=1\necho \"$npm_package_version\" \"$npm_package_versio\""),
        "",
        "of npm"
    );
    assert_eq!(sh("names=1\necho \"$NAMES\" \"$names\""), "", "of the environment");
    assert_eq!(sh("names=1\n. ./lib.sh\necho \"$nmaes\" \"$names\""), "", "of a sourced file");
    assert_eq!(sh("eval 'declare -gA sets=()'\nset=1\nsets[emoji]=\"$set\""), "", "of `eval`");
    assert_eq!(sh("declare -A sets\nsmiley=1\nsets[smily]=$smiley\necho \"${sets[@]}\""), "", "a subscript");
    assert_eq!(check("names=1\necho \"$nmaes\" \"$names\"\n"), "", "who sources this may set it");
    let zsh = "#!/bin/zsh\nword=1\nprint $words $curcontext $word\n";
    assert_eq!(check(zsh), "", "zsh's own");
    assert!(lines_of(&[("a.sh", "#!/bin/sh\necho \"$a\"\n")], select(&["C006"]), "a.sh").contains("C006"));
}

/// C001: only what nothing else may use.
#[test]
fn names_that_nothing_uses() {
    let sh = |lines: &str| check(&format!("#!/bin/bash\n{lines}\n"));
    assert_eq!(
        sh("foo=1\nreadonly bar=2\ndeclare -r baz=3"),
        "",
        "for who sources this, which a `#!` does not rule out"
    );
    assert_eq!(sh("f() { local foo=1; }\nf"), "2 C001 \"foo\"");
    assert_eq!(sh("DEBIAN_FRONTEND=noninteractive\napt-get update"), "", "of the environment");
    assert_eq!(sh("f() { local foo=1; }\nf\n. ./a.sh"), "");
    assert_eq!(sh("while read -r a b; do echo \"$b\"; done"), "", "it has to have a name");
    assert_eq!(sh("for i in 1 2; do echo; done"), "");
    assert_eq!(sh("f() { local foo=1; trap 'echo $foo' EXIT; }\nf"), "");
    assert_eq!(sh("f() { local -x foo=1; env; }\nf"), "", "for other programs");
    assert!(lines_of(&[("a.sh", "#!/bin/sh\nfoo=1\n")], select(&["C001"]), "a.sh").contains("C001"));
    assert_eq!(check("foo=1\n"), "", "for who sources this");
}

/// C060: not where something is put before the script is run.
#[test]
fn interpreters_to_be_filled_in() {
    assert_eq!(check("#!bin/sh\necho\n").split(' ').nth(1), Some("C060"));
    for first in [
        "#!@PREFIX@/bin/sh",
        "#! @bash@/bin/bash",
        "#!%%X%%/sh",
        "#!{{ prefix }}/bin/sh",
        "#!${PREFIX}/bin/sh",
    ] {
        let found = check(&format!("{first}\necho\n"));
        assert!(!found.contains("C060"), "{first}: {found}");
    }
    let found = lines_of(&[("a.sh", "#!@PREFIX@/bin/sh\necho\n")], select(&["C060"]), "a.sh");
    assert!(found.contains("C060"), "a selected rule is reported: {found}");
}

/// Scripts that ask which shell they run in have what that shell has.
#[test]
fn scripts_for_several_shells() {
    let array = "a=(1)\necho \"${a[@]}\"";
    assert!(check(&format!("#!/bin/sh\n{array}\n")).contains("X013"));
    assert_eq!(check(&format!("#!/bin/sh\nif [ -n \"$BASH_VERSION\" ]; then\n{array}\nfi\n")), "");
    assert_eq!(
        check("#!/bin/sh\nf() { local a=1; echo -n \"$a\"; read -r -p a a; }\nf\n"),
        "",
        "dash has these"
    );
}

#[test]
fn comparisons_and_conditions() {
    assert_eq!(check("#!/bin/sh\na=1\nif [ $a > 5 ]; then :; fi\n"), "3 C086 \">\"");
    assert_eq!(check("#!/bin/bash\nif [[ \"$BASH_VERSION\" < 4 ]]; then :; fi\n"), "");
    assert_eq!(check("#!/bin/sh\nif [ -f x ; then\n  :\nfi\n").split(' ').nth(1), Some("C036"));
    assert_eq!(check("#!/bin/sh\nwhile case $# in 0) break ;; esac do shift; done\n"), "");
    assert_eq!(check("#!/bin/sh\nwhile\n  for i in 1 2; do :; done\n  break\ndo :; done\n"), "");
    assert!(check("#!/bin/sh\n# wait a while\nwhile false; do :; done # a while\nbreak\n").contains("C018"));
}

#[test]
fn what_follows_the_end_need_be_no_script() {
    for text in [
        "# restarts with tclsh \\\nexec tclsh \"$0\" ${1+\"$@\"}\nproc f {} { puts \"hi\" }\nif {$x} { set y [f] }\n",
        "eval 'exec perl -x -wS $0 ${1+\"$@\"}'\n  if 0;\nuse strict;\nif ($x) { print 1 }\n",
        "exit 0\n__END__\nif (((x then {\n",
        "# \\\n  if test -n \"$V\"; then \\\n  echo 1; exit; fi; \\\n  exec tclsh8.6 \"$0\" \"$@\"\nif {$x} {\n",
        "main \"$@\"; exit\nif {\n",
        "if a; then exec b \"$0\"; else exec c \"$0\"; fi\nif {\n",
        "{ exec ruby -x \"$0\" || exit 1; }\nif {\n",
    ] {
        assert_eq!(check(&format!("#!/bin/sh\n{text}")), "excluded", "{text}");
    }
    for text in [
        "if a; then\nexit 1\nfi\n",
        "f() {\nexec b\n}\n",
        "cat <<E\nexit\nE\n",
        "a && exec b\n",
        "exec b &\n",
        "(exit 1)\n",
        "if a; then exec b; fi\n",
    ] {
        let found = check(&format!("#!/bin/sh\n{text}if true; then\n"));
        assert!(found.contains("syntax-error"), "{text}: {found}");
    }
    let redirected = "#!/bin/sh\nexec >log\nexec 3<&0\nif true; then\n  exit 1\n";
    assert!(check(redirected).contains("syntax-error"), "{}", check(redirected));
    assert_eq!(check("#!/bin/sh\nIFS=\\;\necho \"$IFS\"\n"), "");
    assert!(check("#!/bin/sh\nIFS='\\n'\necho \"$IFS\"\n").contains("C101"));
}

#[test]
fn what_autoconf_made_is_left_out() {
    let script = "#! /bin/sh\n# Guess values\n# Generated by GNU Autoconf 2.69.\nf() { local foo=1; }\nf\n";
    assert_eq!(check(script), "excluded");
    assert!(report(&[("a.sh", script)], select(&["C001"]), "a.sh").unwrap().diagnostics.len() == 1);
}

#[test]
fn what_cannot_be_parsed() {
    assert_eq!(check("#!/bin/bash\nfoo=1\necho $(ls\n").split(' ').nth(1), Some("syntax-error"));
    let found = report(&[("a.sh", "#!/bin/sh\nfoo=1\nif true; then\n  :\n")], settings(), "a.sh").unwrap();
    let names: Vec<_> = found.diagnostics.iter().map(|it| it.name.as_deref().unwrap_or_default()).collect();
    assert_eq!(names, ["unterminated-if", "missing-fi"], "shuck has rules for this");
    let is_error = |it: &Diagnostic| it.code == "syntax-error" && it.severity == Severity::Error;
    assert!(found.diagnostics.iter().all(is_error), "and the host knows them as what they are");
    assert_eq!(found.diagnostics[1].fixes[0].edits[0].replacement, "fi\n");
    assert_eq!(lines_of(&[("a.sh", "if a; then\n  b\n")], select(&["C035"]), "a.sh"), "3 syntax-error \"\"");
    assert_eq!(check("#!/bin/sh\ndone\n"), "2 syntax-error \"done\"");
    let ignoring = Settings { ignore: vec!["syntax-error".to_owned()], ..settings() };
    assert_eq!(lines_of(&[("a.sh", "echo $(ls\n")], ignoring, "a.sh"), "");
    assert!(lines_of(&[("a.sh", "echo $(ls\n")], select(&["C001"]), "a.sh").contains("syntax-error"));
}

/// The script may be right if the parser's error has no place.
#[test]
fn what_the_parser_gives_up() {
    assert_eq!(check("#!/bin/sh\nf() {(\n  :\n)}\nf\n"), "excluded");
}

/// The parser takes it for the end of something.
#[test]
fn braces_in_words() {
    let find = "find . -exec rm \\{} \\;\n";
    assert_eq!(check(&format!("#!/bin/sh\n{find}")), "");
    assert_eq!(check(&format!("#!/bin/sh\nf() {{\n  {find}  local foo=1\n}}\nf\n")), "4 C001 \"foo\"");
    let quotes = lines_of(&[("a.sh", "#!/bin/sh\nls \\{} {$1} $2}\n")], select(&["S001"]), "a.sh");
    assert_eq!(quotes, "2 S001 \"$1\", 2 S001 \"$2\"");
    let quoted = fixed("#!/bin/sh\nls $1 \\{}$2\n", "S001");
    assert_eq!(quoted, "#!/bin/sh\nls \"$1\" \\{}\"$2\"\n");
}

/// shuck counts columns as ShellCheck does, without the backslashes that the shell takes away.
#[test]
fn places_in_backticks() {
    let quotes =
        |line: &str| lines_of(&[("a.sh", &format!("#!/bin/sh\n{line}\n"))], select(&["S001"]), "a.sh");
    assert_eq!(quotes("echo `echo \\\\\\\\a $b` $c"), "2 S001 \"$b\", 2 S001 \"$c\"");
    assert_eq!(quotes("echo `echo \\`a\\` $b`"), "2 S001 \"$b\"");
    assert_eq!(quotes("echo `echo \\$b`"), "2 S001 \"$b\"");
    assert_eq!(quotes("echo `echo $b \\\\`"), "2 S001 \"$b\"");
    let depcomp = "x=${y-`echo \"$z\" |\n  sed 's|[^\\\\/]*$|'${D-.deps}'/&|;s|\\.\\([^.]*\\)$|.P|'`}";
    assert_eq!(quotes(depcomp), "3 S001 \"${D-.deps}\"");
    let line = |it: &str| format!("#!/bin/sh\necho `echo {it}\n");
    assert_eq!(fixed(&line("\\\\ $b` $c"), "S001"), line("\\\\ $b` \"$c\""));
    assert_eq!(fixed(&line("$b \\\\`"), "S001"), line("\"$b\" \\\\`"));
    assert_eq!(fixed(&line("\\\"(`"), "S004"), line("\\\"(`"), "in quotes, `\\\"` would be a quote");
    assert_eq!(fixed("#!/bin/sh\necho `b`\n", "S004"), "#!/bin/sh\necho \"`b`\"\n");
}

#[test]
fn carriage_returns() {
    let script = "#!/bin/sh\r\nif true; then\r\n  echo a\r\nfi\r\n";
    let found = report(&[("a.sh", script)], settings(), "a.sh").unwrap();
    let [found] = &found.diagnostics[..] else { panic!("{found:?}") };
    assert_eq!((found.code.as_str(), found.span.start, found.span.end), ("syntax-error", 9, 10));
    assert_eq!(found.message, "lines end in CRLF, of which shells read the CR as a letter");
    assert_eq!(found.url.as_deref(), Some("https://www.shellcheck.net/wiki/SC1017"));
    assert_eq!(check("f() {\r\n  echo a\r\n}\r\n"), "1 syntax-error \"\\r\"", "the parser knows no place");
    let ignoring = Settings { ignore: vec!["syntax-error".to_owned()], ..settings() };
    assert_eq!(lines_of(&[("a.sh", script)], ignoring, "a.sh"), "");
}

/// The text once the fixes of a rule are applied, the first to last.
fn fixed(text: &str, code: &str) -> String {
    let found = report(&[("a.sh", text)], select(&[code]), "a.sh").unwrap();
    let mut edits: Vec<_> =
        found.diagnostics.into_iter().flat_map(|it| it.fixes).flat_map(|it| it.edits).collect();
    edits.sort_by_key(|it| it.span.start);
    let mut text = text.to_owned();
    for it in edits.iter().rev() {
        text.replace_range(it.span.start as usize..it.span.end as usize, &it.replacement);
    }
    text
}

/// Deleted code may be run all the same, or be read as data; and so on for each.
#[test]
fn what_only_shuck_calls_safe() {
    let is_safe = |lines: &str, code: &str| {
        let found = report(&[("a.sh", &format!("#!/bin/bash\n{lines}\n"))], select(&[code]), "a.sh").unwrap();
        let fixes = found.diagnostics.iter().flat_map(|it| &it.fixes);
        let mut safe = fixes.map(|it| it.applicability == Applicability::Safe);
        safe.next().unwrap_or_else(|| panic!("{lines}: no fix")) || safe.any(|it| it)
    };
    let payload = "tail -n +5 \"$0\" | base64 -d\nexit 0\naGVsbG8K";
    assert!(!is_safe(payload, "C124"));
    assert!(!is_safe("return 0 2>/dev/null || true\necho a", "C124"));
    assert!(!is_safe("echo a \\\n  b # shellcheck disable=SC2154", "S031"));
    assert!(!is_safe("f() { local -n r=$1; r[$((1+1))]=y; }", "S034"));
    assert!(!is_safe(": ${x='a b'}", "S062"));
    assert!(!is_safe("ls \"a \"$x\" b\"", "S070"));
    assert!(!is_safe("ls \"a \"mid\" b\"$x", "S076"));
    assert!(is_safe("f() { a; return $?; }", "S038"));
}

#[test]
fn what_follows_a_command_stays() {
    let counted = |lines: &str| fixed(&format!("#!/bin/sh\n{lines}"), "P");
    assert_eq!(counted("if grep a f | wc -l; then :; fi"), "#!/bin/sh\nif grep -c a f; then :; fi");
    assert_eq!(counted("grep a f | wc -l && b"), "#!/bin/sh\ngrep -c a f && b");
    assert_eq!(counted("grep a f | wc -l\nb\n"), "#!/bin/sh\ngrep -c a f\nb\n");
}

#[test]
fn odd_files() {
    let report = |content: &[u8]| {
        let file = SourceFile { path: "a.sh".to_owned(), content: content.to_vec(), named: String::new() };
        let mut plugin = Shell::new();
        plugin.configure(&Settings { isolated: true, ..settings() }).unwrap();
        plugin.check(&file).unwrap()
    };
    let bom = report("\u{feff}#!/bin/sh\nf() { local foo=1; }\nf\n".as_bytes());
    assert_eq!(bom.diagnostics[0].span.start, 25);
    assert_eq!(report("\u{feff}(\r\n".as_bytes()).diagnostics[0].span.start, 4);
    assert_eq!(report("\u{feff}done\n".as_bytes()).diagnostics[0].span.start, 3);
    assert_eq!(report("\u{feff}echo \"\n".as_bytes()).diagnostics[0].span.start, 8);
    assert!(matches!(report(b"echo '\xff'\n").completeness, Completeness::Complete));
    assert!(matches!(report(b"\x7fELF\0").completeness, Completeness::Excluded));
    for text in
        ["$(".repeat(10_000), "{ ".repeat(10_000), "if true; then ".repeat(2_000), "\"${a:-".repeat(5_000)]
    {
        let report = report(text.as_bytes());
        assert!(matches!(report.completeness, Completeness::Excluded) || !report.diagnostics.is_empty());
    }
}
