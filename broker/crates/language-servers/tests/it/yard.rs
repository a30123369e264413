//! A pool of servers, and requests to them.

use std::{path::PathBuf, sync::Arc, thread, time::Duration};

use language_servers::{LanguageServer, Pool, PoolLimits, ServerReport, ServerState, Setup};
use lint::{Cancel, Job, Linter, Outcome, Unit};
use overlay::{Branch, View};

use crate::{
    bench::{disk, path, profile, said, setup},
    fixture::{far, started},
};

/// A pool, and how its servers are set up.
pub(crate) struct Yard {
    pub(crate) pool: Pool,
    pub(crate) setup: Setup,
}

/// A question whose answer is not waited for here.
pub(crate) struct Asked {
    cancel: Cancel,
    thread: thread::JoinHandle<Outcome>,
}

impl Asked {
    pub(crate) fn join(self) -> String {
        said(&self.thread.join().unwrap())
    }

    /// Not wanted any more.
    pub(crate) fn give_up(self) {
        self.cancel.cancel();
        assert!(self.join().starts_with("pending"));
    }
}

impl Yard {
    pub(crate) fn new(change: impl FnOnce(&mut PoolLimits)) -> Self {
        let mut limits = PoolLimits::default();
        change(&mut limits);
        Self { pool: Pool::new(limits), setup: setup(&["model"], profile()) }
    }

    pub(crate) fn linter(&self) -> Arc<LanguageServer> {
        self.linter_of("/w")
    }

    /// For another workspace, and so another server.
    pub(crate) fn linter_of(&self, root: &str) -> Arc<LanguageServer> {
        let setup = Setup { root: PathBuf::from(root), ..self.setup.clone() };
        Arc::new(started(&self.pool, setup).unwrap())
    }

    pub(crate) fn report(&self) -> ServerReport {
        let mut all = self.pool.status();
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    /// Waits until that is so of the server of this workspace.
    #[track_caller]
    pub(crate) fn wait_for(&self, root: &str, is_so: impl Fn(&ServerReport) -> bool) {
        let is_there =
            |all: &[ServerReport]| all.iter().any(|it| it.root.to_str() == Some(root) && is_so(it));
        assert!(self.pool.wait_until(far(), is_there), "{:?}", self.pool.status());
    }

    #[track_caller]
    pub(crate) fn wait_for_state(&self, root: &str, state: ServerState) {
        self.wait_for(root, |it| it.state == state);
    }
}

/// A branch with these texts.
pub(crate) fn view(edits: &[(&str, &str)]) -> Arc<dyn View> {
    let mut branch = Branch::new(disk());
    for (name, text) in edits {
        branch.write(&path(name), text.to_string().into()).unwrap();
    }
    Arc::new(branch.snapshot())
}

pub(crate) fn check(linter: &LanguageServer, text: &str, timeout: Duration, cancel: &Cancel) -> Outcome {
    let units = vec![Unit { path: path("a.m"), named: path("") }];
    let job = Job { view: view(&[("a.m", text)]), units, cancel: cancel.clone(), timeout, is_awaited: false };
    let mut outcomes = Vec::new();
    linter.check(&job, &mut |_, it| outcomes.push(it));
    assert_eq!(outcomes.len(), 1);
    outcomes.remove(0)
}

/// Returns the findings in `a.m` if it has this text.
pub(crate) fn says(linter: &LanguageServer, text: &str) -> String {
    said(&check(linter, text, Duration::from_secs(60), &Cancel::default()))
}

pub(crate) fn says_soon(linter: &LanguageServer, text: &str) -> String {
    said(&check(linter, text, Duration::from_millis(300), &Cancel::default()))
}

pub(crate) fn ask(linter: &Arc<LanguageServer>, text: &str) -> Asked {
    let (cancel, linter, text) = (Cancel::default(), Arc::clone(linter), text.to_owned());
    let watched = cancel.clone();
    let thread = thread::spawn(move || check(&linter, &text, Duration::from_secs(60), &watched));
    Asked { cancel, thread }
}

/// The processes directly below these.
pub(crate) fn children(parents: &[i64]) -> Vec<i64> {
    let of = |it: &i64| {
        let list = std::fs::read_to_string(format!("/proc/{it}/task/{it}/children")).unwrap();
        list.split_whitespace().map(|it| it.parse().unwrap()).collect::<Vec<_>>()
    };
    parents.iter().flat_map(of).collect()
}
