//! Which linters want which file.

use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use lint::{Interest, Linter};
use overlay::WorkspacePath;

/// A linter as the engine holds it.
pub type SharedLinter = Arc<dyn Linter>;

/// Matches files with the globs of each linter's [`Interest`].
///
/// Languages say what a linter is about; which files those are in is said by its globs.
pub struct Router<'l> {
    routes: Vec<(&'l SharedLinter, Gitignore)>,
}

impl<'l> Router<'l> {
    pub fn new(linters: &'l [SharedLinter]) -> Self {
        Self { routes: linters.iter().map(|it| (it, matcher(it.interest()))).collect() }
    }

    /// The linters that want to see `path`.
    pub fn linters_for(&self, path: &WorkspacePath) -> impl Iterator<Item = &'l SharedLinter> {
        self.routes.iter().filter(|(_, globs)| wants(globs, path)).map(|(linter, _)| *linter)
    }

    /// Each linter with those of `paths` that it wants, by index; linters with nothing to do are left out.
    pub(super) fn assign<'p>(
        &self,
        paths: impl Iterator<Item = &'p WorkspacePath> + Clone,
    ) -> Vec<(&'l SharedLinter, Vec<usize>)> {
        let wanted = |globs: &Gitignore| {
            paths.clone().enumerate().filter(|(_, path)| wants(globs, path)).map(|(index, _)| index).collect()
        };
        let work = self.routes.iter().map(|(linter, globs)| (*linter, wanted(globs)));
        work.filter(|(_, units): &(_, Vec<usize>)| !units.is_empty()).collect()
    }
}

fn wants(globs: &Gitignore, path: &WorkspacePath) -> bool {
    globs.matched(path.as_str(), false).is_ignore()
}

/// A glob that is none matches nothing.
fn matcher(interest: &Interest) -> Gitignore {
    let mut globs = GitignoreBuilder::new("");
    for glob in &interest.globs {
        let _never_matches = globs.add_line(None, glob);
    }
    globs.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_are_those_of_gitignore() {
        let interest = |globs: &[&str]| Interest {
            globs: globs.iter().map(|it| (*it).to_owned()).collect(),
            ..Interest::default()
        };
        for (globs, path, want) in [
            (&["*.py"][..], "src/deep/a.py", true),
            (&["*.py"], "a.pyi", false),
            (&["*.py", "*.pyi"], "a.pyi", true),
            (&["pyproject.toml"], "sub/pyproject.toml", true),
            (&["/pyproject.toml"], "sub/pyproject.toml", false),
            (&["/pyproject.toml"], "pyproject.toml", true),
            (&["docs/*.md"], "docs/a.md", true),
            (&["docs/*.md"], "other/docs/a.md", false),
            (&["docs/**/*.md"], "docs/x/y/a.md", true),
            (&["*"], ".hidden", true),
            (&["*", "!*.min.js"], "a.min.js", false),
            (&["[", "*.py"], "a.py", true),
            (&[], "a.py", false),
        ] {
            let path = WorkspacePath::new(path).unwrap();
            assert_eq!(wants(&matcher(&interest(globs)), &path), want, "{globs:?} {path}");
        }
    }
}
