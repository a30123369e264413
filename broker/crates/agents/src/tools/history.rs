//! History of a branch, edit by edit.

use overlay::Revision;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workspaces::{DiffRequest, DiffSide, PageRequest, RevisionEntry, Undo, UndoRequest};

use crate::{
    context::Context,
    limits,
    reply::{Answer, ToolError},
};

pub(super) const DIFF_HISTORY: &str = "A branch's edits, and what changed since one.";

pub(super) const UNDO: &str = "Take back a branch's last edit, or all since a revision. Can be undone.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UndoEdits {
    /// Default: one edit
    to_revision: Option<u64>,
    branch: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TakenBack {
    branch: String,
    revision: u64,
    /// The revision whose state the branch has again.
    to_revision: u64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DiffHistory {
    since_revision: Option<u64>,
    branch: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct History {
    branch: String,
    revision: u64,
    /// The last of them.
    edits: Vec<Edit>,
    is_all: bool,
    since_revision: u64,
    diff: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Edit {
    revision: u64,
    what: String,
    at_ms: u64,
}

/// Edits in one answer.
const EDITS: u32 = 20;

pub(super) async fn diff_history(context: Context, request: DiffHistory) -> Result<History, ToolError> {
    let branch = context.expect_branch(request.branch.as_deref()).await?;
    let page = PageRequest { size: EDITS, token: String::new() };
    let page = context.daemon.revisions(&branch.id, &page).await?;
    let mut edits = page.items;
    edits.sort_by_key(|it| it.revision);
    let last = edits.iter().rev().map(|it| it.revision.0.saturating_sub(1)).next();
    let since = request.since_revision.or(last).unwrap_or(branch.revision.0);
    let diff = DiffRequest {
        branch: branch.id,
        against: DiffSide::Revision(Revision(since)),
        with_patch: true,
        context_lines: None,
    };
    let patch = context.daemon.diff(diff).await?.patch.unwrap_or_default();
    let diff = limits::diff(&patch);
    let edits = edits.iter().map(Edit::of).collect();
    Ok(History {
        branch: branch.name,
        revision: branch.revision.0,
        edits,
        is_all: page.next_token.is_empty(),
        since_revision: since,
        diff,
    })
}

pub(super) async fn branch_undo(context: Context, request: UndoEdits) -> Result<TakenBack, ToolError> {
    let branch = context.expect_branch(request.branch.as_deref()).await?;
    let undo = request.to_revision.map_or(Undo::Step, |it| Undo::To(Revision(it)));
    let request = UndoRequest { branch: branch.id, undo, if_revision: None };
    let undone = context.daemon.undo(request).await?;
    Ok(TakenBack { branch: branch.name, revision: undone.revision.0, to_revision: undone.to.0 })
}

impl Answer for TakenBack {
    fn text(&self) -> String {
        let Self { branch, revision, to_revision } = self;
        format!("branch {branch} is as at revision {to_revision}, now revision {revision}")
    }
}

impl Edit {
    fn of(entry: &RevisionEntry) -> Self {
        Self { revision: entry.revision.0, what: entry.what.to_string(), at_ms: entry.at_ms }
    }
}

impl Answer for History {
    fn text(&self) -> String {
        let mut text = format!("branch {} revision {}", self.branch, self.revision);
        if !self.is_all {
            text.push_str("\n… earlier ones");
        }
        for edit in &self.edits {
            text.push_str(&format!("\n{}: {}", edit.revision, edit.what));
        }
        text.push_str(&format!("\nsince revision {}:\n{}", self.since_revision, self.diff));
        text
    }
}
