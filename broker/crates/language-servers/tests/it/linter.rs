//! The actor as a linter: what its answers rest on.

use std::{sync::Arc, time::Duration};

use language_servers::LanguageServer;
use lint::{Cancel, Job, Linter, Outcome, Unit};
use overlay::{Branch, View};

use crate::{
    bench::{disk, path, profile, said, setup},
    fixture::far,
};

fn check(linter: &LanguageServer, view: &Arc<dyn View>) -> Outcome {
    let unit = Unit { path: path("a.m"), named: path("") };
    let (cancel, timeout) = (Cancel::default(), Duration::from_secs(60));
    let job = Job { view: Arc::clone(view), units: vec![unit], cancel, timeout };
    let mut outcomes = Vec::new();
    linter.check(&job, &mut |index, outcome| outcomes.push((index, outcome)));
    assert_eq!(outcomes.len(), 1);
    outcomes.remove(0).1
}

#[test]
fn an_answer_holds_where_the_server_sees_the_same() {
    let linter = LanguageServer::of(setup(&["model"], profile()), far(), &Cancel::default()).unwrap();
    assert_eq!((&*linter.identity().name, &*linter.identity().version), ("model", "model 1"));
    assert_eq!(linter.interest().globs, ["*.m"]);

    let disk = disk();
    let outcome = check(&linter, &disk);
    assert_eq!(said(&outcome), "a.m=a0");
    let holds = |edit: fn(&mut Branch)| {
        let mut branch = Branch::new(Arc::clone(&disk));
        edit(&mut branch);
        outcome.reads.holds_in(&branch.snapshot())
    };
    assert!(holds(|_| ()));
    assert!(holds(|it| drop(it.write(&path("b.m"), "b0".into()))));
    assert!(!holds(|it| drop(it.write(&path("b.m"), "b1".into()))));
    assert!(!holds(|it| drop(it.write(&path("dir/new.m"), "new".into()))));
    assert!(!holds(|it| drop(it.write(&path("m.toml"), "new".into()))));
    assert!(!holds(|it| drop(it.remove(&path("dir/c.m")))));
}

#[test]
fn other_settings_are_another_linter() {
    let digest = |change: fn(&mut language_servers::Profile)| {
        let mut profile = profile();
        change(&mut profile);
        let linter = LanguageServer::of(setup(&["model"], profile), far(), &Cancel::default()).unwrap();
        linter.identity().digest
    };
    assert_eq!(digest(|_| ()), digest(|_| ()));
    assert_ne!(digest(|_| ()), digest(|it| it.settings = serde_json::json!({ "strict": true })));
}
