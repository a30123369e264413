//! Answers about runs.

use std::{sync::Arc, time::Duration};

use broker_proto::{
    v1 as pb,
    v1::{read_log_response::Part, run_exited::Harvest, run_response::Event},
};
use overlay::Revision;
use workspaces::{
    HarvestRefused, LogEvent, OutputStream, PermissionKind, RunEvent, RunInfo, RunResult, RunStarted,
    WantedPermission, Written,
};

use super::{Answer, paths, some};
use crate::error::senseless;

/// `None` for an event of a newer daemon.
pub(crate) fn run_event(it: pb::RunResponse) -> Answer<Option<RunEvent>> {
    let Some(event) = it.event else { return Ok(None) };
    Ok(Some(match event {
        Event::Started(it) => RunEvent::Started(RunStarted {
            id: it.run_id.into(),
            name: it.name,
            revision: Revision(it.revision),
            backend: it.backend,
        }),
        Event::Stdout(bytes) => RunEvent::Output(OutputStream::Stdout, bytes),
        Event::Stderr(bytes) => RunEvent::Output(OutputStream::Stderr, bytes),
        Event::Exited(it) => RunEvent::Exited(Arc::new(run_result(it)?)),
        Event::PermissionRequest(it) => {
            RunEvent::Permission(it.wanted.into_iter().map(wanted).collect::<Answer<_>>()?)
        }
    }))
}

fn wanted(it: pb::WantedPermission) -> Answer<WantedPermission> {
    let kind = PermissionKind::of_name(&it.kind);
    let kind = kind.ok_or_else(|| senseless(format!("the permission `{}`", it.kind)))?;
    Ok(WantedPermission { kind, what: it.what })
}

pub(crate) fn run_result(it: pb::RunExited) -> Answer<RunResult> {
    Ok(RunResult {
        exit_code: it.exit_code,
        signal: it.signal,
        killed: some(it.killed),
        not_started: some(it.not_started),
        backend: it.backend,
        isolated: it.isolated,
        duration: Duration::from_millis(it.duration_ms),
        processor_time: Duration::from_millis(it.processor_ms),
        peak_memory: it.peak_memory_bytes,
        caches_error: some(it.caches_error),
        harvest: it.harvest.map(harvest).transpose()?,
    })
}

fn harvest(it: Harvest) -> Answer<Result<Written, HarvestRefused>> {
    Ok(match it {
        Harvest::Written(it) => Ok(Written {
            changed: paths(&it.changed_paths)?,
            removed: paths(&it.removed_paths)?,
            repository: it.repository,
            revision: it.revision.map(Revision),
        }),
        Harvest::HarvestRefused(it) => {
            Err(HarvestRefused { reason: it.reason, message: it.message, paths: paths(&it.paths)? })
        }
    })
}

pub(crate) fn run_info(it: pb::RunInfo) -> Answer<RunInfo> {
    Ok(RunInfo {
        id: it.run_id.into(),
        name: it.name,
        workspace: it.workspace_id.into(),
        root: it.root.into(),
        branch: some(it.branch_id).map(|id| (id.into(), it.branch_name)),
        command: it.command,
        background: it.background,
        started_ms: it.started_ms,
        revision: Revision(it.revision),
        outdated: some(it.outdated_reason),
        printed: it.log_bytes,
        result: it.exited.map(run_result).transpose()?.map(Arc::new),
    })
}

/// `None` for a part of a newer daemon.
pub(crate) fn log_event(it: pb::ReadLogResponse) -> Answer<Option<LogEvent>> {
    let Some(part) = it.part else { return Ok(None) };
    Ok(Some(match part {
        Part::Output(it) => {
            let stream = if it.is_stderr { OutputStream::Stderr } else { OutputStream::Stdout };
            LogEvent::Output { offset: it.offset, stream, bytes: it.content }
        }
        Part::DroppedBytes(bytes) => LogEvent::Dropped(bytes),
        Part::End(it) => {
            LogEvent::End { offset: it.offset, result: it.exited.map(run_result).transpose()?.map(Arc::new) }
        }
    }))
}
