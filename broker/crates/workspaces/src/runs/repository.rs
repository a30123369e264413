//! State of a git repository that a branch keeps, so that all of it is of one moment.

use std::collections::BTreeSet;

use overlay::{FileKind, View, WorkspacePath, is_of_version_control};

/// Folder by which a repository is known, beside `HEAD`.
const OBJECTS: &str = "objects";

/// Files that are there while git waits for a person to go on. Those of the disk are of no concern to the branch.
const UNDER_WAY: [&str; 12] = [
    "AUTO_MERGE",
    "BISECT_LOG",
    "CHERRY_PICK_HEAD",
    "HEAD.lock",
    "MERGE_HEAD",
    "MERGE_MODE",
    "MERGE_MSG",
    "REVERT_HEAD",
    "index.lock",
    "rebase-apply",
    "rebase-merge",
    "sequencer",
];

/// Files to keep besides those that a command wrote in git's folders: `HEAD`, the index, the reference that `HEAD` names, and what is
/// under way, also where there is no such file.
///
/// The index is compared with the commit that `HEAD` leads to. With one of them from the branch and the other from a disk with
/// newer commits, the next commit of the branch would take those back.
pub(super) fn pinned(view: &dyn View, written: &[WorkspacePath]) -> Vec<WorkspacePath> {
    let folders: BTreeSet<_> = written.iter().flat_map(|it| repositories(view, it)).collect();
    let pinned: BTreeSet<_> = folders.iter().flat_map(|it| state(view, it)).collect();
    pinned.into_iter().filter(|it| !written.contains(it)).collect()
}

/// Whether the path is that of an object, or a pack of them.
pub(super) fn is_object(path: &WorkspacePath) -> bool {
    // A reference may have any name.
    let first = path.components().find(|it| [OBJECTS, "refs", "logs"].contains(it));
    first == Some(OBJECTS)
}

/// Folders of repositories on the way to `path`, with those of submodules in `modules`.
fn repositories(view: &dyn View, path: &WorkspacePath) -> Vec<WorkspacePath> {
    let has = |at: &WorkspacePath, name: &str| view.metadata(&at.child(name)).is_ok();
    let above = path.ancestors().skip(1).filter(is_of_version_control);
    above.filter(|it| has(it, "HEAD") && has(it, OBJECTS)).collect()
}

fn state(view: &dyn View, folder: &WorkspacePath) -> Vec<WorkspacePath> {
    let head = view.read(&folder.child("HEAD")).ok();
    let head = head.and_then(|it| String::from_utf8(it.to_vec()).ok()).unwrap_or_default();
    let named = head.strip_prefix("ref: ").map(str::trim_end);
    let named = named.and_then(|it| WorkspacePath::new(&format!("{folder}/{it}")).ok());
    // A reference that has no file of its own is a line there.
    let packed = named.as_ref().is_some_and(|it| view.metadata(it).is_err());
    let packed = packed.then(|| folder.child("packed-refs"));
    let is_no_folder = |it: &WorkspacePath| !view.metadata(it).is_ok_and(|it| it.kind == FileKind::Directory);
    let under_way = UNDER_WAY.iter().map(|it| folder.child(it)).filter(is_no_folder);
    [folder.child("HEAD"), folder.child("index")]
        .into_iter()
        .chain(named)
        .chain(packed)
        .chain(under_way)
        .collect()
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;

    /// Pinned files beside these, without those under way that are not there.
    fn pinned_for(files: &[(&str, &str)], written: &[&str]) -> Vec<String> {
        let view = Memory::from_files(files.iter().copied()).unwrap();
        let written: Vec<_> = written.iter().map(|it| WorkspacePath::new(it).unwrap()).collect();
        let is_shown = |it: &WorkspacePath| {
            view.metadata(it).is_ok() || !UNDER_WAY.contains(&it.file_name().unwrap_or_default())
        };
        pinned(&view, &written).iter().filter(|it| is_shown(it)).map(ToString::to_string).collect()
    }

    #[test]
    fn the_index_and_its_commit_are_kept_together() {
        let head = (".git/HEAD", "ref: refs/heads/a/b\n");
        let loose = [head, (".git/index", ""), (".git/objects/x", ""), (".git/refs/heads/a/b", "1")];
        let all = [".git/HEAD", ".git/index", ".git/refs/heads/a/b"];
        assert_eq!(pinned_for(&loose, &[".git/refs/stash"]), all);
        assert_eq!(pinned_for(&loose, &[".git/index"]), [all[0], all[2]]);
        let packed = [
            ("m/.git/HEAD", "ref: refs/heads/main\n"),
            ("m/.git/objects/x", ""),
            ("m/.git/packed-refs", "1 refs/heads/main"),
        ];
        let all = ["m/.git/HEAD", "m/.git/packed-refs", "m/.git/refs/heads/main"];
        assert_eq!(pinned_for(&packed, &["m/.git/index", "x"]), all);
        let detached = [(".git/HEAD", "0123"), (".git/objects/x", ""), (".git/packed-refs", "")];
        assert_eq!(pinned_for(&detached, &[".git/index"]), [".git/HEAD"]);
        assert_eq!(pinned_for(&loose, &["a.py", ".hg/store"]), [""; 0]);
    }

    #[test]
    fn submodules_and_what_is_under_way_are_pinned() {
        let files = [
            (".git/HEAD", "0123"),
            (".git/MERGE_HEAD", "1"),
            (".git/index", ""),
            (".git/objects/x", ""),
            (".git/modules/s/HEAD", "ref: refs/heads/main\n"),
            (".git/modules/s/index", ""),
            (".git/modules/s/objects/x", ""),
            (".git/modules/s/refs/heads/main", "1"),
            (".git/rebase-merge/head", "1"),
        ];
        let module = ["HEAD", "index", "refs/heads/main"].map(|it| format!(".git/modules/s/{it}"));
        let own = [".git/HEAD", ".git/MERGE_HEAD", ".git/index"].map(str::to_owned);
        assert_eq!(pinned_for(&files, &[".git/modules/s/logs/HEAD"]), [&own[..], &module].concat());
    }

    #[test]
    fn a_reference_named_like_the_folder_is_no_object() {
        let is = |it: &str| is_object(&WorkspacePath::new(it).unwrap());
        assert!(is(".git/objects/ab/cd") && is(".git/modules/s/objects/pack/p.idx"));
        assert!(!is(".git/refs/heads/objects/x") && !is(".git/logs/refs/heads/objects") && !is(".git/index"));
    }
}
