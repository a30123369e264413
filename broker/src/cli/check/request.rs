//! Requests to a daemon, from the command line.

use std::{collections::BTreeSet, path::Path};

use config::folders;
use overlay::{WorkspacePath, io_reason};
use workspaces::{CheckOptions, CheckRequest, FileText, TargetId};

use super::{
    Args,
    branch::{Branch, changed},
    run::Question,
    show::Those,
    view::{Input, stdin_filename},
};
use crate::{CliError, cli::Session, client::Opened};

/// The folder in which a configuration from outside of the workspace is shown.
const GIVEN: &str = ".broker-given";

/// Request about a view, with facts about it that go into the report.
pub(super) fn of_view(
    args: &Args,
    target: TargetId,
    input: &mut Input,
    cwd: &Path,
) -> Result<Question, CliError> {
    let options =
        CheckOptions { config: input.config.as_ref().map(ToString::to_string), ..options(args, cwd)? };
    Ok(Question {
        request: CheckRequest { options, ..request(args, target, input.asked()) },
        stdin: input.stdin_path().cloned(),
        those: Those {
            are_of_changes: input.is_of_changes(),
            is_unchanged: input.is_unchanged(),
            has_excludes: !args.exclude.is_empty(),
        },
        is_nothing: false,
        missing: std::mem::take(&mut input.missing),
        uncompared: std::mem::take(&mut input.uncompared),
        unnamed: 0,
    })
}

/// Request about a branch.
pub(super) fn of_branch(args: &Args, branch: &Branch, session: &mut Session) -> Result<Question, CliError> {
    let open = &branch.open;
    let stdin = stdin_filename(args)?.map(|it| open.path(&it)).transpose()?;
    let options = options_of_branch(args, open, session, stdin.as_ref())?;
    let named = match &stdin {
        Some(path) => vec![path.clone()],
        None => args.paths.iter().map(|it| open.path(it)).collect::<Result<Vec<_>, _>>()?,
    };
    let on_disk = args.changed.on_disk(&open.workspace)?;
    let changed = on_disk.as_ref().map(|it| it.not_utf8);
    let only =
        on_disk.map(|it| changed::paths(open, &branch.id, it, args.changed.dependents())).transpose()?;
    let is_nothing = only.as_ref().is_some_and(BTreeSet::is_empty);
    // The root is what is checked if there are no paths.
    let paths = if matches!(&*named, [one] if one.is_root()) { &[] } else { &*named };
    let request = CheckRequest {
        only_paths: texts(only.iter().flatten()),
        class: args.branch.class(session.process_context.watched),
        options,
        ..request(args, TargetId::Branch(branch.id.clone()), paths)
    };
    let is_unchanged = is_nothing && changed == Some(0);
    Ok(Question {
        request,
        stdin,
        those: Those {
            are_of_changes: changed.is_some(),
            is_unchanged,
            has_excludes: !args.exclude.is_empty(),
        },
        is_nothing,
        missing: Vec::new(),
        uncompared: Vec::new(),
        unnamed: changed.unwrap_or(0),
    })
}

fn request(args: &Args, target: TargetId, paths: &[WorkspacePath]) -> CheckRequest {
    CheckRequest {
        paths: texts(paths),
        dependents: args.changed.dependents(),
        new_only: args.changed.new_only,
        select: args.requested().select.unwrap_or_default(),
        ignore: args.ignore.clone(),
        ..CheckRequest::of(target)
    }
}

fn texts<'p>(paths: impl IntoIterator<Item = &'p WorkspacePath>) -> Vec<String> {
    paths.into_iter().map(|it| it.as_str().to_owned()).collect()
}

/// Options for any daemon.
fn options(args: &Args, cwd: &Path) -> Result<CheckOptions, CliError> {
    Ok(CheckOptions {
        isolated: args.isolated,
        exclude: args.exclude.clone(),
        force_exclude: args.force_exclude,
        no_ignore_files: args.no_respect_gitignore,
        baseline: args.baseline.given(cwd)?,
        timeout: Some(args.timeout),
        timing: args.timing,
        ..CheckOptions::default()
    })
}

/// Options for a daemon that other commands use as well; `stdin` is the file that the text on standard input is.
fn options_of_branch(
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
        config,
        plugins: args.plugins.plugin.iter().map(|it| cwd.join(it)).collect(),
        jobs: args.jobs,
        no_cache: args.no_cache,
        ..options(args, &cwd)?
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
