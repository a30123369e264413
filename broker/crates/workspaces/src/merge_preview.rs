//! Preview of merges: whether branches go together, by pairs, and what the linters say of a result that they say of neither
//! branch.
//!
//! Of many branches, pairs are passed over about which it is known that nothing can come of their merge (`pairs.rs`). Merges are
//! made in memory, several at once, of the branches as they are when the request comes, and nothing of them is kept. What there
//! is no time for is counted.

mod change;
mod changed;
mod definitions;
mod edit;
mod finding;
mod names;
mod order;
mod pairs;
mod side;
mod signature;
mod untraced;
mod work;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use lint::counted;
use overlay::{Snapshot, WorkspacePath};
use tokio::time::Instant;

pub(super) use self::edit::text;
pub use self::{
    changed::DefinitionChange, definitions::DefinitionConflict, edit::EditPlace, finding::MergedFinding,
    order::Landing,
};
use self::{
    pairs::Candidates,
    work::{Limits, Work},
};
use super::{
    BranchCell, Daemon, DaemonError, OpenWorkspace, ResolvedConflict, checked::Checked, task::blocking,
};

/// Branches of one preview: each has a check of its own.
const MAX_BRANCHES: usize = 1000;

/// The longest that a preview takes, if nothing else is said.
const WAIT: Duration = Duration::from_secs(60);

/// The longest that one may take.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Branches of one workspace that may be merged.
#[derive(Debug, Clone, Hash)]
pub struct MergePreviewRequest {
    /// Their handles, two or more.
    pub branches: Vec<String>,
    /// The longest that it may take, 60 seconds if there is none. Pairs that remain are counted in `not_looked_at`.
    pub wait: Option<Duration>,
}

/// Result of a preview. Branches are named by their handles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MergePreview {
    /// Pairs of which there is something to say.
    pub pairs: Vec<PairPreview>,
    /// Number of pairs that were merged and checked.
    pub looked_at: usize,
    /// Number of pairs that need no look.
    pub skipped: usize,
    /// Number of pairs that there was no time for, so that nothing is known of them.
    pub not_looked_at: usize,
    /// One sentence for each cause for which pairs were looked at without a known contact, or were not looked at.
    pub notes: Vec<String>,
    /// Every branch, in an order in which they can land.
    pub order: Vec<Landing>,
}

/// Two branches that do not go together, or of which that is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PairPreview {
    pub a: String,
    pub b: String,
    /// Paths at which the texts do not go together; `here` is `a`. Nothing is checked then.
    pub conflicts: Vec<ResolvedConflict>,
    /// Uses of what the other branch changed: possible conflicts, found by name.
    pub definitions: Vec<DefinitionConflict>,
    /// Findings of the merged files that neither branch has.
    pub findings: Vec<MergedFinding>,
    /// Files that were merged by their syntax trees, since a merge by lines failed.
    pub merged_by_syntax: Vec<WorkspacePath>,
    /// Reasons for which findings may be missing.
    pub not_computed: Vec<String>,
}

impl PairPreview {
    /// Whether the merge, in any order, has something that neither branch has.
    pub fn is_conflict(&self) -> bool {
        !self.conflicts.is_empty() || !self.definitions.is_empty() || !self.findings.is_empty()
    }
}

impl MergePreview {
    pub fn has_conflicts(&self) -> bool {
        self.pairs.iter().any(PairPreview::is_conflict)
    }

    pub fn is_complete(&self) -> bool {
        self.not_looked_at == 0 && self.pairs.iter().all(|it| it.not_computed.is_empty())
    }
}

impl Daemon {
    /// Merges branches pair by pair, and says what comes of it.
    pub async fn merge_preview(
        self: &Arc<Self>,
        request: MergePreviewRequest,
    ) -> Result<MergePreview, DaemonError> {
        let _running = self.running.begin();
        let (workspace, cells) = self.branches_to_merge(&request.branches)?;
        let snapshots: Vec<_> = cells.iter().map(|it| it.snapshot()).collect();
        let Some(ancestor) = Snapshot::common_ancestor(&snapshots) else {
            return Err(DaemonError::invalid("branches", "there are none"));
        };
        let wait = request.wait.unwrap_or(WAIT).min(LONGEST);
        let work = Arc::new(Work::new(self, workspace, cells, ancestor));
        let limits = Limits { at_once: self.engine.workers().max(2), deadline: Instant::now() + wait };
        let sides = work.sides(snapshots, limits).await?;
        let found = {
            let work = Arc::clone(&work);
            let find = move || Ok((Candidates::find(&sides, work.ancestor(), limits.deadline), sides));
            blocking(find).await?
        };
        let (Candidates { pairs, mut notes }, sides) = found;
        let numbers: Vec<_> = sides.iter().map(|it| it.number).collect();
        let apart = each_pair(numbers.len()).filter(|it| !pairs.contains_key(it));
        let apart: BTreeSet<_> = apart.map(|(a, b)| (numbers[a], numbers[b])).collect();
        let mut previews = work.pairs(sides, pairs, limits).await?;
        let (looked_at, skipped) = (previews.len(), apart.len());
        let not_looked_at = each_pair(request.branches.len()).count() - skipped - looked_at;
        if not_looked_at > 0 {
            notes.push(format!(
                "not looked at within {} s: {}; name fewer branches, or allow more time",
                wait.as_secs_f32(),
                counted(not_looked_at, "pair")
            ));
        }
        let goes_together =
            |it: &(usize, usize)| apart.contains(it) || previews.get(it).is_some_and(|it| !it.is_conflict());
        let conflicts = each_pair(request.branches.len()).filter(|it| !goes_together(it)).collect();
        let order = order::landings(&request.branches, &conflicts);
        previews.retain(|_, it| it.is_conflict() || !it.not_computed.is_empty());
        let pairs = previews.into_values().collect();
        Ok(MergePreview { pairs, looked_at, skipped, not_looked_at, notes, order })
    }

    /// The branches, each once, which must be of one workspace.
    fn branches_to_merge(
        &self,
        ids: &[String],
    ) -> Result<(Arc<OpenWorkspace>, Vec<Arc<BranchCell>>), DaemonError> {
        DaemonError::expect_at_most(MAX_BRANCHES, ids.len(), "branches")?;
        if ids.len() < 2 {
            return Err(DaemonError::invalid("branches", "a merge takes two or more"));
        }
        if ids.iter().collect::<BTreeSet<_>>().len() < ids.len() {
            return Err(DaemonError::invalid("branches", "one is named twice"));
        }
        let found: Vec<_> = ids.iter().map(|it| self.branch(it)).collect::<Result<_, _>>()?;
        let workspace = Arc::clone(&found[0].0);
        if found.iter().any(|(it, _)| !Arc::ptr_eq(it, &workspace)) {
            return Err(DaemonError::invalid("branches", "they are of different workspaces"));
        }
        workspace.expect_there()?;
        Ok((workspace, found.into_iter().map(|(_, it)| it).collect()))
    }
}

/// Pairs of the numbers below this one, the smaller first.
fn each_pair(numbers: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..numbers).flat_map(move |a| (a + 1..numbers).map(move |b| (a, b)))
}

#[cfg(test)]
mod tests;
