//! Files that a harvest leaves out unless they are named: those that git would ignore, and without a repository, the caches of
//! tools.

use std::{collections::HashMap, path::Path};

use config::folders;
use overlay::{GitIgnores, View, WorkspacePath};
use shadow::{is_cache_file, is_cache_folder};

/// Files that are ignored in one view.
pub(super) struct Ignores<'v> {
    pub(super) view: &'v dyn View,
    git: GitIgnores,
    /// By folder, whether it is a cache or lies in one; `None` in a repository, whose ignore files decide what is kept.
    caches: Option<HashMap<WorkspacePath, bool>>,
}

/// Entries in the root that make it a repository.
const REPOSITORIES: [&str; 2] = [".git", ".jj"];

impl<'v> Ignores<'v> {
    pub(super) fn of(view: &'v dyn View) -> Self {
        let is_there = |name: &&str| view.metadata(&WorkspacePath::root().child(name)).is_ok();
        let caches = (!REPOSITORIES.iter().any(is_there)).then(HashMap::new);
        Self { view, git: GitIgnores::new(folders::global_excludes()), caches }
    }

    pub(super) fn has(&self, path: &WorkspacePath) -> bool {
        self.view.metadata(path).is_ok()
    }

    /// About a file or a link.
    pub(super) fn ignores(&mut self, path: &WorkspacePath) -> bool {
        self.is_cache(path) || self.git.ignores(self.view, path)
    }

    pub(super) fn is_cache(&mut self, path: &WorkspacePath) -> bool {
        let Some(known) = &mut self.caches else { return false };
        path.file_name().is_some_and(is_cache_file)
            || path.parent().is_some_and(|it| lies_in_a_cache(self.view, known, &it))
    }
}

fn lies_in_a_cache(
    view: &dyn View,
    known: &mut HashMap<WorkspacePath, bool>,
    folder: &WorkspacePath,
) -> bool {
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else { return false };
    if let Some(known) = known.get(folder) {
        return *known;
    }
    let is_there = |it: &Path| {
        let path = it.to_str().and_then(|it| WorkspacePath::new(it).ok());
        path.is_some_and(|it| view.metadata(&it).is_ok())
    };
    let lies_in_one =
        lies_in_a_cache(view, known, &parent) || is_cache_folder(Path::new(parent.as_str()), name, is_there);
    known.insert(folder.clone(), lies_in_one);
    lies_in_one
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;

    #[test]
    fn caches_are_ignored_where_no_repository_says_what_is() {
        let files =
            [("Cargo.toml", ""), ("own/CACHEDIR.TAG", ""), ("src/target/a", ""), ("target/debug/a", "")];
        let paths = ["target/debug/b", "own/deep/b", "a.tsbuildinfo", "src/target/a", "src/a.rs"];
        let ignored = |view: Memory| {
            let mut ignores = Ignores::of(&view);
            paths.map(|it| ignores.ignores(&WorkspacePath::new(it).unwrap()))
        };
        assert_eq!(ignored(Memory::from_files(files).unwrap()), [true, true, true, false, false]);
        let repository = files.into_iter().chain([(".git/HEAD", "")]);
        assert_eq!(ignored(Memory::from_files(repository).unwrap()), [false; 5]);
    }
}
