//! Commands on a branch, in its shadow folder.

use std::{ffi::OsString, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use workspaces::{
    RunEvent, RunInput, RunLimits, RunOutput, RunRequest, RunResult, SandboxRequest, memory_of_agents,
};

use super::output::lacks_network;
use crate::{
    context::Context,
    limits,
    reply::{Answer, ToolError},
};

pub(super) const RUN: &str = "Run a shell command in the branch's folder: tests, builds, formatters. No network. What it writes to source files becomes an edit; git commits and stashes stay with the branch.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    command: String,
    /// run_output has what it prints
    #[serde(default)]
    is_background: bool,
    /// Default 600
    timeout_seconds: Option<u64>,
    branch: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Ran {
    branch: String,
    revision: u64,
    /// `None` while it runs, or if a signal ended it.
    exit_code: Option<i32>,
    /// Why it did not end by itself, or not with a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_by: Option<String>,
    /// The beginning and the end of what it printed.
    output: String,
    /// Bytes of the output that are not shown.
    left_out: usize,
    duration_ms: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    written: Vec<String>,
    /// Whether the branch keeps what was written to `.git`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    repository: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

const NO_NETWORK: &str = "commands on a branch have no network: what they need has to be installed before";

/// Default time limit of a command.
const TIME: Duration = Duration::from_secs(600);

/// The longest that a command may be waited for.
const LONGEST: u64 = 3600;

pub(super) async fn run_terminal_cmd(context: Context, run: Run) -> Result<Ran, ToolError> {
    let branch = context.branch_to_edit(run.branch.as_deref()).await?;
    let time = run.timeout_seconds.map_or(TIME, |it| Duration::from_secs(it.clamp(1, LONGEST)));
    let request = RunRequest {
        target: branch.target(),
        command: words(&run.command)?.into_iter().map(OsString::from).collect(),
        folder: String::new(),
        environment: None,
        terminal: None,
        sandbox: SandboxRequest::default(),
        limits: RunLimits {
            time: (!run.is_background).then_some(time),
            memory: memory_of_agents(),
            ..RunLimits::default()
        },
        harvest: (!run.is_background).then(String::new),
        name: String::new(),
        background: run.is_background,
        request_id: None,
    };
    let (inputs, received) = mpsc::channel(2);
    // The end of the input is there from the start: an agent types nothing.
    let _room_for_two = inputs.try_send(RunInput::StdinEnd);
    let mut events = context.daemon.run(request, received).await?;
    let mut ran = Ran {
        branch: branch.name,
        revision: branch.revision.0,
        exit_code: None,
        ended_by: None,
        output: String::new(),
        left_out: 0,
        duration_ms: 0,
        written: Vec::new(),
        repository: false,
        run: None,
        note: None,
    };
    let mut output = RunOutput::within(limits::OUTPUT);
    while let Some(event) = events.recv().await {
        match event? {
            // The refusal says what to allow, and where.
            RunEvent::Permission(_) => _ = inputs.send(RunInput::Permission(false)).await,
            RunEvent::Started(started) if run.is_background => {
                ran.run = Some(started.name);
                break;
            }
            RunEvent::Started(_) => {}
            RunEvent::Output(_, bytes) => output.add(&bytes),
            RunEvent::Exited(result) => ran.exited(&result),
        }
    }
    (ran.output, ran.left_out) = output.finish();
    if ran.note.is_none() && !run.is_background && run.command.contains("git") {
        let root = context.daemon.root_of(&context.workspace)?;
        ran.note =
            workspaces::is_repository_elsewhere(&root).then(|| workspaces::NOT_KEPT_ELSEWHERE.to_owned());
    }
    if ran.exit_code != Some(0) && ran.note.is_none() && lacks_network(&ran.output) {
        ran.note = Some(NO_NETWORK.to_owned());
    }
    Ok(ran)
}

/// A plain command as its words, so that `allow` in `[run]` can name its program; anything else for a shell.
fn words(command: &str) -> Result<Vec<String>, ToolError> {
    if command.trim().is_empty() {
        return Err(ToolError::new("`command` is empty"));
    }
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_-./:=,+@% ".contains(it);
    let first = command.split_whitespace().next().unwrap_or_default();
    let needs_shell = first.contains('=') || BUILTINS.contains(&first);
    if command.chars().all(is_plain) && !needs_shell {
        return Ok(command.split_whitespace().map(str::to_owned).collect());
    }
    Ok(["sh", "-c", command].map(str::to_owned).to_vec())
}

/// Commands that are a shell's own, as POSIX lists them, and those of it that no system has as programs.
const BUILTINS: [&str; 26] = [
    ".", ":", "alias", "bg", "break", "cd", "command", "continue", "eval", "exec", "exit", "export", "fg",
    "hash", "jobs", "read", "readonly", "return", "set", "shift", "source", "trap", "type", "ulimit",
    "unset", "wait",
];

impl Ran {
    fn exited(&mut self, result: &RunResult) {
        let signal = result.signal.map(|it| format!("signal {it}"));
        let ended_by = result.killed.clone().or(signal);
        self.exit_code = ended_by.is_none().then_some(result.exit_code);
        self.ended_by = ended_by.or_else(|| result.not_started.clone());
        self.duration_ms = u64::try_from(result.duration.as_millis()).unwrap_or(u64::MAX);
        match &result.harvest {
            None => {}
            Some(Ok(written)) => {
                let removed = written.removed.iter().map(|it| format!("{it} (removed)"));
                self.written = written.changed.iter().map(ToString::to_string).chain(removed).collect();
                self.repository = written.repository;
                self.revision = written.revision.map_or(self.revision, |it| it.0);
            }
            Some(Err(refused)) => self.note = Some(refused.message.clone()),
        }
    }
}

impl Answer for Ran {
    fn text(&self) -> String {
        let seconds = self.duration_ms as f64 / 1000.0;
        let mut text = match (&self.run, self.exit_code, &self.ended_by) {
            (Some(run), ..) => format!("runs in the background as {run}"),
            (None, Some(code), None) => format!("exit code {code} after {seconds:.1} s"),
            (None, Some(code), Some(why)) => {
                format!("exit code {code}: the command could not be started: {why}")
            }
            (None, _, Some(why)) => format!("ended: {why} after {seconds:.1} s"),
            (None, None, None) => "ended".to_owned(),
        };
        text.push_str(&format!(" on branch {} revision {}", self.branch, self.revision));
        if !self.written.is_empty() {
            text.push_str(&format!("\nwritten to the branch: {}", self.written.join(", ")));
        }
        if self.repository {
            text.push_str("\ngit's commits, index and stash are kept with the branch");
        }
        if let Some(note) = &self.note {
            text.push_str(&format!("\nnote: {note}"));
        }
        format!("{text}\n{}", self.output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_command_needs_no_shell() {
        assert_eq!(words("cargo test -p a").unwrap(), ["cargo", "test", "-p", "a"]);
        assert_eq!(words("a && b").unwrap(), ["sh", "-c", "a && b"]);
        assert_eq!(words("X=1 a").unwrap(), ["sh", "-c", "X=1 a"]);
        assert_eq!(words("exit 3").unwrap(), ["sh", "-c", "exit 3"]);
        assert_eq!(words("echo 'a b'").unwrap(), ["sh", "-c", "echo 'a b'"]);
        assert!(words("  ").is_err());
    }
}
