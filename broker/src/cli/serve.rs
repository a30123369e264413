//! `broker daemon serve`

mod collector;
pub(super) mod in_process;

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use ::client::{Claim, Claimed, Endpoint, IDLE_EXIT};
use agents::Agents;
use check_engine::default_jobs;
use config::folders;
use linters::servers::Servers;
use rustix::{
    fs::Mode,
    process::{Resource, Rlimit, Signal, getrlimit, setrlimit},
};
use tokio::{
    net::TcpListener,
    runtime::Runtime,
    signal::unix::{SignalKind, signal},
};
use workspaces::{Daemon, Settings};

use super::Session;
use crate::{
    CliError, Exit,
    cli::PluginArgs,
    client::Client,
    grpc::{self, Door, Token},
    memory::{FreeMemory, limit_arenas},
};

/// Run the daemon
///
/// Serves any number of workspaces and branches to editors, agents and the other commands, over gRPC on a
/// Unix socket that only this user can reach. Prints `serving at SOCKET` when it is ready. If a daemon is
/// already running, prints the same and exits with 0; fails if `--tcp` or `--plugin` asks for something that
/// daemon does not have. Ends on an interrupt, on `broker daemon stop`, or when idle; saved branches are kept.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Listen on this socket instead of the user's own; its folder must be the user's alone
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,

    /// Listen on this address as well, such as `127.0.0.1:0`; clients must show the token beside the socket
    #[arg(long, value_name = "ADDRESS")]
    tcp: Option<SocketAddr>,

    /// Let `--tcp` listen on an address that other machines can reach
    #[arg(long, requires = "tcp")]
    allow_remote: bool,

    /// End after so many seconds without a client; 0 never ends
    #[arg(long, value_name = "SECONDS", default_value_t = IDLE_EXIT.as_secs())]
    idle_exit: u64,

    /// How many files to check at once [default: the number of processors]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// Memory limit for cached answers, in MiB
    #[arg(long, value_name = "MIB", default_value_t = CACHE_MIB)]
    cache_memory: usize,

    #[command(flatten)]
    plugins: PluginArgs,
}

/// Memory limit for cached answers, in MiB.
const CACHE_MIB: usize = 512;

/// Permissions that new files do not have, whichever shell started the daemon: a commit writes for all workspaces, and
/// what the daemon keeps for itself is private by its own permissions.
const UMASK: u32 = 0o022;

/// Number of arenas of memory that a daemon has at least, so that its threads seldom wait for each other.
const LEAST_ARENAS: usize = 2;

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let endpoint = match &args.socket {
        Some(socket) => Endpoint { socket: std::path::absolute(socket)? },
        None => Endpoint::of_user(),
    };
    if let Some(address) = args.tcp
        && !address.ip().is_loopback()
        && !args.allow_remote
    {
        let error =
            CliError::usage(format!("other machines can reach {address}, and what is sent is not encrypted"));
        return Err(error.hint("use 127.0.0.1, or say --allow-remote if you mean it"));
    }
    match endpoint.claim()? {
        Claimed::Taken { pid } => is_taken(args, session, &endpoint, pid),
        Claimed::Ours(claim) => {
            let _that_of_the_shell = rustix::process::umask(Mode::from_raw_mode(UMASK));
            open_more_files();
            limit_arenas(default_jobs().max(LEAST_ARENAS));
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(2).build();
            let runtime =
                runtime.map_err(|error| CliError::files(format!("cannot start threads: {error}")))?;
            outlive_large_files(&runtime).map_err(|error| cannot_heed(&error))?;
            let daemon = make(args, session)?;
            let telemetry = collector::start(&runtime, &session.messages);
            collector::observe(telemetry.as_ref(), &daemon);
            let served = runtime.block_on(serve(args, session, &claim, &endpoint, &daemon));
            daemon.release();
            collector::finish(telemetry);
            // Work that still blocks a thread is given up: all acknowledged data is on the disk.
            runtime.shutdown_timeout(Duration::from_secs(1));
            served.map(|()| Exit::Clean)
        }
    }
}

