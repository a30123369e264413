//! The API of the daemon of this process.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use async_trait::async_trait;
use futures_util::stream;
use language_servers::ServerLog;
use overlay::Revision;
use tokio::sync::mpsc;
use tokio_stream::{StreamExt as _, wrappers::ReceiverStream};

use super::{Events, Workspaces};
use crate::{
    BaselineRequest, BranchInfo, BranchRequest, BranchState, Buffer, BufferRequest, BufferSet, CheckRequest,
    CommitRequest, Committed, Daemon, DaemonError, DaemonStatus, Diff, DiffRequest, DirectoryPage,
    DiscardMergedRequest, EditRequest, Event, FileContent, FixRequest, FixedFiles, ForkRequest, JudgedBranch,
    LinterRule, ListedFiles, MergePreview, MergePreviewRequest, MethodReply, MethodRequest, OpenedWorkspace,
    PageRequest, Paged, PluginList, QueryAnswer, QueryRequest, RebaseRequest, Rebased, RequestError,
    RevisionEntry, ServerList, Side, TargetId, Tournament, TournamentRequest, UndoRequest, Undone,
    UpdatedBaseline, WatchEvent, WorkspaceEvent, WorkspaceInfo, WorkspaceWatchRequest,
};
#[cfg(target_os = "linux")]
use crate::{LogEvent, RunEvent, RunId, RunInfo, RunRequest, RunResult, api::Run};

/// Inputs of a run that may wait for its command.
#[cfg(target_os = "linux")]
const MAX_WAITING_INPUTS: usize = 4;

fn events<T: Send + 'static>(received: mpsc::Receiver<Result<T, DaemonError>>) -> Events<T> {
    Box::pin(ReceiverStream::new(received).map(|it| it.map_err(RequestError::from)))
}

#[async_trait]
impl Workspaces for Arc<Daemon> {
    async fn open_workspace(
        &self,
        root: PathBuf,
        environment: Option<BTreeMap<String, String>>,
    ) -> Result<OpenedWorkspace, RequestError> {
        Ok(Daemon::open_workspace(self, root, environment).await?)
    }

    async fn list_workspaces(&self) -> Result<Vec<WorkspaceInfo>, RequestError> {
        Ok(Daemon::list_workspaces(self))
    }

    async fn close_workspace(&self, workspace: &str) -> Result<(), RequestError> {
        Ok(Daemon::close_workspace(self, workspace.to_owned()).await?)
    }

    async fn watch_workspace(
        &self,
        request: WorkspaceWatchRequest,
    ) -> Result<Events<WorkspaceEvent>, RequestError> {
        let events = Daemon::watch_workspace(self, request)?;
        let events = stream::unfold(events, |mut events| async move {
            let event = events.recv().await?;
            Some((event.map_err(RequestError::from), events))
        });
        Ok(Box::pin(events))
    }

    async fn fork_branch(&self, request: ForkRequest) -> Result<BranchInfo, RequestError> {
        Ok(self.fork(request).await?)
    }

    async fn get_branch(&self, request: BranchRequest) -> Result<BranchState, RequestError> {
        Ok(Daemon::get_branch(self, request).await?)
    }

    async fn list_branches(
        &self,
        workspace: &str,
        page: &PageRequest,
    ) -> Result<Paged<BranchInfo>, RequestError> {
        Ok(self.branches(workspace, page)?)
    }

    async fn diff_branch(&self, request: DiffRequest) -> Result<Diff, RequestError> {
        Ok(self.diff(request).await?)
    }

    async fn list_revisions(
        &self,
        branch: &str,
        page: &PageRequest,
    ) -> Result<Paged<RevisionEntry>, RequestError> {
        Ok(self.revisions(branch, page).await?)
    }

    async fn undo_branch(&self, request: UndoRequest) -> Result<Undone, RequestError> {
        Ok(self.undo(request).await?)
    }

    async fn rebase_branch(&self, request: RebaseRequest) -> Result<Rebased, RequestError> {
        Ok(self.rebase(request).await?)
    }

    async fn merge_preview(&self, request: MergePreviewRequest) -> Result<MergePreview, RequestError> {
        Ok(Daemon::merge_preview(self, request).await?)
    }

    async fn tournament(&self, request: TournamentRequest) -> Result<Tournament, RequestError> {
        Ok(Daemon::tournament(self, request).await?)
    }

    async fn commit_branch(&self, request: CommitRequest) -> Result<Committed, RequestError> {
        Ok(self.commit(request).await?)
    }

    async fn discard_branch(&self, branch: &str) -> Result<(), RequestError> {
        Ok(self.discard(branch).await?)
    }

    async fn discard_merged(&self, request: DiscardMergedRequest) -> Result<Vec<JudgedBranch>, RequestError> {
        Ok(Daemon::discard_merged(self, request).await?)
    }

