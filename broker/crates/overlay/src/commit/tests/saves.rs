//! Users who save at every single step of a commit, of one that is taken back, and of one that is killed.

use std::io::Write as _;

use super::*;

const SAVED: &str = "the user's";

/// A file of each fate.
const TARGETS: [&str; 4] = ["edited", "gone", "linked", "made"];

fn fill(root: &Path) {
    for name in ["edited", "gone", "linked", "elsewhere"] {
        fs::write(root.join(name), name).unwrap();
    }
}

fn changes() -> Vec<FileOp> {
    vec![
        write("edited", "new", file("edited")),
        remove("gone", file("gone")),
        FileOp::Symlink { path: at("linked"), target: "elsewhere".into(), before: file("linked") },
        write("made", "new", Expected::Missing),
    ]
}

/// Ways in which users and their programs save.
#[derive(Debug, Clone, Copy)]
enum Save {
    /// A new file takes the place of the old one.
    ByRename,
    InPlace,
    Append,
    /// The old file is kept under another name.
    WithBackup,
}

const SAVES: [Save; 4] = [Save::ByRename, Save::InPlace, Save::Append, Save::WithBackup];

impl Save {
    fn run(self, root: &Path, target: &str) {
        let target = root.join(target);
        match self {
            Self::ByRename => {
                let temporary = root.with_file_name("temporary");
                fs::write(&temporary, SAVED).unwrap();
                fs::rename(temporary, target).unwrap();
            }
            Self::InPlace => fs::write(target, SAVED).unwrap(),
            Self::Append => {
                let file = File::options().append(true).create(true).open(target);
                file.unwrap().write_all(SAVED.as_bytes()).unwrap();
            }
            Self::WithBackup => {
                let _ = fs::rename(&target, target.with_extension("backup"));
                fs::write(target, SAVED).unwrap();
            }
        }
    }
}

fn place(is_poor: bool) -> Place {
    let place = Place::new(fill);
    place.committer.folder.fail_point().refuse_exchange(is_poor);
    place.committer.folder.fail_point().hurry();
    place
}

fn steps(is_poor: bool) -> usize {
    let place = place(is_poor);
    place.commit(&changes()).unwrap();
    place.committer.folder.fail_point().steps()
}

/// Location of the saved text: in the workspace under a name that the user knows, or kept and reported.
#[derive(Debug, PartialEq)]
enum Found {
    InPlace,
    Kept,
    Lost,
}

fn find(place: &Place, told: &[Leftover]) -> Found {
    let tree = place.tree();
    assert!(!tree.keys().any(|it| it.contains(".broker")), "{tree:#?}");
    if tree.values().any(|it| it.0.contains(SAVED)) {
        return Found::InPlace;
    }
    let is_kept = |it: &Leftover| {
        let kept = it.kept.as_ref().expect("a text that is told");
        fs::read_to_string(kept).unwrap().contains(SAVED)
    };
    if told.iter().any(is_kept) { Found::Kept } else { Found::Lost }
}

/// Whether all changes but that of `target` were made; a panic if only some were.
fn is_made(place: &Place, target: &str, what: &str) -> bool {
    let tree = place.tree();
    let made = |name: &str| match name {
        "made" => tree.contains_key(name),
        "gone" => !tree.contains_key(name),
        "linked" => tree[name].0 == "-> elsewhere",
        name => tree[name].0 == "file new",
    };
    let others: Vec<_> = TARGETS.iter().filter(|it| **it != target).map(|it| made(it)).collect();
    assert!(others.iter().all(|it| *it == others[0]), "{what}: {tree:#?}");
    others[0]
}

/// Lets a user save before step `step` of what `run` does.
fn saving(place: &Place, step: usize, save: Save, target: &'static str) {
    let root = place.root();
    place.committer.folder.fail_point().before(step, move || save.run(&root, target));
}

