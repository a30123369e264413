//! The daemon's operations as a test asks for them: helpers over the program's [`Workspaces`], in process and over gRPC.
//!
//! Requests are those of `workspaces`; answers hold what tests look at, the others are the program's own.

mod in_process;
mod requests;
mod runs;
mod view;

use std::{
    collections::BTreeMap,
    ops::Deref,
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
};

use check_engine::{Level, pipeline::Change as FindingChange};
use client::Remote;
use overlay::{ChangeKind, ContentHash, FileKind, Revision};
use tokio_stream::{Stream, StreamExt as _};
use workspaces::{
    BranchRequest, BranchState, BufferRequest, CheckRequest, CommitRequest, DiffRequest, ErrorKind,
    FileContent, FileEdit, FixRequest, ForkRequest, LinterRule, MethodRequest, PageRequest, Paged,
    PluginList, QueryRequest, RebaseRequest, RunId, RunRequest, SchedulerStatus, Side, TargetId,
    WorkspaceInfo, WorkspaceWatchRequest, Workspaces,
};

use self::in_process::InProcess;
pub use self::{
    requests::{
        ask, base, branch, buffer, commit, edits, fix, fork, next, patch, read_of, rebase, remove, rename,
        undo, write,
    },
    runs::{Exited, Harvest, LogPart, Run, RunPart, Running, run, shell},
};
use crate::daemon::Client;

/// The error of a request.
pub use workspaces::RequestError as Refusal;

pub type Answered<T> = Result<T, Refusal>;

/// Parts of an answer as they come, until the client drops it.
pub type Events<T> = Pin<Box<dyn Stream<Item = Answered<T>> + Send>>;

/// A daemon as a test asks it, over gRPC or in process.
pub struct Api {
    workspaces: Arc<dyn Workspaces>,
    /// The daemon in this process, whose threads end when it is dropped.
    _daemon: Option<InProcess>,
}

impl Api {
    /// A daemon in this process, with the plugins of the program and those in `named`.
    pub fn in_process(named: &[PathBuf]) -> Self {
        let daemon = InProcess::start(named);
        Self { workspaces: Arc::new(daemon.daemon()), _daemon: Some(daemon) }
    }

    /// The daemon behind a connection.
    pub fn over(client: &Client) -> Self {
        Self { workspaces: Arc::new(Remote::over(client.channel.clone())), _daemon: None }
    }

    /// The workspace, and what of its state could not be read.
    pub async fn open_workspace(&self, root: PathBuf) -> Answered<(WorkspaceInfo, Vec<String>)> {
        let opened = self.workspaces.open_workspace(root, None).await?;
        Ok((opened.info, opened.unreadable))
    }

    pub async fn diff_branch(&self, request: DiffRequest) -> Answered<Diff> {
        let diff = self.workspaces.diff_branch(request).await?;
        let outdated = diff.outdated.iter().map(ToString::to_string).collect();
        Ok(Diff { changes: view::changes(diff.changes), patch: diff.patch.unwrap_or_default(), outdated })
    }

    pub async fn list_revisions(&self, branch: &str, page: &PageRequest) -> Answered<Paged<Revision>> {
        let Paged { items, next_token } = self.workspaces.list_revisions(branch, page).await?;
        Ok(Paged { items: items.iter().map(|it| it.revision).collect(), next_token })
    }

    pub async fn rebase_branch(&self, request: RebaseRequest) -> Answered<Rebased> {
        let rebased = self.workspaces.rebase_branch(request).await?;
        Ok(Rebased { revision: rebased.revision, merged: view::texts(&rebased.merged) })
    }

    pub async fn commit_branch(&self, request: CommitRequest) -> Answered<Committed> {
        let done = self.workspaces.commit_branch(request).await?;
        Ok(Committed {
            revision: done.revision,
            changes: view::changes(done.changes),
            unsaved: view::texts(&done.unsaved),
            left: view::texts(&done.left),
            merged_by_syntax: view::texts(&done.merged_by_syntax),
        })
    }

