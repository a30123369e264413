//! Messages of `RunService`.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf, time::Duration};

use broker_proto::v1 as pb;
use shadow::{Isolation, Network};
use tonic::Status;
use workspaces::{RunInput, RunLimits, RunRequest, SandboxRequest, TerminalSize};

use super::{some, status, target};

pub(in crate::grpc) fn run(it: pb::RunStart) -> Result<RunRequest, Status> {
    Ok(RunRequest {
        target: target(it.target)?,
        command: it.command.into_iter().map(OsString::from).collect(),
        folder: it.folder,
        environment: it.environment.map(environment),
        terminal: it.terminal.map(|it| size("terminal", it)).transpose()?,
        sandbox: it.sandbox.map(sandbox).transpose()?.unwrap_or_default(),
        limits: it.limits.map(limits).unwrap_or_default(),
        harvest: it.harvest.map(|it| it.glob),
        name: it.name,
        background: it.background,
        request_id: some(it.request_id),
    })
}

pub(in crate::grpc) fn run_input(it: pb::RunRequest) -> Result<RunInput, Status> {
    use pb::run_request::Message as It;
    Ok(match it.message {
        Some(It::Stdin(bytes)) => RunInput::Stdin(bytes),
        Some(It::StdinEnd(_)) => RunInput::StdinEnd,
        Some(It::Resize(it)) => RunInput::Resize(size("resize", it)?),
        Some(It::Signal(signal)) => RunInput::Signal(signal),
        Some(It::Permission(it)) => RunInput::Permission(it.allowed),
        Some(It::Start(_)) => return Err(status::invalid("start", "it comes once")),
        None => return Err(status::invalid("message", "it says nothing")),
    })
}

fn size(field: &'static str, it: pb::TerminalSize) -> Result<TerminalSize, Status> {
    let number = |it: u32| u16::try_from(it).map_err(|_| status::invalid(field, "it is too large"));
    Ok(TerminalSize { rows: number(it.rows)?, columns: number(it.columns)? })
}

fn environment(it: pb::RunEnvironment) -> BTreeMap<OsString, OsString> {
    it.variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
}

fn sandbox(it: pb::Sandbox) -> Result<SandboxRequest, Status> {
    let network = match pb::Network::try_from(it.network) {
        Ok(pb::Network::Unspecified | pb::Network::None) => Network::None,
        Ok(pb::Network::Host) => Network::Host,
        Err(_) => return Err(status::invalid("sandbox.network", "there is no such network")),
    };
    let isolation = match pb::Isolation::try_from(it.isolation) {
        Ok(pb::Isolation::Unspecified | pb::Isolation::Auto) => Isolation::Auto,
        Ok(pb::Isolation::Required) => Isolation::Required,
        Ok(pb::Isolation::Off) => Isolation::Off,
        Err(_) => return Err(status::invalid("sandbox.isolation", "there is none such")),
    };
    Ok(SandboxRequest {
        isolation,
        cold: it.cold,
        network,
        read: it.read_paths.into_iter().map(PathBuf::from).collect(),
        write: it.write_paths.into_iter().map(PathBuf::from).collect(),
        space: (it.space_bytes > 0).then_some(it.space_bytes),
        own_folder: it.own_folder,
    })
}

fn limits(it: pb::RunLimits) -> RunLimits {
    RunLimits {
        time: (it.time_ms > 0).then(|| Duration::from_millis(it.time_ms)),
        memory: (it.memory_bytes > 0).then_some(it.memory_bytes),
        processes: (it.processes > 0).then_some(it.processes),
    }
}
