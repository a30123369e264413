//! Commands in the background: by name, with their logs, and several of one branch.

use tests::{
    api::{Events, LogPart, RefusalExt as _, RunPart, base, branch, refusal, shell, write},
    daemon::{TEST_TIMEOUT, until},
};
use tokio_stream::StreamExt as _;
use workspaces::{ErrorKind, RunId, RunRequest, SandboxRequest, TargetId};

use super::{Fixture, Way, output};

both! {
    services_of_a_branch_reach_each_other,
    a_log_is_read_and_followed,
    a_log_keeps_the_last_part,
    a_start_that_is_sent_again_is_done_once,
    names_are_unique_while_they_live,
    another_sandbox_needs_a_folder_of_its_own,
}

pub(super) fn service(target: TargetId, name: &str, script: &str) -> RunRequest {
    RunRequest { name: name.to_owned(), background: true, ..shell(target, script) }
}

/// Starts it; its handle.
pub(super) async fn start(it: &Fixture, request: RunRequest) -> String {
    let mut running = it.client.begin_run(request).await.unwrap();
    let id = running.started().await;
    assert!(running.parts.next().await.is_none(), "it says no more");
    id
}

pub(super) fn handle(run: &str) -> RunId {
    RunId { workspace: None, run: run.to_owned() }
}

struct Log(Events<LogPart>);

impl Log {
    async fn of(it: &Fixture, run: &str, offset: u64, follow: bool) -> Self {
        Self(it.client.read_log(&handle(run), offset, follow).await.unwrap())
    }

    async fn next(&mut self) -> LogPart {
        let part = tokio::time::timeout(TEST_TIMEOUT, self.0.next()).await.expect("a part of a log");
        part.expect("the end comes last").unwrap()
    }

    /// Reads until it has this.
    async fn until(&mut self, text: &str) {
        let mut seen = String::new();
        while !seen.contains(text) {
            match self.next().await {
                LogPart::Output { text, .. } => seen += &text,
                other => panic!("{seen} {other:?}"),
            }
        }
    }

    /// Reads so many bytes.
    async fn until_length(&mut self, length: usize) {
        let mut seen = String::new();
        while seen.len() < length {
            match self.next().await {
                LogPart::Output { text, .. } => seen += &text,
                other => panic!("{seen} {other:?}"),
            }
        }
    }

    /// All that is left, how much is not kept, and the end.
    async fn rest(mut self) -> (String, u64, LogPart) {
        let (mut seen, mut dropped) = (String::new(), 0);
        loop {
            match self.next().await {
                LogPart::Output { text, .. } => seen += &text,
                LogPart::Dropped(bytes) => dropped += bytes,
                end @ LogPart::End { .. } => return (seen, dropped, end),
            }
        }
    }
}

