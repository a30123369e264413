//! Back over a commit, by hand; `tests/model` mixes commits with all other edits.

use parking_lot::Mutex;

use super::*;
use crate::{ConflictKind, Listing, Memory, Metadata, Step, View};

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

/// A base that changes under the branch, as a disk does.
struct Moving(Mutex<Memory>);

impl Moving {
    fn new(files: &[(&str, &str)]) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Memory::from_files(files.iter().copied()).unwrap())))
    }

    fn set(&self, files: &[(&str, &str)]) {
        *self.0.lock() = Memory::from_files(files.iter().copied()).unwrap();
    }
}

impl View for Moving {
    fn read(&self, path: &WorkspacePath) -> std::io::Result<bytes::Bytes> {
        self.0.lock().read(path)
    }

    fn metadata(&self, path: &WorkspacePath) -> std::io::Result<Metadata> {
        self.0.lock().metadata(path)
    }

    fn list(&self, path: &WorkspacePath) -> std::io::Result<Listing> {
        self.0.lock().list(path)
    }

    fn read_link(&self, path: &WorkspacePath) -> std::io::Result<String> {
        self.0.lock().read_link(path)
    }
}

fn text(view: &dyn View, at: &str) -> String {
    let text = view.read(&path(at));
    text.map_or_else(|it| it.kind().to_string(), |it| String::from_utf8(it.to_vec()).unwrap())
}

const GONE: &str = "entity not found";

#[test]
fn what_a_commit_replaced_comes_back() {
    let base = Moving::new(&[("a", "old"), ("d/x", "x"), ("d/y", "y"), ("keep", "k")]);
    let mut branch = Branch::new(base.clone());
    branch.write(&path("a"), "new".into()).unwrap();
    branch.rename(&path("d"), &path("e")).unwrap();
    branch.write(&path("n/m"), "m".into()).unwrap();
    base.set(&[("a", "new"), ("e/x", "x"), ("e/y", "y"), ("n/m", "m"), ("keep", "k")]);
    assert_eq!(branch.committed(), Revision(4));
    let texts = |view: &dyn View| ["a", "d/x", "d/y", "e/x", "n/m", "keep"].map(|it| text(view, it));
    let start = ["old", "x", "y", GONE, GONE, "k"];
    assert_eq!(texts(&branch.at(Revision(0)).unwrap()), start);
    assert_eq!(texts(&branch.at(Revision(2)).unwrap()), ["new", GONE, GONE, "x", GONE, "k"]);
    let mut branch = Branch::restore(base.clone(), branch.steps()).unwrap();
    assert_eq!(branch.undo_to(Revision(0)).unwrap(), Revision(5));
    assert_eq!(texts(&branch.snapshot()), start);
    assert_eq!(branch.conflicts(None).unwrap(), []);
    base.set(&[("a", "old"), ("d/x", "x"), ("d/y", "y"), ("keep", "k")]);
    assert_eq!(branch.committed(), Revision(6));
    assert_eq!(texts(&branch.at(Revision(4)).unwrap()), ["new", GONE, GONE, "x", "m", "k"]);
    assert_eq!(texts(&branch.at(Revision(0)).unwrap()), start);
}

#[test]
fn what_changed_after_the_commit_is_a_conflict() {
    let base = Moving::new(&[("a", "1\n2\n3\n")]);
    let mut branch = Branch::new(base.clone());
    branch.write(&path("a"), "one\n2\n3\n".into()).unwrap();
    base.set(&[("a", "one\n2\n3\n")]);
    branch.committed();
    base.set(&[("a", "one\n2\nthree\n"), ("b", "b")]);
    branch.undo_to(Revision(0)).unwrap();
    let conflicts = branch.conflicts(None).unwrap();
    assert_eq!((conflicts.len(), conflicts[0].kind), (1, ConflictKind::Mergeable));
    branch.rebase(crate::RebaseOnto::Base, crate::OnConflict::Refuse).unwrap();
    assert_eq!(
        (text(&branch.snapshot(), "a"), text(&branch.snapshot(), "b")),
        ("1\n2\nthree\n".into(), "b".into())
    );
}

#[test]
fn a_commit_of_nothing_is_no_revision() {
    let mut branch = Branch::new(Moving::new(&[("a", "1")]));
    assert_eq!(branch.committed(), Revision(0));
    branch.write(&path("b"), "b".into()).unwrap();
    assert_eq!(branch.committed(), Revision(2));
    assert_eq!(branch.committed(), Revision(2));
    assert_eq!(branch.log().len(), 2);
}

