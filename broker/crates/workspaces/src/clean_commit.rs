//! Commits that are refused if the branch brings new errors.

use std::{sync::Arc, time::Duration};

use check_engine::{Finding, pipeline::Reported};
use lint::{CHANGED, Severity};
use overlay::{Branch, Revision, WorkspacePath};

use super::{
    BranchCell, Daemon, DaemonError, OpenWorkspace,
    checked::{Checked, not_asked},
    commit::{Clean, Merge},
};

/// Entries of an error.
const MAX_SHOWN: usize = 20;

impl Daemon {
    /// Checks the branch with what changed on the disk merged into it; the branch itself stays as it is. Fails if the result has
    /// errors that its parent has not, or if some linter gave no answer, be it within `wait`. `None`
    /// if all that is missing is missing because files changed during the check.
    pub(super) async fn expect_clean(
        self: &Arc<Self>,
        workspace: &Arc<OpenWorkspace>,
        cell: &Arc<BranchCell>,
        if_revision: Option<Revision>,
        merge: Merge,
        wait: Option<Duration>,
    ) -> Result<Option<Clean>, DaemonError> {
        let merged = move |branch: &mut Branch| {
            let mut merged = branch.clone();
            merge.merge_disk_changes(&mut merged)?;
            Ok(merged.snapshot())
        };
        let (merged, revision) = cell.edit(if_revision, merged).await?;
        let checked = self.check_snapshot(workspace, cell, &merged, wait).await?;
        let notes = not_asked([&checked]);
        let Checked { new, incomplete, .. } = checked;
        let mut errors: Vec<_> = new.iter().filter_map(new_error).collect();
        if errors.is_empty() && incomplete.is_empty() {
            return Ok(Some(Clean { revision, snapshot: merged, notes }));
        }
        if errors.is_empty() && incomplete.iter().all(|it| it.ends_with(CHANGED)) {
            return Ok(None);
        }
        let total = errors.len();
        errors.truncate(MAX_SHOWN);
        let incomplete = incomplete.into_iter().take(MAX_SHOWN).collect();
        Err(DaemonError::NotClean { errors, total, incomplete })
    }
}

fn new_error(it: &Reported) -> Option<(WorkspacePath, String)> {
    let it: &Finding = &it.0;
    if it.severity != Severity::Error {
        return None;
    }
    let (path, at) = (&it.file.path, it.range.start);
    let what = format!("{path}:{}:{} {}/{} {}", at.line, at.column, it.rule.linter, it.rule.code, it.message);
    Some((path.clone(), what))
}
