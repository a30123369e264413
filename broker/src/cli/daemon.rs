//! `broker daemon`: the process that holds branches and answers for all clients.

use clap::Subcommand;

use super::{Session, clean, serve, status, stop};
use crate::{CliError, Exit};

/// Run the daemon, say how it is, clean its folders, or end it
///
/// Commands that need the daemon start it by themselves.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Serve(serve::Args),
    Status(status::Args),
    Stop(stop::Args),
    Clean(clean::Args),
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    match &args.action {
        Action::Serve(args) => serve::run(args, session),
        Action::Status(args) => status::run(args, session),
        Action::Stop(args) => stop::run(args, session),
        Action::Clean(args) => clean::run(args, session),
    }
}
