//! Tests of files that a server reads outside of the view: no answer that rests on one is given again once it has
//! changed.

use std::{fs, path::Path, sync::Arc, time::Duration};

use language_servers::{LanguageServer, Setup};
use lint::{Cancel, Completeness, Job, Linter, Outcome, Unit};
use overlay::{Branch, Disk, View};

use crate::{
    bench::{path, profile, said, setup},
    fixture::started,
    yard::{Yard, check, says, view},
};

fn ask(linter: &LanguageServer, text: &str) -> Outcome {
    check(linter, text, Duration::from_secs(60), &Cancel::default())
}

#[test]
fn no_answer_outlives_its_process() {
    let yard = Yard::new(|_| ());
    let lease = ask(&yard.linter(), "x").lease.unwrap();
    assert!(lease.holds());
    yard.pool.release(Path::new("/w"));
    assert!(!lease.holds());
}

/// For a server that remembers what it has seen.
#[test]
fn what_is_installed_and_removed_is_another_server() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lib");
    let text = format!("remembers {}", file.display());
    let mut yard = Yard::new(|_| ());
    let place = folder.path().to_string_lossy().into_owned();
    yard.setup.profile.tool.outside = Some(vec![place]);
    let linter = || LanguageServer::in_pool(&yard.pool, yard.setup.clone()).unwrap();
    let tells = |linter: &LanguageServer, held: &str| {
        assert_eq!(says(linter, &text), format!("a.m={text} {{{held}}}"));
    };
    let without = linter();
    tells(&without, "nothing");
    fs::write(&file, "it").unwrap();
    let with = linter();
    assert_ne!(with.identity().digest, without.identity().digest);
    tells(&with, "it");
    let Completeness::Partial(why) = ask(&without, &text).completeness else { panic!() };
    assert_eq!(why, "something was installed while it was asked");
    fs::write(&file, "another").unwrap();
    tells(&linter(), "another");
    fs::remove_file(&file).unwrap();
    let again = linter();
    assert_ne!(again.identity().digest, with.identity().digest);
    tells(&again, "nothing");
}

#[test]
fn what_it_says_that_it_watches_is_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lib");
    let text = format!("remembers {}", file.display());
    let mut yard = Yard::new(|_| ());
    yard.setup.launch.env.push(("WATCHES".into(), Some(folder.path().into())));
    let linter = yard.linter();
    let first = ask(&linter, &text);
    let again = ask(&linter, &text);
    assert_eq!(
        [&first, &again].map(said),
        [format!("a.m={text} {{nothing}}"), format!("a.m={text} {{nothing}}")]
    );
    let lease = again.lease.unwrap();
    linter.context(&view(&[]));
    assert!(lease.holds() && yard.report().counts.starts == 1);
    for held in ["it", "another"] {
        fs::write(&file, held).unwrap();
        linter.context(&view(&[]));
        assert!(!lease.holds());
        assert_eq!(said(&ask(&linter, &text)), format!("a.m={text} {{{held}}}"));
        // Watched places of a process are known once it has been asked.
        ask(&linter, &text);
    }
    assert_eq!(yard.report().counts.starts, 3);
}

/// A workspace on the disk, and a server for it that forgets nothing or loses new files.
fn on_disk(folder: &Path, loses_new_files: bool) -> Setup {
    fs::write(folder.join("a.m"), "a").unwrap();
    let mut setup = setup(&["model"], profile());
    setup.profile.loses_new_files = loses_new_files;
    setup.disk = Arc::new(Disk::new(folder).unwrap());
    setup
}

#[test]
fn a_server_that_cannot_find_a_new_file_later_is_started_again() {
    for (loses, starts) in [(true, 2), (false, 1)] {
        let folder = tempfile::tempdir().unwrap();
        let yard = Yard { setup: on_disk(folder.path(), loses), ..Yard::new(|_| ()) };
        let linter = started(&yard.pool, yard.setup.clone()).unwrap();
        let disk = Arc::clone(&yard.setup.disk);
        let ask = |view: Arc<dyn View>| {
            let units = vec![Unit { path: path("a.m"), named: path("") }];
            let (cancel, timeout) = (Cancel::default(), Duration::from_secs(60));
            let mut outcomes = Vec::new();
            linter.check(&Job { view, units, cancel, timeout, is_awaited: false }, &mut |_, it| {
                outcomes.push(said(&it))
            });
            outcomes.join("")
        };
        let mut branch = Branch::new(Arc::clone(&disk));
        branch.write(&path("new.m"), "new".into()).unwrap();
        assert!(ask(Arc::new(branch.snapshot())).contains("new.m=new"));
        ask(Arc::clone(&disk));
        assert_eq!(yard.report().counts.starts, 1, "it is not there yet");
        fs::write(folder.path().join("new.m"), "new").unwrap();
        ask(Arc::clone(&disk));
        assert_eq!(yard.report().counts.starts, starts);
        // The branch, which has it in the same place.
        ask(Arc::new(branch.snapshot()));
        assert_eq!(yard.report().counts.starts, starts, "once is enough");
    }
}
