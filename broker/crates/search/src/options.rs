//! Options that all kinds of search need besides their request.

use overlay::WalkOptions;
use thiserror::Error;

/// Options of a search: the files that are searched, by how many threads, and until when.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Best those of [`walk_options`].
    pub walk: &'a WalkOptions,
    /// At least one; those of the caller rest meanwhile.
    pub threads: usize,
    /// Looked at before each file.
    pub cancel: &'a (dyn Fn() -> bool + Sync),
}

/// The caller asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the search was cancelled")]
pub struct Cancelled;

impl Options<'_> {
    pub(crate) fn check(&self) -> Result<(), Cancelled> {
        if (self.cancel)() { Err(Cancelled) } else { Ok(()) }
    }
}

/// The walk that visits what ripgrep searches: no hidden files but those that an ignore file names with `!`, nothing that is
/// ignored, and dependencies where they are not. `global_excludes` is the text of the user's own gitignore.
///
/// On purpose unlike ripgrep: `.brokerignore` counts, `.rgignore` and ignore files above the workspace do not.
pub fn walk_options(global_excludes: Option<String>) -> WalkOptions {
    WalkOptions { default_excludes: false, hidden: false, global_excludes, ..WalkOptions::default() }
}
