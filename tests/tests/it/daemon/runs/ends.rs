//! Ends of runs: by clients that misbehave, with their branch, and with the daemon.

use std::fs;

use tests::{
    api::{Api, LogPart, RefusalExt as _, RunPart, branch, refusal, shell, write},
    daemon::{self, until},
};
use tokio_stream::StreamExt as _;
use workspaces::{ErrorKind, RunId, RunInput};

use super::{
    super::Process,
    Fixture, Way,
    services::{handle, service, start},
};

both! {
    a_client_that_does_not_read_holds_up_its_command,
    a_client_that_leaves_ends_its_command,
    a_run_that_waits_for_another_can_be_left_and_killed,
    a_command_that_does_not_read_can_be_killed,
    an_input_that_is_never_closed_does_not_matter,
    what_floods_a_log_does_not_fill_the_memory,
    a_branch_that_is_discarded_ends_its_runs,
    a_workspace_that_is_closed_ends_its_runs,
}

/// Processes whose command line has this in it.
fn processes_with(mark: &str) -> usize {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let lines = all.filter_map(|it| fs::read(it.path().join("cmdline")).ok());
    lines.filter(|it| String::from_utf8_lossy(it).contains(mark)).count()
}

async fn gone(mark: &str) {
    until("no process is left", async || processes_with(mark) == 0).await;
}

async fn a_client_that_does_not_read_holds_up_its_command(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let mut running = it.client.begin_run(shell(branch(&id), "yes")).await.unwrap();
    let run = running.started().await;
    running.printed("y").await;
    // Others are served meanwhile.
    let other = it.another_client().await;
    for _ in 0..50 {
        assert_eq!(other.list_runs(None).await.unwrap().len(), 1);
    }
    other.kill(&handle(&run), None).await.unwrap();
    let mut length = 0;
    loop {
        match running.next().await {
            RunPart::Stdout(bytes) => length += bytes.len(),
            RunPart::Exited(exited) => break assert_eq!(exited.signal, Some(15)),
            RunPart::Permission(_) | RunPart::Started { .. } | RunPart::Stderr(_) => {}
        }
    }
    assert!(length < 4 << 20, "{length} bytes were waiting");
}

async fn a_client_that_leaves_ends_its_command(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let mark = format!("77{}01", std::process::id());
    let script = format!("(setsid sleep {mark} &) ; echo up; sleep {mark}; true");
    let mut service = it.client.begin_run(shell(branch(&id), "echo up; cat")).await.unwrap();
    service.printed("up").await;
    let mut running = it.client.begin_run(shell(branch(&id), &script)).await.unwrap();
    running.printed("up").await;
    assert!(processes_with(&mark) > 0);
    drop(running);
    gone(&mark).await;
    until("one is left", async || it.client.list_runs(None).await.unwrap().len() == 1).await;
    service.inputs.send(RunInput::Stdin("still there\n".into())).await.unwrap();
    service.printed("still there").await;
}

async fn a_run_that_waits_for_another_can_be_left_and_killed(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let keeps = super::keeping(shell(branch(&id), "echo up; read line"), "");
    let mut keeps = it.client.begin_run(keeps).await.unwrap();
    keeps.printed("up").await;
    it.client.edit(&id, vec![write("a.txt", "a")]).await.unwrap();
    let listed = async |length: usize| {
        until("as many are listed", async || it.client.list_runs(None).await.unwrap().len() == length).await;
    };
    let waits = it.client.begin_run(shell(branch(&id), "true")).await.unwrap();
    listed(2).await;
    drop(waits);
    listed(1).await;
    for signal in [None, Some(2)] {
        let waits = it.client.begin_run(service(branch(&id), "waits", "true"));
        let kills = async {
            listed(2).await;
            let named = RunId { workspace: Some(it.workspace.clone()), run: "waits".to_owned() };
            let mut log = it.client.read_log(&named, 0, true).await.unwrap();
            assert_eq!(it.client.kill(&named, signal).await.unwrap(), None, "it never began");
            let end = tokio::time::timeout(daemon::TEST_TIMEOUT, log.next()).await.expect("the log's end");
            assert!(matches!(end, Some(Ok(LogPart::End { exited: None, .. }))), "{end:?}");
        };
        let (waits, ()) = tokio::join!(waits, kills);
        assert_eq!(refusal(waits.map(drop)).what(), (ErrorKind::Aborted, "RUN_CANCELLED"));
    }
    keeps.inputs.send(RunInput::Stdin("\n".into())).await.unwrap();
    let inputs = keeps.inputs.clone();
    assert_eq!(keeps.end().await.2.code, 0);
    drop(inputs);
}

