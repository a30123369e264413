//! The daemon's operations as a test asks for them: one trait over `workspaces` itself and over gRPC.
//!
//! Requests are those of `workspaces`; answers hold what tests look at. [`InProcess`] calls the operations and
//! translates nothing on the way in, so that a rule that only a front knows is missing there.

mod in_process;
mod remote;
mod requests;
mod runs;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    pin::Pin,
};

use checker::{Level, pipeline::Change as FindingChange};
use overlay::{ChangeKind, ContentHash, FileKind, Revision};
use tokio_stream::{Stream, StreamExt as _};
use tonic::async_trait;
use workspaces::{
    BranchInfo, BranchRequest, BranchState, BufferRequest, CheckRequest, CommitRequest, DaemonError,
    DiffRequest, EditRequest, ErrorKind, FileContent, FileEdit, FixRequest, ForkRequest, MethodRequest,
    PageRequest, Paged, QueryRequest, RebaseRequest, RunId, RunRequest, Side, TargetId, UndoRequest, Undone,
    WorkspaceInfo,
};

pub use self::{
    in_process::InProcess,
    requests::{
        ask, base, branch, buffer, commit, edits, fix, fork, next, patch, read_of, rebase, remove, rename,
        undo, write,
    },
    runs::{Exited, Kept, LogPart, Run, RunPart, Running, run, shell},
};

pub type Answered<T> = Result<T, Refusal>;

/// Parts of an answer as they come, until the client drops it.
pub type Events<T> = Pin<Box<dyn Stream<Item = Answered<T>> + Send>>;

#[async_trait]
pub trait Api: Send + Sync {
    /// The workspace, and what of its state could not be read.
    async fn open_workspace(&self, root: PathBuf) -> Answered<(WorkspaceInfo, Vec<String>)>;
    async fn list_workspaces(&self) -> Answered<Vec<WorkspaceInfo>>;
    async fn close_workspace(&self, workspace: &str) -> Answered<()>;

    async fn fork_branch(&self, request: ForkRequest) -> Answered<BranchInfo>;
    async fn get_branch(&self, request: BranchRequest) -> Answered<BranchState>;
    async fn list_branches(&self, workspace: &str, page: &PageRequest) -> Answered<Paged<BranchInfo>>;
    async fn diff_branch(&self, request: DiffRequest) -> Answered<Diff>;
    async fn list_revisions(&self, branch: &str, page: &PageRequest) -> Answered<Paged<Revision>>;
    async fn undo_branch(&self, request: UndoRequest) -> Answered<Undone>;
    async fn rebase_branch(&self, request: RebaseRequest) -> Answered<Rebased>;
    async fn commit_branch(&self, request: CommitRequest) -> Answered<Committed>;
    async fn discard_branch(&self, branch: &str) -> Answered<()>;

    async fn read_file(&self, target: &TargetId, path: &str, side: Side) -> Answered<FileContent>;
    async fn list_directory(
        &self,
        target: &TargetId,
        path: &str,
        page: &PageRequest,
        side: Side,
    ) -> Answered<Paged<(String, FileKind)>>;
    async fn edit_files(&self, request: EditRequest) -> Answered<Revision>;
    async fn set_buffer(&self, request: BufferRequest) -> Answered<SetBuffer>;
    async fn close_buffer(&self, workspace: &str, path: &str, editor: Option<&str>) -> Answered<bool>;
    async fn watch_workspace(
        &self,
        workspace: &str,
        client_name: &str,
        takes_commits: bool,
    ) -> Answered<Events<Change>>;

    async fn begin_check(&self, request: CheckRequest) -> Answered<Events<Event>>;
    async fn watch(&self, request: CheckRequest) -> Answered<Events<Round>>;
    async fn fix_files(&self, request: FixRequest) -> Answered<Fixed>;

    /// The server that answered.
    async fn query(&self, request: QueryRequest) -> Answered<String>;
    /// The server that answered, and its result.
    async fn call_method(&self, request: MethodRequest) -> Answered<(String, String)>;
    /// Begins a run, which ends when the parts are dropped.
    async fn begin_run(&self, request: RunRequest) -> Answered<Running>;
    async fn list_runs(&self, workspace: Option<&str>) -> Answered<Vec<Run>>;
    async fn read_log(&self, id: &RunId, offset: u64, follow: bool) -> Answered<Events<LogPart>>;
    async fn kill(&self, id: &RunId, signal: Option<i32>) -> Answered<Option<Exited>>;

    /// The names of the servers whose logs there are.
    async fn server_logs(&self, name: &str) -> Answered<Vec<String>>;
    async fn end_servers(&self, root: PathBuf) -> Answered<()>;

    async fn list_plugins(&self, target: Option<&TargetId>) -> Answered<Plugins>;
    async fn list_rules(
        &self,
        target: Option<&TargetId>,
        linter: &str,
        page: &PageRequest,
    ) -> Answered<Paged<Rule>>;
    async fn work(&self) -> Answered<Work>;
}

impl dyn Api {
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
        self.read_file(&target, path, Side::Now).await
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

/// What a request is refused with.
#[derive(Debug, Clone)]
pub struct Refusal {
    pub kind: ErrorKind,
    pub reason: String,
    pub facts: BTreeMap<String, String>,
    /// Paths in the way, each with the kind of the obstacle.
    pub obstacles: Vec<(String, String)>,
    pub sentence: String,
}

impl Refusal {
    fn of(error: DaemonError) -> Self {
        let facts = error.facts().into_iter().map(|(name, value)| (name.to_owned(), value));
        let obstacles = error.obstacles();
        let obstacles = obstacles.iter().map(|it| (it.path.to_string(), it.kind.to_owned()));
        Self {
            kind: error.kind(),
            reason: error.reason().to_owned(),
            facts: facts.collect(),
            obstacles: obstacles.collect(),
            sentence: error.sentence(),
        }
    }

    pub fn what(&self) -> (ErrorKind, &str) {
        (self.kind, &self.reason)
    }
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
    /// Those that a commit wrote.
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

/// What a check answered, gathered.
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
    /// What was left as it is, and why: path, rule and reason.
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

/// What the scheduler does.
#[derive(Debug)]
pub struct Work {
    pub running: usize,
    /// Tickets that were cancelled or withdrawn.
    pub cancelled: u64,
}
