//! Branches whose work is done, and the reasons for which others are kept.

use super::*;

/// The output of `branch discard --merged`.
fn discard(it: &Place) -> String {
    it.ok(&["branch", "discard", "--merged"])
}

fn write(it: &Place, branch: &str, path: &str, text: &str) {
    it.ok(&["branch", "fork", branch]);
    it.ok_with_input(&["branch", "write", branch, path], text);
}

#[test]
fn branches_whose_edits_are_on_the_disk_go() {
    let it = Place::new(&[("a.py", "A = 1\n"), ("b.py", "B = 1\n"), ("c.py", "C = 1\n")]);
    it.ok(&["branch", "fork", "1-empty"]);
    write(&it, "2-committed", "a.py", "A = 2\n");
    it.ok(&["branch", "commit", "2-committed"]);
    write(&it, "3-on-disk", "b.py", "B = 2\n");
    it.write("b.py", "B = 2\n");
    write(&it, "4-edited", "c.py", "C = 2\n");
    it.ok(&["branch", "rm", "4-edited", "a.py"]);
    let kept = "kept 4-edited: edits that the disk does not have: a.py and 1 more\n";
    let would = "would discard 1-empty\nwould discard 2-committed\nwould discard 3-on-disk\n";
    assert_eq!(it.ok(&["branch", "discard", "--merged", "--dry-run"]), format!("{would}{kept}"));
    assert_eq!(discard(&it), format!("{}{kept}", would.replace("would discard", "discarded")));
    assert_eq!(discard(&it), kept);
    assert_eq!(it.json(&["branch", "list"]).as_array().unwrap().len(), 1);

    let (exit, _, stderr) = it.told(&["branch", "discard", "--merged", "4-edited"]);
    assert!(exit == 2 && stderr.contains("cannot be used with"), "{stderr}");
    assert_eq!(it.told(&["branch", "discard", "--dry-run", "4-edited"]).0, 2);
}

#[test]
fn undone_edits_keep_a_branch_unless_the_disk_has_their_texts() {
    let it = Place::new(&[]);
    for (branch, path) in [("1-lost", "a.py"), ("2-on-disk", "b.py")] {
        write(&it, branch, path, "x = 1\n");
        it.ok(&["branch", "undo", branch]);
    }
    it.write("b.py", "x = 1\n");
    let kept = "kept 1-lost: undone edits, of revision 1: the disk does not have a.py\n";
    assert_eq!(discard(&it), format!("{kept}discarded 2-on-disk\n"));
    // What the daemon finds after a restart is no less.
    it.ok(&["branch", "list"]);
    assert_eq!(it.run(&["daemon", "stop"]).status.code(), Some(0));
    let (_, stdout, _) = it.told(&["branch", "discard", "--merged"]);
    assert_eq!(stdout, kept);
    it.write("a.py", "x = 1\n");
    assert_eq!(discard(&it), "discarded 1-lost\n");
}

#[test]
fn a_branch_that_a_session_uses_is_kept() {
    let it = Place::new(&[("a.py", "A = 1\n")]);
    it.ok(&["branch", "fork", "used"]);
    let read = r#"{"target_file": "a.py", "branch": "used"}"#;
    it.ok(&["agent", "tool", "read_file", "--session", "s", "--json", read]);
    assert_eq!(discard(&it), "kept used: a session used it within the last 10 minutes\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_branch_on_which_a_command_runs_is_kept() {
    let it = Place::new(&[]);
    it.ok(&["branch", "fork", "busy"]);
    it.run(&["run", "--branch", "busy", "--background", "--name", "sleeps", "--", "sleep", "1000"]);
    assert_eq!(discard(&it), "kept busy: a command runs: sleeps\n");
    it.run(&["run", "kill", "sleeps"]);
    assert_eq!(discard(&it), "discarded busy\n");
}

/// Runs git on a branch, which keeps what it writes.
#[cfg(target_os = "linux")]
#[track_caller]
fn git_on(it: &Place, branch: &str, arguments: &[&str]) {
    let user = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
    let run = [&["run", "--branch", branch, "--harvest", "--"], &user[..], arguments].concat();
    let (exit, _, stderr) = it.told(&run);
    assert_eq!(exit, 0, "{arguments:?}: {stderr}");
}

#[cfg(target_os = "linux")]
#[test]
fn git_state_that_the_repository_lacks_keeps_a_branch() {
    let it = Place::new(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    it.git(&["init", "-q", "-b", "main"]);
    it.git(&["add", "."]);
    it.git(&["commit", "-q", "-m", "first"]);
    it.ok(&["branch", "fork", "1-looked"]);
    git_on(&it, "1-looked", &["status"]);
    git_on(&it, "1-looked", &["update-index", "--refresh"]);
    write(&it, "2-made", "a.txt", "made\n");
    git_on(&it, "2-made", &["commit", "-q", "-a", "-m", "made"]);
    it.ok(&["branch", "fork", "3-tagged"]);
    git_on(&it, "3-tagged", &["tag", "v1"]);
    write(&it, "4-stashed", "b.txt", "stashed\n");
    git_on(&it, "4-stashed", &["stash"]);
    it.ok(&["branch", "commit", "2-made"]);
    // The user goes on.
    it.git(&["commit", "-q", "-a", "-m", "second"]);
    let said = discard(&it);
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(
        lines,
        [
            "discarded 1-looked",
            "kept 2-made: commits of git that no branch of the repository has: refs/heads/main",
            "kept 3-tagged: a reference of git that the repository lacks: refs/tags/v1",
            "kept 4-stashed: a reference of git that the repository lacks: refs/stash",
        ]
    );
    it.ok(&["branch", "export", "2-made", "made"]);
    it.git(&["tag", "v1", "HEAD~1"]);
    let said = discard(&it);
    assert!(said.starts_with("discarded 2-made\ndiscarded 3-tagged\nkept 4-stashed: "), "{said}");
    assert_eq!(it.git(&["log", "--format=%s", "made"]), "made\nfirst");
    assert_eq!(it.git(&["fsck", "--strict"]), "");
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_staged_on_a_branch_alone_keeps_it() {
    let it = Place::new(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    it.git(&["init", "-q", "-b", "main"]);
    it.git(&["add", "."]);
    it.git(&["commit", "-q", "-m", "first"]);
    it.write("a.txt", "second\n");
    it.git(&["commit", "-q", "-a", "-m", "second"]);
    let made = [
        ("1-removed", &["rm", "-q", "--cached", "b.txt"][..]),
        ("2-reset", &["reset", "-q", "HEAD~1", "--", "a.txt"]),
    ];
    for (branch, arguments) in made {
        it.ok(&["branch", "fork", branch]);
        git_on(&it, branch, arguments);
    }
    let kept = |branch: &str| format!("kept {branch}: staged files that the repository lacks: index\n");
    assert_eq!(discard(&it), kept("1-removed") + &kept("2-reset"));
    it.git(&["rm", "-q", "--cached", "b.txt"]);
    assert_eq!(discard(&it), format!("discarded 1-removed\n{}", kept("2-reset")));
    let log = it.ok(&["branch", "log", "2-reset"]);
    assert!(log.contains("(git state)"), "{log}");
}
