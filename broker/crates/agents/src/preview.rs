//! Previews of edits, for clients that edit the disk themselves: tried on branches that do not stay.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use overlay::WorkspacePath;
use schemars::JsonSchema;
use serde::Serialize;
use workspaces::{DaemonError, EditRequest, FileEdit, TargetId, run_uncancellable};

use crate::{
    Agents, Reply,
    checks::{self, PendingCheck},
    context::{BranchRef, Context},
    findings::{self, Findings},
    question::Question,
    reply::{Answer, ToolError},
    session::Session,
    tools::plan::{self, Step, StepEdit},
    wait::{Waiting, before},
};

/// Edits that are asked about.
#[derive(Debug, Clone)]
pub struct Preview {
    /// The handle of the workspace.
    pub workspace: String,
    /// Edits to make first: they restore the files, if the base has the edits already.
    pub before: Vec<PreviewEdit>,
    pub edits: Vec<PreviewEdit>,
    /// The longest that the caller waits.
    pub deadline: Option<Duration>,
}

/// Edit of a preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreviewEdit {
    File(FileEdit),
    /// Edit in any of the forms that `edit_file` takes.
    Code {
        target_file: String,
        code_edit: String,
    },
}

#[derive(Debug, Serialize, JsonSchema)]
struct Previewed {
    #[serde(flatten)]
    findings: Findings,
}

/// The name of the session whose branches these are.
const SESSION: &str = "preview";

impl Agents {
    /// Answers with the findings that the edits bring. Nothing is left of it, also if its caller leaves.
    pub async fn preview(&self, preview: Preview) -> Result<Reply, DaemonError> {
        self.daemon.expect_open(&preview.workspace)?;
        let context = Context {
            daemon: Arc::clone(&self.daemon),
            trees: Arc::clone(&self.trees),
            indexes: Arc::clone(&self.indexes),
            workspace: preview.workspace.clone(),
            session: Arc::new(Session::new(SESSION, None)),
            deadline: preview.deadline.map(|it| Instant::now() + it),
        };
        run_uncancellable(async move {
            let findings = of_edits(&context, preview).await?;
            Ok(Reply::of(&Previewed { findings }).map_err(Failed::from)?)
        })
        .await
    }
}

/// Reason why there is no preview.
enum Failed {
    /// An edit cannot be made.
    Edit(ToolError),
    Otherwise(ToolError),
}

impl Failed {
    /// A daemon that is busy or has no room is no fault of the edit.
    fn of_edit(error: DaemonError) -> Self {
        use DaemonError::{Edit, File, InEdit, Invalid};
        match error {
            Edit(_) | File { .. } | InEdit { .. } | Invalid { .. } => Self::Edit(error.into()),
            _ => Self::Otherwise(error.into()),
        }
    }
}

impl From<ToolError> for Failed {
    fn from(error: ToolError) -> Self {
        Self::Otherwise(error)
    }
}

impl From<Failed> for DaemonError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Edit(error) => Self::invalid("edits", error),
            Failed::Otherwise(error) => {
                Self::Io { message: error.to_string(), source: std::io::Error::other(error) }
            }
        }
    }
}

async fn of_edits(context: &Context, preview: Preview) -> Result<Findings, Failed> {
    let mut trials = Vec::new();
    let found = tried(context, &preview, &mut trials).await;
    let (found, late) = match found {
        Ok((found, late)) => (Ok(found), late),
        Err(failed) => (Err(failed), None),
    };
    trials.reverse();
    checks::end_trials(context, trials, late).await;
    found
}

/// Findings that the edits bring, on forks that are added to `trials`.
async fn tried(
    context: &Context,
    preview: &Preview,
    trials: &mut Vec<BranchRef>,
) -> Result<(Findings, Option<PendingCheck>), Failed> {
    let mut parent = TargetId::Workspace(preview.workspace.clone());
    let edits = [&preview.before, &preview.edits];
    for edits in edits.into_iter().skip(usize::from(preview.before.is_empty())) {
        let branch = context.fork_trial(parent).await?;
        parent = branch.target();
        trials.push(branch.clone());
        make(context, &branch, edits).await?;
    }
    let Some(branch) = trials.last() else { return Ok((Findings::none(), None)) };
    new_findings(context, branch).await.map_err(Failed::Otherwise)
}

async fn make(context: &Context, branch: &BranchRef, edits: &[PreviewEdit]) -> Result<(), Failed> {
    for it in edits {
        let edits = match it {
            PreviewEdit::File(it) => vec![it.clone()],
            PreviewEdit::Code { target_file, code_edit } => {
                let edit = StepEdit::Code(code_edit.clone());
                let step = Step { target_file: target_file.clone(), edit };
                let (view, _) = context.daemon.view(&branch.target()).await.map_err(ToolError::from)?;
                plan::planned(context, view, &step, None).await.map_err(Failed::Edit)?.edits
            }
        };
        let request = EditRequest { branch: branch.id.clone(), edits, if_revision: None, request_id: None };
        context.daemon.edit_files(request).await.map_err(Failed::of_edit)?;
    }
    Ok(())
}

async fn new_findings(
    context: &Context,
    branch: &BranchRef,
) -> Result<(Findings, Option<PendingCheck>), ToolError> {
    let changes = context.changes(branch).await?;
    let paths: Vec<WorkspacePath> = changes.into_iter().map(|it| it.path).collect();
    if paths.is_empty() {
        return Ok((Findings::none(), None));
    }
    let question = Question { target: branch.target(), paths, new_only: true };
    let wait = match context.deadline {
        Some(deadline) => before(deadline),
        None => context.wait(Waiting::Edit, None).await?,
    };
    let (found, unfinished) = findings::within(&context.daemon, &question, wait).await?;
    let late = found.is_late().then_some(PendingCheck { question, unfinished });
    Ok((found.without_reported(&context.session.told), late))
}

impl Answer for Previewed {
    fn text(&self) -> String {
        self.findings.text()
    }
}
