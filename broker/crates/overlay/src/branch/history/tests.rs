//! Revisions, undo and transactions.

use std::sync::Arc;

use super::*;
use crate::{Memory, Origin};

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

fn branch() -> Branch {
    Branch::new(Arc::new(Memory::from_files([("a", "0"), ("d/b", "b")]).unwrap()))
}

fn text(view: &dyn View) -> String {
    view.read(&path("a")).map_or("gone".into(), |it| String::from_utf8(it.to_vec()).unwrap())
}

#[test]
fn each_revision_can_be_seen_and_returned_to() {
    let mut branch = branch();
    branch.write(&path("a"), "1".into()).unwrap();
    branch.remove(&path("a")).unwrap();
    assert_eq!(text(&branch.at(Revision(0)).unwrap()), "0");
    assert_eq!(text(&branch.at(Revision(1)).unwrap()), "1");
    assert!(branch.at(Revision(3)).is_none());
    assert_eq!(branch.undo_to(Revision(1)).unwrap(), Revision(3));
    assert_eq!(text(&branch.snapshot()), "1");
    let log: Vec<_> = branch.log().iter().map(|it| it.what.to_string()).collect();
    assert_eq!(log, ["write a", "remove a", "undo to revision 1"]);
    assert_eq!(*branch.log()[2].paths, [path("a")]);
    assert!(matches!(branch.undo_to(Revision(9)), Err(EditError::NoSuchRevision(Revision(9)))));
    assert!(matches!(branch.expect_revision(Revision(1)), Err(EditError::Stale { .. })));
}

#[test]
fn a_fork_has_a_history_of_its_own() {
    let mut parent = branch();
    parent.write(&path("a"), "1".into()).unwrap();
    let mut child = parent.fork();
    child.write(&path("c"), "c".into()).unwrap();
    assert_eq!(child.log().len(), 1);
    assert_eq!(text(&child.at(Revision(0)).unwrap()), "1");
    let paths: Vec<_> = child.snapshot().origins().map(|(path, _)| path.to_string()).collect();
    assert_eq!(paths, ["a", "c"]);
    let since_fork = child.snapshot().changes(&child.snapshot().fork_point()).unwrap();
    assert_eq!(since_fork.len(), 1);
}

#[test]
fn a_transaction_is_all_or_nothing() {
    let mut branch = branch();
    let failed = branch.transaction(|it| {
        it.write(&path("a"), "1".into())?;
        it.remove(&path("missing")).map(drop)
    });
    assert!(matches!(failed, Err(EditError::NotFound(_))));
    assert_eq!((text(&branch.snapshot()).as_str(), branch.revision()), ("0", Revision(0)));
    let made = branch.transaction(|it| {
        it.expect_revision(Revision(0))?;
        it.write(&path("a"), "1".into())?;
        it.rename(&path("d"), &path("e")).map(drop)
    });
    assert_eq!(made.unwrap(), Revision(1));
    assert_eq!(&*branch.log()[0].what, "2 edits, beginning with: write a");
    assert_eq!(*branch.log()[0].paths, ["a", "d", "e"].map(path));
    assert_eq!(branch.transaction(|_| Ok::<_, EditError>(())).unwrap(), Revision(1));
}

#[test]
fn origins_are_what_the_base_had() {
    let mut branch = branch();
    branch.write(&path("new/dir/x"), "x".into()).unwrap();
    branch.rename(&path("d"), &path("e")).unwrap();
    branch.write(&path("e/b"), "moved and edited".into()).unwrap();
    branch.write(&path("a"), "1".into()).unwrap();
    branch.write(&path("a"), "2".into()).unwrap();
    let origins: Vec<_> = branch
        .snapshot()
        .origins()
        .map(|(path, origin)| match origin {
            Origin::File { bytes, .. } => format!("{path}={}", String::from_utf8_lossy(bytes)),
            other => format!("{path}={other:?}"),
        })
        .collect();
    let want = ["a=0", "d=Directory", "d/b=b", "e=Missing", "e/b=Missing", "new=Missing", "new/dir=Missing"];
    assert_eq!(origins[..7], want);
    assert_eq!(origins[7..], ["new/dir/x=Missing"]);
}

#[test]
fn old_steps_collapse() {
    let mut branch = branch();
    let edits = KEPT_STEPS + SLACK;
    for n in 1..=edits {
        branch.write(&path(&format!("f{}", n % 7)), n.to_string().into()).unwrap();
    }
    let log = branch.log();
    assert_eq!(log.len(), KEPT_STEPS + 1);
    assert_eq!((log[0].revision, &*log[0].what), (Revision(100), "the first 100 edits"));
    assert_eq!(log[0].paths.len(), 7);
    assert!(branch.at(Revision(99)).is_none() && branch.at(Revision(100)).is_some());
    assert_eq!(branch.revision(), Revision(edits as u64));
}
