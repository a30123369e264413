//! `--watch`: checks again whenever something changes, until it is interrupted.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    time::Duration,
};

use config::folders;
use lint::printable;
use overlay::{Base, BaseOptions, Changes, View, Watch, WorkspacePath};

use super::{Args, input::Input, outputs::Output};
use crate::{CliError, Exit, cli::Session};

/// How often it is looked whether somebody wants it to end.
const GLANCE: Duration = Duration::from_millis(100);

/// So many changed files are named.
const NAMED: usize = 3;

/// A workspace, and the news of it.
pub(super) struct Watching {
    base: Base,
    news: mpsc::Receiver<Changes>,
    /// Ends with this.
    _watch: Watch,
    /// What is written by the run itself is no news.
    written: Vec<WorkspacePath>,
}

impl Watching {
    pub(super) fn begin(input: &Input, outputs: &[Output], session: &Session) -> Result<Self, CliError> {
        let root = input.workspace.root();
        let cannot = |error: String| CliError::files(format!("cannot watch {}: {error}", root.display()));
        let base = Base::open(root, BaseOptions::default()).map_err(|error| cannot(error.to_string()))?;
        let private = private(root).map_err(cannot)?;
        let (tell, news) = mpsc::channel();
        let tell = std::sync::Mutex::new(tell);
        let told = move |changes| {
            // Nobody listens any more once the run ends.
            let _ = tell.lock().map(|it| it.send(changes));
        };
        let watch = base.watch(&private, told).map_err(|error| cannot(error.to_string()))?;
        if let Some(degraded) = watch.degraded() {
            session.messages.warning(&format!("not everything is watched: {}", degraded.reason));
        }
        let files = outputs.iter().filter_map(|it| it.file.as_ref());
        let written = files.filter_map(|it| input.workspace.find(it).ok().flatten()).collect();
        Ok(Self { base, news, _watch: watch, written })
    }

    pub(super) fn view(&self) -> Arc<dyn View> {
        Arc::new(self.base.clone())
    }

    /// Waits for a change; `None` if the run is to end.
    fn wait(&self, session: &Session) -> Option<Changes> {
        while !session.process_context.cancel.is_cancelled() {
            let mut changes = match self.news.recv_timeout(GLANCE) {
                Ok(changes) => changes,
                Err(mpsc::RecvTimeoutError::Timeout) => continue,
                Err(mpsc::RecvTimeoutError::Disconnected) => return None,
            };
            for more in self.news.try_iter() {
                changes.paths.extend(more.paths);
                changes.overflow |= more.overflow;
            }
            changes.paths.retain(|it| self.is_news(it));
            if !changes.is_empty() {
                return Some(changes);
            }
        }
        None
    }

    fn is_news(&self, path: &WorkspacePath) -> bool {
        let top = path.components().next();
        !self.written.contains(path) && !matches!(top, Some(".git" | ".hg" | ".jj" | ".svn"))
    }
}

/// Runs `check` for as long as somebody wants; the exit code is that of the last run.
pub(super) fn watch(
    args: &Args,
    session: &mut Session,
    watching: &Watching,
    mut check: impl FnMut(&mut Session) -> Result<Exit, CliError>,
) -> Exit {
    loop {
        let exit = check(session).unwrap_or_else(|error| {
            session.messages.error(&error);
            Exit::Abnormal
        });
        let Some(changes) = watching.wait(session) else { return exit };
        if !args.quiet {
            session.messages.line(&separator(&changes));
        }
    }
}

/// `--- a.py, b.py and 7 more changed`
fn separator(changes: &Changes) -> String {
    let mut names: Vec<_> = changes.paths.iter().take(NAMED).map(WorkspacePath::to_string).collect();
    if names.is_empty() {
        names.push("something".to_owned());
    }
    let rest = match changes.paths.len().saturating_sub(NAMED) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    format!("--- {}{rest} changed", printable(&names.join(", ")))
}

/// A folder where nobody else writes.
fn private(root: &Path) -> Result<PathBuf, String> {
    let state = folders::own_state_dir().map_err(|error| error.message)?;
    let state = state.ok_or("there is no folder for state; set BROKER_STATE_DIR")?;
    let folder = workspaces::state_of(&state, &workspaces::id_of(root)).join("watch");
    overlay::private_folder(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_names_the_first_changes() {
        let told = |paths: &[&str]| {
            let paths = paths.iter().map(|it| WorkspacePath::new(it).unwrap()).collect();
            separator(&Changes { paths, overflow: false })
        };
        assert_eq!(told(&["b", "a"]), "--- a, b changed");
        assert_eq!(told(&["a", "b", "c", "d", "e"]), "--- a, b, c and 2 more changed");
        assert_eq!(told(&[]), "--- something changed");
    }
}
