//! `--rev`, `--since`, `--staged` and `--changed`: what git has in place of the disk, and which files changed.

use std::sync::Arc;

use config::root::WorkspaceRoot;
use overlay::View;

use crate::{
    CliError,
    git::{Before, Changed, Git},
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
    /// Configuration files count as they are staged, too, and those that git does not know do not count. With `--fix`, fixes
    /// are made in the index and in the folder; what is not staged stays so.
    #[arg(long, help_heading = "Files", conflicts_with_all = ["changed", "stdin_filename", "watch"])]
    pub(super) staged: bool,

    /// Only files that differ from the last commit, and those that git does not know
    ///
    /// With `--branch`, also those that Broker's branch changed.
    #[arg(long, help_heading = "Files", conflicts_with = "stdin_filename")]
    changed: bool,

    /// Check this commit as it is in the repository, without checking it out
    ///
    /// Configuration files count as they are there, too, and files that git does not know do not count. Texts are as git
    /// stores them: filters, such as that of LFS, are not run; submodules are shown as they are on the disk. With `--since`, only
    /// files in which the two commits differ.
    #[arg(
        long,
        value_name = "REV",
        help_heading = "Files",
        conflicts_with_all = ["staged", "changed", "stdin_filename", "fix", "watch", "branch"]
    )]
    pub(super) rev: Option<String>,

    /// Show only what the changes brought about: findings that were not there before, and those that are fixed
    ///
    /// With `--branch`, against the branch's parent; with `--since`, `--staged` or `--changed`, against the commit that
    /// those compare with.
    #[arg(long, help_heading = "Files", conflicts_with_all = ["stdin_filename", "fix", "diff", "baseline_update", "baseline_prune"])]
    pub(super) new_only: bool,

    /// Ask language servers also about the files that import those to be checked, directly or through others
    ///
    /// Done without being asked with `--since`, `--staged` and `--changed`. Files that are gone count, too.
    #[arg(long, help_heading = "Files", conflicts_with = "no_dependents")]
    dependents: bool,

    /// Ask nobody about files that did not change themselves
    #[arg(long, help_heading = "Files")]
    no_dependents: bool,
}

/// Files to check, as git has them.
pub(super) struct Chosen {
    pub(super) view: Arc<dyn View>,
    /// Changed files; `None` if all files are checked.
    pub(super) changed: Option<Changed>,
    /// State that the files are compared with.
    pub(super) before: Option<Before>,
    /// Submodules, whose changes are left out.
    pub(super) submodules: Vec<String>,
}

impl ChangedArgs {
    /// Chooses the view to check: `disk` itself, or one that git has in its place.
    pub(super) fn of(&self, workspace: &WorkspaceRoot, disk: Arc<dyn View>) -> Result<Chosen, CliError> {
        if self.new_only && !(self.staged || self.changed || self.since.is_some()) {
            return Err(CliError::usage("--new-only has nothing to compare with")
                .hint("give `--since REF`, `--changed`, `--staged` or `--branch BRANCH` as well"));
        }
        if !self.is_of_git() {
            return Ok(Chosen { view: disk, changed: None, before: None, submodules: Vec::new() });
        }
        let git = Git::of(workspace.root())?;
        let commit = self.compared_with(&git)?;
        let submodules = if self.staged || commit.is_some() { git.submodules()? } else { Vec::new() };
        if self.staged {
            let (changed, view) = git.staged(Arc::clone(&disk))?;
            let before = self.new_only.then(|| git.at(&git.head()?, disk).map(Before::from)).transpose()?;
            return Ok(Chosen { view, changed: Some(changed), before, submodules });
        }
        let Some(rev) = &self.rev else {
            let changed = commit.as_ref().map(|it| git.changed_since(it)).transpose()?;
            let before = commit.zip(changed.as_ref()).filter(|_| self.new_only);
            let before = before.map(|(commit, changed)| git.before(&commit, changed, Arc::clone(&disk)));
            return Ok(Chosen { view: disk, changed, before: before.transpose()?, submodules });
        };
        let rev = git.commit(rev)?;
        let changed = commit.as_ref().map(|it| git.changed_between(it, &rev)).transpose()?;
        let before = commit.filter(|_| self.new_only);
        let before = before.map(|it| git.at(&it, Arc::clone(&disk)).map(Before::from)).transpose()?;
        Ok(Chosen { view: git.at(&rev, disk)?, changed, before, submodules })
    }

    /// Whether the options take the files to check from git.
    pub(super) fn is_of_git(&self) -> bool {
        self.staged || self.changed || self.since.is_some() || self.rev.is_some()
    }

    /// The commit that `--since` or `--changed` compare with.
    fn compared_with(&self, git: &Git) -> Result<Option<String>, CliError> {
        match (&self.since, &self.rev) {
            (Some(reference), rev) => git.parted_from(reference, rev.as_deref().unwrap_or("HEAD")).map(Some),
            (None, _) if self.changed => git.head().map(Some),
            (None, _) => Ok(None),
        }
    }

    /// Whether files that use the changed ones are checked, too.
    pub(super) fn dependents(&self) -> bool {
        let only_changed = self.since.is_some() || self.staged || self.changed;
        !self.no_dependents && (self.dependents || only_changed)
    }

    /// Returns the files that changed on the disk; `None` if all files are checked.
    pub(super) fn on_disk(&self, workspace: &WorkspaceRoot) -> Result<Option<Changed>, CliError> {
        if self.since.is_none() && !self.changed {
            return Ok(None);
        }
        let git = Git::of(workspace.root())?;
        let commit = self.compared_with(&git)?;
        commit.map(|it| git.changed_since(&it)).transpose()
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
