//! Tests of edits whose base or parent changes.

use parking_lot::Mutex;

use super::*;
use crate::{ContentHash, Listing, Memory, Metadata, View};

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::new(text).unwrap()
}

/// A base that changes under the branch, as a disk does.
struct Moving(Mutex<Memory>);

impl Moving {
    fn set(&self, change: impl FnOnce(&mut Memory)) {
        let mut memory = start();
        change(&mut memory);
        *self.0.lock() = memory;
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

    fn hash(&self, path: &WorkspacePath) -> std::io::Result<ContentHash> {
        self.0.lock().hash(path)
    }

    fn read_link(&self, path: &WorkspacePath) -> std::io::Result<String> {
        self.0.lock().read_link(path)
    }
}

const TEXT: &str = "1\n2\n3\n4\n5\n";

fn start() -> Memory {
    Memory::from_files([("a", TEXT), ("b", "b\n"), ("d/x", "x\n")]).unwrap()
}

fn branch() -> (Arc<Moving>, Branch) {
    let base = Arc::new(Moving(Mutex::new(start())));
    (base.clone(), Branch::new(base))
}

fn text(branch: &Branch, at: &str) -> String {
    let text = branch.snapshot().read(&path(at));
    text.map_or_else(|it| it.kind().to_string(), |it| String::from_utf8(it.to_vec()).unwrap())
}

fn kinds(conflicts: &[Conflict]) -> Vec<(String, ConflictKind)> {
    conflicts.iter().map(|it| (it.path.to_string(), it.kind)).collect()
}

#[test]
fn different_lines_are_merged() {
    let (base, mut branch) = branch();
    branch.write(&path("a"), "one\n2\n3\n4\n5\n".into()).unwrap();
    base.set(|it| it.insert_file(&path("a"), "1\n2\n3\n4\nfive\n".into(), true));
    assert_eq!(kinds(&branch.conflicts(None).unwrap()), [("a".to_owned(), ConflictKind::Mergeable)]);
    let rebased = branch.rebase(RebaseOnto::Base, OnConflict::Refuse).unwrap();
    assert_eq!((rebased.revision, rebased.merged), (Revision(2), vec![path("a")]));
    assert_eq!(text(&branch, "a"), "one\n2\n3\n4\nfive\n");
    assert!(branch.snapshot().metadata(&path("a")).unwrap().executable);
    assert_eq!(branch.conflicts(None).unwrap(), []);
    let again = branch.rebase(RebaseOnto::Base, OnConflict::Refuse).unwrap();
    assert_eq!(again.revision, Revision(2), "there is nothing to do");
}

#[test]
fn an_edit_that_the_base_has_too_is_dropped() {
    let (base, mut branch) = branch();
    branch.write(&path("a"), "same".into()).unwrap();
    branch.remove(&path("b")).unwrap();
    base.set(|it| {
        *it = Memory::from_files([("a", "same"), ("d/x", "x\n")]).unwrap();
    });
    assert_eq!(branch.conflicts(None).unwrap(), []);
    let rebased = branch.rebase(RebaseOnto::Base, OnConflict::Refuse).unwrap();
    assert_eq!(rebased.dropped, [path("a"), path("b")]);
    assert!(!branch.snapshot().is_edited(&WorkspacePath::root()));
    assert_eq!(branch.snapshot().origins().count(), 0);
}

#[test]
fn conflicts_are_refused_kept_or_marked() {
    let (base, mut branch) = branch();
    branch.write(&path("a"), "ours\n".into()).unwrap();
    branch.remove(&path("b")).unwrap();
    branch.write(&path("d/x"), "edited\n".into()).unwrap();
    branch.write(&path("new"), "n\n".into()).unwrap();
    base.set(|it| {
        *it = Memory::from_files([("a", "theirs\n"), ("b", "changed\n"), ("new/inside", "i")]).unwrap();
    });
    let want = [
        ("a".to_owned(), ConflictKind::Content),
        ("b".to_owned(), ConflictKind::DeletedHere),
        ("d/x".to_owned(), ConflictKind::DeletedThere),
        ("new".to_owned(), ConflictKind::TypeChanged),
    ];
    assert_eq!(kinds(&branch.conflicts(None).unwrap()), want);
    let refused = branch.rebase(RebaseOnto::Base, OnConflict::Refuse).unwrap_err();
    assert!(matches!(&refused, RebaseError::Conflicts(it) if kinds(it) == want), "{refused}");
    assert_eq!(branch.revision(), Revision(4));
    branch.rebase(RebaseOnto::Base, OnConflict::KeepOurs).unwrap_err();
    base.set(|it| {
        *it = Memory::from_files([("a", "theirs\n"), ("b", "changed\n")]).unwrap();
        it.insert_dir(&path("new"));
    });
    let mut kept = branch.clone();
    kept.rebase(RebaseOnto::Base, OnConflict::KeepOurs).unwrap();
    assert_eq!((text(&kept, "a").as_str(), kept.conflicts(None).unwrap()), ("ours\n", vec![]));
    branch.rebase(RebaseOnto::Base, OnConflict::Markers).unwrap();
    assert_eq!(text(&branch, "a"), "<<<<<<< ours\nours\n=======\ntheirs\n>>>>>>> theirs\n");
    assert_eq!(
        (text(&branch, "b").as_str(), text(&branch, "d/x").as_str()),
        ("entity not found", "edited\n")
    );
}

#[test]
fn a_directory_that_both_made_has_the_files_of_both() {
    let (base, mut branch) = branch();
    branch.write(&path("new/sub/ours"), "o".into()).unwrap();
    base.set(|it| it.insert_file(&path("new/sub/theirs"), "t".into(), false));
    branch.rebase(RebaseOnto::Base, OnConflict::Refuse).unwrap();
    assert_eq!((text(&branch, "new/sub/ours"), text(&branch, "new/sub/theirs")), ("o".into(), "t".into()));
    let snapshot = branch.snapshot();
    let changes = snapshot.changes(&snapshot.base_of()).unwrap();
    assert_eq!(changes.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["new/sub/ours"]);
}

#[test]
fn a_moved_file_that_changed_is_a_conflict() {
    let (base, mut branch) = branch();
    branch.rename(&path("d"), &path("e")).unwrap();
    branch.write(&path("e/x"), "moved and edited".into()).unwrap();
    base.set(|it| it.insert_file(&path("d/x"), "changed".into(), false));
    assert_eq!(kinds(&branch.conflicts(None).unwrap()), [("d/x".to_owned(), ConflictKind::DeletedHere)]);
}

#[test]
fn a_child_follows_its_parent() {
    let (_, mut parent) = branch();
    parent.write(&path("p"), TEXT.into()).unwrap();
    let mut child = parent.fork();
    child.write(&path("p"), "one\n2\n3\n4\n5\n".into()).unwrap();
    child.write(&path("a"), "child\n".into()).unwrap();
    child.write(&path("d/c"), "c".into()).unwrap();
    parent.write(&path("p"), "1\n2\n3\n4\nfive\n".into()).unwrap();
    parent.write(&path("a"), "parent\n".into()).unwrap();
    parent.write(&path("d/p"), "p".into()).unwrap();
    parent.remove(&path("b")).unwrap();
    let onto = parent.snapshot();
    let refused = child.rebase(RebaseOnto::Parent(&onto), OnConflict::Refuse).unwrap_err();
    let RebaseError::Conflicts(want) = refused else { panic!("{refused}") };
    let found: Vec<_> = want.iter().map(|it| (it.path.as_str(), it.kind, it.hunks[0].line)).collect();
    assert_eq!(found, [("a", ConflictKind::Content, 1)]);
    let rebased = child.rebase(RebaseOnto::Parent(&onto), OnConflict::KeepOurs).unwrap();
    assert_eq!((rebased.merged, rebased.conflicts), (vec![path("p")], want));
    let texts = ["p", "a", "d/c", "d/p", "b"].map(|it| text(&child, it));
    assert_eq!(texts, ["one\n2\n3\n4\nfive\n", "child\n", "c", "p", "entity not found"]);
    let changes = child.snapshot().changes(&child.snapshot().fork_point()).unwrap();
    assert_eq!(changes.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["a", "d/c", "p"]);
    let again = child.rebase(RebaseOnto::Parent(&onto), OnConflict::Refuse).unwrap();
    assert_eq!(again.revision, rebased.revision);
    let restored = Branch::restore(child.snapshot().tree().base.clone(), child.steps()).unwrap();
    assert_eq!(restored.steps(), child.steps());
    let since_fork = restored.snapshot().changes(&restored.snapshot().fork_point()).unwrap();
    assert_eq!(since_fork, changes);
}

#[test]
fn a_child_follows_its_parent_over_a_commit() {
    let (base, mut parent) = branch();
    parent.write(&path("a"), "one\n2\n3\n4\n5\n".into()).unwrap();
    parent.write(&path("d/p"), "p".into()).unwrap();
    parent.rename(&path("b"), &path("B")).unwrap();
    let mut child = parent.fork();
    child.write(&path("a"), "one\n2\n3\n4\nfive\n".into()).unwrap();
    child.write(&path("d/c"), "c".into()).unwrap();
    child.write(&path("B"), "edited".into()).unwrap();
    let committed = [("a", "one\n2\n3\n4\n5\n"), ("B", "b\n"), ("d/x", "x\n"), ("d/p", "p")];
    base.set(|it| *it = Memory::from_files(committed).unwrap());
    parent.committed();
    let before = ["a", "B", "b", "d/c", "d/p", "d/x"].map(|it| text(&child, it));
    child.rebase(RebaseOnto::Parent(&parent.snapshot()), OnConflict::Refuse).unwrap();
    assert_eq!(before, ["a", "B", "b", "d/c", "d/p", "d/x"].map(|it| text(&child, it)));
    assert_eq!(child.conflicts(None).unwrap(), []);
    let snapshot = child.snapshot();
    let changes = snapshot.changes(&snapshot.base_of()).unwrap();
    assert_eq!(changes.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["B", "a", "d/c"]);
    for path in ["B", "a"].map(path) {
        let origin = snapshot.origins().find(|it| *it.0 == path).unwrap().1;
        assert!(origin.holds(&*base, &path).unwrap(), "a commit expects what the parent wrote: {path}");
    }
}

/// The parent is gone, and all that it wrote is in the base.
#[test]
fn a_child_of_a_committed_parent_goes_on_from_it() {
    let (base, mut parent) = branch();
    parent.write(&path("a"), "one\n2\n3\n4\n5\n".into()).unwrap();
    parent.write(&path("new"), "n\n".into()).unwrap();
    let mut child = parent.fork();
    child.write(&path("a"), "uno\n2\n3\n4\n5\n".into()).unwrap();
    child.write(&path("new"), "child\n".into()).unwrap();
    base.set(|it| {
        it.insert_file(&path("a"), "one\n2\n3\n4\n5\n".into(), false);
        it.insert_file(&path("new"), "n\n".into(), false);
    });
    child.rebase(RebaseOnto::Base, OnConflict::Refuse).unwrap();
    assert_eq!((text(&child, "a").as_str(), text(&child, "new").as_str()), ("uno\n2\n3\n4\n5\n", "child\n"));
    assert_eq!(child.conflicts(None).unwrap(), []);
}

/// In a directory that was moved nothing shows through, but it follows the base all the same.
#[test]
fn a_moved_directory_meets_its_like() {
    let (base, mut branch) = branch();
    branch.rename(&path("d"), &path("e")).unwrap();
    let mut other = branch.fork();
    base.set(|it| *it = Memory::from_files([("a", TEXT), ("b", "b\n"), ("e/x", "x\n")]).unwrap());
    assert_eq!(branch.conflicts(None).unwrap(), []);
    branch.rebase(RebaseOnto::Base, OnConflict::Refuse).unwrap();
    assert_eq!((text(&branch, "e/x").as_str(), text(&branch, "d/x").as_str()), ("x\n", "entity not found"));
    base.set(|it| it.insert_file(&path("e/x"), "theirs".into(), false));
    assert_eq!(text(&branch, "e/x"), "theirs");
    assert_eq!(kinds(&other.conflicts(None).unwrap()), [("e/x".to_owned(), ConflictKind::BothAdded)]);
    other.rebase(RebaseOnto::Base, OnConflict::Markers).unwrap();
    assert_eq!(text(&other, "e/x"), "<<<<<<< ours\nx\n=======\ntheirs\n>>>>>>> theirs\n");
}

#[test]
fn what_came_into_a_moved_directory_stays_there() {
    let (base, mut branch) = branch();
    let mut replaced = branch.fork();
    branch.rename(&path("d"), &path("e")).unwrap();
    branch.write(&path("d/again"), "a".into()).unwrap();
    branch.remove(&path("d")).unwrap();
    replaced.remove(&path("d")).unwrap();
    replaced.write(&path("d"), "a file".into()).unwrap();
    base.set(|it| {
        for name in ["d/again", "d/late", "d/sub/late"] {
            it.insert_file(&path(name), "late".into(), false);
        }
    });
    let late = |kind| ["d/again", "d/late", "d/sub"].map(|it| (it.to_owned(), kind));
    assert_eq!(kinds(&branch.conflicts(None).unwrap()), late(ConflictKind::Mergeable));
    branch.rebase(RebaseOnto::Base, OnConflict::Refuse).unwrap();
    let texts = ["d/again", "d/late", "d/sub/late", "d/x", "e/x"].map(|it| text(&branch, it));
    assert_eq!(texts, ["late", "late", "late", "entity not found", "x\n"]);
    assert_eq!(branch.conflicts(None).unwrap(), []);
    let snapshot = branch.snapshot();
    let changes = snapshot.changes(&snapshot.base_of()).unwrap();
    assert_eq!(changes.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), ["e", "e/x"]);
    assert_eq!(kinds(&replaced.conflicts(None).unwrap()), late(ConflictKind::TypeChanged));
    for on_conflict in [OnConflict::Refuse, OnConflict::KeepOurs, OnConflict::Markers] {
        let refused = replaced.rebase(RebaseOnto::Base, on_conflict).unwrap_err();
        assert!(matches!(refused, RebaseError::Conflicts(it) if it.len() == 3), "these are not the branch's");
    }
    let decided = ["d/again", "d/late", "d/sub"].map(|it| (path(it), Resolution::All(Side::Ours))).into();
    let options = MergeOptions { resolutions: Some(&decided), ..OnConflict::Refuse.into() };
    replaced.rebase(RebaseOnto::Base, options).unwrap();
    assert_eq!((text(&replaced, "d").as_str(), replaced.conflicts(None).unwrap()), ("a file", vec![]));
    assert!(replaced.snapshot().origins().any(|it| *it.0 == path("d/sub/late")), "a commit may remove it");
}

