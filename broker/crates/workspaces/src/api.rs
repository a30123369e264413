//! The API of a daemon, wherever it runs: one trait, implemented here for the daemon of this process and in the crate `client`
//! over a connection.
//!
//! Requests and answers are plain types, alike on both sides. A stream is cancelled by dropping it.

mod in_process;

use std::{collections::BTreeMap, path::PathBuf, pin::Pin};

use async_trait::async_trait;
use language_servers::ServerLog;
use overlay::Revision;
#[cfg(target_os = "linux")]
use tokio::sync::mpsc;
use tokio_stream::Stream;

use super::{
    BaselineRequest, BranchInfo, BranchRequest, BranchState, Buffer, BufferRequest, BufferSet, CheckRequest,
    CommitRequest, Committed, DaemonStatus, Diff, DiffRequest, DirectoryPage, DiscardMergedRequest,
    EditRequest, Event, FileContent, FixRequest, FixedFiles, ForkRequest, JudgedBranch, LinterRule,
    ListedFiles, MergePreview, MergePreviewRequest, MethodReply, MethodRequest, OpenedWorkspace, PageRequest,
    Paged, PluginList, QueryAnswer, QueryRequest, RebaseRequest, Rebased, RequestError, RevisionEntry,
    ServerList, Side, TargetId, Tournament, TournamentRequest, UndoRequest, Undone, UpdatedBaseline,
    WatchEvent, WorkspaceEvent, WorkspaceInfo, WorkspaceWatchRequest,
};
#[cfg(target_os = "linux")]
use super::{LogEvent, RunEvent, RunId, RunInfo, RunInput, RunRequest, RunResult};

/// Parts of an answer as they come; an error is the last. Dropping it cancels what makes them.
pub type Events<T> = Pin<Box<dyn Stream<Item = Result<T, RequestError>> + Send>>;

/// A run under way. Dropping the events ends one in the foreground.
#[cfg(target_os = "linux")]
pub struct Run {
    pub inputs: mpsc::Sender<RunInput>,
    pub events: Events<RunEvent>,
}

/// Open workspaces, their branches, and what can be asked of them.
#[async_trait]
pub trait Workspaces: Send + Sync {
    /// Opens a folder, or finds it open. `environment` has the variables of the client's shell for what runs there.
    async fn open_workspace(
        &self,
        root: PathBuf,
        environment: Option<BTreeMap<String, String>>,
    ) -> Result<OpenedWorkspace, RequestError>;
    async fn list_workspaces(&self) -> Result<Vec<WorkspaceInfo>, RequestError>;
    async fn close_workspace(&self, workspace: &str) -> Result<(), RequestError>;
    /// Events of a workspace. The client is an editor while it watches.
    async fn watch_workspace(
        &self,
        request: WorkspaceWatchRequest,
    ) -> Result<Events<WorkspaceEvent>, RequestError>;

    async fn fork_branch(&self, request: ForkRequest) -> Result<BranchInfo, RequestError>;
    async fn get_branch(&self, request: BranchRequest) -> Result<BranchState, RequestError>;
    /// The branches of a workspace, by name.
    async fn list_branches(
        &self,
        workspace: &str,
        page: &PageRequest,
    ) -> Result<Paged<BranchInfo>, RequestError>;
    async fn diff_branch(&self, request: DiffRequest) -> Result<Diff, RequestError>;
    /// The edits of a branch, newest first.
    async fn list_revisions(
        &self,
        branch: &str,
        page: &PageRequest,
    ) -> Result<Paged<RevisionEntry>, RequestError>;
    async fn undo_branch(&self, request: UndoRequest) -> Result<Undone, RequestError>;
    async fn rebase_branch(&self, request: RebaseRequest) -> Result<Rebased, RequestError>;
    async fn merge_preview(&self, request: MergePreviewRequest) -> Result<MergePreview, RequestError>;
    /// Compares candidates for one task. Branches are made for those that are edits; if the client leaves, they go as well.
    async fn tournament(&self, request: TournamentRequest) -> Result<Tournament, RequestError>;
    async fn commit_branch(&self, request: CommitRequest) -> Result<Committed, RequestError>;
    async fn discard_branch(&self, branch: &str) -> Result<(), RequestError>;
    /// Discards branches whose work is done, with which nothing is lost. All that were judged, by name.
    async fn discard_merged(&self, request: DiscardMergedRequest) -> Result<Vec<JudgedBranch>, RequestError>;

