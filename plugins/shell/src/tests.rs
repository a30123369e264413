//! Findings in small scripts.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

use broker_plugin_sdk::{
    testing::{self, select, settings},
    *,
};

use crate::Shell;
use crate::defaults::LIKE_SHELLCHECK;

mod brackets;
mod busybox;
mod conditions;
mod continuations;
mod dialects;
mod meant;
mod mistakes;
mod switches;
mod variables;
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

fn every(text: &str) -> String {
    lines_of(&[("a.sh", text)], settings(), "a.sh")
}

/// Findings of mistakes, without what else ShellCheck reports and without unused and unset variables.
fn check(text: &str) -> String {
    mistakes(&every(text))
}

fn mistakes(lines: &str) -> String {
    let code = |it: &str| it.split(' ').nth(1).unwrap_or_default().to_owned();
    let is_other = |it: &&str| {
        let code = code(it);
        !LIKE_SHELLCHECK.contains(&&*code) && !["SC2034", "SC2154"].contains(&&*code)
    };
    let starts = lines.match_indices(", ").map(|it| it.0 + 2).filter(|at| is_start(&lines[*at..]));
    let starts: Vec<_> = std::iter::once(0).chain(starts).chain([lines.len() + 2]).collect();
    let findings = starts.windows(2).map(|it| &lines[it[0]..it[1] - 2]);
    findings.filter(is_other).collect::<Vec<_>>().join(", ")
}

/// Whether a finding begins here, and not in the middle of what another is about.
fn is_start(lines: &str) -> bool {
    let mut words = lines.split(' ');
    words.next().is_some_and(|it| it.parse::<u32>().is_ok())
        && words.next().is_some_and(|it| it.starts_with(char::is_alphabetic) || it == "syntax-error")
}

#[test]
fn what_is_right_has_no_findings() {
    assert_eq!(check("#!/bin/sh\nset -eu\nname=\"${1:-x}\"\necho \"$name\"\n"), "");
    assert_eq!(check("#!/bin/bash\nlist=(a b)\n[[ ${#list[@]} -gt 1 ]] && echo \"${list[@]}\"\n"), "");
    assert_eq!(check(""), "");
}

#[test]
fn shucks_findings() {
    assert_eq!(
        every("#!/bin/sh\nf() { local foo=1; }\nf\n[ -f *.a ]\n"),
        "2 SC3043 \"local foo\", 2 SC2034 \"foo\", 4 SC2144 \"*.a\""
    );
    assert_eq!(check("#!/bin/sh\nif [[ a == b ]]; then :; fi\n").split(' ').nth(1), Some("SC3010"));
    let found = report(&[("a.sh", "#!/bin/bash\nf() { local foo=1; }\nf\n")], settings(), "a.sh").unwrap();
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
    for code in ["SC2164", "SC2016", "SC2154", "SC2064", "SC1007", "SC2295", "SC2128"] {
        assert!(configured.contains(code), "{code} in {configured}");
    }
    let chosen = report(&[("a.sh", script)], select(&["SC2295"]), "a.sh").unwrap();
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
    assert!(every(quoted).contains("SC2034 \"foo\""));
    let format = "#!/bin/sh\nif docker ps --format {{.ID}}; then\n";
    assert!(check(format).contains("syntax-error"), "no template's: {}", check(format));
}

/// Each finding has the severity that ShellCheck gives it.
#[test]
fn severities_are_shellchecks() {
    let script = "#!/bin/bash\nset foo=1\nmkdir `ls $1`\ncd x\nls $@\n";
    let found = report(&[("a.sh", script)], settings(), "a.sh").unwrap().diagnostics;
    let of = |it: &Diagnostic| (it.code.clone(), it.severity);
    let owned = |(code, severity): (&str, Severity)| (code.to_owned(), severity);
    let wanted = [
        ("SC2121", Severity::Warning),
        ("SC2046", Severity::Warning),
        ("SC2006", Severity::Hint),
        ("SC2086", Severity::Info),
        ("SC2164", Severity::Warning),
        ("SC2068", Severity::Error),
    ];
    assert_eq!(found.iter().map(of).collect::<Vec<_>>(), wanted.map(owned));
}

/// SC2239: not where something is put before the script is run.
#[test]
fn interpreters_to_be_filled_in() {
    assert_eq!(check("#!bin/sh\necho\n").split(' ').nth(1), Some("SC2239"));
    for first in [
        "#!@PREFIX@/bin/sh",
        "#! @bash@/bin/bash",
        "#!%%X%%/sh",
        "#!{{ prefix }}/bin/sh",
        "#!${PREFIX}/bin/sh",
    ] {
        let found = check(&format!("{first}\necho\n"));
        assert!(!found.contains("SC2239"), "{first}: {found}");
    }
    let found = lines_of(&[("a.sh", "#!@PREFIX@/bin/sh\necho\n")], select(&["SC2239"]), "a.sh");
    assert!(found.contains("SC2239"), "a selected rule is reported: {found}");
}

/// Scripts that ask which shell they run in have what that shell has.
#[test]
fn scripts_for_several_shells() {
    let array = "a=(1)\necho \"${a[@]}\"";
    assert!(check(&format!("#!/bin/sh\n{array}\n")).contains("SC3030"));
    assert_eq!(check(&format!("#!/bin/sh\nif [ -n \"$BASH_VERSION\" ]; then\n{array}\nfi\n")), "");
    assert_eq!(
        check("#!/bin/sh\nf() { local a=1; echo -n \"$a\"; read -r -p a a; }\nf\n"),
        "",
        "dash has these"
    );
}

