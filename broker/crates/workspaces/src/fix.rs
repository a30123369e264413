//! Fixes files of a branch, as one edit of it; or tells what would be fixed, of the base, too.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use check_engine::{
    Incomplete,
    baseline::Baseline,
    pipeline::{FixNote, Fixed, Fixer},
};
use lint::Applicability;
use overlay::{Branch, ContentHash, Revision, Snapshot, View as _, WorkspacePath};

use super::{
    BranchCell, CheckRequest, Daemon, DaemonError, Repeatable,
    ask::refused,
    prepared::{Inspected, Prepared},
    target::Target,
    task::{blocking, run_uncancellable},
    view::FixedView,
};

/// Which files are to be fixed, and how.
#[derive(Debug, Clone, Hash)]
pub struct FixRequest {
    /// Check whose findings are fixed. The base only with `dry_run`.
    pub check: CheckRequest,
    /// Suppresses findings by comments with this reason in place of fixing them.
    pub suppress: Option<String>,
    /// The least sure fixes that are made.
    pub least: Applicability,
    /// Edits nothing.
    pub dry_run: bool,
    /// Whether the answer has the whole contents of the fixed files, too.
    pub with_contents: bool,
    pub if_revision: Option<Revision>,
    /// With one, the request may be sent again.
    pub request_id: Option<String>,
}

/// Result of a fix.
#[derive(Debug, Clone)]
pub struct FixedFiles {
    /// With the fixes, or the one that was checked if there are none; 0 for the base.
    pub revision: Revision,
    pub count: usize,
    pub paths: Vec<WorkspacePath>,
    /// A unified diff of the fixes.
    pub patch: String,
    /// The fixed files whole, by path, if that was asked.
    pub files: Vec<FixedFile>,
    /// Findings that were not fixed, with the reasons.
    pub notes: Vec<UnfixedFinding>,
    pub incomplete: Vec<Incomplete>,
    /// Fixes of a view of this process, which the caller writes.
    pub local: Option<Arc<FixedView>>,
}

/// A finding that was not fixed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfixedFinding {
    /// `None` if it is about several files.
    pub path: Option<WorkspacePath>,
    /// Empty if it is about several rules.
    pub rule: String,
    pub reason: String,
}

impl From<&FixNote> for UnfixedFinding {
    fn from(it: &FixNote) -> Self {
        let (path, rule) = match it {
            FixNote::NotEdited { path, .. } | FixNote::NotSuppressed { path, .. } => (Some(path), ""),
            FixNote::Harmful { path, rule, .. } => (Some(path), rule.as_str()),
            FixNote::Circles { .. } | FixNote::Notebooks { .. } => (None, ""),
        };
        Self { path: path.cloned(), rule: rule.to_owned(), reason: it.to_string() }
    }
}

/// A file with its fixes.
#[derive(Debug, Clone)]
pub struct FixedFile {
    /// Links followed.
    pub path: WorkspacePath,
    /// Hash of the text that was checked.
    pub checked: ContentHash,
    pub content: Bytes,
}

const CONTEXT_LINES: usize = 3;

/// Bytes of the fixed files of one answer.
const MAX_CONTENTS: usize = 64 << 20;

impl Daemon {
    /// Fixes files of a branch. When this returns, the fixes are on the disk, in the daemon's own folder.
    pub async fn fix_files(self: &Arc<Self>, request: FixRequest) -> Result<FixedFiles, DaemonError> {
        if self.local_view(&request.check.target).is_some() {
            return self.fix(request, None).await;
        }
        let target = self.target(&request.check.target)?;
        request.expect_made(&target)?;
        let workspace = Arc::clone(target.workspace());
        let repeatable = Repeatable::of(target.id(), request.request_id.as_deref(), &request)?;
        let cell = match target {
            Target::Base(_) => None,
            Target::Branch(_, cell) => Some(cell),
        };
        let daemon = Arc::clone(self);
        run_uncancellable(async move { workspace.fixes.run(repeatable, daemon.fix(request, cell)).await })
            .await
    }

    /// Fixes files of a view, of the base, or of the branch `cell`, which is the only one that is edited.
    async fn fix(
        self: &Arc<Self>,
        request: FixRequest,
        cell: Option<Arc<BranchCell>>,
    ) -> Result<FixedFiles, DaemonError> {
        let check = CheckRequest { revision: None, ..request.check.clone() };
        let it = Arc::new(self.prepare_check(check).await?);
        if let Some(expected) = request.if_revision.filter(|wanted| *wanted != it.revision) {
            return Err(DaemonError::Stale { expected, actual: it.revision });
        }
        // Not given up for an edit of another file; one of these files is noticed when they are written.
        let own = Arc::clone(&it);
        let known = blocking(move || own.known()).await?;
        let list = known.as_ref().map(|known| &known.list);
        let inspected = self.inspect(&it, list).await?;
        let fixed = self.fixes(&it, &inspected, &request, list.cloned()).await?;
        let after = fixed.branch.snapshot();
        let files = if request.with_contents { contents(&fixed.before, &after)? } else { Vec::new() };
        let (paths, patch) = match it.local.is_some() && !request.dry_run {
            true => Default::default(),
            false => blocking(move || changes(&after)).await?,
        };
        let mut made = FixedFiles {
            revision: it.revision,
            count: fixed.count,
            paths,
            patch,
            files,
            notes: fixed.notes.iter().map(UnfixedFinding::from).collect(),
            incomplete: inspected.collected.report.incomplete.clone(),
            local: None,
        };
        if let Some(checked) = it.answer(inspected, known.as_ref())? {
            made.incomplete.clone_from(&checked.report.incomplete);
            made.local = Some(Arc::new(FixedView { checked, fixed }));
        } else if let Some(cell) = cell.filter(|_| !request.dry_run && !made.paths.is_empty()) {
            made.revision = self.write_fixed(cell, request.if_revision, fixed).await?;
        }
        Ok(made)
    }

