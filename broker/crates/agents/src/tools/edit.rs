//! Tools that edit files of a branch. What an edit means, `agent-tools` says; here it is written, and checked.

use std::{slice, sync::Arc, time::Instant};

use agent_tools::edit::ReadingId;
use overlay::{ChangeKind, FileKind, Revision, View, WorkspacePath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workspaces::{DaemonError, EditRequest, FileEdit};

use super::{
    plan::{EditedFile, Step, StepEdit, Wrote, expect_no_mask, is_overtaken, planned, write},
    steps::EditFile,
};
use crate::{
    checks::{self, PendingCheck},
    context::{BranchRef, Context, blocking, path},
    findings::{self, Findings},
    question::Question,
    reply::{Answer, ToolError},
    wait::Waiting,
};

pub(super) const EDIT_FILE: &str = "Edit or create a file: `old_string` becomes `new_string`, or `code_edit` has SEARCH/REPLACE blocks, a unified diff, a `*** Begin Patch`, the whole file, or only changed lines with an unchanged line around and `... existing code ...` in a comment where lines stay. Answers with new findings.";
pub(super) const DELETE_FILE: &str = "Delete a file.";
pub(super) const REAPPLY: &str = "Retry a refused edit_file, by a reading's id or with more lines around.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteFile {
    target_file: String,
    check: Option<bool>,
    branch: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Reapply {
    target_file: String,
    reading: Option<String>,
    code_edit: Option<String>,
    check: Option<bool>,
    branch: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Edited {
    branch: String,
    revision: u64,
    /// Whether the branch has the edit.
    applied: bool,
    files: Vec<EditedFile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<Findings>,
    /// Why what is new is not known, though the edit was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_checked: Option<String>,
    /// The number of steps up to which nothing new was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    clean_through: Option<usize>,
}

pub(super) async fn edit_file(context: Context, mut request: EditFile) -> Result<Edited, ToolError> {
    let steps = request.steps()?;
    expect_no_mask(&context, &steps).await?;
    expect_applicable(&context, request.branch.as_deref(), &steps[0], None).await?;
    let branch = context.branch_to_edit(request.branch.as_deref()).await?;
    let if_revision = request.if_revision.map(Revision);
    let until = Instant::now() + context.wait(Waiting::Edit, request.wait).await?;
    if request.if_clean || steps.len() > 1 {
        let reads = context.session.reads.clone();
        let edited = edit_if_clean(&context, branch, steps, if_revision, request.if_clean, until).await;
        if !edited.as_ref().is_ok_and(|it| it.applied) {
            context.session.reads.restore(&reads);
        }
        return edited;
    }
    let step = &steps[0];
    let edited = write(&context, &branch, step, None, if_revision).await?;
    finish(&context, branch, edited, request.check, until).await
}

pub(super) async fn reapply(context: Context, request: Reapply) -> Result<Edited, ToolError> {
    let path = path("target_file", &request.target_file)?;
    let edit = request.code_edit.or_else(|| context.session.refused(&path));
    let none =
        || ToolError::new(format!("no edit of `{path}` was refused")).hint("send one with `edit_file`");
    let edit = StepEdit::Code(edit.ok_or_else(none)?);
    let step = Step { target_file: request.target_file, edit };
    let reading = request.reading.map(ReadingId::new);
    expect_no_mask(&context, slice::from_ref(&step)).await?;
    expect_applicable(&context, request.branch.as_deref(), &step, reading.as_ref()).await?;
    let branch = context.branch_to_edit(request.branch.as_deref()).await?;
    let edited = write(&context, &branch, &step, reading.as_ref(), None).await?;
    let until = Instant::now() + context.wait(Waiting::Edit, None).await?;
    finish(&context, branch, edited, request.check, until).await
}

pub(super) async fn delete_file(context: Context, request: DeleteFile) -> Result<Edited, ToolError> {
    let path = path("target_file", &request.target_file)?;
    let seen = context.seen(request.branch.as_deref()).await?;
    expect_file(Arc::clone(&seen.view), path.clone()).await?;
    expect_as_read(&context, seen.view, path.clone()).await?;
    let branch = context.branch_to_edit(request.branch.as_deref()).await?;
    let edits = vec![FileEdit::Remove { path: path.to_string() }];
    let request_edit = EditRequest { branch: branch.id.clone(), edits, if_revision: None, request_id: None };
    let revision = context.daemon.edit_files(request_edit).await?;
    context.session.reads.forget(&path);
    let shown = EditedFile {
        file: path.to_string(),
        form: "deletion",
        diff: String::new(),
        notes: Vec::new(),
        new_syntax_errors: Vec::new(),
    };
    let wrote = Wrote { revision, edits: Vec::new(), paths: vec![path], shown: vec![shown] };
    let until = Instant::now() + context.wait(Waiting::Edit, None).await?;
    finish(&context, branch, wrote, request.check, until).await
}

/// Refuses an edit before the session has a branch: what is refused makes none.
async fn expect_applicable(
    context: &Context,
    named: Option<&str>,
    step: &Step,
    reading: Option<&ReadingId>,
) -> Result<(), ToolError> {
    if context.branch(named).await?.is_none() {
        let base = context.seen(None).await?;
        planned(context, base.view, step, reading).await?;
    }
    Ok(())
}

async fn expect_file(view: Arc<dyn View>, path: WorkspacePath) -> Result<(), ToolError> {
    blocking(move || match view.metadata(&path) {
        Ok(it) if it.kind == FileKind::Directory => {
            Err(ToolError::new(format!("`{path}` is a directory")).hint("delete its files"))
        }
        Ok(_) => Ok(()),
        Err(error) => Err(ToolError::new(format!("`{path}`: {}", overlay::io_reason(&error)))),
    })
    .await
}

/// Refuses to delete a file that is not as the agent read it.
async fn expect_as_read(
    context: &Context,
    view: Arc<dyn View>,
    path: WorkspacePath,
) -> Result<(), ToolError> {
    let Some(read) = context.session.reads.text(&path) else { return Ok(()) };
    blocking(move || match view.open(&path) {
        Ok(now) if *now != *read.as_bytes() => {
            Err(ToolError::new(format!("`{path}` has changed since you read it"))
                .hint("read it again, then delete it"))
        }
        _ => Ok(()),
    })
    .await
}

/// The files that a branch changed and still has.
pub(super) async fn changed_files(
    context: &Context,
    branch: &BranchRef,
) -> Result<Vec<WorkspacePath>, ToolError> {
    let changes = context.changes(branch).await?;
    Ok(changes.into_iter().filter(|it| it.kind != ChangeKind::Deleted).map(|it| it.path).collect())
}

async fn finish(
    context: &Context,
    branch: BranchRef,
    Wrote { revision, paths, shown: files, .. }: Wrote,
    check: Option<bool>,
    until: Instant,
) -> Result<Edited, ToolError> {
    let mut edited = Edited {
        branch: branch.name.clone(),
        revision: revision.0,
        applied: true,
        files,
        check: None,
        not_checked: None,
        clean_through: None,
    };
    if check != Some(false) {
        // The edit is made, whatever becomes of the check: an error would have it sent again.
        let question = Question { target: branch.target(), paths, new_only: true };
        match checks::check(context, question, until.saturating_duration_since(Instant::now())).await {
            Ok(findings) => edited.check = Some(findings),
            Err(error) => edited.not_checked = Some(error.message),
        }
    }
    Ok(edited)
}

/// Times that a chain is tried while its files change meanwhile.
const ATTEMPTS: usize = 3;

/// Tries the steps on a branch of their own, and makes them on this one if they may be. Steps that a change of their files has
/// overtaken are tried again.
async fn edit_if_clean(
    context: &Context,
    branch: BranchRef,
    steps: Vec<Step>,
    if_revision: Option<Revision>,
    only_if_clean: bool,
    until: Instant,
) -> Result<Edited, ToolError> {
    let reads = context.session.reads.clone();
    for _ in 0..ATTEMPTS {
        context.session.reads.restore(&reads);
        let (mut edited, edits) = tried(context, &branch, &steps, if_revision, until).await?;
        if only_if_clean && edited.clean_through != Some(steps.len()) {
            return Ok(edited);
        }
        // The result of the trial holds for this revision alone.
        let if_revision = Some(Revision(edited.revision));
        let request = EditRequest { branch: branch.id.clone(), edits, if_revision, request_id: None };
        match context.daemon.edit_files(request).await {
            Ok(revision) => {
                (edited.revision, edited.applied) = (revision.0, true);
                return Ok(edited);
            }
            Err(error) if is_overtaken(&error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let message = format!("not applied: the files changed {ATTEMPTS} times while the edit was checked");
    Err(ToolError::new(message).hint("send it again"))
}

/// Tries the steps on a branch of their own. Returns what came of it, as an edit that is not made, and what it would write.
async fn tried(
    context: &Context,
    branch: &BranchRef,
    steps: &[Step],
    if_revision: Option<Revision>,
    until: Instant,
) -> Result<(Edited, Vec<FileEdit>), ToolError> {
    let (_, revision) = context.daemon.view(&branch.target()).await?;
    if let Some(expected) = if_revision.filter(|it| *it != revision) {
        return Err(DaemonError::Stale { expected, actual: revision }.into());
    }
    let trial = context.fork_trial(branch.target()).await?;
    let tried = try_steps(context, &trial, steps, until).await;
    // The trial is in no list of branches.
    let late = tried.as_ref().ok().and_then(|it| it.late.clone());
    checks::end_trials(context, vec![trial], late).await;
    let Tried { edits, files, check, clean_through, .. } = tried?;
    let edited = Edited {
        branch: branch.name.clone(),
        revision: revision.0,
        applied: false,
        files,
        check: Some(check.without_reported(&context.session.told)),
        not_checked: None,
        clean_through: Some(clean_through),
    };
    Ok((edited, edits))
}

struct Tried {
    /// Edits of all steps.
    edits: Vec<FileEdit>,
    files: Vec<EditedFile>,
    /// After the last step.
    check: Findings,
    /// Steps after each of which, and after those before it, nothing new was found; all if nothing is in the end.
    clean_through: usize,
    /// The check that goes on, if its answer was due.
    late: Option<PendingCheck>,
}

async fn try_steps(
    context: &Context,
    trial: &BranchRef,
    steps: &[Step],
    until: Instant,
) -> Result<Tried, ToolError> {
    let (mut files, mut clean_through, mut last) = (Vec::new(), 0, None);
    let (mut touched, mut edits, mut late) = (Vec::new(), Vec::new(), None);
    for (index, step) in steps.iter().enumerate() {
        let written = write(context, trial, step, None, None).await;
        let Wrote { paths, shown, edits: made, .. } = written.map_err(|error| ToolError {
            message: if steps.len() > 1 {
                format!("step {}: {}", index + 1, error.message)
            } else {
                error.message
            },
            remedy: error.remedy,
        })?;
        touched.extend(paths);
        files.extend(shown);
        edits.extend(made);
        let question = Question { target: trial.target(), paths: touched.clone(), new_only: true };
        let (check, unfinished) =
            findings::within(&context.daemon, &question, until.saturating_duration_since(Instant::now()))
                .await?;
        late = check.is_late().then_some(PendingCheck { question, unfinished });
        if check.ok && clean_through == index {
            clean_through = index + 1;
        }
        last = Some(check);
    }
    let check = last.ok_or_else(|| ToolError::new("`edits` is empty"))?;
    // Edits of one change may need each other.
    let clean_through = if check.ok { steps.len() } else { clean_through };
    Ok(Tried { edits, files, check, clean_through, late })
}

impl Answer for Edited {
    fn text(&self) -> String {
        let head = match self.applied {
            true => format!("branch {} revision {}", self.branch, self.revision),
            false => {
                let found = self.check.as_ref().is_some_and(|it| it.total > 0);
                let is_late = self.check.as_ref().is_some_and(Findings::is_late);
                let why = match (found, is_late) {
                    (true, _) => "something new was found",
                    (false, true) => "not all is checked yet (send it again)",
                    (false, false) => "not all could be checked",
                };
                format!("not applied, since {why}; branch {} is as it was", self.branch)
            }
        };
        let mut text = head;
        for file in &self.files {
            text.push_str(&format!("\n{} ({})", file.file, file.form));
            for line in file.notes.iter().chain(&file.new_syntax_errors) {
                text.push_str(&format!("\nnote: {line}"));
            }
            if !file.diff.is_empty() {
                text.push_str(&format!("\n{}", file.diff.trim_end()));
            }
        }
        if let Some(steps @ 1..) = self.clean_through.filter(|_| self.check.as_ref().is_some_and(|it| !it.ok))
        {
            text.push_str(&format!("\nnothing new through step {steps}"));
        }
        if let Some(check) = &self.check {
            text.push_str(&format!("\n{}", check.text()));
        }
        if let Some(why) = &self.not_checked {
            text.push_str(&format!("\nthe edit is made, but not checked: {why}"));
        }
        text
    }
}
