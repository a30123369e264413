//! Comments, selectors and configurations, which say which rules hold.

use super::*;

#[test]
fn comments_switch_rules_off() {
    assert_eq!(check("#!/bin/sh\n# shellcheck disable=SC2034\nf() { local foo=1; }\nf\n"), "");
    assert_eq!(check("#!/bin/sh\n# shuck: disable=SC2034\nf() { local foo=1; }\nf\n"), "");
}

#[test]
fn selection() {
    let selected =
        |codes: &[&str]| lines_of(&[("a.sh", "#!/bin/sh\nfoo=1\necho $1\n")], select(codes), "a.sh");
    assert_eq!(selected(&["SC2034"]), "2 SC2034 \"foo\"");
    assert_eq!(selected(&["SC2034"]), "2 SC2034 \"foo\"");
    assert_eq!(selected(&["unused-assignment"]), "2 SC2034 \"foo\"");
    assert_eq!(selected(&["SC2086"]), "3 SC2086 \"$1\"");
    assert!(selected(&["ALL"]).contains("SC2086"));
    assert!(selected(&["F401"]).contains("F401"));
}

#[test]
fn shucks_configuration() {
    let files = |config: &'static str| {
        [
            ("d/a.sh", "#!/bin/bash\nf() { local foo=1; }; f\necho $1\n"),
            (".shuck.toml", config),
            ("d/x.sh", "a=(1)\necho \"${a[@]}\"\n"),
        ]
    };
    let a = |config| lines_of(&files(config), settings(), "d/a.sh");
    assert_eq!(a("[lint]\nignore = ['SC2034']\n"), "");
    assert_eq!(a("[lint]\nextend-select = ['SC2086']\nignore = ['C']\n"), "3 SC2086 \"$1\"");
    assert_eq!(a("[lint.per-file-ignores]\n'd/*.sh' = ['SC2034']\n"), "");
    assert!(
        lines_of(&files("[lint.per-file-shell]\n'x.sh' = 'sh'\n"), settings(), "d/x.sh").contains("SC3030")
    );
    let fixes = report(&files("[lint]\nunfixable = ['SC2034']\n"), settings(), "d/a.sh").unwrap();
    assert!(fixes.diagnostics[0].fixes.is_empty());
    assert_eq!(
        lines_of(
            &files("[lint]\nignore = ['SC2034']\n"),
            Settings { isolated: true, ..settings() },
            "d/a.sh"
        ),
        "2 SC2034 \"foo\", 3 SC2086 \"$1\""
    );
    let named = Settings { config: Some(".shuck.toml".to_owned()), ..settings() };
    assert_eq!(lines_of(&files("[lint]\nignore = ['SC2034']\n"), named, "d/a.sh"), "");
    assert_eq!(
        a("[lint]\nselect = ['S080']\n[lint.rule-options.s080]\nmax-lines = 2\n").split(' ').nth(1),
        Some("S080")
    );
}

#[test]
fn a_broken_configuration_is_one_sentence() {
    let with = |config: &str| lines_of(&[("a.sh", ""), (".shuck.toml", config)], settings(), "a.sh");
    assert!(with("x = \n").starts_with("cannot use `.shuck.toml`: line 1: "));
    assert_eq!(with("lint = 1\n"), "cannot use `.shuck.toml`: `lint` should be a table");
    assert_eq!(
        with("[lint]\nignore = ['C9']\nselect = ['Q1']\n"),
        "cannot use `.shuck.toml`: there is no rule `Q1`, which `lint.select` names"
    );
    assert_eq!(
        with("[lint.per-file-shell]\n'*.sh' = 'fish'\n"),
        "cannot use `.shuck.toml`: `lint.per-file-shell` names `fish`: it can be `bash`, `dash`, `ksh`, `mksh`, `sh` or `zsh`"
    );
    assert_eq!(
        with("[lint.rule-options.s080]\nmax-lines = 'x'\n"),
        "cannot use `.shuck.toml`: `lint.rule-options.s080.max-lines` should be a number"
    );
    assert_eq!(
        with("[lint.rule-options.c001]\nx = 1\n"),
        "cannot use `.shuck.toml`: there is no option `lint.rule-options.c001.x`"
    );
}

#[test]
fn shellchecks_configuration() {
    let with = |config: &str| {
        lines_of(
            &[
                ("d/a.sh", "#!/bin/bash\nf() { local foo=1; }; f\na=(1)\necho \"${a[@]}\"\n"),
                (".shellcheckrc", config),
            ],
            settings(),
            "d/a.sh",
        )
    };
    assert_eq!(with("# none\nexternal-sources=true\n"), "2 SC2034 \"foo\"");
    assert_eq!(with("disable=SC1000,SC2034 # why\n"), "");
    assert_eq!(with("disable=SC2030-SC2040\n"), "");
    assert_eq!(with("disable=all\n"), "");
    assert!(with("shell=sh\n").contains("SC3030"));
    assert_eq!(with("shell=busybox\n"), "2 SC2034 \"foo\"", "as if it were not there");
}
