//! News of a folder: what changed in it, until the run is to end.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
};

use config::folders;
use lint::{OnCancel, printable};
use overlay::{Base, BaseOptions, Changes, View, Watch, WorkspacePath};

use super::Session;
use crate::CliError;

/// Number of changed files that are named.
const NAMED: usize = 3;

/// A folder, and the news of it.
pub(super) struct Watching {
    base: Base,
    news: mpsc::Receiver<News>,
    /// Puts an interrupt into the news.
    _interrupts: OnCancel,
    /// Watch of the folder, which ends with this.
    _watch: Watch,
}

/// Events that a run that watches waits for.
enum News {
    Changed(Changes),
    Interrupted,
}

impl Watching {
    pub(super) fn of(root: &Path, session: &Session) -> Result<Self, CliError> {
        let cannot = |error: String| CliError::files(format!("cannot watch {}: {error}", root.display()));
        let base = Base::open(root, BaseOptions::default()).map_err(|error| cannot(error.to_string()))?;
        let private = private(root).map_err(cannot)?;
        let (tell, news) = mpsc::channel();
        // There is no listener any more once the run ends.
        let interrupt = tell.clone();
        let interrupts =
            session.process_context.cancel.on_cancel(move || _ = interrupt.send(News::Interrupted));
        let told = move |changes| _ = tell.send(News::Changed(changes));
        let watch = base.watch(&private, told).map_err(|error| cannot(error.to_string()))?;
        if let Some(degraded) = watch.degraded() {
            session.messages.warning(&format!("not everything is watched: {}", degraded.reason));
        }
        Ok(Self { base, news, _interrupts: interrupts, _watch: watch })
    }

    pub(super) fn view(&self) -> Arc<dyn View> {
        Arc::new(self.base.clone())
    }

    /// Waits for a change of what `is_news`; `None` if the run is to end.
    pub(super) fn wait(
        &self,
        session: &Session,
        is_news: impl Fn(&WorkspacePath) -> bool,
    ) -> Option<Changes> {
        while !session.process_context.cancel.is_cancelled() {
            let Ok(News::Changed(mut changes)) = self.news.recv() else { return None };
            for more in self.news.try_iter() {
                // The loop ends by itself after an interrupt.
                let News::Changed(more) = more else { continue };
                changes.paths.extend(more.paths);
                changes.overflow |= more.overflow;
            }
            changes.paths.retain(&is_news);
            if !changes.is_empty() {
                return Some(changes);
            }
        }
        None
    }
}

/// `--- a.py, b.py and 7 more changed`
pub(super) fn separator(changes: &Changes) -> String {
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

/// A folder of the user's own, where no other user writes.
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
