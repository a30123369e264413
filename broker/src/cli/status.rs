//! `broker daemon status`

use std::{fmt::Write as _, time::Duration};

use lint::printable;
use serde::Serialize;
use workspaces::{CacheStatus, ClassStatus, SchedulerStatus, ServersStatus, WorkspaceInfo};

use super::{
    AnswerFormat, Session,
    storage::{self, FolderStatus},
    words,
};
use crate::{CliError, Exit, client::Client};

/// Say how the daemon is, and how large its folders are
///
/// Exits with 0 if a daemon is running and with 1 if none is. Never starts one.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, value_name = "FORMAT")]
    output_format: AnswerFormat,
}

#[derive(Serialize)]
struct Status {
    running: bool,
    #[serde(flatten)]
    daemon: Option<Daemon>,
    /// Folders of the program, with their limits.
    folders: Vec<FolderStatus>,
}

#[derive(Serialize)]
struct Daemon {
    version: String,
    pid: u32,
    started_ms: u64,
    uptime_seconds: u64,
    /// 0 where that cannot be found out.
    resident_bytes: u64,
    /// 0 for never.
    idle_exit_seconds: u64,
    /// TCP address; empty if the daemon does not listen for TCP.
    tcp_address: String,
    scheduler: Scheduler,
    cache: Cache,
    servers: Servers,
    branches: usize,
    workspaces: Vec<Workspace>,
}

/// Language servers.
#[derive(Serialize)]
struct Servers {
    running: usize,
    /// 0 where that cannot be found out.
    resident_bytes: u64,
}

#[derive(Serialize)]
struct Workspace {
    root: String,
    branches: usize,
    buffers: usize,
    #[serde(skip_serializing_if = "String::is_empty")]
    degraded: String,
}

#[derive(Serialize)]
struct Scheduler {
    classes: Vec<Class>,
    done: u64,
    joined: u64,
    superseded: u64,
    cancelled: u64,
    rejected: u64,
}

#[derive(Serialize)]
struct Class {
    name: String,
    queued: usize,
    running: usize,
    mean_queue_us: u64,
    mean_run_us: u64,
}

#[derive(Serialize)]
struct Cache {
    entries: u64,
    bytes: u64,
    hits: u64,
    misses: u64,
    evicted: u64,
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let client = Client::running(&session.process_context.cancel)?;
    let daemon = client.map(|it| ask(&it)).transpose()?;
    let exit = if daemon.is_some() { Exit::Clean } else { Exit::Findings };
    let folders = storage::all(session.process_context.cache_dir.as_deref());
    let text = match (args.output_format, &daemon) {
        (AnswerFormat::Json, _) => super::json(&Status { running: daemon.is_some(), daemon, folders }),
        (AnswerFormat::Text, Some(daemon)) => render(daemon) + &told_folders(&folders),
        (AnswerFormat::Text, None) => "no daemon is running\n".to_owned() + &told_folders(&folders),
    };
    session.print(&text)?;
    Ok(exit)
}

fn ask(client: &Client) -> Result<Daemon, CliError> {
    let status = client.wait(client.daemon().status())?;
    let workspaces = client.wait(client.daemon().list_workspaces())?;
    Ok(Daemon {
        version: status.version,
        pid: status.pid,
        started_ms: status.started_ms,
        uptime_seconds: words::since(status.started_ms).as_secs(),
        resident_bytes: status.resident_bytes,
        idle_exit_seconds: status.idle_exit.map_or(0, |it| it.as_secs()),
        tcp_address: status.tcp_address.map(|it| it.to_string()).unwrap_or_default(),
        scheduler: scheduler(status.scheduler),
        cache: cache(status.cache),
        servers: servers(status.servers),
        branches: status.branches,
        workspaces: workspaces.into_iter().map(workspace).collect(),
    })
}

fn workspace(it: WorkspaceInfo) -> Workspace {
    let WorkspaceInfo { root, branches, buffers, degraded, .. } = it;
    let root = root.to_string_lossy().into_owned();
    Workspace { root, branches, buffers, degraded: degraded.unwrap_or_default() }
}

fn scheduler(it: SchedulerStatus) -> Scheduler {
    let class = |it: ClassStatus| Class {
        name: it.name,
        queued: it.queued,
        running: it.running,
        mean_queue_us: it.mean_queue_micros,
        mean_run_us: it.mean_run_micros,
    };
    Scheduler {
        classes: it.classes.into_iter().map(class).collect(),
        done: it.done,
        joined: it.joined,
        superseded: it.superseded,
        cancelled: it.cancelled,
        rejected: it.rejected,
    }
}

fn cache(it: CacheStatus) -> Cache {
    let CacheStatus { entries, bytes, hits, misses, evicted } = it;
    Cache { entries, bytes, hits, misses, evicted }
}

fn servers(it: ServersStatus) -> Servers {
    let ServersStatus { running, resident_bytes } = it;
    Servers { running, resident_bytes }
}

fn render(it: &Daemon) -> String {
    let uptime = words::duration(Duration::from_secs(it.uptime_seconds));
    let mut text = format!("broker {}, process {}, up {uptime}\n", printable(&it.version), it.pid);
    if it.resident_bytes > 0 {
        text += &format!("memory      {}\n", words::bytes(it.resident_bytes));
    }
    if !it.tcp_address.is_empty() {
        text += &format!("tcp         {}\n", printable(&it.tcp_address));
    }
    for class in &it.scheduler.classes {
        text += &told_class(class);
    }
    let (work, cache) = (&it.scheduler, &it.cache);
    let _to_a_string = writeln!(
        text,
        "work        {} done, {} joined, {} superseded, {} cancelled, {} refused",
        work.done, work.joined, work.superseded, work.cancelled, work.rejected
    );
    let _to_a_string = writeln!(
        text,
        "answers     {} kept in {}, {} reused, {} computed",
        cache.entries,
        words::bytes(cache.bytes),
        cache.hits,
        cache.misses
    );
    text += &told_servers(&it.servers);
    for it in &it.workspaces {
        let counts = format!(
            "{}, {}",
            words::counted(it.branches as u64, "branch"),
            words::counted(it.buffers as u64, "buffer")
        );
        let _to_a_string = writeln!(text, "workspace   {} ({counts})", printable(&it.root));
        if !it.degraded.is_empty() {
            let _to_a_string = writeln!(text, "            {}", printable(&it.degraded));
        }
    }
    text
}

fn told_folders(folders: &[FolderStatus]) -> String {
    folders.iter().map(|it| format!("folder      {}", it.line())).collect()
}

fn told_class(it: &Class) -> String {
    let (wait, run) = (words::micros(it.mean_queue_us), words::micros(it.mean_run_us));
    let (name, waiting, running) = (&it.name, it.queued, it.running);
    format!("{name:<11} {waiting} waiting, {running} running; recently {wait} in the queue, {run} at work\n")
}

fn told_servers(it: &Servers) -> String {
    let memory = match it.resident_bytes {
        0 => String::new(),
        bytes => format!(", {}", words::bytes(bytes)),
    };
    format!("servers     {} running{memory}\n", it.running)
}
