//! Input of a check: the workspace, the view of it, and the files.

mod paths;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use checker::{
    Dependents, Excluded, Files, Incomplete, Wanted, collect,
    pipeline::{Comparison, Scope, is_there},
    with_file_settings,
};
use config::{folders, root::WorkspaceRoot};
use lint::printable;
use overlay::{Branch, Disk, View, WalkOptions, WorkspacePath, io_reason};

use super::{
    Args,
    changed::{self, Chosen},
    write,
};
use crate::{
    CliError,
    cli::Session,
    console::Messages,
    git::{self, Changed},
};

pub(super) struct Input {
    pub(super) workspace: WorkspaceRoot,
    pub(super) view: Arc<dyn View>,
    /// The configuration file that was named, as the view has it.
    pub(super) config: Option<WorkspacePath>,
    /// Paths that were given and are not there.
    pub(super) missing: Vec<Incomplete>,
    /// Files that are not compared with what was there before.
    pub(super) uncompared: Vec<Excluded>,
    pub(super) target: Target,
}

/// State that the files are compared with.
pub(super) struct Before {
    pub(super) view: Arc<dyn View>,
    /// Every path where it differs.
    pub(super) differing: Vec<WorkspacePath>,
}

pub(super) enum Target {
    /// The text on standard input is this file.
    Stdin(WorkspacePath),
    Paths {
        paths: Vec<WorkspacePath>,
        has_folders: bool,
        /// `None`: whether they changed or not.
        changed: Option<Changed>,
        before: Option<Before>,
    },
}

impl Input {
    /// `base` is the workspace's view, if there is one already.
    pub(super) fn of(
        args: &Args,
        session: &mut Session,
        base: Option<Arc<dyn View>>,
    ) -> Result<Self, CliError> {
        let cwd = session.cwd()?;
        let home = session.process_context.home.clone();
        let mut input = match stdin_filename(args)? {
            Some(path) => Self::stdin(session, &cwd, &path, home.as_deref())?,
            None => Self::paths(args, &cwd, home.as_deref(), base, &session.messages)?,
        };
        if let Some(config) = &args.config {
            input.configure(&cwd.join(config))?;
        }
        Ok(input)
    }

    fn stdin(session: &mut Session, cwd: &Path, path: &Path, home: Option<&Path>) -> Result<Self, CliError> {
        let (workspace, path) = WorkspaceRoot::of_future_path(cwd, path, home)?;
        write::recover(workspace.root(), &session.messages);
        let view = with_file(disk(&workspace)?, &path, session.read_stdin()?)?;
        let target = Target::Stdin(path);
        Ok(Self { workspace, view, config: None, missing: Vec::new(), uncompared: Vec::new(), target })
    }

    fn paths(
        args: &Args,
        cwd: &Path,
        home: Option<&Path>,
        base: Option<Arc<dyn View>>,
        messages: &Messages,
    ) -> Result<Self, CliError> {
        let found = paths::found(args, cwd, home)?;
        write::recover(found.workspace.root(), messages);
        let view = base.map_or_else(|| disk(&found.workspace), Ok)?;
        let chosen = args.changed.of(&found.workspace, view)?;
        if let Some(warning) = left_out(&chosen.submodules).filter(|_| !args.quiet) {
            messages.warning(&printable(&warning));
        }
        let (mut paths, mut missing) = paths::located(args, &found, &chosen);
        let (elsewhere, absent) = paths::elsewhere(cwd, home, &found, &chosen);
        paths.extend(elsewhere);
        missing.extend(absent);
        let has_folders = found.located.iter().any(|it| it.is_dir);
        let Chosen { view, changed, before, .. } = chosen;
        let (before, uncompared) = compared(before, changed.as_ref()).unzip();
        let target = Target::Paths { paths, has_folders, changed, before };
        let uncompared = uncompared.unwrap_or_default();
        Ok(Self { workspace: found.workspace, view, config: None, missing, uncompared, target })
    }

    /// Makes the configuration file visible: one outside of the workspace, or of the index, is laid over it.
    fn configure(&mut self, file: &Path) -> Result<(), CliError> {
        let unusable = |error| {
            CliError::usage(format!("cannot use the configuration {}: {}", file.display(), io_reason(&error)))
        };
        let inside = self.workspace.find(file).map_err(unusable)?;
        let path = match inside {
            Some(path) if self.view.metadata(&path).is_ok() => {
                self.config = Some(path);
                return Ok(());
            }
            Some(path) => path,
            None => {
                let name = file.file_name().and_then(|it| it.to_str());
                let name = name.ok_or_else(|| CliError::usage("the configuration's name is not UTF-8"))?;
                WorkspacePath::root().child(".broker-given").child(name)
            }
        };
        let text = folders::read(file).map_err(unusable)?;
        self.view = with_file(Arc::clone(&self.view), &path, text)?;
        self.config = Some(path);
        Ok(())
    }

    pub(super) fn files(&self, args: &Args) -> Files {
        match &self.target {
            Target::Stdin(path) => Files::of_named([path.clone()]),
            Target::Paths { paths, has_folders, changed, before } => {
                // Files that only the other view of a comparison has are gone, which is no error.
                let is_gone = |it: &&WorkspacePath| before.is_some() && !is_there(&*self.view, it);
                let there: Vec<_> = paths.iter().filter(|it| !is_gone(it)).cloned().collect();
                let options = walk_options(args, *has_folders);
                let options = match args.isolated {
                    true => options,
                    false => with_file_settings(&options, &*self.view),
                };
                let files = collect(&*self.view, &there, &options);
                match changed {
                    Some(changed) => changed::only(files, changed),
                    None => files,
                }
            }
        }
    }

