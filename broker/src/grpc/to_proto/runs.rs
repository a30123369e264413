//! Messages of `RunService`.

use std::time::Duration;

use broker_proto::{v1 as pb, v1::run_exited::Harvest};
use overlay::WorkspacePath;
use workspaces::{
    HarvestRefused, LogEvent, OutputStream, RunEvent, RunInfo, RunResult, WantedPermission, Written,
};

pub(in crate::grpc) fn run_event(event: RunEvent) -> pb::RunResponse {
    use pb::run_response::Event as It;
    let event = match event {
        RunEvent::Permission(wanted) => It::PermissionRequest(pb::PermissionRequest {
            wanted: wanted.iter().map(wanted_permission).collect(),
        }),
        RunEvent::Started(it) => It::Started(pb::RunStarted {
            run_id: it.id.to_string(),
            name: it.name,
            revision: it.revision.0,
            backend: it.backend,
        }),
        RunEvent::Output(OutputStream::Stdout, bytes) => It::Stdout(bytes),
        RunEvent::Output(OutputStream::Stderr, bytes) => It::Stderr(bytes),
        RunEvent::Exited(result) => It::Exited(run_result(&result)),
    };
    pb::RunResponse { event: Some(event) }
}

fn wanted_permission(it: &WantedPermission) -> pb::WantedPermission {
    pb::WantedPermission {
        kind: it.kind.name().to_owned(),
        what: it.what.clone(),
        reason: it.reason(),
        remedy: it.remedy(),
    }
}

pub(in crate::grpc) fn run_result(it: &RunResult) -> pb::RunExited {
    pb::RunExited {
        exit_code: it.exit_code,
        signal: it.signal,
        killed: it.killed.clone().unwrap_or_default(),
        not_started: it.not_started.clone().unwrap_or_default(),
        backend: it.backend.clone(),
        isolated: it.isolated,
        duration_ms: milliseconds(it.duration),
        processor_ms: milliseconds(it.processor_time),
        peak_memory_bytes: it.peak_memory,
        caches_error: it.caches_error.clone().unwrap_or_default(),
        harvest: it.harvest.as_ref().map(|it| it.as_ref().map_or_else(refused, written)),
    }
}

fn written(it: &Written) -> Harvest {
    Harvest::Written(pb::WrittenFiles {
        changed_paths: texts(&it.changed),
        removed_paths: texts(&it.removed),
        revision: it.revision.map(|it| it.0),
        repository: it.repository,
    })
}

fn refused(it: &HarvestRefused) -> Harvest {
    Harvest::HarvestRefused(pb::HarvestRefused {
        reason: it.reason.clone(),
        message: it.message.clone(),
        paths: texts(&it.paths),
    })
}

pub(in crate::grpc) fn run(it: RunInfo) -> pb::RunInfo {
    let (branch_id, branch_name) = it.branch.map(|(id, name)| (id.to_string(), name)).unwrap_or_default();
    pb::RunInfo {
        run_id: it.id.to_string(),
        name: it.name,
        workspace_id: it.workspace.to_string(),
        root: it.root.to_string_lossy().into_owned(),
        branch_id,
        branch_name,
        command: it.command,
        background: it.background,
        started_ms: it.started_ms,
        revision: it.revision.0,
        outdated_reason: it.outdated.unwrap_or_default(),
        log_bytes: it.printed,
        exited: it.result.map(|it| run_result(&it)),
    }
}

pub(in crate::grpc) fn log_event(event: LogEvent) -> pb::ReadLogResponse {
    use pb::read_log_response::Part as It;
    let part = match event {
        LogEvent::Output { offset, stream, bytes } => {
            let is_stderr = stream == OutputStream::Stderr;
            It::Output(pb::LogOutput { offset, content: bytes, is_stderr })
        }
        LogEvent::Dropped(bytes) => It::DroppedBytes(bytes),
        LogEvent::End { offset, result } => {
            It::End(pb::LogEnd { offset, exited: result.map(|it| run_result(&it)) })
        }
    };
    pb::ReadLogResponse { part: Some(part) }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn texts(paths: &[WorkspacePath]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}
