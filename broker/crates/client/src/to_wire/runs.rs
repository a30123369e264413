//! Requests about runs as messages.

use std::{collections::BTreeMap, ffi::OsString, time::Duration};

use broker_proto::{v1 as pb, v1::run_request::Message};
use shadow::{Isolation, Network};
use workspaces::{RequestError, RunId, RunInput, RunLimits, RunRequest, SandboxRequest, TerminalSize};

use super::target;

pub(crate) fn run_start(it: RunRequest) -> Result<pb::RunRequest, RequestError> {
    let start = pb::RunStart {
        target: Some(target(&it.target)),
        command: texts("command", it.command)?,
        folder: it.folder,
        environment: it.environment.map(environment),
        terminal: it.terminal.map(size),
        sandbox: Some(sandbox(it.sandbox)?),
        limits: Some(limits(it.limits)),
        harvest: it.harvest.map(|glob| pb::Harvest { glob }),
        name: it.name,
        background: it.background,
        request_id: it.request_id.unwrap_or_default(),
    };
    Ok(message(Message::Start(start)))
}

pub(crate) fn run_input(input: RunInput) -> pb::RunRequest {
    message(match input {
        RunInput::Stdin(bytes) => Message::Stdin(bytes),
        RunInput::StdinEnd => Message::StdinEnd(pb::StdinEnd {}),
        RunInput::Resize(it) => Message::Resize(size(it)),
        RunInput::Signal(signal) => Message::Signal(signal),
        RunInput::Permission(allowed) => Message::Permission(pb::PermissionAnswer { allowed }),
    })
}

/// The run, and its workspace if it is given by its name.
pub(crate) fn run_id(id: &RunId) -> (String, String) {
    (id.run.clone(), id.workspace.clone().unwrap_or_default())
}

fn message(message: Message) -> pb::RunRequest {
    pb::RunRequest { message: Some(message) }
}

fn size(it: TerminalSize) -> pb::TerminalSize {
    pb::TerminalSize { rows: it.rows.into(), columns: it.columns.into() }
}

fn sandbox(it: SandboxRequest) -> Result<pb::Sandbox, RequestError> {
    let network = match it.network {
        Network::None => pb::Network::None,
        Network::Host => pb::Network::Host,
    };
    let isolation = match it.isolation {
        Isolation::Auto => pb::Isolation::Auto,
        Isolation::Required => pb::Isolation::Required,
        Isolation::Off => pb::Isolation::Off,
    };
    Ok(pb::Sandbox {
        network: network.into(),
        read_paths: texts("sandbox.read_paths", it.read)?,
        write_paths: texts("sandbox.write_paths", it.write)?,
        space_bytes: it.space.unwrap_or_default(),
        own_folder: it.own_folder,
        isolation: isolation.into(),
        cold: it.cold,
    })
}

fn texts(
    field: &'static str,
    all: impl IntoIterator<Item = impl Into<OsString>>,
) -> Result<Vec<String>, RequestError> {
    let text = |it: OsString| {
        it.into_string().map_err(|it| RequestError::invalid(field, format!("{} is not UTF-8", it.display())))
    };
    all.into_iter().map(|it| text(it.into())).collect()
}

/// The variables. Those that are not UTF-8 are left out.
fn environment(variables: BTreeMap<OsString, OsString>) -> pb::RunEnvironment {
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    pb::RunEnvironment { variables: variables.into_iter().filter_map(text).collect() }
}

fn limits(it: RunLimits) -> pb::RunLimits {
    let milliseconds = |it: Duration| u64::try_from(it.as_millis()).unwrap_or(u64::MAX);
    pb::RunLimits {
        time_ms: it.time.map(milliseconds).unwrap_or_default(),
        memory_bytes: it.memory.unwrap_or_default(),
        processes: it.processes.unwrap_or_default(),
    }
}
