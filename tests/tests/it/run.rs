//! Commands that run in a shadow folder, from the command line.

use std::{
    ffi::OsStr,
    fs,
    io::{BufRead as _, BufReader},
    os::unix::ffi::OsStrExt as _,
    process::{Command, Stdio},
};

use serde_json::Value;
use tests::place::{Ending, Place, told};

fn place() -> Place {
    let it = Place::new(&[("ruff.toml", "lint.select = [\"F\"]\n")]);
    it.write("a.txt", "a\n");
    it.write("src/b.txt", "b\n");
    it
}

#[test]
fn a_command_leaves_the_folder_as_it_was() {
    let it = place();
    let script = "cat a.txt; echo more >> a.txt; cat a.txt; rm -r src; ls; exit 3";
    let (exit, stdout, stderr) = told(it.run(&["run", "--", "sh", "-c", script]));
    assert_eq!((exit, stdout.as_str(), stderr.as_str()), (3, "a\na\nmore\na.txt\nruff.toml\n", ""));
    assert_eq!(fs::read_to_string(it.root().join("a.txt")).unwrap(), "a\n");
    assert!(it.root().join("src/b.txt").exists());
}

#[test]
fn a_link_in_the_workspace_opens_nothing_outside() {
    let it = place();
    let secrets = it.own(".ssh");
    fs::create_dir_all(secrets.join("bin")).unwrap();
    fs::write(secrets.join("id_rsa"), "secret").unwrap();
    std::os::unix::fs::symlink(&secrets, it.root().join(".venv")).unwrap();
    let key = secrets.join("id_rsa").display().to_string();
    assert_eq!(it.run(&["branch", "fork", "try"]).status.code(), Some(0));
    let venv = it.root().join(".venv");
    let path = format!("{}:/usr/bin:/bin", venv.join("bin").display());
    for which in [&["run"][..], &["run", "--branch", "try"]] {
        let mut command = it.command(&[which, &["--", "cat", &key, ".venv/id_rsa"]].concat());
        let (exit, stdout, stderr) =
            told(command.env("VIRTUAL_ENV", &venv).env("PATH", &path).output().unwrap());
        assert_eq!((exit, stdout.as_str()), (1, ""), "{stderr}");
    }
}

#[test]
fn an_argument_that_is_no_text_reaches_a_command_of_this_process() {
    let it = place();
    assert_eq!(it.run(&["branch", "fork", "try"]).status.code(), Some(0));
    let run = |way: &[&str]| {
        let mut command = it.command(&[&["run"], way, &["--", "printf", "%s"]].concat());
        command.arg(OsStr::from_bytes(b"\xff")).output().unwrap()
    };
    let here = run(&[]);
    assert_eq!((here.status.code(), here.stdout.as_slice()), (Some(0), &b"\xff"[..]));
    let (exit, _, stderr) = told(run(&["--branch", "try"]));
    assert!(exit == 125 && stderr.contains("is not UTF-8"), "{stderr}");
}

#[test]
fn a_command_that_is_not_allowed_needs_an_answer_wherever_it_runs() {
    let it = place();
    it.write("broker.toml", "[run]\nallow = [[\"echo\"]]\n");
    assert_eq!(it.run(&["branch", "fork", "try"]).status.code(), Some(0));
    assert_eq!(it.run(&["trust"]).status.code(), Some(0));
    for place in [&["--branch", "try"][..], &[]] {
        let run = |command: &[&str]| told(it.run(&[&["run"], place, &["--"], command].concat()));
        assert_eq!(run(&["echo", "hi"]), (0, "hi\n".to_owned(), String::new()), "{place:?}");
        let (exit, stdout, stderr) = run(&["cat", "a.txt"]);
        assert_eq!((exit, stdout.as_str()), (125, ""), "{place:?}");
        assert!(stderr.contains("`[run]` does not list the command `cat a.txt`"), "{place:?}: {stderr}");
    }
}

