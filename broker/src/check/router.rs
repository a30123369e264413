//! Which linters want which file.

use std::{collections::HashMap, ops::Range, sync::Arc};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use lint::{Interest, Linter};
use overlay::WorkspacePath;

/// A linter as the engine holds it.
pub type SharedLinter = Arc<dyn Linter>;

/// Matches files with the globs of each linter's [`Interest`].
///
/// Languages say what a linter is about; which files those are in is said by its globs.
pub struct Router {
    linters: Vec<SharedLinter>,
    globs: Vec<Gitignore>,
    /// For each path that is not of the first, the group of linters that is asked about it.
    groups: HashMap<WorkspacePath, Range<usize>>,
    first: Range<usize>,
}

impl Router {
    pub fn new(linters: &[SharedLinter]) -> Self {
        Self {
            linters: linters.to_vec(),
            globs: linters.iter().map(|it| matcher(it.interest())).collect(),
            groups: HashMap::new(),
            first: 0..linters.len(),
        }
    }

    /// Asks the linters of each router about those of the paths that come with it. What is named nowhere
    /// is of the first.
    pub(crate) fn grouped(routers: Vec<(Arc<Self>, Vec<WorkspacePath>)>) -> Self {
        let mut all = Self::new(&[]);
        for (index, (router, paths)) in routers.into_iter().enumerate() {
            let start = all.linters.len();
            all.linters.extend(router.linters.iter().cloned());
            all.globs.extend(router.globs.iter().cloned());
            let group = start..all.linters.len();
            if index == 0 {
                all.first = group;
            } else {
                all.groups.extend(paths.into_iter().map(|it| (it, group.clone())));
            }
        }
        all
    }

    pub fn linters(&self) -> &[SharedLinter] {
        &self.linters
    }

    /// The linters that want to see `path`.
    pub fn linters_for(&self, path: &WorkspacePath) -> impl Iterator<Item = &SharedLinter> {
        self.wanting(path).map(|it| &self.linters[it])
    }

    /// The same, by their places in [`linters`](Router::linters).
    pub(super) fn wanting(&self, path: &WorkspacePath) -> impl Iterator<Item = usize> {
        let group = self.groups.get(path).unwrap_or(&self.first).clone();
        group.filter(|it| wants(&self.globs[*it], path))
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