    async fn read_file(
        &self,
        target: &TargetId,
        path: &str,
        side: Side,
        max_bytes: Option<usize>,
    ) -> Result<FileContent, RequestError> {
        let file = Daemon::read_file(self, target, path, side).await?;
        RequestError::expect_size(path, file.bytes.len(), max_bytes)?;
        Ok(file)
    }

    async fn list_directory(
        &self,
        target: &TargetId,
        path: &str,
        page: &PageRequest,
        side: Side,
    ) -> Result<DirectoryPage, RequestError> {
        Ok(Daemon::list_directory(self, target, path, page, side).await?)
    }

    async fn edit_files(&self, request: EditRequest) -> Result<Revision, RequestError> {
        Ok(Daemon::edit_files(self, request).await?)
    }

    async fn set_buffer(&self, request: BufferRequest) -> Result<BufferSet, RequestError> {
        Ok(Daemon::set_buffer(self, request).await?)
    }

    async fn close_buffer(
        &self,
        workspace: &str,
        path: &str,
        editor: Option<&str>,
    ) -> Result<bool, RequestError> {
        Ok(Daemon::close_buffer(self, workspace, path, editor.map(str::to_owned)).await?)
    }

    async fn list_buffers(&self, workspace: &str) -> Result<Vec<Buffer>, RequestError> {
        Ok(Daemon::list_buffers(self, workspace)?)
    }

    async fn check(&self, request: CheckRequest) -> Result<Events<Event>, RequestError> {
        Ok(events(Daemon::check(self, request)?))
    }

    async fn watch(&self, request: CheckRequest) -> Result<Events<WatchEvent>, RequestError> {
        Ok(events(Daemon::watch(self, request)?))
    }

    async fn fix_files(&self, request: FixRequest) -> Result<FixedFiles, RequestError> {
        Ok(Daemon::fix_files(self, request).await?)
    }

    async fn list_checked_files(&self, request: CheckRequest) -> Result<ListedFiles, RequestError> {
        Ok(Daemon::list_checked_files(self, request).await?)
    }

    async fn update_baseline(&self, request: BaselineRequest) -> Result<UpdatedBaseline, RequestError> {
        Ok(Daemon::update_baseline(self, request).await?)
    }

    async fn query(&self, request: QueryRequest) -> Result<QueryAnswer, RequestError> {
        Ok(Daemon::query(self, request).await?.into())
    }

    async fn call_method(&self, request: MethodRequest) -> Result<MethodReply, RequestError> {
        Ok(Daemon::call_method(self, request).await?)
    }

    #[cfg(target_os = "linux")]
    async fn run(&self, request: RunRequest) -> Result<Run, RequestError> {
        let (inputs, received) = mpsc::channel(MAX_WAITING_INPUTS);
        let events: Events<RunEvent> = events(Daemon::run(self, request, received).await?);
        Ok(Run { inputs, events })
    }

    #[cfg(target_os = "linux")]
    async fn list_runs(&self, workspace: Option<&str>) -> Result<Vec<RunInfo>, RequestError> {
        Ok(self.runs(workspace)?)
    }

    #[cfg(target_os = "linux")]
    async fn read_log(
        &self,
        id: &RunId,
        offset: u64,
        follow: bool,
    ) -> Result<Events<LogEvent>, RequestError> {
        let events = Daemon::read_log(self, id, offset, follow)?;
        Ok(Box::pin(ReceiverStream::new(events).map(Ok)))
    }

    #[cfg(target_os = "linux")]
    async fn kill(&self, id: &RunId, signal: Option<i32>) -> Result<Option<RunResult>, RequestError> {
        let result = Daemon::kill(self, id, signal).await?;
        Ok(result.map(Arc::unwrap_or_clone))
    }

    async fn list_servers(&self) -> Result<ServerList, RequestError> {
        Ok(self.servers().await?)
    }

    async fn server_logs(&self, name: &str) -> Result<Vec<ServerLog>, RequestError> {
        Ok(Daemon::server_logs(self, name)?)
    }

    async fn end_servers(&self, root: PathBuf) -> Result<(), RequestError> {
        Ok(Daemon::end_servers(self, root).await?)
    }

    async fn list_plugins(&self, target: Option<&TargetId>) -> Result<PluginList, RequestError> {
        Ok(self.plugins(target).await?)
    }

    async fn list_rules(
        &self,
        target: Option<&TargetId>,
        linter: &str,
        page: &PageRequest,
    ) -> Result<Paged<LinterRule>, RequestError> {
        Ok(self.rules(target, linter.to_owned(), page).await?)
    }

    async fn status(&self) -> Result<DaemonStatus, RequestError> {
        Ok(Daemon::status(self).await?)
    }

    async fn stop(&self) -> Result<(), RequestError> {
        self.shut_down();
        Ok(())
    }
}
