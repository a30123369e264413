//! The excludes and includes of a walk's options.

use ignore::gitignore::Gitignore;

use super::{WalkOptions, rules::matcher_of_lines};
use crate::WorkspacePath;

pub(super) struct Patterns {
    excludes: Gitignore,
    /// `None`: all files.
    includes: Option<Gitignore>,
}

impl Patterns {
    /// `None` if there are none.
    pub(super) fn new(options: &WalkOptions) -> Option<Self> {
        let matcher = |lines: &[String]| {
            matcher_of_lines(lines.iter().map(String::as_str)).unwrap_or_else(|_| Gitignore::empty())
        };
        let includes = (!options.includes.is_empty()).then(|| matcher(&options.includes));
        let is_none = options.excludes.is_empty() && includes.is_none();
        (!is_none).then(|| Self { excludes: matcher(&options.excludes), includes })
    }

    /// Whether an entry that was found is passed over. A directory that is passed over is not searched.
    pub(super) fn leave_out(&self, path: &WorkspacePath, is_directory: bool) -> bool {
        let is_included = |it: &Gitignore| it.matched_path_or_any_parents(path.as_str(), false).is_ignore();
        self.excludes.matched(path.as_str(), is_directory).is_ignore()
            || !is_directory && !self.includes.as_ref().is_none_or(is_included)
    }

    /// Whether a root is excluded. Its parent directories were not visited.
    pub(super) fn excludes_root(&self, root: &WorkspacePath) -> bool {
        let is_excluded =
            |is_directory| self.excludes.matched_path_or_any_parents(root.as_str(), is_directory).is_ignore();
        !root.is_root() && (is_excluded(false) || is_excluded(true))
    }
}
