//! Branches from the command line, with a daemon of the test's own, which ends with it.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at the disk themselves, and may fail"
)]

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    ops::Deref,
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
};

use serde_json::Value;
use tests::place::{self, Ending, told};

/// A workspace with a daemon of its own.
struct Place(place::Place);

impl Deref for Place {
    type Target = place::Place;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let it = Self(place::Place::new(&[("ruff.toml", "lint.select = [\"F\"]\n")]));
        files.iter().for_each(|(path, text)| it.write(path, text));
        it
    }

    /// Exit code, standard output, standard error without the note that a daemon was started.
    fn told(&self, arguments: &[&str]) -> (i32, String, String) {
        told(self.run(arguments))
    }

    /// The standard output of what must succeed.
    #[track_caller]
    fn ok(&self, arguments: &[&str]) -> String {
        let (exit, stdout, stderr) = self.told(arguments);
        assert_eq!((exit, stderr.as_str()), (0, ""), "{arguments:?}: {stdout}");
        stdout
    }

    #[track_caller]
    fn ok_with_input(&self, arguments: &[&str], input: &str) -> String {
        let (exit, stdout, stderr) = told(self.run_with_input(arguments, input));
        assert_eq!((exit, stderr.as_str()), (0, ""), "{arguments:?}: {stdout}");
        stdout
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        let arguments = [arguments, &["--output-format", "json"]].concat();
        serde_json::from_str(&self.ok(&arguments)).unwrap()
    }

    /// The daemon's process, if one runs.
    fn pid(&self) -> Option<String> {
        let output = self.run(&["status", "--output-format", "json"]);
        let status: Value = serde_json::from_slice(&output.stdout).ok()?;
        status["pid"].as_u64().map(|it| it.to_string())
    }
}

