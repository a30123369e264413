//! `broker rule`: what linters can find.

use clap::Subcommand;

use super::{Session, explain, rules};
use crate::{CliError, Exit};

/// List rules, or explain one
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    List(rules::Args),
    Explain(explain::Args),
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    match &args.action {
        Action::List(args) => rules::run(args, session),
        Action::Explain(args) => explain::run(args, session),
    }
}
