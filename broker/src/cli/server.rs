//! `broker server`

mod chosen;
mod installer;
mod listed;
mod tools;

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use language_servers::{Epoch, ServerLog};
use lint::printable;
use serde::Serialize;
use workspaces::{ServerEnding, ServerInfo, ServerPhase};

use super::{AnswerFormat, Session, json, trust::workspace_folder, words};
use crate::{CliError, Exit, client::Client};

/// Add language servers and checkers to the workspace; list those of the daemon, show what one wrote, or end them
///
/// `list`, `logs` and `stop` exit with 1 if no daemon is running, and never start one. `broker doctor` says which servers a workspace is
/// to have.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Args)]
struct FormatArgs {
    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, value_name = "FORMAT")]
    output_format: AnswerFormat,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Add(tools::AddArgs),
    Update(tools::UpdateArgs),
    /// Fetch the tools that `broker.lock` pins and that are not on this machine
    ///
    /// For a fresh clone. Only what has the digests of `broker.lock` is taken.
    Install,
    Remove(tools::RemoveArgs),
    /// List running language servers: what each does, its memory, its last error
    List {
        /// List the tools that can be added instead: versions, sizes, licences, and what `broker.lock` pins
        #[arg(long)]
        tools: bool,

        #[command(flatten)]
        format: FormatArgs,
    },
    /// Show what the servers of a name wrote to their standard error lately, with the count of the process
    Logs {
        name: String,

        #[command(flatten)]
        format: FormatArgs,
    },
    /// End the servers of a folder and of those below it; they are started again when they are needed
    Stop {
        /// [default: the workspace around the current folder]
        path: Option<PathBuf>,

        #[command(flatten)]
        format: FormatArgs,
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
    /// Process id of the server itself.
    server_pid: Option<u32>,
    /// `None` where that cannot be found out, too.
    resident_bytes: Option<u64>,
    state: &'static str,
    /// Reason why the server was ended, if it was.
    ending: Option<&'static str>,
    waiting: usize,
    questions: u64,
    switches: u64,
    starts: u64,
    crashes: u64,
    idle_ms: Option<u64>,
    last_error: Option<String>,
    /// Problem that the server reports of itself.
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
    match &args.command {
        Command::Add(args) => tools::add(args, session),
        Command::Update(args) => tools::update(args, session),
        Command::Install => tools::install(session),
        Command::Remove(args) => tools::remove(args, session),
        Command::List { tools: true, format } => listed::run(format.output_format, session),
        of_daemon @ (Command::List { format, .. }
        | Command::Logs { format, .. }
        | Command::Stop { format, .. }) => ask(of_daemon, format.output_format, session),
    }
}

/// Asks the daemon.
fn ask(command: &Command, format: AnswerFormat, session: &mut Session) -> Result<Exit, CliError> {
    let Some(client) = Client::running(&session.process_context.cancel)? else {
        session.messages.line("no daemon is running");
        if format == AnswerFormat::Json {
            session.print("[]\n")?;
        }
        return Ok(Exit::Findings);
    };
    let text = match command {
        Command::List { .. } => {
            let answer = client.wait(client.daemon().list_servers())?;
            let servers: Vec<_> = answer.servers.into_iter().map(server).collect();
            if format == AnswerFormat::Json { json(&servers) } else { table(&servers) }
        }
        Command::Logs { name, .. } => {
            let logs = client.wait(client.daemon().server_logs(name))?;
            let logs: Vec<_> = logs.into_iter().map(log).collect();
            if format == AnswerFormat::Json { json(&logs) } else { render(&logs) }
        }
        Command::Stop { path, .. } => {
            let folder = workspace_folder(path.as_deref(), session)?;
            end(&client, &folder)?;
            session.messages.line(&format!("no language server runs in {} any more", folder.display()));
            String::new()
        }
        // Not of the daemon.
        Command::Add(_) | Command::Update(_) | Command::Install | Command::Remove(_) => String::new(),
    };
    session.print(&text)?;
    Ok(Exit::Clean)
}

/// Ends the servers of a folder.
pub(super) fn end(client: &Client, folder: &Path) -> Result<(), CliError> {
    Ok(client.wait(client.daemon().end_servers(folder.to_owned()))?)
}

