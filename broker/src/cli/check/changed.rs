//! `--since`, `--staged` and `--changed`: the files that git says changed, and no others.

use std::sync::Arc;

use overlay::{Skipped, View};

use crate::{
    CliError, Workspace,
    check::Files,
    git::{Changed, Git},
};

/// Which of the files
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct ChangedArgs {
    /// Only files that differ from where this branch and REF parted, committed or not
    #[arg(long, value_name = "REF", help_heading = "Files", conflicts_with_all = ["staged", "changed", "stdin_filename"])]
    since: Option<String>,

    /// Only what is staged, as it is staged and not as it lies in the folder
    ///
    /// Configuration files count as they are staged, too, and those that git does not know do not count.
    #[arg(long, help_heading = "Files", conflicts_with_all = ["changed", "stdin_filename", "fix", "watch"])]
    staged: bool,

    /// Only files that differ from the last commit, and those that git does not know
    #[arg(long, help_heading = "Files", conflicts_with = "stdin_filename")]
    changed: bool,
}

impl ChangedArgs {
    /// What changed, and what is to be looked at; `None` and `view` itself if all files are meant.
    pub(super) fn of(
        &self,
        workspace: &Workspace,
        view: Arc<dyn View>,
    ) -> Result<(Option<Changed>, Arc<dyn View>), CliError> {
        let git = || Git::of(workspace.root());
        if let Some(reference) = &self.since {
            return Ok((Some(git()?.since(reference)?), view));
        }
        if self.staged {
            let (changed, index) = git()?.staged(view)?;
            return Ok((Some(changed), index));
        }
        Ok((if self.changed { Some(git()?.changed()?) } else { None }, view))
    }
}

/// Those of the files that changed.
pub(super) fn only(files: Files, changed: &Changed) -> Files {
    let Files { mut units, skipped } = files;
    units.retain(|it| changed.paths.contains(&it.path));
    // Sockets and links that lead nowhere are no news.
    let Skipped { unreadable, .. } = skipped;
    let skipped = Skipped { unreadable, not_utf8: changed.not_utf8, ..Skipped::default() };
    Files { units, skipped }
}
