//! What is said of small scripts.

#![allow(clippy::disallowed_methods, reason = "a plugin has no overlay: its file system is the branch")]

use broker_plugin_sdk::{
    testing::{self, select, settings},
    *,
};

use crate::Shell;

/// What is said of `path` where these files are.
fn report(files: &[(&str, &str)], settings: Settings, path: &str) -> Result<Report, String> {
    let project = testing::Project::<Shell>::new(files).try_with(settings);
    project.map_err(|it| format!("{it:?}"))?.report(path, "")
}

/// `line code "text it is about"` of each finding; `excluded`, or what is wrong with the configuration.
fn told(files: &[(&str, &str)], settings: Settings, path: &str) -> String {
    let project = testing::Project::<Shell>::new(files).try_with(settings);
    project.map_or_else(|it| format!("{it:?}"), |mut it| it.lines(path))
}

fn check(text: &str) -> String {
    told(&[("a.sh", text)], settings(), "a.sh")
}

#[test]
fn what_is_right_has_no_findings() {
    assert_eq!(check("#!/bin/sh\nset -eu\nname=\"${1:-x}\"\necho \"$name\"\n"), "");
    assert_eq!(check("#!/bin/bash\nlist=(a b)\n[[ ${#list[@]} -gt 1 ]] && echo \"${list[@]}\"\n"), "");
    assert_eq!(check(""), "");
}

#[test]
fn shucks_findings() {
    assert_eq!(check("#!/bin/sh\nfoo=1\ncd /x\n"), "2 C001 \"foo\", 3 C004 \"cd /x\"");
    assert_eq!(check("#!/bin/sh\nif [[ a == b ]]; then :; fi\n").split(' ').nth(1), Some("X001"));
    let found = report(&[("a.sh", "#!/bin/sh\nfoo=1\n")], settings(), "a.sh").unwrap();
    let [found] = &found.diagnostics[..] else { panic!("{found:?}") };
    assert_eq!((found.name.as_deref(), found.severity), (Some("unused-assignment"), Severity::Warning));
    assert_eq!(found.url.as_deref(), Some("https://www.shellcheck.net/wiki/SC2034"));
    assert_eq!(found.fixes[0].applicability, Applicability::Unsafe);
}

#[test]
fn shells() {
    let array = "a=(1)\necho \"${a[@]}\"\n";
    assert_eq!(check(&format!("#!/bin/bash\n{array}")), "");
    assert!(check(&format!("#!/bin/sh\n{array}")).contains("X013"));
    assert_eq!(check(array), "", "nobody said that it is for sh");
    assert!(check(&format!("# shellcheck shell=sh\n{array}")).contains("X013"));
    assert!(
        check(&format!("\n# why\n#  shellcheck  disable=SC1091  shell=sh # why\n{array}")).contains("X013")
    );
    assert_eq!(check(&format!("# shellcheck disable=SC1091 # shell=sh\n{array}")), "");
    assert_eq!(check(&format!("{array}# shellcheck shell=sh\n")), "");
    assert_eq!(check("#!/usr/bin/env fish\n# shellcheck shell=sh\necho\n"), "", "it says that it is for sh");
    let named = |name| told(&[(name, array)], settings(), name);
    assert!(named(".profile").contains("X013"), "what starts any shell is for any");
    assert_eq!(named(".bashrc"), "");
    assert_eq!(check("#!/usr/bin/env fish\nset x (date)\nif test; end\n"), "excluded");
    assert_eq!(check("#!/usr/bin/env zsh\nprint -l ${(u)path}\n"), "");
}

#[test]
fn what_cannot_be_parsed() {
    assert_eq!(check("#!/bin/bash\nfoo=1\necho $(ls\n").split(' ').nth(1), Some("syntax-error"));
    let found = report(&[("a.sh", "#!/bin/sh\nfoo=1\nif true; then\n  :\n")], settings(), "a.sh").unwrap();
    let codes: Vec<_> = found.diagnostics.iter().map(|it| (it.code.as_str(), it.severity)).collect();
    assert_eq!(codes, [("C034", Severity::Error), ("C035", Severity::Error)], "shuck has rules for this");
    let ignoring = Settings { ignore: vec!["syntax-error".to_owned()], ..settings() };
    assert_eq!(told(&[("a.sh", "echo $(ls\n")], ignoring, "a.sh"), "");
    assert!(told(&[("a.sh", "echo $(ls\n")], select(&["C001"]), "a.sh").contains("syntax-error"));
}

/// Where the parser names no place, the script may be right.
#[test]
fn what_the_parser_gives_up() {
    let report = report(&[("a.sh", "#!/bin/sh\nf() {(\n  :\n)}\nf\n")], settings(), "a.sh").unwrap();
    assert!(report.diagnostics.is_empty());
    let Completeness::Partial(why) = report.completeness else { panic!("should be told") };
    assert_eq!(why, "it was not looked at as a whole: expected compound command for function body");
}

#[test]
fn comments_switch_rules_off() {
    assert_eq!(check("#!/bin/sh\n# shellcheck disable=SC2034\nfoo=1\n"), "");
    assert_eq!(check("#!/bin/sh\n# shuck: disable=C001\nfoo=1\n"), "");
}