#[test]
fn what_stands_where_a_directory_was_moved_to_is_told() {
    let (base, mut branch) = branch();
    branch.rename(&path("d"), &path("e")).unwrap();
    base.set(|it| it.insert_file(&path("e/late"), "late".into(), false));
    let late = [("e/late".to_owned(), ConflictKind::Mergeable)];
    assert_eq!(kinds(&branch.conflicts(None).unwrap()), late);
    branch.rebase(RebaseOnto::Base, OnConflict::Refuse).unwrap();
    assert_eq!(["e/x", "e/late"].map(|it| text(&branch, it)), ["x\n", "late"]);
    assert_eq!(branch.conflicts(None).unwrap(), []);
}

#[test]
fn a_directory_that_became_a_file_is_a_conflict() {
    let (base, mut branch) = branch();
    branch.write(&path("d/sub/new"), "n".into()).unwrap();
    for replace in [
        |it: &mut Memory| it.insert_file(&path("d"), "f".into(), false),
        |it: &mut Memory| {
            it.insert_symlink(&path("d"), "a");
        },
    ] {
        base.set(|it| {
            *it = Memory::from_files([("a", TEXT)]).unwrap();
            replace(it);
        });
        let mut branch = branch.clone();
        assert_eq!(kinds(&branch.conflicts(None).unwrap()), [("d".to_owned(), ConflictKind::TypeChanged)]);
        branch.rebase(RebaseOnto::Base, OnConflict::Refuse).unwrap_err();
        let rebased = branch.rebase(RebaseOnto::Base, OnConflict::KeepOurs).unwrap();
        assert_eq!((rebased.revision, branch.conflicts(None).unwrap()), (Revision(2), vec![]));
        assert_eq!(text(&branch, "d/sub/new"), "n");
        base.set(|_| {});
        assert_eq!(kinds(&branch.conflicts(None).unwrap()), []);
        branch.rebase(RebaseOnto::Base, OnConflict::Refuse).unwrap();
        assert_eq!((text(&branch, "d/sub/new").as_str(), text(&branch, "d/x").as_str()), ("n", "x\n"));
    }
}

