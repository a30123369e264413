//! `broker servers`

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use broker_proto::v1 as pb;
use lint::printable;
use serde::Serialize;

use super::{AnswerFormat, Session, json, trust::workspace_folder, words};
use crate::{CliError, Exit, client::Client};

/// List the language servers of the daemon, show what one of them wrote, or end them
///
/// Exits with 1 if no daemon is running. Never starts one. `broker doctor` says which servers a workspace is to
/// have.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    #[arg(long, global = true, value_enum, default_value_t = AnswerFormat::Text, value_name = "FORMAT")]
    output_format: AnswerFormat,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show what the servers of a name wrote to their standard error lately, with the count of the process
    Log { name: String },
    /// End the servers of a folder and of those below it; they are started again when they are needed
    End {
        /// [default: the workspace around the current folder]
        path: Option<PathBuf>,
    },
}

#[derive(Debug, Serialize)]
struct Server {
    id: u64,
    name: String,
    root: String,
    version: Option<String>,
    /// The process above it and all that it has started.
    pid: Option<u32>,
    /// Its own.
    server_pid: Option<u32>,
    /// `None` where that cannot be found out, too.
    resident_bytes: Option<u64>,
    state: &'static str,
    /// Why it was ended, if it was.
    ending: Option<&'static str>,
    waiting: u32,
    questions: u64,
    switches: u64,
    starts: u64,
    crashes: u64,
    idle_ms: Option<u64>,
    last_error: Option<String>,
    /// What it says is wrong with it.
    unwell: Option<String>,
}

#[derive(Debug, Serialize)]
struct Log {
    id: u64,
    name: String,
    root: String,
    lines: Vec<Line>,
}

#[derive(Debug, Serialize)]
struct Line {
    epoch: u64,
    text: String,
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let Some(client) = Client::running(&session.process_context.cancel)? else {
        session.messages.line("no daemon is running");
        if args.output_format == AnswerFormat::Json {
            session.print("[]\n")?;
        }
        return Ok(Exit::Findings);
    };
    let text = match &args.command {
        None => {
            let answer = client.call(client.servers().list_servers(pb::ListServersRequest {}))?;
            let servers: Vec<_> = answer.servers.into_iter().map(server).collect();
            if args.output_format == AnswerFormat::Json { json(&servers) } else { table(&servers) }
        }
        Some(Command::Log { name }) => {
            let request = pb::GetServerLogRequest { name: name.clone() };
            let answer = client.call(client.servers().get_server_log(request))?;
            let logs: Vec<_> = answer.logs.into_iter().map(log).collect();
            if args.output_format == AnswerFormat::Json { json(&logs) } else { render(&logs) }
        }
        Some(Command::End { path }) => {
            let folder = workspace_folder(path.as_deref(), session)?;
            end(&client, &folder)?;
            session.messages.line(&format!("no language server runs in {} any more", folder.display()));
            String::new()
        }
    };
    session.print(&text)?;
    Ok(Exit::Clean)
}

/// Ends those of a folder.
pub(super) fn end(client: &Client, folder: &Path) -> Result<(), CliError> {
    let root = folder.to_str().ok_or_else(|| CliError::usage("the folder's name is not UTF-8"))?.to_owned();
    client.call(client.servers().end_servers(pb::EndServersRequest { root }))?;
    Ok(())
}

fn server(it: pb::Server) -> Server {
    let (state, ending) = (state(it.state()), ending(it.ending()));
    let counts = it.counts.unwrap_or_default();
    Server {
        id: it.server_id,
        name: it.name,
        root: it.root,
        version: Some(it.version).filter(|it| !it.is_empty()),
        pid: Some(it.pid).filter(|it| *it > 0),
        server_pid: Some(it.server_pid).filter(|it| *it > 0),
        resident_bytes: Some(it.resident_bytes).filter(|it| *it > 0),
        state,
        ending,
        waiting: it.waiting,
        questions: counts.questions,
        switches: counts.switches,
        starts: counts.starts,
        crashes: counts.crashes,
        idle_ms: it.idle_ms,
        last_error: Some(it.last_error).filter(|it| !it.is_empty()),
        unwell: Some(it.unwell).filter(|it| !it.is_empty()),
    }
}

fn state(it: pb::ServerState) -> &'static str {
    match it {
        pb::ServerState::Unspecified => "unknown",
        pb::ServerState::Unused => "unused",
        pb::ServerState::WaitingForMemory => "waiting-for-memory",
        pb::ServerState::Starting => "starting",
        pb::ServerState::Idle => "idle",
        pb::ServerState::Busy => "busy",
        pb::ServerState::NotAnswering => "not-answering",
        pb::ServerState::Pausing => "pausing",
        pb::ServerState::Ended => "ended",
    }
}

fn ending(it: pb::ServerEnding) -> Option<&'static str> {
    match it {
        pb::ServerEnding::Unspecified => None,
        pb::ServerEnding::Idleness => Some("idleness"),
        pb::ServerEnding::Memory => Some("memory"),
        pb::ServerEnding::Worn => Some("worn"),
        pb::ServerEnding::Outdated => Some("outdated"),
        pb::ServerEnding::Shutdown => Some("shutdown"),
    }
}

