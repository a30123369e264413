//! A branch as it is shown to clients.

use std::{collections::BTreeMap, sync::Arc};

use overlay::{BranchRecord, Revision, Snapshot};

/// The label of a branch on which edits are only tried: one that a killed daemon left is gone when the workspace is opened again.
pub const TRIAL_LABEL: &str = "broker.trial";

/// A branch as it is now.
#[derive(Debug, Clone)]
pub struct BranchInfo {
    pub id: Arc<str>,
    pub workspace: Arc<str>,
    pub name: String,
    /// The handle of the branch that it was forked from.
    pub parent: Option<String>,
    pub revision: Revision,
    pub created_ms: u64,
    pub labels: BTreeMap<String, String>,
    /// Number of files that differ from the base.
    pub changed_paths: usize,
}

impl BranchInfo {
    /// The branch `id`, whose handle names its workspace, too.
    pub(super) fn of(id: &Arc<str>, record: &BranchRecord, snapshot: &Snapshot) -> Self {
        let workspace = id.split_once('.').map_or(&**id, |(workspace, _)| workspace);
        Self {
            id: Arc::clone(id),
            workspace: workspace.into(),
            name: record.name.clone(),
            parent: record.parent.clone(),
            revision: snapshot.revision(),
            created_ms: record.created_ms,
            labels: record.labels.clone(),
            changed_paths: snapshot.changed_count(&snapshot.base_of()),
        }
    }
}
