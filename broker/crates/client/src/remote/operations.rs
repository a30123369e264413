//! The API of workspaces over a connection: what may be asked twice is a read, what may not a change.

use std::{collections::BTreeMap, path::PathBuf};

use async_trait::async_trait;
use broker_proto::v1 as pb;
use language_servers::ServerLog;
use overlay::Revision;
use tokio_stream::StreamExt as _;
use tonic::Streaming;
use workspaces::{
    BaselineRequest, BranchInfo, BranchRequest, BranchState, Buffer, BufferRequest, BufferSet, CheckRequest,
    CommitRequest, Committed, DaemonStatus, Diff, DiffRequest, DirectoryPage, DiscardMergedRequest,
    EditRequest, Event, Events, FileContent, FixRequest, FixedFiles, ForkRequest, JudgedBranch, LinterRule,
    ListedFiles, MergePreview, MergePreviewRequest, MethodReply, MethodRequest, OpenedWorkspace, PageRequest,
    Paged, PluginList, QueryAnswer, QueryRequest, RebaseRequest, Rebased, RequestError, RevisionEntry,
    ServerList, Side, TargetId, Tournament, TournamentRequest, UndoRequest, Undone, UpdatedBaseline,
    WatchEvent, WorkspaceEvent, WorkspaceInfo, WorkspaceWatchRequest, Workspaces,
};
#[cfg(target_os = "linux")]
use workspaces::{LogEvent, Run, RunId, RunInfo, RunRequest, RunResult};

use super::{OpenRequest, Remote, answer, utf8, within};
use crate::{error::is_ended, from_wire, to_wire};

/// Inputs of a run that may wait to be sent before their source waits, too.
#[cfg(target_os = "linux")]
const MAX_WAITING_INPUTS: usize = 4;

#[async_trait]
impl Workspaces for Remote {
    async fn open_workspace(
        &self,
        root: PathBuf,
        environment: Option<BTreeMap<String, String>>,
    ) -> Result<OpenedWorkspace, RequestError> {
        let request = OpenRequest { root, environment };
        if self.connection.starts() {
            // A request has no limit of time, and a process that was stopped takes it and never answers.
            self.connection.ensure().await?;
        }
        let opened = match self.open(request.clone()).await {
            Err(error) if is_ended(&error) && self.connection.starts() => {
                self.connection.ensure().await?;
                self.open(request.clone()).await?
            }
            opened => opened?,
        };
        if self.connection.reopens() {
            self.opened.lock().insert(opened.info.id.to_string(), request);
        }
        Ok(opened)
    }

    async fn list_workspaces(&self) -> Result<Vec<WorkspaceInfo>, RequestError> {
        let ask = || async { self.workspaces().list_workspaces(pb::ListWorkspacesRequest {}).await };
        Ok(self.read(ask).await?.workspaces.into_iter().map(from_wire::workspace).collect())
    }

    async fn close_workspace(&self, workspace: &str) -> Result<(), RequestError> {
        self.opened.lock().remove(workspace);
        let request = pb::CloseWorkspaceRequest { workspace_id: workspace.to_owned() };
        self.change(self.workspaces().close_workspace(request)).await.map(drop)
    }

    async fn watch_workspace(
        &self,
        request: WorkspaceWatchRequest,
    ) -> Result<Events<WorkspaceEvent>, RequestError> {
        let WorkspaceWatchRequest { workspace: workspace_id, client_name, takes_commits, deadline } = request;
        let request = pb::WatchWorkspaceRequest { workspace_id, client_name, takes_commits };
        let ask = || async { self.workspaces().watch_workspace(within(deadline, request.clone())).await };
        Ok(parts(self.read(ask).await?, from_wire::workspace_event))
    }

    async fn fork_branch(&self, request: ForkRequest) -> Result<BranchInfo, RequestError> {
        let forked = self.change(self.branches().fork_branch(to_wire::fork(request))).await?;
        from_wire::branch(forked.branch)
    }

    async fn get_branch(&self, request: BranchRequest) -> Result<BranchState, RequestError> {
        let request = to_wire::get_branch(request);
        let ask = || async { self.branches().get_branch(request.clone()).await };
        from_wire::branch_state(self.read(ask).await?)
    }

