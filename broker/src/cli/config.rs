//! `broker config`

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use config::{Configs, root::WorkspaceRoot};
use linters::{WorkspaceContext, plugins::PluginProvider};
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
    /// Print the JSON schema of `broker.toml`, for editors, with the options of the plugins that there are
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
        Command::Schema => super::json(&schema(session)?),
    };
    session.print(&text)?;
    Ok(Exit::Clean)
}

/// With the options of the plugins that this workspace has.
fn schema(session: &Session) -> Result<serde_json::Value, CliError> {
    let (root, view) = session.here();
    let plugins = PluginProvider::new(session.loader().load(&[], 1)?);
    let context = match root.is_empty() {
        true => WorkspaceContext::nowhere(),
        false => WorkspaceContext::of_shell(Path::new(&root), Arc::clone(&view)),
    };
    // A `broker.toml` with a mistake needs the schema most.
    let usable = match plugins.in_workspace(&context, &view) {
        Ok(plugins) => plugins,
        Err(_) => Arc::clone(plugins.plugins()),
    };
    let options =
        usable.usable.iter().map(|it| (it.manifest().name.clone(), it.manifest().options.to_json()));
    let mut schema = config::schema();
    schema["properties"]["linters"]["properties"] = options.collect::<serde_json::Map<_, _>>().into();
    Ok(schema)
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
