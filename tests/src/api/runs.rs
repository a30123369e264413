//! Commands that the daemon runs, as tests look at them.

use broker_proto::{
    v1 as pb,
    v1::{
        read_log_response::Part, run_exited::Harvest, run_request::Message, run_response::Event,
        run_service_client::RunServiceClient,
    },
};
use tokio::sync::mpsc;
use tokio_stream::{StreamExt as _, wrappers::ReceiverStream};
use tonic::transport::Channel;
use workspaces::{
    Daemon, LogEvent, OutputStream, RunEvent, RunId, RunInfo, RunInput, RunLimits, RunRequest, RunResult,
    SandboxRequest, TargetId,
};

use super::{Answered, Events, Refusal};
use crate::daemon::{Client, PATIENCE};

/// A run under way: what it is told, and what it says.
pub struct Running {
    pub inputs: mpsc::Sender<RunInput>,
    pub parts: Events<RunPart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunPart {
    /// Kind and thing of each.
    Permission(Vec<(String, String)>),
    Started {
        id: String,
        name: String,
        revision: u64,
    },
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    Exited(Exited),
}

/// What became of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exited {
    pub code: i32,
    pub signal: Option<i32>,
    pub killed: String,
    pub not_started: bool,
    pub harvest: Option<Kept>,
}

