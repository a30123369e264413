//! Options of a check for the daemon, from the command line.

use std::path::Path;

use config::folders;
use overlay::{WorkspacePath, io_reason};
use workspaces::{CheckOptions, FileText};

use crate::{
    CliError,
    cli::{Session, check::Args},
    client::Opened,
};

/// The folder in which a configuration from outside of the workspace is shown.
const GIVEN: &str = ".broker-given";

/// The options; `stdin` is the file that the text on standard input is.
pub(super) fn options(
    args: &Args,
    open: &Opened,
    session: &mut Session,
    stdin: Option<&WorkspacePath>,
) -> Result<CheckOptions, CliError> {
    let cwd = session.cwd()?;
    let mut texts = Vec::new();
    if let Some(path) = stdin {
        texts.push(FileText { path: path.to_string(), content: session.read_stdin()?.into() });
    }
    let config = args.config.as_ref().map(|it| config(&cwd.join(it), open, &mut texts)).transpose()?;
    Ok(CheckOptions {
        texts,
        isolated: args.isolated,
        config,
        plugins: args.plugins.plugin.iter().map(|it| cwd.join(it)).collect(),
        exclude: args.exclude.clone(),
        force_exclude: args.force_exclude,
        no_ignore_files: args.no_respect_gitignore,
        baseline: args.baseline.given(&cwd)?,
        jobs: args.jobs,
        timeout: Some(args.timeout),
        no_cache: args.no_cache,
        timing: args.timing,
    })
}

/// The path of the configuration file; one outside of the workspace is shown in it.
fn config(file: &Path, open: &Opened, texts: &mut Vec<FileText>) -> Result<String, CliError> {
    let unusable = |error| {
        CliError::usage(format!("cannot use the configuration {}: {}", file.display(), io_reason(&error)))
    };
    if let Ok(path) = open.path(file) {
        return Ok(path.to_string());
    }
    let name = file.file_name().and_then(|it| it.to_str());
    let name = name.ok_or_else(|| CliError::usage("the configuration's name is not UTF-8"))?;
    let path = format!("{GIVEN}/{name}");
    texts.push(FileText { path: path.clone(), content: folders::read(file).map_err(unusable)?.into() });
    Ok(path)
}
