//! Commit of a branch to the disk, and rebase of a branch onto its parent.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use overlay::{
    Branch, CommitError, CommitPlan, Committed as Written, Committer, Conflict, FileOp, MergeOptions,
    OnConflict, PlanError, RebaseError, RebaseOnto, Resolution, Revision, Snapshot, View as _, WorkspacePath,
    marked_lines,
};

use syntax::Language;

use super::{
    BranchCell, Daemon, DaemonError, FileChange, OpenWorkspace, Repeatable, fields, measured::Measured,
    task::run_uncancellable, workspace_events::BranchChangeKind,
};

#[derive(Debug, Clone, Hash)]
pub struct CommitRequest {
    pub branch: String,
    pub if_revision: Option<Revision>,
    /// Paths that are written even if they changed on the disk, or have markers of conflicts.
    pub force_paths: Vec<String>,
    /// Whether changes of the disk that go together with the branch's are merged first.
    pub rebase: bool,
    /// Refuses if the branch has errors that its parent has not, or if a linter gives no answer. What changed on the disk is
    /// merged before the check, if `rebase` is set.
    pub if_clean: bool,
    /// The longest that `if_clean` waits for linters; without one, as long as they take.
    pub wait: Option<Duration>,
    /// Reports what would be written, and writes nothing.
    pub dry_run: bool,
    /// A request that is repeated with the same id commits once.
    pub request_id: Option<String>,
}

impl CommitRequest {
    /// Whatever the branch's revision is, without force.
    pub fn of(branch: impl Into<String>) -> Self {
        let branch = branch.into();
        Self {
            branch,
            if_revision: None,
            force_paths: Vec::new(),
            rebase: false,
            if_clean: false,
            wait: None,
            dry_run: false,
            request_id: None,
        }
    }
}

#[derive(Debug, Clone)]
pub struct RebaseRequest {
    pub branch: String,
    pub if_revision: Option<Revision>,
    pub on_conflict: OnConflict,
    /// Decisions about conflicts, by path. They are used before `on_conflict`.
    pub resolutions: BTreeMap<String, Resolution>,
}

impl RebaseRequest {
    /// Whatever the branch's revision is; refused where both sides changed the same.
    pub fn of(branch: impl Into<String>) -> Self {
        let (if_revision, on_conflict) = (None, OnConflict::Refuse);
        Self { branch: branch.into(), if_revision, on_conflict, resolutions: BTreeMap::new() }
    }
}

/// Changes that a commit wrote, or would write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    pub revision: Revision,
    pub changes: Vec<FileChange>,
    /// Files that had changed on the disk and were merged first.
    pub merged: Vec<WorkspacePath>,
    /// Files of `merged` that were merged by their syntax trees, since a merge by lines failed.
    pub merged_by_syntax: Vec<WorkspacePath>,
    /// Paths of `changes` for which an editor that does not apply commits has other, unsaved text.
    pub unsaved: Vec<WorkspacePath>,
    /// Files that are not written, because an editor that applies commits has unsaved text for them. The branch keeps its edits
    /// of them.
    pub left: Vec<WorkspacePath>,
    /// Sentences about texts that other programs saved during the commit, with the files that keep them, and about linters that the
    /// check did not ask.
    pub notes: Vec<String>,
}

/// A branch that was brought onto its parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebased {
    /// Revision after the rebase; unchanged if there was nothing to do.
    pub revision: Revision,
    /// Files that have the changes of both sides now.
    pub merged: Vec<WorkspacePath>,
    /// Files of `merged` that were merged by their syntax trees, since a merge by lines failed.
    pub merged_by_syntax: Vec<WorkspacePath>,
    /// Conflicts that were resolved as the request says.
    pub conflicts: Vec<ResolvedConflict>,
}

/// A path where both sides changed the same, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedConflict {
    pub path: WorkspacePath,
    /// Changes of both sides, with the places.
    pub reason: String,
}