async fn a_command_that_does_not_read_can_be_killed(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let mut running = it.client.begin_run(shell(branch(&id), "echo up; sleep 1000")).await.unwrap();
    let run = running.started().await;
    running.printed("up").await;
    let inputs = running.inputs.clone();
    let flood = tokio::spawn(async move {
        let piece = bytes::Bytes::from(vec![b'x'; 1 << 18]);
        while inputs.send(RunInput::Stdin(piece.clone())).await.is_ok() {}
    });
    let other = it.another_client().await;
    other.kill(&handle(&run), Some(9)).await.unwrap();
    assert_eq!(running.end().await.2.signal, Some(9));
    flood.abort();
}

async fn an_input_that_is_never_closed_does_not_matter(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let running = it.client.begin_run(shell(branch(&id), "exit 6")).await.unwrap();
    let inputs = running.inputs.clone();
    assert_eq!(running.end().await.2.code, 6);
    drop(inputs);
}

async fn what_floods_a_log_does_not_fill_the_memory(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let run = start(&it, service(branch(&id), "flood", "yes")).await;
    let printed = async || it.client.list_runs(None).await.unwrap()[0].printed;
    until("much is printed", async || printed().await > 64 << 20).await;
    let mut log = it.client.read_log(&handle(&run), 0, false).await.unwrap();
    let Some(Ok(LogPart::Dropped(dropped))) = log.next().await else { panic!("most is not kept") };
    assert!(dropped >= (64 << 20) - (2 << 20));
    it.client.kill(&handle(&run), None).await.unwrap();
}

async fn a_branch_that_is_discarded_ends_its_runs(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let mark = format!("77{}02", std::process::id());
    start(&it, service(branch(&id), "s", &format!("sleep {mark}; true"))).await;
    let mut running = it.client.begin_run(shell(branch(&id), "echo up; cat")).await.unwrap();
    running.printed("up").await;
    it.client.discard_branch(&id).await.unwrap();
    let inputs = running.inputs.clone();
    let (_, _, exited) = running.end().await;
    assert_eq!(exited.killed, "the folder that it ran in was closed");
    drop(inputs);
    gone(&mark).await;
}

async fn a_workspace_that_is_closed_ends_its_runs(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let mark = format!("77{}03", std::process::id());
    start(&it, service(branch(&id), "s", &format!("sleep {mark}; true"))).await;
    start(&it, service(super::base(&it.workspace), "b", &format!("sleep {mark}; true"))).await;
    it.client.close_workspace(&it.workspace).await.unwrap();
    gone(&mark).await;
    // Nothing of it keeps the workspace from being opened again.
    assert_eq!(it.client.open(it.folder.path()).await, it.workspace);
}

#[tokio::test]
async fn nothing_is_left_of_a_daemon_that_is_killed() {
    let mut it = Process::new(&[]).await;
    let id = it.fork().await;
    let mark = format!("77{}04", std::process::id());
    let api = Api::over(&it.client);
    let script = format!("(setsid sleep {mark} &) ; echo up; sleep {mark}; true");
    let mut running = api.begin_run(shell(branch(&id), &script)).await.unwrap();
    running.printed("up").await;
    let mut other = api.begin_run(service(tests::api::base(&it.workspace), "s", &script)).await.unwrap();
    other.started().await;
    until("both run", async || processes_with(&format!("sleep\0{mark}")) == 4).await;
    it.daemon.kill();
    gone(&mark).await;
}

#[tokio::test]
async fn what_runs_in_the_background_keeps_the_daemon() {
    let (home, folder) = (daemon::Home::default(), tempfile::tempdir().unwrap());
    let process = home.start(&["--idle-exit", "1"]);
    let client = process.client().await;
    let workspace = client.open(folder.path()).await;
    let api = Api::over(&client);
    let fifo = home.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    // Longer than the daemon lives without a client.
    let script = format!("sleep 2; echo over > {}", fifo.display());
    let mut request = service(tests::api::base(&workspace), "s", &script);
    request.sandbox.write = vec![fifo.clone()];
    let mut running = api.begin_run(request).await.unwrap();
    running.allow().await;
    running.started().await;
    drop((running, api, client));
    let over = tokio::task::spawn_blocking(move || fs::read_to_string(fifo).unwrap());
    assert_eq!(tokio::time::timeout(daemon::TEST_TIMEOUT, over).await.unwrap().unwrap(), "over\n");
    assert!(process.ended().await);
}