#[test]
fn comparisons_and_conditions() {
    assert_eq!(check("#!/bin/sh\na=1\nif [ $a > 5 ]; then :; fi\n"), "3 SC2071 \">\"");
    assert_eq!(check("#!/bin/bash\nif [[ \"$BASH_VERSION\" < 4 ]]; then :; fi\n"), "");
    assert_eq!(check("#!/bin/sh\nif [ -f x ; then\n  :\nfi\n").split(' ').nth(1), Some("SC1073"));
    assert_eq!(check("#!/bin/sh\nwhile case $# in 0) break ;; esac do shift; done\n"), "");
    assert_eq!(check("#!/bin/sh\nwhile\n  for i in 1 2; do :; done\n  break\ndo :; done\n"), "");
    assert!(
        check("#!/bin/sh\n# wait a while\nwhile false; do :; done # a while\nbreak\n").contains("SC2105")
    );
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
    assert!(check("#!/bin/sh\nIFS='\\n'\necho \"$IFS\"\n").contains("SC2141"));
}

#[test]
fn what_autoconf_made_is_left_out() {
    let script = "#! /bin/sh\n# Guess values\n# Generated by GNU Autoconf 2.69.\nf() { local foo=1; }\nf\n";
    assert_eq!(check(script), "excluded");
    assert!(report(&[("a.sh", script)], select(&["SC2034"]), "a.sh").unwrap().diagnostics.len() == 1);
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
    assert_eq!(
        lines_of(&[("a.sh", "if a; then\n  b\n")], select(&["SC1047"]), "a.sh"),
        "3 syntax-error \"\""
    );
    assert_eq!(check("#!/bin/sh\ndone\n"), "2 syntax-error \"done\"");
    let ignoring = Settings { ignore: vec!["syntax-error".to_owned()], ..settings() };
    assert_eq!(lines_of(&[("a.sh", "echo $(ls\n")], ignoring, "a.sh"), "");
    assert!(lines_of(&[("a.sh", "echo $(ls\n")], select(&["SC2034"]), "a.sh").contains("syntax-error"));
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
    assert!(
        every(&format!("#!/bin/sh\nf() {{\n  {find}  local foo=1\n}}\nf\n")).contains("4 SC2034 \"foo\"")
    );
    let quotes = lines_of(&[("a.sh", "#!/bin/sh\nls \\{} {$1} $2}\n")], select(&["SC2086"]), "a.sh");
    assert_eq!(quotes, "2 SC2086 \"$1\", 2 SC2086 \"$2\"");
    let quoted = fixed("#!/bin/sh\nls $1 \\{}$2\n", "SC2086");
    assert_eq!(quoted, "#!/bin/sh\nls \"$1\" \\{}\"$2\"\n");
}

/// shuck counts columns as ShellCheck does, without the backslashes that the shell takes away.
#[test]
fn places_in_backticks() {
    let quotes =
        |line: &str| lines_of(&[("a.sh", &format!("#!/bin/sh\n{line}\n"))], select(&["SC2086"]), "a.sh");
    assert_eq!(quotes("echo `echo \\\\\\\\a $b` $c"), "2 SC2086 \"$b\", 2 SC2086 \"$c\"");
    assert_eq!(quotes("echo `echo \\`a\\` $b`"), "2 SC2086 \"$b\"");
    assert_eq!(quotes("echo `echo \\$b`"), "2 SC2086 \"$b\"");
    assert_eq!(quotes("echo `echo $b \\\\`"), "2 SC2086 \"$b\"");
    let depcomp = "x=${y-`echo \"$z\" |\n  sed 's|[^\\\\/]*$|'${D-.deps}'/&|;s|\\.\\([^.]*\\)$|.P|'`}";
    assert_eq!(quotes(depcomp), "3 SC2086 \"${D-.deps}\"");
    let line = |it: &str| format!("#!/bin/sh\necho `echo {it}\n");
    assert_eq!(fixed(&line("\\\\ $b` $c"), "SC2086"), line("\\\\ $b` \"$c\""));
    assert_eq!(fixed(&line("$b \\\\`"), "SC2086"), line("\"$b\" \\\\`"));
    assert_eq!(fixed(&line("\\\"(`"), "SC2046"), line("\\\"(`"), "in quotes, `\\\"` would be a quote");
    assert_eq!(fixed("#!/bin/sh\necho `b`\n", "SC2046"), "#!/bin/sh\necho \"`b`\"\n");
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
    assert!(!is_safe(payload, "SC2317"));
    assert!(!is_safe("return 0 2>/dev/null || true\necho a", "SC2317"));
    assert!(!is_safe("echo a \\\n  b # shellcheck disable=SC2154", "SC1126"));
    assert!(!is_safe("f() { local -n r=$1; r[$((1+1))]=y; }", "SC2321"));
    assert!(!is_safe(": ${x='a b'}", "SC2223"));
    assert!(!is_safe("ls \"a \"$x\" b\"", "SC2027"));
    assert!(!is_safe("ls \"a \"mid\" b\"$x", "SC2140"));
    assert!(is_safe("f() { a; return $?; }", "SC2265"));
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
    let bom = report("\u{feff}#!/bin/sh\nf() { foo=1; }\nf\n".as_bytes());
    assert_eq!(bom.diagnostics[0].span.start, 19);
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
