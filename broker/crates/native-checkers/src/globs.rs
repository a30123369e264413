//! Globs in the words of `.gitignore`.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use overlay::WorkspacePath;

pub(crate) struct Globs(Gitignore);

impl Globs {
    /// A glob that is none matches nothing.
    pub(crate) fn new<'g>(globs: impl IntoIterator<Item = &'g String>) -> Self {
        let mut builder = GitignoreBuilder::new("");
        for glob in globs {
            let _never_matches = builder.add_line(None, glob);
        }
        Self(builder.build().unwrap_or_else(|_| Gitignore::empty()))
    }

    pub(crate) fn matches(&self, path: &WorkspacePath) -> bool {
        self.0.matched_path_or_any_parents(path.as_str(), false).is_ignore()
    }
}