    pub async fn list_directory(
        &self,
        target: &TargetId,
        path: &str,
        page: &PageRequest,
        side: Side,
    ) -> Answered<Paged<(String, FileKind)>> {
        let Paged { items, next_token } =
            self.workspaces.list_directory(target, path, page, side).await?.entries;
        Ok(Paged { items: items.into_iter().map(|(it, _)| (it.name, it.kind)).collect(), next_token })
    }

    pub async fn set_buffer(&self, request: BufferRequest) -> Answered<SetBuffer> {
        let set = self.workspaces.set_buffer(request).await?;
        Ok(SetBuffer { hash: set.content, is_hidden: set.is_hidden })
    }

    pub async fn watch_workspace(
        &self,
        workspace: &str,
        client_name: &str,
        takes_commits: bool,
    ) -> Answered<Events<Change>> {
        let (workspace, client_name) = (workspace.to_owned(), client_name.to_owned());
        let request = WorkspaceWatchRequest { workspace, client_name, takes_commits, deadline: None };
        let events = self.workspaces.watch_workspace(request).await?;
        Ok(Box::pin(events.map(|it| it.map(view::changed))))
    }

    pub async fn begin_check(&self, request: CheckRequest) -> Answered<Events<Event>> {
        let events = self.workspaces.check(request).await?;
        Ok(Box::pin(events.map(|it| it.map(view::event))))
    }

    pub async fn watch(&self, request: CheckRequest) -> Answered<Events<Round>> {
        let events = self.workspaces.watch(request).await?;
        Ok(Box::pin(events.map(|it| it.map(view::round))))
    }

    pub async fn fix_files(&self, request: FixRequest) -> Answered<Fixed> {
        Ok(view::fixed(self.workspaces.fix_files(request).await?))
    }

    /// The server that answered.
    pub async fn query(&self, request: QueryRequest) -> Answered<String> {
        Ok(self.workspaces.query(request).await?.server)
    }

    /// The server that answered, and its result.
    pub async fn call_method(&self, request: MethodRequest) -> Answered<(String, String)> {
        let reply = self.workspaces.call_method(request).await?;
        Ok((reply.server, reply.result))
    }

    /// Begins a run, which ends when the parts are dropped.
    pub async fn begin_run(&self, request: RunRequest) -> Answered<Running> {
        let workspaces::Run { inputs, events } = self.workspaces.run(request).await?;
        Ok(Running { inputs, parts: Box::pin(events.map(|it| it.map(runs::part))) })
    }

    pub async fn list_runs(&self, workspace: Option<&str>) -> Answered<Vec<Run>> {
        Ok(self.workspaces.list_runs(workspace).await?.into_iter().map(runs::listed).collect())
    }

    pub async fn read_log(&self, id: &RunId, offset: u64, follow: bool) -> Answered<Events<LogPart>> {
        let events = self.workspaces.read_log(id, offset, follow).await?;
        Ok(Box::pin(events.map(|it| it.map(runs::log_part))))
    }

    pub async fn kill(&self, id: &RunId, signal: Option<i32>) -> Answered<Option<Exited>> {
        Ok(self.workspaces.kill(id, signal).await?.map(|it| runs::exited(&it)))
    }

    /// The names of the servers whose logs there are.
    pub async fn server_logs(&self, name: &str) -> Answered<Vec<String>> {
        Ok(self.workspaces.server_logs(name).await?.into_iter().map(|it| it.name).collect())
    }

    pub async fn list_plugins(&self, target: Option<&TargetId>) -> Answered<Plugins> {
        let PluginList { plugins, unusable } = self.workspaces.list_plugins(target).await?;
        Ok(Plugins {
            usable: plugins.into_iter().map(|it| it.name).collect(),
            unusable: unusable.into_iter().map(|it| (it.name, it.reason)).collect(),
        })
    }

