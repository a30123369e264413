//! A branch that is checked by the command itself: for options that the daemon knows nothing of.
//!
//! The branch is fetched and laid over the disk. Fixes and a configured baseline go back into it as edits.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use bytes::Bytes;
use checker::{
    Incomplete, Level, Subject,
    pipeline::{Fixed, is_there},
};
use overlay::{ContentHash, View, WorkspacePath};
use workspaces::{EditRequest, Expected, FileEdit};

use super::{
    Args,
    input::{Before, Input, Target, disk, stdin_filename, with_file},
    remote,
};
use crate::{
    CliError,
    cli::Session,
    client::{BranchViews, Opened},
    git::Changed,
};

/// Where edits go.
pub(super) struct Origin {
    open: Opened,
    branch: String,
}

impl Args {
    /// Whether only the command itself can answer, also about a branch.
    pub(super) fn needs_own_check(&self) -> bool {
        let baseline = &self.baseline;
        self.stdin_filename.is_some()
            || self.show_files
            || self.isolated
            || self.config.is_some()
            || !self.plugins.plugin.is_empty()
            || self.no_respect_gitignore
            || !self.exclude.is_empty()
            || self.force_exclude
            || self.timing
            || self.fixes.add_suppressions.is_some()
            || self.jobs.is_some()
            || self.timeout != super::TIMEOUT
            || self.no_cache
            || baseline.is_given()
    }
}

/// The branch, and what of it is to be checked.
pub(super) fn input(args: &Args, branch: &str, session: &mut Session) -> Result<Input, CliError> {
    if args.watch {
        return Err(CliError::usage(
            "--watch with --branch leaves no room for options that only the command itself has",
        )
        .hint("leave out --watch, or those of --isolated, --config, --plugin, --jobs, --timeout, --no-cache, --baseline, --exclude, --force-exclude and --no-respect-gitignore"));
    }
    args.changed.check_for_branch(args.watch)?;
    let open = session.open()?;
    let id = open.branch(branch)?.id.to_string();
    let workspace = open.workspace.clone();
    let fetched = BranchViews::fetch(&open, &id, &disk(&workspace)?, args.changed.new_only)?;
    let mut view: Arc<dyn View> = Arc::new(fetched.view);
    let mut missing = Vec::new();
    let target = if let Some(name) = stdin_filename(args)? {
        let path = open.path(&name)?;
        view = with_file(view, &path, session.read_stdin()?)?;
        Target::Stdin(path)
    } else {
        let before = fetched.parent.map(|it| Before { view: Arc::new(it.view), differing: it.changed });
        let changed = changed(args, &open, &id, &*view)?;
        let has_been = |it: &WorkspacePath| before.as_ref().is_some_and(|before| is_there(&*before.view, it));
        let mut paths = Vec::new();
        for given in &args.paths {
            let path = open.path(given)?;
            match is_there(&*view, &path) || has_been(&path) {
                true => paths.push(path),
                false => missing.push(absent(given)),
            }
        }
        Target::Paths { paths, has_folders: true, changed, before }
    };
    Ok(Input {
        workspace,
        view,
        config: None,
        missing,
        uncompared: Vec::new(),
        target,
        origin: Some(Origin { open, branch: id }),
    })
}

fn absent(given: &Path) -> Incomplete {
    Incomplete {
        subject: Subject::Argument(given.display().to_string()),
        linter: None,
        level: Level::Failed,
        reason: "it is not in the branch".to_owned(),
    }
}

/// What git says of the disk, and what the branch changed over it.
fn changed(args: &Args, open: &Opened, branch: &str, view: &dyn View) -> Result<Option<Changed>, CliError> {
    let Some(on_disk) = args.changed.on_disk(&open.workspace)? else { return Ok(None) };
    let not_utf8 = on_disk.not_utf8;
    let all = remote::changed_paths(open, branch, on_disk)?;
    let (paths, gone): (BTreeSet<_>, BTreeSet<_>) = all.into_iter().partition(|it| is_there(view, it));
    Ok(Some(Changed { paths, gone, not_utf8 }))
}

impl Origin {
    /// Makes the fixes an edit of the branch, if the files are still as they were checked.
    pub(super) fn keep(&self, fixed: &Fixed) -> Result<(), CliError> {
        let after = fixed.branch.snapshot();
        let unreadable =
            |error: std::io::Error| CliError::files(format!("cannot read what was fixed: {error}"));
        let mut edits = Vec::new();
        for (path, old) in &fixed.before {
            let text = after.read(path).map_err(unreadable)?;
            // Everything that was tried may have been taken back.
            if ContentHash::of(&text) != *old {
                edits.push((path.clone(), text, Some(*old)));
            }
        }
        self.write(edits)
    }

    /// Writes one file of the branch, whatever it has.
    pub(super) fn write_file(&self, path: &WorkspacePath, text: Vec<u8>) -> Result<(), CliError> {
        self.write(vec![(path.clone(), text.into(), None)])
    }

    fn write(&self, files: Vec<(WorkspacePath, Bytes, Option<ContentHash>)>) -> Result<(), CliError> {
        if files.is_empty() {
            return Ok(());
        }
        let edit = |(path, content, before): (WorkspacePath, Bytes, Option<ContentHash>)| FileEdit::Write {
            path: path.to_string(),
            content,
            expected: before.map_or(Expected::Anything, |it| Expected::Content(it.to_string())),
        };
        let request = EditRequest::of(&self.branch, files.into_iter().map(edit).collect());
        self.open.client.wait(self.open.client.daemon().edit_files(request))?;
        Ok(())
    }
}