impl ResolvedConflict {
    pub(super) fn of(it: &Conflict) -> Self {
        Self { path: it.path.clone(), reason: it.describe() }
    }
}

impl From<overlay::Rebased> for Rebased {
    fn from(it: overlay::Rebased) -> Self {
        let conflicts = it.conflicts.iter().map(ResolvedConflict::of).collect();
        let (merged, merged_by_syntax) = (it.merged, it.merged_by_syntax);
        Self { revision: it.revision, merged, merged_by_syntax, conflicts }
    }
}

impl OpenWorkspace {
    /// Writes what a branch changed to the disk, all or nothing; the branch then shows the base.
    ///
    /// A file is not written but left to an editor that has unsaved text for it and applies commits by itself. The branch keeps its
    /// edits of that file, so that they are not lost if the editor ends.
    ///
    /// If the process ends after the last file is written and before the branch's record is, the branch is still there
    /// afterwards and has the same content as the base. If the record cannot be written, the error is
    /// [`NotNoted`](DaemonError::NotNoted), and it is written later.
    pub(super) async fn commit(
        self: &Arc<Self>,
        cell: &Arc<BranchCell>,
        if_revision: Option<Revision>,
        merge: Merge,
        request: Option<Repeatable>,
    ) -> Result<Committed, DaemonError> {
        let commit = async {
            let Some(daemon) = merge.checked_by.clone() else {
                return self.write_out(cell, if_revision, merge).await;
            };
            let until = merge.wait.map(|it| Instant::now() + it);
            // Other commits go on during the check; what they change is checked again.
            for _ in 0..CHECKS {
                let commits = *self.commit_count.lock().await;
                let wait = until.map(|it| it.saturating_duration_since(Instant::now()));
                let clean = daemon.expect_clean(self, cell, if_revision, merge.clone(), wait);
                let Some(Clean { revision: seen, snapshot, notes }) = clean.await? else { continue };
                let merge = Merge { checked: Some(Merged { snapshot, commits }), ..merge.clone() };
                match self.write_out(cell, Some(seen), merge).await {
                    Err(DaemonError::Busy { .. }) => {}
                    Err(DaemonError::Stale { .. }) if if_revision.is_none() => {}
                    Ok(mut written) => {
                        written.notes.extend(notes);
                        return Ok(written);
                    }
                    Err(error) => return Err(error),
                }
            }
            Err(DaemonError::Busy { retry_after: RETRY_AFTER })
        };
        self.commits.run(request, commit).await
    }

    /// Writes out a branch that nothing more is asked about.
    async fn write_out(
        self: &Arc<Self>,
        cell: &Arc<BranchCell>,
        if_revision: Option<Revision>,
        merge: Merge,
    ) -> Result<Committed, DaemonError> {
        // One at a time.
        let mut commits = self.commit_count.lock().await;
        merge.expect_no_commit_since(*commits)?;
        let workspace = Arc::clone(self);
        let write = move |branch: &mut Branch| {
            workspace.expect_there()?;
            // Leftovers of an earlier commit, by this process or another.
            let recovered = workspace.committer.recover().map_err(DaemonError::Commit)?;
            let merged_files = merge.merge_disk_changes(branch)?;
            merge.expect_as_checked(branch)?;
            let plan = workspace.plan(branch, &merge.force)?;
            let (written, unfinished) = write(&workspace.committer, &plan)?;
            branch.committed_but(&plan.left, written.permissions);
            let left = recovered.into_iter().flat_map(|it| it.leftovers).chain(written.leftovers);
            Ok((plan, merged_files, left.map(|it| it.to_string()).collect(), unfinished))
        };
        let kind = |(plan, ..): &(CommitPlan, _, _, _)| BranchChangeKind::Committed {
            changes: FileChange::all(plan.changes.clone()),
            unsaved: plan.unsaved.clone(),
            left: plan.left.clone(),
        };
        let done = cell.edit_for_good(if_revision, write, kind).await?;
        *commits += 1;
        let ((plan, MergedFiles { merged, merged_by_syntax }, notes, unfinished), revision) = done;
        match unfinished {
            Some(error) => Err(DaemonError::Commit(error)),
            None => {
                let CommitPlan { changes, unsaved, left, .. } = plan;
                let changes = FileChange::all(changes);
                Ok(Committed { revision, changes, merged, merged_by_syntax, unsaved, left, notes })
            }
        }
    }

