//! The states that a branch went through, each with the edit that led to it.
//!
//! States share nearly all of their trees, so that a step costs what it changed.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use rpds::RedBlackTreeMapSync;

use super::{
    Branch, EditError, Origin, Revision,
    origin::Origins,
    tree::{Found, Node, Tree},
};
use crate::{Permissions, View, WorkspacePath};

/// Number of the newest steps that a branch keeps apart at least. Older ones collapse into the oldest kept.
pub const KEPT_STEPS: usize = 1000;

/// Number of further steps that may gather before some collapse, so that it is not done at each edit.
const SLACK: usize = 100;

/// State of a branch at one revision. Cloning it copies nothing.
#[derive(Clone)]
pub(super) struct State {
    pub(super) tree: Tree,
    pub(super) origins: Origins,
    pub(super) fork: Arc<ForkPoint>,
    /// Permissions of entries that commits removed, given back if the entry returns.
    pub(super) permissions: KeptPermissions,
    /// Files of version control, which are no edits.
    pub(super) repository: Tree,
}

pub(super) type KeptPermissions = RedBlackTreeMapSync<WorkspacePath, Permissions>;

/// The parent as it was when the branch was forked from it, or last rebased onto it.
pub(super) struct ForkPoint {
    pub(super) tree: Tree,
    pub(super) origins: Origins,
}

/// A step of a branch's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// The revision that the step led to.
    pub revision: Revision,
    /// Milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// Description of the edit, such as `write src/a.py`.
    pub what: Arc<str>,
    /// The paths that the edit was about, links resolved.
    pub paths: Arc<[WorkspacePath]>,
    pub kind: StepKind,
}

/// Effect of a step besides giving the branch another content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StepKind {
    #[default]
    Edit,
    /// The state before it was written into the base.
    Commit,
    /// The content is that of an earlier revision.
    Undo(Revision),
}

/// Steps from the oldest to the newest, at least one: where the branch starts.
#[derive(Clone)]
pub(super) struct History {
    steps: VecDeque<Arc<Recorded>>,
    transaction: Option<Transaction>,
}

/// The edits of a transaction so far. Only its newest step is kept: to remember each of very many costs more than to make it.
#[derive(Clone, Default)]
struct Transaction {
    /// Description of the first step.
    first: Option<Arc<str>>,
    paths: Vec<WorkspacePath>,
}

#[derive(Clone)]
pub(super) struct Recorded {
    pub(super) entry: LogEntry,
    pub(super) state: State,
}

impl State {
    /// Creates a history without edits.
    pub(super) fn new(base: Arc<dyn View>) -> Self {
        let (tree, origins) = (Tree::new(base), Origins::new_sync());
        let fork = Arc::new(ForkPoint { tree: tree.clone(), origins: origins.clone() });
        let repository = tree.clone();
        Self { tree, origins, fork, permissions: KeptPermissions::new_sync(), repository }
    }

    /// The state of a branch that is forked from one in this state.
    pub(super) fn forked(&self) -> Self {
        Self { fork: Arc::new(self.as_fork_point()), ..self.clone() }
    }

    pub(super) fn as_fork_point(&self) -> ForkPoint {
        ForkPoint { tree: self.tree.clone(), origins: self.origins.clone() }
    }
}

impl LogEntry {
    pub(super) fn now(revision: Revision, kind: StepKind, what: &str, paths: Vec<WorkspacePath>) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at_ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        Self { revision, at_ms, what: what.into(), paths: paths.into(), kind }
    }
}

impl History {
    pub(super) fn starting(entry: LogEntry, state: State) -> Self {
        Self { steps: VecDeque::from([Arc::new(Recorded { entry, state })]), transaction: None }
    }

    pub(super) fn push(&mut self, step: Recorded) {
        if let Some(transaction) = &mut self.transaction {
            transaction.first.get_or_insert_with(|| Arc::clone(&step.entry.what));
            transaction.paths.extend(step.entry.paths.iter().cloned());
            self.steps.clear();
        }
        self.steps.push_back(Arc::new(step));
        if self.steps.len() > KEPT_STEPS + SLACK {
            self.collapse();
        }
    }

    /// Puts this in place of the newest step, which it goes on with.
    pub(super) fn replace_newest(&mut self, step: Recorded) {
        self.steps.pop_back();
        self.steps.push_back(Arc::new(step));
    }

    pub(super) fn newest(&self) -> &Arc<Recorded> {
        self.steps.back().expect("a history has a start")
    }

