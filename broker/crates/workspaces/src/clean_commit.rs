//! Commits that are refused if the branch brings new errors.

use std::sync::Arc;

use check_engine::{Incomplete, pipeline::Change};
use lint::Severity;
use overlay::{Branch, Revision, WorkspacePath};

use super::{
    BranchCell, CheckRequest, Daemon, DaemonError,
    commit::{Merge, MergedFiles},
    events::{Event, FileFindings},
    target::TargetId,
};

/// Entries of an error.
const MAX_SHOWN: usize = 20;

impl Daemon {
    /// Merges what changed on the disk into the branch as a revision, and checks it. Fails if the branch then has errors that
    /// its parent has not, or if some linter gave no answer. Returns the revision for which that holds.
    pub(super) async fn expect_clean(
        self: &Arc<Self>,
        cell: &Arc<BranchCell>,
        if_revision: Option<Revision>,
        merge: Merge,
    ) -> Result<(Revision, MergedFiles), DaemonError> {
        let merge_disk_changes = move |branch: &mut Branch| merge.merge_disk_changes(branch);
        let (merged_files, revision) = cell.edit(if_revision, merge_disk_changes).await?;
        let target = TargetId::Branch(cell.id.to_string());
        let request = CheckRequest {
            revision: Some(revision),
            dependents: true,
            new_only: true,
            ..CheckRequest::of(target)
        };
        let mut events = self.check(request)?;
        let (mut errors, mut incomplete, mut has_ended) = (Vec::new(), Vec::new(), false);
        while let Some(event) = events.recv().await {
            match event? {
                Event::Files(files) => errors.extend(files.iter().flat_map(new_errors)),
                Event::Incomplete(more) => incomplete.extend(more.iter().map(reason)),
                Event::Summary(_) => has_ended = true,
                Event::Started(_) | Event::Excluded(_) => {}
            }
        }
        if !has_ended {
            return Err(DaemonError::Bug("a check ended without a summary".to_owned()));
        }
        if errors.is_empty() && incomplete.is_empty() {
            return Ok((revision, merged_files));
        }
        let total = errors.len();
        errors.truncate(MAX_SHOWN);
        incomplete.sort_unstable();
        incomplete.dedup();
        incomplete.truncate(MAX_SHOWN);
        Err(DaemonError::NotClean { errors, total, incomplete })
    }
}

fn new_errors(file: &FileFindings) -> Vec<(WorkspacePath, String)> {
    if file.change != Some(Change::New) {
        return Vec::new();
    }
    let findings = file.findings.iter().map(|it| &it.0).filter(|it| it.severity == Severity::Error);
    let sentence = |it: &check_engine::Finding| {
        let (path, at) = (&it.file.path, it.range.start);
        let what =
            format!("{path}:{}:{} {}/{} {}", at.line, at.column, it.rule.linter, it.rule.code, it.message);
        (path.clone(), what)
    };
    findings.map(sentence).collect()
}

pub(super) fn reason(it: &Incomplete) -> String {
    match &it.linter {
        Some(linter) => format!("{linter}: {}", it.reason),
        None => it.reason.clone(),
    }
}
