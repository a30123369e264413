//! An edit as what it writes, and the writing of it.

use std::{collections::BTreeMap, sync::Arc};

use agent_tools::edit::{Before, FileChange, Plan, ReadingId, Refused, Targeted, plan, plan_targeted};
use bytes::Bytes;
use overlay::{EditError, Revision, View, WorkspacePath};
use schemars::JsonSchema;
use serde::Serialize;
use workspaces::{DaemonError, EditRequest, Expected, FileEdit};

use crate::{
    context::{BranchRef, Context, blocking, blocking_for_caller, path},
    limits::{self, first_lines},
    reply::ToolError,
    secrets,
};

/// Edit of a chain.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// Empty if the edit names its files itself.
    pub(crate) target_file: String,
    pub(crate) edit: StepEdit,
}

#[derive(Debug, Clone)]
pub(crate) enum StepEdit {
    /// Text in any form that is understood by rules.
    Code(String),
    Targeted(Targeted),
}

impl StepEdit {
    fn texts(&self) -> Vec<&str> {
        match self {
            Self::Code(it) => vec![it],
            Self::Targeted(Targeted::Text(it)) => vec![&it.old, &it.new],
            Self::Targeted(Targeted::Definition(it)) => vec![&it.code],
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EditedFile {
    pub(super) file: String,
    /// Reading of the edit.
    pub(super) form: &'static str,
    pub(super) diff: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) new_syntax_errors: Vec<String>,
}

/// File changes of an edit, computed from a view at a revision.
pub(crate) struct Planned {
    pub(crate) edits: Vec<FileEdit>,
    paths: Vec<WorkspacePath>,
    shown: Vec<EditedFile>,
}

/// Files that were written, and the revision that has them.
pub(super) struct Wrote {
    pub(super) revision: Revision,
    pub(super) edits: Vec<FileEdit>,
    pub(super) paths: Vec<WorkspacePath>,
    pub(super) shown: Vec<EditedFile>,
}

/// Number of times that an edit is planned anew when another one of the same branch overtakes it.
const ATTEMPTS: usize = 100;

/// Refuses edits that would put a mask in the place of the secret that it stands for.
pub(super) async fn expect_no_mask(context: &Context, steps: &[Step]) -> Result<(), ToolError> {
    let has_mask = steps.iter().flat_map(|it| it.edit.texts()).any(|it| it.contains(secrets::MASK));
    if !has_mask || !context.settings().await?.mask_secrets {
        return Ok(());
    }
    Err(ToolError::new(format!("the edit has `{}`, which stands for a secret", secrets::MASK))
        .hint("leave that line out: a line with `... existing code ...` stands for it"))
}

/// Plans an edit on the branch as it is, and writes it if the branch is still so.
pub(super) async fn write(
    context: &Context,
    branch: &BranchRef,
    step: &Step,
    reading: Option<&ReadingId>,
    if_revision: Option<Revision>,
) -> Result<Wrote, ToolError> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let (view, revision) = context.daemon.view(&branch.target()).await?;
        if let Some(expected) = if_revision.filter(|it| *it != revision) {
            return Err(DaemonError::Stale { expected, actual: revision }.into());
        }
        let planned = planned(context, Arc::clone(&view), step, reading).await?;
        let before = before(view, &planned.edits).await?;
        let request = EditRequest {
            branch: branch.id.clone(),
            edits: planned.edits.clone(),
            if_revision: Some(revision),
            request_id: None,
        };
        match context.daemon.edit_files(request).await {
            Ok(revision) => {
                let Planned { edits, paths, shown } = planned;
                context.session.reads.written(&edits, &before);
                return Ok(Wrote { revision, edits, paths, shown });
            }
            Err(error) if is_overtaken(&error) && if_revision.is_none() && attempt < ATTEMPTS => {}
            Err(error) => return Err(error.into()),
        }
    }
}

pub(crate) async fn planned(
    context: &Context,
    view: Arc<dyn View>,
    step: &Step,
    reading: Option<&ReadingId>,
) -> Result<Planned, ToolError> {
    let target = match step.target_file.as_str() {
        "" => None,
        text => Some(path("target_file", text)?),
    };
    // A refusal shows lines of the file.
    if let Some(path) = target.as_ref().filter(|it| overlay::is_of_version_control(it)) {
        return Err(DaemonError::from(EditError::VersionControl(path.clone())).into());
    }
    let edit = match &step.edit {
        StepEdit::Code(edit) => edit.clone(),
        StepEdit::Targeted(edit) => return planned_targeted(context, view, target, edit.clone()).await,
    };
    let (trees, reading) = (Arc::clone(&context.trees), reading.cloned());
    let reads = context.session.reads.clone();
    let (named, seen, sent) = (target.clone(), Arc::clone(&view), edit.clone());
    let planned = blocking_for_caller(move |cancel| {
        let read = |path: &WorkspacePath| reads.text(path);
        Ok(plan(&*seen, named.as_ref(), &sent, reading.as_ref(), &read, &trees, cancel))
    });
    let planned = planned.await?;
    let form = planned.as_ref().map(|it| it.form.name()).unwrap_or_default();
    let files = files(target, &planned);
    match planned.and_then(Plan::all) {
        Ok(changes) => {
            files.iter().for_each(|it| context.session.settle(it));
            blocking(move || Ok(Planned::of(changes, form, &*view))).await
        }
        Err(refused) => {
            files.iter().for_each(|it| context.session.refuse(it, &edit));
            Err(refusal(&refused))
        }
    }
}

