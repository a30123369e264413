//! Commands on branches: what they see, what becomes of what they write, and how they end.

mod ends;
mod permissions;
mod services;

use tests::{
    api::{Harvest, RefusalExt as _, RunPart, base, branch, edits, refusal, remove, run, shell, write},
    daemon::until,
};
use workspaces::{ErrorKind, RunInput, RunLimits, RunRequest, SandboxRequest, TerminalSize};

use super::{Fixture, Way};

both! {
    a_command_sees_its_branch,
    it_reads_what_its_client_sends,
    a_terminal_is_its_own,
    what_is_written_is_gone_with_the_last_run,
    edits_show_while_something_runs,
    what_a_command_writes_becomes_one_edit,
    what_git_would_not_ignore_is_kept,
    what_a_command_un_ignores_is_kept,
    nothing_is_kept_of_what_left_processes_behind,
    an_edit_that_came_meanwhile_is_not_written_over,
    what_others_wrote_before_is_not_kept,
    what_makes_no_sense_is_refused,
}

/// Returns the standard output of a script.
async fn output(it: &Fixture, request: RunRequest) -> String {
    let (stdout, stderr, exited) = it.client.begin_run(request).await.unwrap().end().await;
    assert_eq!((exited.code, stderr.as_str()), (0, ""), "{stdout}");
    stdout
}

async fn a_command_sees_its_branch(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "disk"), ("b.txt", "b"), ("src/c.txt", "c")]).await;
    let id = it.fork().await;
    it.client.edit(&id, vec![write("a.txt", "branch"), remove("b.txt")]).await.unwrap();
    let mut running = it.client.begin_run(shell(branch(&id), "cat a.txt; ls; exit 3")).await.unwrap();
    let RunPart::Started { revision, .. } = running.next().await else { panic!("it starts first") };
    assert_eq!(revision, 1);
    let (stdout, _, exited) = running.end().await;
    assert_eq!((stdout.as_str(), exited.code), ("brancha.txt\nsrc\n", 3));
    let in_folder =
        RunRequest { folder: "src".to_owned(), ..shell(branch(&id), "pwd; cat c.txt; echo e >&2") };
    let (stdout, stderr, _) = it.client.begin_run(in_folder).await.unwrap().end().await;
    let place = it.folder.path().canonicalize().unwrap().join("src");
    assert_eq!((stdout, stderr.as_str()), (format!("{}\nc", place.display()), "e\n"));
    assert_eq!(output(&it, shell(base(&it.workspace), "cat a.txt b.txt")).await, "diskb");
    let variables = [("NAME", "value"), ("PATH", "/usr/bin:/bin")].map(|(a, b)| (a.into(), b.into()));
    let request = RunRequest { environment: Some(variables.into()), ..run(branch(&id), &["env"]) };
    let mut running = it.client.begin_run(request).await.unwrap();
    assert_eq!(running.allow().await, [("env".to_owned(), "NAME".to_owned())]);
    let told = running.end().await.0;
    let mut told: Vec<_> = told.lines().collect();
    told.sort_unstable();
    assert_eq!(told, ["NAME=value", "PATH=/usr/bin:/bin", "TMPDIR=/tmp"]);
    assert!(it.client.list_runs(None).await.unwrap().is_empty(), "all are over");
}