#[test]
fn selection() {
    let told = |codes: &[&str]| told(&[("a.sh", "#!/bin/sh\nfoo=1\necho $1\n")], select(codes), "a.sh");
    assert_eq!(told(&["C001"]), "2 C001 \"foo\"");
    assert_eq!(told(&["SC2034"]), "2 C001 \"foo\"");
    assert_eq!(told(&["unused-assignment"]), "2 C001 \"foo\"");
    assert_eq!(told(&["S001"]), "3 S001 \"$1\"");
    assert!(told(&["ALL"]).contains("S001"));
    assert!(told(&["F401"]).contains("F401"));
}

#[test]
fn shucks_configuration() {
    let files = |config: &'static str| {
        [
            ("d/a.sh", "#!/bin/sh\nfoo=1\necho $1\n"),
            (".shuck.toml", config),
            ("d/x.sh", "a=(1)\necho \"${a[@]}\"\n"),
        ]
    };
    let a = |config| told(&files(config), settings(), "d/a.sh");
    assert_eq!(a("[lint]\nignore = ['C001']\n"), "");
    assert_eq!(a("[lint]\nextend-select = ['S001']\nignore = ['C']\n"), "3 S001 \"$1\"");
    assert_eq!(a("[lint.per-file-ignores]\n'd/*.sh' = ['C001']\n"), "");
    assert!(told(&files("[lint.per-file-shell]\n'x.sh' = 'sh'\n"), settings(), "d/x.sh").contains("X013"));
    let fixes = report(&files("[lint]\nunfixable = ['C001']\n"), settings(), "d/a.sh").unwrap();
    assert!(fixes.diagnostics[0].fixes.is_empty());
    assert_eq!(
        told(&files("[lint]\nignore = ['C001']\n"), Settings { isolated: true, ..settings() }, "d/a.sh"),
        "2 C001 \"foo\""
    );
    let named = Settings { config: Some(".shuck.toml".to_owned()), ..settings() };
    assert_eq!(told(&files("[lint]\nignore = ['C001']\n"), named, "d/a.sh"), "");
    assert_eq!(
        a("[lint]\nselect = ['S080']\n[lint.rule-options.s080]\nmax-lines = 2\n").split(' ').nth(1),
        Some("S080")
    );
}

#[test]
fn a_broken_configuration_is_one_sentence() {
    let told = |config: &str| told(&[("a.sh", ""), (".shuck.toml", config)], settings(), "a.sh");
    assert!(told("x = \n").starts_with("cannot use `.shuck.toml`: line 1: "));
    assert_eq!(told("lint = 1\n"), "cannot use `.shuck.toml`: `lint` should be a table");
    assert_eq!(
        told("[lint]\nignore = ['C9']\nselect = ['Q1']\n"),
        "cannot use `.shuck.toml`: there is no rule `Q1`, which `lint.select` names"
    );
    assert_eq!(
        told("[lint.per-file-shell]\n'*.sh' = 'fish'\n"),
        "cannot use `.shuck.toml`: `lint.per-file-shell` names `fish`: it can be `bash`, `dash`, `ksh`, `mksh`, `sh` or `zsh`"
    );
    assert_eq!(
        told("[lint.rule-options.s080]\nmax-lines = 'x'\n"),
        "cannot use `.shuck.toml`: `lint.rule-options.s080.max-lines` should be a number"
    );
    assert_eq!(
        told("[lint.rule-options.c001]\nx = 1\n"),
        "cannot use `.shuck.toml`: there is no option `lint.rule-options.c001.x`"
    );
}

#[test]
fn shellchecks_configuration() {
    let told = |config: &str| {
        told(
            &[("d/a.sh", "foo=1\na=(1)\necho \"${a[@]}\"\n"), (".shellcheckrc", config)],
            settings(),
            "d/a.sh",
        )
    };
    assert_eq!(told("# none\nexternal-sources=true\n"), "1 C001 \"foo\"");
    assert_eq!(told("disable=SC1000,SC2034 # why\n"), "");
    assert_eq!(told("disable=SC2030-SC2040\n"), "");
    assert_eq!(told("disable=all\n"), "");
    assert!(told("shell=sh\n").contains("X013"));
    assert_eq!(told("shell=busybox\n"), "1 C001 \"foo\"", "as if it were not there");
}

#[test]
fn odd_files() {
    let report = |content: &[u8]| {
        let file = SourceFile { path: "a.sh".to_owned(), content: content.to_vec(), named: String::new() };
        let mut plugin = Shell::new();
        plugin.configure(&Settings { isolated: true, ..settings() }).unwrap();
        plugin.check(&file).unwrap()
    };
    let bom = report("\u{feff}#!/bin/sh\nfoo=1\n".as_bytes());
    assert_eq!(bom.diagnostics[0].span.start, 13);
    assert!(matches!(report(b"echo '\xff'\n").completeness, Completeness::Complete));
    assert!(matches!(report(b"\x7fELF\0").completeness, Completeness::Excluded));
    for text in
        ["$(".repeat(10_000), "{ ".repeat(10_000), "if true; then ".repeat(2_000), "\"${a:-".repeat(5_000)]
    {
        let report = report(text.as_bytes());
        assert!(matches!(report.completeness, Completeness::Partial(_)) || !report.diagnostics.is_empty());
    }
}