#[test]
fn edits_below_what_the_other_side_removed_are_not_lost() {
    for swapped in [false, true] {
        let (_, parent) = branch();
        let (mut edits, mut removes) = (parent.fork(), parent.fork());
        edits.write(&path("d/new"), "n".into()).unwrap();
        removes.remove(&path("d")).unwrap();
        let (mut own, other) = if swapped { (removes, edits) } else { (edits, removes) };
        let refused = own.rebase(RebaseOnto::Parent(&other.snapshot()), OnConflict::Refuse);
        let kind = if swapped { ConflictKind::DeletedHere } else { ConflictKind::DeletedThere };
        let want = vec![Conflict { path: path("d"), kind, hunks: Vec::new() }];
        assert!(matches!(refused, Err(RebaseError::Conflicts(it)) if it == want));
    }
}

#[test]
fn a_commit_leaves_no_edits() {
    let (base, mut branch) = branch();
    branch.write(&path("a"), "new".into()).unwrap();
    base.set(|it| it.insert_file(&path("a"), "new".into(), false));
    assert_eq!(branch.committed(), Revision(2));
    assert!(!branch.snapshot().is_edited(&WorkspacePath::root()));
    assert_eq!((branch.snapshot().origins().count(), text(&branch, "a").as_str()), (0, "new"));
    let restored = Branch::restore(base, branch.steps()).unwrap();
    assert_eq!(restored.log(), branch.log());
}

