//! Tools for branches as a whole.

use std::collections::BTreeMap;

use overlay::{OnConflict, Resolution};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workspaces::{CommitRequest, DiffRequest, DiffSide, FileChange, PageRequest, RebaseRequest, TargetId};

use crate::{
    context::{BranchRef, Context},
    limits::{self, count},
    reply::{Answer, ToolError},
    wait::Waiting,
};

pub(super) const FORK: &str = "Fork a branch; pass its name as `branch` to work on it.";
pub(super) const LIST: &str = "List branches.";
pub(super) const DIFF: &str = "What a branch changes, as a unified diff.";
pub(super) const COMMIT: &str = "Write a branch to the disk, all or nothing, merged with what changed there.";
pub(super) const DISCARD: &str = "Drop a branch for good.";
pub(super) const REBASE: &str = "Bring a branch onto its parent and the disk as they are now.";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Fork {
    name: Option<String>,
    /// Default: yours
    branch: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OnBranch {
    branch: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Commit {
    branch: Option<String>,
    /// Write nothing
    #[serde(default)]
    dry_run: bool,
    /// Refuse new errors
    #[serde(default)]
    if_clean: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Rebase {
    branch: Option<String>,
    on_conflict: Option<Conflicting>,
    /// {path: ours|theirs|both|base, or one for each place, or {text: …}}
    #[serde(default)]
    resolve: BTreeMap<String, Sides>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Sides {
    All(String),
    Each(Vec<String>),
    Text { text: String },
    Other(serde_json::Value),
}

// Treatment of places that both sides changed.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Conflicting {
    Refuse,
    KeepOurs,
    Markers,
}

impl Sides {
    fn resolution(self, path: &str) -> Result<Resolution, ToolError> {
        let wrong = |what: String| {
            ToolError::new(format!("`resolve` of `{path}`: {what}"))
                .hint("one side for all places, a list with one for each, or {\"text\": the whole file}")
        };
        let side = |it: String| it.parse().map_err(|it: overlay::UnknownSide| wrong(it.to_string()));
        match self {
            Self::All(it) => side(it).map(Resolution::All),
            Self::Each(all) => all.into_iter().map(side).collect::<Result<_, _>>().map(Resolution::Each),
            Self::Text { text } => Ok(Resolution::Text(text)),
            Self::Other(it) => Err(wrong(format!("`{it}` decides nothing"))),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Forked {
    branch: String,
    revision: u64,
    parent: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Branches {
    branches: Vec<Listed>,
    is_all: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Listed {
    branch: String,
    revision: u64,
    changed_paths: usize,
    is_yours: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Diffed {
    branch: String,
    revision: u64,
    /// The first of them.
    changes: Vec<String>,
    /// Number of changed paths.
    total: usize,
    /// Files that changed on the disk since the branch touched them. The diff has no such change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outdated: Vec<String>,
    diff: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Written {
    branch: String,
    revision: u64,
    dry_run: bool,
    /// The first of them.
    changes: Vec<String>,
    /// Number of changed paths.
    total: usize,
    /// Files that had changed on the disk and have the changes of both sides now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    merged: Vec<String>,
    /// Files of `merged` whose lines conflicted: merged by syntax.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    merged_by_syntax: Vec<String>,
    /// Files for which an editor has unsaved text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unsaved: Vec<String>,
    /// Files that are not written: an editor has unsaved text of them and takes the change into it. The branch keeps its edits of
    /// them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Discarded {
    branch: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Rebased {
    branch: String,
    revision: u64,
    merged: Vec<String>,
    /// Files of `merged` whose lines conflicted: merged by syntax.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    merged_by_syntax: Vec<String>,
    conflicts: Vec<String>,
}

pub(super) async fn fork(context: Context, Fork { name, branch }: Fork) -> Result<Forked, ToolError> {
    let parent = context.branch(branch.as_deref()).await?;
    let target = match &parent {
        Some(parent) => parent.target(),
        None => TargetId::Workspace(context.workspace.clone()),
    };
    let BranchRef { name, revision, .. } = context.fork(target, &name.unwrap_or_default()).await?;
    Ok(Forked { branch: name, revision: revision.0, parent: parent.map(|it| it.name) })
}

pub(super) async fn list(context: Context, _: Nothing) -> Result<Branches, ToolError> {
    let page = PageRequest { size: 200, token: String::new() };
    let page = context.daemon.branches(&context.workspace, &page)?;
    let is_all = page.next_token.is_empty();
    let listed = page.items.into_iter().map(|it| Listed {
        is_yours: it.name == context.session.branch(),
        branch: it.name,
        revision: it.revision.0,
        changed_paths: it.changed_paths,
    });
    Ok(Branches { branches: listed.collect(), is_all })
}

pub(super) async fn diff(context: Context, OnBranch { branch }: OnBranch) -> Result<Diffed, ToolError> {
    let branch = context.expect_branch(branch.as_deref()).await?;
    let request =
        DiffRequest { branch: branch.id, against: DiffSide::Parent, with_patch: true, context_lines: None };
    let found = context.daemon.diff(request).await?;
    let (changes, total) = changed_paths(&found.changes);
    let outdated = found.outdated.iter().map(ToString::to_string).collect();
    let diff = limits::diff(&found.patch.unwrap_or_default());
    Ok(Diffed { branch: branch.name, revision: branch.revision.0, changes, total, outdated, diff })
}

pub(super) async fn commit(
    context: Context,
    Commit { branch, dry_run, if_clean }: Commit,
) -> Result<Written, ToolError> {
    let branch = context.expect_branch(branch.as_deref()).await?;
    let wait = context.wait(Waiting::Check, None).await?;
    let request = CommitRequest {
        if_revision: Some(branch.revision),
        rebase: true,
        if_clean,
        wait: Some(wait),
        dry_run,
        ..CommitRequest::of(branch.id)
    };
    let committed = context.daemon.commit(request).await?;
    let (changes, total) = changed_paths(&committed.changes);
    Ok(Written {
        branch: branch.name,
        revision: committed.revision.0,
        dry_run,
        changes,
        total,
        merged: committed.merged.iter().map(ToString::to_string).collect(),
        merged_by_syntax: committed.merged_by_syntax.iter().map(ToString::to_string).collect(),
        unsaved: committed.unsaved.iter().map(ToString::to_string).collect(),
        left: committed.left.iter().map(ToString::to_string).collect(),
        notes: committed.notes,
    })
}

pub(super) async fn discard(context: Context, OnBranch { branch }: OnBranch) -> Result<Discarded, ToolError> {
    let branch = context.expect_branch(branch.as_deref()).await?;
    context.daemon.discard(&branch.id).await?;
    Ok(Discarded { branch: branch.name })
}

pub(super) async fn rebase(
    context: Context,
    Rebase { branch, on_conflict, resolve }: Rebase,
) -> Result<Rebased, ToolError> {
    let branch = context.expect_branch(branch.as_deref()).await?;
    let on_conflict = match on_conflict {
        None | Some(Conflicting::Refuse) => OnConflict::Refuse,
        Some(Conflicting::KeepOurs) => OnConflict::KeepOurs,
        Some(Conflicting::Markers) => OnConflict::Markers,
    };
    let resolutions = resolve.into_iter().map(|(path, it)| Ok((path.clone(), it.resolution(&path)?)));
    let resolutions = resolutions.collect::<Result<_, ToolError>>()?;
    let request = RebaseRequest { on_conflict, resolutions, ..RebaseRequest::of(branch.id) };
    let rebased = context.daemon.rebase(request).await?;
    Ok(Rebased {
        branch: branch.name,
        revision: rebased.revision.0,
        merged: rebased.merged.iter().map(ToString::to_string).collect(),
        merged_by_syntax: rebased.merged_by_syntax.iter().map(ToString::to_string).collect(),
        conflicts: rebased.conflicts.into_iter().map(|it| it.reason).collect(),
    })
}

fn how_merged(path: &String, by_syntax: &[String]) -> &'static str {
    if by_syntax.contains(path) { " by syntax: read it" } else { "" }
}

/// The first changes, and how many there are.
fn changed_paths(changes: &[FileChange]) -> (Vec<String>, usize) {
    (changes.iter().take(limits::CHANGES).map(changed).collect(), changes.len())
}

/// The first names, and how many there are more.
fn listed(names: &[String]) -> String {
    let shown = names.iter().take(limits::CHANGES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(limits::CHANGES) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}

/// A change as `git status` says it.
fn changed(change: &FileChange) -> String {
    use overlay::ChangeKind::{Added, Deleted, ModeChanged, Modified, Renamed, TypeChanged};
    let path = &change.path;
    match &change.kind {
        Added => format!("A {path}"),
        Deleted => format!("D {path}"),
        Modified | ModeChanged => format!("M {path}"),
        TypeChanged => format!("T {path}"),
        Renamed { from } => format!("R {from} -> {path}"),
    }
}

impl Answer for Forked {
    fn text(&self) -> String {
        let parent = self.parent.as_deref().unwrap_or("the workspace");
        format!("branch {} of {parent}", self.branch)
    }
}

impl Answer for Branches {
    fn text(&self) -> String {
        let line = |it: &Listed| {
            let yours = if it.is_yours { " (yours)" } else { "" };
            let changes = count(it.changed_paths, "changed path", "changed paths");
            format!("{}{yours}: revision {}, {changes}", it.branch, it.revision)
        };
        match self.branches.as_slice() {
            [] => "no branches".to_owned(),
            all => {
                let rest = if self.is_all { "" } else { "\n… and more" };
                all.iter().map(line).collect::<Vec<_>>().join("\n") + rest
            }
        }
    }
}

impl Answer for Diffed {
    fn text(&self) -> String {
        let files = count(self.total, "changed path", "changed paths");
        let outdated = match self.outdated.as_slice() {
            [] => String::new(),
            all => format!(
                "\nchanged on the disk since, which is not shown here: {}; branch_rebase merges it",
                listed(all)
            ),
        };
        format!("branch {} revision {}, {files}{outdated}\n{}", self.branch, self.revision, self.diff)
    }
}

impl Answer for Written {
    fn text(&self) -> String {
        let what = if self.dry_run { "would write" } else { "wrote" };
        let files = count(self.total, "path", "paths");
        let mut text = format!("{what} {files} of branch {}", self.branch);
        for line in &self.changes {
            text.push_str(&format!("\n{line}"));
        }
        let more = self.total - self.changes.len();
        if more > 0 {
            text.push_str(&format!("\n… {more} more"));
        }
        for path in &self.merged {
            let how = how_merged(path, &self.merged_by_syntax);
            text.push_str(&format!("\nmerged {path}{how}, which had changed on the disk"));
        }
        for path in &self.unsaved {
            text.push_str(&format!("\nan editor has unsaved text for {path}"));
        }
        for path in &self.left {
            text.push_str(&format!(
                "\n{path} is not written: an editor has unsaved text of it, and gets the change"
            ));
        }
        for note in &self.notes {
            text.push_str(&format!("\nnote: {note}"));
        }
        text
    }
}

impl Answer for Discarded {
    fn text(&self) -> String {
        format!("branch {} is gone", self.branch)
    }
}

impl Answer for Rebased {
    fn text(&self) -> String {
        let mut text = format!("branch {} is at revision {}", self.branch, self.revision);
        for path in &self.merged {
            text.push_str(&format!("\nmerged {path}{}", how_merged(path, &self.merged_by_syntax)));
        }
        for conflict in &self.conflicts {
            text.push_str(&format!("\nconflict: {conflict}"));
        }
        text
    }
}