    /// Returns the comparison to make, if one was asked for.
    pub(super) fn comparison(&self, args: &Args) -> Option<Comparison> {
        let Target::Paths { paths, has_folders, changed, before: Some(before) } = &self.target else {
            return None;
        };
        let only = changed.as_ref().map(Changed::paths_and_gone).unwrap_or_default();
        let walk = walk_options(args, *has_folders);
        let scope = Scope { paths: paths.clone(), only, walk, configured: !args.isolated };
        Some(Comparison::of_views(Arc::clone(&before.view), &*self.view, before.differing.clone(), scope))
    }

    /// Whose files are asked about besides these, where they are as the view has them.
    pub(super) fn dependents(&self, args: &Args, files: &Files) -> Option<Dependents> {
        let (within, gone) = match &self.target {
            Target::Paths { paths, changed: Some(changed), .. } => (paths.clone(), changed.gone.iter()),
            _ => (Vec::new(), Default::default()),
        };
        let gone = gone.filter(|it| within.iter().any(|above| it.starts_with(above))).cloned().collect();
        let wanted = Wanted::Files(files.clone());
        args.changed.dependents().then(|| Dependents::new(Arc::clone(&self.view), wanted, gone, within))
    }

    /// The file that the text on standard input is, if that is what to check.
    pub(super) fn stdin_path(&self) -> Option<&WorkspacePath> {
        match &self.target {
            Target::Stdin(path) => Some(path),
            Target::Paths { .. } => None,
        }
    }

    /// Whether every file of the workspace is checked.
    pub(super) fn is_whole_workspace(&self) -> bool {
        matches!(&self.target, Target::Paths { paths, changed: None, .. } if paths.iter().any(WorkspacePath::is_root))
    }

    /// Whether only changed files are checked, and there are none.
    pub(super) fn is_unchanged(&self) -> bool {
        matches!(&self.target, Target::Paths { changed: Some(it), .. } if it.paths.is_empty() && it.not_utf8 == 0)
    }

    /// Whether only changed files are checked.
    pub(super) fn is_of_changes(&self) -> bool {
        matches!(&self.target, Target::Paths { changed: Some(_), .. })
    }
}

/// Splits the state before the change into the view to compare with, and the files that are not compared.
fn compared(before: Option<git::Before>, changed: Option<&Changed>) -> Option<(Before, Vec<Excluded>)> {
    let git::Before { view, unknown } = before?;
    let differing = changed?.paths_and_gone().into_iter().collect();
    Some((Before { view, differing }, unknown.into_iter().map(uncompared).collect()))
}

fn left_out(submodules: &[String]) -> Option<String> {
    let names: Vec<_> = submodules.iter().map(|it| format!("`{it}`")).collect();
    let warning = "changes in submodules are not looked at; check them in their own folders";
    (!names.is_empty()).then(|| format!("{warning}: {}", names.join(", ")))
}

fn uncompared(path: WorkspacePath) -> Excluded {
    let reason = "not compared: its old text needs a git filter, and Broker runs none";
    Excluded { path, linter: lint::suppress::LINTER.into(), in_part: false, reason: reason.into() }
}

/// Returns the options to walk the files. If every path is a file, nothing is excluded.
fn walk_options(args: &Args, has_folders: bool) -> WalkOptions {
    let respect_ignore_files = !args.no_respect_gitignore;
    let global_excludes = if respect_ignore_files && has_folders { folders::global_excludes() } else { None };
    WalkOptions {
        respect_ignore_files,
        global_excludes,
        excludes: args.exclude.clone(),
        force_excludes: args.force_exclude,
        ..WalkOptions::default()
    }
}

/// The name of the text on standard input, if that is what to check.
pub(super) fn stdin_filename(args: &Args) -> Result<Option<PathBuf>, CliError> {
    let is = |it: &str| args.paths.len() == 1 && args.paths[0].as_os_str() == it;
    match &args.stdin_filename {
        Some(name) if is("-") || is(".") => Ok(Some(name.clone())),
        Some(_) => {
            Err(CliError::usage("--stdin-filename leaves no room for paths").hint("give `-` as the path"))
        }
        None if args.paths.iter().any(|it| it.as_os_str() == "-") => {
            let error = CliError::usage("the text on standard input has no name");
            Err(error.hint("say what file it is: `--stdin-filename PATH -`"))
        }
        None => Ok(None),
    }
}

pub(super) fn disk(workspace: &WorkspaceRoot) -> Result<Arc<dyn View>, CliError> {
    match Disk::new(workspace.root()) {
        Ok(disk) => Ok(Arc::new(disk)),
        Err(error) => Err(CliError::files(format!("cannot open {}: {error}", workspace.root().display()))),
    }
}

/// The view with `text` at `path`.
pub(super) fn with_file(
    view: Arc<dyn View>,
    path: &WorkspacePath,
    text: Vec<u8>,
) -> Result<Arc<dyn View>, CliError> {
    let mut branch = Branch::new(view);
    branch.show(path, text.into()).map_err(|error| CliError::files(error.to_string()))?;
    Ok(Arc::new(branch.snapshot()))
}
