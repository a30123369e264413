//! The program from outside, with the real plugins: what it prints, how it exits, and that it writes nothing.

use std::{
    collections::BTreeMap,
    fs,
    ops::Deref,
    os::unix::fs::{MetadataExt, symlink},
    path::{Path, PathBuf},
    process::Output,
};

use insta::assert_snapshot;
use serde_json::Value;
use tests::{
    guest,
    place::{Place, without_not_asked},
    without_line,
};

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

    /// Exit code, standard output and standard error, with what changes from run to run replaced.
    fn told(&self, arguments: &[&str]) -> String {
        told(&self.run(arguments))
    }

    fn json(&self, arguments: &[&str]) -> (i32, Value) {
        let output = self.run(&[&["check", "--output-format", "json"], arguments].concat());
        let told = told(&output);
        let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {told}"));
        (output.status.code().unwrap(), value)
    }
}

fn told(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let code = output.status.code().expect("not killed");
    without_line(&format!(
        "exit {code}\n{}-- stderr\n{}",
        text(&output.stdout),
        without_not_asked(&text(&output.stderr))
    ))
}

fn found(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .map(|it| format!("{}:{}:{} {}", it["path"].as_str().unwrap(), it["line"], it["column"], it["code"]))
        .collect()
}

#[test]
fn lints_with_the_real_ruff() {
    let it = Workspace::new(&[
        ("pkg/a.py", "import os\n\nx = undefined\n"),
        ("pkg/b.pyi", "import sys\n"),
        ("notes.txt", "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"),
    ]);
    assert_snapshot!(it.told(&["check", "--output-format", "concise"]), @"
    exit 1
    notes.txt:1:1: error text/merge-conflict unresolved merge conflict with `ours`
    pkg/a.py:1:8: warning python/F401 [*] `os` imported but unused
    pkg/a.py:3:5: error python/F821 Undefined name `undefined`
    pkg/b.pyi:1:8: warning python/F401 [*] `sys` imported but unused
    4 findings in 4 files (2 errors, 2 warnings, 2 fixable).
    -- stderr
    ");
    assert_snapshot!(it.told(&["check", "pkg/a.py"]), @"
    exit 1
    warning python/F401 [*] `os` imported but unused
     --> pkg/a.py:1:8
      |
    1 | import os
      |        ^^
    2 |
    3 | x = undefined
      |
    help: Remove unused import: `os`

    error python/F821 Undefined name `undefined`
     --> pkg/a.py:3:5
      |
    1 | import os
    2 |
    3 | x = undefined
      |     ^^^^^^^^^

    2 findings in 1 file (1 error, 1 warning, 1 fixable).
    -- stderr
    ");
    assert_snapshot!(it.told(&["check", "--exit-zero", "--quiet", "--output-format", "concise", "pkg"]), @"
    exit 0
    pkg/a.py:1:8: warning python/F401 [*] `os` imported but unused
    pkg/a.py:3:5: error python/F821 Undefined name `undefined`
    pkg/b.pyi:1:8: warning python/F401 [*] `sys` imported but unused
    -- stderr
    ");
}

#[test]
fn clean_and_empty_are_told_apart() {
    let it = Workspace::new(&[("a.py", "x = 1\n")]);
    assert_snapshot!(it.told(&["check", "a.py"]), @r#"
exit 0
No findings in 1 file.
-- stderr
"#);
    fs::create_dir(it.root().join("empty")).unwrap();
    assert_snapshot!(it.told(&["check", "empty"]), @r#"
exit 0
No findings in 0 files.
-- stderr
warning: no plugin is interested in any of these files
"#);
    assert_snapshot!(it.told(&["check", "missing.py"]), @r#"
exit 2
-- stderr
error: cannot check missing.py: no such file or directory
"#);
}

#[test]
fn standard_input_lies_over_the_disk() {
    let it = Workspace::new(&[("pkg/a.py", "x = 1\n"), ("pkg/ruff.toml", "extend-select = [\"D100\"]\n")]);
    let arguments = ["check", "--output-format", "concise", "--stdin-filename", "pkg/a.py", "-"];
    let output = it.run_with_input(&arguments, "import os\n");
    assert_snapshot!(told(&output), @"
    exit 1
    pkg/a.py:1:1: warning python/D100 Missing docstring in public module
    pkg/a.py:1:8: warning python/F401 [*] `os` imported but unused
    2 findings in 1 file (2 warnings, 1 fixable).
    -- stderr
    ");
}

#[test]
fn one_bad_plugin_does_not_silence_the_others() {
    let it = Workspace::new(&[("a.py", "import os\n"), ("a.fault", "panic"), ("b.fault", "nothing")]);
    let bad = guest("guest_misbehaves");
    let bad = bad.to_str().unwrap();
    assert_snapshot!(it.told(&["check", "--output-format", "concise", "--plugin", bad]), @"
    exit 2
    a.py:1:8: warning python/F401 [*] `os` imported but unused
    b.fault:1:1: warning misbehaves/fault did nothing bad
    2 findings in 4 files (2 warnings, 1 fixable); 1 file not checked.
    -- stderr
    compiling plugin `misbehaves` (once)
    error: misbehaves: a.fault not checked: plugin `misbehaves` 0.1.0 crashed: panicked at misbehaves/src/lib.rs:[line]: the plugin is confused about a.fault
    ");
    let (code, _) = it.json(&["--plugin", bad, "--allow-incomplete"]);
    assert_eq!(code, 1);
    it.write("broken.wasm", "not wasm at all");
    assert_snapshot!(it.told(&["check", "--output-format", "concise", "--plugin", "broken.wasm", "a.py"]), @"
    exit 2
    a.py:1:8: warning python/F401 [*] `os` imported but unused
    1 finding in 1 file (1 warning, 1 fixable); not everything was checked.
    -- stderr
    error: broken.wasm: `broken.wasm` is not a WebAssembly component: it does not begin as WebAssembly does
    ");
}

#[test]
fn the_example_plugin_works() {
    let it = Workspace::new(&[("a.rs", "// TODO: all of it\n// TODO(ada): the rest\n")]);
    let plugin = guest("no_todo");
    let told =
        it.told(&["check", "--output-format", "concise", "--plugin", plugin.to_str().unwrap(), "a.rs"]);
    assert_snapshot!(told, @"
    exit 1
    a.rs:1:4: warning no-todo/anonymous-todo write `TODO(name)`, so that somebody feels responsible
    1 finding in 1 file (1 warning).
    -- stderr
    compiling plugin `no-todo` (once)
    ");
}

#[test]
fn selectors() {
    let it = Workspace::new(&[("a.py", "import os\nx = undefined\n")]);
    assert_eq!(found(&it.json(&["--select", "F401"]).1), ["a.py:1:8 \"F401\""]);
    assert_eq!(found(&it.json(&["--select", "python/F", "--ignore", "F401"]).1), ["a.py:2:5 \"F821\""]);
    assert_snapshot!(it.told(&["check", "--select", "F40l"]), @r#"
exit 2
-- stderr
error: unknown rule selector `F40l`
hint: did you mean `F401`?
"#);
}

#[test]
fn explains() {
    let it = Workspace::new(&[]);
    let told = it.told(&["rule", "explain", "text/private-key"]);
    assert!(told.starts_with("exit 0"), "{told}");
    let told = it.told(&["rule", "explain", "F401"]);
    assert!(told.contains("unused-import") && told.contains("## Why is this bad?"), "{told}");
    assert_snapshot!(it.told(&["rule", "explain", "F4O1"]), @r#"
exit 2
-- stderr
error: no rule is called `F4O1`
hint: did you mean `F401`?
"#);
}

#[test]
fn rules_are_listed_by_linter_and_by_prefix() {
    let it = Workspace::new(&[]);
    assert_snapshot!(it.told(&["rule", "list", "text"]), @"
    exit 0
    text/bidi-control        on        bidi-control
    text/invalid-utf8        on        invalid-utf8
    text/merge-conflict      on        merge-conflict
    text/mixed-line-endings  on   [*]  mixed-line-endings
    text/private-key         on        private-key
    text/sample-private-key  off       sample-private-key
    text/service-token       on        service-token
    -- stderr
    ");
    assert_snapshot!(it.told(&["rule", "explain", "python/F40"]), @"
    exit 0
    python/F401  on   [*]  unused-import
    python/F402  on        import-shadowed-by-loop-var
    python/F403  off       undefined-local-with-import-star
    python/F404  on        late-future-import
    python/F405  off       undefined-local-with-import-star-usage
    python/F406  off       undefined-local-with-nested-import-star-usage
    python/F407  on        future-feature-not-defined
    -- stderr
    ");
    let told = it.told(&["rule", "list", "--file", "a.py", "--json"]);
    let rules: Value = serde_json::from_str(
        told.lines().skip(1).take_while(|it| *it != "-- stderr").collect::<String>().as_str(),
    )
    .unwrap();
    let linters: std::collections::BTreeSet<_> = rules
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["rule"].as_str().unwrap().split('/').next().unwrap())
        .collect();
    assert!(
        linters.contains("python") && linters.contains("text") && !linters.contains("shell"),
        "{linters:?}"
    );
    assert_snapshot!(it.told(&["rule", "list", "nix"]), @"
    exit 0
    syntax/nix  on        nix-syntax
    -- stderr
    ");
}

#[test]
fn the_version_tells_what_a_bug_report_needs() {
    let it = Workspace::new(&[]);
    let short = it.told(&["--version"]);
    assert_eq!(short.lines().count(), 3, "{short}");
    let long = it.told(&["-vV"]);
    for key in
        ["broker ", "build: ", "target: ", "compiler: rustc ", "system: ", "cache: ", "plugin: python "]
    {
        assert!(long.lines().any(|it| it.starts_with(key)), "{key}: {long}");
    }
    assert_eq!(it.told(&["--version", "--verbose"]), long);
}

#[test]
fn init_shows_first_and_writes_when_told() {
    let it = Workspace::new(&[("a.py", "import os\n"), ("vendor/b.py", "import os\n")]);
    it.git(&["init", "-q"]);
    let shown = it.told(&["init", "--baseline"]);
    assert!(shown.starts_with("exit 0\n") && shown.contains("exclude = [\"/vendor/\"]"), "{shown}");
    assert!(!it.root().join("broker.toml").exists() && !it.root().join("broker-baseline.json").exists());
    let done = it.told(&["init", "--yes", "--baseline", "--hook"]);
    assert!(done.starts_with("exit 0\n"), "{done}");
    assert!(it.read(".git/hooks/pre-commit").contains("broker"), "{done}");
    assert!(it.read("broker-baseline.json").contains("F401"));
    assert!(it.told(&["check"]).starts_with("exit 0\n"), "what was found is known");
    assert_snapshot!(it.told(&["init"]).replace(it.root().to_str().unwrap(), "/work"), @"
    exit 2
    -- stderr
    error: /work/broker.toml is there already
    hint: `broker config show FILE` says what holds for a file
    ");
}

#[test]
fn lists_plugins() {
    let it = Workspace::new(&[]);
    let output = it.run(&["plugin", "list", "--output-format", "json"]);
    let plugins: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = plugins.to_string();
    assert!(text.contains("\"python\"") && text.contains("\"text\"") && text.contains("digest"), "{text}");
    // The program's own rules are listed as well, and can be explained by what the list says.
    let own = plugins.as_array().unwrap().iter().find(|it| it["name"] == "broker").unwrap();
    assert_eq!((&own["rules"], &own["digest"]), (&2.into(), &Value::Null));
    let table = it.told(&["plugin", "list"]);
    assert!(table.contains("\nbroker ") && table.contains("suppression comments"), "{table}");
}

/// Returns the metadata that would change if anything below a folder were made, written, renamed or removed.
fn state(root: &Path) -> BTreeMap<PathBuf, (u64, i64, i64, i64, i64, u64)> {
    let mut state = BTreeMap::new();
    let mut todo = vec![root.to_owned()];
    while let Some(path) = todo.pop() {
        let it = fs::symlink_metadata(&path).unwrap();
        if it.is_dir() {
            todo.extend(fs::read_dir(&path).unwrap().map(|it| it.unwrap().path()));
        }
        state.insert(path, (it.size(), it.mtime(), it.mtime_nsec(), it.ctime(), it.ctime_nsec(), it.ino()));
    }
    state
}

#[test]
fn writes_nothing_below_the_workspace() {
    let it = Workspace::new(&[("pkg/a.py", "import os\n"), ("pkg/b.txt", "x\r\ny\n")]);
    symlink("a.py", it.root().join("pkg/link.py")).unwrap();
    let before = state(&it.root());
    let mischief = guest("guest_misbehaves");
    it.write("w.fault", "write /pkg/a.py /pkg/new");
    let before_mischief = state(&it.root());
    assert_eq!(it.run(&["check"]).status.code(), Some(1));
    assert_eq!(it.run(&["check", "--plugin", mischief.to_str().unwrap()]).status.code(), Some(1));
    assert_eq!(state(&it.root()), before_mischief);
    assert_ne!(before, before_mischief, "a write shows");
}

#[test]
fn strange_trees() {
    let it = Workspace::new(&[("a.py", "import os\n")]);
    symlink("loop", it.root().join("loop")).unwrap();
    symlink("..", it.root().join("up")).unwrap();
    symlink("/etc/passwd", it.root().join("out.py")).unwrap();
    symlink("gone", it.root().join("dangling.py")).unwrap();
    symlink("a.py", it.root().join("b.py")).unwrap();
    let name = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"caf\xe9.py");
    fs::write(it.root().join(name), "import os\n").unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(it.root().join("socket.py")).unwrap();
    let (code, report) = it.json(&["."]);
    assert_eq!(code, 1, "{report:#}");
    assert_snapshot!(found(&report).join("\n"), @r#"
a.py:1:8 "F401"
b.py:1:8 "F401"
"#);
    assert_eq!(report["summary"]["skipped"], 6, "not UTF-8, a socket, and four links");
    let (code, report) = it.json(&["out.py"]);
    assert_eq!(code, 2, "{report:#}");
}

#[test]
fn a_hundred_thousand_files() {
    let it = Workspace::new(&[]);
    for folder in 0..100 {
        fs::create_dir_all(it.root().join(format!("d{folder}"))).unwrap();
        for file in 0..1000 {
            fs::write(it.root().join(format!("d{folder}/f{file}.txt")), "x\n").unwrap();
        }
    }
    it.write("d7/f7.txt", "<<<<<<< a\n=======\n>>>>>>> b\n");
    let (code, report) = it.json(&[]);
    assert_eq!(code, 1);
    assert_eq!(found(&report), ["d7/f7.txt:1:1 \"merge-conflict\""]);
    // With the configuration file.
    assert_eq!(report["summary"]["files"], 100_001);
    assert_eq!(report["summary"]["complete"], 100_001);
}

#[test]
fn large_files() {
    let it = Workspace::new(&[]);
    it.write("lines.py", "x = [1, 2, 3]\n".repeat((50 << 20) / 14));
    it.write("line.py", format!("x = '{}'\nimport os\n", "a".repeat(10 << 20)));
    it.write("line.txt", "a".repeat(10 << 20));
    let (code, report) = it.json(&["--select", "F401,merge-conflict", "--timeout", "120", "--jobs", "1"]);
    assert_eq!(found(&report), ["line.py:2:8 \"F401\""]);
    assert_eq!(code, 2);
    // Three and a half million statements need more than a plugin may have; the text plugin read it all.
    let incomplete = report["incomplete"].as_array().unwrap().iter();
    let incomplete: Vec<_> = incomplete.map(|it| it["reason"].as_str().unwrap()).collect();
    assert_eq!(incomplete, ["plugin `python` 0.1.0 exceeded its memory limit of 2048 MiB"]);
    assert_eq!(report["summary"]["files"], 4, "the three, and the configuration");
}