#[test]
fn a_command_starts_in_the_current_folder() {
    let it = place();
    assert_eq!(it.run(&["branch", "fork", "try"]).status.code(), Some(0));
    for place in [&["--branch", "try"][..], &[]] {
        let mut command = it.command(&[&["run"], place, &["--", "cat", "b.txt"]].concat());
        let output = command.current_dir(it.root().join("src")).output().unwrap();
        assert_eq!(told(output), (0, "b\n".to_owned(), String::new()), "{place:?}");
    }
}

#[test]
fn what_cannot_be_run_is_told_as_by_a_shell() {
    let it = place();
    let (exit, _, stderr) = told(it.run(&["run", "--", "no-such-program"]));
    assert_eq!(exit, 127);
    assert!(stderr.starts_with("error: cannot run no-such-program: No such file"), "{stderr}");
    assert_eq!(told(it.run(&["run", "--", "./a.txt"])).0, 126);
    assert_eq!(told(it.run(&["run", "--", "sh", "-c", "kill -9 $$"])).0, 137);
    let (exit, _, stderr) = told(it.run(&["run", "--branch", "none", "--", "true"]));
    assert_eq!(exit, 125, "{stderr}");
    let (exit, _, stderr) = told(it.run(&["run", "--harvest", "--", "true"]));
    assert_eq!(exit, 125);
    assert!(stderr.contains("--harvest needs a branch"), "{stderr}");
}

#[test]
fn standard_input_and_both_outputs_are_the_commands() {
    let it = place();
    let output = it.run_with_input(&["run", "--", "sh", "-c", "cat; echo problem >&2"], "typed\n");
    assert_eq!(told(output), (0, "typed\n".to_owned(), "problem\n".to_owned()));
}

#[test]
fn what_a_command_writes_becomes_an_edit_of_its_branch() {
    let it = place();
    it.git(&["init", "-q"]);
    it.write(".gitignore", "*.log\n");
    assert_eq!(it.run(&["branch", "fork", "try"]).status.code(), Some(0));
    let write = it.run_with_input(&["branch", "write", "try", "a.txt"], "of the branch\n");
    assert_eq!(write.status.code(), Some(0));
    let script = "cat a.txt; echo more >> a.txt; rm -r src; mkdir d; echo n > d/n.txt; chmod +x d/n.txt; echo l > x.log; ln -s a.txt link";
    let output = it.run(&["run", "--branch", "try", "--harvest", "--", "sh", "-c", script]);
    let (exit, stdout, stderr) = told(output);
    assert_eq!((exit, stdout.as_str()), (0, "of the branch\n"), "{stderr}");
    assert_eq!(stderr, "3 changed, 1 removed: revision 2\n");
    let (_, diff, _) = told(it.run(&["branch", "diff", "try"]));
    for part in
        ["+of the branch\n+more\n", "new file mode 100755", "deleted file mode", "new file mode 120000"]
    {
        assert!(diff.contains(part), "{part}: {diff}");
    }
    assert!(!diff.contains("x.log"), "{diff}");
    assert_eq!(fs::read_to_string(it.root().join("a.txt")).unwrap(), "a\n");

    // A glob says what is meant, whatever is ignored; a second run sees what the first one wrote.
    let (exit, stdout, stderr) = told(it.run(&[
        "run",
        "--branch",
        "try",
        "--harvest=*.log",
        "--",
        "sh",
        "-c",
        "cat d/n.txt; echo l > x.log; echo m > m.txt",
    ]));
    assert_eq!((exit, stdout.as_str(), stderr.as_str()), (0, "n\n", "1 changed, 0 removed: revision 3\n"));
    // An undo takes all of a run back.
    assert_eq!(it.run(&["branch", "undo", "try"]).status.code(), Some(0));
    let (_, diff, _) = told(it.run(&["branch", "diff", "try"]));
    assert!(!diff.contains("x.log") && diff.contains("d/n.txt"), "{diff}");
}

