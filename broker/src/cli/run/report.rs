//! Result of a command, for people and as JSON.

use std::time::Duration;

use lint::printable;
use overlay::WorkspacePath;
use serde::Serialize;
use workspaces::{RunResult, RunStarted};

use super::{Args, printed::Printed};
use crate::{
    CliError, Exit,
    cli::{Session, json},
};

/// Output with `--json`.
#[derive(Serialize)]
struct RunReport {
    /// Way in which the folder was made.
    backend: String,
    /// Whether the command was isolated from the system.
    isolated: bool,
    exit_code: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    /// Reason why the command was ended, if it did not end by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    killed: Option<String>,
    /// Reason why the command was not started, if it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_started: Option<String>,
    duration_ms: u64,
    processor_ms: u64,
    /// The most memory that it was seen to use.
    peak_memory_bytes: u64,
    /// The last part of what was printed, with the number of bytes before it.
    stdout: String,
    stdout_omitted_bytes: u64,
    stderr: String,
    stderr_omitted_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<Written>,
    /// Reason why the files that were written are not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    harvest_error: Option<String>,
}

/// Changes that were written to the branch.
#[derive(Serialize)]
struct Written {
    /// Paths that are new or have another content.
    changed: Vec<String>,
    removed: Vec<String>,
    /// Whether the branch keeps what was written to `.git` and the like.
    repository: bool,
    /// The branch's new revision; `None` if nothing was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
}

/// A command in the background, with `--json`.
#[derive(Serialize)]
struct StartedRun {
    run_id: String,
    name: String,
    revision: u64,
}

/// Shows a command that runs on in the background.
pub(super) fn started(args: &Args, started: RunStarted, session: &mut Session) -> Result<Exit, CliError> {
    let printed = match args.json {
        true => {
            let (run_id, name, revision) = (started.id.to_string(), started.name, started.revision.0);
            json(&StartedRun { run_id, name, revision })
        }
        false => format!("{}\n", printable(&started.name)),
    };
    session.print(&printed)?;
    Ok(Exit::Clean)
}

/// Shows the end of a command, and takes its exit code over.
pub(super) fn ended(
    args: &Args,
    result: &RunResult,
    printed: [Printed; 2],
    session: &mut Session,
) -> Result<Exit, CliError> {
    show_faults(args, result, session);
    let (written, harvest_error) = match harvested(args, result) {
        Some(Ok(written)) => (Some(written), None),
        Some(Err(error)) => (None, Some(error)),
        None => (None, None),
    };
    if !args.json
        && let Some(written) = &written
    {
        session.messages.line(&written.describe());
    }
    // A command that was ended says so itself.
    if let (Some(error), None, None) = (&harvest_error, result.signal, &result.not_started) {
        session.messages.error(&CliError::files(error.clone()));
    }
    if args.json {
        session.print(&json(&RunReport::new(result, printed, written, harvest_error)))?;
    }
    Ok(Exit::Code(u8::try_from(result.exit_code).unwrap_or(u8::MAX)))
}

fn show_faults(args: &Args, result: &RunResult, session: &Session) {
    if let Some(error) = &result.caches_error {
        session.messages.warning(&format!("what was written to caches is not kept: {}", printable(error)));
    }
    if let Some(why) = &result.not_started {
        let name = args.command[0].to_string_lossy();
        session.messages.error(&CliError::usage(format!("cannot run {}: {why}", printable(&name))));
    }
    if let (Some(why), false) = (&result.killed, args.json) {
        session.messages.error(&CliError::files(format!("killed: {why}")));
    }
}

/// Fate of the files that were written, if that was asked.
fn harvested(args: &Args, result: &RunResult) -> Option<Result<Written, String>> {
    match &result.harvest {
        Some(Ok(it)) => Some(Ok(Written::from(it))),
        Some(Err(refused)) => Some(Err(refused.message.clone())),
        None => args
            .harvest
            .is_some()
            .then(|| Err("what was written is not kept: the command did not end by itself".to_owned())),
    }
}

impl RunReport {
    fn new(
        result: &RunResult,
        [stdout, stderr]: [Printed; 2],
        written: Option<Written>,
        harvest_error: Option<String>,
    ) -> Self {
        Self {
            backend: result.backend.clone(),
            isolated: result.isolated,
            exit_code: result.exit_code,
            signal: result.signal,
            killed: result.killed.clone(),
            not_started: result.not_started.clone(),
            duration_ms: milliseconds(result.duration),
            processor_ms: milliseconds(result.processor_time),
            peak_memory_bytes: result.peak_memory,
            stdout: stdout.text(),
            stdout_omitted_bytes: stdout.omitted,
            stderr: stderr.text(),
            stderr_omitted_bytes: stderr.omitted,
            written,
            harvest_error,
        }
    }
}

impl From<&workspaces::Written> for Written {
    fn from(it: &workspaces::Written) -> Self {
        let texts = |all: &[WorkspacePath]| all.iter().map(ToString::to_string).collect();
        Self {
            changed: texts(&it.changed),
            removed: texts(&it.removed),
            repository: it.repository,
            revision: it.revision.map(|it| it.0),
        }
    }
}

impl Written {
    fn describe(&self) -> String {
        match self.revision {
            Some(revision) => {
                let repository = if self.repository { ", version control kept" } else { "" };
                let (changed, removed) = (self.changed.len(), self.removed.len());
                format!("{changed} changed, {removed} removed{repository}: revision {revision}")
            }
            None => "nothing was written".to_owned(),
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
