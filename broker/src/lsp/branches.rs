//! Commands about branches: list, fork, compare, check, commit, discard, rebase, and run a command in one.

use std::{collections::HashMap, rc::Rc, sync::Arc};

use check_engine::pipeline::{Change, Reported};
use overlay::{ChangeKind, WorkspacePath};
use scheduler::Class;
use serde::Deserialize;
use serde_json::{Value, json};
use workspaces::{
    BranchInfo, CheckRequest, CommitRequest, DiffRequest, Event, FileChange, ForkRequest, PageRequest,
    RebaseRequest, ResolvedConflict,
};

use super::{
    branch_lookup::Chosen,
    branch_uri::BranchFile,
    checking,
    diagnostics::{Context, diagnostics},
    document::DocumentLocation,
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
pub(super) fn branch_json(folder: &Folder, it: &BranchInfo) -> Value {
    json!({
        "id": *it.id,
        "name": it.name,
        "workspace": folder.uri,
        "parent": it.parent,
        "revision": it.revision.0,
        "changedPaths": it.changed_paths,
        "createdMs": it.created_ms,
    })
}

/// A changed path in results of commands and in notifications.
pub(super) fn change_json(folder: &Folder, branch: &str, it: &FileChange) -> Value {
    let (kind, from) = match &it.kind {
        ChangeKind::Added => ("added", None),
        ChangeKind::Deleted => ("deleted", None),
        ChangeKind::Renamed { from } => ("renamed", Some(from.as_str())),
        ChangeKind::ModeChanged => ("mode", None),
        ChangeKind::Modified | ChangeKind::TypeChanged => ("modified", None),
    };
    let branch_uri = BranchFile { branch: branch.to_owned(), path: it.path.clone() }.uri();
    let (path, uri) = (it.path.as_str(), folder.uris.of(&it.path));
    json!({"path": path, "kind": kind, "from": from, "uri": uri, "branchUri": branch_uri})
}

fn changes_json(chosen: &Chosen, changes: &[FileChange]) -> Vec<Value> {
    let files = changes.iter().filter(|it| !it.is_directory);
    files.map(|it| change_json(&chosen.folder, &chosen.branch.id, it)).collect()
}

fn texts(paths: &[WorkspacePath]) -> Vec<&str> {
    paths.iter().map(WorkspacePath::as_str).collect()
}

pub(super) async fn list(server: &Rc<Server>, argument: OfWorkspace) -> Result<Value, Failure> {
    let folders = match &argument.workspace {
        Some(uri) => vec![server.chosen_folder(Some(uri))?],
        None => server.named_folders(),
    };
    let mut all = Vec::new();
    for folder in folders {
        let connection = folder.served().await?;
        let mut page = PageRequest { size: PAGE, token: String::new() };
        loop {
            let found = folder.workspaces.list_branches(&connection.workspace, &page).await?;
            all.extend(found.items.iter().map(|it| branch_json(&folder, it)));
            page.token = found.next_token;
            if page.token.is_empty() {
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
            (chosen.folder, target::branch(&*chosen.branch.id))
        }
        None => {
            let folder = server.chosen_folder(argument.workspace.as_deref())?;
            let connection = folder.served().await?;
            (folder, target::base(&connection))
        }
    };
    let request = ForkRequest { parent, name: argument.name, labels: [].into(), request_id: None };
    Ok(branch_json(&folder, &folder.workspaces.fork_branch(request).await?))
}

/// Changed paths of a branch against its parent.
pub(super) async fn changes(server: &Rc<Server>, branch: &str) -> Result<Vec<FileChange>, Failure> {
    let request = DiffRequest { with_patch: false, ..DiffRequest::of(branch) };
    Ok(server.workspaces.diff_branch(request).await?.changes)
}

pub(super) async fn diff(server: &Rc<Server>, argument: OfBranch) -> Result<Value, Failure> {
    let chosen = server.chosen(&argument.branch, argument.workspace.as_deref()).await?;
    let diff = chosen.folder.workspaces.diff_branch(DiffRequest::of(&*chosen.branch.id)).await?;
    Ok(json!({"patch": diff.patch.unwrap_or_default(), "changes": changes_json(&chosen, &diff.changes)}))
}

pub(super) async fn check(server: &Rc<Server>, argument: Check) -> Result<Value, Failure> {
    let chosen = server.chosen(&argument.branch, argument.workspace.as_deref()).await?;
    let request = CheckRequest {
        new_only: argument.new_only.unwrap_or(true),
        class: Class::Interactive,
        ..CheckRequest::of(target::branch(&*chosen.branch.id))
    };
    let (mut found, mut changes) = (checking::Found::default(), Vec::new());
    checking::stream(&*chosen.folder.workspaces, request, |event| {
        if let Event::Files(files) = &event {
            changes.extend(files.iter().flat_map(|it| vec![it.change; it.findings.len()]));
        }
        found.add(event);
    })
    .await?;
    let incomplete: Vec<_> = found
        .incomplete
        .iter()
        .map(|it| json!({"path": checking::path_of(it), "linter": it.linter.as_deref().unwrap_or_default(), "reason": it.reason}))
        .collect();
    let root = BranchFile { branch: chosen.branch.id.to_string(), path: WorkspacePath::root() };
    let place = DocumentLocation::Branch(Rc::clone(&chosen.folder), root);
    let mut texts = HashMap::new();
    let mut findings = Vec::new();
    for (it, change) in found.findings.iter().zip(changes) {
        let path = it.0.file.path.as_str();
        if !texts.contains_key(path) {
            let text = server.text_of(&chosen.folder, &chosen.connection, &place, path).await?;
            texts.insert(path.to_owned(), text.unwrap_or_else(|| Text::new("", server.traits.encoding)));
        }
        findings.push(finding_json(server, &place, it, change, &texts));
    }
    Ok(json!({"complete": incomplete.is_empty(), "findings": findings, "incomplete": incomplete}))
}

fn finding_json(
    server: &Rc<Server>,
    place: &DocumentLocation,
    it: &Reported,
    change: Option<Change>,
    texts: &HashMap<String, Text>,
) -> Value {
    let uri = |path: &str| server.uri_of(place, path);
    let path = it.0.file.path.as_str();
    let one = checking::Found { findings: vec![Arc::clone(it)], ..Default::default() };
    let diagnostic = texts.get(path).and_then(|text| {
        let context = Context { path, text, others: texts, uri: &uri };
        diagnostics(&one, &context, server.traits.diagnostics).pop()
    });
    let change = change.map(|it| match it {
        Change::New => "new",
        Change::Fixed => "fixed",
    });
    json!({"uri": uri(path), "path": path, "change": change, "diagnostic": diagnostic})
}

pub(super) async fn commit(server: &Rc<Server>, argument: Commit) -> Result<Value, Failure> {
    let chosen = server.chosen(&argument.branch, argument.workspace.as_deref()).await?;
    let request = CommitRequest {
        dry_run: argument.dry_run,
        force_paths: argument.force,
        ..CommitRequest::of(&*chosen.branch.id)
    };
    let done = chosen.folder.workspaces.commit_branch(request).await?;
    Ok(json!({
        "revision": done.revision.0,
        "changes": changes_json(&chosen, &done.changes),
        "unsaved": texts(&done.unsaved),
        "left": texts(&done.left),
        "notes": done.notes,
    }))
}

pub(super) async fn discard(server: &Rc<Server>, argument: OfBranch) -> Result<Value, Failure> {
    let chosen = server.chosen(&argument.branch, argument.workspace.as_deref()).await?;
    chosen.folder.workspaces.discard_branch(&chosen.branch.id).await?;
    Ok(Value::Null)
}

pub(super) async fn rebase(server: &Rc<Server>, argument: Rebase) -> Result<Value, Failure> {
    let chosen = server.chosen(&argument.branch, argument.workspace.as_deref()).await?;
    let on_conflict = match argument.on_conflict {
        None | Some(OnConflict::Refuse) => overlay::OnConflict::Refuse,
        Some(OnConflict::Keep) => overlay::OnConflict::KeepOurs,
        Some(OnConflict::Markers) => overlay::OnConflict::Markers,
    };
    let branch = chosen.branch.id.to_string();
    let request = RebaseRequest { on_conflict, ..RebaseRequest::of(branch) };
    let done = chosen.folder.workspaces.rebase_branch(request).await?;
    let conflict = |it: &ResolvedConflict| json!({"path": it.path.as_str(), "reason": it.reason});
    let conflicts: Vec<_> = done.conflicts.iter().map(conflict).collect();
    Ok(json!({"revision": done.revision.0, "merged": texts(&done.merged), "conflicts": conflicts}))
}

pub(super) async fn run(server: &Rc<Server>, argument: Run) -> Result<Value, Failure> {
    if argument.command.is_empty() {
        return Err(Failure::invalid_params("`command` is empty"));
    }
    let chosen = server.chosen(&argument.branch, argument.workspace.as_deref()).await?;
    let Chosen { folder, branch, .. } = chosen;
    let target = target::branch(&*branch.id);
    running::run(&*folder.workspaces, target, argument.command, argument.timeout_seconds).await
}
