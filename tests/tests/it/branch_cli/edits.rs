//! Edits of a branch: their difference, undoing them and committing them.

use super::*;

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
    assert_eq!((exit, stderr.as_str()), (2, "error: there is nothing to undo\n"));
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
fn a_commit_merges_what_goes_together() {
    let it = Place::new(&[("a.py", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")]);
    it.ok(&["branch", "fork", "try"]);
    it.ok_with_input(&["branch", "write", "try", "a.py"], "ours\n2\n3\n4\n5\n6\n7\n8\n9\n");
    it.write("a.py", "1\n2\n3\n4\n5\n6\n7\n8\ntheirs\n");
    let (exit, stdout, stderr) = it.told(&["branch", "commit", "try", "--dry-run"]);
    assert_eq!((exit, stderr.as_str()), (0, "merged a.py, which had changed on the disk\n"), "{stdout}");
    assert_eq!(it.read("a.py"), "1\n2\n3\n4\n5\n6\n7\n8\ntheirs\n");
    assert_eq!(it.told(&["branch", "commit", "try"]).0, 0);
    assert_eq!(it.read("a.py"), "ours\n2\n3\n4\n5\n6\n7\n8\ntheirs\n");
}

#[test]
fn markers_of_conflicts_are_not_committed() {
    let it = Place::new(&[("b.py", "x\n"), ("doc.md", "<<<<<<< a\n=======\n>>>>>>> b\n")]);
    it.ok(&["branch", "fork", "try"]);
    it.ok_with_input(&["branch", "write", "try", "b.py"], "ours\n");
    it.ok_with_input(&["branch", "write", "try", "doc.md"], "# Doc\n<<<<<<< a\n=======\n>>>>>>> b\n");
    it.write("b.py", "theirs\n");
    it.ok(&["branch", "rebase", "try", "--on-conflict", "markers"]);
    let (exit, stdout, stderr) = it.told(&["branch", "commit", "try"]);
    assert_eq!((exit, stdout.as_str(), it.read("b.py").as_str()), (2, "", "theirs\n"));
    assert!(stderr.contains("markers of conflicts at the lines 1") && !stderr.contains("doc.md"), "{stderr}");
    it.ok_with_input(&["branch", "write", "try", "b.py"], "both\n");
    it.ok(&["branch", "commit", "try"]);
    assert_eq!((it.read("b.py").as_str(), it.read("doc.md").lines().next()), ("both\n", Some("# Doc")));
}

#[test]
fn a_commit_overwrites_nothing_unasked() {
    let it = Place::new(&[("a.py", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"), ("b.py", "x\n")]);
    it.ok(&["branch", "fork", "try"]);
    it.ok_with_input(&["branch", "write", "try", "a.py"], "ours\n2\n3\n4\n5\n6\n7\n8\n9\n");
    it.ok_with_input(&["branch", "write", "try", "b.py"], "ours\n");
    it.write("a.py", "1\n2\n3\n4\n5\n6\n7\n8\ntheirs\n");
    it.write("b.py", "theirs\n");
    let (exit, stdout, stderr) = it.told(&["branch", "commit", "try", "--no-rebase"]);
    assert_eq!((exit, stdout.as_str()), (2, ""));
    assert!(stderr.contains("`a.py`") && stderr.contains("`b.py`"), "{stderr}");
    let (exit, stdout, stderr) = it.told(&["branch", "commit", "try"]);
    assert_eq!((exit, stdout.as_str()), (2, ""));
    assert!(!stderr.contains("`a.py`") && stderr.contains("`b.py`"), "{stderr}");
    let places = ["line 1", "base:", "  x", "ours:", "  ours", "theirs:", "  theirs"];
    assert!(places.iter().all(|it| stderr.contains(it)), "{stderr}");
    assert!(stderr.contains("`broker branch rebase try`") && stderr.contains("`--force PATH`"), "{stderr}");
    assert_eq!(it.read("b.py"), "theirs\n");

    let (exit, _, stderr) = it.told(&["branch", "rebase", "try"]);
    assert!(exit == 2 && stderr.contains("`b.py`") && stderr.contains("--on-conflict markers"), "{stderr}");
    let rebased = it.ok(&["branch", "rebase", "try", "--on-conflict", "keep-ours"]);
    assert!(rebased.contains("merged    a.py\n") && rebased.contains("conflict  `b.py` "), "{rebased}");
    assert!(rebased.contains("\nline 1\nbase:\n  x\nours:\n  ours\ntheirs:\n  theirs\n"), "{rebased}");
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
fn a_commit_does_not_have_the_mask_of_the_shell_that_started_the_daemon() {
    let it = Place::new(&[]);
    let broker = tests::broker();
    let script = format!("umask 000; exec {} branch fork try", broker.display());
    assert!(it.isolated("sh", &["-c", &script]).output().unwrap().status.success());
    it.ok_with_input(&["branch", "write", "try", "new/a.py"], "x = 1\n");
    it.ok(&["branch", "commit", "try"]);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&it.root().join("new/a.py")), mode(&it.root().join("new"))), (0o644, 0o755));
    // Files that the daemon keeps for itself are not readable by other users.
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
fn keeping_ours_and_undoing_lose_no_lines_of_the_user() {
    let lines: String = (1..=10).map(|it| format!("{it}\n")).collect();
    let it = Place::new(&[("s.txt", &lines)]);
    it.ok(&["branch", "fork", "u"]);
    it.ok_with_input(&["branch", "write", "u", "s.txt"], &lines.replace('3', "three"));
    it.write("s.txt", lines.replace('3', "USER").replace('9', "U9"));
    it.ok(&["branch", "rebase", "u", "--on-conflict", "keep-ours"]);
    it.ok(&["branch", "commit", "u"]);
    assert_eq!(it.read("s.txt"), lines.replace('3', "three").replace('9', "U9"));

    it.write("s.txt", &lines);
    it.ok(&["branch", "fork", "v"]);
    it.ok_with_input(&["branch", "write", "v", "s.txt"], &lines.replace('3', "three"));
    it.write("s.txt", lines.replace('8', "MINE"));
    it.run(&["branch", "commit", "v"]);
    assert_eq!(it.read("s.txt"), lines.replace('3', "three").replace('8', "MINE"));
    it.ok(&["branch", "undo", "v", "--to", "1"]);
    it.ok(&["branch", "commit", "v"]);
    assert_eq!(it.read("s.txt"), lines.replace('3', "three").replace('8', "MINE"));
    it.ok(&["branch", "undo", "v", "--to", "0"]);
    it.ok(&["branch", "commit", "v"]);
    assert_eq!(it.read("s.txt"), lines.replace('8', "MINE"));
}

#[test]
fn a_directory_in_the_place_of_a_file_is_replaced_by_a_decision_alone() {
    let it = Place::new(&[("d", "d\n")]);
    it.ok(&["branch", "fork", "a"]);
    it.ok_with_input(&["branch", "write", "a", "d"], "ours\n");
    fs::remove_file(it.root().join("d")).unwrap();
    it.write("d/u", "user\n");
    let (exit, _, stderr) = it.told(&["branch", "commit", "a", "--force", "d"]);
    assert_eq!(exit, 2, "{stderr}");
    assert!(stderr.contains("`d` is a directory on the disk, which is not overwritten"), "{stderr}");
    assert!(
        stderr.contains("`broker branch rebase a`") && stderr.contains("--resolve PATH=ours"),
        "{stderr}"
    );
    let (exit, _, stderr) = it.told(&["branch", "rebase", "a", "--on-conflict", "keep-ours"]);
    assert!(exit == 2 && stderr.contains("--resolve PATH=ours"), "{stderr}");
    assert_eq!(it.read("d/u"), "user\n");
    it.ok(&["branch", "rebase", "a", "--resolve", "d=ours"]);
    it.ok(&["branch", "commit", "a"]);
    assert_eq!(it.read("d"), "ours\n");
}