#[test]
fn a_save_at_any_step_stays_where_it_is() {
    for is_poor in [false, true] {
        let (mut made, mut refused) = (0, 0);
        for step in 0..steps(is_poor) {
            for (save, target) in SAVES.iter().flat_map(|save| TARGETS.map(|it| (*save, it))) {
                let what = format!("poor {is_poor}, step {step}, {save:?} of {target}");
                let place = place(is_poor);
                saving(&place, step, save, target);
                let done = place.commit(&changes());
                assert_eq!(is_made(&place, target, &what), done.is_ok(), "{what}: {done:?}");
                let told = match &done {
                    Ok(committed) => committed.leftovers.clone(),
                    Err(error) => {
                        assert_eq!(error.conflicts().unwrap()[0].path.as_str(), target, "{what}: {error}");
                        error.leftovers().to_vec()
                    }
                };
                assert_eq!(find(&place, &told), Found::InPlace, "{what}: {done:?}");
                assert!(place.journal().iter().all(|it| it.starts_with("kept")), "{what}");
                *if done.is_ok() { &mut made } else { &mut refused } += 1;
            }
        }
        assert!(made > 50 && refused > 50, "{made} {refused}");
    }
}

#[test]
fn a_save_while_it_is_taken_back_is_not_lost() {
    for is_poor in [false, true] {
        let steps = steps(is_poor);
        for (failing, step) in (0..steps).step_by(5).flat_map(|it| (it..steps + 20).map(move |n| (it, n))) {
            for (save, target) in
                [Save::ByRename, Save::InPlace].iter().flat_map(|save| TARGETS.map(|it| (*save, it)))
            {
                let what = format!("poor {is_poor}, failing {failing}, step {step}, {save:?} of {target}");
                let place = place(is_poor);
                let fail_point = place.committer.folder.fail_point();
                fail_point.set(None, Some(failing));
                saving(&place, step, save, target);
                let done = place.commit(&changes());
                if fail_point.steps() <= step {
                    break;
                }
                is_made(&place, target, &what);
                let told = done.as_ref().map_or_else(CommitError::leftovers, |it| &it.leftovers);
                assert_eq!(find(&place, told), Found::InPlace, "{what}: {done:?}");
            }
        }
    }
}

#[test]
fn a_save_before_a_kill_is_not_lost() {
    for is_poor in [false, true] {
        let steps = steps(is_poor);
        for (step, kill) in (0..steps).flat_map(|it| (it + 1..steps).step_by(3).map(move |n| (it, n))) {
            for target in TARGETS {
                let save = SAVES[(step + kill) % SAVES.len()];
                let what = format!("poor {is_poor}, step {step}, kill {kill}, {save:?} of {target}");
                let place = place(is_poor);
                let fail_point = place.committer.folder.fail_point();
                fail_point.set(Some(kill), None);
                saving(&place, step, save, target);
                let done = place.commit(&changes());
                let steps = fail_point.steps();
                fail_point.set(None, None);
                let recovered = place.committer.recover().unwrap();
                if steps <= kill {
                    assert!(recovered.is_none(), "{what}");
                }
                let mut told: Vec<_> = recovered.iter().flat_map(|it| it.leftovers.clone()).collect();
                told.extend(done.as_ref().map_or_else(CommitError::leftovers, |it| &it.leftovers).to_vec());
                is_made(&place, target, &what);
                assert_eq!(find(&place, &told), Found::InPlace, "{what}: {done:?} {recovered:?}");
                assert_eq!(place.committer.recover().unwrap(), None, "{what}");
            }
        }
    }
}

