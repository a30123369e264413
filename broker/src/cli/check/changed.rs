//! `--since`, `--staged` and `--changed`: the files that git says changed, and no others.

use std::sync::Arc;

use checker::Files;
use config::root::WorkspaceRoot;
use overlay::{Skipped, View};

use crate::{
    CliError,
    git::{Changed, Git},
};

/// Which of the files
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct ChangedArgs {
    /// Only files that differ from where this branch and REF parted, committed or not
    ///
    /// With `--branch`, also those that Broker's branch changed.
    #[arg(long, value_name = "REF", help_heading = "Files", conflicts_with_all = ["staged", "changed", "stdin_filename"])]
    since: Option<String>,

    /// Only what is staged, as it is staged and not as it lies in the folder
    ///
    /// Configuration files count as they are staged, too, and those that git does not know do not count.
    #[arg(long, help_heading = "Files", conflicts_with_all = ["changed", "stdin_filename", "fix", "watch"])]
    staged: bool,

    /// Only files that differ from the last commit, and those that git does not know
    ///
    /// With `--branch`, also those that Broker's branch changed.
    #[arg(long, help_heading = "Files", conflicts_with = "stdin_filename")]
    changed: bool,

    /// Ask language servers also about the files that import those to be checked, directly or through others
    ///
    /// Done without being asked with `--since`, `--staged` and `--changed`. Files that are gone count, too.
    #[arg(long, help_heading = "Files", conflicts_with = "no_dependents")]
    dependents: bool,

    /// Ask nobody about files that did not change themselves
    #[arg(long, help_heading = "Files")]
    no_dependents: bool,
}

impl ChangedArgs {
    /// What changed, and what is to be looked at; `None` and `view` itself if all files are meant.
    pub(super) fn of(
        &self,
        workspace: &WorkspaceRoot,
        view: Arc<dyn View>,
    ) -> Result<(Option<Changed>, Arc<dyn View>), CliError> {
        if self.staged {
            let (changed, index) = Git::of(workspace.root())?.staged(view)?;
            return Ok((Some(changed), index));
        }
        Ok((self.on_disk(workspace)?, view))
    }

    /// Whether files that use those are asked about, too.
    pub(super) fn dependents(&self) -> bool {
        let only_changed = self.since.is_some() || self.staged || self.changed;
        !self.no_dependents && (self.dependents || only_changed)
    }

    /// What changed on the disk; `None` if all files are meant.
    pub(super) fn on_disk(&self, workspace: &WorkspaceRoot) -> Result<Option<Changed>, CliError> {
        let git = || Git::of(workspace.root());
        match &self.since {
            Some(reference) => git()?.since(reference).map(Some),
            None if self.changed => git()?.changed().map(Some),
            None => Ok(None),
        }
    }

    /// Refuses what cannot be asked of a branch.
    pub(super) fn check_for_branch(&self, watch: bool) -> Result<(), CliError> {
        if self.staged {
            let why = "the index belongs to the files on the disk, and a branch has none";
            let error = CliError::usage(format!("--staged cannot be used with --branch: {why}"));
            return Err(error.hint("--changed checks what differs from the last commit"));
        }
        if watch && (self.changed || self.since.is_some()) {
            let error = CliError::usage("--branch with --watch cannot follow which files changed");
            return Err(
                error.hint("leave out --since and --changed: what did not change is not checked again")
            );
        }
        Ok(())
    }
}

/// Those of the files that changed.
pub(super) fn only(files: Files, changed: &Changed) -> Files {
    let Files { mut units, skipped, .. } = files;
    units.retain(|it| changed.paths.contains(&it.path));
    // Sockets and links that lead nowhere are no news.
    let Skipped { unreadable, .. } = skipped;
    let skipped = Skipped { unreadable, not_utf8: changed.not_utf8, ..Skipped::default() };
    Files { units, skipped, ..Files::default() }
}
