//! Branches of sessions.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use agents::Reads;
use config::root::WorkspaceRoot;
use workspaces::{
    BranchInfo, BranchRequest, DiscardMergedRequest, ErrorKind, ForkRequest, PageRequest, RequestError,
    TargetId, Workspaces,
};

use super::{message::Failure, proxy::Options};

/// Session of an agent, in a workspace and on a branch.
#[derive(Debug, Clone)]
pub(super) struct Session {
    pub(super) root: PathBuf,
    /// The daemon's handle.
    pub(super) workspace: String,
    /// The name of the branch.
    pub(super) branch: String,
    /// Parent of the branch when it is made.
    parent: TargetId,
    /// Whether the branch is the session's alone, and goes with it if its work is done.
    is_own: bool,
    /// Texts as the agent knows them.
    pub(super) reads: Arc<Reads>,
}

/// Label of a branch with the identifier of its session, by which a session that is loaded again finds it.
const LABEL: &str = "acp-session";

/// Bytes of a label. A session with a longer identifier is not found again.
const MAX_LABEL: usize = 4096;

/// Hexadecimal digits in the name of a branch.
const DIGITS: usize = 10;

impl Session {
    /// The session of a folder. `id` names one that was there before, `source` is the session that it is forked from.
    pub(super) async fn open(
        options: &Options,
        cwd: &Path,
        id: Option<&str>,
        source: Option<&Self>,
    ) -> Result<Self, Failure> {
        let root = root_of(cwd, options.home.as_deref())?;
        let environment = Some((options.environment)(&root));
        let daemon = &*options.daemon;
        let opened = daemon.open_workspace(root.clone(), environment).await.map_err(failure)?;
        let workspace = opened.info.id.to_string();
        let found = match id {
            Some(id) => find(daemon, &workspace, id).await.map_err(failure)?,
            None => None,
        };
        let made = || workspaces::random::handle().map(|it| format!("acp-{}", &it[..DIGITS]));
        let branch = match options.branch.clone().or(found) {
            Some(branch) => branch,
            None => made().map_err(|error| failure(error.into()))?,
        };
        let is_own = options.branch.is_none();
        let mut session = Self {
            parent: TargetId::Workspace(workspace.clone()),
            root,
            workspace,
            branch,
            is_own,
            reads: Arc::default(),
        };
        if let Some(source) = source.filter(|it| it.workspace == session.workspace) {
            session.parent = source.target(daemon).await.map_err(failure)?;
            session.reads = Arc::new(Reads::clone(&source.reads));
        }
        Ok(session)
    }

    /// The branch, if it is there.
    pub(super) async fn find(&self, daemon: &dyn Workspaces) -> Result<Option<BranchInfo>, RequestError> {
        let request = BranchRequest {
            workspace: Some(self.workspace.clone()),
            branch: self.branch.clone(),
            with_tree_hash: false,
            with_conflicts: false,
        };
        match daemon.get_branch(request).await {
            Ok(it) => Ok(Some(it.info)),
            Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The branch, made anew if an agent has discarded it.
    pub(super) async fn branch(&self, daemon: &dyn Workspaces, id: &str) -> Result<BranchInfo, RequestError> {
        if let Some(branch) = self.find(daemon).await? {
            return Ok(branch);
        }
        let label = (id.len() <= MAX_LABEL).then(|| (LABEL.to_owned(), id.to_owned()));
        let labels = label.into_iter().collect::<BTreeMap<_, _>>();
        let (parent, name) = (self.parent.clone(), self.branch.clone());
        daemon.fork_branch(ForkRequest { parent, name, labels, request_id: None }).await
    }

    /// The branch as the target of a request; the workspace where it is not there.
    pub(super) async fn target(&self, daemon: &dyn Workspaces) -> Result<TargetId, RequestError> {
        Ok(match self.find(daemon).await? {
            Some(branch) => TargetId::Branch(branch.id.to_string()),
            None => TargetId::Workspace(self.workspace.clone()),
        })
    }

    /// Discards the branch if its work is done, else says what stays, and how edits come to the disk.
    pub(super) async fn end(&self, daemon: &dyn Workspaces) -> Result<Option<String>, RequestError> {
        let Some(branch) = self.find(daemon).await? else { return Ok(None) };
        let request = DiscardMergedRequest {
            workspace: self.workspace.clone(),
            branch: Some(branch.id.to_string()),
            dry_run: !self.is_own,
        };
        let judged = daemon.discard_merged(request).await?;
        let kept = judged.into_iter().find_map(|it| it.kept);
        Ok(kept.map(|why| match branch.changed_paths {
            0 => format!("branch `{}` stays: {why}", self.branch),
            _ => self.place_of_edits(),
        }))
    }

    /// Sentence that says where the edits are, and how they come to the disk.
    pub(super) fn place_of_edits(&self) -> String {
        let name = &self.branch;
        format!(
            "the edits are on branch `{name}`, not on the disk: `broker branch diff {name}` shows them, \
             `broker branch commit {name}` writes them"
        )
    }
}

fn root_of(cwd: &Path, home: Option<&Path>) -> Result<PathBuf, Failure> {
    let here = |why: &str| Failure::invalid(format!("cannot work in {}: {why}", cwd.display()));
    if !cwd.is_absolute() || !cwd.is_dir() {
        return Err(here("it is not the absolute path of a folder"));
    }
    // The workspace of a path is looked for in the folders above it.
    let (workspace, _) = WorkspaceRoot::marked_around(&cwd.join("_"), home)
        .ok_or_else(|| here("it is in no workspace: no folder above has a repository or a project's file"))?;
    Ok(workspace.root().to_owned())
}

/// The name of the branch that a session had.
async fn find(daemon: &dyn Workspaces, workspace: &str, id: &str) -> Result<Option<String>, RequestError> {
    let mut page = PageRequest { size: 1000, token: String::new() };
    loop {
        let branches = daemon.list_branches(workspace, &page).await?;
        let is_of_session = |it: &BranchInfo| it.labels.get(LABEL).is_some_and(|it| it == id);
        if let Some(branch) = branches.items.into_iter().find(is_of_session) {
            return Ok(Some(branch.name));
        }
        page.token = branches.next_token;
        if page.token.is_empty() {
            return Ok(None);
        }
    }
}

pub(super) fn failure(error: RequestError) -> Failure {
    match error.kind {
        ErrorKind::NotFound => Failure::not_found(error.sentence),
        ErrorKind::Invalid => Failure::invalid(error.sentence),
        _ => Failure::internal(error.sentence),
    }
}