async fn planned_targeted(
    context: &Context,
    view: Arc<dyn View>,
    target: Option<WorkspacePath>,
    edit: Targeted,
) -> Result<Planned, ToolError> {
    let target = target.ok_or_else(|| ToolError::new("`target_file` is missing"))?;
    let (trees, read) = (Arc::clone(&context.trees), context.session.reads.text(&target));
    let form = match edit {
        Targeted::Text(_) => "replacement",
        Targeted::Definition(_) => "definition",
    };
    blocking_for_caller(move |cancel| {
        let change = plan_targeted(&*view, &target, &edit, read.as_deref(), &trees, cancel);
        change.map(|it| Planned::of(vec![it], form, &*view)).map_err(|it| refusal(&it))
    })
    .await
}

/// The file that an edit is of; those that a patch names, if the agent names none.
fn files(target: Option<WorkspacePath>, planned: &Result<Plan, Refused>) -> Vec<WorkspacePath> {
    match (target, planned) {
        (Some(target), _) => vec![target],
        (None, Ok(plan)) => plan.files.iter().filter_map(|it| WorkspacePath::new(&it.path).ok()).collect(),
        (None, Err(_)) => Vec::new(),
    }
}

impl Planned {
    fn of(changes: Vec<FileChange>, form: &'static str, view: &dyn View) -> Self {
        let mut planned = Self { edits: Vec::new(), paths: Vec::new(), shown: Vec::new() };
        for change in changes {
            if let FileChange::Move { to, .. } = &change {
                planned.make_room(to, view);
            }
            planned.add(change, form);
        }
        planned
    }

    /// Makes the directory that a file moves to.
    fn make_room(&mut self, to: &WorkspacePath, view: &dyn View) {
        let missing = to.parent().filter(|it| view.metadata(it).is_err());
        let edit = missing.map(|it| FileEdit::CreateDirectory { path: it.to_string() });
        let is_made = |it: &FileEdit| matches!((it, &edit), (FileEdit::CreateDirectory { path }, Some(FileEdit::CreateDirectory { path: new })) if path == new);
        if !self.edits.iter().any(is_made) {
            self.edits.extend(edit);
        }
    }

    fn add(&mut self, change: FileChange, form: &'static str) {
        let (path, applied) = match change {
            FileChange::Delete { path } => {
                self.edits.push(FileEdit::Remove { path: path.to_string() });
                (path, None)
            }
            FileChange::Write { path, applied, before } => (path, Some((applied, before))),
            FileChange::Move { from, to, applied, before, .. } => {
                self.edits.push(FileEdit::Rename { from: from.to_string(), to: to.to_string() });
                self.paths.push(from);
                (to, Some((applied, before)))
            }
        };
        let mut shown = EditedFile {
            file: path.to_string(),
            form,
            diff: String::new(),
            notes: Vec::new(),
            new_syntax_errors: Vec::new(),
        };
        if let Some((applied, before)) = applied {
            self.edits.push(FileEdit::Write {
                path: path.to_string(),
                content: Bytes::from(applied.text),
                expected: expected(before),
            });
            (shown.diff, shown.notes) = (limits::diff(&applied.diff), applied.notes);
            shown.new_syntax_errors = applied
                .new_syntax_errors
                .iter()
                .map(|it| format!("new syntax error at line {}", it.line))
                .collect();
        }
        self.paths.push(path);
        self.shown.push(shown);
    }
}

/// Texts that edits are made to, by path.
async fn before(view: Arc<dyn View>, edits: &[FileEdit]) -> Result<BTreeMap<String, Bytes>, ToolError> {
    let written = edits.iter().filter_map(|it| match it {
        FileEdit::Write { path, .. } => WorkspacePath::new(path).ok(),
        _ => None,
    });
    let paths: Vec<_> = written.collect();
    blocking(move || {
        let text = |path: &WorkspacePath| Some((path.to_string(), view.open(path).ok()?));
        Ok(paths.iter().filter_map(text).collect())
    })
    .await
}

/// Condition under which a change that was planned still means the same.
fn expected(before: Before) -> Expected {
    match before {
        Before::Missing => Expected::Missing,
        Before::Text(hash) => Expected::Content(hash.to_string()),
        Before::Other => Expected::Anything,
    }
}

/// Whether an edit was refused because a file changed after the edit was planned.
pub(super) fn is_overtaken(error: &DaemonError) -> bool {
    match error {
        DaemonError::Stale { .. } | DaemonError::Edit(EditError::OtherContent { .. }) => true,
        DaemonError::InEdit { error, .. } => is_overtaken(error),
        _ => false,
    }
}

fn refusal(refused: &Refused) -> ToolError {
    let mut text = format!("not applied: {refused}");
    for reading in &refused.readings {
        let (diff, _) = first_lines(&reading.diff, limits::LINES / 4);
        text.push_str(&format!("\nreading {}: {}\n{diff}", reading.id, reading.what));
    }
    ToolError::new(text).hint(refused.advice())
}