async fn it_reads_what_its_client_sends(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let running = it.client.begin_run(run(base(&it.workspace), &["cat"])).await.unwrap();
    for text in ["one ", "two"] {
        running.inputs.send(RunInput::Stdin(text.into())).await.unwrap();
    }
    running.inputs.send(RunInput::StdinEnd).await.unwrap();
    let inputs = running.inputs.clone();
    assert_eq!(running.end().await.0, "one two");
    drop(inputs);
    let script = "trap 'echo caught; exit 4' USR1; echo ready; while :; do read line; done";
    let mut running = it.client.begin_run(shell(base(&it.workspace), script)).await.unwrap();
    running.printed("ready").await;
    running.inputs.send(RunInput::Signal(10)).await.unwrap();
    running.inputs.send(RunInput::Stdin("\n".into())).await.unwrap();
    let inputs = running.inputs.clone();
    let (stdout, _, exited) = running.end().await;
    assert_eq!((stdout.as_str(), exited.code), ("caught\n", 4));
    drop(inputs);
    // The end of what the client has to say is the end of the input.
    let running = it.client.begin_run(run(base(&it.workspace), &["cat"])).await.unwrap();
    let tests::api::Running { inputs, parts } = running;
    drop(inputs);
    let (unused, _) = tokio::sync::mpsc::channel(1);
    let running = tests::api::Running { inputs: unused, parts };
    assert_eq!(running.end().await.2.code, 0);
}

async fn a_terminal_is_its_own(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let terminal = Some(TerminalSize { rows: 33, columns: 99 });
    let script = "stty size; read line; stty size; echo got $line; tty >/dev/null && echo terminal >&2";
    let mut running =
        it.client.begin_run(RunRequest { terminal, ..shell(base(&it.workspace), script) }).await.unwrap();
    running.printed("33 99").await;
    running.inputs.send(RunInput::Resize(TerminalSize { rows: 7, columns: 8 })).await.unwrap();
    running.inputs.send(RunInput::Stdin("word\r".into())).await.unwrap();
    let inputs = running.inputs.clone();
    let (stdout, stderr, exited) = running.end().await;
    assert!(stdout.contains("7 8\r\ngot word\r\nterminal\r\n"), "{stdout}");
    assert_eq!((stderr.as_str(), exited.code), ("", 0));
    drop(inputs);
    // A shell puts off an interrupt that comes while it starts another program.
    let mut running = it
        .client
        .begin_run(RunRequest { terminal, ..shell(base(&it.workspace), "echo reads; read line") })
        .await
        .unwrap();
    running.printed("reads").await;
    running.inputs.send(RunInput::Stdin("\u{3}".into())).await.unwrap();
    let inputs = running.inputs.clone();
    assert_eq!(running.end().await.2.signal, Some(2), "as Ctrl-C does");
    drop(inputs);
}

async fn what_is_written_is_gone_with_the_last_run(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "a")]).await;
    let id = it.fork().await;
    let mut first =
        it.client.begin_run(shell(branch(&id), "echo made > m.txt; echo ready; cat")).await.unwrap();
    first.printed("ready").await;
    assert_eq!(
        output(&it, shell(branch(&id), "cat m.txt; ls /tmp | grep -v '^broker-'; echo t > /tmp/t")).await,
        "made\n"
    );
    let own = SandboxRequest { own_folder: true, ..SandboxRequest::default() };
    let request = RunRequest { sandbox: own, ..shell(branch(&id), "ls") };
    assert_eq!(output(&it, request).await, "a.txt\n", "a folder of its own");
    let other = it.fork().await;
    assert_eq!(output(&it, shell(branch(&other), "ls")).await, "a.txt\n", "another branch");
    first.inputs.send(RunInput::StdinEnd).await.unwrap();
    let inputs = first.inputs.clone();
    assert_eq!(first.end().await.2.code, 0);
    drop(inputs);
    assert_eq!(output(&it, shell(branch(&id), "ls")).await, "a.txt\n", "a fresh one");
}

