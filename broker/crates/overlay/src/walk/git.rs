//! Git's ignore rules, applied to single paths.

use std::collections::HashMap;

use super::rules::Rules;
use crate::{Skipped, View, WorkspacePath};

/// Ignore rules of git in one view: `.gitignore`, `.git/info/exclude` and the user's own excludes. Caches the rules
/// of each directory. Files that git tracks although they are ignored are not recognised.
pub struct GitIgnores {
    outermost: Rules,
    /// The rules inside of each directory; `None` where all of it is ignored.
    known: HashMap<WorkspacePath, Option<Rules>>,
}

impl GitIgnores {
    /// `global_excludes` is the text of the user's own gitignore.
    pub fn new(global_excludes: Option<String>) -> Self {
        Self { outermost: Rules::of_git(global_excludes), known: HashMap::new() }
    }

    /// Whether git would ignore a file or link at `path`, which need not exist. To be called with the same view always.
    pub fn ignores(&mut self, view: &dyn View, path: &WorkspacePath) -> bool {
        let Some(directory) = path.parent() else { return false };
        self.rules(view, &directory).is_none_or(|it| it.ignore(path, false))
    }

    fn rules(&mut self, view: &dyn View, directory: &WorkspacePath) -> Option<Rules> {
        if let Some(known) = self.known.get(directory) {
            return known.clone();
        }
        let above = match directory.parent() {
            None => Some(self.outermost.clone()),
            Some(above) => self.rules(view, &above).filter(|it| !it.ignore(directory, true)),
        };
        // Rules of a directory that is not there are those above it.
        let rules = above.map(|above| match view.list(directory) {
            Ok(listing) => above.enter(view, directory, &listing, &mut Skipped::default()),
            Err(_) => above,
        });
        self.known.insert(directory.clone(), rules.clone());
        rules
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Memory;

    #[test]
    fn only_what_git_heeds_counts() {
        let view = Memory::from_files([
            (".git/info/exclude", "own\n"),
            (".gitignore", "*.log\n/built/\n!kept.log\n"),
            (".ignore", "notes.txt\n"),
            ("src/.gitignore", "!a.log\n"),
            ("built/.gitignore", "!x\n"),
        ])
        .unwrap();
        let mut ignores = GitIgnores::new(Some("*~\n".to_owned()));
        let mut is_ignored = |path: &str| ignores.ignores(&view, &WorkspacePath::new(path).unwrap());
        for path in ["a.log", "src/b.log", "deep/new/c.log", "built/x", "own", "src/own", "a~"] {
            assert!(is_ignored(path), "{path}");
        }
        for path in ["kept.log", "src/a.log", "src/built/x", "notes.txt", "node_modules/a.js", "venv"] {
            assert!(!is_ignored(path), "{path}");
        }
    }
}