    async fn list_branches(
        &self,
        workspace: &str,
        page: &PageRequest,
    ) -> Result<Paged<BranchInfo>, RequestError> {
        let (page_size, page_token) = self::page(page);
        let request = pb::ListBranchesRequest { workspace_id: workspace.to_owned(), page_size, page_token };
        let ask = || async { self.branches().list_branches(request.clone()).await };
        Ok(from_wire::branches(self.read(ask).await?))
    }

    async fn diff_branch(&self, request: DiffRequest) -> Result<Diff, RequestError> {
        let with_patch = request.with_patch;
        let request = to_wire::diff(request);
        let ask = || async { self.branches().diff_branch(request.clone()).await };
        from_wire::diff(self.read(ask).await?, with_patch).await
    }

    async fn list_revisions(
        &self,
        branch: &str,
        page: &PageRequest,
    ) -> Result<Paged<RevisionEntry>, RequestError> {
        let (page_size, page_token) = self::page(page);
        let request = pb::ListRevisionsRequest { branch_id: branch.to_owned(), page_size, page_token };
        let ask = || async { self.branches().list_revisions(request.clone()).await };
        from_wire::revisions(self.read(ask).await?)
    }

    async fn undo_branch(&self, request: UndoRequest) -> Result<Undone, RequestError> {
        let undone = self.change(self.branches().undo_branch(to_wire::undo(request))).await?;
        Ok(Undone { revision: Revision(undone.revision), to: Revision(undone.to_revision) })
    }

    async fn rebase_branch(&self, request: RebaseRequest) -> Result<Rebased, RequestError> {
        from_wire::rebased(self.change(self.branches().rebase_branch(to_wire::rebase(request))).await?)
    }

