//! State of a git repository that a branch keeps, so that all of it is of one moment.

use std::collections::BTreeSet;

use overlay::{View, WorkspacePath};

const GIT: &str = ".git";

/// Files to keep besides those that a command wrote in git's folders: `HEAD`, the index, and the reference that `HEAD` names.
///
/// The index is compared with the commit that `HEAD` leads to. With one of them from the branch and the other from a disk with
/// newer commits, the next commit of the branch would take those back.
pub(super) fn pinned(view: &dyn View, written: &[WorkspacePath]) -> Vec<WorkspacePath> {
    let folders: BTreeSet<_> = written.iter().filter_map(folder).collect();
    let pinned = folders.iter().flat_map(|it| state(view, it));
    pinned.filter(|it| !written.contains(it) && view.metadata(it).is_ok()).collect()
}

/// The outermost of git's folders on the way to `path`.
fn folder(path: &WorkspacePath) -> Option<WorkspacePath> {
    let is_git = |it: &WorkspacePath| it.file_name() == Some(GIT);
    path.ancestors().filter(is_git).last()
}

fn state(view: &dyn View, folder: &WorkspacePath) -> Vec<WorkspacePath> {
    let below = |name: &str| WorkspacePath::new(&format!("{folder}/{name}")).ok();
    let head = below("HEAD").and_then(|it| view.read(&it).ok());
    let head = head.and_then(|it| String::from_utf8(it.to_vec()).ok()).unwrap_or_default();
    let named = head.strip_prefix("ref: ").map(str::trim_end).and_then(below);
    // A reference that has no file of its own is a line there.
    let packed = named.as_ref().is_some_and(|it| view.metadata(it).is_err());
    let packed = packed.then(|| below("packed-refs")).flatten();
    [below("HEAD"), below("index"), named, packed].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;

    fn pinned_for(files: &[(&str, &str)], written: &[&str]) -> Vec<String> {
        let view = Memory::from_files(files.iter().copied()).unwrap();
        let written: Vec<_> = written.iter().map(|it| WorkspacePath::new(it).unwrap()).collect();
        pinned(&view, &written).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_index_and_its_commit_are_kept_together() {
        let loose =
            [(".git/HEAD", "ref: refs/heads/a/b\n"), (".git/index", ""), (".git/refs/heads/a/b", "1")];
        assert_eq!(
            pinned_for(&loose, &[".git/refs/stash"]),
            [".git/HEAD", ".git/index", ".git/refs/heads/a/b"]
        );
        assert_eq!(pinned_for(&loose, &[".git/index"]), [".git/HEAD", ".git/refs/heads/a/b"]);
        let packed = [("m/.git/HEAD", "ref: refs/heads/main\n"), ("m/.git/packed-refs", "1 refs/heads/main")];
        assert_eq!(pinned_for(&packed, &["m/.git/index", "x"]), ["m/.git/HEAD", "m/.git/packed-refs"]);
        let detached = [(".git/HEAD", "0123"), (".git/packed-refs", "")];
        assert_eq!(pinned_for(&detached, &[".git/index"]), [".git/HEAD"]);
        assert_eq!(pinned_for(&loose, &["a.py", ".hg/store"]), [""; 0]);
    }
}
