//! Checks of branches and of their merges, several at once and by a deadline.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use overlay::Snapshot;
use tokio::{
    task::JoinSet,
    time::{Instant, timeout_at},
};

use super::{
    BranchCell, Checked, Daemon, DaemonError, OpenWorkspace, PairPreview, ResolvedConflict, definitions,
    finding,
    pairs::Contact,
    side::{Known, Side},
    untraced::Contexts,
};
use crate::{commit::by_syntax, task::blocking};

/// Reasons that are told of one pair.
const MAX_REASONS: usize = 20;

/// Limits of the work.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) at_once: usize,
    pub(super) deadline: Instant,
}

/// Branches of one preview, with all that their checks share.
pub(super) struct Work {
    daemon: Arc<Daemon>,
    workspace: Arc<OpenWorkspace>,
    /// In the order of the request.
    cells: Vec<Arc<BranchCell>>,
    ancestor: Snapshot,
    contexts: Contexts,
    known: Arc<Known>,
}

impl Work {
    pub(super) fn new(
        daemon: &Arc<Daemon>,
        workspace: Arc<OpenWorkspace>,
        cells: Vec<Arc<BranchCell>>,
        ancestor: Snapshot,
    ) -> Self {
        let (daemon, contexts) = (Arc::clone(daemon), Contexts::new(&ancestor));
        Self { daemon, workspace, cells, ancestor, contexts, known: Arc::default() }
    }

    pub(super) fn ancestor(&self) -> &Snapshot {
        &self.ancestor
    }

    /// Each branch by itself, in their order, without those that there was no time for.
    pub(super) async fn sides(
        self: &Arc<Self>,
        snapshots: Vec<Snapshot>,
        limits: Limits,
    ) -> Result<Vec<Side>, DaemonError> {
        let work = snapshots.into_iter().enumerate();
        let work = work.map(|(number, snapshot)| Arc::clone(self).side(number, snapshot));
        let mut sides = limits.run(work).await?;
        sides.sort_by_key(|it| it.number);
        Ok(sides)
    }

    /// Edits of a branch, and what is new with them.
    async fn side(self: Arc<Self>, number: usize, snapshot: Snapshot) -> Result<Side, DaemonError> {
        let (snapshot, cell) = (snapshot.since(&self.ancestor), &self.cells[number]);
        let request = self.daemon.snapshot_request(&self.workspace, cell, &snapshot).await?;
        let checked = self.daemon.check_requested(request.clone()).await?;
        blocking(move || {
            let id = self.cells[number].id.to_string();
            let side = Side::new(number, id, snapshot, &self.ancestor, checked, &self.known);
            let mut side = side.map_err(DaemonError::unreadable)?;
            side.untraced = self.contexts.changed(&request, &side.writes)?;
            Ok(side)
        })
        .await
    }

    /// Merges of pairs of these branches, those with a known contact first, as far as there is time. By the numbers of the branches.
    pub(super) async fn pairs(
        self: &Arc<Self>,
        sides: Vec<Side>,
        pairs: BTreeMap<(usize, usize), Contact>,
        limits: Limits,
    ) -> Result<BTreeMap<(usize, usize), PairPreview>, DaemonError> {
        let sides: Vec<_> = sides.into_iter().map(Arc::new).collect();
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.sort_by_key(|(pair, contact)| (*contact, *pair));
        let side = |it: usize| Arc::clone(&sides[it]);
        let work = pairs.into_iter().map(|((a, b), _)| Arc::clone(self).pair(side(a), side(b)));
        Ok(limits.run(work).await?.into_iter().collect())
    }

    async fn pair(
        self: Arc<Self>,
        a: Arc<Side>,
        b: Arc<Side>,
    ) -> Result<((usize, usize), PairPreview), DaemonError> {
        let (work, sides) = (Arc::clone(&self), [Arc::clone(&a), Arc::clone(&b)]);
        let merge = move || {
            let merged = sides[0].snapshot.merged(&sides[1].snapshot, &work.ancestor, Some(by_syntax));
            let merged = merged.map_err(|error| DaemonError::Bug(error.to_string()))?;
            let names = &work.known.names;
            Ok((definitions::conflicts(&sides[0], &sides[1], &merged.snapshot, names), merged))
        };
        let ((definitions, more_definitions), merged) = blocking(merge).await?;
        let mut preview = PairPreview {
            a: a.id.clone(),
            b: b.id.clone(),
            conflicts: merged.conflicts.iter().map(ResolvedConflict::of).collect(),
            definitions,
            merged_by_syntax: merged.merged_by_syntax,
            ..PairPreview::default()
        };
        let numbers = (a.number, b.number);
        if preview.conflicts.is_empty() {
            let cell = &self.cells[a.number];
            let request = self.daemon.snapshot_request(&self.workspace, cell, &merged.snapshot).await?;
            let checked = self.daemon.check_requested(request).await?;
            preview.not_computed = reasons([&checked, &a.checked, &b.checked]);
            let findings = move || Ok(finding::in_neither(&merged.snapshot, &checked, [&a, &b]));
            let (findings, more) = blocking(findings).await?;
            preview.findings = findings;
            preview.not_computed.extend(cut(more, "findings"));
        }
        preview.not_computed.extend(cut(more_definitions, "definitions"));
        Ok((numbers, preview))
    }
}

impl Limits {
    /// Does work in its order and returns what is done by the deadline. The rest is given up.
    async fn run<T: Send + 'static>(
        self,
        work: impl Iterator<Item: Future<Output = Result<T, DaemonError>> + Send + 'static>,
    ) -> Result<Vec<T>, DaemonError> {
        let (mut work, mut running, mut done) = (work.fuse(), JoinSet::new(), Vec::new());
        loop {
            let free = self.at_once - running.len();
            work.by_ref().take(free).for_each(|it| _ = running.spawn(it));
            match timeout_at(self.deadline, running.join_next()).await {
                Ok(Some(one)) => {
                    done.push(one.unwrap_or_else(|error| Err(DaemonError::broke_off("a merge", error)))?);
                }
                Ok(None) | Err(_) => return Ok(done),
            }
        }
    }
}

fn reasons(checks: [&Checked; 3]) -> Vec<String> {
    let all: BTreeSet<_> = checks.iter().flat_map(|it| &it.incomplete).cloned().collect();
    let more = all.len().saturating_sub(MAX_REASONS);
    all.into_iter().take(MAX_REASONS).chain(cut(more, "reasons")).collect()
}

/// Sentence about entries that are not told, if there are any.
fn cut(more: usize, what: &str) -> Option<String> {
    (more > 0).then(|| format!("{more} more {what} are not listed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_that_are_cut_are_counted() {
        let mut checked = Checked::default();
        checked.incomplete.extend((0..MAX_REASONS + 3).map(|it| format!("reason {it:03}")));
        let told = reasons([&checked, &Checked::default(), &Checked::default()]);
        assert_eq!(told.len(), MAX_REASONS + 1);
        assert_eq!(told.last().unwrap(), "3 more reasons are not listed");
        assert_eq!(cut(0, "findings"), None);
    }
}