    /// Reads a file whole. An error if it has more than `max_bytes`.
    async fn read_file(
        &self,
        target: &TargetId,
        path: &str,
        side: Side,
        max_bytes: Option<usize>,
    ) -> Result<FileContent, RequestError>;
    async fn list_directory(
        &self,
        target: &TargetId,
        path: &str,
        page: &PageRequest,
        side: Side,
    ) -> Result<DirectoryPage, RequestError>;
    async fn edit_files(&self, request: EditRequest) -> Result<Revision, RequestError>;
    async fn set_buffer(&self, request: BufferRequest) -> Result<BufferSet, RequestError>;
    /// Closes the buffer; returns whether there was one.
    async fn close_buffer(
        &self,
        workspace: &str,
        path: &str,
        editor: Option<&str>,
    ) -> Result<bool, RequestError>;
    /// The unsaved texts of a workspace, by path.
    async fn list_buffers(&self, workspace: &str) -> Result<Vec<Buffer>, RequestError>;

    /// Checks once; the summary is the last event.
    async fn check(&self, request: CheckRequest) -> Result<Events<Event>, RequestError>;
    /// Checks now, and again at each change.
    async fn watch(&self, request: CheckRequest) -> Result<Events<WatchEvent>, RequestError>;
    async fn fix_files(&self, request: FixRequest) -> Result<FixedFiles, RequestError>;
    /// The files that a check would ask linters about.
    async fn list_checked_files(&self, request: CheckRequest) -> Result<ListedFiles, RequestError>;
    /// A baseline as it would be now; writes nothing.
    async fn update_baseline(&self, request: BaselineRequest) -> Result<UpdatedBaseline, RequestError>;

    async fn query(&self, request: QueryRequest) -> Result<QueryAnswer, RequestError>;
    async fn call_method(&self, request: MethodRequest) -> Result<MethodReply, RequestError>;

    #[cfg(target_os = "linux")]
    async fn run(&self, request: RunRequest) -> Result<Run, RequestError>;
    /// The runs of a workspace, or of all.
    #[cfg(target_os = "linux")]
    async fn list_runs(&self, workspace: Option<&str>) -> Result<Vec<RunInfo>, RequestError>;
    /// Output of a run in the background, from `offset` on.
    #[cfg(target_os = "linux")]
    async fn read_log(&self, id: &RunId, offset: u64, follow: bool)
    -> Result<Events<LogEvent>, RequestError>;
    /// Sends a signal to a run; without one, ends it and waits for its end.
    #[cfg(target_os = "linux")]
    async fn kill(&self, id: &RunId, signal: Option<i32>) -> Result<Option<RunResult>, RequestError>;

    async fn list_servers(&self) -> Result<ServerList, RequestError>;
    /// The standard error of the servers of a name.
    async fn server_logs(&self, name: &str) -> Result<Vec<ServerLog>, RequestError>;
    /// Ends the language servers of a folder and of those below it.
    async fn end_servers(&self, root: PathBuf) -> Result<(), RequestError>;

    /// The plugins of a target, or those of the program.
    async fn list_plugins(&self, target: Option<&TargetId>) -> Result<PluginList, RequestError>;
    /// The rules of a linter, or of all if `linter` is empty.
    async fn list_rules(
        &self,
        target: Option<&TargetId>,
        linter: &str,
        page: &PageRequest,
    ) -> Result<Paged<LinterRule>, RequestError>;

    async fn status(&self) -> Result<DaemonStatus, RequestError>;
    /// Asks the daemon to end.
    async fn stop(&self) -> Result<(), RequestError>;
}
