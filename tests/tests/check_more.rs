//! `broker check` with what decides over findings, with fixes, and with git: through the program, with the
//! real plugins.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at the disk themselves, and may fail"
)]

use std::{
    fs,
    io::{BufRead as _, BufReader},
    ops::Deref,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use insta::assert_snapshot;
use serde_json::Value;
use tests::place::{Ending, Place};

struct Workspace(Place);

impl Deref for Workspace {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.0
    }
}

impl Workspace {
    fn new(files: &[(&str, &str)]) -> Self {
        let it = Self(Place::new(&[("pyproject.toml", "[tool.ruff.lint]\nselect = [\"E\", \"F\"]\n")]));
        files.iter().for_each(|(path, text)| it.write(path, text));
        it
    }

    /// Exit code, standard output and standard error of `broker check --output-format concise`.
    fn told(&self, arguments: &[&str]) -> String {
        told(&self.run(&[&["check", "--output-format", "concise"], arguments].concat()))
    }

    /// The report without what changes from run to run.
    fn json(&self, arguments: &[&str]) -> (i32, Value) {
        let output = self.run(&[&["check", "--output-format", "json"], arguments].concat());
        let mut value: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", told(&output)));
        value["summary"]["duration_ms"] = Value::Null;
        (output.status.code().unwrap(), value)
    }

    fn commit_all(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", "all"]);
    }
}

fn told(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().expect("not killed");
    format!("exit {code}\n{}-- stderr\n{}", text(&output.stdout), text(&output.stderr))
}