fn log(it: pb::ServerLog) -> Log {
    let line = |it: pb::ServerLogLine| Line { epoch: it.epoch, text: it.text };
    let lines = it.lines.into_iter().map(line).collect();
    Log { id: it.server_id, name: it.name, root: it.root, lines }
}

const HEADING: [&str; 10] =
    ["NAME", "STATE", "PID", "MEMORY", "WAITING", "ASKED", "STARTS", "CRASHES", "VERSION", "ROOT"];

fn table(servers: &[Server]) -> String {
    if servers.is_empty() {
        return "no language server has been needed\n".to_owned();
    }
    let rows: Vec<_> = std::iter::once(HEADING.map(str::to_owned)).chain(servers.iter().map(cells)).collect();
    let width = |column: usize| rows.iter().map(|it| it[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<_> = (0..HEADING.len() - 1).map(width).collect();
    let line = |row: &[String; 10]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}  "));
        cells.chain([format!("{}\n", row[9])]).collect::<String>()
    };
    let mut text: String = rows.iter().map(line).collect();
    for it in servers {
        if let Some(error) = &it.last_error {
            let _to_a_string =
                writeln!(text, "{}: the last error: {}", printable(&it.name), printable(error));
        }
        if let Some(unwell) = &it.unwell {
            let _to_a_string =
                writeln!(text, "{}: it says of itself: {}", printable(&it.name), printable(unwell));
        }
    }
    text
}

fn cells(it: &Server) -> [String; 10] {
    let or_none = |it: Option<String>| it.unwrap_or_else(|| "-".to_owned());
    [
        it.name.clone(),
        state_and_why(it),
        or_none(it.server_pid.or(it.pid).map(|it| it.to_string())),
        or_none(it.resident_bytes.map(words::bytes)),
        it.waiting.to_string(),
        it.questions.to_string(),
        it.starts.to_string(),
        it.crashes.to_string(),
        or_none(it.version.clone()),
        it.root.clone(),
    ]
    .map(|it| printable(&it).into_owned())
}

/// `idle for 3 minutes`, `ended (memory)`
fn state_and_why(it: &Server) -> String {
    let idle = it.idle_ms.map(std::time::Duration::from_millis).map(words::duration);
    match (idle, it.ending) {
        (Some(idle), _) => format!("{} for {idle}", it.state),
        (None, Some(why)) => format!("{} ({why})", it.state),
        (None, None) => it.state.replace('-', " "),
    }
}

fn render(logs: &[Log]) -> String {
    let mut text = String::new();
    for log in logs {
        let _to_a_string = writeln!(text, "{} in {}", printable(&log.name), printable(&log.root));
        for it in &log.lines {
            let _to_a_string = writeln!(text, "{:>4}  {}", it.epoch, printable(&it.text));
        }
        if log.lines.is_empty() {
            text += "      (it has written nothing)\n";
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers() -> Vec<Server> {
        let idle = pb::Server {
            server_id: 1,
            name: "pyright".to_owned(),
            root: "/w".to_owned(),
            version: "pyright 1.1.406".to_owned(),
            pid: 4711,
            server_pid: 4712,
            unwell: "it cannot read its configuration".to_owned(),
            resident_bytes: 300 << 20,
            state: pb::ServerState::Idle.into(),
            counts: Some(pb::ServerCounts { questions: 12, switches: 3, starts: 1, crashes: 0 }),
            idle_ms: Some(200_000),
            ..pb::Server::default()
        };
        let ended = pb::Server {
            server_id: 2,
            name: "gopls".to_owned(),
            root: "/w\u{1b}[31m".to_owned(),
            state: pb::ServerState::Ended.into(),
            ending: pb::ServerEnding::Memory.into(),
            last_error: "it was killed".to_owned(),
            ..pb::Server::default()
        };
        let waiting = pb::Server {
            name: "clangd".to_owned(),
            state: pb::ServerState::WaitingForMemory.into(),
            waiting: 2,
            ..pb::Server::default()
        };
        [idle, ended, waiting].into_iter().map(server).collect()
    }

    #[test]
    fn looks_so() {
        insta::assert_snapshot!(table(&servers()));
    }

    #[test]
    fn looks_so_in_json() {
        insta::assert_snapshot!(json(&servers()));
    }

    #[test]
    fn a_log_looks_so() {
        let line = |epoch, text: &str| pb::ServerLogLine { epoch, text: text.to_owned() };
        let lines = vec![line(1, "out of memory"), line(12, "hello\u{7}")];
        let logs = [
            pb::ServerLog { name: "gopls".to_owned(), root: "/w".to_owned(), lines, ..Default::default() },
            pb::ServerLog { name: "gopls".to_owned(), root: "/x".to_owned(), ..Default::default() },
        ];
        let logs: Vec<_> = logs.into_iter().map(log).collect();
        insta::assert_snapshot!(render(&logs));
    }
}
