//! `broker agent`: all that agents connect to.

use clap::Subcommand;

use super::{Session, acp, hook, log, mcp, tool};
use crate::{CliError, Exit};

/// Serve agents: over MCP, behind an editor, through their hooks, or call by call
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Mcp(mcp::Args),
    Acp(acp::Args),
    Tool(tool::Args),
    Hook(hook::Args),
    Log(log::Args),
}

pub(super) fn run(args: Args, session: &mut Session) -> Result<Exit, CliError> {
    match args.action {
        Action::Mcp(args) => mcp::run(args, session),
        Action::Acp(args) => acp::run(args, session),
        Action::Tool(args) => tool::run(args, session),
        Action::Hook(args) => hook::run(&args, session),
        Action::Log(args) => log::run(&args, session),
    }
}
