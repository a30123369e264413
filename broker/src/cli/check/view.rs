//! Input of a check on this machine: the workspace, the view of it, and the files.

mod paths;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use check_engine::{Excluded, Incomplete};
use config::{folders, root::WorkspaceRoot};
use lint::printable;
use overlay::{Branch, Disk, View, WorkspacePath, io_reason};
use workspaces::{LocalView, ViewChanges, ViewFiles};

use super::{Args, changed::Chosen, write};
use crate::{
    CliError,
    cli::Session,
    console::Messages,
    git::{Before, Changed},
    progress::Progress,
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
    target: Target,
}

enum Target {
    /// The text on standard input is this file.
    Stdin(WorkspacePath),
    Paths {
        paths: Vec<WorkspacePath>,
        /// `None`: whether they changed or not.
        changed: Option<Changed>,
        /// State that the files are compared with.
        before: Option<Arc<dyn View>>,
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
        let Chosen { view, changed, before, .. } = chosen;
        let (before, unknown) = before.map(|Before { view, unknown }| (view, unknown)).unzip();
        let target = Target::Paths { paths, changed, before };
        let uncompared = unknown.into_iter().flatten().map(uncompared).collect();
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

    /// The view for the daemon of this process.
    pub(super) fn local(
        &self,
        finds_unknown_rules: bool,
        session: &Session,
        progress: &Arc<Progress>,
    ) -> LocalView {
        let progress = Arc::clone(progress);
        LocalView {
            root: self.workspace.root().to_owned(),
            view: Arc::clone(&self.view),
            files: self.files(),
            finds_unknown_rules,
            cancel: session.process_context.cancel.clone(),
            progress: Arc::new(move |done, total| progress.update(done as u64, total as u64)),
        }
    }

    fn files(&self) -> ViewFiles {
        let Target::Paths { paths, changed, before } = &self.target else {
            return self.stdin_path().map_or(ViewFiles::Requested, |it| ViewFiles::Named(it.clone()));
        };
        match changed {
            // A request without paths is about everything.
            None if paths.is_empty() => ViewFiles::Changed(ViewChanges::default()),
            None => ViewFiles::Requested,
            Some(Changed { paths, gone, not_utf8 }) => ViewFiles::Changed(ViewChanges {
                paths: paths.clone(),
                gone: gone.clone(),
                not_utf8: *not_utf8,
                before: before.clone(),
            }),
        }
    }

    /// The paths that are asked about.
    pub(super) fn asked(&self) -> &[WorkspacePath] {
        match &self.target {
            Target::Stdin(path) => std::slice::from_ref(path),
            Target::Paths { paths, .. } => paths,
        }
    }

    /// The file that the text on standard input is, if that is what to check.
    pub(super) fn stdin_path(&self) -> Option<&WorkspacePath> {
        match &self.target {
            Target::Stdin(path) => Some(path),
            Target::Paths { .. } => None,
        }
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

fn left_out(submodules: &[String]) -> Option<String> {
    let names: Vec<_> = submodules.iter().map(|it| format!("`{it}`")).collect();
    let warning = "changes in submodules are not looked at; check them in their own folders";
    (!names.is_empty()).then(|| format!("{warning}: {}", names.join(", ")))
}

fn uncompared(path: WorkspacePath) -> Excluded {
    let reason = "not compared: its old text needs a git filter, and Broker runs none";
    Excluded { path, linter: lint::suppress::LINTER.into(), in_part: false, reason: reason.into() }
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
