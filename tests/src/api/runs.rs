//! Commands that the daemon runs, as tests look at them.

use tokio::sync::mpsc;
use tokio_stream::StreamExt as _;
use workspaces::{
    HarvestRefused, LogEvent, OutputStream, RunEvent, RunInfo, RunInput, RunRequest, RunResult, TargetId,
};

use super::Events;
use crate::daemon::TEST_TIMEOUT;

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

/// Result of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exited {
    pub code: i32,
    pub signal: Option<i32>,
    pub killed: String,
    pub not_started: bool,
    pub harvest: Option<Harvest>,
}

/// Result of harvesting the files that a command wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Harvest {
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
    /// Branch of the run; empty for the base.
    pub branch: String,
    pub command: Vec<String>,
    pub background: bool,
    pub revision: u64,
    pub printed: u64,
    pub exited: Option<Exited>,
}

/// A command with nothing but what every command needs.
pub fn run(target: TargetId, command: &[&str]) -> RunRequest {
    let path = ("PATH".into(), "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".into());
    RunRequest { environment: Some([path].into()), ..RunRequest::of(target, command) }
}

pub fn shell(target: TargetId, script: &str) -> RunRequest {
    run(target, &["/bin/sh", "-c", script])
}

impl Running {
    /// The next part; fails if none comes.
    pub async fn next(&mut self) -> RunPart {
        let part = tokio::time::timeout(TEST_TIMEOUT, self.parts.next()).await.expect("a part of a run");
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

    /// Returns both outputs and the result.
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

pub(super) fn part(event: RunEvent) -> RunPart {
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
        Ok(it) => Harvest::Written {
            changed: texts(&it.changed),
            removed: texts(&it.removed),
            revision: it.revision.map(|it| it.0),
        },
        Err(HarvestRefused { reason, paths, .. }) => {
            Harvest::Refused { reason: reason.clone(), paths: texts(paths) }
        }
    });
    Exited {
        code: it.exit_code,
        signal: it.signal,
        killed: it.killed.clone().unwrap_or_default(),
        not_started: it.not_started.is_some(),
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