    /// Makes the fixes an edit of the branch.
    async fn write_fixed(
        self: &Arc<Self>,
        cell: Arc<BranchCell>,
        if_revision: Option<Revision>,
        Fixed { branch, before, .. }: Fixed,
    ) -> Result<Revision, DaemonError> {
        let after = branch.snapshot();
        let write =
            move |branch: &mut Branch| branch.transaction(|it| write_all(it, &before, &after)).map(drop);
        self.edit(cell, if_revision, write).await.map(|((), revision)| revision)
    }

    /// Fixes what was found, or suppresses it. The findings of `baseline` stay.
    async fn fixes(
        &self,
        it: &Prepared,
        inspected: &Inspected,
        asked: &FixRequest,
        baseline: Option<Arc<Baseline>>,
    ) -> Result<Fixed, DaemonError> {
        let (engine, cache, least) = (&self.engine, &self.policy_cache, asked.least);
        let fixer = Fixer { engine, cache, request: &it.request, least, baseline };
        let (files, report) = (it.files(&inspected.collected), &inspected.collected.report);
        let fixed = match &asked.suppress {
            None => fixer.fix(&files, report).await,
            Some(reason) => fixer.suppress(&files, report, reason).await,
        };
        fixed.map_err(refused)
    }
}

impl FixRequest {
    /// All safe fixes of what the check finds.
    pub fn of(check: CheckRequest) -> Self {
        Self {
            check,
            suppress: None,
            least: Applicability::Safe,
            dry_run: false,
            with_contents: false,
            if_revision: None,
            request_id: None,
        }
    }

    fn expect_made(&self, target: &Target) -> Result<(), DaemonError> {
        if matches!(target, Target::Base(_)) {
            if !self.dry_run {
                return Err(DaemonError::invalid("dry_run", "the base is never edited; name a branch"));
            }
            if self.if_revision.is_some() {
                return Err(DaemonError::invalid("if_revision", "the base has no revisions"));
            }
        }
        if !self.check.options.texts.is_empty() && !self.dry_run {
            let message = "they are no files of the branch: with `dry_run` only";
            return Err(DaemonError::invalid("options.texts", message));
        }
        if self.least == Applicability::DisplayOnly {
            let message = "fixes that are only for display are never made";
            return Err(DaemonError::invalid("applicability", message));
        }
        Ok(())
    }
}

/// The files that have another text than they were checked with, whose hash is in `before`.
fn fixed_files(
    before: &BTreeMap<WorkspacePath, ContentHash>,
    after: &Snapshot,
) -> Result<Vec<FixedFile>, DaemonError> {
    let mut files = Vec::new();
    for (path, checked) in before {
        let content = after.read(path).map_err(DaemonError::unreadable)?;
        // Else everything that was tried was taken back.
        if ContentHash::of(&content) != *checked {
            files.push(FixedFile { path: path.clone(), checked: *checked, content });
        }
    }
    Ok(files)
}

/// Contents of the fixed files for an answer, which may not be too large.
fn contents(
    before: &BTreeMap<WorkspacePath, ContentHash>,
    after: &Snapshot,
) -> Result<Vec<FixedFile>, DaemonError> {
    let files = fixed_files(before, after)?;
    let size = files.iter().map(|it| it.content.len()).sum();
    DaemonError::expect_at_most(MAX_CONTENTS, size, "bytes of fixed files")?;
    Ok(files)
}

/// Paths that the fixes change, with the patch.
fn changes(after: &Snapshot) -> Result<(Vec<WorkspacePath>, String), DaemonError> {
    let before = after.base_of();
    let changes = after.changes(&before).map_err(DaemonError::unreadable)?;
    let patch = overlay::unified(&changes, &before, after, CONTEXT_LINES).map_err(DaemonError::unreadable)?;
    Ok((changes.into_iter().map(|it| it.path).collect(), patch))
}

/// Fails if one of the files has another text than it was checked with, whose hash is in `before`.
fn write_all(
    branch: &mut Branch,
    before: &BTreeMap<WorkspacePath, ContentHash>,
    after: &Snapshot,
) -> Result<(), DaemonError> {
    for FixedFile { path, checked, content } in fixed_files(before, after)? {
        branch.write_if(&path, Some(checked), content)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use overlay::{Memory, View};

    use super::*;

    #[test]
    fn a_text_that_changed_below_since_it_was_checked_is_not_replaced() {
        let path = WorkspacePath::new("a").unwrap();
        // A branch shows what the disk has now.
        let now: Arc<dyn View> = Arc::new(Memory::from_files([("a", "saved since")]).unwrap());
        let mut fixed = Branch::new(Arc::clone(&now));
        fixed.write(&path, "fixed".into()).unwrap();
        for (checked, is_written) in [("checked", false), ("saved since", true)] {
            let mut branch = Branch::new(Arc::clone(&now));
            let before = BTreeMap::from([(path.clone(), ContentHash::of(checked.as_bytes()))]);
            let written = write_all(&mut branch, &before, &fixed.snapshot());
            assert_eq!(written.is_ok(), is_written, "{checked}");
            let text = if is_written { "fixed" } else { "saved since" };
            assert_eq!(branch.snapshot().read(&path).unwrap(), text);
        }
    }
}