/// A daemon that runs already will do, unless it is asked for what that one does not have.
fn is_taken(
    args: &Args,
    session: &mut Session,
    endpoint: &Endpoint,
    pid: Option<u32>,
) -> Result<Exit, CliError> {
    let process = pid.map_or_else(String::new, |it| format!(" (process {it})"));
    let mut said = ready(endpoint);
    if !args.plugins.plugin.is_empty() {
        let message = format!("a daemon is already running{process}, and plugins cannot be added to it");
        return Err(CliError::usage(message).hint(end_it(args, pid)));
    }
    if let Some(wanted) = args.tcp {
        let there = tcp_address(session, endpoint)?;
        let address = there.filter(|it| it.ip() == wanted.ip() && [0, it.port()].contains(&wanted.port()));
        let Some(address) = address else {
            let but = match there {
                Some(it) => format!("it listens on {it} and not on {wanted}"),
                None => "it does not listen for TCP".to_owned(),
            };
            let error = CliError::usage(format!("a daemon is running already{process}: {but}"));
            return Err(error.hint(end_it(args, pid)));
        };
        said += &ready_for_tcp(address, endpoint);
    }
    session.messages.line(&format!("a daemon is running already{process}"));
    session.print(&said)?;
    Ok(Exit::Clean)
}

/// Address at which the running daemon listens for TCP, if it does.
fn tcp_address(session: &Session, endpoint: &Endpoint) -> Result<Option<SocketAddr>, CliError> {
    let client = Client::at(endpoint, &session.process_context.cancel)?;
    let client = client.ok_or_else(|| {
        CliError::files("a daemon was running here and has ended just now").hint("repeat the command")
    })?;
    Ok(client.wait(client.daemon().status())?.tcp_address)
}

/// `broker daemon stop` knows the user's own daemon only.
fn end_it(args: &Args, pid: Option<u32>) -> String {
    match (&args.socket, pid) {
        (Some(_), Some(pid)) => format!("end it first: `kill {pid}`"),
        _ => "end it first: `broker daemon stop`; its branches are kept".to_owned(),
    }
}

fn ready(endpoint: &Endpoint) -> String {
    format!("serving at {}\n", endpoint.socket.display())
}

fn ready_for_tcp(address: SocketAddr, endpoint: &Endpoint) -> String {
    format!("serving at {address}, token in {}\n", endpoint.token_file().display())
}

fn make(args: &Args, session: &mut Session) -> Result<Arc<Daemon>, CliError> {
    let state_dir = folders::own_state_dir()?.ok_or_else(|| {
        CliError::files("there is no folder to keep branches in").hint("set BROKER_STATE_DIR")
    })?;
    let sizes = Sizes {
        workers: args.jobs.map_or_else(default_jobs, usize::from),
        memory: args.cache_memory << 20,
        idle_exit: (args.idle_exit > 0).then(|| Duration::from_secs(args.idle_exit)),
    };
    daemon(session, &args.plugins.plugin, state_dir, sizes)
}

/// Limits of a daemon, and the time that it stays.
struct Sizes {
    workers: usize,
    /// Bytes of cached answers.
    memory: usize,
    idle_exit: Option<Duration>,
}

/// A daemon with the program's plugins and these.
fn daemon(
    session: &mut Session,
    plugins: &[PathBuf],
    state_dir: PathBuf,
    sizes: Sizes,
) -> Result<Arc<Daemon>, CliError> {
    let settings = Settings {
        workers: sizes.workers,
        memory: sizes.memory,
        answers: session.process_context.cache_dir.as_ref().map(|it| it.join("answers")),
        state_dir,
        idle_exit: sizes.idle_exit,
        build: crate::BUILD,
        #[cfg(target_os = "linux")]
        launcher: super::run::launcher().with_spare(),
    };
    let plugins = session.loader().load(plugins, settings.instances())?;
    session.report_broken(&plugins);
    Daemon::start(plugins, Servers::of_user(), settings)
        .map_err(|error| CliError::files(format!("cannot start threads: {error}")))
}