async fn edits_show_while_something_runs(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "a"), ("gone.txt", "g"), ("dir/b.txt", "b")]).await;
    let id = it.fork().await;
    let script = "echo ready; while read -r line; do sh -c \"$line\"; echo .; done";
    let mut running = it.client.begin_run(shell(branch(&id), script)).await.unwrap();
    running.printed("ready").await;
    let ask = async |running: &mut tests::api::Running, text: &str| {
        running.inputs.send(RunInput::Stdin(format!("{text}\n").into())).await.unwrap();
        let mut said = String::new();
        while !said.ends_with(".\n") {
            if let RunPart::Stdout(bytes) = running.next().await {
                said += &String::from_utf8_lossy(&bytes);
            }
        }
        said
    };
    let shown = async |revision: u64| {
        until("the folder shows the edit", async || {
            it.client.list_runs(None).await.unwrap()[0].revision == revision
        })
        .await;
    };
    let all = vec![write("a.txt", "edited"), remove("gone.txt"), write("new/c.txt", "c")];
    it.client.edit(&id, all).await.unwrap();
    shown(1).await;
    assert_eq!(ask(&mut running, "cat a.txt new/c.txt; ls").await, "editedca.txt\ndir\nnew\n.\n");
    it.client.edit_files(edits(&id, vec![tests::api::rename("dir", "moved")])).await.unwrap();
    shown(2).await;
    assert_eq!(ask(&mut running, "cat moved/b.txt; ls").await, "ba.txt\nmoved\nnew\n.\n");
    it.client.undo_branch(tests::api::undo(&id, 0)).await.unwrap();
    shown(3).await;
    assert_eq!(ask(&mut running, "cat a.txt gone.txt dir/b.txt; ls").await, "agba.txt\ndir\ngone.txt\n.\n");
    // A run that is started after an edit sees it.
    it.client.edit(&id, vec![write("a.txt", "last")]).await.unwrap();
    assert_eq!(output(&it, shell(branch(&id), "cat a.txt")).await, "last");
    assert_eq!(ask(&mut running, "cat a.txt").await, "last.\n");
}

fn keeping(request: RunRequest, glob: &str) -> RunRequest {
    RunRequest { harvest: Some(glob.to_owned()), ..request }
}

fn written(changed: &[&str], removed: &[&str], revision: Option<u64>) -> Option<Harvest> {
    let texts = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect();
    Some(Harvest::Written { changed: texts(changed), removed: texts(removed), revision })
}

/// Returns the result of harvesting the files that a run wrote.
async fn kept(it: &Fixture, request: RunRequest) -> Option<Harvest> {
    let (stdout, stderr, exited) = it.client.begin_run(request).await.unwrap().end().await;
    assert_eq!(exited.code, 0, "{stdout}{stderr}");
    exited.harvest
}

async fn what_a_command_writes_becomes_one_edit(way: Way) {
    let files = [("a.txt", "a\n"), ("src/b.txt", "b\n"), ("d", "file\n"), ("e/f.txt", "f\n")];
    let it = Fixture::new(way, &files).await;
    let id = it.fork().await;
    let script = "echo more >> a.txt; rm -r src; rm d; mkdir d; echo n > d/n.txt; chmod +x d/n.txt; rm -r e; echo e > e; \
                  ln -s e link; ln -s d to-folder; ln -s nowhere dangling; echo h > .git; echo x > big";
    let all = ["a.txt", "big", "d/n.txt", "dangling", "e", "link", "to-folder"];
    let removed = ["d", "e/f.txt", "src/b.txt"];
    let result = kept(&it, keeping(shell(branch(&id), script), "")).await;
    let Some(Harvest::Written { mut changed, removed: mut gone, revision }) = result else {
        panic!("{result:?}")
    };
    changed.sort();
    gone.retain(|it| it != "d");
    assert_eq!(
        (changed.iter().map(String::as_str).filter(|it| *it != "d").collect::<Vec<_>>(), revision),
        (all.to_vec(), Some(1))
    );
    assert_eq!(gone, removed[1..]);
    assert_eq!(it.text("a.txt"), "a\n", "the disk is as it was");
    let seen = "cat a.txt e d/n.txt; test -x d/n.txt; readlink link to-folder dangling; test ! -e src/b.txt";
    assert_eq!(output(&it, shell(branch(&id), seen)).await, "a\nmore\ne\nn\ne\nd\nnowhere\n");
    let only = keeping(shell(branch(&id), "echo l > x.log; echo m > m.txt"), "*.log");
    assert_eq!(kept(&it, only).await, written(&["x.log"], &[], Some(2)));
    assert_eq!(kept(&it, keeping(shell(branch(&id), "cat a.txt"), "")).await, written(&[], &[], None));
    let (_, _, exited) = it
        .client
        .begin_run(keeping(shell(branch(&id), "echo z > z; kill -9 $$"), ""))
        .await
        .unwrap()
        .end()
        .await;
    let refused = Harvest::Refused { reason: "NOT_ENDED_BY_ITSELF".to_owned(), paths: Vec::new() };
    assert_eq!((exited.signal, exited.harvest), (Some(9), Some(refused)));
    it.client.undo_branch(tests::api::undo(&id, 0)).await.unwrap();
    assert_eq!(output(&it, shell(branch(&id), "cat a.txt d src/b.txt")).await, "a\nfile\nb\n");
}

