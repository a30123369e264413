//! `broker man`

use std::path::PathBuf;

use clap::CommandFactory as _;

use super::{Cli, Session};
use crate::{CliError, Exit};

/// Write the manual pages, one for each command, into a folder
///
/// What packages of Broker are made with.
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(super) struct Args {
    /// An existing folder
    folder: PathBuf,
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let folder = session.cwd()?.join(&args.folder);
    clap_mangen::generate_to(Cli::command(), &folder).map_err(|error| {
        CliError::files(format!("cannot write manual pages to `{}`: {error}", folder.display()))
    })?;
    Ok(Exit::Clean)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the pages lie in a folder of the test")]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn every_command_has_a_page() {
        let folder = tempfile::tempdir().unwrap();
        clap_mangen::generate_to(Cli::command(), folder.path()).unwrap();
        let page = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(page("broker.1").contains("broker\\-check(1)"));
        assert!(page("broker-check.1").contains("\\-\\-output\\-format"));
        let visible = Cli::command().get_subcommands().filter(|it| !it.is_hide_set()).count();
        let pages = fs::read_dir(folder.path()).unwrap().count();
        assert!(
            pages > visible,
            "{pages} pages of {visible} commands, the subcommands of which have pages, too"
        );
        assert!(!folder.path().join("broker-man.1").exists());
    }
}