#[test]
fn an_edit_that_came_meanwhile_is_not_written_over() {
    let it = place();
    assert_eq!(it.run(&["branch", "fork", "try"]).status.code(), Some(0));
    let (sees, goes_on) = (it.own("sees"), it.own("goes-on"));
    for fifo in [&sees, &goes_on] {
        assert!(std::process::Command::new("mkfifo").arg(fifo).status().unwrap().success());
    }
    let names = [sees.display().to_string(), goes_on.display().to_string()];
    let script = format!("echo mine > a.txt; echo > {}; cat {}", names[0], names[1]);
    let arguments = [
        "run",
        "--branch",
        "try",
        "--write",
        &names[0],
        "--write",
        &names[1],
        "--harvest",
        "--",
        "sh",
        "-c",
        &script,
    ];
    let output = std::thread::scope(|scope| {
        let runs = scope.spawn(|| it.run(&arguments));
        fs::read(&sees).unwrap();
        assert_eq!(
            it.run_with_input(&["branch", "write", "try", "a.txt"], "theirs\n").status.code(),
            Some(0)
        );
        fs::write(&goes_on, "").unwrap();
        runs.join().unwrap()
    });
    let (exit, _, stderr) = told(output);
    assert_eq!(exit, 0, "the command's own");
    assert!(stderr.contains("the branch was edited meanwhile: a.txt"), "{stderr}");
    assert_eq!(told(it.run(&["branch", "read", "try", "a.txt"])).1, "theirs\n");
}

#[test]
fn what_cannot_be_kept_is_said_and_the_command_has_its_own_code() {
    let it = place();
    assert_eq!(it.run(&["branch", "fork", "try"]).status.code(), Some(0));
    let script = "import os\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')\nos._exit(7)";
    let output = it.run(&["run", "--branch", "try", "--harvest", "--", "python3", "-c", script]);
    let (exit, _, stderr) = told(output);
    assert_eq!(exit, 7, "{stderr}");
    assert!(stderr.contains("what was written is not kept: cannot read what was written"), "{stderr}");
}

#[test]
fn without_a_repository_caches_of_tools_are_no_edit() {
    let it = place();
    it.write("Cargo.toml", "");
    assert_eq!(it.run(&["branch", "fork", "try"]).status.code(), Some(0));
    let script = "mkdir -p target/debug made; touch target/debug/a made/CACHEDIR.TAG made/a kept.txt";
    let output = it.run(&["run", "--branch", "try", "--harvest", "--", "sh", "-c", script]);
    assert_eq!(told(output).2, "1 changed, 0 removed: revision 1\n");
    assert_eq!(it.run(&["branch", "read", "try", "kept.txt"]).status.code(), Some(0));
    // Files that the pattern names are kept, even those in a cache.
    let named = ["run", "--branch", "try", "--harvest=made/*", "--", "sh", "-c", script];
    assert_eq!(told(it.run(&named)).2, "2 changed, 0 removed: revision 2\n");
}