#[test]
fn a_function_merges_what_lines_cannot() {
    let (base, mut branch) = branch();
    branch.write(&path("a"), "1\n2\n3\n4\n5\nours\n".into()).unwrap();
    base.set(|it| it.insert_file(&path("a"), "1\n2\n3\n4\n5\ntheirs\n".into(), false));
    let by_syntax: SyntaxMerge = |path, [base, ours, theirs]| {
        let added = |side: &str| side.strip_prefix(base).map(str::to_owned);
        (path.as_str() == "a").then_some(format!("{base}{}{}", added(ours)?, added(theirs)?))
    };
    assert_eq!(kinds(&branch.conflicts(None).unwrap()), [("a".to_owned(), ConflictKind::Content)]);
    let told = branch.conflicts(Some(by_syntax)).unwrap();
    assert_eq!(kinds(&told), [("a".to_owned(), ConflictKind::Mergeable)]);
    let options = MergeOptions { by_syntax: Some(by_syntax), ..OnConflict::Refuse.into() };
    let rebased = branch.rebase(RebaseOnto::Base, options).unwrap();
    assert_eq!((rebased.merged, rebased.merged_by_syntax), (vec![path("a")], vec![path("a")]));
    assert_eq!(text(&branch, "a"), "1\n2\n3\n4\n5\nours\ntheirs\n");
}

