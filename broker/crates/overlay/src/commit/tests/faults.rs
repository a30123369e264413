//! Commits that die or fail at every single step, and users who edit in the meantime.

use super::*;

/// Number of steps of a whole commit that change the disk.
pub(super) fn steps() -> usize {
    let place = Place::new(fill);
    place.commit(&changes()).unwrap();
    place.committer.folder.fail_point().steps()
}

pub(super) fn before_and_after() -> (Tree, Tree) {
    let place = Place::new(fill);
    let before = place.tree();
    place.commit(&changes()).unwrap();
    (before, place.tree())
}

#[test]
fn killed_at_any_step_it_is_all_or_nothing() {
    let (before, after) = before_and_after();
    let mut outcomes = [0, 0];
    for n in 0..steps() {
        let place = Place::new(fill);
        let fail_point = place.committer.folder.fail_point();
        fail_point.set(Some(n), None);
        place.commit(&changes()).unwrap_err();
        fail_point.set(None, None);
        let recovered = place.committer.recover().unwrap();
        assert!(recovered.iter().all(|it| it.leftovers.is_empty()), "step {n}: {recovered:?}");
        let tree = place.tree();
        assert!(tree == before || tree == after, "step {n}: {tree:#?}");
        outcomes[usize::from(tree == after)] += 1;
        assert!(
            place.journal().iter().all(|it| it == "commit.unfinished"),
            "step {n}: {:?}",
            place.journal()
        );
        assert_eq!(place.committer.recover().unwrap(), None, "step {n}");
    }
    assert!(outcomes.iter().all(|it| *it > 10), "{outcomes:?}");
}

#[test]
fn a_recovery_can_be_killed_too() {
    let (before, after) = before_and_after();
    for n in (0..steps()).step_by(3) {
        for m in 0.. {
            let place = Place::new(fill);
            let fail_point = place.committer.folder.fail_point();
            fail_point.set(Some(n), None);
            place.commit(&changes()).unwrap_err();
            fail_point.set(Some(m), None);
            let recovered = place.committer.recover();
            fail_point.set(None, None);
            let is_whole = recovered.is_ok();
            place.committer.recover().unwrap();
            let tree = place.tree();
            assert!(tree == before || tree == after, "steps {n}, {m}: {tree:#?}");
            if is_whole {
                break;
            }
        }
    }
}

#[test]
fn an_error_at_any_step_takes_everything_back() {
    let (before, after) = before_and_after();
    for n in 0..steps() {
        let place = Place::new(fill);
        let fail_point = place.committer.folder.fail_point();
        fail_point.set(None, Some(n));
        let done = place.commit(&changes());
        let tree = place.tree();
        assert_eq!(&tree, if done.is_ok() { &after } else { &before }, "step {n}: {done:?}");
        assert!(place.journal().is_empty(), "step {n}: {:?}", place.journal());
    }
}

#[test]
fn dying_while_taking_back_is_no_harm() {
    let (before, after) = before_and_after();
    let steps = steps();
    for n in (0..steps).step_by(2) {
        for m in (n + 1..2 * steps).step_by(5) {
            let place = Place::new(fill);
            let fail_point = place.committer.folder.fail_point();
            fail_point.set(Some(m), Some(n));
            let done = place.commit(&changes());
            fail_point.set(None, None);
            place.committer.recover().unwrap();
            let tree = place.tree();
            assert!(tree == before || (tree == after), "steps {n}, {m}: {done:?} {tree:#?}");
        }
    }
}

/// Another program replaced a directory above one that was removed.
#[test]
fn what_is_out_of_reach_is_left() {
    let place = Place::new(fill);
    decided(&place);
    let journal = place.folder.path().join("state/journal");
    fs::rename(journal.join("commit.decided"), journal.join("commit.undoing")).unwrap();
    fs::rename(place.root().join("src"), place.root().join("elsewhere")).unwrap();
    fs::write(place.root().join("src"), "the user's").unwrap();
    let recovered = place.committer.recover().unwrap().unwrap();
    assert_eq!(recovered.outcome, Outcome::TakenBack);
    assert_eq!(place.tree()["src"].0, "file the user's");
}

/// Kills a commit just after it was decided.
fn decided(place: &Place) {
    let fail_point = place.committer.folder.fail_point();
    for n in 0.. {
        fail_point.set(Some(n), None);
        place.commit(&changes()).unwrap_err();
        fail_point.set(None, None);
        if place.journal().contains(&"commit.decided".to_owned()) {
            return;
        }
        place.committer.recover().unwrap();
    }
}

#[test]
fn a_recovery_spares_what_the_user_changed_since() {
    let place = Place::new(fill);
    decided(&place);
    let root = place.root();
    fs::write(root.join("src/lib.rs"), "the user's").unwrap();
    fs::write(root.join("src/old/mine"), "the user's").unwrap();
    fs::remove_file(root.join("link")).unwrap();
    let recovered = place.committer.recover().unwrap().unwrap();
    assert_eq!(recovered.outcome, Outcome::Finished);
    let paths: Vec<_> = recovered.leftovers.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["src/old", "link", "src/lib.rs", "src/old"]);
    let kept = recovered.leftovers[2].kept.as_ref().unwrap();
    assert_eq!(fs::read_to_string(kept).unwrap(), "new lib");
    let tree = place.tree();
    assert_eq!(tree["src/lib.rs"].0, "file the user's");
    assert_eq!(tree["src/old/mine"].0, "file the user's");
    assert_eq!(tree["becomes-dir/inner"].0, "file inner");
    assert!(!tree.contains_key("link"));
    assert!(!tree.keys().any(|it| it.contains(".broker")), "{tree:?}");
    assert!(place.journal().iter().all(|it| it.starts_with("kept")));
}

