//! Commits that the version before was killed in: its journal, and its way to replace a file, are made here.

use serde::Serialize;

use super::{
    super::{
        action::{Action, Change},
        apply, plan,
    },
    faults::before_and_after,
    *,
};

/// The records of that journal, as that version had them.
#[derive(Serialize)]
struct Record {
    path: String,
    new: String,
    old: String,
    before: State,
    change: Changed,
    stamp: Option<Stamp>,
}

#[derive(Serialize)]
enum State {
    Missing,
    File { hash: [u8; 32], executable: bool, stamp: Stamp },
    Symlink(String),
    Directory(Stamp),
    Other,
}

#[derive(Serialize)]
struct Stamp {
    mode: u32,
    uid: u32,
    gid: u32,
}

#[derive(Serialize)]
enum Changed {
    Remove,
    RemoveDir,
    CreateDir,
    File { hash: [u8; 32], executable: bool },
    Symlink(String),
    SetExecutable(bool),
}

impl Record {
    fn of(action: &Action) -> Self {
        use super::super::look;
        let stamp = |it: look::Stamp| Stamp { mode: it.mode, uid: it.uid, gid: it.gid };
        Self {
            path: action.path.as_str().to_owned(),
            new: action.new.as_str().to_owned(),
            old: action.old.as_str().to_owned(),
            before: match action.before.clone() {
                look::State::Missing => State::Missing,
                look::State::File { hash, executable, stamp: it } => {
                    State::File { hash, executable, stamp: stamp(it) }
                }
                look::State::Symlink(target) => State::Symlink(target),
                look::State::Directory(it) => State::Directory(stamp(it)),
                look::State::Other => State::Other,
            },
            change: match action.change.clone() {
                Change::Remove => Changed::Remove,
                Change::RemoveDir => Changed::RemoveDir,
                Change::CreateDir => Changed::CreateDir,
                Change::File { hash, executable } => Changed::File { hash, executable },
                Change::Symlink(target) => Changed::Symlink(target),
                Change::SetExecutable(executable) => Changed::SetExecutable(executable),
            },
            stamp: action.stamp.map(stamp),
        }
    }
}

/// A commit of that version that was killed.
struct Killed {
    place: Place,
    actions: Vec<Action>,
    /// Whether the file system has hard links.
    has_links: bool,
}

impl Killed {
    /// Creates a place with all texts staged, and `stage` in the journal.
    fn new(stage: &str, has_links: bool) -> Self {
        let place = Place::new(fill);
        let folder = &place.committer.folder;
        let plan = plan::make(folder, &changes()).unwrap();
        apply::stage(folder, &plan).unwrap();
        let records: Vec<_> = plan.actions.iter().map(Record::of).collect();
        let payload = postcard::to_stdvec(&records).unwrap();
        let hash = blake3::hash(&payload);
        let journal = [&b"broker commit 2\n"[..], hash.as_bytes(), &payload].concat();
        fs::write(place.folder.path().join("state/journal").join(format!("commit.{stage}")), journal)
            .unwrap();
        Self { place, actions: plan.actions, has_links }
    }

    fn at(&self, path: &WorkspacePath) -> PathBuf {
        self.place.root().join(path.as_str())
    }

    /// Carries out the first `steps` of that version's, and says how many there were.
    fn run(&self, steps: usize) -> usize {
        let mut done = 0;
        for action in &self.actions {
            let (path, new, old) = (self.at(&action.path), self.at(&action.new), self.at(&action.old));
            let is_replaced = action.is_put() && action.before != super::super::look::State::Missing;
            let parts: Vec<Box<dyn Fn()>> = match action.change {
                Change::Remove => vec![Box::new(|| fs::rename(&path, &old).unwrap())],
                Change::File { .. } | Change::Symlink(_) if !is_replaced => {
                    vec![Box::new(|| fs::rename(&new, &path).unwrap())]
                }
                Change::File { .. } | Change::Symlink(_) => {
                    let keep: Box<dyn Fn()> = match self.has_links {
                        true => Box::new(|| fs::hard_link(&path, &old).unwrap()),
                        false => Box::new(|| fs::rename(&path, &old).unwrap()),
                    };
                    vec![keep, Box::new(|| fs::rename(&new, &path).unwrap())]
                }
                _ => vec![Box::new(|| apply::act(&self.place.committer.folder, action).unwrap())],
            };
            for part in parts {
                if done == steps {
                    return done;
                }
                part();
                done += 1;
            }
        }
        done
    }

    fn recover(&self) -> Recovered {
        self.place.committer.recover().unwrap().unwrap()
    }

    fn assert(&self, recovered: &Recovered, outcome: Outcome, tree: &Tree, case: &str) {
        assert_eq!(*recovered, Recovered { outcome, leftovers: vec![] }, "{case}");
        assert_eq!(self.place.tree(), *tree, "{case}");
        assert_eq!(self.place.journal(), Vec::<String>::new(), "{case}");
    }
}