async fn what_git_would_not_ignore_is_kept(way: Way) {
    let files = [
        (".git/HEAD", "ref: refs/heads/main\n"),
        (".git/info/exclude", "local\n"),
        (".gitignore", "*.log\nbuilt/\n"),
        (".ignore", "notes.txt\n"),
    ];
    let it = Fixture::new(way, &files).await;
    let id = it.fork().await;
    let script = "mkdir -p built node_modules; for f in built/x node_modules/y a.log local notes.txt src.txt; \
                  do echo 1 > $f; done; ln -s built to-built; echo h > .git/hooked";
    let all = ["node_modules/y", "notes.txt", "src.txt", "to-built"];
    assert_eq!(kept(&it, keeping(shell(branch(&id), script), "")).await, written(&all, &[], Some(1)));
}

async fn what_a_command_un_ignores_is_kept(way: Way) {
    let files = [(".git/HEAD", "ref: refs/heads/main\n"), (".gitignore", "built/\nd\n"), ("d/e.txt", "e")];
    let it = Fixture::new(way, &files).await;
    let id = it.fork().await;
    let script = "echo 'd\nout' > .gitignore; mkdir built out; echo 1 > built/x; echo 1 > out/y; mkdir deep; \
                  echo '!out' > deep/.gitignore; mkdir deep/out; echo 1 > deep/out/z; rm -r d; echo 1 > d";
    let result = kept(&it, keeping(shell(branch(&id), script), "")).await;
    let all = [".gitignore", "built/x", "deep/.gitignore", "deep/out/z"];
    let Some(Harvest::Written { changed, .. }) = result else { panic!("{result:?}") };
    assert_eq!(changed, all);
}

async fn nothing_is_kept_of_what_left_processes_behind(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let script = "echo a > a.txt; (sleep 1000 &)";
    let refused = Harvest::Refused { reason: "NOT_ENDED_BY_ITSELF".to_owned(), paths: Vec::new() };
    assert_eq!(kept(&it, keeping(shell(branch(&id), script), "")).await, Some(refused));
    assert_eq!(kept(&it, keeping(shell(branch(&id), "true"), "")).await, written(&[], &[], None));
}

async fn an_edit_that_came_meanwhile_is_not_written_over(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "a"), ("b.txt", "b")]).await;
    let id = it.fork().await;
    for (path, is_refused) in [("a.txt", true), ("b.txt", false)] {
        let script = "echo mine > a.txt; echo written; read line";
        let mut running = it.client.begin_run(keeping(shell(branch(&id), script), "")).await.unwrap();
        running.printed("written").await;
        it.client.edit(&id, vec![write(path, "theirs")]).await.unwrap();
        running.inputs.send(RunInput::Stdin("\n".into())).await.unwrap();
        let inputs = running.inputs.clone();
        let harvest = running.end().await.2.harvest;
        drop(inputs);
        if is_refused {
            let paths = vec!["a.txt".to_owned()];
            assert_eq!(harvest, Some(Harvest::Refused { reason: "EDITED_MEANWHILE".to_owned(), paths }));
            assert_eq!(it.client.text(branch(&id), "a.txt").await, "theirs");
        } else {
            assert_eq!(harvest, written(&["a.txt"], &[], Some(3)));
            assert_eq!(it.client.text(branch(&id), "b.txt").await, "theirs");
            assert_eq!(it.client.text(branch(&id), "a.txt").await, "mine\n");
        }
    }
}

