//! Checks of only those files and lines that changed, by git.

use std::fs;

use insta::assert_snapshot;

use super::Workspace;

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
    assert_snapshot!(it.told(&["--staged"]), @"
    exit 1
    a.py:1:8: warning python/F401 [*] `staged` imported but unused
    pkg/c.py:1:8: warning python/F401 [*] `staged` imported but unused
    2 findings in 2 files (2 warnings, 2 fixable).
    -- stderr
    ");
    assert_snapshot!(it.told(&["--staged", "pkg"]), @"
    exit 1
    pkg/c.py:1:8: warning python/F401 [*] `staged` imported but unused
    1 finding in 1 file (1 warning, 1 fixable).
    -- stderr
    ");
    it.git(&["rm", "-q", "-f", "--cached", "-r", "."]);
    it.git(&["commit", "-qm", "nothing"]);
    assert_snapshot!(it.told(&["--staged"]), @r#"
exit 0
No findings in 0 files.
-- stderr
warning: nothing to check: no file changed
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
    assert_snapshot!(staged, @"
    exit 1
    a.py:1:8: warning python/F401 [*] `staged` imported but unused
    pkg/b.py:1:8: warning python/F401 [*] `staged` imported but unused
    2 findings in 2 files (2 warnings, 2 fixable).
    -- stderr
    ");
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
    // A configuration that is named counts wherever it is.
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
    assert_snapshot!(it.told(&["--changed"]), @"
    exit 1
    new/c d.py:1:8: warning python/F401 [*] `c` imported but unused
    1 finding in 1 file (1 warning, 1 fixable).
    -- stderr
    ");
    assert_snapshot!(it.told(&["--since", "main"]), @"
    exit 1
    b.py:1:8: warning python/F401 [*] `b2` imported but unused
    new/c d.py:1:8: warning python/F401 [*] `c` imported but unused
    2 findings in 2 files (2 warnings, 2 fixable).
    -- stderr
    ");
    assert_snapshot!(it.told(&["--since", "main", "new"]), @"
    exit 1
    new/c d.py:1:8: warning python/F401 [*] `c` imported but unused
    1 finding in 1 file (1 warning, 1 fixable).
    -- stderr
    ");
    assert_snapshot!(it.told(&["--since", "nothing"]), @r#"
exit 2
-- stderr
error: git knows no commit `nothing`
"#);
    let name = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff.py");
    fs::write(it.root().join(name), "import os\n").unwrap();
    assert_snapshot!(it.told(&["--changed"]), @"
    exit 1
    new/c d.py:1:8: warning python/F401 [*] `c` imported but unused
    1 finding in 1 file (1 warning, 1 fixable); skipped 1 name that is not UTF-8.
    -- stderr
    ");
    let outside = Workspace::new(&[("a.py", "import a\n")]);
    assert_snapshot!(outside.told(&["--changed"]).replace(outside.root().to_str().unwrap(), "[root]"), @r#"
exit 2
-- stderr
error: git rev-parse failed: not a git repository (or any of the parent directories): .git
"#);
}

/// A repository comes with its configuration, as an archive or a folder of another's making does.
#[test]
fn no_program_that_a_repository_names_is_run() {
    let it = Workspace::new(&[("a.py", "import a\n"), ("b.py", "import b\n")]);
    it.git(&["init", "-q", "-b", "main"]);
    it.commit_all();
    it.write(".gitattributes", "*.py filter=trap diff=trap\n*.txt filter=dotted.trap\n");
    it.write("c.txt", "c\n");
    it.commit_all();
    it.write("b.py", "import staged\n");
    it.git(&["add", "-A"]);
    let staged = it.isolated("git", &["rev-parse", ":b.py"]).output().unwrap();
    let hash = String::from_utf8(staged.stdout).unwrap();
    let program = it.own("trap.sh");
    fs::write(&program, "#!/bin/sh\necho \"$1\" >>\"${0%.sh}\"\ncat\n").unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let trap = |name: &str| format!("{} {name}", program.display());
    for key in [
        "filter.trap.clean",
        "filter.trap.smudge",
        "filter.dotted.trap.clean",
        "filter.dotted.trap.process",
        "diff.trap.command",
        "diff.trap.textconv",
        "diff.external",
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.alternateRefsCommand",
    ] {
        it.git(&["config", key, &trap(key)]);
    }
    it.git(&["config", "filter.trap.required", "true"]);
    it.write(".git/included", format!("[filter \"trap\"]\n\tprocess = {}\n", trap("included")));
    it.git(&["config", "include.path", "included"]);
    let hook = it.root().join(".git/hooks/post-index-change");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::copy(&program, &hook).unwrap();
    // A clone without all of its objects gets them when they are first wanted, from where the repository says.
    it.git(&["config", "extensions.partialClone", "origin"]);
    it.git(&["config", "remote.origin.promisor", "true"]);
    it.git(&["config", "remote.origin.url", &format!("ext::{} fetch", program.display())]);
    it.git(&["config", "protocol.ext.allow", "always"]);
    for name in ["a.py", "b.py", "c.txt"] {
        // Their times alone have changed, so that git has to look at their texts.
        let file = fs::File::options().write(true).open(it.root().join(name)).unwrap();
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(1000);
        file.set_modified(later).unwrap();
    }
    for how in [&["--changed"][..], &["--since", "HEAD~1"], &["--staged"]] {
        let (code, _) = it.json(how);
        assert!(code < 2, "{how:?}");
    }
    assert_eq!(fs::read_to_string(it.own("trap")).unwrap_or_default(), "");

    let (folder, rest) = hash.trim().split_at(2);
    fs::remove_file(it.root().join(".git/objects").join(folder).join(rest)).unwrap();
    it.write("b.py", "import other\n");
    assert_eq!(it.run(&["check", "--staged"]).status.code(), Some(2), "what is staged cannot be had");
    assert_eq!(fs::read_to_string(it.own("trap")).unwrap_or_default(), "", "and is not fetched");
}

/// Texts that git stores are checked, whatever the working copy has; by the times in the index the two are the same.
#[test]
fn texts_are_those_that_git_stores() {
    let it = Workspace::new(&[]);
    it.git(&["init", "-q"]);
    it.git(&["config", "filter.strip.clean", "grep -v SECRET"]);
    it.git(&["config", "filter.strip.smudge", "cat"]);
    it.git(&["config", "filter.crypt.clean", "sed s/^/ENC/"]);
    it.git(&["config", "filter.crypt.smudge", "sed s/^ENC//"]);
    it.write(".gitattributes", "*.sh text eol=crlf\n*.py filter=strip\n*.json filter=crypt\n");
    it.write("a.sh", "#!/bin/sh\r\nif true; then\r\n  echo 1\r\nfi\r\n");
    it.write("a.py", "print(1)\nSECRET = undefined_name\n");
    it.git(&["add", "-A"]);
    let none = "exit 0\nNo findings in 4 files.\n-- stderr\n";
    assert_eq!(it.told(&["--staged"]), none);
    it.commit_all();
    assert_eq!(it.told(&["--rev", "HEAD"]), none);
    // A comparison has both sides as a working copy has them.
    it.write("a.py", "print(1)\n");
    it.git(&["add", "-A"]);
    it.write("a.sh", "#!/bin/sh\r\nif true; then\r\n  echo 2\r\nfi\r\n");
    let compared = it.told(&["--changed", "--new-only"]);
    assert_eq!(compared, "exit 0\n0 new, 0 fixed in 1 file.\n-- stderr\n");
    it.write("a.json", "[1]\n");
    it.commit_all();
    it.write("a.json", "[2]\n");
    let (code, compared) = it.json(&["--changed", "--new-only"]);
    assert_eq!((code, &compared["summary"]["findings"]), (0, &0.into()), "what it had is not known");
    let excluded = &compared["excluded"][0];
    assert!(
        excluded["path"] == "a.json" && excluded["reason"].as_str().unwrap().contains("needs a git filter")
    );
}

#[test]
fn submodules_are_said_to_be_left_out() {
    let it = Workspace::new(&[("a.py", "x = 1\n")]);
    it.git(&["init", "-q"]);
    it.write(".gitmodules", "[submodule \"one\"]\n\tpath = lib/one\n\turl = ../one\n");
    it.commit_all();
    it.write("a.py", "x = 2\n");
    assert_snapshot!(it.told(&["--changed"]), @"
    exit 0
    No findings in 1 file.
    -- stderr
    warning: changes in submodules are not looked at; check them in their own folders: `lib/one`
    ");
    assert!(!it.told(&[]).contains("submodules"), "all is looked at");
    it.write(".gitmodules", "[submodule \"one\n");
    it.git(&["add", ".gitmodules"]);
    assert_snapshot!(it.told(&["--changed"]), @"
    exit 2
    -- stderr
    error: git config failed: bad config line 1 in blob :0:.gitmodules
    hint: repair `.gitmodules`, and stage it
    ");
}

/// A repository whose first commit has the tag `v1`, with changes of every kind after it.
fn changed_since_v1() -> Workspace {
    let it = Workspace::new(&[
        ("a.py", "import os\n"),
        ("gone.py", "import sys\n"),
        ("sub/old.py", "import json\n\n\ndef f():\n    return 1\n"),
        (".gitignore", "ignored.py\n"),
    ]);
    it.git(&["init", "-q"]);
    it.commit_all();
    it.git(&["tag", "v1"]);
    it.write("a.py", "import csv\nimport os\n");
    it.git(&["rm", "-q", "gone.py"]);
    it.git(&["mv", "sub/old.py", "sub/new.py"]);
    it.write("sub/new.py", "import json\nimport io\n\n\ndef f():\n    return 1\n");
    it.write("untracked.py", "import abc\n");
    it.write("ignored.py", "import ignored\n");
    it
}

#[test]
fn a_commit_is_checked_without_being_checked_out() {
    let it = changed_since_v1();
    assert_snapshot!(it.told(&["--rev", "v1"]), @"
    exit 1
    a.py:1:8: warning python/F401 [*] `os` imported but unused
    gone.py:1:8: warning python/F401 [*] `sys` imported but unused
    sub/old.py:1:8: warning python/F401 [*] `json` imported but unused
    3 findings in 5 files (3 warnings, 3 fixable).
    -- stderr
    ");
    assert_snapshot!(it.told(&["--rev", "v1", "gone.py", "untracked.py"]), @"
    exit 2
    gone.py:1:8: warning python/F401 [*] `sys` imported but unused
    1 finding in 1 file (1 warning, 1 fixable); 1 path could not be read.
    -- stderr
    error: untracked.py not checked: it is not in `v1`
    ");
    assert_snapshot!(it.told(&["--rev", "v2"]), @r#"
exit 2
-- stderr
error: git knows no commit `v2`
"#);
    assert_eq!(it.read("a.py"), "import csv\nimport os\n");
}

#[test]
fn what_changes_brought_is_apart_from_what_was_there() {
    let it = changed_since_v1();
    let brought = it.told(&["--since", "v1", "--new-only", "--select", "F"]);
    assert_snapshot!(brought, @"
    exit 1
    a.py:1:8: warning python/F401 [*] `csv` imported but unused
    sub/new.py:2:8: warning python/F401 [*] `io` imported but unused
    untracked.py:1:8: warning python/F401 [*] `abc` imported but unused
    gone.py:1:8: fixed python/F401 `sys` imported but unused
    3 new, 1 fixed in 3 files (3 warnings, 3 fixable).
    -- stderr
    ");
    assert_eq!(it.told(&["--changed", "--new-only", "--select", "F"]), brought);
    assert_snapshot!(it.told(&["--since", "v1", "--new-only", "gone.py"]), @r#"
exit 0
gone.py:1:8: fixed python/F401 `sys` imported but unused
0 new, 1 fixed in 0 files.
-- stderr
"#);
    assert_snapshot!(it.told(&["--staged", "--new-only", "--select", "F"]), @r#"
exit 0
gone.py:1:8: fixed python/F401 `sys` imported but unused
0 new, 1 fixed in 1 file.
-- stderr
"#);
    assert_snapshot!(it.told(&["--new-only"]), @r#"
exit 2
-- stderr
error: --new-only has nothing to compare with
hint: give `--since REF`, `--changed`, `--staged` or `--branch BRANCH` as well
"#);
    it.commit_all();
    assert_eq!(it.told(&["--rev", "HEAD", "--since", "v1", "--new-only", "--select", "F"]), brought);
}

/// A link or a file on the disk in the place of git's folder.
#[test]
fn a_folder_that_is_something_else_on_the_disk_is_shown_as_git_has_it() {
    for in_the_way in ["link", "file"] {
        let it = Workspace::new(&[("d/x.py", "import os\n"), ("e/x.py", "import re\n")]);
        it.git(&["init", "-q"]);
        it.commit_all();
        it.git(&["tag", "v1"]);
        std::fs::remove_dir_all(it.root().join("d")).unwrap();
        match in_the_way {
            "link" => std::os::unix::fs::symlink("e", it.root().join("d")).unwrap(),
            _ => it.write("d", "a file\n"),
        }
        let both = "d/x.py:1:8: warning python/F401 [*] `os` imported but unused\n\
            e/x.py:1:8: warning python/F401 [*] `re` imported but unused\n";
        assert!(it.told(&["--rev", "v1"]).contains(both), "{in_the_way}: {}", it.told(&["--rev", "v1"]));
        it.write("e/new.py", "");
        it.git(&["add", "e/new.py"]);
        it.git(&["rm", "-q", "--cached", "e/x.py"]);
        it.git(&["commit", "-qm", "without e"]);
        it.git(&["tag", "v2"]);
        let index = it.told(&["--rev", "v2"]);
        assert!(index.contains("d/x.py:1:8") && !index.contains("e/x.py"), "{in_the_way}: {index}");
        let gone = it.told(&["--rev", "v2", "--since", "v1", "--new-only"]);
        assert!(gone.contains("e/x.py:1:8: fixed") && !gone.contains("d/x.py"), "{in_the_way}: {gone}");
    }
}

#[test]
fn a_file_that_became_a_folder_is_gone() {
    let it = Workspace::new(&[("e/x.py", "import re\n")]);
    it.git(&["init", "-q"]);
    it.commit_all();
    std::fs::remove_file(it.root().join("e/x.py")).unwrap();
    it.write("e/x.py/in.py", "import io\n");
    assert_snapshot!(it.told(&["--changed", "--new-only"]), @"
    exit 1
    e/x.py/in.py:1:8: warning python/F401 [*] `io` imported but unused
    e/x.py:1:8: fixed python/F401 `re` imported but unused
    1 new, 1 fixed in 1 file (1 warning, 1 fixable).
    -- stderr
    ");
    let slip = it.told(&["--rev", "nope", "--since", "HEAD"]);
    assert!(slip.contains("git knows no commit `nope`"), "{slip}");
}

#[test]
fn what_is_staged_is_fixed_in_the_index_and_in_the_folder() {
    let it = Workspace::new(&[
        ("pyproject.toml", "[tool.ruff.lint]\nselect = [\"F\"]\n"),
        ("sub/a.py", "x = 1\n"),
    ]);
    it.git(&["init", "-q"]);
    it.commit_all();
    it.write("sub/a.py", "import os\nx = 1\n");
    it.write("sub/b.py", "import os\n\n\n\ny = 1\n");
    it.write("sub/c.py", "import os\n");
    it.write("sub/gone.py", "import os\n");
    it.git(&["add", "-A"]);
    // Changes that are not staged: other lines, the same line, and none at all.
    it.write("sub/b.py", "import os\n\n\n\ny = 2\n");
    it.write("sub/c.py", "import os.path\n");
    fs::remove_file(it.root().join("sub/gone.py")).unwrap();
    assert_snapshot!(it.told(&["--staged", "--fix"]), @"
    exit 0
    No findings in 4 files (4 fixed).
    -- stderr
    warning: sub/c.py was fixed in the index only: what is not staged touches the same lines
    warning: sub/gone.py was fixed in the index only: it is not in the folder
    ");
    let staged = |path: &str| {
        let shown = it.isolated("git", &["show", &format!(":{path}")]).output().unwrap();
        String::from_utf8(shown.stdout).unwrap()
    };
    assert_eq!([staged("sub/a.py"), it.read("sub/a.py")], ["x = 1\n", "x = 1\n"]);
    assert_eq!([staged("sub/b.py"), it.read("sub/b.py")], ["\n\n\ny = 1\n", "\n\n\ny = 2\n"]);
    assert_eq!([staged("sub/c.py"), it.read("sub/c.py")], ["", "import os.path\n"]);
    assert_eq!(staged("sub/gone.py"), "");
    assert!(!it.root().join("sub/gone.py").exists());
    assert!(it.told(&["--staged", "--fix"]).starts_with("exit 0\n"), "there is nothing left to fix");
}

#[test]
fn a_locked_index_is_left_alone() {
    let it = Workspace::new(&[("a.py", "x = 1\n")]);
    it.git(&["init", "-q"]);
    it.commit_all();
    it.write("a.py", "import os\n");
    it.git(&["add", "-A"]);
    it.write(".git/index.lock", "");
    let told = it.told(&["--staged", "--fix"]);
    assert!(told.starts_with("exit 2\n") && told.contains("index.lock"), "{told}");
    fs::remove_file(it.root().join(".git/index.lock")).unwrap();
    let told = it.told(&["--staged", "--fix"]);
    assert!(told.starts_with("exit 0\n"), "the folder was fixed before, and the index is now: {told}");
}
