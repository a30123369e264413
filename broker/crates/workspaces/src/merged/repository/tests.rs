//! State of git that only a branch has, from files alone; the tests of the program have real repositories.

use std::sync::Arc;

use overlay::{Branch, Memory};

use super::*;

const OLD: &str = "0123456789012345678901234567890123456789";
const NEW: &str = "abcdefabcdefabcdefabcdefabcdefabcdefabcd";
const NEW_FILE: &str = ".git/objects/ab/cdefabcdefabcdefabcdefabcdefabcdefabcd";

/// Index of a pack with one object.
fn index(id: &str) -> Vec<u8> {
    let id = bytes_of(id).unwrap();
    let mut index = b"\xfftOc\0\0\0\x02".to_vec();
    (0..=255_u8).for_each(|it| index.extend(u32::from(it >= id[0]).to_be_bytes()));
    index.extend(id);
    index
}

/// State that a branch with these files has and a disk with those has not.
fn own(on_disk: &[(&str, &str)], packed: Option<&str>, written: &[(&str, &str)]) -> Option<String> {
    let head = [(".git/HEAD", "ref: refs/heads/main\n"), (".git/objects/info/x", "")];
    let text = |(path, text): &(&str, &str)| ((*path).to_owned(), text.as_bytes().to_vec());
    let mut files: Vec<_> = head.iter().chain(on_disk).map(text).collect();
    if let Some(packed) = packed {
        files.push((".git/objects/pack/p.pack".to_owned(), Vec::new()));
        files.push((".git/objects/pack/p.idx".to_owned(), index(packed)));
    }
    let disk: Arc<Memory> = Arc::new(Memory::from_files(files).unwrap());
    let (mut branch, mut folder) = (Branch::new(disk.clone()), Branch::of_folder(disk.clone()));
    let mut paths = Vec::new();
    for (path, text) in written {
        let path = WorkspacePath::new(path).unwrap();
        folder.write(&path, (*text).to_owned().into()).unwrap();
        paths.push(path);
    }
    branch.keep_repository(&folder.snapshot(), &paths).unwrap();
    own_state(&branch.snapshot(), &*disk)
}

#[test]
fn an_index_and_references_as_on_the_disk_are_nothing() {
    let main = [(".git/refs/heads/main", OLD), (".git/index", "i")];
    let pinned =
        [(".git/index", "i"), (".git/refs/heads/main", OLD), (".git/HEAD", "ref: refs/heads/main\n")];
    assert_eq!(own(&main, None, &pinned), None);
    assert_eq!(own(&main, None, &[(".git/logs/HEAD", "l"), (".git/ORIG_HEAD", OLD)]), None);
}

#[test]
fn a_reference_that_the_disk_has_moved_on_is_no_loss_if_its_commit_is_there() {
    let moved = [(".git/refs/heads/main", NEW)];
    let pinned = [(".git/refs/heads/main", OLD)];
    assert_eq!(own(&moved, Some(OLD), &pinned), None);
    let lost = "commits of git that no branch of the repository has: refs/heads/main";
    assert_eq!(own(&moved, None, &pinned).as_deref(), Some(lost));
    let packed =
        [(".git/packed-refs", "# pack-refs\n0123456789012345678901234567890123456789 refs/heads/main\n")];
    assert_eq!(own(&moved, Some(OLD), &packed), None);
}

#[test]
fn commits_made_on_the_branch_have_to_be_on_a_branch_of_the_disk() {
    let main = (".git/refs/heads/main", OLD);
    let made = [(NEW_FILE, "commit"), (".git/refs/heads/main", NEW)];
    let lost = "commits of git that no branch of the repository has: refs/heads/main";
    assert_eq!(own(&[main], Some(OLD), &made).as_deref(), Some(lost));
    // Added to the repository, but no branch leads there.
    assert_eq!(own(&[main], Some(NEW), &made).as_deref(), Some(lost));
    assert_eq!(own(&[main, (".git/refs/heads/try", NEW)], Some(NEW), &made), None, "exported");
    let packed = format!("{NEW} refs/heads/try\n");
    assert_eq!(own(&[main, (".git/packed-refs", &packed)], Some(NEW), &made), None);
    let packed = format!("{NEW} refs/heads/main\n");
    let moved = own(&[main, (".git/packed-refs", &packed)], Some(NEW), &made);
    assert_eq!(moved.as_deref(), Some(lost), "a loose reference overrides the packed one");
}

#[test]
fn objects_and_names_that_only_the_branch_has_keep_it() {
    let main = [(".git/refs/heads/main", OLD)];
    let kept = |written: &[(&str, &str)]| own(&main, Some(OLD), written).unwrap_or_default();
    let staged = "git objects that the repository lacks, of commits or staged files: 1";
    assert_eq!(kept(&[(NEW_FILE, "blob")]), staged);
    assert_eq!(own(&main, Some(NEW), &[(NEW_FILE, "blob")]), None, "it is packed on the disk");
    let name = "a reference of git that the repository lacks: refs/tags/v1";
    assert_eq!(kept(&[(".git/refs/tags/v1", OLD)]), name);
    assert_eq!(kept(&[(".git/MERGE_HEAD", OLD)]), "version control of its own: .git/MERGE_HEAD");
    assert_eq!(kept(&[("new/.hg/store", "x")]), "version control of its own: new/.hg/store");
    let detached = "commits of git that no branch of the repository has: HEAD";
    assert_eq!(kept(&[(".git/HEAD", NEW)]), detached);
    assert_eq!(kept(&[(".git/HEAD", OLD)]), "", "a commit that is there");
}

#[test]
fn an_index_that_cannot_be_read_lists_nothing() {
    assert_eq!(lists(&index(NEW), &bytes_of(NEW).unwrap()), Some(true));
    assert_eq!(lists(&index(NEW), &bytes_of(OLD).unwrap()), Some(false));
    assert_eq!(lists(b"torn", &bytes_of(OLD).unwrap()), None);
    assert_eq!(lists(&index(NEW)[..900], &bytes_of(NEW).unwrap()), None);
}
