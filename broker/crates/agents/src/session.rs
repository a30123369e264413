//! State of an agent between its calls: the name of its branch, and the edits that were refused.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use overlay::{ContentHash, WorkspacePath};
use parking_lot::Mutex;

use crate::{late::BackgroundChecks, reads::Reads, reasons::ReportedReasons};

/// Session of one agent in one workspace.
pub(crate) struct Session {
    /// The name of its own branch.
    branch: String,
    /// The newest last.
    refused: Mutex<VecDeque<(WorkspacePath, String)>>,
    /// Counts uses of all sessions.
    used: AtomicU64,
    /// Lock for the time while the branch is forked, so that two first edits at once share one.
    pub(crate) forking: tokio::sync::Mutex<()>,
    /// Checks that go on after their call.
    pub(crate) late: BackgroundChecks,
    pub(crate) told: ReportedReasons,
    /// Texts of files as the agent knows them.
    pub(crate) reads: Reads,
}

/// Number of files of which the last refused edit is kept.
const REFUSED: usize = 32;

/// Bytes of all of them, unless it is a single one.
const REFUSED_BYTES: usize = 1 << 20;

/// Hexadecimal digits in the name of a branch.
const DIGITS: usize = 10;

static USES: AtomicU64 = AtomicU64::new(0);

impl Session {
    /// `branch` is the name of its branch, instead of one that is made from `name`.
    pub(crate) fn new(name: &str, branch: Option<&str>) -> Self {
        let made = || format!("agent-{}", &ContentHash::of(name.as_bytes()).to_string()[..DIGITS]);
        Self {
            branch: branch.map_or_else(made, str::to_owned),
            refused: Mutex::default(),
            used: AtomicU64::new(0),
            forking: tokio::sync::Mutex::default(),
            late: BackgroundChecks::default(),
            told: ReportedReasons::default(),
            reads: Reads::default(),
        }
    }

    pub(crate) fn branch(&self) -> &str {
        &self.branch
    }

    pub(crate) fn touch(&self) {
        self.used.store(USES.fetch_add(1, Relaxed), Relaxed);
    }

    pub(crate) fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    /// Remembers an edit that was refused, for `reapply`; the oldest give way.
    pub(crate) fn refuse(&self, path: &WorkspacePath, edit: &str) {
        let mut refused = self.refused.lock();
        refused.retain(|it| it.0 != *path);
        refused.push_back((path.clone(), edit.to_owned()));
        let bytes = |all: &VecDeque<(WorkspacePath, String)>| all.iter().map(|it| it.1.len()).sum::<usize>();
        while refused.len() > REFUSED || (refused.len() > 1 && bytes(&refused) > REFUSED_BYTES) {
            refused.pop_front();
        }
    }

    pub(crate) fn refused(&self, path: &WorkspacePath) -> Option<String> {
        self.refused.lock().iter().find(|it| it.0 == *path).map(|it| it.1.clone())
    }

    pub(crate) fn settle(&self, path: &WorkspacePath) {
        self.refused.lock().retain(|it| it.0 != *path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_that_no_call_changes_is_told_once() {
        let session = Session::new("a", None);
        let untold = |reasons: &[&str]| {
            let mut reasons = reasons.iter().map(|it| (*it).to_owned()).collect();
            session.told.retain_new(&mut reasons);
            reasons
        };
        assert_eq!(untold(&["not trusted"]), ["not trusted"]);
        assert_eq!(untold(&["not trusted", "not installed"]), ["not installed"]);
    }

    #[test]
    fn the_oldest_refused_edits_are_forgotten() {
        let (session, path) =
            (Session::new("a", None), |it: usize| WorkspacePath::new(&format!("f{it}")).unwrap());
        for number in 0..=REFUSED {
            session.refuse(&path(number), "edit");
        }
        assert_eq!((session.refused(&path(0)), session.refused(&path(1))), (None, Some("edit".to_owned())));
        session.refuse(&path(1), "again");
        session.refuse(&path(90), &"x".repeat(REFUSED_BYTES));
        assert_eq!(session.refused(&path(1)), None);
        assert!(session.refused(&path(90)).is_some());
        session.settle(&path(90));
        assert_eq!(session.refused(&path(90)), None);
    }
}
