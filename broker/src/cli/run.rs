//! `broker run`

mod follow;
mod host;
pub(super) mod permission;
mod printed;
pub(super) mod quantity;
mod report;
mod request;
mod terminal;

use std::{ffi::OsString, path::PathBuf, time::Duration};

use config::folders;
use shadow::{Launcher, Storage};

use self::{follow::Followed, host::Host};
use super::{Session, kill, logs, ps};
use crate::{CliError, Exit};

/// Run a command in the workspace as a branch has it; what it writes stays in memory
///
/// The command sees the workspace at its own path. It may write there, to /tmp and to its home folder, and nothing of
/// it reaches the disk: `broker run -- make test` leaves the folder as it was. The command sees, read-only, what programs
/// need of the system, and toolchains of the home folder with what they downloaded; its network is its own. When it ends,
/// all that it started ends.
///
/// All commands of one branch share its folder while any of them runs: they see each other's files and reach each other
/// over loopback, and what is edited in the branch shows there. With --background a command runs on by itself, such as
/// a server; `broker run ps` lists what runs, `broker run logs` shows what it printed, and `broker run kill` ends it.
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
  broker run --net host -- npm install
  broker run --branch try-it --background --name web -- npm run dev
  broker run --branch try-it -- curl -s localhost:3000    reaches what runs in the background on the branch")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    /// As the branch has the workspace
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,

    /// Whether the command is isolated from the system; where this cannot be had, it does not run
    #[arg(long = "sandbox", value_enum, default_value_t = SandboxMode::Auto, value_name = "WHEN")]
    sandbox: SandboxMode,

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

    /// Start with nothing that earlier runs left in caches such as `target`, and keep nothing of this one
    #[arg(long)]
    cold: bool,

    /// Make what the command wrote an edit of the branch, whatever its exit code: what git would not ignore, or files that match
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "", value_name = "GLOB")]
    harvest: Option<String>,

    /// Run on in the background until it is killed; the last 2 MiB of what it prints are kept
    #[arg(long, conflicts_with_all = ["harvest", "interactive"])]
    background: bool,

    /// A name to find the command by, with `broker run ps`, `broker run logs` and `broker run kill`
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Run in a folder of its own, whatever runs on the branch
    #[arg(long)]
    own_folder: bool,

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

#[derive(Debug, clap::Subcommand)]
enum Action {
    Ps(ps::Args),
    Logs(logs::Args),
    Kill(kill::Args),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SandboxMode {
    /// It is
    Required,
    /// It is, by whatever way this system has that isolates as well
    Auto,
    /// It is not: it has all rights of the user, and runs in a merged folder or a copy of the
    /// workspace
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Net {
    /// A loopback of its own
    None,
    /// That of the system
    Host,
}

/// Role of our standard streams for the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StdioMode {
    /// The command's output is written to our streams.
    Passed,
    /// Ours is its terminal.
    Terminal,
    Captured,
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    match &args.action {
        Some(Action::Ps(args)) => return ps::run(args, session),
        Some(Action::Logs(args)) => return logs::run(args, session),
        Some(Action::Kill(args)) => return kill::run(args, session),
        None => {}
    }
    // A failure to run the command is no exit code of the command's.
    run_program(args, session).or_else(|error| {
        session.messages.error(&error);
        Ok(Exit::Code(NO_FOLDER))
    })
}

/// Exit code if the command cannot be run, as of `docker run`.
const NO_FOLDER: u8 = 125;

fn run_program(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    if args.harvest.is_some() && args.branch.is_none() {
        let error = CliError::usage("--harvest needs a branch that takes what was written");
        return Err(error.hint("name one with --branch; `broker branch fork` makes one"));
    }
    let host = Host::of(args, session)?;
    match follow::run(args, &host, session)? {
        Followed::Started(started) => report::started(args, started, session),
        Followed::Ended(result, printed) => {
            if args.harvest.is_some() && workspaces::is_repository_elsewhere(host.workspace().root()) {
                session.messages.warning(workspaces::NOT_KEPT_ELSEWHERE);
            }
            report::ended(args, &result, printed, session)
        }
    }
}

/// Returns the launcher that makes folders for commands.
pub(super) fn launcher() -> Launcher {
    let launcher = Launcher::this_program();
    match folders::cache_dir() {
        Some(folder) => launcher.with_storage(Storage::new(folder)),
        None => launcher,
    }
}