const SERVER: &str = "exec python3 -u -c '
import socket
s = socket.socket()
s.bind((\"127.0.0.1\", 4711))
s.listen()
print(\"listens\")
while True:
    c, _ = s.accept()
    c.sendall(open(\"a.txt\", \"rb\").read())
    c.close()
'";

const CLIENT: &str = "exec python3 -c '
import socket
c = socket.create_connection((\"127.0.0.1\", 4711))
print(c.makefile().read())
'";

async fn services_of_a_branch_reach_each_other(way: Way) {
    let it = Fixture::new(way, &[("a.txt", "disk")]).await;
    let branches = [it.fork().await, it.fork().await];
    for id in &branches {
        it.client.edit(id, vec![write("a.txt", id.as_str())]).await.unwrap();
        let run = start(&it, service(branch(id), "web", SERVER).renamed(id)).await;
        Log::of(&it, &run, 0, true).await.until("listens").await;
    }
    for id in &branches {
        assert_eq!(output(&it, shell(branch(id), CLIENT)).await, format!("{id}\n"));
    }
    let mut client = it.client.begin_run(shell(base(&it.workspace), CLIENT)).await.unwrap();
    client.started().await;
    assert_eq!(client.end().await.2.code, 1, "the base has no such service");
    it.client.edit(&branches[0], vec![write("a.txt", "later")]).await.unwrap();
    assert_eq!(output(&it, shell(branch(&branches[0]), CLIENT)).await, "later\n");
    let listed = it.client.list_runs(Some(&it.workspace)).await.unwrap();
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().all(|it| it.background && it.exited.is_none() && it.printed == 8));
}

trait Renamed {
    fn renamed(self, name: &str) -> Self;
}

impl Renamed for RunRequest {
    /// Unique among branches.
    fn renamed(self, branch: &str) -> Self {
        let name = format!("{}-{}", self.name, &branch[branch.len() - 6..]);
        Self { name, ..self }
    }
}

async fn a_log_is_read_and_followed(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let script = "echo one; echo two >&2; trap 'echo told; exit 5' USR1; echo ready; while :; do :; done";
    let run = start(&it, service(base(&it.workspace), "s", script)).await;
    let mut log = Log::of(&it, &run, 0, true).await;
    log.until_length(14).await;
    let (seen, _, end) = Log::of(&it, &run, 0, false).await.rest().await;
    let LogPart::End { offset, exited: None } = end else { panic!("it lives: {end:?}") };
    assert!(seen.contains("one\n") && seen.contains("two\n"), "{seen}");
    assert_eq!(offset, 14);
    let named = RunId { workspace: Some(it.workspace.clone()), run: "s".to_owned() };
    // The service may have ended by the time of the answer.
    let ended = it.client.kill(&named, Some(10)).await.unwrap();
    assert!(ended.is_none_or(|it| it.code == 5));
    let (seen, _, end) = log.rest().await;
    let LogPart::End { exited: Some(exited), .. } = end else { panic!("it ended: {end:?}") };
    assert_eq!((seen.as_str(), exited.code), ("told\n", 5));
    let (seen, ..) = Log::of(&it, &run, offset, true).await.rest().await;
    assert_eq!(seen, "told\n");
    let listed = it.client.list_runs(None).await.unwrap();
    assert_eq!(listed[0].exited.as_ref().map(|it| it.code), Some(5));
    // A run in the foreground has no log.
    let mut running = it.client.begin_run(shell(base(&it.workspace), "cat")).await.unwrap();
    let id = running.started().await;
    let refused = refusal(it.client.read_log(&handle(&id), 0, false).await.map(drop));
    assert_eq!(refused.what(), (ErrorKind::Refused, "NO_LOG"));
    let refused = refusal(it.client.read_log(&handle("nothing"), 0, false).await.map(drop));
    assert_eq!(refused.what(), (ErrorKind::NotFound, "NOT_FOUND"));
}

async fn a_log_keeps_the_last_part(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let script = "head -c 20000000 /dev/zero | tr '\\0' x; echo end";
    let run = start(&it, service(base(&it.workspace), "flood", script)).await;
    until("it ends", async || it.client.list_runs(None).await.unwrap()[0].exited.is_some()).await;
    let (seen, dropped, _) = Log::of(&it, &run, 0, true).await.rest().await;
    assert!(seen.ends_with("xend\n") && seen.len() <= 2 << 20, "{}", seen.len());
    assert_eq!(dropped + seen.len() as u64, 20_000_004);
}

async fn a_start_that_is_sent_again_is_done_once(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let request = |script: &str| {
        let request_id = Some("r".to_owned());
        RunRequest { request_id, ..service(base(&it.workspace), "", script) }
    };
    let first = start(&it, request("sleep 1000")).await;
    assert_eq!(start(&it, request("sleep 1000")).await, first);
    let reused = refusal(it.client.begin_run(request("sleep 1001")).await.map(drop));
    assert_eq!(reused.reason, "REQUEST_ID_REUSED");
    assert_eq!(it.client.list_runs(None).await.unwrap().len(), 1);
}

async fn names_are_unique_while_they_live(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    let first = start(&it, service(branch(&id), "web", "sleep 1000")).await;
    let taken = it.client.begin_run(service(base(&it.workspace), "web", "true")).await.map(drop);
    let refused = refusal(taken);
    assert_eq!(refused.what(), (ErrorKind::AlreadyExists, "RUN_NAME_TAKEN"));
    assert_eq!(refused.facts["name"], "web");
    let killed = it.client.kill(&handle(&first), None).await.unwrap().unwrap();
    assert_eq!((killed.code, killed.signal), (143, Some(15)));
    let second = start(&it, service(branch(&id), "web", "echo again; sleep 1000")).await;
    assert_ne!(first, second);
    assert_eq!(it.client.list_runs(None).await.unwrap().len(), 1, "the name leads to the newest");
    let mut running = it.client.begin_run(shell(branch(&id), "cat")).await.unwrap();
    let RunPart::Started { name, .. } = running.next().await else { panic!("it starts first") };
    assert!(!name.is_empty(), "one is made up");
}

async fn another_sandbox_needs_a_folder_of_its_own(way: Way) {
    let it = Fixture::new(way, &[]).await;
    let id = it.fork().await;
    start(&it, service(branch(&id), "web", "sleep 1000")).await;
    let space = |own_folder| {
        let sandbox = SandboxRequest { space: Some(1 << 20), own_folder, ..SandboxRequest::default() };
        RunRequest { sandbox, ..shell(branch(&id), "echo ran") }
    };
    let mut running = it.client.begin_run(space(false)).await.unwrap();
    let refused = refusal(running.parts.next().await.expect("a refusal"));
    assert_eq!(refused.what(), (ErrorKind::Refused, "SANDBOX_DIFFERS"));
    assert_eq!(refused.facts["what"], "space");
    assert_eq!(output(&it, space(true)).await, "ran\n");
}
