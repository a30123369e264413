//! `broker run`

mod folder;
mod harvest;
mod output;
mod quantity;
mod terminal;

use std::{ffi::OsString, path::PathBuf, time::Duration};

use lint::printable;
use serde::Serialize;
use shadow::{Ended, Exit as ProgramExit, Limits, Network, Program};

use self::{folder::Folder, harvest::Written, output::Output};
use super::{Session, json};
use crate::{CliError, Exit};

/// Run a command in the workspace as a branch has it; what it writes stays in memory
///
/// The command sees the workspace at its own path. It may write there, to /tmp and to its home folder, and nothing of
/// it reaches the disk: `broker run -- make test` leaves the folder as it was. Of the system it sees everything
/// read-only, of the home folder only toolchains and what they downloaded, and no network but its own. When it ends,
/// all that it started ends.
///
/// Exits with the command's own code; with 128 and the signal that ended it, with 127 if the command is not there, with
/// 126 if it cannot be run, and with 125 if there is no folder to run it in.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker run -- make test                                 on the files as they are on the disk
  broker run --branch try-it -- cargo test                as the branch has them
  broker run --branch try-it --harvest -- cargo fmt       and what it wrote becomes an edit of the branch
  broker run --timeout 10m --memory 4G -- pytest
  broker run --net host -- npm install")]
pub(super) struct Args {
    /// As the branch has the workspace
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,

    /// The network that the command has: a loopback of its own, or the system's
    #[arg(long, value_enum, default_value_t = Net::None, value_name = "NETWORK")]
    net: Net,

    /// Show this file or folder of the home folder, too; may be repeated
    #[arg(long, value_name = "PATH")]
    read: Vec<PathBuf>,

    /// Let the command write to this file or folder for real; may be repeated
    #[arg(long, value_name = "PATH")]
    write: Vec<PathBuf>,

    /// Hand this variable on, or set it; may be repeated
    #[arg(long, value_name = "NAME[=VALUE]")]
    env: Vec<String>,

    /// End the command after this time, such as `90s`, `10m` or `1h`
    #[arg(long, value_parser = quantity::time, value_name = "TIME")]
    timeout: Option<Duration>,

    /// End the command when all its processes together take more memory, such as `512M` or `4G`
    #[arg(long, value_parser = quantity::bytes, value_name = "SIZE")]
    memory: Option<u64>,

    /// The most that may be written, all files together
    #[arg(long, value_parser = quantity::bytes, default_value = "4G", value_name = "SIZE")]
    space: u64,

    /// The most processes and threads at one time
    #[arg(long, default_value_t = 4096, value_parser = clap::value_parser!(u32).range(8..1_000_000), value_name = "COUNT")]
    processes: u32,

    /// Make what the command wrote an edit of the branch, whatever its exit code: what git would not ignore, or files that match
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "", value_name = "GLOB")]
    harvest: Option<String>,

    /// Print one JSON object at the end, with the last of what the command printed in it
    #[arg(long)]
    json: bool,

    /// Give the command a terminal, or fail; without this it has one if all three of ours are one
    #[arg(long, short, conflicts_with = "json")]
    interactive: bool,

    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Net {
    /// A loopback of its own
    None,
    /// That of the system
    Host,
}

/// What is printed with `--json`.
#[derive(Serialize)]
struct Answer {
    /// How the folder was made.
    backend: &'static str,
    exit_code: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    /// Why the command was ended, if it did not end by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    killed: Option<String>,
    duration_ms: u64,
    processor_ms: u64,
    /// The last part of what was printed, with the number of bytes before it.
    stdout: String,
    stdout_omitted_bytes: u64,
    stderr: String,
    stderr_omitted_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<Written>,
    /// Why what was written is not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    harvest_error: Option<String>,
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    // What keeps the command from being run is no answer of the command's.
    run_program(args, session).or_else(|error| {
        session.messages.error(&error);
        Ok(Exit::Code(NO_FOLDER))
    })
}

/// As `docker run` has it.
const NO_FOLDER: u8 = 125;

fn run_program(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    if args.harvest.is_some() && args.branch.is_none() {
        let error = CliError::usage("--harvest needs a branch that takes what was written");
        return Err(error.hint("name one with --branch; `broker branch fork` makes one"));
    }
    args.harvest.as_deref().map(harvest::matcher).transpose()?;
    let folder = Folder::open(args, session)?;
    let output = Output::new(args)?;
    let start = std::time::Instant::now();
    let mut running = output.start(&folder.shadow, args.program(&folder)?)?;
    let (ended, printed) = output.follow(&mut running, &session.process_context.cancel)?;
    let duration = start.elapsed();
    let (written, harvest_error) = match (&args.harvest, &ended.exit) {
        (Some(glob), ProgramExit::Code(_)) => match harvest::harvest(&folder, glob) {
            Ok(written) => (Some(written), None),
            Err(error) => (None, Some(error)),
        },
        (Some(_), _) => {
            (None, Some(CliError::files("what was written is not kept: the command did not end by itself")))
        }
        (None, _) => (None, None),
    };
    if let ProgramExit::NotStarted { error } = &ended.exit {
        let name = args.command[0].to_string_lossy();
        let error = std::io::Error::from_raw_os_error(*error);
        session.messages.error(&CliError::usage(format!("cannot run {}: {error}", printable(&name))));
    }
    let killed = ended.stopped.map(|it| it.to_string());
    if let (Some(why), false) = (&killed, args.json) {
        session.messages.error(&CliError::files(format!("killed: {why}")));
    }
    if args.json {
        let [stdout, stderr] = printed;
        let answer = Answer {
            backend: "overlayfs",
            exit_code: ended.exit.code(),
            signal: signal(&ended),
            killed,
            duration_ms: milliseconds(duration),
            processor_ms: milliseconds(ended.processor_time),
            stdout: stdout.text(),
            stdout_omitted_bytes: stdout.omitted,
            stderr: stderr.text(),
            stderr_omitted_bytes: stderr.omitted,
            written,
            harvest_error: harvest_error.as_ref().map(|it| it.message.clone()),
        };
        session.print(&json(&answer))?;
    } else if let Some(written) = &written {
        session.messages.line(&written.describe());
    }
    if let (Some(error), ProgramExit::Code(_)) = (harvest_error, &ended.exit) {
        return Err(error);
    }
    Ok(Exit::Code(u8::try_from(ended.exit.code()).unwrap_or(u8::MAX)))
}

impl Args {
    fn program(&self, folder: &Folder) -> Result<Program, CliError> {
        let mut environment = shadow::environment(|name| std::env::var_os(name));
        for given in &self.env {
            let (name, value) = match given.split_once('=') {
                Some((name, value)) => (name, Some(value.into())),
                None => (given.as_str(), std::env::var_os(given)),
            };
            let value = value.ok_or_else(|| CliError::usage(format!("the variable {name} is not set")))?;
            environment.retain(|(it, _)| it != name);
            environment.push((name.into(), value));
        }
        let limits = Limits {
            time: self.timeout,
            memory: self.memory,
            processes: Some(self.processes.into()),
            file_size: None,
        };
        Ok(Program {
            command: self.command.clone(),
            environment,
            folder: folder.current.clone(),
            terminal: false,
            limits,
        })
    }

    fn network(&self) -> Network {
        match self.net {
            Net::None => Network::None,
            Net::Host => Network::Host,
        }
    }
}

fn signal(ended: &Ended) -> Option<i32> {
    match ended.exit {
        ProgramExit::Signal(signal) => Some(signal),
        _ => None,
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