fn steps(has_links: bool) -> usize {
    Killed::new("decided", has_links).run(usize::MAX)
}

#[test]
fn what_was_decided_is_finished_and_what_was_taken_back_is_gone() {
    let (before, after) = before_and_after();
    for has_links in [true, false] {
        assert!(steps(has_links) > 20);
        for n in 0..=steps(has_links) {
            let case = format!("step {n}, links: {has_links}");
            for (stage, outcome, tree) in
                [("decided", Outcome::Finished, &after), ("undoing", Outcome::TakenBack, &before)]
            {
                let killed = Killed::new(stage, has_links);
                assert_eq!(killed.run(n), n);
                killed.assert(&killed.recover(), outcome, tree, &format!("{stage}, {case}"));
            }
        }
    }
}

#[test]
fn before_the_decision_and_after_the_end_only_hidden_files_go() {
    let (before, after) = before_and_after();
    let killed = Killed::new("intent", true);
    killed.assert(&killed.recover(), Outcome::TakenBack, &before, "intent");
    let killed = Killed::new("done", true);
    killed.run(usize::MAX);
    fs::remove_file(killed.at(&killed.actions[0].old)).unwrap();
    killed.assert(&killed.recover(), Outcome::Finished, &after, "done");
}

#[test]
fn a_recovery_that_is_killed_goes_on() {
    let (before, after) = before_and_after();
    for (stage, tree) in [("decided", &after), ("undoing", &before)] {
        for n in (0..=steps(true)).step_by(3) {
            for m in 0.. {
                let killed = Killed::new(stage, true);
                killed.run(n);
                let fail_point = killed.place.committer.folder.fail_point();
                fail_point.set(Some(m), None);
                let is_whole = killed.place.committer.recover().is_ok();
                fail_point.set(None, None);
                killed.place.committer.recover().unwrap();
                assert_eq!(killed.place.tree(), *tree, "{stage}, steps {n}, {m}");
                if is_whole {
                    break;
                }
            }
        }
    }
}

#[test]
fn what_a_user_saved_since_stays() {
    type Save = fn(&Path);
    let ways: [(&str, Save); 2] = [
        ("in place", |it| fs::write(it, "the user's").unwrap()),
        ("by a rename", |it| {
            fs::write(it.with_extension("tmp"), "the user's").unwrap();
            fs::rename(it.with_extension("tmp"), it).unwrap();
        }),
    ];
    for (way, save) in ways {
        for stage in ["decided", "undoing"] {
            for n in 0..=steps(true) {
                let killed = Killed::new(stage, true);
                killed.run(n);
                save(&killed.place.root().join("src/lib.rs"));
                let recovered = killed.recover();
                let tree = killed.place.tree();
                let case = format!("{stage}, {way}, step {n}");
                assert_eq!(tree["src/lib.rs"].0, "file the user's", "{case}");
                assert!(!tree.keys().any(|it| it.contains(".broker")), "{case}: {tree:?}");
                // In place before the link was cut is in place for the second name, too.
                assert!(recovered.leftovers.iter().all(|it| it.path.as_str() == "src/lib.rs"), "{case}");
            }
        }
    }
}

#[test]
fn a_journal_of_any_other_version_says_what_finishes_it() {
    let killed = Killed::new("decided", true);
    let journal = killed.place.folder.path().join("state/journal/commit.decided");
    let mut bytes = fs::read(&journal).unwrap();
    bytes[b"broker commit ".len()] = b'4';
    fs::write(&journal, bytes).unwrap();
    let tree = killed.place.tree();
    let error = killed.place.committer.recover().unwrap_err();
    assert!(matches!(error, CommitError::OtherVersion { .. }), "{error}");
    assert!(error.to_string().ends_with("run that version once in this workspace"), "{error}");
    assert_eq!(killed.place.tree(), tree);
}

/// A process that was just started has the files of its parent open until it loads its own program.
#[test]
fn programs_that_start_meanwhile_write_nothing() {
    use std::{os::unix::process::CommandExt as _, process::Command, sync::Arc};
    let (before, _) = before_and_after();
    std::thread::scope(|scope| {
        let run = Arc::new(());
        let user = rustix::process::getuid().as_raw();
        for _ in 0..3 {
            let run = Arc::downgrade(&run);
            scope.spawn(move || {
                while run.strong_count() > 0 {
                    // With an id to take on it is forked, which takes longer than a spawn does.
                    Command::new("true").uid(user).status().unwrap();
                }
            });
        }
        for n in 0..300 {
            let killed = Killed::new("undoing", false);
            killed.run(n % 30);
            killed.assert(&killed.recover(), Outcome::TakenBack, &before, &format!("round {n}"));
        }
    });
}