#[test]
fn a_step_back_survives_the_store_and_goes_by_no_text() {
    let base = Moving::new(&[]);
    let mut branch = Branch::new(base.clone());
    for name in ["a", "b", "c"] {
        branch.write(&path(name), name.into()).unwrap();
    }
    branch.undo_to(branch.step_back().unwrap()).unwrap();
    assert_eq!(branch.step_back(), Some(Revision(1)));
    let steps = branch.steps().into_iter().map(|it| Step { what: "what".to_owned(), ..it });
    let branch = Branch::restore(base.clone(), steps).unwrap();
    assert_eq!(branch.step_back(), Some(Revision(1)), "the kind counts");
    let steps = branch.steps().into_iter().map(|it| Step {
        kind: StepKind::Edit,
        what: "undo to revision 2".to_owned(),
        ..it
    });
    assert_eq!(Branch::restore(base, steps).unwrap().step_back(), Some(Revision(3)));
}

#[test]
fn what_an_undo_puts_aside_is_undone() {
    let base = Moving::new(&[]);
    let mut branch = Branch::new(base.clone());
    let undone = |branch: &Branch| branch.undone().iter().map(|it| it.revision().0).collect::<Vec<_>>();
    for text in ["1", "2", "3"] {
        branch.write(&path("a"), text.into()).unwrap();
    }
    assert_eq!(undone(&branch), []);
    branch.undo_to(Revision(1)).unwrap();
    assert_eq!(undone(&branch), [2, 3]);
    assert_eq!(text(&branch.undone()[1], "a"), "3");
    base.set(&[("a", "1")]);
    branch.committed();
    assert_eq!(undone(&Branch::restore(base, branch.steps()).unwrap()), [2, 3]);
    let differing = |it: &Snapshot| it.changes_from_disk().unwrap().len();
    assert_eq!((differing(&branch.snapshot()), differing(&branch.undone()[0])), (0, 1));
}

const TEN: &str = "1\n2\n3\n4\n5\n6\n7\n8\n";

fn rebase(branch: &mut Branch, on_conflict: crate::OnConflict) {
    branch.rebase(crate::RebaseOnto::Base, on_conflict).unwrap();
}

/// Commits what the branch has of `a`.
fn commit(branch: &mut Branch, base: &Moving) {
    base.set(&[("a", &text(&branch.snapshot(), "a"))]);
    branch.committed();
}

#[test]
fn an_undo_past_a_merging_commit_takes_back_no_lines_of_others() {
    let base = Moving::new(&[("a", TEN)]);
    let mut branch = Branch::new(base.clone());
    branch.write(&path("a"), TEN.replace('3', "three").into()).unwrap();
    branch.write(&path("a"), TEN.replace('3', "three").replace('5', "five").into()).unwrap();
    base.set(&[("a", &TEN.replace('8', "MINE"))]);
    rebase(&mut branch, crate::OnConflict::Refuse);
    commit(&mut branch, &base);
    for (to, want) in [(0, TEN.to_owned()), (1, TEN.replace('3', "three"))] {
        let mut branch = Branch::restore(base.clone(), branch.steps()).unwrap();
        branch.undo_to(Revision(to)).unwrap();
        assert_eq!(text(&branch.snapshot(), "a"), want.replace('8', "MINE"), "back to {to}");
        assert_eq!(branch.conflicts(None).unwrap(), []);
    }
}

#[test]
fn an_undo_past_two_commits_keeps_what_others_changed_between_them() {
    let base = Moving::new(&[("a", TEN)]);
    let mut branch = Branch::new(base.clone());
    branch.write(&path("a"), TEN.replace('3', "three").into()).unwrap();
    commit(&mut branch, &base);
    let mine = TEN.replace('8', "MINE");
    base.set(&[("a", &mine.replace('3', "three"))]);
    branch.write(&path("a"), mine.replace('3', "three").replace('5', "five").into()).unwrap();
    commit(&mut branch, &base);
    for (to, want) in [(0, mine.clone()), (1, mine.replace('3', "three"))] {
        let mut branch = branch.clone();
        branch.undo_to(Revision(to)).unwrap();
        assert_eq!(text(&branch.snapshot(), "a"), want, "back to {to}");
        assert_eq!(branch.conflicts(None).unwrap(), []);
    }
}

#[test]
fn an_undo_past_a_conflict_is_a_conflict() {
    let base = Moving::new(&[("a", TEN)]);
    let mut branch = Branch::new(base.clone());
    branch.write(&path("a"), TEN.replace('3', "three").into()).unwrap();
    branch.write(&path("a"), TEN.replace('3', "III").into()).unwrap();
    base.set(&[("a", &TEN.replace('3', "MINE"))]);
    rebase(&mut branch, crate::OnConflict::KeepOurs);
    commit(&mut branch, &base);
    branch.undo_to(Revision(1)).unwrap();
    assert_eq!(text(&branch.snapshot(), "a"), TEN.replace('3', "three"));
    assert_eq!(branch.conflicts(None).unwrap()[0].kind, ConflictKind::BothAdded);
    branch.undo_to(Revision(2)).unwrap();
    assert_eq!(branch.conflicts(None).unwrap(), [], "the disk has it");
}