/// The user saves after the crash, and the recovery is killed as well.
#[test]
fn a_save_between_kills_is_not_lost() {
    for is_poor in [false, true] {
        let steps = steps(is_poor);
        for (kill, second) in (0..steps).flat_map(|it| (it % 2..12).step_by(2).map(move |n| (it, n))) {
            for target in ["edited", "gone", "made"] {
                let save = SAVES[(kill + second) % SAVES.len()];
                let what = format!("poor {is_poor}, kill {kill}, then {second}, {save:?} of {target}");
                let place = place(is_poor);
                let fail_point = place.committer.folder.fail_point();
                fail_point.set(Some(kill), None);
                place.commit(&changes()).unwrap_err();
                fail_point.set(Some(second + 1), None);
                saving(&place, second, save, target);
                let first = place.committer.recover();
                let is_saved = fail_point.steps() > second;
                fail_point.set(None, None);
                let recovered = place.committer.recover().unwrap();
                let told = [first.unwrap_or_default(), recovered];
                let told: Vec<_> = told.into_iter().flatten().flat_map(|it| it.leftovers).collect();
                is_made(&place, target, &what);
                if is_saved {
                    assert_eq!(find(&place, &told), Found::InPlace, "{what}: {told:?}");
                }
            }
        }
    }
}

/// A program that opened the file long before it writes to it.
#[test]
#[cfg(target_os = "linux")]
fn what_is_open_for_writing_is_a_conflict() {
    for is_poor in [false, true] {
        let steps = steps(is_poor);
        for (step, later) in (0..steps).flat_map(|it| [1, 2, 5, 200].map(|n| (it, it + n))) {
            for target in ["edited", "gone", "linked", "made"] {
                let what = format!("poor {is_poor}, opened at {step}, written at {later}, {target}");
                let place = place(is_poor);
                let fail_point = place.committer.folder.fail_point();
                let file = std::sync::Arc::new(parking_lot::Mutex::new(None));
                let (opened, path) = (file.clone(), place.root().join(target));
                fail_point.before(step, move || {
                    let is_link = fs::symlink_metadata(&path).is_ok_and(|it| it.is_symlink());
                    *opened.lock() = File::options().append(true).open(&path).ok().filter(|_| !is_link);
                });
                let opened = file.clone();
                let save = move || match opened.lock().take() {
                    Some(mut file) => file.write_all(SAVED.as_bytes()).is_ok(),
                    None => false,
                };
                let (now, is_saved) = (save.clone(), std::sync::Arc::new(parking_lot::Mutex::new(false)));
                let saved = is_saved.clone();
                fail_point.before(later, move || *saved.lock() |= now());
                let done = place.commit(&changes());
                let is_saved = save() | *is_saved.lock();
                is_made(&place, target, &what);
                if is_saved {
                    let told = done.as_ref().map_or_else(CommitError::leftovers, |it| &it.leftovers);
                    assert_ne!(find(&place, told), Found::Lost, "{what}: {done:?}");
                }
            }
        }
    }
}

/// A write that the system does not report is noticed until the very end: then the text is kept.
#[test]
fn what_is_written_late_is_kept() {
    let mut kept = 0;
    for is_poor in [false, true] {
        let (steps, is_done) = (steps(is_poor), done_at(is_poor));
        for (later, target) in (1..=steps).flat_map(|it| ["edited", "gone"].map(|target| (it, target))) {
            let what = format!("poor {is_poor}, written at {later}, {target}");
            let place = place(is_poor);
            let fail_point = place.committer.folder.fail_point();
            fail_point.blind();
            let mut file = File::options().append(true).open(place.root().join(target)).unwrap();
            fail_point.before(later, move || file.write_all(SAVED.as_bytes()).unwrap());
            let done = place.commit(&changes());
            assert_eq!(is_made(&place, target, &what), done.is_ok(), "{what}: {done:?}");
            let told = done.as_ref().map_or_else(CommitError::leftovers, |it| &it.leftovers);
            match find(&place, told) {
                Found::Lost => assert!(later + LAST >= steps, "{what}: {done:?}"),
                Found::Kept => {
                    // Until all that was replaced is looked at once more, it is a conflict.
                    assert!(later + 3 >= is_done, "{what}: {done:?}");
                    kept += 1;
                }
                Found::InPlace => assert!(done.is_err(), "{what}"),
            }
        }
    }
    assert!(kept > 10, "{kept}");
}