    /// Changes that [`commit`](OpenWorkspace::commit) would write, with the same conflicts.
    async fn would_commit(
        self: &Arc<Self>,
        cell: &Arc<BranchCell>,
        if_revision: Option<Revision>,
        merge: Merge,
    ) -> Result<Committed, DaemonError> {
        self.expect_there()?;
        let workspace = Arc::clone(self);
        let look = move |branch: &mut Branch| {
            let mut brought_up = branch.clone();
            let merged_files = merge.merge_disk_changes(&mut brought_up)?;
            let plan = workspace.plan(&brought_up, &merge.force)?;
            workspace.committer.check(&plan.ops).map_err(DaemonError::Commit)?;
            Ok((plan, merged_files))
        };
        let ((plan, MergedFiles { merged, merged_by_syntax }), revision) =
            cell.edit(if_revision, look).await?;
        let CommitPlan { changes, unsaved, left, .. } = plan;
        let changes = FileChange::all(changes);
        let notes = Vec::new();
        Ok(Committed { revision, changes, merged, merged_by_syntax, unsaved, left, notes })
    }

    fn plan(&self, branch: &Branch, force: &BTreeSet<WorkspacePath>) -> Result<CommitPlan, DaemonError> {
        let edits = if force.is_empty() { Vec::new() } else { branch.snapshot().edits() };
        let is_edited =
            |path: &WorkspacePath| edits.iter().any(|it| it.starts_with(path) || path.starts_with(it));
        if let Some(path) = force.iter().find(|it| !is_edited(it)) {
            let message = format!("the branch does not change `{path}`");
            return Err(DaemonError::invalid("force_paths", message));
        }
        let plan = branch.plan_commit_but(|it| self.editors.take_commits(it), force);
        let plan = plan.map_err(|error| match error {
            PlanError::VersionControl(path) => DaemonError::Commit(CommitError::VersionControl { path }),
            PlanError::Io(source) => DaemonError::unreadable(source),
        })?;
        expect_no_markers(&plan, &branch.snapshot(), force)?;
        Ok(plan)
    }
}

/// Treatment of what changed on the disk.
#[derive(Default, Clone)]
pub(super) struct Merge {
    /// Whether it is merged where it goes together.
    rebase: bool,
    /// Checks the result first, and refuses new errors.
    checked_by: Option<Arc<Daemon>>,
    /// The longest wait for the check.
    wait: Option<Duration>,
    /// Result of the merge that was checked.
    checked: Option<Merged>,
    /// Paths that are written over.
    force: BTreeSet<WorkspacePath>,
}

/// Branch with what changed on the disk merged into it.
#[derive(Clone)]
struct Merged {
    snapshot: Snapshot,
    /// Number of commits to the workspace before.
    commits: u64,
}

/// A branch that may be committed.
pub(super) struct Clean {
    pub(super) revision: Revision,
    /// The branch at that revision, with what changed on the disk merged into it.
    pub(super) snapshot: Snapshot,
    /// Sentences about linters that were not asked.
    pub(super) notes: Vec<String>,
}

/// Files with changes of both sides.
#[derive(Default)]
pub(super) struct MergedFiles {
    merged: Vec<WorkspacePath>,
    /// Files of `merged` that were merged by syntax.
    merged_by_syntax: Vec<WorkspacePath>,
}