    pub(super) fn oldest(&self) -> &Arc<Recorded> {
        self.steps.front().expect("a history has a start")
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Recorded>> + Clone {
        self.steps.iter()
    }

    pub(super) fn at(&self, revision: Revision) -> Option<&Arc<Recorded>> {
        let index = self.steps.partition_point(|it| it.entry.revision < revision);
        self.steps.get(index).filter(|it| it.entry.revision == revision)
    }

    fn collapse(&mut self) {
        let excess = self.steps.len() - KEPT_STEPS;
        let gone: Vec<_> = self.steps.drain(..excess).collect();
        let Some(newest) = gone.last() else { return };
        let paths: BTreeSet<_> = gone.iter().flat_map(|it| it.entry.paths.iter().cloned()).collect();
        let entry = LogEntry {
            what: format!("the first {} edits", newest.entry.revision).into(),
            paths: paths.into_iter().collect(),
            kind: StepKind::Edit,
            ..newest.entry.clone()
        };
        self.steps.push_front(Arc::new(Recorded { entry, ..Recorded::clone(newest) }));
    }
}

impl Branch {
    /// Returns the log of edits, oldest first. Only the newest [`KEPT_STEPS`] are sure to be separate entries; the
    /// steps before them are one entry.
    pub fn log(&self) -> Vec<LogEntry> {
        let is_step = |entry: &&LogEntry| entry.revision > Revision(0);
        self.history.iter().map(|it| &it.entry).filter(is_step).cloned().collect()
    }

    /// Forgets all revisions but the newest, and with them the texts that only they have.
    pub(crate) fn forget_history(&mut self) {
        let newest = Recorded::clone(self.history.newest());
        self.history = History::starting(newest.entry, newest.state);
    }

    /// Refuses if the branch is not at `expected`, so that a caller edits only what it has seen.
    pub fn expect_revision(&self, expected: Revision) -> Result<(), EditError> {
        let actual = self.revision();
        if actual == expected { Ok(()) } else { Err(EditError::Stale { expected, actual }) }
    }

    /// Makes several edits as one revision. If `edits` fails the branch is as it was, and if it makes no
    /// edit there is no new revision.
    ///
    /// Inside, each edit counts as usual, and earlier revisions cannot be returned to.
    pub fn transaction<E>(&mut self, edits: impl FnOnce(&mut Self) -> Result<(), E>) -> Result<Revision, E> {
        let mut scratch = self.scratch_in(self.state().clone());
        edits(&mut scratch)?;
        Ok(self.take(scratch))
    }

    /// A branch in this state at the present revision, without the history before, for a transaction.
    pub(super) fn scratch_in(&self, state: State) -> Self {
        let start = LogEntry { paths: [].into(), ..self.history.newest().entry.clone() };
        let history = History::starting(start, state);
        let history = History { transaction: Some(Transaction::default()), ..history };
        Self { history, edits_repositories: self.edits_repositories }
    }

    fn take(&mut self, mut scratch: Self) -> Revision {
        let made = scratch.revision().0 - self.revision().0;
        let Transaction { first, paths } = scratch.history.transaction.take().unwrap_or_default();
        let Some(first) = first else { return self.revision() };
        let paths: BTreeSet<_> = paths.into_iter().collect();
        let what = match made {
            1 => first.to_string(),
            _ => format!("{made} edits, beginning with: {first}"),
        };
        self.record(scratch.state().clone(), &what, paths.into_iter().collect())
    }

    /// Puts `state` in place as the next revision.
    pub(super) fn record(&mut self, state: State, what: &str, paths: Vec<WorkspacePath>) -> Revision {
        self.record_step(state, StepKind::Edit, what, paths)
    }

    pub(super) fn record_step(
        &mut self,
        state: State,
        kind: StepKind,
        what: &str,
        paths: Vec<WorkspacePath>,
    ) -> Revision {
        let revision = Revision(self.revision().0 + 1);
        self.history.push(Recorded { entry: LogEntry::now(revision, kind, what, paths), state });
        revision
    }

    /// Says that the base has all edits now: the branch has none any more, as the next revision. If it had
    /// none, there is no new revision.
    pub fn committed(&mut self) -> Revision {
        self.committed_with([])
    }

    /// Records a commit that removed files and directories with these permissions. Entries that return to their
    /// places get them again.
    pub fn committed_with(
        &mut self,
        permissions: impl IntoIterator<Item = (WorkspacePath, Permissions)>,
    ) -> Revision {
        self.committed_but(&[], permissions)
    }

    /// Records a commit that [left](super::CommitPlan::left) these files: the edits of them stay.
    pub fn committed_but(
        &mut self,
        left: &[WorkspacePath],
        permissions: impl IntoIterator<Item = (WorkspacePath, Permissions)>,
    ) -> Revision {
        if self.state().tree.is_blank() {
            return self.revision();
        }
        let snapshot = self.snapshot();
        let mut blank = State::new(snapshot.tree().base.clone());
        blank.permissions = self.state().permissions.clone();
        blank.repository = self.state().repository.clone();
        for (path, it) in permissions {
            blank.permissions.insert_mut(path, it);
        }
        for path in left {
            if let Ok(Found::File(file)) = snapshot.tree().find(path)
                && let Some(tree) = blank.tree.laid(path, Node::File(file.clone()))
            {
                blank.tree = tree;
                let origin = self.state().origins.get(path).cloned();
                blank.origins.insert_mut(path.clone(), origin.unwrap_or(Origin::Missing));
            }
        }
        let mut paths = snapshot.changed_paths(&snapshot.base_of());
        paths.retain(|it| !left.contains(it));
        self.record_step(blank, StepKind::Commit, "commit", paths)
    }
}

#[cfg(test)]
mod tests;