#[test]
fn a_daemon_is_started_once_and_says_so() {
    let it = Place::new(&[]);
    let output = it.run(&["status"]);
    assert_eq!(told(output), (1, "no daemon is running\n".to_owned(), String::new()));
    assert_eq!(it.told(&["stop"]), (0, String::new(), "no daemon is running\n".to_owned()));

    let output = it.run(&["branch", "list"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    let pid = it.pid().unwrap();
    let want = format!("started a daemon (process {pid}); it ends after 30 minutes without a client\n");
    assert_eq!((stderr, output.status.code()), (want, Some(0)));

    assert!(it.run(&["branch", "list"]).stderr.is_empty());
    assert_eq!(it.pid(), Some(pid.clone()));
    let (exit, stdout, _) = it.told(&["status"]);
    assert!(exit == 0 && stdout.contains(&format!("process {pid}")), "{stdout}");

    let second = it.run(&["serve"]);
    let want = format!("a daemon is running already (process {pid})\n");
    assert_eq!(String::from_utf8(second.stderr).unwrap(), want);
    assert!(second.status.success() && second.stdout.starts_with(b"serving at "));

    let want = format!(
        "error: a daemon is already running (process {pid}), and plugins cannot be added to it\n\
         hint: end it first: `broker stop`; its branches are kept\n"
    );
    assert_eq!(it.told(&["serve", "--plugin", "a.wasm"]), (2, String::new(), want));

    let want = format!("the daemon (process {pid}) has ended\n");
    assert_eq!(it.told(&["stop"]), (0, String::new(), want));
    assert_eq!(it.pid(), None);
}

#[test]
fn edits_stay_in_the_branch_until_they_are_committed() {
    let it = Place::new(&[("src/a.py", "x = 1\n"), ("src/b.py", "y = 1\n"), ("c.py", "z = 1\n")]);
    assert_eq!(it.ok(&["branch", "fork", "try", "--label", "task=42"]), "try\n");
    let write = ["branch", "write", "try", "src/a.py"];
    assert_eq!(it.ok_with_input(&write, "import os\n"), "revision 1\n");
    assert_eq!(
        it.ok_with_input(&["branch", "write", "--executable", "try", "run.sh", "-"], "echo\n"),
        "revision 2\n"
    );
    it.ok(&["branch", "mv", "try", "src/b.py", "src/moved.py"]);
    it.ok(&["branch", "rm", "try", "c.py"]);
    assert_eq!(it.ok(&["branch", "read", "try", "src/a.py"]), "import os\n");
    assert_eq!((it.read("src/a.py"), it.root().join("run.sh").exists()), ("x = 1\n".to_owned(), false));

    let names = it.ok(&["branch", "diff", "try", "--name-only"]);
    assert_eq!(names, "c.py\nrun.sh\nsrc/a.py\nsrc/moved.py\n");
    let stat = it.ok(&["branch", "diff", "try", "--stat"]);
    assert!(stat.contains("    +1     -1  modified  src/a.py\n"), "{stat}");
    assert!(stat.contains("renamed   src/moved.py (from src/b.py)\n"), "{stat}");
    let shown = it.json(&["branch", "show", "try"]);
    assert_eq!((&shown["revision"], &shown["labels"]["task"]), (&4.into(), &"42".into()));
    assert_eq!(it.json(&["branch", "list"])[0]["name"], "try");
    assert_eq!(it.json(&["branch", "log", "try"]).as_array().unwrap().len(), 4);

    let dry = it.ok(&["branch", "commit", "try", "--dry-run"]);
    assert!(dry.ends_with("4 files would be written.\n"), "{dry}");
    assert_eq!(it.read("src/a.py"), "x = 1\n");
    let wet = it.ok(&["branch", "commit", "try"]);
    assert!(wet.ends_with("4 files written.\n"), "{wet}");
    assert_eq!((it.read("src/a.py"), it.read("src/moved.py")), ("import os\n".into(), "y = 1\n".into()));
    assert!(!it.root().join("c.py").exists());
    assert_ne!(fs::metadata(it.root().join("run.sh")).unwrap().permissions().mode() & 0o111, 0);
    assert_eq!(it.ok(&["branch", "diff", "try", "--base"]), "");

    it.ok_with_input(&["branch", "write", "try", "new/deep/d.py"], "");
    let wet = it.ok(&["branch", "commit", "try"]);
    assert!(wet.ends_with("added     new/deep/d.py\n1 file and 2 folders written.\n"), "{wet}");

    assert_eq!(it.ok(&["branch", "discard", "try"]), "discarded try\n");
    assert_eq!(it.ok(&["branch", "list"]), "");
}

#[test]
fn paths_are_those_of_the_current_folder() {
    let it = Place::new(&[("src/a.py", "x = 1\n"), ("pyproject.toml", "")]);
    it.ok(&["branch", "fork", "try"]);
    let there =
        |arguments: &[&str]| told(it.command(arguments).current_dir(it.root().join("src")).output().unwrap());
    let path = it.root().join("ruff.toml");
    let file = path.to_str().unwrap();
    assert_eq!(there(&["branch", "write", "try", "new/b.py", file]).0, 0);
    assert_eq!(it.ok(&["branch", "read", "try", "src/new/b.py"]), it.read("ruff.toml"));
    assert_eq!(there(&["branch", "diff", "try", "--name-only"]).1, "new\nnew/b.py\n");
    let (exit, _, stderr) = there(&["branch", "rm", "try", "../../x"]);
    assert!(exit == 2 && stderr.contains("it lies outside of the workspace"), "{stderr}");
}

#[test]
fn a_branch_is_checked_as_the_disk_is() {
    let it = Place::new(&[("a.py", "import os\nimport sys\n"), ("b.py", "x = 1\n")]);
    it.ok(&["branch", "fork", "try"]);
    it.ok_with_input(&["branch", "write", "try", "a.py"], "import sys\nprint(y)\n");
    let (exit, stdout, stderr) = it.told(&["check", "--branch", "try"]);
    // The disk with the same text says the same.
    let same = Place::new(&[("a.py", "import sys\nprint(y)\n"), ("b.py", "x = 1\n")]);
    assert_eq!((exit, stdout, stderr), same.told(&["check"]));
    for format in ["concise", "sarif", "rdjson", "gitlab"] {
        let check = ["check", "--branch", "try", "--output-format", format];
        let here = ["check", "--output-format", format];
        let (exit, stdout, stderr) = same.told(&here);
        let stdout = stdout.replace(same.root().to_str().unwrap(), it.root().to_str().unwrap());
        assert_eq!(it.told(&check), (exit, stdout, stderr), "{format}");
    }
    for place in [&it, &same] {
        place.write("c.py", "x = 1  # broker: ignore[F401]\n");
    }
    // With what Broker says of its own rule.
    let (_, sarif, _) = it.told(&["check", "--branch", "try", "--output-format", "sarif", "c.py"]);
    let here = same.told(&["check", "--output-format", "sarif", "c.py"]).1;
    assert_eq!(sarif, here.replace(same.root().to_str().unwrap(), it.root().to_str().unwrap()));
    assert!(sarif.contains("A suppression suppresses nothing"), "{sarif}");
    fs::remove_file(it.root().join("c.py")).unwrap();
    let new = it.told(&["check", "--branch", "try", "--new-only", "--output-format", "concise"]);
    let want = "a.py:2:7: python/F821 Undefined name `y`\n\
                a.py:1:8: fixed python/F401 `os` imported but unused\n\
                1 new, 1 fixed in 3 files.\n";
    assert_eq!(new, (1, want.to_owned(), String::new()));
    let (_, json, _) = it.told(&["check", "--branch", "try", "--new-only", "--output-format", "json"]);
    let summary = &serde_json::from_str::<Value>(&json).unwrap()["summary"];
    assert_eq!((&summary["findings"], &summary["fixed"]), (&1.into(), &1.into()));
    let none = it.told(&["check", "--branch", "try", "--select", "F6", "--output-format", "concise", "b.py"]);
    assert_eq!(none, (0, "No findings in 1 file.\n".to_owned(), String::new()));
}

#[test]
fn what_makes_no_sense_with_a_branch_is_refused() {
    let it = Place::new(&[]);
    for (flags, one) in [
        (&["--branch", "x", "--isolated", "--watch"][..], "--isolated"),
        (&["--branch", "x", "--rev", "HEAD"], "--rev"),
        (&["--new-only"], "--branch"),
        (&["--branch", "x", "--staged"], "--staged"),
        (&["--branch", "x", "--changed", "--watch"], "--changed"),
        (&["--branch", "x", "-"], "--branch"),
    ] {
        let (exit, _, stderr) = it.told(&[&["check"], flags].concat());
        assert!(exit == 2 && stderr.contains(one) && stderr.contains("--branch"), "{stderr}");
    }
    assert_eq!(it.pid(), None, "a mistake starts no daemon");
}

/// A branch of a branch, with changes of every kind in both, some of them below an editor's text.
#[test]
fn a_branch_is_checked_in_the_same_way_with_options_that_only_the_command_has() {
    let it = Place::new(&[
        ("same.py", "import same\n"),
        ("gone.py", "import gone\n"),
        ("in_parent.py", "import before\n"),
        ("dir/moved.py", "import moved\nimport other\n"),
        ("dir/left.py", "import left\n"),
        ("file", "becomes a folder\n"),
    ]);
    let write = |branch: &str, path: &str, text: &str| {
        it.ok_with_input(&["branch", "write", branch, path], text);
    };
    it.ok(&["branch", "fork", "parent"]);
    write("parent", "in_parent.py", "import parents\n");
    write("parent", "both.py", "import both\n");
    it.ok(&["branch", "fork", "child", "--from", "parent"]);
    write("child", "both.py", "import both\nimport childs\n");
    it.ok(&["branch", "rm", "child", "gone.py", "file", "dir/moved.py"]);
    write("child", "elsewhere/moved.py", "import moved\nimport other\n");
    let patch = "diff --git a/link.py b/link.py\nnew file mode 120000\n--- /dev/null\n+++ b/link.py\n@@ -0,0 +1 @@\n+same.py\n\\ No newline at end of file\n";
    it.ok_with_input(&["branch", "patch", "child", "-"], patch);
    write("child", "file/in.py", "import folder\n");
    for flags in
        [&[][..], &["--new-only"], &["--new-only", "elsewhere"], &["gone.py", "--new-only"], &["link.py"]]
    {
        let check = |more: &[&str]| {
            it.told(&[&["check", "--branch", "child", "--output-format", "concise"], flags, more].concat())
        };
        let daemons = check(&[]);
        assert!(daemons.0 < 2, "{daemons:?}");
        assert_eq!(check(&["--no-cache"]), daemons, "{flags:?}");
    }
    let told = |arguments: &[&str]| {
        let arguments = [&["check", "--branch", "child", "--output-format", "concise"], arguments].concat();
        it.told(&arguments)
    };
    let isolated = told(&["--isolated", "both.py"]);
    assert!(isolated.1.contains("I001"), "what ruff.toml says does not count: {isolated:?}");
    let shown = told(&["--show-files", "file", "elsewhere"]).1;
    assert_eq!(shown, "elsewhere/moved.py (python, text)\nfile/in.py (python, text)\n");
    let stdin =
        ["check", "--branch", "child", "--stdin-filename", "new.py", "-", "--output-format", "concise"];
    assert!(told_with_input(&it, &stdin, "import fresh\n").contains("`fresh` imported but unused"));

    // A baseline that the branch's configuration names is the branch's.
    write("child", "broker.toml", "[baseline]\nfile = \"known.json\"\n");
    let made = told(&["--baseline-update"]);
    assert_eq!((made.0, it.told(&["branch", "read", "child", "known.json"]).0), (0, 0), "{made:?}");
    assert!(!it.root().join("known.json").exists());
    assert_eq!(told(&[]).0, 0, "all is known");
}

fn told_with_input(it: &Place, arguments: &[&str], input: &str) -> String {
    told(it.run_with_input(arguments, input)).1
}

#[test]
fn a_branch_is_fixed_and_the_disk_is_not() {
    let it = Place::new(&[("disk.py", "import disk\n")]);
    it.ok(&["branch", "fork", "try"]);
    it.ok_with_input(&["branch", "write", "try", "a.py"], "import os\nx = 1\n");
    let check = |more: &[&str]| {
        it.told(&[&["check", "--branch", "try", "--output-format", "concise"], more].concat())
    };
    let patch = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1 @@\n-import os\n x = 1\n";
    for more in [&[][..], &["--jobs", "1"]] {
        let diff = check(&[&["--diff", "a.py"], more].concat());
        assert_eq!(diff, (1, patch.to_owned(), "1 fix would be made.\n".to_owned()));
    }
    assert_eq!(it.ok(&["branch", "read", "try", "a.py"]), "import os\nx = 1\n");
    let fixed = check(&["--fix", "a.py"]);
    assert_eq!(fixed, (0, "No findings in 1 file (1 fixed).\n".to_owned(), String::new()));
    assert_eq!(it.ok(&["branch", "read", "try", "a.py"]), "x = 1\n");
    let fixed = check(&["--fix", "--no-cache"]);
    assert_eq!(fixed.0, 0, "{fixed:?}");
    assert_eq!(it.ok(&["branch", "read", "try", "disk.py"]), "");
    assert_eq!(it.read("disk.py"), "import disk\n");
    assert_eq!(it.ok(&["branch", "undo", "try"]), "revision 4, as it was at revision 2\n");
}

#[test]
fn only_what_changed_is_checked_on_the_disk_or_in_the_branch() {
    let files = ["same", "branch", "disk", "topic", "gone"];
    let files = files.map(|it| (format!("{it}.py"), format!("import {it}\n")));
    let it = Place::new(&files.each_ref().map(|(path, text)| (path.as_str(), text.as_str())));
    it.git(&["init", "-q", "-b", "main"]);
    it.git(&["add", "-A"]);
    it.git(&["commit", "-qm", "all"]);
    it.ok(&["branch", "fork", "try"]);
    let concise = |arguments: &[&str]| {
        let check = ["check", "--branch", "try", "--output-format", "concise"];
        let (exit, stdout, stderr) = it.told(&[&check, arguments].concat());
        let paths = stdout.lines().filter_map(|it| it.split_once(".py:")).map(|it| it.0.to_owned());
        (exit, paths.collect::<Vec<_>>(), stderr)
    };
    let nothing = "warning: nothing to check: no file changed\n";
    assert_eq!(concise(&["--changed"]), (0, vec![], nothing.to_owned()));

    it.git(&["checkout", "-q", "-b", "topic"]);
    it.write("topic.py", "import topic2\n");
    it.git(&["commit", "-qam", "topic"]);
    it.write("disk.py", "import disk2\n");
    it.write("gone.py", "import gone2\n");
    it.ok_with_input(&["branch", "write", "try", "branch.py"], "import branch2\n");
    it.ok_with_input(&["branch", "write", "try", "new/file.py"], "import new\n");
    it.ok(&["branch", "rm", "try", "gone.py"]);
    let found = |it: &[&str]| (1, it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>(), String::new());
    assert_eq!(concise(&["--changed"]), found(&["branch", "disk", "new/file"]));
    assert_eq!(concise(&["--since", "main"]), found(&["branch", "disk", "new/file", "topic"]));
    assert_eq!(concise(&["--since", "main", "new", "topic.py"]), found(&["new/file", "topic"]));
    it.ok_with_input(&["branch", "write", "try", "ruff.toml"], "extend-exclude = ['disk.py']\n");
    it.ok_with_input(&["branch", "write", "try", ".brokerignore"], "new\n");
    assert_eq!(concise(&["--changed"]), found(&["branch"]), "what is left out stays left out");
    assert_eq!(concise(&["--changed", "disk.py"]), found(&["disk"]), "unless it is named");
    let (exit, _, stderr) = concise(&["--since", "nothing"]);
    assert_eq!((exit, stderr.as_str()), (2, "error: git knows no commit `nothing`\n"));
}

#[test]
fn slips_are_recognised() {
    let it = Place::new(&[]);
    let (exit, _, stderr) = it.told(&["branch", "show", "nothing"]);
    let want = "error: there is no branch `nothing`\nhint: make one with `broker branch fork`\n";
    assert_eq!((exit, stderr.as_str()), (2, want));
    it.ok(&["branch", "fork", "fix-imports"]);
    let (_, _, stderr) = it.told(&["check", "--branch", "fix-import"]);
    assert!(stderr.contains("hint: did you mean `fix-imports`?"), "{stderr}");
    let (exit, _, stderr) = it.told(&["branch", "fork", "fix-imports"]);
    assert!(exit == 2 && stderr.contains("there is already a branch named"), "{stderr}");
}

#[test]
fn a_diff_goes_through_git_and_back() {
    let it = Place::new(&[("a.py", "x = 1\n"), ("b c.py", "y = 1\n")]);
    it.ok(&["branch", "fork", "one"]);
    it.ok_with_input(&["branch", "write", "one", "a.py"], "x = 2\n");
    it.ok(&["branch", "rm", "one", "b c.py"]);
    it.ok_with_input(&["branch", "write", "one", "sub/new.py"], "z = 1");
    let patch = it.ok(&["branch", "diff", "one"]);

    it.ok(&["branch", "fork", "two"]);
    assert_eq!(it.ok_with_input(&["branch", "patch", "two"], &patch), "revision 1\n");
    assert_eq!(it.ok(&["branch", "diff", "two"]), patch);

    let mut git = Command::new("git");
    git.args(["apply", "-"]).current_dir(it.root()).stdin(Stdio::piped());
    let mut git = git.spawn().unwrap();
    git.stdin.take().unwrap().write_all(patch.as_bytes()).unwrap();
    assert!(git.wait().unwrap().success());
    assert_eq!((it.read("a.py"), it.read("sub/new.py")), ("x = 2\n".into(), "z = 1".into()));
    assert_eq!(it.ok(&["branch", "diff", "one", "--base"]), "");

    let wrong = patch.replace("-x = 1", "-x = 7");
    it.write("wrong.patch", &wrong);
    it.ok(&["branch", "fork", "three"]);
    let (exit, _, stderr) = it.told(&["branch", "patch", "three", "wrong.patch"]);
    assert!(exit == 2 && stderr.contains("hint: the patch must fit"), "{stderr}");
    assert_eq!(it.json(&["branch", "show", "three"])["revision"], 0);
}

#[test]
fn what_is_no_text_is_not_lost_silently() {
    let it = Place::new(&[("a.py", "x = 1\n")]);
    it.ok(&["branch", "fork", "one"]);
    it.ok_with_input(&["branch", "write", "one", "a.py"], "x = 2\n");
    it.ok_with_input(&["branch", "write", "one", "data.bin"], "a\0b");
    let (exit, patch, stderr) = it.told(&["branch", "diff", "one"]);
    let want = "warning: what is no text is only named in the patch: data.bin\n";
    assert_eq!((exit, stderr.as_str()), (0, want));
    assert!(patch.contains("Binary files /dev/null and b/data.bin differ\n"), "{patch}");
    assert_eq!(it.told(&["branch", "diff", "one", "--name-only"]).2, "");
    it.ok(&["branch", "fork", "two"]);
    it.write("one.patch", &patch);
    let (exit, _, stderr) = it.told(&["branch", "patch", "two", "one.patch"]);
    assert!(
        exit == 2 && stderr.contains("is a binary patch of `") && stderr.contains("data.bin"),
        "{stderr}"
    );
    assert_eq!(it.json(&["branch", "show", "two"])["revision"], 0, "nothing of it was applied");
}

/// In each run: also where the answer comes from the cache, or from the daemon.
#[test]
fn what_is_left_out_for_its_content_is_always_told() {
    let it = Place::new(&[("a.css", "a { color: {% x %}; }\n{% if b %}\n"), ("c.txt", "x\n")]);
    it.ok(&["branch", "fork", "try"]);
    for branch in [&[][..], &[], &["--branch", "try"], &["--branch", "try"]] {
        let run = |arguments: &[&str]| it.told(&[&["check", "-v"], arguments, branch].concat());
        let (exit, stdout, stderr) = run(&[]);
        assert_eq!(
            (exit, stdout.as_str()),
            (0, "No findings in 3 files; 1 file left out for its content.\n")
        );
        let told = "css: a.css is left out: it looks like a template\n";
        assert_eq!(stderr.matches(told).count(), 1, "{branch:?}: {stderr}");
        let report: serde_json::Value = serde_json::from_str(&run(&["--output-format", "json"]).1).unwrap();
        let excluded = serde_json::json!([
            { "path": "a.css", "linter": "css", "reason": "it looks like a template" }
        ]);
        assert_eq!((&report["excluded"], &report["summary"]["excluded"]), (&excluded, &serde_json::json!(1)));
        let sarif = run(&["--output-format", "sarif"]).1;
        let note = "\"level\":\"note\"";
        assert!(sarif.contains(note) && sarif.contains("\"executionSuccessful\":true"), "{sarif}");
        let (exit, _, stderr) = run(&["--select", "css/ALL", "a.css"]);
        let why = "css leaves it out: it looks like a template";
        let counted = "1 file is left out for its content, which -v tells";
        assert!(exit == 0 && (stderr.contains(why) || stderr.contains(counted)), "{branch:?}: {stderr}");
    }
}

#[test]
fn what_was_done_can_be_undone() {
    let it = Place::new(&[("a.py", "0\n")]);
    it.ok(&["branch", "fork", "try"]);
    for text in ["1\n", "2\n", "3\n"] {
        it.ok_with_input(&["branch", "write", "try", "a.py"], text);
    }
    assert_eq!(it.ok(&["branch", "undo", "try"]), "revision 4, as it was at revision 2\n");
    assert_eq!(it.ok(&["branch", "read", "try", "a.py"]), "2\n");
    assert_eq!(it.ok(&["branch", "undo", "try"]), "revision 5, as it was at revision 1\n");
    assert_eq!(it.ok(&["branch", "undo", "try"]), "revision 6, as it was at revision 0\n");
    let (exit, _, stderr) = it.told(&["branch", "undo", "try"]);
    assert!(exit == 2 && stderr.contains("there is nothing to undo"), "{stderr}");
    it.ok(&["branch", "undo", "try", "--to", "3"]);
    assert_eq!(it.ok(&["branch", "read", "try", "a.py"]), "3\n");
    assert_eq!(it.ok(&["branch", "read", "try", "a.py", "--revision", "1"]), "1\n");
    let since = it.ok(&["branch", "diff", "try", "--since", "2"]);
    assert!(since.contains("-2\n+3\n"), "{since}");
    let (exit, _, stderr) = it.told(&["branch", "undo", "try", "--if-revision", "3"]);
    assert!(exit == 2 && stderr.contains("hint: the branch was edited meanwhile"), "{stderr}");
    it.ok(&["branch", "fork", "fresh"]);
    let (exit, _, stderr) = it.told(&["branch", "undo", "fresh"]);
    assert_eq!((exit, stderr.as_str()), (2, "error: there is nothing to undo\n"));
}

#[test]
fn a_commit_overwrites_nothing_unasked() {
    let it = Place::new(&[("a.py", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"), ("b.py", "x\n")]);
    it.ok(&["branch", "fork", "try"]);
    it.ok_with_input(&["branch", "write", "try", "a.py"], "ours\n2\n3\n4\n5\n6\n7\n8\n9\n");
    it.ok_with_input(&["branch", "write", "try", "b.py"], "ours\n");
    it.write("a.py", "1\n2\n3\n4\n5\n6\n7\n8\ntheirs\n");
    it.write("b.py", "theirs\n");
    let (exit, stdout, stderr) = it.told(&["branch", "commit", "try"]);
    assert_eq!((exit, stdout.as_str()), (2, ""));
    assert!(stderr.contains("`a.py`") && stderr.contains("`b.py`"), "{stderr}");
    assert!(stderr.contains("`broker branch rebase try`") && stderr.contains("`--force PATH`"), "{stderr}");
    assert_eq!(it.read("b.py"), "theirs\n");

    let (exit, _, stderr) = it.told(&["branch", "rebase", "try"]);
    assert!(exit == 2 && stderr.contains("`b.py`") && stderr.contains("--on-conflict markers"), "{stderr}");
    let rebased = it.ok(&["branch", "rebase", "try", "--on-conflict", "keep-branch"]);
    assert!(rebased.contains("merged    a.py\n") && rebased.contains("conflict  `b.py` "), "{rebased}");
    it.ok(&["branch", "commit", "try"]);
    assert_eq!(
        (it.read("a.py"), it.read("b.py")),
        ("ours\n2\n3\n4\n5\n6\n7\n8\ntheirs\n".into(), "ours\n".into())
    );

    it.ok_with_input(&["branch", "write", "try", "b.py"], "ours again\n");
    it.write("b.py", "theirs again\n");
    it.ok(&["branch", "commit", "try", "--force", "b.py"]);
    assert_eq!(it.read("b.py"), "ours again\n");
}

#[test]
fn a_daemon_that_was_killed_loses_nothing() {
    let it = Place::new(&[]);
    it.ok(&["branch", "fork", "try"]);
    it.ok_with_input(&["branch", "write", "try", "a.py"], "kept\n");
    let pid = it.pid().unwrap();
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    // A process does not end at the very moment that it is told to.
    while it.pid().as_ref() == Some(&pid) {}
    let output = it.run(&["branch", "read", "try", "a.py"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "kept\n", "{stderr}");
    assert!(stderr.starts_with("started a daemon (process "), "{stderr}");
    assert_ne!(it.pid(), Some(pid));
}

#[test]
fn a_watch_follows_the_branch_until_it_is_interrupted() {
    let it = Place::new(&[("a.py", "x = 1\n")]);
    it.ok(&["branch", "fork", "try"]);
    let mut command = it.command(&["check", "--branch", "try", "--watch", "--output-format", "concise"]);
    let mut child = Ending(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let mut line = || lines.next().unwrap().unwrap();
    assert_eq!(line(), "No findings in 2 files.");
    it.ok_with_input(&["branch", "write", "try", "a.py"], "import os\n");
    assert_eq!(line(), "a.py:1:8: python/F401 [*] `os` imported but unused");
    assert_eq!(line(), "1 finding in 2 files (1 fixable).");
    assert_eq!(child.interrupt(), Some(1));
}

#[test]
fn a_watch_outlives_a_broken_configuration() {
    let it = Place::new(&[("a.py", "import os\n")]);
    it.ok(&["branch", "fork", "try"]);
    let mut command = it.command(&["check", "--branch", "try", "--watch", "--output-format", "concise"]);
    let mut child = Ending(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let mut said = BufReader::new(child.0.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut found = BufReader::new(child.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let finding = "a.py:1:8: python/F401 [*] `os` imported but unused";
    assert_eq!(found.next().unwrap(), finding);
    it.ok_with_input(&["branch", "write", "try", "broker.toml"], "selct = []\n");
    let error = "error: broker.toml:1:1: unknown key `selct`";
    assert!(said.any(|it| it == error), "the error is told");
    assert_eq!(said.next().unwrap(), "hint: did you mean `select`?");
    it.ok_with_input(&["branch", "write", "try", "broker.toml"], "ignore = [\"E\"]\n");
    assert_eq!(found.nth(1).unwrap(), finding, "after the summary of the first round");
    assert_eq!(child.interrupt(), Some(1));
}

#[test]
fn what_is_ignored_is_added_to_what_the_configuration_selects() {
    let it = Place::new(&[("broker.toml", "select = [\"E401\", \"F\"]\n"), ("a.py", "import os, sys\n")]);
    it.ok(&["branch", "fork", "try"]);
    let check = ["check", "--ignore", "F401", "--output-format", "concise", "--quiet"];
    let (exit, told, _) = it.told(&[&check[..], &["--branch", "try"]].concat());
    assert_eq!((exit, told.as_str()), (1, "a.py:1:1: python/E401 [*] Multiple imports on one line\n"));
    assert_eq!(it.told(&check).1, told, "as without a branch");
}

#[test]
fn what_the_baseline_knows_stays_known_when_it_moves() {
    let it = Place::new(&[("a.py", "import os\n"), ("broker.toml", "[baseline]\nfile = \"known.json\"\n")]);
    it.run(&["check", "--baseline-update"]);
    it.ok(&["branch", "fork", "try"]);
    it.ok(&["branch", "mv", "try", "a.py", "b.py"]);
    let check = ["check", "--branch", "try", "--new-only", "--quiet"];
    assert_eq!(it.told(&check), (0, String::new(), String::new()));
    it.ok_with_input(&["branch", "write", "try", "b.py"], "import os\nimport re\n");
    let (exit, told, _) = it.told(&[&check[..], &["--output-format", "concise"]].concat());
    assert_eq!(exit, 1);
    assert!(told.contains("b.py:2:8: python/F401") && !told.contains("b.py:1"), "{told}");
}

#[test]
fn a_commit_does_not_have_the_mask_of_the_shell_that_started_the_daemon() {
    let it = Place::new(&[]);
    let broker = tests::broker();
    let script = format!("umask 000; exec {} branch fork try", broker.display());
    assert!(it.isolated("sh", &["-c", &script]).output().unwrap().status.success());
    it.ok_with_input(&["branch", "write", "try", "new/a.py"], "x = 1\n");
    it.ok(&["branch", "commit", "try"]);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&it.root().join("new/a.py")), mode(&it.root().join("new"))), (0o644, 0o755));
    // What the daemon keeps for itself no other user can read.
    let mut folders = vec![it.own("state"), it.own("cache"), it.own("run")];
    while let Some(folder) = folders.pop() {
        if mode(&folder) & 0o077 == 0 {
            continue;
        }
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let kind = entry.file_type().unwrap();
            assert!(kind.is_dir() || mode(&entry.path()) & 0o077 == 0, "{}", entry.path().display());
            folders.extend(kind.is_dir().then(|| entry.path()));
        }
    }
}

#[test]
fn a_folder_for_state_that_others_can_write_to_is_refused_by_name() {
    let it = Place::new(&[("a.py", "import os\n")]);
    fs::create_dir(it.own("state")).unwrap();
    fs::set_permissions(it.own("state"), fs::Permissions::from_mode(0o777)).unwrap();
    let want = format!(
        "error: cannot use the state folder {}: others can write to it (chmod go-w would keep them out)\n\
         hint: set BROKER_STATE_DIR to a folder of your own\n",
        it.own("state").display()
    );
    for line in ["branch fork try", "serve", "trust", "trust --list", "check --fix ."] {
        let (exit, _, said) = it.told(&line.split(' ').collect::<Vec<_>>());
        assert!(exit == 2 && said.contains(&want), "{line}: {exit} {said}");
    }
    assert_eq!((it.told(&["check", "."]).0, it.read("a.py")), (1, "import os\n".to_owned()));
    assert_eq!(fs::read_dir(it.own("state")).unwrap().count(), 0);
    fs::set_permissions(it.own("state"), fs::Permissions::from_mode(0o755)).unwrap();
    it.ok(&["branch", "fork", "try"]);
}

#[test]
fn a_daemon_does_not_hold_what_the_shell_has_open() {
    let it = Place::new(&[("a.txt", "old\n")]);
    let script = format!("exec 7>>a.txt; exec {} branch fork try", tests::broker().display());
    assert!(it.isolated("sh", &["-c", &script]).output().unwrap().status.success());
    let folder = format!("/proc/{}/fd", it.pid().unwrap());
    let open = fs::read_dir(folder).unwrap().filter_map(|it| fs::read_link(it.unwrap().path()).ok());
    assert_eq!(open.filter(|file| *file == it.root().join("a.txt")).count(), 0);
    it.ok_with_input(&["branch", "write", "try", "a.txt"], "new\n");
    it.ok(&["branch", "commit", "try"]);
}
