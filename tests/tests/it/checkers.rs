//! Commands as linters, through the program: trust, branches, what `broker.toml` and `--select` turn on.

use std::{fs, os::unix::fs::PermissionsExt as _, process::Output};

use serde_json::Value;
use tests::place::Place;

/// A workspace with a checker of its own, a script that finds the word `bad`.
fn place(config: &str) -> Place {
    let it = Place::new(&[("broker.toml", config), ("a.m", "good\n"), ("b.m", "good\n")]);
    it.write(
        "tools/lint",
        "#!/bin/sh\n[ -e broken ] && { echo 'it broke' >&2; exit 3; }\ngrep -n bad *.m | sed 's/bad.*/1: a bad word/'\n\
         echo written > a.m\ngrep -q bad b.m && exit 1\nexit 0\n",
    );
    fs::set_permissions(it.root().join("tools/lint"), fs::Permissions::from_mode(0o755)).unwrap();
    it
}

const OWN: &str = "[checkers.own]\ncommand = ['tools/lint']\nglobs = ['*.m']\noutput = 'regex'\n\
                   pattern = '^(?<path>[^:]+):(?<line>\\d+):(?<column>\\d+): (?<message>.*)$'\n";

fn check(it: &Place, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = it.run(&[&["check", "--output-format", "json"], arguments].concat());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let Output { status, stdout, stderr } = output;
    let read = |error| panic!("{error}: {}{}", text(&stdout), text(&stderr));
    (status.code(), serde_json::from_slice(&stdout).unwrap_or_else(read))
}

fn messages(report: &Value) -> Vec<String> {
    let place = |it: &Value| format!("{} {}", it["path"].as_str().unwrap(), it["message"].as_str().unwrap());
    report["findings"].as_array().unwrap().iter().map(place).collect()
}

