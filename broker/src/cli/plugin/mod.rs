//! `broker plugin`: what an author of plugins needs.

mod build;
mod folder;
mod inspect;
mod new;
mod template;
mod test;

use clap::Subcommand;

use super::{Session, plugins};
use crate::{CliError, Exit};

/// Make, build, try and look at plugins
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    New(new::Args),
    Build(build::Args),
    Test(test::Args),
    Inspect(inspect::Args),
    List(plugins::Args),
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    match &args.action {
        Action::New(args) => new::run(args, session),
        Action::Build(args) => build::run(args, session),
        Action::Test(args) => test::run(args, session),
        Action::Inspect(args) => inspect::run(args, session),
        Action::List(args) => plugins::run(args, session),
    }
}
