//! Files of version control that a branch keeps.

use bytes::Bytes;

use super::*;
use crate::{Memory, OnConflict, RebaseOnto};

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn paths(texts: &[&str]) -> Vec<WorkspacePath> {
    texts.iter().map(|it| path(it)).collect()
}

fn base() -> Arc<dyn View> {
    let files =
        [("a.py", "a"), (".git/HEAD", "ref: refs/heads/main"), (".git/refs/heads/main", "1"), ("sub/b", "b")];
    Arc::new(Memory::from_files(files).unwrap())
}

/// A folder over the branch, with these files written and removed.
fn folder(branch: &Branch, written: &[(&str, &str)], removed: &[&str]) -> Arc<dyn View> {
    let mut folder = Branch::of_folder(Arc::new(branch.snapshot().with_repository()));
    for it in removed {
        folder.remove(&path(it)).unwrap();
    }
    for (name, text) in written {
        folder.write(&path(name), Bytes::copy_from_slice(text.as_bytes())).unwrap();
    }
    Arc::new(folder.snapshot())
}

fn text(view: &dyn View, name: &str) -> Option<String> {
    view.read(&path(name)).ok().map(|it| String::from_utf8(it.to_vec()).unwrap())
}

fn keep(branch: &mut Branch, written: &[(&str, &str)], removed: &[&str]) {
    let view = folder(branch, written, removed);
    let names: Vec<_> = written.iter().map(|(name, _)| *name).chain(removed.iter().copied()).collect();
    branch.keep_repository(&*view, &paths(&names)).unwrap();
}

#[test]
fn a_repository_is_no_edit_of_the_branch() {
    let mut branch = Branch::new(base());
    keep(
        &mut branch,
        &[(".git/refs/heads/main", "2"), (".git/objects/ab/c", "x"), ("sub/.git/HEAD", "y")],
        &[],
    );
    let snapshot = branch.snapshot();
    assert!(snapshot.has_repository());
    assert_eq!(snapshot.changes(&snapshot.base_of()).unwrap(), []);
    assert_eq!(snapshot.edits(), []);
    assert_eq!(text(&snapshot, ".git/refs/heads/main").as_deref(), Some("1"));
    let shown = snapshot.with_repository();
    assert_eq!(text(&shown, ".git/refs/heads/main").as_deref(), Some("2"));
    assert_eq!(text(&shown, "sub/b").as_deref(), Some("b"));
    assert_eq!(shown.edits(), paths(&[".git/objects", ".git/refs/heads/main", "sub/.git"]));
    assert_eq!(
        branch.write(&path(".git/config"), Bytes::new()).unwrap_err().to_string(),
        crate::version_control::refusal(&path(".git/config"))
    );
}

#[test]
fn what_a_program_removed_is_gone_with_its_directory() {
    let mut branch = Branch::new(base());
    keep(&mut branch, &[(".git/rebase-merge/head", "x"), (".git/refs/stash", "s")], &[]);
    assert!(branch.snapshot().with_repository().metadata(&path(".git/rebase-merge")).is_ok());
    let view = folder(&branch, &[], &[".git/rebase-merge", ".git/refs/heads/main"]);
    branch.keep_repository(&*view, &paths(&[".git/rebase-merge/head", ".git/refs/heads/main"])).unwrap();
    let shown = branch.snapshot().with_repository();
    for gone in [".git/rebase-merge", ".git/rebase-merge/head", ".git/refs/heads/main"] {
        assert!(shown.metadata(&path(gone)).is_err(), "{gone}");
    }
    assert_eq!(text(&shown, ".git/refs/stash").as_deref(), Some("s"));
}

#[test]
fn a_file_and_a_directory_take_turns() {
    let mut branch = Branch::new(base());
    let view = folder(&branch, &[(".git/refs/heads/main/x", "2")], &[".git/refs/heads/main"]);
    let both = paths(&[".git/refs/heads/main", ".git/refs/heads/main/x"]);
    branch.keep_repository(&*view, &both).unwrap();
    assert_eq!(text(&branch.snapshot().with_repository(), ".git/refs/heads/main/x").as_deref(), Some("2"));
    let view = folder(&branch, &[(".git/refs/heads/main", "3")], &[".git/refs/heads/main"]);
    branch.keep_repository(&*view, &both).unwrap();
    assert_eq!(text(&branch.snapshot().with_repository(), ".git/refs/heads/main").as_deref(), Some("3"));
}

#[test]
fn a_repository_follows_its_branch() {
    let mut branch = Branch::new(base());
    branch.write(&path("a.py"), Bytes::from("b")).unwrap();
    let before = branch.revision();
    keep(&mut branch, &[(".git/refs/stash", "s"), ("sub/.git/HEAD", "y")], &[]);
    let kept = branch.revision();
    let main = |branch: &Branch| text(&branch.snapshot().with_repository(), ".git/refs/stash");
    branch.write(&path("a.py"), Bytes::from("c")).unwrap();
    assert_eq!(main(&branch.fork()).as_deref(), Some("s"));
    let restored = Branch::restore(base(), branch.steps()).unwrap();
    assert_eq!(main(&restored).as_deref(), Some("s"));
    assert_eq!(text(&restored.snapshot().with_repository(), "sub/.git/HEAD").as_deref(), Some("y"));
    assert_eq!(restored.steps(), branch.steps());
    let forked = Branch::restore(base(), branch.fork().steps()).unwrap();
    assert_eq!(main(&forked).as_deref(), Some("s"));
    branch.rebase(RebaseOnto::Base, OnConflict::Refuse).unwrap();
    branch.committed();
    assert_eq!(main(&branch).as_deref(), Some("s"));
    branch.undo_to(before).unwrap();
    assert_eq!(main(&branch), None);
    branch.undo_to(kept).unwrap();
    assert_eq!(main(&branch).as_deref(), Some("s"));
    assert_eq!(main(&Branch::restore(base(), branch.steps()).unwrap()).as_deref(), Some("s"));
}

#[test]
fn a_rebase_onto_the_parent_keeps_the_own_repository() {
    let mut parent = Branch::new(base());
    let mut child = parent.fork();
    keep(&mut child, &[(".git/refs/stash", "child")], &[]);
    parent.write(&path("new"), Bytes::from("n")).unwrap();
    child.rebase(RebaseOnto::Parent(&parent.snapshot()), OnConflict::Refuse).unwrap();
    assert_eq!(text(&child.snapshot().with_repository(), ".git/refs/stash").as_deref(), Some("child"));
    assert_eq!(text(&child.snapshot(), "new").as_deref(), Some("n"));
}

#[test]
fn files_of_a_repository_are_listed() {
    let mut branch = Branch::new(base());
    keep(&mut branch, &[("sub/.git/HEAD", "y"), (".git/refs/stash", "s")], &[]);
    let view = folder(&branch, &[], &[".git/refs/heads/main"]);
    branch.keep_repository(&*view, &paths(&[".git/refs/heads/main"])).unwrap();
    branch.write(&path("a.py"), Bytes::from("b")).unwrap();
    assert_eq!(branch.snapshot().repository_files(), paths(&[".git/refs/stash", "sub/.git/HEAD"]));
}