fn server(it: ServerInfo) -> Server {
    let (state, ending) = phase(it.state);
    Server {
        id: it.id,
        name: it.name,
        root: it.root.to_string_lossy().into_owned(),
        version: it.version,
        pid: it.pid,
        server_pid: it.server_pid,
        resident_bytes: it.memory,
        state,
        ending,
        waiting: it.waiting,
        questions: it.counts.questions,
        switches: it.counts.switches,
        starts: it.counts.starts,
        crashes: it.counts.crashes,
        idle_ms: it.idle_for.map(|it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX)),
        last_error: it.last_error,
        unwell: it.unwell,
    }
}

/// The state, and why it was ended, if it was.
fn phase(it: ServerPhase) -> (&'static str, Option<&'static str>) {
    match it {
        ServerPhase::Unused => ("unused", None),
        ServerPhase::WaitingForMemory => ("waiting-for-memory", None),
        ServerPhase::Starting => ("starting", None),
        ServerPhase::Idle => ("idle", None),
        ServerPhase::Busy => ("busy", None),
        ServerPhase::NotAnswering => ("not-answering", None),
        ServerPhase::Pausing => ("pausing", None),
        ServerPhase::Ended(why) => ("ended", Some(ending(why))),
    }
}

fn ending(it: ServerEnding) -> &'static str {
    match it {
        ServerEnding::Idleness => "idleness",
        ServerEnding::Memory => "memory",
        ServerEnding::Worn => "worn",
        ServerEnding::Outdated => "outdated",
        ServerEnding::Shutdown => "shutdown",
    }
}

fn log(it: ServerLog) -> Log {
    let lines = it.lines.into_iter().map(|(Epoch(epoch), text)| Line { epoch, text });
    Log { id: it.id, name: it.name, root: it.root.to_string_lossy().into_owned(), lines: lines.collect() }
}

const HEADING: [&str; 10] =
    ["NAME", "STATE", "PID", "MEMORY", "WAITING", "ASKED", "STARTS", "CRASHES", "VERSION", "ROOT"];

fn table(servers: &[Server]) -> String {
    if servers.is_empty() {
        return "no language server has been needed\n".to_owned();
    }
    let mut text = words::table(HEADING, servers.iter().map(cells));
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
    use std::time::Duration;

    use language_servers::Counts;

    use super::*;

    fn info(name: &str, root: &str, state: ServerPhase) -> ServerInfo {
        ServerInfo {
            id: 0,
            name: name.to_owned(),
            root: root.into(),
            version: None,
            pid: None,
            server_pid: None,
            memory: None,
            state,
            waiting: 0,
            counts: Counts { questions: 0, switches: 0, starts: 0, crashes: 0 },
            idle_for: None,
            last_error: None,
            unwell: None,
        }
    }

    fn servers() -> Vec<Server> {
        let idle = ServerInfo {
            id: 1,
            version: Some("pyright 1.1.406".to_owned()),
            pid: Some(4711),
            server_pid: Some(4712),
            unwell: Some("it cannot read its configuration".to_owned()),
            memory: Some(300 << 20),
            counts: Counts { questions: 12, switches: 3, starts: 1, crashes: 0 },
            idle_for: Some(Duration::from_secs(200)),
            ..info("pyright", "/w", ServerPhase::Idle)
        };
        let ended = ServerInfo {
            id: 2,
            last_error: Some("it was killed".to_owned()),
            ..info("gopls", "/w\u{1b}[31m", ServerPhase::Ended(ServerEnding::Memory))
        };
        let waiting = ServerInfo { waiting: 2, ..info("clangd", "", ServerPhase::WaitingForMemory) };
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
        let line = |epoch, text: &str| (Epoch(epoch), text.to_owned());
        let of = |root: &str, lines| ServerLog { id: 0, name: "gopls".to_owned(), root: root.into(), lines };
        let logs = [of("/w", vec![line(1, "out of memory"), line(12, "hello\u{7}")]), of("/x", Vec::new())];
        let logs: Vec<_> = logs.into_iter().map(log).collect();
        insta::assert_snapshot!(render(&logs));
    }
}
