//! The state of the daemon: its servers, its plugins and rules, and itself.

use std::time::Duration;

use broker_proto::v1 as pb;
use language_servers::{Counts, Epoch, ServerLog};
use lint::FixAvailability;
use workspaces::{
    CacheStatus, ClassStatus, DaemonStatus, LinterRule, PluginInfo, PluginList, SchedulerStatus,
    ServerEnding, ServerInfo, ServerPhase, ServersStatus, UnusablePlugin,
};

use super::{Answer, some, there};

pub(crate) fn server(it: pb::Server) -> ServerInfo {
    let state = phase(it.state(), it.ending());
    let pb::ServerCounts { questions, switches, starts, crashes } = it.counts.unwrap_or_default();
    ServerInfo {
        id: it.server_id,
        name: it.name,
        root: it.root.into(),
        version: some(it.version),
        pid: (it.pid > 0).then_some(it.pid),
        server_pid: (it.server_pid > 0).then_some(it.server_pid),
        memory: (it.resident_bytes > 0).then_some(it.resident_bytes),
        state,
        waiting: it.waiting as usize,
        counts: Counts { questions, switches, starts, crashes },
        idle_for: it.idle_ms.map(Duration::from_millis),
        last_error: some(it.last_error),
        unwell: some(it.unwell),
    }
}

fn phase(state: pb::ServerState, ending: pb::ServerEnding) -> ServerPhase {
    match state {
        pb::ServerState::Unused | pb::ServerState::Unspecified => ServerPhase::Unused,
        pb::ServerState::WaitingForMemory => ServerPhase::WaitingForMemory,
        pb::ServerState::Starting => ServerPhase::Starting,
        pb::ServerState::Idle => ServerPhase::Idle,
        pb::ServerState::Busy => ServerPhase::Busy,
        pb::ServerState::NotAnswering => ServerPhase::NotAnswering,
        pb::ServerState::Pausing => ServerPhase::Pausing,
        pb::ServerState::Ended => ServerPhase::Ended(match ending {
            pb::ServerEnding::Memory => ServerEnding::Memory,
            pb::ServerEnding::Worn => ServerEnding::Worn,
            pb::ServerEnding::Outdated => ServerEnding::Outdated,
            pb::ServerEnding::Shutdown => ServerEnding::Shutdown,
            pb::ServerEnding::Idleness | pb::ServerEnding::Unspecified => ServerEnding::Idleness,
        }),
    }
}

pub(crate) fn server_log(it: pb::ServerLog) -> ServerLog {
    let lines = it.lines.into_iter().map(|it| (Epoch(it.epoch), it.text));
    ServerLog { id: it.server_id, name: it.name, root: it.root.into(), lines: lines.collect() }
}

pub(crate) fn plugins(it: pb::ListPluginsResponse) -> Answer<PluginList> {
    let unusable = |it: pb::UnusablePlugin| UnusablePlugin { name: it.name, reason: it.reason };
    Ok(PluginList {
        plugins: it.plugins.into_iter().map(plugin).collect::<Answer<_>>()?,
        unusable: it.unusable.into_iter().map(unusable).collect(),
    })
}

fn plugin(it: pb::Plugin) -> Answer<PluginInfo> {
    let pb::Linter { name, version, digest } = there(it.linter, "the name of a plugin")?;
    Ok(PluginInfo {
        name,
        version,
        digest,
        description: it.description,
        languages: it.languages,
        globs: it.globs,
        interpreters: it.interpreters,
    })
}

pub(crate) fn rule(it: pb::Rule) -> LinterRule {
    let fix = match it.fix_availability() {
        pb::FixAvailability::None | pb::FixAvailability::Unspecified => FixAvailability::None,
        pb::FixAvailability::Sometimes => FixAvailability::Sometimes,
        pb::FixAvailability::Always => FixAvailability::Always,
    };
    let rule = lint::Rule {
        code: it.code,
        name: it.name,
        summary: it.summary,
        explanation: it.explanation,
        url: some(it.url),
        fix,
        default: it.default_on,
    };
    LinterRule { linter: it.linter, rule }
}

pub(crate) fn status(it: pb::GetStatusResponse) -> DaemonStatus {
    let pb::CacheStatus { entries, bytes, hits, misses, evicted } = it.cache.unwrap_or_default();
    let pb::ServersStatus { running, resident_bytes } = it.servers.unwrap_or_default();
    DaemonStatus {
        version: it.version,
        pid: it.pid,
        started_ms: it.started_ms,
        resident_bytes: it.resident_bytes,
        workspaces: it.workspaces as usize,
        branches: it.branches as usize,
        scheduler: scheduler(it.scheduler.unwrap_or_default()),
        cache: CacheStatus { entries, bytes, hits, misses, evicted },
        idle_exit: (it.idle_exit_seconds > 0).then(|| Duration::from_secs(it.idle_exit_seconds)),
        tcp_address: it.tcp_address.parse().ok(),
        servers: ServersStatus { running: running as usize, resident_bytes },
    }
}

fn scheduler(it: pb::SchedulerStatus) -> SchedulerStatus {
    let class = |it: pb::ClassStatus| ClassStatus {
        name: it.name,
        queued: it.queued as usize,
        running: it.running as usize,
        mean_queue_micros: it.mean_queue_us,
        mean_run_micros: it.mean_run_us,
    };
    SchedulerStatus {
        classes: it.classes.into_iter().map(class).collect(),
        done: it.done,
        joined: it.joined,
        superseded: it.superseded,
        cancelled: it.cancelled,
        rejected: it.rejected,
    }
}