    pub async fn list_rules(
        &self,
        target: Option<&TargetId>,
        linter: &str,
        page: &PageRequest,
    ) -> Answered<Paged<Rule>> {
        let Paged { items, next_token } = self.workspaces.list_rules(target, linter, page).await?;
        let rule = |it: LinterRule| Rule { linter: it.linter, code: it.rule.code, default: it.rule.default };
        Ok(Paged { items: items.into_iter().map(rule).collect(), next_token })
    }

    pub async fn work(&self) -> Answered<Work> {
        let SchedulerStatus { classes, cancelled, .. } = self.workspaces.status().await?.scheduler;
        Ok(Work { running: classes.iter().map(|it| it.running).sum(), cancelled })
    }

    /// The handle of the workspace in `root`.
    pub async fn open(&self, root: &Path) -> String {
        let (info, unreadable) = self.open_workspace(root.to_owned()).await.unwrap();
        assert_eq!(unreadable, [""; 0]);
        info.id.to_string()
    }

    /// The handle of a new branch.
    pub async fn fork(&self, parent: TargetId, name: &str) -> Answered<String> {
        let request = ForkRequest { name: name.to_owned(), ..fork(parent) };
        Ok(self.fork_branch(request).await?.id.to_string())
    }

    pub async fn get(&self, branch: &str) -> Answered<BranchState> {
        let branch = branch.to_owned();
        let request = BranchRequest { workspace: None, branch, with_tree_hash: false, with_conflicts: true };
        self.get_branch(request).await
    }

    /// The new revision.
    pub async fn edit(&self, branch: &str, all: Vec<FileEdit>) -> Answered<u64> {
        Ok(self.edit_files(edits(branch, all)).await?.0)
    }

    pub async fn commit(&self, branch: &str, force: &[&str]) -> Answered<Committed> {
        let force_paths = force.iter().map(|it| (*it).to_owned()).collect();
        self.commit_branch(CommitRequest { force_paths, ..commit(branch) }).await
    }

    pub async fn read(&self, target: TargetId, path: &str) -> Answered<FileContent> {
        self.read_file(&target, path, Side::Now, None).await
    }

    pub async fn text(&self, target: TargetId, path: &str) -> String {
        let bytes = self.read(target, path).await.unwrap().bytes;
        String::from_utf8(bytes.into()).unwrap()
    }

    /// Everything that a check says until its end.
    pub async fn check(&self, request: CheckRequest) -> Answered<Checked> {
        let mut events = self.begin_check(request).await?;
        let (mut checked, mut summary) = (Checked::default(), None);
        while let Some(event) = events.next().await {
            assert!(summary.is_none(), "the summary is the last");
            match event? {
                Event::Started { files, revision } => checked.started = (revision, files),
                Event::Findings(it) => checked.findings.extend(it),
                Event::Incomplete(it) => checked.incomplete.extend(it),
                Event::Excluded => {}
                Event::Summary(it) => summary = Some(it),
            }
        }
        checked.summary = summary.expect("a check without an error ends with a summary");
        Ok(checked)
    }
}

/// Requests whose answers tests look at as they are.
impl Deref for Api {
    type Target = dyn Workspaces;

    fn deref(&self) -> &Self::Target {
        &*self.workspaces
    }
}

/// Errors as tests look at them.
pub trait RefusalExt {
    /// The kind, and the reason.
    fn what(&self) -> (ErrorKind, &str);
}

impl RefusalExt for Refusal {
    fn what(&self) -> (ErrorKind, &str) {
        (self.kind, &self.reason)
    }
}

/// The paths in the way, each with the kind of the obstacle.
pub fn obstacles(error: &Refusal) -> Vec<(String, String)> {
    error.obstacles.iter().map(|it| (it.path.to_string(), it.kind.to_string())).collect()
}