async fn what_others_wrote_before_is_not_kept(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "a\n")]).await;
    let id = it.fork().await;
    let mut service =
        it.client.begin_run(shell(branch(&id), "echo s > service.txt; echo up; cat")).await.unwrap();
    service.printed("up").await;
    it.client.edit(&id, vec![write("b.txt", "b\n")]).await.unwrap();
    let script = "cat service.txt b.txt; echo more >> a.txt";
    assert_eq!(kept(&it, keeping(shell(branch(&id), script), "")).await, written(&["a.txt"], &[], Some(2)));
    let script = "rm service.txt; echo n > n.txt";
    assert_eq!(
        kept(&it, keeping(shell(branch(&id), script), "")).await,
        written(&["n.txt"], &["service.txt"], Some(3))
    );
}

/// Makes a request wrong.
type Change = fn(&mut RunRequest);

async fn what_makes_no_sense_is_refused(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let of = |change: fn(&mut RunRequest)| {
        let mut request = shell(branch(&id), "true");
        change(&mut request);
        request
    };
    let cases: [(&str, Change); 9] = [
        ("command", |it| it.command.clear()),
        ("command", |it| it.command.push("\0".into())),
        ("folder", |it| it.folder = "../x".to_owned()),
        ("environment", |it| it.environment = Some([("a=b".into(), "".into())].into())),
        ("name", |it| it.name = "-x".to_owned()),
        ("harvest", |it| it.harvest = Some("[".to_owned())),
        ("request_id", |it| it.request_id = Some("r".to_owned())),
        ("limits.processes", |it| it.limits.processes = Some(3)),
        ("sandbox.read_paths", |it| it.sandbox.read = vec!["relative".into()]),
    ];
    for (field, change) in cases {
        let refused = refusal(it.client.begin_run(of(change)).await.map(drop));
        assert_eq!(
            (refused.what(), refused.facts["field"].as_str()),
            ((ErrorKind::Invalid, "INVALID_FIELD"), field)
        );
    }
    let in_background = |change: fn(&mut RunRequest)| {
        let mut request = RunRequest { background: true, ..shell(branch(&id), "true") };
        change(&mut request);
        request
    };
    let harvest = in_background(|it| it.harvest = Some(String::new()));
    assert_eq!(refusal(it.client.begin_run(harvest).await.map(drop)).facts["field"], "harvest");
    let of_base = keeping(shell(base(&it.workspace), "true"), "");
    assert_eq!(refusal(it.client.begin_run(of_base).await.map(drop)).facts["field"], "harvest");
    let unknown = refusal(it.client.begin_run(shell(branch("nothing"), "true")).await.map(drop));
    assert_eq!(unknown.what(), (ErrorKind::NotFound, "NOT_FOUND"));
    let (_, _, exited) =
        it.client.begin_run(run(branch(&id), &["no-such-program"])).await.unwrap().end().await;
    assert_eq!((exited.code, exited.not_started), (127, true));
    let limits = RunLimits { time: Some(std::time::Duration::from_millis(50)), ..RunLimits::default() };
    let (_, _, exited) = it
        .client
        .begin_run(RunRequest { limits, ..shell(branch(&id), "sleep 1000") })
        .await
        .unwrap()
        .end()
        .await;
    assert_eq!((exited.code, exited.killed.as_str()), (137, "time limit of 50ms"));
}