#[test]
fn conflicts_are_decided_one_by_one() {
    let (base, mut branch) = branch();
    branch.write(&path("a"), "one\n2\n3\n4\nfive\n".into()).unwrap();
    branch.remove(&path("b")).unwrap();
    base.set(|it| {
        *it =
            Memory::from_files([("a", "eins\n2\n3\n4\nfunf\n"), ("b", "changed\n"), ("d/x", "x\n")]).unwrap();
    });
    let rebase = |decided: &[(&str, Resolution)]| {
        let decided = decided.iter().map(|(at, it)| (path(at), it.clone())).collect();
        let mut branch = branch.clone();
        let options = MergeOptions { resolutions: Some(&decided), ..OnConflict::Refuse.into() };
        branch.rebase(RebaseOnto::Base, options).map(|_| (text(&branch, "a"), text(&branch, "b")))
    };
    let sides = |sides: &[Side]| Resolution::Each(sides.to_vec());
    let of_b = ("b", sides(&[Side::Theirs]));
    let (a, b) = rebase(&[("a", sides(&[Side::Ours, Side::Theirs])), of_b.clone()]).unwrap();
    assert_eq!((a.as_str(), b.as_str()), ("one\n2\n3\n4\nfunf\n", "changed\n"));
    let (a, b) = rebase(&[("a", Resolution::All(Side::Both)), ("b", Resolution::All(Side::Ours))]).unwrap();
    assert_eq!((a.as_str(), b.as_str()), ("one\neins\n2\n3\n4\nfive\nfunf\n", "entity not found"));
    let (a, _) = rebase(&[("a", sides(&[Side::Base, Side::Base])), of_b.clone()]).unwrap();
    assert_eq!(a, TEXT);
    let (a, _) = rebase(&[("a", Resolution::Text("all\n".to_owned())), of_b.clone()]).unwrap();
    assert_eq!(a, "all\n");
    let error = |decided: &[(&str, Resolution)]| rebase(decided).unwrap_err().to_string();
    let all = ("a", Resolution::All(Side::Ours));
    assert!(
        error(std::slice::from_ref(&all)).starts_with("both sides changed 1 of the same paths"),
        "`b` is left"
    );
    let three = ("a", sides(&[Side::Ours; 3]));
    assert_eq!(error(&[three, of_b.clone()]), "`a` has 2 conflicts, 3 decisions given");
    let one = ("a", sides(&[Side::Ours]));
    assert_eq!(error(&[one, of_b.clone()]), "`a` has 2 conflicts, 1 decision given");
    assert_eq!(error(&[("b", sides(&[]))]), "`b` has 1 conflict, 0 decisions given");
    let more = ("d/x", sides(&[Side::Ours]));
    let both = "`d/x` is in no conflict; `a`, `b` are";
    assert_eq!(error(&[all.clone(), of_b, more.clone()]), both);
    assert_eq!(error(&[all, more]), "`d/x` is in no conflict; `b`, `a` are", "though `b` is left");
    let of_b = ("b", sides(&[Side::Both]));
    let no_lines = "the conflict of `b` has no lines: one of `ours` and `theirs` decides it";
    assert_eq!(error(&[of_b]), no_lines);
}

