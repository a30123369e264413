//! Checks of a branch, which are those of the disk.

use super::*;

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
    let want = "a.py:2:7: error python/F821 Undefined name `y`\n\
                a.py:1:8: fixed python/F401 `os` imported but unused\n\
                1 new, 1 fixed in 3 files (1 error).\n";
    assert_eq!(new, (1, want.to_owned(), String::new()));
    let (_, json, _) = it.told(&["check", "--branch", "try", "--new-only", "--output-format", "json"]);
    let summary = &serde_json::from_str::<Value>(&json).unwrap()["summary"];
    assert_eq!((&summary["findings"], &summary["fixed"]), (&1.into(), &1.into()));
    let none = it.told(&["check", "--branch", "try", "--select", "F6", "--output-format", "concise", "b.py"]);
    assert_eq!(none, (0, "No findings in 1 file.\n".to_owned(), String::new()));
}

/// In place of a folder, a link to one that is only in the branch.
#[test]
fn a_link_in_place_of_a_folder_is_laid_over_the_disk() {
    let it = Place::new(&[("d/a.py", "import os\n")]);
    it.ok(&["branch", "fork", "try"]);
    it.ok(&["branch", "mv", "try", "d", "g"]);
    let link = "diff --git a/d b/d\nnew file mode 120000\n--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+g\n\\ No newline at end of file\n";
    it.ok_with_input(&["branch", "patch", "try"], link);
    let daemons = it.told(&["check", "--branch", "try", "--output-format", "concise"]);
    assert!(daemons.0 == 1 && daemons.1.contains("g/a.py:1:8: warning python/F401"), "{daemons:?}");
    assert_eq!(it.told(&["check", "--branch", "try", "--output-format", "concise", "--no-cache"]), daemons);
}

#[test]
fn what_makes_no_sense_with_a_branch_is_refused() {
    let it = Place::new(&[]);
    for (flags, one) in [
        (&["--branch", "x", "--rev", "HEAD"][..], "--rev"),
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
fn options_count_for_a_branch_as_for_the_disk() {
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
    write("child", "both.py", "import both\nimport childs\nchilds == 1\n");
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
    assert!(isolated.1.contains("B015"), "what ruff.toml says does not count: {isolated:?}");
    let shown = told(&["--show-files", "file", "elsewhere"]).1;
    assert_eq!(shown, "elsewhere/moved.py (python, text)\nfile/in.py (python, text)\n");
    let stdin =
        ["check", "--branch", "child", "--stdin-filename", "new.py", "-", "--output-format", "concise"];
    assert!(told_with_input(&it, &stdin, "import fresh\n").contains("`fresh` imported but unused"));
    let full = ["check", "--branch", "child", "--stdin-filename", "both.py", "-", "--output-format", "full"];
    assert!(
        told_with_input(&it, &full, "import fresh\n").contains("1 | import fresh"),
        "its own line is shown"
    );
    let fixed = told_with_input(&it, &[&stdin[..], &["--fix"]].concat(), "import fresh\nx = 1\n");
    assert_eq!(fixed, "x = 1\n");
    assert_eq!(it.told(&["branch", "read", "child", "new.py"]).0, 2, "it is shown to the check alone");
    let excluded = told(&["--exclude", "both.py,file", "."]);
    assert!(excluded.1.contains("in_parent.py") && !excluded.1.contains("both.py"), "{excluded:?}");
    let outside = tempfile::tempdir().unwrap();
    let config = outside.path().join("ruff.toml");
    fs::write(&config, "[lint]\nselect = [\"B\"]\n").unwrap();
    let configured = told(&["--config", config.to_str().unwrap(), "both.py"]);
    assert!(configured.1.contains("B015") && !configured.1.contains("F401"), "{configured:?}");
    let timed = told(&["--timing", "--no-cache", "--jobs", "1", "--timeout", "20", "both.py"]).2;
    assert!(timed.contains("slowest files") && timed.contains("python  both.py"), "{timed}");
    let suppressed = told(&["--add-suppressions", "it is a test", "both.py"]);
    assert!(
        suppressed.2.contains("suppressed.") && suppressed.1.starts_with("No findings"),
        "{suppressed:?}"
    );
    assert!(it.ok(&["branch", "read", "child", "both.py"]).contains("# broker: ignore[python/F401"));

    // A baseline that the branch's configuration names is the branch's.
    write("child", "broker.toml", "[baseline]\nfile = \"known.json\"\n");
    let made = told(&["--baseline-update"]);
    assert_eq!((made.0, it.told(&["branch", "read", "child", "known.json"]).0), (0, 0), "{made:?}");
    assert!(!it.root().join("known.json").exists());
    assert_eq!(told(&[]).0, 0, "all is known");
    write("child", "in_parent.py", "x = 1\n");
    let pruned = told(&["--baseline-prune"]);
    let known = it.ok(&["branch", "read", "child", "known.json"]);
    assert!(pruned.0 == 0 && !known.contains("in_parent.py") && known.contains("left.py"), "{pruned:?}");
    // A baseline that is named on the command line is a file on the disk.
    let other = outside.path().join("other.json");
    let other = other.to_str().unwrap();
    write("child", "broker.toml", "");
    let named = told(&["--baseline", other, "--baseline-update"]);
    assert!(named.0 == 0 && fs::read_to_string(other).unwrap().contains("left.py"), "{named:?}");
    assert_eq!((told(&["--baseline", other]).0, told(&[]).0), (0, 1));
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
fn what_is_ignored_is_added_to_what_the_configuration_selects() {
    let it = Place::new(&[("broker.toml", "select = [\"E401\", \"F\"]\n"), ("a.py", "import os, sys\n")]);
    it.ok(&["branch", "fork", "try"]);
    let check = ["check", "--ignore", "F401", "--output-format", "concise", "--quiet"];
    let (exit, told, _) = it.told(&[&check[..], &["--branch", "try"]].concat());
    assert_eq!(
        (exit, told.as_str()),
        (1, "a.py:1:1: warning python/E401 [*] Multiple imports on one line\n")
    );
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
    assert!(told.contains("b.py:2:8: warning python/F401") && !told.contains("b.py:1"), "{told}");
}
