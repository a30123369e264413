//! `--watch`: checks again whenever something changes, until it is interrupted.

use std::sync::Arc;

use config::root::WorkspaceRoot;
use overlay::{View, WorkspacePath};

use super::{Args, outputs::Output};
use crate::{
    CliError, Exit,
    cli::{
        Session,
        watch::{Watching, separator},
    },
};

/// The workspace of a run that checks again.
pub(super) struct Watched {
    watching: Watching,
    /// Paths that the run itself writes, whose changes start no new round.
    written: Vec<WorkspacePath>,
}

impl Watched {
    pub(super) fn begin(
        workspace: &WorkspaceRoot,
        outputs: &[Output],
        session: &Session,
    ) -> Result<Self, CliError> {
        let watching = Watching::of(workspace.root(), session)?;
        let files = outputs.iter().filter_map(|it| it.file.as_ref());
        let written = files.filter_map(|it| workspace.find(it).ok().flatten()).collect();
        Ok(Self { watching, written })
    }

    pub(super) fn view(&self) -> Arc<dyn View> {
        self.watching.view()
    }

    fn is_news(&self, path: &WorkspacePath) -> bool {
        let top = path.components().next();
        !self.written.contains(path) && !matches!(top, Some(".git" | ".hg" | ".jj" | ".svn"))
    }
}

/// Runs `check` until the run is interrupted; the exit code is that of the last round.
pub(super) fn watch(
    args: &Args,
    session: &mut Session,
    watched: &Watched,
    mut check: impl FnMut(&mut Session) -> Result<Exit, CliError>,
) -> Exit {
    loop {
        let exit = check(session).unwrap_or_else(|error| {
            session.messages.error(&error);
            Exit::Abnormal
        });
        let Some(changes) = watched.watching.wait(session, |it| watched.is_news(it)) else { return exit };
        if !args.quiet {
            session.messages.line(&separator(&changes));
        }
    }
}