#[test]
fn sides_have_one_name() {
    let all = ["ours", "theirs", "both", "base"].map(|it| it.parse::<Side>().unwrap());
    assert_eq!(all, [Side::Ours, Side::Theirs, Side::Both, Side::Base]);
    let unknown = "mine".parse::<Side>().unwrap_err().to_string();
    assert_eq!(unknown, "`mine` is no side; expected `ours`, `theirs`, `both` or `base`");
}

/// The differences from the fork point as the branch touched it, and the paths at which the base has moved on.
fn since_fork(branch: &Branch) -> (Vec<String>, Vec<String>) {
    let now = branch.snapshot();
    let (before, outdated) = now.as_touched(&now.fork_point()).unwrap();
    let changes = now.changes(&before).unwrap();
    let patch = crate::unified(&changes, &before, &now, 0).unwrap();
    let lines = patch.lines().filter(|it| !it.starts_with("@@") && !it.starts_with("diff"));
    (lines.map(str::to_owned).collect(), outdated.iter().map(ToString::to_string).collect())
}

#[test]
fn a_difference_takes_no_change_of_the_base_back() {
    let (base, mut branch) = branch();
    branch.write(&path("a"), TEXT.replace('2', "two").into()).unwrap();
    branch.remove(&path("d")).unwrap();
    branch.write(&path("new"), "ours\n".into()).unwrap();
    let untouched = since_fork(&branch);
    assert_eq!(untouched.1, [""; 0]);
    let theirs = TEXT.replace('4', "four");
    base.set(|it| {
        let files = [
            ("a", &*theirs),
            ("b", "changed\n"),
            ("d/x", "changed\n"),
            ("d/late", "late\n"),
            ("new", "theirs\n"),
        ];
        *it = Memory::from_files(files).unwrap();
    });
    let (lines, outdated) = since_fork(&branch);
    assert_eq!(lines, untouched.0);
    assert_eq!(outdated, ["a", "d/late", "d/x", "new"]);
    branch.rebase(RebaseOnto::Base, OnConflict::KeepOurs).unwrap();
    assert_eq!(since_fork(&branch).1, [""; 0]);
    assert_eq!(text(&branch, "a"), theirs.replace('2', "two"));
}

