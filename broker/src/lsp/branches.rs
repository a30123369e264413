//! Commands about branches: list, fork, compare, check, commit, discard, rebase, and run a command in one.

use std::{collections::HashMap, rc::Rc};

use broker_proto::{v1 as pb, v1::diff_branch_response::Part};
use overlay::WorkspacePath;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    branch_lookup::Chosen,
    branch_uri::BranchFile,
    checking,
    diagnostics::{Context, diagnostics},
    document::Place,
    failure::Failure,
    folder::Folder,
    running,
    server::Server,
    target,
    text::Text,
};

/// Argument of a command about a folder, given by its URI.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfWorkspace {
    workspace: Option<String>,
}

impl OfWorkspace {
    pub(super) fn of(folder: &Folder) -> Self {
        Self { workspace: Some(folder.uri.clone()) }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fork {
    workspace: Option<String>,
    #[serde(default)]
    name: String,
    parent: Option<String>,
}

/// Argument of a command about a branch without further options.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfBranch {
    branch: String,
    workspace: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Check {
    branch: String,
    workspace: Option<String>,
    new_only: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Commit {
    branch: String,
    workspace: Option<String>,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    force: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Rebase {
    branch: String,
    workspace: Option<String>,
    on_conflict: Option<OnConflict>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum OnConflict {
    Refuse,
    Keep,
    Markers,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Run {
    branch: String,
    workspace: Option<String>,
    command: Vec<String>,
    timeout_seconds: Option<u32>,
}

/// Branches in one request to the daemon, which allows no more.
const PAGE: u32 = 1000;

/// A branch in results of commands and in notifications.
pub(super) fn branch_json(folder: &Folder, it: &pb::Branch) -> Value {
    let parent = Some(&it.parent_branch_id).filter(|it| !it.is_empty());
    json!({
        "id": it.branch_id,
        "name": it.name,
        "workspace": folder.uri,
        "parent": parent,
        "revision": it.revision,
        "changedPaths": it.changed_paths,
        "createdMs": it.created_ms,
    })
}

/// A changed path in results of commands and in notifications.
pub(super) fn change_json(folder: &Folder, branch: &str, it: &pb::FileChange) -> Value {
    let kind = match it.kind() {
        pb::ChangeKind::Added => "added",
        pb::ChangeKind::Deleted => "deleted",
        pb::ChangeKind::Renamed => "renamed",
        pb::ChangeKind::Mode => "mode",
        pb::ChangeKind::Modified | pb::ChangeKind::Unspecified => "modified",
    };
    let from = Some(&it.from_path).filter(|it| !it.is_empty());
    let path = WorkspacePath::new(&it.path).unwrap_or_else(|_| WorkspacePath::root());
    let branch_uri = BranchFile { branch: branch.to_owned(), path: path.clone() }.uri();
    json!({"path": it.path, "kind": kind, "from": from, "uri": folder.uris.of(&path), "branchUri": branch_uri})
}

fn changes_json(chosen: &Chosen, changes: &[pb::FileChange]) -> Vec<Value> {
    let files = changes.iter().filter(|it| !it.is_directory);
    files.map(|it| change_json(&chosen.folder, &chosen.branch.branch_id, it)).collect()
}

pub(super) async fn list(server: &Rc<Server>, argument: OfWorkspace) -> Result<Value, Failure> {
    let folders = match &argument.workspace {
        Some(uri) => vec![server.chosen_folder(Some(uri))?],
        None => server.named_folders(),
    };
    let mut all = Vec::new();
    for folder in folders {
        let connection = folder.served().await?;
        let mut page_token = String::new();
        loop {
            let workspace_id = connection.workspace.clone();
            let request = pb::ListBranchesRequest { workspace_id, page_size: PAGE, page_token };
            let page = folder.link.branches().list_branches(request).await?.into_inner();
            all.extend(page.branches.iter().map(|it| branch_json(&folder, it)));
            page_token = page.next_page_token;
            if page_token.is_empty() {
                break;
            }
        }
    }
    Ok(json!(all))
}

pub(super) async fn fork(server: &Rc<Server>, argument: Fork) -> Result<Value, Failure> {
    let (folder, parent) = match &argument.parent {
        Some(parent) => {
            let chosen = server.chosen(parent, argument.workspace.as_deref()).await?;
            (chosen.folder, target::branch(chosen.branch.branch_id))
        }
        None => {
            let folder = server.chosen_folder(argument.workspace.as_deref())?;
            let connection = folder.served().await?;
            (folder, target::base(&connection))
        }
    };
    let request = pb::ForkBranchRequest { parent: Some(parent), name: argument.name, ..Default::default() };
    let forked = folder.link.branches().fork_branch(request).await?.into_inner();
    Ok(branch_json(&folder, &forked.branch.unwrap_or_default()))
}

/// Changed paths of a branch against its parent.
pub(super) async fn changes(server: &Rc<Server>, branch: &str) -> Result<Vec<pb::FileChange>, Failure> {
    let request = pb::DiffBranchRequest {
        branch_id: branch.to_owned(),
        changes_only: true,
        ..pb::DiffBranchRequest::default()
    };
    let mut parts = server.link.branches().diff_branch(request).await?.into_inner();
    let mut changes = Vec::new();
    while let Some(message) = parts.message().await? {
        if let Some(Part::Changes(it)) = message.part {
            changes.extend(it.changes);
        }
    }
    Ok(changes)
}

pub(super) async fn diff(server: &Rc<Server>, argument: OfBranch) -> Result<Value, Failure> {
    let chosen = server.chosen(&argument.branch, argument.workspace.as_deref()).await?;
    let request = pb::DiffBranchRequest { branch_id: chosen.branch.branch_id.clone(), ..Default::default() };
    let mut parts = chosen.folder.link.branches().diff_branch(request).await?.into_inner();
    let (mut patch, mut changes) = (String::new(), Vec::new());
    while let Some(message) = parts.message().await? {
        match message.part {
            Some(Part::Changes(it)) => changes.extend(changes_json(&chosen, &it.changes)),
            Some(Part::Patch(it)) => patch += &it,
            None => {}
        }
    }
    Ok(json!({"patch": patch, "changes": changes}))
}

pub(super) async fn check(server: &Rc<Server>, argument: Check) -> Result<Value, Failure> {
    let chosen = server.chosen(&argument.branch, argument.workspace.as_deref()).await?;
    let request = pb::CheckRequest {
        target: Some(target::branch(&chosen.branch.branch_id)),
        new_only: argument.new_only.unwrap_or(true),
        priority: pb::Priority::Interactive.into(),
        ..pb::CheckRequest::default()
    };
    let found = checking::check(&chosen.folder.link, request).await?;
    let incomplete: Vec<_> = found
        .incomplete
        .iter()
        .map(|it| json!({"path": it.path, "linter": it.linter, "reason": it.reason}))
        .collect();
    let root = BranchFile { branch: chosen.branch.branch_id.clone(), path: WorkspacePath::root() };
    let place = Place::Branch(Rc::clone(&chosen.folder), root);
    let mut texts = HashMap::new();
    let mut findings = Vec::new();
    for it in &found.findings {
        if !texts.contains_key(&it.path) {
            let text = server.text_of(&chosen.folder, &chosen.connection, &place, &it.path).await?;
            texts.insert(it.path.clone(), text.unwrap_or_else(|| Text::new("", server.traits.encoding)));
        }
        findings.push(finding_json(server, &place, it, &texts));
    }
    Ok(json!({"complete": incomplete.is_empty(), "findings": findings, "incomplete": incomplete}))
}

fn finding_json(
    server: &Rc<Server>,
    place: &Place,
    it: &pb::Finding,
    texts: &HashMap<String, Text>,
) -> Value {
    let uri = |path: &str| server.uri_of(place, path);
    let one = checking::Found { findings: vec![it.clone()], ..Default::default() };
    let diagnostic = texts.get(&it.path).and_then(|text| {
        let context = Context { path: &it.path, text, others: texts, uri: &uri };
        diagnostics(&one, &context, server.traits.diagnostics).pop()
    });
    let change = match it.change() {
        pb::FindingChange::New => Some("new"),
        pb::FindingChange::Fixed => Some("fixed"),
        pb::FindingChange::Unspecified => None,
    };
    json!({"uri": uri(&it.path), "path": it.path, "change": change, "diagnostic": diagnostic})
}

pub(super) async fn commit(server: &Rc<Server>, argument: Commit) -> Result<Value, Failure> {
    let chosen = server.chosen(&argument.branch, argument.workspace.as_deref()).await?;
    let request = pb::CommitBranchRequest {
        branch_id: chosen.branch.branch_id.clone(),
        dry_run: argument.dry_run,
        force_paths: argument.force,
        ..pb::CommitBranchRequest::default()
    };
    let done = chosen.folder.link.branches().commit_branch(request).await?.into_inner();
    Ok(json!({
        "revision": done.revision,
        "changes": changes_json(&chosen, &done.changes),
        "unsaved": done.unsaved_paths,
        "left": done.left_paths,
        "notes": done.notes,
    }))
}

pub(super) async fn discard(server: &Rc<Server>, argument: OfBranch) -> Result<Value, Failure> {
    let chosen = server.chosen(&argument.branch, argument.workspace.as_deref()).await?;
    let request = pb::DiscardBranchRequest { branch_id: chosen.branch.branch_id };
    chosen.folder.link.branches().discard_branch(request).await?;
    Ok(Value::Null)
}

pub(super) async fn rebase(server: &Rc<Server>, argument: Rebase) -> Result<Value, Failure> {
    let chosen = server.chosen(&argument.branch, argument.workspace.as_deref()).await?;
    let on_conflict = match argument.on_conflict {
        None | Some(OnConflict::Refuse) => pb::ConflictHandling::Refuse,
        Some(OnConflict::Keep) => pb::ConflictHandling::KeepBranch,
        Some(OnConflict::Markers) => pb::ConflictHandling::Markers,
    };
    let request = pb::RebaseBranchRequest {
        branch_id: chosen.branch.branch_id,
        on_conflict: on_conflict.into(),
        if_revision: None,
    };
    let done = chosen.folder.link.branches().rebase_branch(request).await?.into_inner();
    let conflicts: Vec<_> =
        done.conflicts.iter().map(|it| json!({"path": it.path, "reason": it.reason})).collect();
    Ok(json!({"revision": done.revision, "merged": done.merged_paths, "conflicts": conflicts}))
}

pub(super) async fn run(server: &Rc<Server>, argument: Run) -> Result<Value, Failure> {
    if argument.command.is_empty() {
        return Err(Failure::invalid_params("`command` is empty"));
    }
    let chosen = server.chosen(&argument.branch, argument.workspace.as_deref()).await?;
    let Chosen { folder, branch, .. } = chosen;
    running::run(&folder.link, branch.branch_id, argument.command, argument.timeout_seconds).await
}
