//! Previews of edits, for clients that edit the disk themselves: tried on branches that do not stay.

use std::{sync::Arc, time::Duration};

use overlay::WorkspacePath;
use schemars::JsonSchema;
use serde::Serialize;
use workspaces::{DaemonError, EditRequest, FileEdit, TargetId, run_uncancellable};

use crate::{
    Agents, Reply,
    context::{BranchRef, Context},
    findings::{self, Findings},
    reply::{Answer, ToolError},
    session::Session,
    tools::plan::{self, Step},
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
            session: Arc::new(Session::new(SESSION)),
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
    let base = TargetId::Workspace(preview.workspace);
    if preview.before.is_empty() {
        return on_fork(context, base, &preview.edits).await;
    }
    let before = context.fork_trial(base).await?;
    let found = match make(context, &before, &preview.before).await {
        Ok(()) => on_fork(context, before.target(), &preview.edits).await,
        Err(failed) => Err(failed),
    };
    context.discard_trial(&before).await;
    found
}

/// Findings that the edits bring to what is forked.
async fn on_fork(context: &Context, parent: TargetId, edits: &[PreviewEdit]) -> Result<Findings, Failed> {
    let branch = context.fork_trial(parent).await?;
    let found = match make(context, &branch, edits).await {
        Ok(()) => new_findings(context, &branch).await.map_err(Failed::Otherwise),
        Err(failed) => Err(failed),
    };
    context.discard_trial(&branch).await;
    found
}

async fn make(context: &Context, branch: &BranchRef, edits: &[PreviewEdit]) -> Result<(), Failed> {
    for it in edits {
        let edits = match it {
            PreviewEdit::File(it) => vec![it.clone()],
            PreviewEdit::Code { target_file, code_edit } => {
                let step = Step { target_file: target_file.clone(), code_edit: code_edit.clone() };
                let (view, _) = context.daemon.view(&branch.target()).await.map_err(ToolError::from)?;
                plan::planned(context, view, &step, None).await.map_err(Failed::Edit)?.edits
            }
        };
        let request = EditRequest { branch: branch.id.clone(), edits, if_revision: None, request_id: None };
        context.daemon.edit_files(request).await.map_err(Failed::of_edit)?;
    }
    Ok(())
}

async fn new_findings(context: &Context, branch: &BranchRef) -> Result<Findings, ToolError> {
    let changes = context.changes(branch).await?;
    let paths: Vec<WorkspacePath> = changes.into_iter().map(|it| it.path).collect();
    if paths.is_empty() {
        return Ok(Findings::none());
    }
    findings::check(&context.daemon, branch.target(), &paths, true).await
}

impl Answer for Previewed {
    fn text(&self) -> String {
        self.findings.text()
    }
}