impl Merge {
    /// Merges what changed on the disk into the branch.
    pub(super) fn merge_disk_changes(&self, branch: &mut Branch) -> Result<MergedFiles, DaemonError> {
        // What is forced is to stay as the branch has it.
        if !self.rebase || !self.force.is_empty() || branch.conflicts(None)?.is_empty() {
            return Ok(MergedFiles::default());
        }
        let rebased = branch.rebase(RebaseOnto::Base, options(OnConflict::Refuse)).map_err(refused)?;
        Ok(MergedFiles { merged: rebased.merged, merged_by_syntax: rebased.merged_by_syntax })
    }

    /// Fails if another commit has changed files that the check may have read.
    fn expect_no_commit_since(&self, commits: u64) -> Result<(), DaemonError> {
        match &self.checked {
            Some(it) if it.commits != commits => Err(DaemonError::Busy { retry_after: RETRY_AFTER }),
            _ => Ok(()),
        }
    }

    /// Fails if the branch is not what was checked, since the disk changed meanwhile.
    fn expect_as_checked(&self, branch: &Branch) -> Result<(), DaemonError> {
        let Some(checked) = &self.checked else { return Ok(()) };
        let changes = branch.snapshot().changes(&checked.snapshot).map_err(DaemonError::unreadable)?;
        if changes.is_empty() { Ok(()) } else { Err(DaemonError::Busy { retry_after: RETRY_AFTER }) }
    }
}

/// Times that a result is checked while other commits change it.
const CHECKS: usize = 5;

/// Time after which a commit is tried again, if the disk changed while its result was checked.
const RETRY_AFTER: Duration = Duration::from_millis(100);

/// Merges a file by its syntax tree, if its language has a grammar.
pub(super) fn by_syntax(path: &WorkspacePath, [base, ours, theirs]: [&str; 3]) -> Option<String> {
    syntax::merge(Language::of(path)?, base, ours, theirs)
}

fn options(on_conflict: OnConflict) -> MergeOptions<'static> {
    MergeOptions { on_conflict, by_syntax: Some(by_syntax), resolutions: None }
}

/// Fails if a file would be written with markers of conflicts that the text before did not have.
fn expect_no_markers(
    plan: &CommitPlan,
    snapshot: &Snapshot,
    force: &BTreeSet<WorkspacePath>,
) -> Result<(), DaemonError> {
    let base = snapshot.base_of();
    let marked = |ops: &FileOp| {
        let FileOp::Write { path, bytes, .. } = ops else { return None };
        let lines = marked_lines(str::from_utf8(bytes).ok()?);
        let before = base.read(&snapshot.came_from(path)).ok();
        let before = before.and_then(|it| Some(marked_lines(str::from_utf8(&it).ok()?).len()));
        (lines.len() > before.unwrap_or(0) && !force.contains(path)).then(|| (path.clone(), lines))
    };
    let places: Vec<_> = plan.ops.iter().filter_map(marked).collect();
    if places.is_empty() { Ok(()) } else { Err(DaemonError::Markers(places)) }
}

/// Writes the plan. An error beside the result means that all files are written, but leftovers could not be removed.
fn write(committer: &Committer, plan: &CommitPlan) -> Result<(Written, Option<CommitError>), DaemonError> {
    match committer.commit(&plan.ops) {
        Ok(written) => Ok((written, None)),
        Err(CommitError::NotCleanedUp { journal, error, committed }) => {
            let written = Written::clone(&committed);
            Ok((written, Some(CommitError::NotCleanedUp { journal, error, committed })))
        }
        Err(error) => Err(DaemonError::Commit(error)),
    }
}