/// What became of the files that were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    Written { changed: Vec<String>, removed: Vec<String>, revision: Option<u64> },
    Refused { reason: String, paths: Vec<String> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogPart {
    Output { offset: u64, text: String, is_stderr: bool },
    Dropped(u64),
    End { offset: u64, exited: Option<Exited> },
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub id: String,
    pub name: String,
    /// Empty for the base.
    pub branch: String,
    pub command: Vec<String>,
    pub background: bool,
    pub revision: u64,
    pub printed: u64,
    pub exited: Option<Exited>,
}

/// A command with nothing but what every command needs.
pub fn run(target: TargetId, command: &[&str]) -> RunRequest {
    let path = ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".to_owned());
    RunRequest {
        target,
        command: command.iter().map(|it| (*it).to_owned()).collect(),
        folder: String::new(),
        environment: Some([path].into()),
        terminal: None,
        sandbox: SandboxRequest::default(),
        limits: RunLimits::default(),
        harvest: None,
        name: String::new(),
        background: false,
        request_id: None,
    }
}

pub fn shell(target: TargetId, script: &str) -> RunRequest {
    run(target, &["/bin/sh", "-c", script])
}

impl Running {
    /// The next part; fails if none comes.
    pub async fn next(&mut self) -> RunPart {
        let part = tokio::time::timeout(PATIENCE, self.parts.next()).await.expect("a part of a run");
        part.expect("a run ends with what became of it").expect("no refusal")
    }

    /// Allows what is asked for; kind and thing of each.
    pub async fn allow(&mut self) -> Vec<(String, String)> {
        let RunPart::Permission(wanted) = self.next().await else { panic!("it asks first") };
        self.inputs.send(RunInput::Permission(true)).await.unwrap();
        wanted
    }

    /// Waits for the start; the handle of the run.
    pub async fn started(&mut self) -> String {
        match self.next().await {
            RunPart::Started { id, .. } => id,
            other => panic!("it starts first: {other:?}"),
        }
    }

    /// Reads until it has printed this.
    pub async fn printed(&mut self, text: &str) {
        let mut seen = String::new();
        while !seen.contains(text) {
            match self.next().await {
                RunPart::Stdout(bytes) | RunPart::Stderr(bytes) => seen += &String::from_utf8_lossy(&bytes),
                RunPart::Started { .. } => {}
                other => panic!("it does not print that: {seen} {other:?}"),
            }
        }
    }

    /// Both outputs, and what became of it.
    pub async fn end(mut self) -> (String, String, Exited) {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        loop {
            match self.next().await {
                RunPart::Stdout(bytes) => stdout.extend(bytes),
                RunPart::Stderr(bytes) => stderr.extend(bytes),
                RunPart::Started { .. } => {}
                RunPart::Permission(wanted) => panic!("it asks: {wanted:?}"),
                RunPart::Exited(exited) => {
                    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
                    return (text(stdout), text(stderr), exited);
                }
            }
        }
    }
}

pub(super) async fn begin(daemon: &std::sync::Arc<Daemon>, request: RunRequest) -> Answered<Running> {
    let (inputs, received) = mpsc::channel(4);
    let events = daemon.run(request, received).await.map_err(Refusal::of)?;
    let parts = ReceiverStream::new(events).map(|it| it.map(part).map_err(Refusal::of));
    Ok(Running { inputs, parts: Box::pin(parts) })
}

fn part(event: RunEvent) -> RunPart {
    match event {
        RunEvent::Permission(wanted) => {
            RunPart::Permission(wanted.into_iter().map(|it| (it.kind.name().to_owned(), it.what)).collect())
        }
        RunEvent::Started(it) => {
            RunPart::Started { id: it.id.to_string(), name: it.name, revision: it.revision.0 }
        }
        RunEvent::Output(OutputStream::Stdout, bytes) => RunPart::Stdout(bytes.to_vec()),
        RunEvent::Output(OutputStream::Stderr, bytes) => RunPart::Stderr(bytes.to_vec()),
        RunEvent::Exited(it) => RunPart::Exited(exited(&it)),
    }
}

pub(super) fn exited(it: &RunResult) -> Exited {
    let texts = |all: &[overlay::WorkspacePath]| all.iter().map(ToString::to_string).collect();
    let harvest = it.harvest.as_ref().map(|it| match it {
        Ok(it) => Kept::Written {
            changed: texts(&it.changed),
            removed: texts(&it.removed),
            revision: it.revision.map(|it| it.0),
        },
        Err(error) => Kept::Refused {
            reason: error.reason().to_owned(),
            paths: match error {
                workspaces::DaemonError::EditedMeanwhile { paths } => texts(paths),
                _ => Vec::new(),
            },
        },
    });
    Exited {
        code: it.ended.exit.code(),
        signal: it.signal(),
        killed: it.killed().unwrap_or_default(),
        not_started: it.not_started().is_some(),
        harvest,
    }
}

pub(super) fn listed(it: RunInfo) -> Run {
    Run {
        id: it.id.to_string(),
        name: it.name,
        branch: it.branch.map(|it| it.0.to_string()).unwrap_or_default(),
        command: it.command,
        background: it.background,
        revision: it.revision.0,
        printed: it.printed,
        exited: it.result.map(|it| exited(&it)),
    }
}

pub(super) fn log_part(event: LogEvent) -> LogPart {
    match event {
        LogEvent::Output { offset, stream, bytes } => LogPart::Output {
            offset,
            text: String::from_utf8_lossy(&bytes).into_owned(),
            is_stderr: stream == OutputStream::Stderr,
        },
        LogEvent::Dropped(bytes) => LogPart::Dropped(bytes),
        LogEvent::End { offset, result } => LogPart::End { offset, exited: result.map(|it| exited(&it)) },
    }
}

/// The same over gRPC.
impl Client {
    pub fn runs(&self) -> RunServiceClient<Channel> {
        RunServiceClient::new(self.channel.clone())
    }
}

pub(super) async fn begin_remote(client: &Client, request: RunRequest) -> Answered<Running> {
    let (inputs, mut received) = mpsc::channel(4);
    let (messages, sent) = mpsc::channel(4);
    messages.try_send(message(Message::Start(start(request)))).unwrap();
    tokio::spawn(async move {
        while let Some(input) = received.recv().await {
            if messages.send(message(sent_input(input))).await.is_err() {
                return;
            }
        }
    });
    let events = client.runs().run(ReceiverStream::new(sent)).await?.into_inner();
    let parts = events.map(|it| Ok(wire_part(it?.event.unwrap())));
    Ok(Running { inputs, parts: Box::pin(parts) })
}

fn message(message: Message) -> pb::RunRequest {
    pb::RunRequest { message: Some(message) }
}

fn sent_input(input: RunInput) -> Message {
    match input {
        RunInput::Stdin(bytes) => Message::Stdin(bytes),
        RunInput::StdinEnd => Message::StdinEnd(pb::StdinEnd {}),
        RunInput::Resize(it) => Message::Resize(size(it)),
        RunInput::Signal(signal) => Message::Signal(signal),
        RunInput::Permission(allowed) => Message::Permission(pb::PermissionAnswer { allowed }),
    }
}

fn size(it: workspaces::TerminalSize) -> pb::TerminalSize {
    pb::TerminalSize { rows: it.rows.into(), columns: it.columns.into() }
}

fn start(it: RunRequest) -> pb::RunStart {
    let paths = |all: Vec<std::path::PathBuf>| {
        all.into_iter().map(|it| it.into_os_string().into_string().unwrap()).collect()
    };
    let milliseconds = |it: std::time::Duration| u64::try_from(it.as_millis()).unwrap();
    pb::RunStart {
        target: Some(super::remote::target(&it.target)),
        command: it.command,
        folder: it.folder,
        environment: it.environment.map(|it| pb::RunEnvironment { variables: it.into_iter().collect() }),
        terminal: it.terminal.map(size),
        sandbox: Some(pb::Sandbox {
            network: match it.sandbox.network {
                shadow::Network::None => pb::Network::None.into(),
                shadow::Network::Host => pb::Network::Host.into(),
            },
            read_paths: paths(it.sandbox.read),
            write_paths: paths(it.sandbox.write),
            space_bytes: it.sandbox.space.unwrap_or_default(),
            own_folder: it.sandbox.own_folder,
            isolation: match it.sandbox.isolation {
                shadow::Isolation::Auto => pb::Isolation::Auto.into(),
                shadow::Isolation::Required => pb::Isolation::Required.into(),
                shadow::Isolation::Off => pb::Isolation::Off.into(),
            },
            cold: it.sandbox.cold,
        }),
        limits: Some(pb::RunLimits {
            time_ms: it.limits.time.map(milliseconds).unwrap_or_default(),
            memory_bytes: it.limits.memory.unwrap_or_default(),
            processes: it.limits.processes.unwrap_or_default(),
        }),
        harvest: it.harvest.map(|glob| pb::Harvest { glob }),
        name: it.name,
        background: it.background,
        request_id: it.request_id.unwrap_or_default(),
    }
}

fn wire_part(event: Event) -> RunPart {
    match event {
        Event::Started(it) => RunPart::Started { id: it.run_id, name: it.name, revision: it.revision },
        Event::Stdout(bytes) => RunPart::Stdout(bytes.to_vec()),
        Event::Stderr(bytes) => RunPart::Stderr(bytes.to_vec()),
        Event::Exited(it) => RunPart::Exited(wire_exited(it)),
        Event::PermissionRequest(it) => {
            RunPart::Permission(it.wanted.into_iter().map(|it| (it.kind, it.what)).collect())
        }
    }
}

pub(super) fn wire_exited(it: pb::RunExited) -> Exited {
    let harvest = it.harvest.map(|it| match it {
        Harvest::Written(it) => {
            Kept::Written { changed: it.changed_paths, removed: it.removed_paths, revision: it.revision }
        }
        Harvest::HarvestRefused(it) => Kept::Refused { reason: it.reason, paths: it.paths },
    });
    Exited {
        code: it.exit_code,
        signal: it.signal,
        killed: it.killed,
        not_started: !it.not_started.is_empty(),
        harvest,
    }
}

pub(super) fn wire_run(it: pb::RunInfo) -> Run {
    Run {
        id: it.run_id,
        name: it.name,
        branch: it.branch_id,
        command: it.command,
        background: it.background,
        revision: it.revision,
        printed: it.log_bytes,
        exited: it.exited.map(wire_exited),
    }
}

pub(super) fn wire_log(it: pb::ReadLogResponse) -> LogPart {
    match it.part.unwrap() {
        Part::Output(it) => LogPart::Output {
            offset: it.offset,
            text: String::from_utf8_lossy(&it.content).into_owned(),
            is_stderr: it.is_stderr,
        },
        Part::DroppedBytes(bytes) => LogPart::Dropped(bytes),
        Part::End(it) => LogPart::End { offset: it.offset, exited: it.exited.map(wire_exited) },
    }
}

pub(super) fn wire_id(id: &RunId) -> (String, String) {
    (id.run.clone(), id.workspace.clone().unwrap_or_default())
}
