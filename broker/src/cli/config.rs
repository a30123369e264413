//! `broker config`

use std::path::PathBuf;

use config::{Configs, root::WorkspaceRoot};
use overlay::{Disk, WorkspacePath};

use super::{AnswerFormat, Session};
use crate::{CliError, Exit};

/// Show what `broker.toml` says
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Show(ShowArgs),
    /// Print the JSON schema of `broker.toml`, for editors
    Schema,
}

/// Show every setting that holds for a file, and the file that it comes from
#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// The file, which need not exist [default: any file in the workspace's root]
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,

    #[arg(long, value_enum, default_value_t = AnswerFormat::Text, value_name = "FORMAT")]
    output_format: AnswerFormat,
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let text = match &args.command {
        Command::Show(args) => show(args, session)?,
        Command::Schema => super::json(&config::schema()),
    };
    session.print(&text)?;
    Ok(Exit::Clean)
}

fn show(args: &ShowArgs, session: &Session) -> Result<String, CliError> {
    let (workspace, path) = place(args, session)?;
    let root = workspace.root();
    let disk = Disk::new(root)
        .map_err(|error| CliError::files(format!("cannot open {}: {error}", root.display())))?;
    let shown = Configs::new(&disk).show(&path)?;
    Ok(match args.output_format {
        AnswerFormat::Text => shown.to_string(),
        AnswerFormat::Json => super::json(&shown.to_json()),
    })
}

fn place(args: &ShowArgs, session: &Session) -> Result<(WorkspaceRoot, WorkspacePath), CliError> {
    let cwd = session.cwd()?;
    let home = session.process_context.home.as_deref();
    match &args.file {
        Some(file) => Ok(WorkspaceRoot::of_future_path(&cwd, file, home)?),
        None => {
            let found = WorkspaceRoot::of_paths(&cwd, &[PathBuf::from(".")], home)?;
            // The name stands for any: what is for all files holds for it.
            Ok((found.workspace, WorkspacePath::root().child("*")))
        }
    }
}
