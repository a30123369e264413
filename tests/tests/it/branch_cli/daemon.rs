//! The daemon that the commands start and find, and watches.

use super::*;

#[test]
fn a_daemon_is_started_once_and_says_so() {
    let it = Place::new(&[]);
    let output = it.run(&["daemon", "status"]);
    assert_eq!(told(output), (1, "no daemon is running\n".to_owned(), String::new()));
    assert_eq!(it.told(&["daemon", "stop"]), (0, String::new(), "no daemon is running\n".to_owned()));

    let output = it.run(&["branch", "list"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    let pid = it.pid().unwrap();
    let want = format!("started a daemon (process {pid}); it ends after 30 minutes without a client\n");
    assert_eq!((stderr, output.status.code()), (want, Some(0)));

    assert!(it.run(&["branch", "list"]).stderr.is_empty());
    assert_eq!(it.pid(), Some(pid.clone()));
    let (exit, stdout, _) = it.told(&["daemon", "status"]);
    assert!(exit == 0 && stdout.contains(&format!("process {pid}")), "{stdout}");

    let second = it.run(&["daemon", "serve"]);
    let want = format!("a daemon is running already (process {pid})\n");
    assert_eq!(String::from_utf8(second.stderr).unwrap(), want);
    assert!(second.status.success() && second.stdout.starts_with(b"serving at "));

    let want = format!(
        "error: a daemon is already running (process {pid}), and plugins cannot be added to it\n\
         hint: end it first: `broker daemon stop`; its branches are kept\n"
    );
    assert_eq!(it.told(&["daemon", "serve", "--plugin", "a.wasm"]), (2, String::new(), want));

    let want = format!("the daemon (process {pid}) has ended\n");
    assert_eq!(it.told(&["daemon", "stop"]), (0, String::new(), want));
    assert_eq!(it.pid(), None);
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
    assert_eq!(line(), "a.py:1:8: warning python/F401 [*] `os` imported but unused");
    assert_eq!(line(), "1 finding in 2 files (1 warning, 1 fixable).");
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
    let finding = "a.py:1:8: warning python/F401 [*] `os` imported but unused";
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
fn a_folder_for_state_that_others_can_write_to_is_refused_by_name() {
    let it = Place::new(&[("a.py", "import os\n")]);
    fs::create_dir(it.own("state")).unwrap();
    fs::set_permissions(it.own("state"), fs::Permissions::from_mode(0o777)).unwrap();
    let want = format!(
        "error: cannot use the state folder {}: others can write to it (chmod go-w would keep them out)\n\
         hint: set BROKER_STATE_DIR to a folder of your own\n",
        it.own("state").display()
    );
    for line in ["branch fork try", "daemon serve", "trust", "trust --list", "check --fix ."] {
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
