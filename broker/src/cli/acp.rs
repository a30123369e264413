//! `broker agent acp`

use std::{
    env,
    ffi::OsString,
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Child, Stdio},
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use ::client::{EnvironmentOf, Options as ClientOptions, Remote};
use lint::printable;
use lsp_client::Exit as AgentExit;
use workspaces::Workspaces;

use super::Session;
use crate::{
    CliError, Exit,
    acp::{self, End, McpCommand},
    client::{Client, environment_for_daemon},
};

/// Run an agent for an editor, over the Agent Client Protocol, with each session on a branch
///
/// To be named in the editor's settings in place of the agent, such as `broker agent acp -- gemini --acp`. What the agent
/// reads and writes through the editor comes from the session's branch and goes there: nothing is written to the disk before
/// `broker branch commit`. The editor shows what linters find in each edit, and the agent has the tools of `broker agent mcp` on
/// the same branch. Terminals of the editor, and files that the agent opens itself, are those of the disk.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The branch of all sessions, made by the first if it is not there, instead of a new one for each session
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,

    /// The agent's command
    #[arg(last = true, required = true, value_name = "AGENT")]
    agent: Vec<OsString>,
}

/// The longest that an agent takes to end.
const END_LIMIT: Duration = Duration::from_secs(10);

/// Variables that say where the daemon is. Agents need not pass them to MCP servers by themselves.
const VARIABLES: [&str; 9] = [
    "BROKER_CACHE_DIR",
    "BROKER_DATA_DIR",
    "BROKER_RUNTIME_DIR",
    "BROKER_STATE_DIR",
    "HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
];

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, CliError> {
    let client = Client::connect(&session.process_context.cancel, Some(&session.messages))?;
    let mut child = start(&args.agent)?;
    let pipes = child.stdout.take().zip(child.stdin.take());
    let agent = pipes.ok_or_else(|| CliError::files("a pipe to the agent is missing"))?;
    session
        .messages
        .line("terminals run on the disk, not on the branch; the tool `run_terminal_cmd` runs on the branch");
    let mcp = mcp_command()?;
    let context = &mut session.process_context;
    let input = std::mem::replace(&mut context.stdin, Box::new(std::io::empty()));
    let output = std::mem::replace(&mut context.stdout, Box::new(std::io::sink()));
    let (home, stop) = (context.home.clone(), context.cancel.cancelled());
    let served = async {
        let options = options(args.branch, home, mcp);
        Ok(acp::serve(options, (input, output), agent, stop).await)
    };
    let (end, edits) = client.waiter.wait_anyway(served)?;
    edits.iter().for_each(|it| session.messages.line(&printable(it)));
    let exit = wait(child);
    match end {
        End::Client => Ok(Exit::Clean),
        End::Agent if exit == AgentExit::Code(0) => Ok(Exit::Clean),
        End::Agent => Err(CliError::files(format!("the agent {exit}"))),
        End::Broken(why) => Err(CliError::files(why)),
    }
}

/// To be called on a runtime.
fn options(branch: Option<String>, home: Option<PathBuf>, mcp: McpCommand) -> acp::Options {
    let environment = Some(Arc::new(environment_for_daemon) as EnvironmentOf);
    let remote =
        Arc::new(Remote::lazy(ClientOptions { reopen: true, environment, ..ClientOptions::of_user() }));
    let daemon = Arc::clone(&remote) as Arc<dyn Workspaces>;
    acp::Options { daemon, tools: remote, branch, home, environment: environment_for_daemon, mcp }
}

fn mcp_command() -> Result<McpCommand, CliError> {
    let program = env::current_exe();
    let program = program
        .map_err(|error| CliError::files(format!("this program cannot find its own file: {error}")))?;
    let variable = |name: &str| Some((name.to_owned(), env::var(name).ok()?));
    Ok(McpCommand { program, variables: VARIABLES.into_iter().filter_map(variable).collect() })
}

/// Starts the agent below a supervisor, which ends all that the agent has started once this process closes its input or is gone.
fn start(agent: &[OsString]) -> Result<Child, CliError> {
    let cannot = |error| CliError::files(format!("cannot start the agent: {error}"));
    let supervisor = linters::servers::supervisor().map_err(cannot)?;
    let mut command = supervisor.command(0, &[]);
    command.args(agent).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
    command.spawn().map_err(cannot)
}

/// Exit of the agent, whose input is closed.
fn wait(mut agent: Child) -> AgentExit {
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || sender.send(agent.wait()));
    match ended.recv_timeout(END_LIMIT) {
        Ok(Ok(status)) => AgentExit::of_supervisor(status),
        _ => AgentExit::Unknown,
    }
}