#[test]
fn a_daemon_that_is_killed_is_told_with_its_command() {
    let it = place();
    assert_eq!(it.run(&["branch", "fork", "try"]).status.code(), Some(0));
    let mut command = it.command(&["run", "--branch", "try", "--", "sh", "-c", "echo ready; sleep 1000"]);
    let mut running = Ending(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(running.0.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    let (_, status, _) = told(it.run(&["daemon", "status", "--output-format", "json"]));
    let pid = serde_json::from_str::<Value>(&status).unwrap()["pid"].to_string();
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    assert_eq!(running.0.wait().unwrap().code(), Some(125));
    let told = BufReader::new(running.0.stderr.take().unwrap()).lines();
    let told: Vec<_> = told.map_while(Result::ok).filter(|it| !it.contains("started a daemon")).collect();
    assert_eq!(told[0], "error: the daemon was ended, or broke off, and the command with it");
    assert!(told[1].starts_with("hint: what it had to say is in "), "{told:?}");
}

#[test]
fn a_command_in_the_background_is_found_by_its_name() {
    let it = place();
    assert_eq!(it.run(&["branch", "fork", "try"]).status.code(), Some(0));
    let script =
        "echo up; echo problem >&2; echo made > made.txt; trap 'echo told' HUP; while :; do sleep 0.01; done";
    let start = ["run", "--branch", "try", "--background", "--name", "svc", "--", "sh", "-c", script];
    assert_eq!(told(it.run(&start)), (0, "svc\n".to_owned(), String::new()));
    let (exit, _, stderr) = told(it.run(&start));
    assert_eq!(exit, 125);
    assert!(stderr.contains("there is already a run named `svc`"), "{stderr}");
    let mut log = it.command(&["run", "logs", "-f", "svc"]);
    let mut log = Ending(log.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut lines = BufReader::new(log.0.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "up");
    // The service handles the signal after it has written its file.
    assert_eq!(it.run(&["run", "kill", "--signal", "HUP", "svc"]).status.code(), Some(0));
    assert_eq!(lines.next().unwrap().unwrap(), "told");
    assert_eq!(told(it.run(&["run", "--branch", "try", "--", "cat", "made.txt"])).1, "made\n");
    let (exit, stdout, _) = told(it.run(&["run", "ps"]));
    assert!(exit == 0 && stdout.contains("svc   try     runs   sh -c"), "{stdout}");
    assert_eq!(told(it.run(&["run", "kill", "svc"])), (0, String::new(), "svc ended with 143\n".to_owned()));
    assert!(lines.next().is_none(), "the log ends with it");
    assert_eq!(log.0.wait().unwrap().code(), Some(0));
    let (exit, stdout, stderr) = told(it.run(&["run", "logs", "svc"]));
    // A shell may say of what it waits for that the signal ended it.
    assert!(
        (exit, stdout.as_str()) == (0, "up\ntold\n") && stderr.starts_with("problem\n"),
        "{stdout}{stderr}"
    );
    let missing = ["run", "--branch", "try", "--background", "--name", "none", "--", "no-such-command"];
    assert_eq!(it.run(&missing).status.code(), Some(0));
    let why = "cannot run no-such-command: No such file or directory (os error 2)\n".to_owned();
    assert_eq!(told(it.run(&["run", "logs", "-f", "none"])), (0, String::new(), why));
    let (exit, _, stderr) = told(it.run(&["run", "kill", "other"]));
    assert!(exit == 2 && stderr.contains("there is no run `other`"), "{stderr}");
}

#[test]
fn an_interrupt_is_for_the_command() {
    let it = place();
    assert_eq!(it.run(&["branch", "fork", "try"]).status.code(), Some(0));
    let script = "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.01; done";
    let mut command = it.command(&["run", "--branch", "try", "--", "sh", "-c", script]);
    let mut running = Ending(command.stdout(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(running.0.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    assert_eq!(running.interrupt(), Some(9));
    assert_eq!(lines.next().unwrap().unwrap(), "caught");
}

#[test]
fn a_signal_reaches_the_command_as_itself() {
    let it = place();
    assert_eq!(it.run(&["branch", "fork", "try"]).status.code(), Some(0));
    let script = "trap 'exit 8' INT; trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done";
    for place in [&["--branch", "try"][..], &[]] {
        let arguments = [&["run"], place, &["--", "sh", "-c", script]].concat();
        let mut running = Ending(it.command(&arguments).stdout(Stdio::piped()).spawn().unwrap());
        let mut lines = BufReader::new(running.0.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "ready");
        assert_eq!(running.terminate(), Some(9), "{place:?}");
    }
}

#[test]
fn a_trusted_workspace_shows_what_commands_need() {
    let it = place();
    let hidden = tempfile::tempdir().unwrap();
    fs::write(hidden.path().join("a"), "shown\n").unwrap();
    let place = hidden.path().canonicalize().unwrap();
    it.write("broker.toml", format!("[run]\nread = [{place:?}]\nenv = [\"EXTRA\"]\n"));
    assert_eq!(it.run(&["branch", "fork", "try"]).status.code(), Some(0));
    let script = format!("cat {}/a 2>/dev/null; echo $EXTRA", place.display());
    let run = |way: &[&str]| {
        let mut command = it.command(&[&["run"], way, &["--", "sh", "-c", &script]].concat());
        told(command.env("EXTRA", "handed on").output().unwrap()).1
    };
    let ways = [&["--branch", "try"][..], &[]];
    assert_eq!(ways.map(&run), ["\n", "\n"]);
    assert_eq!(it.run(&["trust"]).status.code(), Some(0));
    assert_eq!(ways.map(&run), ["shown\nhanded on\n"; 2]);
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let it = place();
    assert_eq!(it.run(&["branch", "fork", "try"]).status.code(), Some(0));
    for place in [&["--branch", "try"][..], &[]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let arguments = [&["run"], place, &["--", "echo", "hi"]].concat();
        let output = it.command(&arguments).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(125), "{place:?}");
        assert!(String::from_utf8(output.stderr).unwrap().contains("No space left"), "{place:?}");
        // The command is ended by SIGPIPE, as in a shell.
        let arguments = [&["run"], place, &["--", "yes"]].concat();
        let mut running = Ending(it.command(&arguments).stdout(Stdio::piped()).spawn().unwrap());
        let mut line = String::new();
        BufReader::new(running.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!((line.as_str(), running.0.wait().unwrap().code()), ("y\n", Some(141)), "{place:?}");
    }
}

#[test]
fn json_has_what_became_of_the_command() {
    let it = place();
    let json = |arguments: &[&str]| {
        let output = it.run(&[&["run", "--json"], arguments].concat());
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code().unwrap(), answer)
    };
    let (exit, answer) = json(&["--", "sh", "-c", "echo out; echo err >&2; exit 4"]);
    assert_eq!((exit, &answer["exit_code"], &answer["backend"]), (4, &4.into(), &"overlayfs".into()));
    assert_eq!((&answer["stdout"], &answer["stderr"]), (&"out\n".into(), &"err\n".into()));
    let (exit, answer) = json(&["--", "sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x"]);
    assert_eq!((exit, answer["stdout"].as_str().unwrap().len()), (0, 64 << 10));
    assert_eq!(answer["stdout_omitted_bytes"], 1_000_000 - (64 << 10));
    let (exit, answer) = json(&["--timeout", "1s", "--", "sleep", "1000"]);
    assert_eq!((exit, &answer["killed"], &answer["signal"]), (137, &"time limit of 1s".into(), &9.into()));
    let (exit, answer) =
        json(&["--memory", "100M", "--", "python3", "-c", "x = bytearray(1 << 29); input()"]);
    assert_eq!((exit, &answer["killed"]), (137, &"memory limit of 100 MiB".into()));
    let (exit, answer) = json(&["--", "no-such-command"]);
    assert_eq!((exit, &answer["not_started"]), (127, &"No such file or directory (os error 2)".into()));
}

#[test]
fn the_daemon_is_out_of_reach() {
    let it = place();
    assert_eq!(it.run(&["branch", "list"]).status.code(), Some(0));
    let script = "find / -name '*.sock' -not -path '/proc/*' 2>/dev/null; env | grep ^BROKER; true";
    let (exit, stdout, stderr) = told(it.run(&["run", "--", "sh", "-c", script]));
    assert_eq!((exit, stdout.as_str(), stderr.as_str()), (0, "", ""));
}

#[test]
fn without_isolation_a_command_runs_in_a_merged_folder_or_a_copy() {
    let it = place();
    let root = it.root().display().to_string();
    let script = format!("pwd; echo more >> {root}/a.txt; cat a.txt");
    let off = |arguments: &[&str]| it.run(&[&["run", "--sandbox", "off"], arguments].concat());
    let ran = told(off(&["--", "sh", "-c", &script]));
    assert_eq!(ran, (0, format!("{root}\na\nmore\n"), String::new()));
    assert_eq!(it.read("a.txt"), "a\n");
    assert_eq!(it.run(&["branch", "fork", "try"]).status.code(), Some(0));
    let output =
        off(&["--branch", "try", "--harvest", "--json", "--", "sh", "-c", "echo b > a.txt; rm -r src"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let backend = answer["backend"].as_str().unwrap();
    assert!(["fuse", "copy"].contains(&backend) && answer["isolated"] == false, "{answer}");
    assert_eq!(answer["written"]["changed"], serde_json::json!(["a.txt"]), "{answer}");
    assert_eq!(answer["written"]["removed"], serde_json::json!(["src/b.txt"]), "{answer}");
    assert_eq!(it.read("a.txt"), "a\n");
    let (exit, _, stderr) = told(off(&["--read", &root, "--", "true"]));
    assert_eq!(exit, 125);
    assert!(stderr.contains("mean nothing without isolation"), "{stderr}");
}

#[test]
fn where_nothing_isolates_nothing_runs_without_being_asked_to() {
    let it = place();
    let run = |arguments: &[&str]| {
        let deny = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"";
        let broker = tests::broker();
        let program = ["-Ur", "sh", "-c", deny, "sh", broker.to_str().unwrap()];
        told(it.isolated("unshare", &[&program[..], arguments].concat()).output().unwrap())
    };
    for mode in ["auto", "required"] {
        let (exit, stdout, stderr) = run(&["run", "--sandbox", mode, "--", "echo", "ran"]);
        assert_eq!((exit, stdout.as_str()), (125, ""));
        assert!(stderr.contains("does not let programs have namespaces of their own"), "{stderr}");
        assert!(stderr.contains("max_user_namespaces") && stderr.contains("--sandbox off"), "{stderr}");
    }
    assert_eq!(
        run(&["run", "--sandbox", "off", "--", "echo", "ran"]),
        (0, "ran\n".to_owned(), String::new())
    );
    let (_, stdout, _) = run(&["doctor"]);
    assert!(stdout.contains("commands   do not run: this system does not let"), "{stdout}");
}

/// A place with a repository of one commit, and a branch `try` with an edit of `a.txt`.
fn repository() -> Place {
    let it = place();
    it.git(&["init", "-q", "-b", "main"]);
    it.git(&["add", "."]);
    it.git(&["commit", "-q", "-m", "first"]);
    assert_eq!(it.run(&["branch", "fork", "try"]).status.code(), Some(0));
    let write = it.run_with_input(&["branch", "write", "try", "a.txt"], "of the branch\n");
    assert_eq!(write.status.code(), Some(0));
    it
}

/// Runs git on the branch, as the author of commits.
#[track_caller]
fn git_there(it: &Place, arguments: &[&str]) -> String {
    let user = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
    let run = [&["run", "--branch", "try", "--harvest", "--"], &user[..], arguments].concat();
    let (exit, stdout, stderr) = told(it.run(&run));
    assert_eq!(exit, 0, "{arguments:?}: {stderr}");
    stdout
}

#[test]
fn what_git_writes_stays_with_its_branch() {
    let it = repository();
    let head = it.git(&["rev-parse", "HEAD"]);
    git_there(&it, &["stash"]);
    let (_, diff, _) = told(it.run(&["branch", "diff", "try"]));
    assert_eq!(diff, "");
    assert!(git_there(&it, &["stash", "list"]).contains("stash@{0}"));
    // Commits of the user do not come between.
    it.write("b.txt", "b\n");
    it.git(&["add", "."]);
    it.git(&["commit", "-q", "-m", "second"]);
    assert_eq!(it.run(&["daemon", "stop"]).status.code(), Some(0));
    git_there(&it, &["stash", "pop"]);
    let (_, diff, _) = told(it.run(&["branch", "diff", "try"]));
    assert!(diff.contains("+of the branch"), "{diff}");
    git_there(&it, &["commit", "-q", "-a", "-m", "of the branch"]);
    assert!(git_there(&it, &["log", "--format=%s"]).starts_with("of the branch\nfirst\n"));
    assert_eq!(git_there(&it, &["status", "--short"]), "?? b.txt\n");
    assert!(git_there(&it, &["show", "--stat", "--format="]).contains("a.txt | 2 +-"));
    // An undo takes the commit back.
    assert_eq!(it.run(&["branch", "undo", "try"]).status.code(), Some(0));
    assert_eq!(git_there(&it, &["log", "--format=%s"]), "first\n");
    assert_eq!(it.git(&["rev-parse", "HEAD~1"]), head);
    assert_eq!(it.git(&["stash", "list"]), "");
    assert_eq!(fs::read_to_string(it.root().join("a.txt")).unwrap(), "a\n");
}

#[test]
fn commits_of_a_branch_are_exported() {
    let it = repository();
    git_there(&it, &["commit", "-q", "-a", "-m", "of the branch"]);
    let (exit, stdout, stderr) = told(it.run(&["branch", "export", "try"]));
    assert_eq!(exit, 0, "{stderr}");
    assert!(stdout.starts_with("the branch try of git is at "), "{stdout}");
    assert_eq!(it.git(&["log", "--format=%s", "try"]), "of the branch\nfirst");
    assert_eq!(it.git(&["show", "try:a.txt"]), "of the branch");
    assert_eq!(it.git(&["log", "--format=%s", "main"]), "first");
    assert_eq!(it.git(&["fsck", "--strict"]), "");
    // It moves on, and goes back only by force.
    git_there(&it, &["commit", "-q", "--allow-empty", "-m", "more"]);
    assert_eq!(told(it.run(&["branch", "export", "try"])).0, 0);
    git_there(&it, &["reset", "-q", "--hard", "HEAD~1"]);
    let (exit, _, stderr) = told(it.run(&["branch", "export", "try"]));
    assert_eq!(exit, 2, "{stderr}");
    assert!(stderr.contains("has other commits"), "{stderr}");
    assert_eq!(told(it.run(&["branch", "export", "try", "--force"])).0, 0);
    assert_eq!(it.git(&["log", "--format=%s", "try"]), "of the branch\nfirst");
    for (name, why) in [("main", "is checked out"), ("-x", "unexpected"), ("a..b", "cannot be the name")] {
        let (exit, _, stderr) = told(it.run(&["branch", "export", "try", name]));
        assert_eq!(exit, 2, "{name}: {stderr}");
        assert!(stderr.contains(why), "{name}: {stderr}");
    }
}

#[test]
fn an_export_says_what_is_missing() {
    let it = repository();
    it.git(&["commit", "-q", "-a", "-m", "second", "--allow-empty"]);
    git_there(&it, &["commit", "-q", "-a", "-m", "of the branch"]);
    it.git(&["reset", "-q", "--hard", "HEAD~1"]);
    it.git(&["reflog", "expire", "--expire=now", "--all"]);
    it.git(&["gc", "-q", "--prune=now"]);
    let (exit, _, stderr) = told(it.run(&["branch", "export", "try"]));
    assert_eq!(exit, 2, "{stderr}");
    assert!(stderr.contains("the repository has lost commits") && stderr.contains("pruned"), "{stderr}");

    fs::rename(it.root().join(".git"), it.own("elsewhere")).unwrap();
    let (exit, _, stderr) = told(it.run(&["branch", "export", "try"]));
    assert!(
        exit == 2 && stderr.contains("no repository of git") && stderr.contains("`git init`"),
        "{stderr}"
    );
}

#[test]
fn git_in_a_linked_worktree_is_not_kept_and_told() {
    let it = repository();
    let linked = it.own("linked");
    it.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    let there = |arguments: &[&str]| told(it.command(arguments).current_dir(&linked).output().unwrap());
    assert_eq!(there(&["branch", "fork", "w"]).0, 0);
    let (exit, _, stderr) = there(&["run", "--branch", "w", "--harvest", "--", "git", "status"]);
    assert_eq!(exit, 0, "{stderr}");
    assert!(stderr.contains("what git writes (commits, staged files) is not kept"), "{stderr}");
}

#[test]
fn a_nested_repository_can_be_removed_on_a_branch() {
    let it = repository();
    it.write("n/inner.txt", "n\n");
    it.git(&["init", "-q", "n"]);
    it.git(&["-C", "n", "add", "."]);
    it.git(&["-C", "n", "commit", "-q", "-m", "inner"]);
    let script = "echo new > new.txt; rm -rf n";
    let (exit, _, stderr) = told(it.run(&["run", "--branch", "try", "--harvest", "--", "sh", "-c", script]));
    assert_eq!(exit, 0, "{stderr}");
    assert!(stderr.starts_with("1 changed, 1 removed, version control kept"), "{stderr}");
    let (exit, stdout, _) = told(it.run(&["run", "--branch", "try", "--", "cat", "new.txt"]));
    assert_eq!((exit, stdout.as_str()), (0, "new\n"));
    let (exit, _, _) =
        told(it.run(&["run", "--branch", "try", "--", "git", "-C", "n", "rev-parse", "HEAD:inner.txt"]));
    assert_ne!(exit, 0, "the inner repository is gone there");
    assert_eq!(it.git(&["-C", "n", "log", "--format=%s"]), "inner");
}
