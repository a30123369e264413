//! Suppressions, severities, configuration and the baseline.

use insta::assert_snapshot;
use serde_json::Value;

use super::{Workspace, told};

#[test]
fn comments_suppress_and_unused_ones_are_told() {
    let it = Workspace::new(&[
        ("a.py", "import os  # broker: ignore[F401] kept for others\nimport sys\n"),
        ("b.py", "x = 1  # broker: ignore[F401]\n"),
    ]);
    assert_snapshot!(it.told(&[]), @"
    exit 1
    a.py:2:8: warning python/F401 [*] `sys` imported but unused
    b.py:1:8: warning broker/unused-suppression this suppression suppresses no `F401`
    2 findings in 3 files (2 warnings, 1 fixable, 1 suppressed).
    -- stderr
    ");
    // Unused suppressions are not known here, since only some rules run.
    assert_snapshot!(it.told(&["--select", "E501"]), @r#"
exit 0
No findings in 3 files.
-- stderr
"#);
    let sarif = it.run(&["check", "--output-format", "sarif"]);
    let sarif: Value = serde_json::from_slice(&sarif.stdout).unwrap();
    assert!(sarif.to_string().contains("A suppression suppresses nothing"), "{sarif:#}");
}

#[test]
fn an_unused_suppression_says_if_there_is_no_such_rule() {
    let it = Workspace::new(&[("a.py", "x = 1  # broker: ignore[F401, python/F4O1, python/F4]\n")]);
    assert_snapshot!(it.told(&[]), @"
    exit 1
    a.py:1:8: warning broker/unused-suppression this suppression suppresses no `F401`, `python/F4O1` (there is no such rule; the nearest is `python/F401`), `python/F4` (there is no such rule; the nearest is `python/F4*`)
    1 finding in 2 files (1 warning).
    -- stderr
    ");
}

#[test]
fn our_own_rules_are_explained() {
    let it = Workspace::new(&[]);
    let text = told(&it.run(&["rule", "explain", "broker/unused-suppression"]));
    assert!(text.starts_with("exit 0\n# broker/unused-suppression"), "{text}");
    let text = told(&it.run(&["rule", "explain", "invalid-suppression"]));
    assert!(text.starts_with("exit 0\n# broker/invalid-suppression"), "{text}");
}

#[test]
fn the_files_are_shown_with_the_linters_of_their_own_configuration() {
    let config = "[[overrides]]\npaths = [\"gen/\"]\nselect = [\"text/ALL\"]\n";
    let it = Workspace::new(&[("broker.toml", config), ("a.py", ""), ("gen/a.py", "")]);
    let shown = it.run(&["check", "--show-files", "--output-format", "json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    let of = |path: &str| {
        let rows = shown.as_array().unwrap();
        rows.iter().find(|it| it["path"] == path).unwrap()["linters"].clone()
    };
    assert!(of("a.py").as_array().unwrap().contains(&"python".into()), "{shown:#}");
    assert_eq!(of("gen/a.py"), serde_json::json!(["text"]));
}

#[test]
fn the_configuration_decides() {
    let it = Workspace::new(&[
        (
            "broker.toml",
            "ignore = [\"E401\"]\n[severity]\n\"python/F401\" = \"off\"\nF821 = \"hint\"\n\
          [[overrides]]\npaths = [\"tests/\"]\nselect = [\"E711\"]\n",
        ),
        ("a.py", "import os, sys\nx = undefined\ny = x == None\n"),
        ("tests/a.py", "import os, sys\nx = undefined\ny = x == None\n"),
    ]);
    assert_snapshot!(it.told(&[]), @"
    exit 1
    a.py:2:5: hint python/F821 Undefined name `undefined`
    a.py:3:10: warning python/E711 Comparison to `None` should be `cond is None`
    tests/a.py:3:10: warning python/E711 Comparison to `None` should be `cond is None`
    3 findings in 4 files (2 warnings, 1 hint).
    -- stderr
    ");
    assert_eq!(it.json(&[]).1["findings"][0]["severity"], "hint");
    // Rules selected on the command line replace those that the files select and ignore.
    assert_snapshot!(it.told(&["--select", "E401"]), @"
    exit 1
    a.py:1:1: warning python/E401 [*] Multiple imports on one line
    tests/a.py:1:1: warning python/E401 [*] Multiple imports on one line
    2 findings in 3 files (2 warnings, 2 fixable).
    -- stderr
    ");
    assert_snapshot!(it.told(&["--ignore", "E711"]), @"
    exit 1
    a.py:2:5: hint python/F821 Undefined name `undefined`
    1 finding in 4 files (1 hint).
    -- stderr
    ");
    assert_snapshot!(it.told(&["--fail-level", "info", "--ignore", "E711"]), @"
    exit 0
    a.py:2:5: hint python/F821 Undefined name `undefined`
    1 finding in 4 files (1 hint).
    -- stderr
    ");
    assert_snapshot!(it.told(&["--isolated", "--select", "F401", "a.py"]), @"
    exit 1
    a.py:1:8: warning python/F401 [*] `os` imported but unused
    a.py:1:12: warning python/F401 [*] `sys` imported but unused
    2 findings in 1 file (2 warnings, 2 fixable).
    -- stderr
    ");
    it.write("broker.toml", "select = [\"F4O1\"]\n");
    assert_snapshot!(it.told(&[]), @r#"
exit 2
-- stderr
error: broker.toml:1:11: unknown rule selector `F4O1`
hint: did you mean `F401`?
"#);
    it.write("broker.toml", "[suppressions]\nrequire-reasons = true\n");
    assert_snapshot!(it.told(&[]), @r#"
exit 2
-- stderr
error: broker.toml:2:1: unknown key `require-reasons`
hint: did you mean `require-reason`?
"#);
    assert_eq!(it.run(&["check", "--isolated", "."]).status.code(), Some(1));
}

#[test]
fn a_severity_for_no_rule_is_warned_of() {
    let it = Workspace::new(&[("a.py", "import os\n"), ("sub/b.py", "x = 1\n")]);
    it.write(
        "broker.toml",
        "[severity]\n\"python/F401\" = \"hint\"\nF8 = \"hint\"\nF4O1 = \"off\"\n\"F*\" = \"hint\"\n\
         \"text/*\" = \"off\"\nunused-import = \"hint\"\n\"broker/unused-suppression\" = \"off\"\n",
    );
    it.write("sub/broker.toml", "[[overrides]]\npaths = [\"x\"]\nseverity = {\"pyton/F401\" = \"off\"}\n");
    assert_snapshot!(it.told(&[]), @"
    exit 1
    a.py:1:8: hint python/F401 [*] `os` imported but unused
    1 finding in 5 files (1 hint, 1 fixable).
    -- stderr
    warning: broker.toml: `severity` names the unknown rule `F4O1`; did you mean `F401`?
    warning: broker.toml: `severity` names the unknown rule `F8`; did you mean `F8*`?
    warning: sub/broker.toml: `severity` names the unknown rule `pyton/F401`; did you mean `python/F401`?
    ");
    assert!(it.told(&["--quiet"]).ends_with("-- stderr\n"));
    assert!(it.told(&["--isolated"]).ends_with("-- stderr\n"));
}

#[test]
fn the_configuration_is_shown() {
    let it = Workspace::new(&[(
        "broker.toml",
        "ignore = [\"E401\"]\n[[overrides]]\npaths = [\"tests/\"]\nignore = [\"E711\"]\n",
    )]);
    assert_snapshot!(told(&it.run(&["config", "show", "--file", "tests/new.py"])), @r#"
exit 0
# what holds for tests/new.py
ignore = ["E401"]  # broker.toml
suppressions.report-unused = "warning"  # default
suppressions.require-reason = false  # default

# because of paths = [tests/]
ignore = ["E711"]  # broker.toml
-- stderr
"#);
    let json = it.run(&["config", "show", "--output-format", "json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["files"], serde_json::json!(["broker.toml"]));
    let schema = it.run(&["config", "schema"]);
    let mut schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
    let options = schema["properties"]["linters"].as_object_mut().unwrap().remove("properties").unwrap();
    assert_eq!(options["sql"]["properties"]["dialect"]["type"], "string");
    let general: Value = serde_json::from_str(include_str!("../../../../docs/broker.schema.json")).unwrap();
    assert_eq!(schema, general, "and nothing else is of plugins");
    it.write("broker.toml", "selct = []\n");
    assert_snapshot!(told(&it.run(&["config", "show"])), @r#"
exit 2
-- stderr
error: broker.toml:1:1: unknown key `selct`
hint: did you mean `select`?
"#);
}

#[test]
fn a_baseline_is_kept() {
    let it = Workspace::new(&[("a.py", "import os\nimport sys\n")]);
    assert_snapshot!(it.told(&["--baseline-update"]), @r#"
exit 2
-- stderr
error: no baseline is named
hint: give `--baseline FILE`, or set `file` in the table `baseline` of broker.toml
"#);
    assert_snapshot!(it.told(&["--baseline", "known.json"]), @r#"
exit 2
-- stderr
error: cannot read known.json: no such file or directory
hint: `--baseline-update` makes it
"#);
    assert_snapshot!(it.told(&["--baseline", "known.json", "--baseline-update"]), @r#"
exit 0
No findings in 2 files (2 in the baseline).
-- stderr
known.json: 2 known findings
"#);
    it.write("a.py", "import sys\nimport re\n");
    assert_snapshot!(it.told(&["--baseline", "known.json"]), @"
    exit 1
    a.py:2:8: warning python/F401 [*] `re` imported but unused
    1 finding in 3 files (1 warning, 1 fixable, 1 in the baseline).
    -- stderr
    warning: known.json lists 1 finding that is not there any more; `--baseline-prune` takes it out
    ");
    assert_snapshot!(it.told(&["--baseline", "known.json", "--baseline-prune"]), @"
    exit 1
    a.py:2:8: warning python/F401 [*] `re` imported but unused
    1 finding in 3 files (1 warning, 1 fixable, 1 in the baseline).
    -- stderr
    known.json: 1 known finding
    ");
    assert_snapshot!(it.read("known.json"), @r#"
{
  "version": 1,
  "entries": [
    {"path": "a.py", "rule": "python/F401", "fingerprint": "9ba4d93013175fd22b8ea6228fa85ded225d25ac9bd004887ce0ffe83f271076", "count": 1}
  ]
}
"#);
    it.write("broker.toml", "[baseline]\nfile = \"known.json\"\n");
    assert_snapshot!(it.told(&[]), @"
    exit 1
    a.py:2:8: warning python/F401 [*] `re` imported but unused
    1 finding in 4 files (1 warning, 1 fixable, 1 in the baseline).
    -- stderr
    ");
    assert_snapshot!(it.told(&["--baseline-update", "--quiet"]), @r#"
exit 0
-- stderr
"#);
    assert_eq!(it.run(&["check"]).status.code(), Some(0));
    it.write("known.json", "<<<<<<<\n");
    assert_snapshot!(it.told(&[]), @r#"
exit 2
-- stderr
error: known.json:1:1: cannot be used as a baseline: expected value
hint: restore the file, or make it anew
"#);
}

#[test]
fn the_summary_counts_what_is_not_told() {
    let text = "import os  # broker: ignore[F401]\nimport re\nimport sys\n";
    let it = Workspace::new(&[("a.py", text)]);
    let summary = |arguments: &[&str]| {
        let summary = &it.json(arguments).1["summary"];
        ["findings", "suppressed", "baselined", "fixed"].map(|it| summary[it].as_u64().unwrap())
    };
    assert_eq!(summary(&[]), [2, 1, 0, 0]);
    assert_eq!(summary(&["--baseline", "known.json", "--baseline-update"]), [0, 1, 2, 0]);
    it.write("b.py", "import csv\nimport io\n");
    assert_eq!(summary(&["--baseline", "known.json", "--fix"]), [0, 1, 2, 2]);
}

#[test]
fn files_are_left_out_by_configuration_and_by_the_command_line() {
    let it = Workspace::new(&[
        ("broker.toml", "[files]\nexclude = [\"/vendor/\"]\ninclude = [\"*.py\"]\n"),
        ("a.py", "import os\n"),
        ("vendor/b.py", "import os\n"),
        ("lib/c.py", "import os\n"),
        ("lib/d.txt", "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"),
    ]);
    let files = |arguments: &[&str]| {
        let (_, report) = it.json(arguments);
        let findings = report["findings"].as_array().unwrap().clone();
        findings.iter().map(|it| it["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(files(&[]), ["a.py", "lib/c.py"]);
    assert_eq!(files(&["--exclude", "lib"]), ["a.py"]);
    assert_eq!(files(&["--exclude", "*.py,!a.py"]), ["a.py"]);
    assert_eq!(files(&["vendor/b.py", "lib/d.txt"]), ["lib/d.txt", "vendor/b.py"], "they are named");
    assert_eq!(files(&["--force-exclude", "vendor/b.py", "a.py"]), ["a.py"]);
    assert_eq!(files(&["--isolated", "--select", "F401,merge-conflict"]).len(), 4);
    let told = it.told(&["--exclude", "#"]);
    assert!(told.starts_with("exit 2\n") && told.contains("matches no file"), "{told}");
    it.write("lib/broker.toml", "[files]\nexclude = [\"*\"]\n");
    let told = it.told(&[]);
    assert!(told.contains("`files` has no effect here"), "{told}");
}

#[test]
fn what_linters_exclude_themselves_is_left_out_of_named_files_too_if_asked() {
    let files =
        [("ruff.toml", "extend-exclude = ['made']\n"), ("made/a.py", "import os\n"), ("b.py", "import os\n")];
    let it = Workspace::new(&files);
    assert_snapshot!(it.told(&["made/a.py"]), @"
    exit 1
    made/a.py:1:8: warning python/F401 [*] `os` imported but unused
    1 finding in 1 file (1 warning, 1 fixable).
    -- stderr
    ");
    assert_snapshot!(it.told(&["--force-exclude", "made/a.py", "b.py"]), @"
    exit 1
    b.py:1:8: warning python/F401 [*] `os` imported but unused
    1 finding in 2 files (1 warning, 1 fixable).
    -- stderr
    ");
}

#[test]
fn limits_of_findings_and_warnings_decide_what_is_shown_and_the_exit_code() {
    let it = Workspace::new(&[
        ("broker.toml", "[severity]\n\"python/F401\" = \"warning\"\n"),
        ("a.py", "import os\nimport re\n"),
    ]);
    assert_snapshot!(it.told(&["--max-findings", "1"]), @"
    exit 1
    a.py:1:8: warning python/F401 [*] `os` imported but unused
    … 1 more finding not shown.

    2 findings in 3 files (2 warnings, 2 fixable).
    -- stderr
    ");
    let exit = |arguments: &[&str]| it.told(arguments)[..6].to_owned();
    assert_eq!(exit(&["--max-warnings", "2"]), "exit 0");
    assert_eq!(exit(&["--max-warnings", "1"]), "exit 1");
    it.write("b.py", "x = y\n");
    assert_eq!(exit(&["--max-warnings", "9"]), "exit 1", "F821 is an error");
}

#[test]
fn timing_tells_what_was_computed() {
    let it = Workspace::new(&[("a.py", "import os\n")]);
    let table = |it: &Workspace| {
        let told = it.told(&["--timing"]);
        told.split_once("-- stderr\n").unwrap().1.to_owned()
    };
    let first = table(&it);
    assert!(first.contains("\npython ") && first.contains("ms  python  a.py\n"), "{first}");
    assert_eq!(table(&it), "Nothing was computed: all answers were kept from earlier runs.\n");
}