#[test]
fn nothing_is_committed_before_recovery() {
    let place = Place::new(fill);
    decided(&place);
    let error = place.commit(&changes()).unwrap_err();
    assert!(matches!(error, CommitError::Interrupted { .. }), "{error}");
    assert!(error.to_string().contains("commit.decided"), "{error}");
}

#[test]
fn a_damaged_journal_is_named_and_nothing_touched() {
    let place = Place::new(fill);
    decided(&place);
    let journal = place.folder.path().join("state/journal/commit.decided");
    let whole = fs::read(&journal).unwrap();
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    for damaged in [&[][..], &whole[..10], &whole[..whole.len() - 1], &flipped] {
        fs::write(&journal, damaged).unwrap();
        let tree = place.tree();
        let error = place.committer.recover().unwrap_err();
        assert!(matches!(error, CommitError::Damaged { .. }), "{error}");
        let told = error.to_string();
        assert!(told.contains("commit.decided") && told.contains("`.broker-`"), "{told}");
        assert_eq!(place.tree(), tree);
    }
    fs::write(&journal, &whole).unwrap();
    place.committer.recover().unwrap().unwrap();
    assert_eq!(place.tree(), before_and_after().1);
}

/// The whole path of an error from the system: one that root meets too.
#[test]
fn what_the_system_refuses_is_taken_back() {
    let place = Place::new(|root| {
        fs::create_dir(root.join("dir")).unwrap();
        fs::write(root.join("file"), "old").unwrap();
    });
    let before = place.tree();
    let long = format!("dir/{}", "x".repeat(300));
    let error = place
        .commit(&[
            write("file", "new", file("old")),
            FileOp::Symlink { path: at("link"), target: "x".repeat(5000), before: Expected::Missing },
        ])
        .unwrap_err();
    assert!(matches!(error, CommitError::Io { .. }), "{error}");
    assert!(place.commit(&[write(&long, "", Expected::Missing)]).is_err());
    assert_eq!(place.tree(), before);
    assert!(place.journal().is_empty());
}

/// Runs itself once more as an ordinary user if the user may write everywhere, as root may.
#[test]
fn a_directory_that_cannot_be_written_to() {
    use std::os::unix::process::CommandExt as _;
    let place = Place::new(fill);
    set_mode(&place.root().join("src"), 0o555);
    let is_almighty = fs::write(place.root().join("src/probe"), "").is_ok();
    if is_almighty {
        let mut ordinary = std::process::Command::new(std::env::current_exe().unwrap());
        ordinary.args(["commit::tests::faults::a_directory_that_cannot_be_written_to", "--exact"]);
        match ordinary.uid(65534).gid(65534).output() {
            Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout)),
            Err(error) => println!("skipped: this user may write into every directory ({error})"),
        }
        return;
    }
    // The first is refused when texts are laid down, the second when things are put in place.
    for directory in ["src", "src/old/deep"] {
        let place = Place::new(fill);
        let directory = place.root().join(directory);
        set_mode(&directory, 0o555);
        let before = place.tree();
        let error = place.commit(&changes()).unwrap_err();
        assert!(matches!(error, CommitError::Io { .. }), "{error}");
        assert_eq!(place.tree(), before);
        assert!(place.journal().is_empty());
        set_mode(&directory, 0o755);
        place.commit(&changes()).unwrap();
    }
    set_mode(&place.root().join("src"), 0o755);
}

/// Everything is looked at a second time, directly before it is changed.
#[test]
fn what_changes_after_the_first_look_is_a_conflict_too() {
    type Edit = fn(&Path);
    let edits: [(&str, Edit); 7] = [
        ("src/lib.rs", |root| fs::write(root.join("src/lib.rs"), "the user's").unwrap()),
        ("src/lib.rs", |root| fs::remove_file(root.join("src/lib.rs")).unwrap()),
        ("src/old/deep", |root| fs::write(root.join("src/old/deep/mine"), "the user's").unwrap()),
        ("new", |root| fs::write(root.join("new"), "the user's").unwrap()),
        ("run.sh", |root| set_mode(&root.join("run.sh"), 0o755)),
        ("link", |root| {
            fs::remove_file(root.join("link")).unwrap();
            fs::write(root.join("link"), "the user's").unwrap();
        }),
        ("src/old/a.rs", |root| {
            fs::rename(root.join("src"), root.join("moved")).unwrap();
            symlink("moved", root.join("src")).unwrap();
        }),
    ];
    for (path, edit) in edits {
        let place = Place::new(fill);
        let committer = &place.committer;
        let mut journal = Journal::new(&committer.journal_dir, committer.folder.fail_point());
        let plan = plan::make(&committer.folder, &changes()).unwrap();
        edit(&place.root());
        let edited = place.tree();
        let mut begun = 0;
        let error = committer.carry_out(&plan, &mut journal, &mut begun).unwrap_err();
        let error = committer.give_up(&plan, &mut journal, begun, error);
        let CommitError::Conflicts(conflicts) = &error else { panic!("{path}: {error}") };
        let place_of = |it: &Conflict| it.path.as_str().to_owned();
        if path == "src/old/a.rs" {
            assert_eq!(conflicts[0].found, DiskState::Unreachable, "{error}");
        } else {
            assert_eq!(conflicts.iter().map(place_of).collect::<Vec<_>>(), [path], "{error}");
        }
        assert_eq!(place.tree(), edited, "{path}");
        assert!(place.journal().is_empty());
    }
}
