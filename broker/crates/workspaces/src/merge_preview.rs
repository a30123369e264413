//! Preview of merges: whether branches go together, by pairs, and what the linters say of a result that they say of neither
//! branch.
//!
//! Of many branches, pairs are passed over about which it is known that nothing can come of their merge (`pairs.rs`). Merges are
//! made in memory, of the branches as they are when the request comes, and nothing of them is kept.

mod definitions;
mod finding;
mod order;
mod pairs;
mod side;
mod untraced;

use std::{collections::BTreeSet, sync::Arc};

use overlay::{Snapshot, WorkspacePath};

pub(super) use self::side::text;
pub use self::{
    definitions::{DefinitionChange, DefinitionConflict},
    finding::MergedFinding,
    order::Landing,
    side::EditPlace,
};
use self::{pairs::Candidates, side::Side, untraced::Contexts};
use super::{
    BranchCell, Daemon, DaemonError, OpenWorkspace, ResolvedConflict, checked::Checked, commit::by_syntax,
    task::blocking,
};

/// Branches of one preview: each has a check of its own.
const MAX_BRANCHES: usize = 1000;

/// Reasons that are told of one pair.
const MAX_REASONS: usize = 20;

/// Branches of one workspace that may be merged.
#[derive(Debug, Clone, Hash)]
pub struct MergePreviewRequest {
    /// Their handles, two or more.
    pub branches: Vec<String>,
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
    /// One sentence for each cause for which pairs were looked at without a known contact.
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
        self.pairs.iter().all(|it| it.not_computed.is_empty())
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
        let (mut sides, contexts) = (Vec::new(), Arc::new(Contexts::new(&ancestor)));
        for (cell, snapshot) in cells.iter().zip(snapshots) {
            sides.push(self.side(&workspace, cell, &snapshot, &ancestor, &contexts).await?);
        }
        let found = {
            let ancestor = ancestor.clone();
            blocking(move || Ok((Candidates::find(&sides, &ancestor), sides))).await?
        };
        let (Candidates { pairs, notes }, sides) = found;
        let sides = Arc::new(sides);
        let mut previews = Vec::new();
        for (a, b) in &pairs {
            let preview = self.pair(&workspace, &cells[*a], &sides, (*a, *b), &ancestor).await?;
            if preview.is_conflict() || !preview.not_computed.is_empty() {
                previews.push(((*a, *b), preview));
            }
        }
        let in_conflict = previews.iter().filter(|(_, it)| it.is_conflict()).map(|(pair, _)| *pair);
        let order = order::landings(&request.branches, &in_conflict.collect());
        let (count, looked_at) = (sides.len(), pairs.len());
        let skipped = count * (count - 1) / 2 - looked_at;
        let pairs = previews.into_iter().map(|(_, it)| it).collect();
        Ok(MergePreview { pairs, looked_at, skipped, notes, order })
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

    /// One branch by itself: its edits, and what is new with them.
    async fn side(
        self: &Arc<Self>,
        workspace: &Arc<OpenWorkspace>,
        cell: &Arc<BranchCell>,
        snapshot: &Snapshot,
        ancestor: &Snapshot,
        contexts: &Arc<Contexts>,
    ) -> Result<Side, DaemonError> {
        let snapshot = snapshot.since(ancestor);
        let request = self.snapshot_request(workspace, cell, &snapshot, None).await?;
        let checked = self.check_requested(request.clone()).await?;
        let (id, ancestor, contexts) = (cell.id.to_string(), ancestor.clone(), Arc::clone(contexts));
        blocking(move || {
            let mut side = Side::new(id, snapshot, &ancestor, checked).map_err(DaemonError::unreadable)?;
            side.untraced = contexts.changed(&request, &side.writes)?;
            Ok(side)
        })
        .await
    }

    async fn pair(
        self: &Arc<Self>,
        workspace: &Arc<OpenWorkspace>,
        cell: &Arc<BranchCell>,
        sides: &Arc<Vec<Side>>,
        (a, b): (usize, usize),
        ancestor: &Snapshot,
    ) -> Result<PairPreview, DaemonError> {
        let (shared, ancestor) = (Arc::clone(sides), ancestor.clone());
        let merged = blocking(move || {
            let merged = shared[a].snapshot.merged(&shared[b].snapshot, &ancestor, Some(by_syntax));
            merged.map_err(|error| DaemonError::Bug(error.to_string()))
        });
        let merged = merged.await?;
        let (definitions, more_definitions) = definitions::conflicts(&sides[a], &sides[b]);
        let mut preview = PairPreview {
            a: sides[a].id.clone(),
            b: sides[b].id.clone(),
            conflicts: merged.conflicts.iter().map(ResolvedConflict::of).collect(),
            definitions,
            merged_by_syntax: merged.merged_by_syntax,
            ..PairPreview::default()
        };
        if preview.conflicts.is_empty() {
            let checked = self.check_snapshot(workspace, cell, &merged.snapshot, None).await?;
            preview.not_computed = reasons([&checked, &sides[a].checked, &sides[b].checked]);
            let (shared, snapshot) = (Arc::clone(sides), merged.snapshot);
            let findings = move || Ok(finding::in_neither(&snapshot, &checked, [&shared[a], &shared[b]]));
            let (findings, more) = blocking(findings).await?;
            preview.findings = findings;
            preview.not_computed.extend(cut(more, "findings"));
        }
        preview.not_computed.extend(cut(more_definitions, "definitions"));
        Ok(preview)
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