/// The step that makes the commit done.
fn done_at(is_poor: bool) -> usize {
    let is_done = |kill: &usize| {
        let place = place(is_poor);
        place.committer.folder.fail_point().set(Some(kill + 1), None);
        place.commit(&changes()).unwrap_err();
        place.journal().contains(&"commit.done".to_owned())
    };
    (0..).find(is_done).unwrap()
}

/// Steps after the last look: the directory is synced, and the journal ends.
const LAST: usize = 4;

/// The first saves before the names are exchanged, the second before they are exchanged back.
#[test]
fn the_newest_of_two_saves_stays_and_the_other_is_kept() {
    let mut kept = 0;
    for (first, second) in (0..steps(false)).flat_map(|it| (it + 1..it + 5).map(move |n| (it, n))) {
        let what = format!("saved at {first} and at {second}");
        let place = place(false);
        let fail_point = place.committer.folder.fail_point();
        let (older, newer) = (place.root().join("edited"), place.root().join("edited"));
        let temporary = place.folder.path().join("temporary");
        fail_point.before(first, move || {
            fs::write(&temporary, "older").unwrap();
            fs::rename(temporary, older).unwrap();
        });
        let temporary = place.folder.path().join("another");
        fail_point.before(second, move || {
            fs::write(&temporary, "newer").unwrap();
            fs::rename(temporary, newer).unwrap();
        });
        let done = place.commit(&changes());
        is_made(&place, "edited", &what);
        if fail_point.steps() > second {
            assert_eq!(place.tree()["edited"].0, "file newer", "{what}: {done:?}");
        }
        let told = done.as_ref().map_or_else(CommitError::leftovers, |it| &it.leftovers);
        for leftover in told {
            assert_eq!((leftover.path.as_str(), leftover.text), ("edited", LeftoverText::Saved), "{what}");
            assert_eq!(fs::read_to_string(leftover.kept.as_ref().unwrap()).unwrap(), "older", "{what}");
            assert!(done.as_ref().unwrap_err().to_string().contains("what was saved is in "), "{what}");
            kept += 1;
        }
        assert!(!place.tree().keys().any(|it| it.contains(".broker")), "{what}");
    }
    assert!(kept > 0);
}

#[test]
#[cfg(target_os = "linux")]
fn an_open_file_is_told_in_words() {
    let place = place(false);
    let _open = File::options().append(true).open(place.root().join("edited")).unwrap();
    let error = place.commit(&changes()).unwrap_err().to_string();
    assert_eq!(
        error,
        "the workspace has changed: `edited` is open for writing in another program; close it there"
    );
    assert!(!is_made(&place, "none", ""));
}

/// Another program writes just what the commit would have written, after that was taken back (once an endless error).
#[test]
fn the_same_text_by_hand_is_left_alone() {
    for is_poor in [false, true] {
        let steps = steps(is_poor);
        for (failing, kill) in (0..steps).step_by(3).flat_map(|it| (it + 1..steps + 20).map(move |n| (it, n)))
        {
            let place = place(is_poor);
            let fail_point = place.committer.folder.fail_point();
            fail_point.set(Some(kill), Some(failing));
            let _ = place.commit(&changes());
            fail_point.set(None, None);
            if place.journal().contains(&"commit.taken-back".to_owned()) {
                fs::write(place.root().join("edited"), "new").unwrap();
                fs::write(place.root().join("made"), "new").unwrap();
                place.committer.recover().unwrap().unwrap();
                let tree = place.tree();
                assert_eq!((&*tree["edited"].0, &*tree["made"].0), ("file new", "file new"));
            } else {
                place.committer.recover().unwrap();
            }
        }
    }
}