#[test]
fn comments_suppress_and_unused_ones_are_told() {
    let it = Workspace::new(&[
        ("a.py", "import os  # broker: ignore[F401] kept for others\nimport sys\n"),
        ("b.py", "x = 1  # broker: ignore[F401]\n"),
    ]);
    assert_snapshot!(it.told(&[]), @r#"
exit 1
a.py:2:8: python/F401 [*] `sys` imported but unused
b.py:1:8: broker/unused-suppression [*] this suppression suppresses no `F401`
2 findings in 3 files (2 fixable, 1 suppressed).
-- stderr
"#);
    // Nobody knows what is unused if not everything was asked.
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
fn our_own_rules_are_explained() {
    let it = Workspace::new(&[]);
    let text = told(&it.run(&["explain", "broker/unused-suppression"]));
    assert!(text.starts_with("exit 0\n# broker/unused-suppression"), "{text}");
    let text = told(&it.run(&["explain", "invalid-suppression"]));
    assert!(text.starts_with("exit 0\n# broker/invalid-suppression"), "{text}");
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
    assert_snapshot!(it.told(&[]), @r#"
exit 1
a.py:2:5: python/F821 Undefined name `undefined`
a.py:3:10: python/E711 Comparison to `None` should be `cond is None`
tests/a.py:3:10: python/E711 Comparison to `None` should be `cond is None`
3 findings in 4 files.
-- stderr
"#);
    assert_eq!(it.json(&[]).1["findings"][0]["severity"], "hint");
    // What is asked for on the command line takes the place of what the files select and ignore.
    assert_snapshot!(it.told(&["--select", "E401"]), @r#"
exit 1
a.py:1:1: python/E401 [*] Multiple imports on one line
tests/a.py:1:1: python/E401 [*] Multiple imports on one line
2 findings in 3 files (2 fixable).
-- stderr
"#);
    assert_snapshot!(it.told(&["--ignore", "E711"]), @r#"
exit 1
a.py:2:5: python/F821 Undefined name `undefined`
1 finding in 4 files.
-- stderr
"#);
    assert_snapshot!(it.told(&["--fail-level", "info", "--ignore", "E711"]), @r#"
exit 0
a.py:2:5: python/F821 Undefined name `undefined`
1 finding in 4 files.
-- stderr
"#);
    assert_snapshot!(it.told(&["--isolated", "--select", "F401", "a.py"]), @r#"
exit 1
a.py:1:8: python/F401 [*] `os` imported but unused
a.py:1:12: python/F401 [*] `sys` imported but unused
2 findings in 1 file (2 fixable).
-- stderr
"#);
    it.write("broker.toml", "select = [\"F4O1\"]\n");
    assert_snapshot!(it.told(&[]), @r#"
exit 2
-- stderr
error: unknown rule selector `F4O1`, in `broker.toml`
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
    assert_snapshot!(it.told(&[]), @r#"
exit 1
a.py:1:8: python/F401 [*] `os` imported but unused
1 finding in 5 files (1 fixable).
-- stderr
warning: broker.toml: no rule is called `F4O1`, of which `severity` tells; did you mean `F401`?
warning: broker.toml: no rule is called `F8`, of which `severity` tells
warning: sub/broker.toml: no rule is called `pyton/F401`, of which `severity` tells; did you mean `python/F401`?
"#);
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
    assert_eq!(schema.stdout, include_bytes!("../../docs/broker.schema.json"));
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
    assert_snapshot!(it.told(&["--baseline", "known.json"]), @r#"
exit 1
a.py:2:8: python/F401 [*] `re` imported but unused
1 finding in 3 files (1 fixable, 1 in the baseline).
-- stderr
warning: known.json lists 1 finding that is not there any more; `--baseline-prune` takes them out
"#);
    assert_snapshot!(it.told(&["--baseline", "known.json", "--baseline-prune"]), @r#"
exit 1
a.py:2:8: python/F401 [*] `re` imported but unused
1 finding in 3 files (1 fixable, 1 in the baseline).
-- stderr
known.json: 1 known finding
"#);
    assert_snapshot!(it.read("known.json"), @r#"
{
  "version": 1,
  "entries": [
    {"path": "a.py", "rule": "python/F401", "fingerprint": "9ba4d93013175fd22b8ea6228fa85ded225d25ac9bd004887ce0ffe83f271076", "count": 1}
  ]
}
"#);
    it.write("broker.toml", "[baseline]\nfile = \"known.json\"\n");
    assert_snapshot!(it.told(&[]), @r#"
exit 1
a.py:2:8: python/F401 [*] `re` imported but unused
1 finding in 4 files (1 fixable, 1 in the baseline).
-- stderr
"#);
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

/// A package that is as untidy as they come.
const MESSY: [(&str, &str); 7] = [
    (
        "pkg/__init__.py",
        "from .a import *\nimport os, sys\nimport json as json\nfrom typing import List, Dict, Optional\n",
    ),
    (
        "pkg/a.py",
        "import os\nimport sys, re\nfrom collections import OrderedDict, defaultdict\n\n\ndef f():\n    import json\n    import csv\n\n\
         class C:\n    def g(self):\n        import os\n        x = f\"nothing\"\n        try:\n            pass\n        except Exception as e:\n            pass\n\
         \x20       if x == None or not x is None or x != True:\n            return dict(a=1, a2=f'')\n        y: int = 3\n        print('%s' % x, '{}'.format(1, 2))\n\n\
         def h(a, b=None):\n    lambda_ = lambda x: x\n    if type(a) == type(b): pass\n    raise NotImplemented\n",
    ),
    ("pkg/crlf.py", "import os\r\nimport sys\r\n\r\n\r\nx = f'a'\r\nif not x in [1]:\r\n    pass\r\n"),
    ("pkg/bom.py", "\u{feff}import os\nx = f'ä'  # ünused\nif not x in []:\n\tpass\n"),
    ("pkg/no_newline.py", "import os\nx = f'𐐀'; y = x == None"),
    ("pkg/broken.py", "import os\ndef f(:\n    x = (1,\n"),
    (
        "pkg/again.py",
        "import os\nimport os\nfrom os import path\nimport os.path\n\n\ndef os():\n    import re, re\n    from a import b, b as c, d\n    return c\n",
    ),
];

fn ruff() -> PathBuf {
    let path = std::env::var_os("BROKER_TEST_RUFF");
    path.expect("BROKER_TEST_RUFF must name ruff 0.16.4: run the tests with ./dev test").into()
}

#[test]
fn fixes_are_those_of_ruff() {
    for flags in
        [&["--fix"][..], &["--fix", "--unsafe-fixes"], &["--fix", "--unsafe-fixes", "--select", "ALL"]]
    {
        let (ours, theirs) = (Workspace::new(&MESSY), Workspace::new(&MESSY));
        // The default rules.
        ours.write("pyproject.toml", "");
        theirs.write("pyproject.toml", "");
        let arguments = [&["check", "--no-cache", "pkg"], flags].concat();
        let said = told(&ours.run(&arguments));
        assert!(said.contains(" fixed"), "{said}");
        theirs.isolated(ruff(), &arguments).output().unwrap();
        for (path, before) in MESSY {
            let (ours, theirs) = (ours.read(path), theirs.read(path));
            assert!(ours == theirs, "{flags:?} {path}\n{said}\nbroker: {ours:?}\nruff:   {theirs:?}");
            assert!(ours != before || !path.ends_with("a.py"), "{path} is as it was: the test shows nothing");
        }
    }
}

#[test]
fn a_fixed_file_is_told_of() {
    let it = Workspace::new(&[
        ("a.py", "import os\nx = undefined\n"),
        ("b.py", "x = 1  # broker: ignore[F401]\n"),
    ]);
    assert_snapshot!(it.told(&["--fix"]), @r#"
exit 1
a.py:1:5: python/F821 Undefined name `undefined`
1 finding in 3 files (2 fixed).
-- stderr
"#);
    assert_eq!((it.read("a.py").as_str(), it.read("b.py").as_str()), ("x = undefined\n", "x = 1\n"));
    assert_snapshot!(it.told(&["--fix"]), @r#"
exit 1
a.py:1:5: python/F821 Undefined name `undefined`
1 finding in 3 files.
-- stderr
"#);
    assert_snapshot!(it.told(&["--unsafe-fixes"]), @r#"
exit 2
-- stderr
error: --unsafe-fixes says which fixes to make, not to make any
hint: give `--fix` as well, or `--diff`
"#);
}

#[test]
fn what_is_known_or_suppressed_or_off_is_not_fixed() {
    let text = "import os  # broker: ignore[F401]\nimport sys\n";
    let it = Workspace::new(&[("a.py", text)]);
    it.run(&["check", "--baseline", "known.json", "--baseline-update"]);
    assert_eq!(it.run(&["check", "--fix", "--baseline", "known.json"]).status.code(), Some(0));
    assert_eq!(it.read("a.py"), text);
    it.write("broker.toml", "[severity]\nF401 = \"off\"\n");
    assert_eq!(it.run(&["check", "--fix"]).status.code(), Some(0));
    assert_eq!(it.read("a.py"), text);
}

#[test]
fn the_patch_is_what_would_be_fixed() {
    let it = Workspace::new(&MESSY);
    it.git(&["init", "-q"]);
    let output = it.run(&["check", "--diff"]);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    MESSY.iter().for_each(|(path, text)| assert_eq!(it.read(path), *text, "{path} was written"));
    fs::write(it.own("patch"), &output.stdout).unwrap();
    let patch = it.own("patch");
    it.git(&["apply", patch.to_str().unwrap()]);
    let fixed = Workspace::new(&MESSY);
    fixed.run(&["check", "--fix"]);
    MESSY.iter().for_each(|(path, _)| assert_eq!(it.read(path), fixed.read(path), "{path}"));
    let nothing = it.run(&["check", "--diff"]);
    assert_eq!(told(&nothing), "exit 0\n-- stderr\n0 fixes would be made.\n");
}

#[test]
fn standard_input_is_fixed_to_standard_output() {
    let it = Workspace::new(&[("a.py", "x = 1\n")]);
    let arguments = ["check", "--output-format", "concise", "--fix", "--stdin-filename", "a.py", "-"];
    assert_snapshot!(told(&it.run_with_input(&arguments, "import os\nx = undefined\n")), @r#"
exit 1
x = undefined
-- stderr
a.py:1:5: python/F821 Undefined name `undefined`
1 finding in 1 file (1 fixed).
"#);
    assert_eq!(it.read("a.py"), "x = 1\n");
}

#[test]
fn a_notebook_is_left_alone() {
    let notebook = r##"{"cells": [{"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": ["import os"]}], "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}"##;
    let it = Workspace::new(&[("a.ipynb", notebook)]);
    assert_snapshot!(it.told(&["--fix"]), @r#"
exit 1
a.ipynb:cell 1:1:8: python/F401 [*] `os` imported but unused
1 finding in 2 files (1 fixable).
-- stderr
warning: notebooks are not fixed: 1 of their findings could be
"#);
    assert_eq!(it.read("a.ipynb"), notebook);
}

#[test]
fn the_index_is_checked_as_it_is() {
    let it =
        Workspace::new(&[("a.py", "x = 1\n"), ("b.py", "import b_unchanged\n"), ("pkg/c.py", "x = 1\n")]);
    it.git(&["init", "-q"]);
    it.commit_all();
    it.write("a.py", "import staged\n");
    it.write("pkg/c.py", "import staged\n");
    it.git(&["add", "-A"]);
    it.write("a.py", "import working_copy\n");
    it.write("untracked.py", "import untracked\n");
    // Also what decides over the findings counts as it is staged.
    it.write("pyproject.toml", "[tool.ruff.lint]\nselect = [\"W\"]\n");
    assert_snapshot!(it.told(&["--staged"]), @r#"
exit 1
a.py:1:8: python/F401 [*] `staged` imported but unused
pkg/c.py:1:8: python/F401 [*] `staged` imported but unused
2 findings in 2 files (2 fixable).
-- stderr
"#);
    assert_snapshot!(it.told(&["--staged", "pkg"]), @r#"
exit 1
pkg/c.py:1:8: python/F401 [*] `staged` imported but unused
1 finding in 1 file (1 fixable).
-- stderr
"#);
    it.git(&["rm", "-q", "-f", "--cached", "-r", "."]);
    it.git(&["commit", "-qm", "nothing"]);
    assert_snapshot!(it.told(&["--staged"]), @r#"
exit 0
No findings in 0 files.
-- stderr
warning: no plugin is interested in any file that changed
"#);
}

#[test]
fn what_git_does_not_know_has_no_say_in_the_index() {
    let it = Workspace::new(&[("a.py", "x = 1\n"), ("pkg/b.py", "x = 1\n")]);
    it.git(&["init", "-q"]);
    it.commit_all();
    it.write("a.py", "import staged\n");
    it.write("pkg/b.py", "import staged\n");
    it.git(&["add", "-A"]);
    let staged = it.told(&["--staged"]);
    assert_snapshot!(staged, @r#"
exit 1
a.py:1:8: python/F401 [*] `staged` imported but unused
pkg/b.py:1:8: python/F401 [*] `staged` imported but unused
2 findings in 2 files (2 fixable).
-- stderr
"#);
    it.write("pkg/b.py", "x = 2\n");
    it.git(&["update-index", "--assume-unchanged", "pkg/b.py"]);
    assert_eq!(it.told(&["--staged"]), staged, "what git does not look at");
    it.git(&["update-index", "--no-assume-unchanged", "pkg/b.py"]);
    it.write("pkg/b.py", "import staged\n");
    it.write("ruff.toml", "lint.select = [\"W\"]\n");
    it.write("broker.toml", "ignore = [\"F\"]\n");
    it.write("pkg/.gitignore", "*\n");
    it.write("new/broker.toml", "this is not TOML\n");
    assert_eq!(it.told(&["--staged"]), staged, "untracked files");
    it.write(".git/info/exclude", "*.toml\n");
    assert_eq!(it.told(&["--staged"]), staged, "ignored files");
    assert_snapshot!(it.told(&["--staged", "new", "broker.toml"]), @r#"
exit 0
No findings in 0 files.
-- stderr
warning: no plugin is interested in any file that changed
"#);
    // What is named counts wherever it is.
    assert_eq!(it.run(&["check", "--staged", "--config", "ruff.toml"]).status.code(), Some(0));
    it.git(&["add", "-f", "broker.toml"]);
    assert_eq!(it.run(&["check", "--staged"]).status.code(), Some(0), "staged, and so it counts");
    it.write("broker.toml", "this is not TOML\n");
    assert_eq!(it.run(&["check", "--staged"]).status.code(), Some(0), "as it is staged");
}

#[test]
fn only_what_changed_is_checked() {
    let it = Workspace::new(&[("a.py", "import a\n"), ("b.py", "import b\n"), ("d.py", "import d\n")]);
    it.git(&["init", "-q", "-b", "main"]);
    // Before the first commit everything is new.
    assert_eq!(it.json(&["--changed"]).1["summary"]["files"], 4);
    it.commit_all();
    it.git(&["checkout", "-q", "-b", "topic"]);
    it.write("b.py", "import b2\n");
    it.commit_all();
    it.write("new/c d.py", "import c\n");
    fs::remove_file(it.root().join("d.py")).unwrap();
    assert_snapshot!(it.told(&["--changed"]), @r#"
exit 1
new/c d.py:1:8: python/F401 [*] `c` imported but unused
1 finding in 1 file (1 fixable).
-- stderr
"#);
    assert_snapshot!(it.told(&["--since", "main"]), @r#"
exit 1
b.py:1:8: python/F401 [*] `b2` imported but unused
new/c d.py:1:8: python/F401 [*] `c` imported but unused
2 findings in 2 files (2 fixable).
-- stderr
"#);
    assert_snapshot!(it.told(&["--since", "main", "new"]), @r#"
exit 1
new/c d.py:1:8: python/F401 [*] `c` imported but unused
1 finding in 1 file (1 fixable).
-- stderr
"#);
    assert_snapshot!(it.told(&["--since", "nothing"]), @r#"
exit 2
-- stderr
error: git knows no commit `nothing`
"#);
    let name = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff.py");
    fs::write(it.root().join(name), "import os\n").unwrap();
    assert_snapshot!(it.told(&["--changed"]), @r#"
exit 1
new/c d.py:1:8: python/F401 [*] `c` imported but unused
1 finding in 1 file (1 fixable); skipped 1 names that are not UTF-8.
-- stderr
"#);
    let outside = Workspace::new(&[("a.py", "import a\n")]);
    assert_snapshot!(outside.told(&["--changed"]).replace(outside.root().to_str().unwrap(), "[root]"), @r#"
exit 2
-- stderr
error: git rev-parse failed: not a git repository (or any of the parent directories): .git
"#);
}

#[test]
fn a_second_run_says_the_same() {
    let it = Workspace::new(&MESSY);
    let first = it.json(&["."]);
    assert_eq!(it.json(&["."]), first, "from the cache");
    assert_eq!(it.json(&["--no-cache", "."]), first);
    damage(&it.own("cache/answers"));
    assert_eq!(it.json(&["."]), first, "with a cache that is damaged");
    assert_eq!(it.json(&["."]), first, "and after that");
    let fresh = Workspace::new(&MESSY);
    fresh.json(&["--no-cache", "."]);
    assert!(!fresh.own("cache/answers").exists(), "nothing is kept");
}

/// Every byte in the middle of every file is another one.
fn damage(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
        if entry.is_dir() {
            damage(&entry);
        } else {
            let mut bytes = fs::read(&entry).unwrap();
            let (from, to) = (bytes.len() / 3, bytes.len() * 2 / 3);
            bytes[from..to].iter_mut().for_each(|it| *it = !*it);
            fs::write(&entry, bytes).unwrap();
        }
    }
}

#[test]
fn a_change_is_checked_while_watching() {
    let it = Workspace::new(&[("a.py", "x = 1\n")]);
    let arguments = ["check", "--watch", "--output-format", "concise"];
    let mut command = it.command(&arguments);
    let mut child = Ending(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "No findings in 2 files.");
    it.write("a.py", "import os\n");
    // A write is several events: what was there in between may be told as well.
    let found = lines.find(|it| it.starts_with("a.py")).unwrap();
    assert_eq!(found, "a.py:1:8: python/F401 [*] `os` imported but unused");
    assert_eq!(child.interrupt(), Some(1), "as the last run");
}
