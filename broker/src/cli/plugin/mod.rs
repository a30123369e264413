//! `broker plugin`: what an author of plugins needs, and who adds one to a workspace.

mod add;
mod build;
mod dev;
mod folder;
mod inspect;
mod new;
pub(super) mod project;
mod signers;
mod template;
mod test;
mod tree;
mod update;

use clap::Subcommand;

use super::{Session, plugins};
use crate::{CliError, Exit};

/// Make, build and try plugins; look at them; add them to a workspace
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
    Dev(dev::Args),
    Tree(tree::Args),
    Inspect(inspect::Args),
    Add(add::Args),
    Remove(update::RemoveArgs),
    Update(update::UpdateArgs),
    Install(update::InstallArgs),
    List(plugins::Args),
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    match &args.action {
        Action::New(args) => new::run(args, session),
        Action::Build(args) => build::run(args, session),
        Action::Test(args) => test::run(args, session),
        Action::Dev(args) => dev::run(args, session),
        Action::Tree(args) => tree::run(args, session),
        Action::Inspect(args) => inspect::run(args, session),
        Action::Add(args) => add::run(args, session),
        Action::Remove(args) => update::remove(args, session),
        Action::Update(args) => update::update(args, session),
        Action::Install(_) => update::install(session),
        Action::List(args) => plugins::run(args, session),
    }
}