async fn serve(
    args: &Args,
    session: &mut Session,
    claim: &Claim,
    endpoint: &Endpoint,
    daemon: &Arc<Daemon>,
) -> Result<(), CliError> {
    let cannot = |what: String| move |error| CliError::files(format!("cannot listen on {what}: {error}"));
    let listener = claim.listen().map_err(|error| {
        let is_too_long = error.kind() == std::io::ErrorKind::InvalidInput;
        let hint = "set BROKER_RUNTIME_DIR, or --socket, to a shorter path: a socket's path has some 100 bytes at most";
        let error = cannot(endpoint.socket.display().to_string())(error);
        if is_too_long { error.hint(hint) } else { error }
    })?;
    let mut doors = vec![Door::Unix(listener)];
    let mut said = ready(endpoint);
    if let Some(address) = args.tcp {
        let listener = TcpListener::bind(address).await.map_err(cannot(address.to_string()))?;
        let token = workspaces::random::handle().map_err(|error| CliError::files(error.to_string()))?;
        claim.write_token(&token).map_err(cannot(endpoint.token_file().display().to_string()))?;
        let address = listener.local_addr().map_err(cannot(address.to_string()))?;
        daemon.listens_on(address);
        said += &ready_for_tcp(address, endpoint);
        doors.push(Door::Tcp(listener, Token(Some(token.into()))));
    }
    tokio::spawn(give_back_memory(Arc::clone(daemon)));
    end_on_signals(daemon).map_err(|error| cannot_heed(&error))?;
    session.print(&said)?;
    let indexes = session.process_context.cache_dir.as_ref().map(|it| it.join("search"));
    let agents = Arc::new(Agents::new(Arc::clone(daemon), folders::own_state_dir()?, indexes));
    grpc::serve(daemon, &agents, doors)
        .await
        .map_err(|error| CliError::files(format!("the daemon failed: {error}")))
}

/// Gives back what checks have freed, each time they were over for a while.
async fn give_back_memory(daemon: Arc<Daemon>) {
    const WHILE: Duration = Duration::from_secs(1);
    let mut memory = FreeMemory::default();
    loop {
        daemon.quiet_for(WHILE).await;
        let give_back = move || {
            memory.give_back();
            memory
        };
        let Ok(after) = tokio::task::spawn_blocking(give_back).await else { return };
        memory = after;
    }
}

/// Raises the limit of open files, which many shells set low: a daemon has connections, watched folders and files of many
/// workspaces open. No further than it needs, as programs that it starts inherit it, and some of them go through all numbers.
fn open_more_files() {
    const ENOUGH: u64 = 1 << 16;
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.map_or(ENOUGH, |it| it.min(ENOUGH));
    if limit.current.is_some_and(|it| it < most) {
        // Without it, the daemon serves fewer at a time.
        let _raised = setrlimit(Resource::Nofile, Rlimit { current: Some(most), ..limit });
    }
}

/// Makes it an error, and not the daemon's end, that a file is to grow beyond the limit of the shell that started the daemon.
fn outlive_large_files(runtime: &Runtime) -> std::io::Result<()> {
    let _entered = runtime.enter();
    // The signal is handled from here on, though nothing waits for it.
    signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).map(drop)
}

fn cannot_heed(error: &std::io::Error) -> CliError {
    CliError::files(format!("cannot install signal handlers: {error}"))
}

/// An interrupt ends the daemon in order. A closed terminal does not end it.
fn end_on_signals(daemon: &Arc<Daemon>) -> std::io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let daemon = Arc::clone(daemon);
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => break,
                _ = terminate.recv() => break,
                _ = hangup.recv() => {}
            }
        }
        daemon.shut_down();
    });
    Ok(())
}