fn rebase(
    branch: &mut Branch,
    parent: Option<&Snapshot>,
    options: MergeOptions<'_>,
) -> Result<overlay::Rebased, RebaseError> {
    let Some(parent) = parent else { return branch.rebase(RebaseOnto::Base, options) };
    let mut rebased = branch.rebase(RebaseOnto::Parent(parent), options)?;
    // The decisions are about conflicts with the parent.
    let options = MergeOptions { resolutions: None, ..options };
    let more = match branch.rebase(RebaseOnto::Base, options) {
        Err(RebaseError::Conflicts(all)) => {
            // Conflicts between the parent and the base are to be resolved in the parent.
            let own = branch.snapshot().changed_paths(parent);
            let is_own = |it: &Conflict| own.iter().any(|own| it.path.starts_with(own));
            let own: Vec<_> = all.into_iter().filter(is_own).collect();
            return if own.is_empty() { Ok(rebased) } else { Err(RebaseError::Conflicts(own)) };
        }
        more => more?,
    };
    rebased.revision = more.revision;
    rebased.merged.extend(more.merged);
    rebased.merged_by_syntax.extend(more.merged_by_syntax);
    for paths in [&mut rebased.merged, &mut rebased.merged_by_syntax] {
        paths.sort_unstable();
        paths.dedup();
    }
    rebased.dropped.extend(more.dropped);
    rebased.conflicts.extend(more.conflicts);
    Ok(rebased)
}

fn refused(error: RebaseError) -> DaemonError {
    match error {
        RebaseError::Conflicts(conflicts) => DaemonError::Conflicts(conflicts),
        RebaseError::Edit(error) => DaemonError::Edit(error),
        RebaseError::OtherPlaces { .. } | RebaseError::NoLines { .. } | RebaseError::NoConflict { .. } => {
            DaemonError::invalid("resolutions", error)
        }
        RebaseError::OtherBase => DaemonError::Bug(error.to_string()),
    }
}

impl Daemon {
    /// Writes the changes of a branch to the disk; with `dry_run`, reports them.
    pub async fn commit(self: &Arc<Self>, request: CommitRequest) -> Result<Committed, DaemonError> {
        let (workspace, cell) = self.branch(&request.branch)?;
        let force = fields::paths("force_paths", &request.force_paths)?;
        let if_revision = request.if_revision;
        if request.dry_run {
            let merge = Merge { rebase: request.rebase, force, ..Merge::default() };
            return workspace.would_commit(&cell, if_revision, merge).await;
        }
        let repeatable = Repeatable::of(&cell.id, request.request_id.as_deref(), &request)?;
        let daemon = Arc::clone(self);
        run_uncancellable(async move {
            let measured = Measured::commit(&cell);
            let checked_by = request.if_clean.then(|| Arc::clone(&daemon));
            let wait = request.wait;
            let merge = Merge { rebase: request.rebase, checked_by, wait, force, ..Merge::default() };
            let commit = workspace.commit(&cell, if_revision, merge, repeatable);
            let committed = measured.around(commit).await;
            match &committed {
                Ok(it) => measured.committed(it.revision, it.changes.len()),
                Err(error) => measured.failed(error),
            }
            // The branch has a new revision after some errors, too: `NotNoted` and `NotCleanedUp`.
            daemon.engine.supersede(cell.key, cell.revision().0);
            committed
        })
        .await
    }

    /// Rebases a branch onto the current state of its parent.
    pub async fn rebase(self: &Arc<Self>, request: RebaseRequest) -> Result<Rebased, DaemonError> {
        let RebaseRequest { branch, if_revision, on_conflict, resolutions } = request;
        let (workspace, cell) = self.branch(&branch)?;
        workspace.expect_there()?;
        // Without its parent, which was discarded, a branch keeps the parent's state at the fork.
        let parent = cell.record.parent.as_ref().and_then(|it| workspace.branch(it).ok());
        let parent = parent.map(|it| it.snapshot());
        let resolutions = fields::by_path("resolutions", resolutions)?;
        let rebase = move |branch: &mut Branch| {
            let resolutions = Some(&resolutions);
            let options = MergeOptions { resolutions, ..options(on_conflict) };
            rebase(branch, parent.as_ref(), options).map_err(refused)
        };
        let (rebased, _) = self.edit(cell, if_revision, rebase).await?;
        Ok(rebased.into())
    }
}