fn reason(report: &Value) -> String {
    report["incomplete"][0]["reason"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn no_command_runs_in_a_workspace_that_is_not_trusted() {
    let it = place(OWN);
    it.write("b.m", "bad\n");
    let (exit, report) = check(&it, &[]);
    assert_eq!(exit, Some(2), "{report}");
    assert!(
        reason(&report).contains("`broker.toml` defines it, and")
            && reason(&report).contains("is not trusted; see `broker trust`")
    );
    assert!(it.run(&["trust"]).status.success());
    let (exit, report) = check(&it, &[]);
    assert_eq!((exit, messages(&report)), (Some(1), vec!["b.m a bad word".to_owned()]), "{report}");
    assert_eq!(it.read("a.m"), "good\n");
}

/// The project's own version of a tool, in place of the plugin that carries another one.
#[test]
fn a_checker_takes_the_place_of_a_plugin() {
    let it = Place::new(&[
        ("broker.toml", "[checkers.ruff]\ncommand = ['tools/ruff']\n"),
        ("ruff.toml", "required-version = '>=99'\n"),
        ("a.py", "import os\n"),
    ]);
    it.write(
        "tools/ruff",
        "#!/bin/sh\ngrep -q import a.py || exec echo '[]'\n\
         at() { echo \"{\\\"row\\\": $1, \\\"column\\\": 1}\"; }\n\
         echo \"[{\\\"filename\\\": \\\"$PWD/a.py\\\", \\\"code\\\": \\\"F401\\\", \\\"severity\\\": \\\"error\\\", \\\"message\\\": \\\"unused\\\", \
         \\\"location\\\": $(at 1), \\\"end_location\\\": $(at 2), \\\"fix\\\": {\\\"applicability\\\": \\\"safe\\\", \
         \\\"edits\\\": [{\\\"content\\\": \\\"\\\", \\\"location\\\": $(at 1), \\\"end_location\\\": $(at 2)}]}}]\"\nexit 1\n",
    );
    fs::set_permissions(it.root().join("tools/ruff"), fs::Permissions::from_mode(0o755)).unwrap();
    let (exit, report) = check(&it, &["a.py"]);
    let reasons = report["incomplete"].to_string();
    assert_eq!(exit, Some(2), "{report}");
    assert!(reasons.contains("requires ruff >=99") && reasons.contains("broker server add ruff"), "{report}");
    assert!(it.run(&["trust"]).status.success());
    let (exit, report) = check(&it, &["a.py"]);
    let finding = &report["findings"][0];
    assert_eq!((exit, messages(&report)), (Some(1), vec!["a.py unused".to_owned()]), "{report}");
    assert_eq!((&finding["linter"], &finding["severity"]), (&"ruff".into(), &"warning".into()));
    assert_eq!(check(&it, &["--select", "python/F401", "a.py"]).0, Some(2), "the plugin, by its name");
    assert_eq!(check(&it, &["--fix", "a.py"]).0, Some(0));
    assert_eq!(it.read("a.py"), "");
}

#[test]
fn a_branch_is_checked_in_a_folder_of_its_own() {
    let it = place(OWN);
    it.run(&["trust"]);
    for (branch, text) in [("one", "bad\n"), ("two", "good too\n")] {
        assert!(it.run(&["branch", "fork", branch]).status.success());
        assert!(it.run_with_input(&["branch", "write", branch, "b.m"], text).status.success());
    }
    for _ in 0..2 {
        let (exit, report) = check(&it, &["--branch", "one"]);
        assert_eq!((exit, messages(&report)), (Some(1), vec!["b.m a bad word".to_owned()]), "{report}");
        let (exit, report) = check(&it, &["--branch", "two"]);
        assert_eq!((exit, messages(&report)), (Some(0), vec![]), "{report}");
    }
    assert_eq!((it.read("a.m"), it.read("b.m")), ("good\n".to_owned(), "good\n".to_owned()));
    // Commands that a branch configures do not count.
    let evil = OWN.replace("tools/lint", "tools/evil");
    assert!(it.run_with_input(&["branch", "write", "two", "broker.toml"], &evil).status.success());
    assert_eq!(check(&it, &["--branch", "two", "b.m"]).0, Some(0));
}

/// Merges are previewed of branches that change what a command may read, also where it is not asked about those files.
#[test]
fn a_merge_is_previewed_where_a_command_may_read_what_the_other_branch_changed() {
    let it = place(&OWN.replace("globs =", "depends-on = ['*.m', '*.bin']\nglobs ="));
    it.write(
        "tools/lint",
        "#!/bin/sh\ngrep -n embed *.m | while IFS=: read -r file line _; do\n\
         [ -e data.bin ] || echo \"$file:$line:1: data.bin is missing\"\ndone\n",
    );
    it.write("data.bin", "data");
    it.run(&["trust"]);
    ["removes", "uses", "else"].iter().for_each(|branch| _ = it.run(&["branch", "fork", branch]));
    assert!(it.run(&["branch", "rm", "removes", "data.bin"]).status.success());
    for (branch, path, text) in [("uses", "a.m", "embed\n"), ("else", "notes.txt", "notes\n")] {
        assert!(it.run_with_input(&["branch", "write", branch, path], text).status.success());
    }
    let preview = it.run(&["branch", "merge-preview", "--output-format", "json", "removes", "uses", "else"]);
    let preview: Value = serde_json::from_slice(&preview.stdout).unwrap();
    assert_eq!((&preview["looked_at"], &preview["skipped"]), (&1.into(), &2.into()), "{preview}");
    let found = &preview["pairs"][0]["findings"][0];
    assert_eq!(
        (&found["path"], &found["message"]),
        (&"a.m".into(), &"data.bin is missing".into()),
        "{preview}"
    );
}

#[test]
fn what_git_has_is_checked_in_the_place_of_the_disk() {
    let it = place(OWN);
    it.run(&["trust"]);
    it.write("b.m", "bad\n");
    it.git(&["init", "-q"]);
    it.git(&["add", "-A"]);
    it.git(&["commit", "-qm", "one"]);
    it.write("b.m", "good\n");
    assert_eq!(check(&it, &[]).0, Some(0));
    let (exit, report) = check(&it, &["--rev", "HEAD"]);
    assert_eq!((exit, messages(&report)), (Some(1), vec!["b.m a bad word".to_owned()]), "{report}");
    it.git(&["add", "b.m"]);
    it.write("b.m", "bad\n");
    let (exit, report) = check(&it, &["--staged"]);
    assert_eq!((exit, messages(&report)), (Some(0), vec![]), "{report}");
    assert_eq!(it.read("b.m"), "bad\n");
}

#[test]
fn a_text_on_standard_input_is_checked_in_its_place() {
    let it = place(OWN);
    it.run(&["trust"]);
    for (text, exit) in [("bad\n", 1), ("good too\n", 0)] {
        let output = it.run_with_input(&["check", "--stdin-filename", "b.m", "-"], text);
        assert_eq!(output.status.code(), Some(exit), "{output:?}");
    }
    assert_eq!(it.read("b.m"), "good\n");
}

#[test]
fn a_command_that_breaks_is_no_clean_run() {
    let it = place(OWN);
    it.run(&["trust"]);
    it.write("broken", "");
    let (exit, report) = check(&it, &[]);
    assert_eq!(exit, Some(2), "{report}");
    assert!(reason(&report).contains("own: it ended with exit code 3: it broke"), "{report}");
}

#[test]
fn what_turns_a_checker_on() {
    let it = place(&OWN.replace("[checkers.own]", "[checkers.own]\nenabled = false"));
    it.write("b.m", "bad\n");
    it.run(&["trust"]);
    assert_eq!(check(&it, &[]).0, Some(0));
    assert_eq!(messages(&check(&it, &["--select", "own/ALL"]).1), ["b.m a bad word"]);
    assert_eq!(check(&it, &["--select", "own/none"]).0, Some(0));
    let output = it.run(&["check", "--select", "onw/ALL"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `own`?"), "{output:?}");
    let output = it.run(&["doctor"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let listed = |it: &Place| String::from_utf8_lossy(&it.run(&["plugin", "list"]).stdout).into_owned();
    assert!(!listed(&it).contains("\nown "));
    it.write("broker.toml", OWN);
    let (listed, path) = (listed(&it), it.root().join("tools/lint"));
    assert!(
        listed.contains("\nown ") && listed.contains(&format!("Command: runs {} ", path.display())),
        "{listed}"
    );
    let is_told =
        |it: &str| ["checker", " own ", "not named in broker.toml"].iter().all(|word| it.contains(word));
    assert!(text.lines().any(is_told), "{text}");
}

#[test]
fn a_definition_that_means_nothing_is_an_error() {
    let it = place("[checkers.own]\ncommand = ['x']\nglobs = ['*']\n");
    let output = it.run(&["check"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(error.contains("checkers.own, in `broker.toml`: `output` is missing"), "{error}");
}

/// The copy of `broker.toml` on the disk names the programs that run, so that a branch's copy cannot stand in for it.
#[test]
fn a_broken_configuration_on_the_disk_stops_a_trusted_workspace() {
    let it = place(OWN);
    it.write("b.m", "bad\n");
    it.run(&["trust"]);
    assert!(it.run(&["branch", "fork", "one"]).status.success());
    assert_eq!(check(&it, &["--branch", "one", "b.m"]).0, Some(1));
    it.write("broker.toml", "selct = []\n");
    assert!(it.run_with_input(&["branch", "write", "one", "broker.toml"], OWN).status.success());
    let output = it.run(&["check", "--branch", "one", "b.m"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("broker.toml:1:1: unknown key `selct` (on the disk)"), "{said}");
    it.run(&["trust", "--revoke"]);
    let output = it.run(&["check", "--branch", "one", "b.m"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("on the disk"));
}