#[test]
fn a_difference_shows_neither_what_the_parent_has_nor_what_the_base_has_too() {
    let (base, mut parent) = branch();
    parent.write(&path("a"), "parent\n".into()).unwrap();
    let mut child = parent.fork();
    child.write(&path("b"), "child\n".into()).unwrap();
    base.set(|it| *it = Memory::from_files([("a", "changed\n"), ("b", "child\n"), ("d/x", "x\n")]).unwrap());
    assert_eq!(since_fork(&child), (Vec::new(), Vec::new()));
    base.set(|it| *it = Memory::from_files([("a", "changed\n"), ("b", "other\n"), ("d/x", "x\n")]).unwrap());
    let (lines, outdated) = since_fork(&child);
    assert_eq!((lines.last().map(String::as_str), outdated), (Some("+child"), vec!["b".to_owned()]));
    assert_eq!(lines.iter().filter(|it| it.contains("a/a") || it.contains("other")).count(), 0, "{lines:?}");
}

#[test]
fn keeping_ours_takes_the_lines_that_only_the_other_side_changed() {
    let (base, mut branch) = branch();
    let parent = branch.fork();
    branch.write(&path("a"), TEXT.replace('2', "ours").into()).unwrap();
    base.set(|it| it.insert_file(&path("a"), TEXT.replace('2', "theirs").replace('5', "five").into(), true));
    let rebased = branch.rebase(RebaseOnto::Base, OnConflict::KeepOurs).unwrap();
    assert_eq!(rebased.conflicts.len(), 1);
    assert_eq!(text(&branch, "a"), TEXT.replace('2', "ours").replace('5', "five"));
    assert!(branch.snapshot().metadata(&path("a")).unwrap().executable);
    let (mut parent, mut child) = (parent.fork(), parent.fork());
    base.set(|_| {});
    child.write(&path("a"), TEXT.replace('2', "ours").into()).unwrap();
    parent.write(&path("a"), TEXT.replace('2', "theirs").replace('5', "five").into()).unwrap();
    child.rebase(RebaseOnto::Parent(&parent.snapshot()), OnConflict::KeepOurs).unwrap();
    assert_eq!(text(&child, "a"), TEXT.replace('2', "ours").replace('5', "five"));
}

#[test]
fn keeping_ours_removes_no_directory_that_the_branch_never_saw() {
    let (base, mut branch) = branch();
    branch.write(&path("n"), "ours\n".into()).unwrap();
    base.set(|it| it.insert_file(&path("n/theirs"), "t".into(), false));
    let refused = branch.rebase(RebaseOnto::Base, OnConflict::KeepOurs).unwrap_err();
    assert!(
        matches!(refused, RebaseError::Conflicts(it) if kinds(&it) == [("n".to_owned(), ConflictKind::TypeChanged)])
    );
    let decided = BTreeMap::from([(path("n"), Resolution::All(Side::Ours))]);
    let options = MergeOptions { resolutions: Some(&decided), ..OnConflict::Refuse.into() };
    branch.rebase(RebaseOnto::Base, options).unwrap();
    assert_eq!((text(&branch, "n").as_str(), branch.conflicts(None).unwrap()), ("ours\n", vec![]));
}