    async fn merge_preview(&self, request: MergePreviewRequest) -> Result<MergePreview, RequestError> {
        let wait_ms = request.wait.map_or(0, |it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX).max(1));
        let request = pb::MergePreviewRequest { branch_ids: request.branches, wait_ms };
        let ask = || async { self.branches().merge_preview(request.clone()).await };
        from_wire::merge_preview(self.read(ask).await?)
    }

    async fn tournament(&self, request: TournamentRequest) -> Result<Tournament, RequestError> {
        let request = to_wire::tournament(request);
        from_wire::tournament(self.change(self.branches().run_tournament(request)).await?)
    }

    async fn commit_branch(&self, request: CommitRequest) -> Result<Committed, RequestError> {
        from_wire::committed(self.change(self.branches().commit_branch(to_wire::commit(request))).await?)
    }

    async fn discard_branch(&self, branch: &str) -> Result<(), RequestError> {
        let request = pb::DiscardBranchRequest { branch_id: branch.to_owned() };
        self.change(self.branches().discard_branch(request)).await.map(drop)
    }

    async fn discard_merged(&self, request: DiscardMergedRequest) -> Result<Vec<JudgedBranch>, RequestError> {
        let DiscardMergedRequest { workspace: workspace_id, branch, dry_run } = request;
        let branch_id = branch.unwrap_or_default();
        let request = pb::DiscardMergedBranchesRequest { workspace_id, branch_id, dry_run };
        let ask = || async { self.branches().discard_merged_branches(request.clone()).await };
        let judged = if dry_run { self.read(ask).await? } else { self.change(ask()).await? };
        Ok(judged.branches.into_iter().map(from_wire::judged_branch).collect())
    }

    async fn read_file(
        &self,
        target: &TargetId,
        path: &str,
        side: Side,
        max_bytes: Option<usize>,
    ) -> Result<FileContent, RequestError> {
        let request = to_wire::read(target, path, side);
        let ask = || async { self.files().read_file(request.clone()).await };
        let expect_size = |bytes| RequestError::expect_size(path, bytes, max_bytes);
        from_wire::file(self.read(ask).await?, expect_size).await
    }

    async fn list_directory(
        &self,
        target: &TargetId,
        path: &str,
        page: &PageRequest,
        side: Side,
    ) -> Result<DirectoryPage, RequestError> {
        let request = to_wire::list_directory(target, path, page, side)?;
        let ask = || async { self.files().list_directory(request.clone()).await };
        Ok(from_wire::directory(self.read(ask).await?))
    }

    async fn edit_files(&self, request: EditRequest) -> Result<Revision, RequestError> {
        let edited = self.change(self.files().edit_files(to_wire::edits(request))).await?;
        Ok(Revision(edited.revision))
    }

    async fn set_buffer(&self, request: BufferRequest) -> Result<BufferSet, RequestError> {
        from_wire::buffer_set(&self.change(self.files().set_buffer(to_wire::buffer(request))).await?)
    }

    async fn close_buffer(
        &self,
        workspace: &str,
        path: &str,
        editor: Option<&str>,
    ) -> Result<bool, RequestError> {
        let request = pb::CloseBufferRequest {
            workspace_id: workspace.to_owned(),
            path: path.to_owned(),
            editor_id: editor.unwrap_or_default().to_owned(),
        };
        Ok(self.change(self.files().close_buffer(request)).await?.was_open)
    }

    async fn list_buffers(&self, workspace: &str) -> Result<Vec<Buffer>, RequestError> {
        let request = pb::ListBuffersRequest { workspace_id: workspace.to_owned() };
        let ask = || async { self.files().list_buffers(request.clone()).await };
        from_wire::buffers(&self.read(ask).await?)
    }

    async fn check(&self, request: CheckRequest) -> Result<Events<Event>, RequestError> {
        let deadline = request.deadline;
        let request = to_wire::check(request);
        let ask = || async { self.checks().check(within(deadline, request.clone())).await };
        Ok(parts(self.read(ask).await?, from_wire::event))
    }

    async fn watch(&self, request: CheckRequest) -> Result<Events<WatchEvent>, RequestError> {
        let deadline = request.deadline;
        let request = pb::WatchRequest { check: Some(to_wire::check(request)) };
        let ask = || async { self.checks().watch(within(deadline, request.clone())).await };
        Ok(parts(self.read(ask).await?, from_wire::watch_event))
    }

    async fn fix_files(&self, request: FixRequest) -> Result<FixedFiles, RequestError> {
        from_wire::fixed(self.change(self.checks().fix_files(to_wire::fix(request))).await?)
    }

    async fn list_checked_files(&self, request: CheckRequest) -> Result<ListedFiles, RequestError> {
        let request = pb::ListCheckedFilesRequest { check: Some(to_wire::check(request)) };
        let ask = || async { self.checks().list_checked_files(request.clone()).await };
        from_wire::listed_files(self.read(ask).await?)
    }

    async fn update_baseline(&self, request: BaselineRequest) -> Result<UpdatedBaseline, RequestError> {
        let BaselineRequest { check, prune } = request;
        let request = pb::UpdateBaselineRequest { check: Some(to_wire::check(check)), prune };
        let ask = || async { self.checks().update_baseline(request.clone()).await };
        from_wire::baseline(self.read(ask).await?)
    }

    async fn query(&self, request: QueryRequest) -> Result<QueryAnswer, RequestError> {
        let (deadline, apply) = (request.deadline, request.apply);
        let request = to_wire::query(request);
        let ask = || async { self.queries().query(within(deadline, request.clone())).await };
        let answered = if apply { self.change(ask()).await } else { self.read(ask).await };
        from_wire::query(answered?)
    }

    async fn call_method(&self, request: MethodRequest) -> Result<MethodReply, RequestError> {
        let deadline = request.deadline;
        let request = within(deadline, to_wire::method(request));
        // A server may do anything for a method.
        Ok(from_wire::method_reply(self.change(self.queries().call_method(request)).await?))
    }

    #[cfg(target_os = "linux")]
    async fn run(&self, request: RunRequest) -> Result<Run, RequestError> {
        let (inputs, sent) = tokio::sync::mpsc::channel(MAX_WAITING_INPUTS);
        let start = tokio_stream::once(to_wire::run_start(request)?);
        let sent = tokio_stream::wrappers::ReceiverStream::new(sent).map(to_wire::run_input);
        let events = self.change(self.runs().run(start.chain(sent))).await?;
        Ok(Run { inputs, events: parts(events, from_wire::run_event) })
    }

    #[cfg(target_os = "linux")]
    async fn list_runs(&self, workspace: Option<&str>) -> Result<Vec<RunInfo>, RequestError> {
        let request = pb::ListRunsRequest { workspace_id: workspace.unwrap_or_default().to_owned() };
        let ask = || async { self.runs().list_runs(request.clone()).await };
        self.read(ask).await?.runs.into_iter().map(from_wire::run_info).collect()
    }

    #[cfg(target_os = "linux")]
    async fn read_log(
        &self,
        id: &RunId,
        offset: u64,
        follow: bool,
    ) -> Result<Events<LogEvent>, RequestError> {
        let (run_id, workspace_id) = to_wire::run_id(id);
        let request = pb::ReadLogRequest { run_id, workspace_id, offset, follow };
        let ask = || async { self.runs().read_log(request.clone()).await };
        Ok(parts(self.read(ask).await?, from_wire::log_event))
    }

    #[cfg(target_os = "linux")]
    async fn kill(&self, id: &RunId, signal: Option<i32>) -> Result<Option<RunResult>, RequestError> {
        if signal == Some(0) {
            return Err(RequestError::invalid("signal", "it is a number from 1 to 64"));
        }
        let (run_id, workspace_id) = to_wire::run_id(id);
        let request = pb::KillRequest { run_id, workspace_id, signal: signal.unwrap_or_default() };
        let killed = self.change(self.runs().kill(request)).await?;
        killed.exited.map(from_wire::run_result).transpose()
    }

    async fn list_servers(&self) -> Result<ServerList, RequestError> {
        let ask = || async { self.servers().list_servers(pb::ListServersRequest {}).await };
        let pb::ListServersResponse { servers, search_path } = self.read(ask).await?;
        Ok(ServerList { servers: servers.into_iter().map(from_wire::server).collect(), search_path })
    }

    async fn server_logs(&self, name: &str) -> Result<Vec<ServerLog>, RequestError> {
        let request = pb::GetServerLogRequest { name: name.to_owned() };
        let ask = || async { self.servers().get_server_log(request.clone()).await };
        Ok(self.read(ask).await?.logs.into_iter().map(from_wire::server_log).collect())
    }

    async fn end_servers(&self, root: PathBuf) -> Result<(), RequestError> {
        let request = pb::EndServersRequest { root: utf8(root)? };
        self.change(self.servers().end_servers(request)).await.map(drop)
    }

    async fn list_plugins(&self, target: Option<&TargetId>) -> Result<PluginList, RequestError> {
        let request = pb::ListPluginsRequest { target: target.map(to_wire::target) };
        let ask = || async { self.rules().list_plugins(request.clone()).await };
        from_wire::plugins(self.read(ask).await?)
    }

    async fn list_rules(
        &self,
        target: Option<&TargetId>,
        linter: &str,
        page: &PageRequest,
    ) -> Result<Paged<LinterRule>, RequestError> {
        let (page_size, page_token) = self::page(page);
        let (linter, target) = (linter.to_owned(), target.map(to_wire::target));
        let request = pb::ListRulesRequest { linter, page_size, page_token, target };
        let ask = || async { self.rules().list_rules(request.clone()).await };
        let pb::ListRulesResponse { rules, next_page_token: next_token } = self.read(ask).await?;
        Ok(Paged { items: rules.into_iter().map(from_wire::rule).collect(), next_token })
    }

    async fn status(&self) -> Result<DaemonStatus, RequestError> {
        let ask = || async { self.daemon().get_status(pb::GetStatusRequest {}).await };
        Ok(from_wire::status(self.read(ask).await?))
    }

    async fn stop(&self) -> Result<(), RequestError> {
        answer(self.daemon().shutdown(pb::ShutdownRequest {}).await).map(drop)
    }
}

/// The parts of an answer, but for those that only a newer daemon has.
fn parts<M, T>(parts: Streaming<M>, translate: fn(M) -> Result<Option<T>, RequestError>) -> Events<T>
where
    M: Send + 'static,
    T: Send + 'static,
{
    Box::pin(parts.filter_map(move |it| from_wire::part(it, translate)))
}

fn page(page: &PageRequest) -> (u32, String) {
    (page.size, page.token.clone())
}