/// The refusal of an answer that must be one.
#[track_caller]
pub fn refusal<T>(answer: Answered<T>) -> Refusal {
    answer.err().expect("it is refused")
}

/// A changed path, and what became of it.
pub type Changed = (String, ChangeKind);

#[derive(Debug)]
pub struct Diff {
    pub changes: Vec<Changed>,
    pub patch: String,
    pub outdated: Vec<String>,
}

#[derive(Debug)]
pub struct Rebased {
    pub revision: Revision,
    pub merged: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Committed {
    pub revision: Revision,
    pub changes: Vec<Changed>,
    pub unsaved: Vec<String>,
    pub left: Vec<String>,
    pub merged_by_syntax: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct SetBuffer {
    pub hash: ContentHash,
    /// Another editor's text is shown.
    pub is_hidden: bool,
}

/// An event of a workspace.
#[derive(Debug, PartialEq, Eq)]
pub enum Change {
    /// The handle of the client as an editor.
    Started(String),
    Base,
    Branch(BranchChange),
    /// The file, and whose text is shown now with its hash; both are empty for the disk's.
    Buffer(String, String, String),
}

#[derive(Debug, PartialEq, Eq)]
pub struct BranchChange {
    /// `forked`, `edited`, `committed` or `discarded`.
    pub kind: &'static str,
    pub branch: String,
    pub revision: u64,
    /// Files that a commit wrote.
    pub changes: Vec<Changed>,
    pub unsaved: Vec<String>,
    pub left: Vec<String>,
}

#[derive(Debug)]
pub enum Event {
    Started { revision: Revision, files: usize },
    Findings(Vec<Finding>),
    Incomplete(Vec<Incomplete>),
    Excluded,
    Summary(Summary),
}

/// A part of a watch.
#[derive(Debug)]
pub enum Round {
    Check(Event),
    Superseded(Revision),
    Refused { reason: String, message: String },
}

/// Collected events of a check.
#[derive(Debug, Default)]
pub struct Checked {
    /// The revision, and how many files.
    pub started: (Revision, usize),
    pub findings: Vec<Finding>,
    pub incomplete: Vec<Incomplete>,
    pub summary: Summary,
}

#[derive(Debug, Clone)]
pub struct Finding {
    pub path: String,
    pub line: u32,
    pub code: String,
    pub content: Option<ContentHash>,
    pub change: Option<FindingChange>,
    /// Such as `Unnecessary`, as messages name them.
    pub tags: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incomplete {
    pub path: String,
    pub reason: String,
}

#[derive(Debug)]
pub struct Summary {
    pub revision: Revision,
    pub content: ContentHash,
    pub level: Level,
    pub files: usize,
    pub findings: usize,
    pub fixed: usize,
    /// Answers that were there already, by linter.
    pub cached: BTreeMap<String, u32>,
}

impl Default for Summary {
    fn default() -> Self {
        let (revision, content) = (Revision::default(), ContentHash::of(b""));
        Self {
            revision,
            content,
            level: Level::Failed,
            files: 0,
            findings: 0,
            fixed: 0,
            cached: BTreeMap::new(),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Fixed {
    pub revision: Revision,
    pub count: usize,
    pub paths: Vec<String>,
    pub patch: String,
    /// The fixed files: path, hash of the text that was checked, and text with the fixes.
    pub files: Vec<(String, ContentHash, String)>,
    /// Findings that were left unfixed, and why: path, rule and reason.
    pub notes: Vec<(String, String, String)>,
}

#[derive(Debug)]
pub struct Plugins {
    pub usable: Vec<String>,
    /// Names with reasons.
    pub unusable: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub linter: String,
    pub code: String,
    pub default: bool,
}

/// State of the scheduler.
#[derive(Debug)]
pub struct Work {
    pub running: usize,
    /// Tickets that were cancelled or withdrawn.
    pub cancelled: u64,
}
