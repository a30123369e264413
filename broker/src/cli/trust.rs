//! `broker trust`

use std::path::{Path, PathBuf};

use config::{folders, root::WorkspaceRoot};
use linters::trust::Trusted;

use super::{AnswerFormat, Session, json, server};
use crate::{CliError, Exit, client::Client};

/// Let language servers and checkers run code of a workspace, and its `[run]` allow commands more
///
/// Plugins are sandboxed, and check any workspace. So are language servers and checkers that run nothing of the workspace, such as
/// ty, clangd and ShellCheck: where the system allows it they run confined, without home folder and network, and need no trust.
/// Trust is for what leaves that: programs of the workspace itself, in `node_modules` or `.venv`; tools that run its code, such
/// as plugins that a configuration names or build scripts; what its `broker.toml` defines of servers and checkers, allows
/// commands of `broker run` to reach without a question (`[run]`), or grants a plugin of the environment. With `--confined`, tools
/// that run its code are asked as well, in the same sandbox. Both apply to all folders below, and are remembered
/// outside of the workspace.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  broker trust                 this workspace
  broker trust --confined      let tools run its code, but only confined
  broker trust ~/work          all workspaces in a folder
  broker trust --revoke        no longer
  broker trust --list          what is trusted")]
pub(super) struct Args {
    /// The folder [default: the root of the workspace that holds the current folder]
    path: Option<PathBuf>,

    /// Let tools that run code of the folder do so, but only confined; with `--list`, show the folders where they may
    #[arg(long, conflicts_with = "revoke")]
    confined: bool,

    /// Remove the folder from both lists, and end the servers that run there
    #[arg(long, conflicts_with = "list")]
    revoke: bool,

    /// Show the folders that are trusted
    #[arg(long, conflicts_with = "path")]
    list: bool,

    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, value_name = "FORMAT", requires = "list")]
    output_format: AnswerFormat,
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    folders::own_state_dir()?;
    let nowhere = || CliError::files("there is no folder to remember it in").hint("set BROKER_STATE_DIR");
    let trusted = Trusted::of_user().ok_or_else(nowhere)?;
    let confined = Trusted::to_confine().ok_or_else(nowhere)?;
    let unusable = |error| CliError::files(format!("{}: {error}", trusted.file().display()));
    if args.list {
        let all = if args.confined { &confined } else { &trusted }.list().map_err(unusable)?;
        let text = match args.output_format {
            AnswerFormat::Json => json(&all),
            AnswerFormat::Text => all.iter().map(|it| format!("{}\n", it.display())).collect(),
        };
        session.print(&text)?;
        return Ok(Exit::Clean);
    }
    let folder = workspace_folder(args.path.as_deref(), session)?;
    let said = if args.revoke {
        let was = [&trusted, &confined].map(|it| it.remove(&folder).map_err(unusable));
        let [was_trusted, was_confined] = was;
        let was = was_trusted? | was_confined?;
        if let Some(client) = Client::running(&session.process_context.cancel)? {
            server::end(&client, &folder)?;
        }
        if was { "is not trusted any more" } else { "was not trusted" }
    } else if args.confined {
        let is_new = confined.add(&folder).map_err(unusable)?;
        if is_new {
            "may have its code run by tools that are confined"
        } else {
            "is in the list of folders whose tools run confined already"
        }
    } else {
        let is_new = trusted.add(&folder).map_err(unusable)?;
        let now =
            "is trusted now: language servers and checkers may run its code, and its broker.toml counts";
        if is_new { now } else { "is trusted already" }
    };
    session.messages.line(&format!("{} {said}", folder.display()));
    if args.revoke && trusted.holds(&folder) {
        session.messages.warning("it lies in another folder that is trusted: see `broker trust --list`");
    }
    if args.confined && trusted.holds(&folder) {
        session
            .messages
            .warning("it is trusted, so that nothing is confined there: see `broker trust --revoke`");
    }
    Ok(Exit::Clean)
}

/// The folder that is named, or the workspace around the current one.
pub(super) fn workspace_folder(path: Option<&Path>, session: &Session) -> Result<PathBuf, CliError> {
    let cwd = session.cwd()?;
    match path {
        Some(path) => canonical(&cwd.join(path)),
        None => {
            let found = WorkspaceRoot::of_paths(
                &cwd,
                &[PathBuf::from(".")],
                session.process_context.home.as_deref(),
            )?;
            Ok(found.workspace.root().to_owned())
        }
    }
}

fn canonical(path: &Path) -> Result<PathBuf, CliError> {
    let unusable = |error: std::io::Error| CliError::files(format!("{}: {error}", path.display()));
    let found = std::fs::canonicalize(path).map_err(unusable)?;
    if found.is_dir() { Ok(found) } else { Err(unusable(std::io::ErrorKind::NotADirectory.into())) }
}
