//! The same operations over gRPC, as any client calls them.

mod from_wire;
mod to_wire;

use std::{path::PathBuf, time::Duration};

use broker_proto::v1::{
    self as pb, diff_branch_response, query_service_client::QueryServiceClient, read_file_response,
    server_service_client::ServerServiceClient,
};
use overlay::{FileKind, Revision};
use tokio_stream::StreamExt as _;
use tonic::{Request, Status, async_trait};
use workspaces::{
    BranchInfo, BranchRequest, BranchState, BufferRequest, CheckRequest, CommitRequest, DiffRequest,
    EditRequest, FileContent, FixRequest, ForkRequest, MethodRequest, PageRequest, Paged, QueryRequest,
    RebaseRequest, RunId, RunRequest, Side, TargetId, UndoRequest, Undone, WorkspaceInfo,
};

use self::from_wire::hash;
pub(super) use self::to_wire::target;
use super::{
    Answered, Api, Change, Committed, Diff, Event, Events, Exited, Fixed, LogPart, Plugins, Rebased, Refusal,
    Round, Rule, Run, Running, SetBuffer, Work, runs,
};
use crate::daemon::Client;

#[async_trait]
impl Api for Client {
    async fn open_workspace(&self, root: PathBuf) -> Answered<(WorkspaceInfo, Vec<String>)> {
        let root = root.into_os_string().into_string().unwrap();
        let request = pb::OpenWorkspaceRequest { root, environment: None };
        let opened = self.workspaces().open_workspace(request).await?.into_inner();
        Ok((from_wire::workspace(opened.workspace.unwrap()), opened.unreadable))
    }

    async fn list_workspaces(&self) -> Answered<Vec<WorkspaceInfo>> {
        let listed = self.workspaces().list_workspaces(pb::ListWorkspacesRequest {}).await?.into_inner();
        Ok(listed.workspaces.into_iter().map(from_wire::workspace).collect())
    }

    async fn close_workspace(&self, workspace: &str) -> Answered<()> {
        let request = pb::CloseWorkspaceRequest { workspace_id: workspace.to_owned() };
        self.workspaces().close_workspace(request).await?;
        Ok(())
    }

    async fn fork_branch(&self, request: ForkRequest) -> Answered<BranchInfo> {
        let forked = self.branches().fork_branch(to_wire::fork(request)).await?.into_inner();
        Ok(from_wire::branch(forked.branch.unwrap()))
    }

    async fn get_branch(&self, request: BranchRequest) -> Answered<BranchState> {
        let BranchRequest { workspace, branch: branch_id, with_tree_hash, with_conflicts } = request;
        let (workspace_id, without_conflicts) = (workspace.unwrap_or_default(), !with_conflicts);
        let request = pb::GetBranchRequest { branch_id, workspace_id, with_tree_hash, without_conflicts };
        let got = self.branches().get_branch(request).await?.into_inner();
        Ok(BranchState {
            info: from_wire::branch(got.branch.unwrap()),
            tree_hash: with_tree_hash.then(|| hash(&got.tree_hash)),
            conflicts: got.conflicts.iter().map(|it| crate::path(it)).collect(),
        })
    }

    async fn list_branches(&self, workspace: &str, page: &PageRequest) -> Answered<Paged<BranchInfo>> {
        let (workspace_id, PageRequest { size: page_size, token: page_token }) =
            (workspace.to_owned(), page.clone());
        let request = pb::ListBranchesRequest { workspace_id, page_size, page_token };
        let listed = self.branches().list_branches(request).await?.into_inner();
        let items = listed.branches.into_iter().map(from_wire::branch).collect();
        Ok(Paged { items, next_token: listed.next_page_token })
    }

    async fn diff_branch(&self, request: DiffRequest) -> Answered<Diff> {
        let mut parts = self.branches().diff_branch(to_wire::diff(request)).await?.into_inner();
        let mut diff = Diff { changes: Vec::new(), patch: String::new() };
        while let Some(part) = parts.message().await? {
            match part.part.unwrap() {
                diff_branch_response::Part::Changes(it) => {
                    diff.changes.extend(it.changes.into_iter().map(from_wire::change));
                }
                diff_branch_response::Part::Patch(it) => diff.patch += &it,
            }
        }
        Ok(diff)
    }

    async fn list_revisions(&self, branch: &str, page: &PageRequest) -> Answered<Paged<Revision>> {
        let (branch_id, PageRequest { size: page_size, token: page_token }) =
            (branch.to_owned(), page.clone());
        let request = pb::ListRevisionsRequest { branch_id, page_size, page_token };
        let listed = self.branches().list_revisions(request).await?.into_inner();
        let items = listed.revisions.iter().map(|it| Revision(it.revision)).collect();
        Ok(Paged { items, next_token: listed.next_page_token })
    }

    async fn undo_branch(&self, request: UndoRequest) -> Answered<Undone> {
        let undone = self.branches().undo_branch(to_wire::undo(request)).await?.into_inner();
        Ok(Undone { revision: Revision(undone.revision), to: Revision(undone.to_revision) })
    }

    async fn rebase_branch(&self, request: RebaseRequest) -> Answered<Rebased> {
        let rebased = self.branches().rebase_branch(to_wire::rebase(request)).await?.into_inner();
        Ok(Rebased { revision: Revision(rebased.revision), merged: rebased.merged_paths })
    }

    async fn commit_branch(&self, request: CommitRequest) -> Answered<Committed> {
        let done = self.branches().commit_branch(to_wire::commit(request)).await?.into_inner();
        let changes = done.changes.into_iter().map(from_wire::change).collect();
        Ok(Committed {
            revision: Revision(done.revision),
            changes,
            unsaved: done.unsaved_paths,
            left: done.left_paths,
        })
    }

    async fn discard_branch(&self, branch: &str) -> Answered<()> {
        let request = pb::DiscardBranchRequest { branch_id: branch.to_owned() };
        self.branches().discard_branch(request).await?;
        Ok(())
    }

    async fn read_file(&self, target: &TargetId, path: &str, side: Side) -> Answered<FileContent> {
        let request = to_wire::read(target, path, side);
        let mut parts = self.files().read_file(request).await?.into_inner();
        let (mut info, mut bytes) = (None, Vec::new());
        while let Some(part) = parts.message().await? {
            match part.part.unwrap() {
                read_file_response::Part::Info(it) => assert!(info.replace(it).is_none()),
                read_file_response::Part::Content(it) => bytes.extend_from_slice(&it),
            }
        }
        Ok(from_wire::file(&info.expect("the information comes first"), bytes.into()))
    }

    async fn list_directory(
        &self,
        target: &TargetId,
        path: &str,
        page: &PageRequest,
        side: Side,
    ) -> Answered<Paged<(String, FileKind)>> {
        let request = to_wire::list_directory(target, path, page, side);
        let listed = self.files().list_directory(request).await?.into_inner();
        let items = listed.entries.into_iter().map(from_wire::entry).collect();
        Ok(Paged { items, next_token: listed.next_page_token })
    }

    async fn edit_files(&self, request: EditRequest) -> Answered<Revision> {
        Ok(Revision(self.files().edit_files(to_wire::edits(request)).await?.into_inner().revision))
    }

    async fn set_buffer(&self, request: BufferRequest) -> Answered<SetBuffer> {
        let set = self.files().set_buffer(to_wire::buffer(request)).await?.into_inner();
        Ok(SetBuffer { hash: hash(&set.content_hash), is_hidden: set.hidden })
    }

    async fn close_buffer(&self, workspace: &str, path: &str, editor: Option<&str>) -> Answered<bool> {
        let (workspace_id, path) = (workspace.to_owned(), path.to_owned());
        let editor_id = editor.unwrap_or_default().to_owned();
        let request = pb::CloseBufferRequest { workspace_id, path, editor_id };
        Ok(self.files().close_buffer(request).await?.into_inner().was_open)
    }

    async fn watch_workspace(
        &self,
        workspace: &str,
        client_name: &str,
        takes_commits: bool,
    ) -> Answered<Events<Change>> {
        let (workspace_id, client_name) = (workspace.to_owned(), client_name.to_owned());
        let request = pb::WatchWorkspaceRequest { workspace_id, client_name, takes_commits };
        let events = self.workspaces().watch_workspace(request).await?.into_inner();
        Ok(Box::pin(events.map(|it| Ok(from_wire::changed(it?.event.unwrap())))))
    }

    async fn begin_check(&self, request: CheckRequest) -> Answered<Events<Event>> {
        let deadline = request.deadline;
        let request = within(deadline, to_wire::check(request));
        let events = self.checks().check(request).await?.into_inner();
        Ok(Box::pin(events.map(|it| Ok(from_wire::event(it?.event.unwrap())))))
    }

    async fn watch(&self, request: CheckRequest) -> Answered<Events<Round>> {
        let deadline = request.deadline;
        let request = within(deadline, pb::WatchRequest { check: Some(to_wire::check(request)) });
        let events = self.checks().watch(request).await?.into_inner();
        Ok(Box::pin(events.map(|it| Ok(from_wire::round(it?.event.unwrap())))))
    }

    async fn fix_files(&self, request: FixRequest) -> Answered<Fixed> {
        let fixed = self.checks().fix_files(to_wire::fix(request)).await?.into_inner();
        Ok(from_wire::fixed(fixed))
    }

    async fn query(&self, request: QueryRequest) -> Answered<String> {
        let deadline = request.deadline;
        let mut client = QueryServiceClient::new(self.channel.clone());
        Ok(client.query(within(deadline, to_wire::query(request))).await?.into_inner().server)
    }

    async fn call_method(&self, request: MethodRequest) -> Answered<(String, String)> {
        let deadline = request.deadline;
        let mut client = QueryServiceClient::new(self.channel.clone());
        let reply = client.call_method(within(deadline, to_wire::method(request))).await?.into_inner();
        Ok((reply.server, reply.result_json))
    }

    async fn begin_run(&self, request: RunRequest) -> Answered<Running> {
        runs::begin_remote(self, request).await
    }

    async fn list_runs(&self, workspace: Option<&str>) -> Answered<Vec<Run>> {
        let request = pb::ListRunsRequest { workspace_id: workspace.unwrap_or_default().to_owned() };
        let listed = self.runs().list_runs(request).await?.into_inner();
        Ok(listed.runs.into_iter().map(runs::wire_run).collect())
    }

    async fn read_log(&self, id: &RunId, offset: u64, follow: bool) -> Answered<Events<LogPart>> {
        let (run_id, workspace_id) = runs::wire_id(id);
        let request = pb::ReadLogRequest { run_id, workspace_id, offset, follow };
        let parts = self.runs().read_log(request).await?.into_inner();
        Ok(Box::pin(parts.map(|it| Ok(runs::wire_log(it?)))))
    }

    async fn kill(&self, id: &RunId, signal: Option<i32>) -> Answered<Option<Exited>> {
        let (run_id, workspace_id) = runs::wire_id(id);
        let request = pb::KillRequest { run_id, workspace_id, signal: signal.unwrap_or_default() };
        Ok(self.runs().kill(request).await?.into_inner().exited.map(runs::wire_exited))
    }

    async fn server_logs(&self, name: &str) -> Answered<Vec<String>> {
        let mut client = ServerServiceClient::new(self.channel.clone());
        let logs = client.get_server_log(pb::GetServerLogRequest { name: name.to_owned() }).await?;
        Ok(logs.into_inner().logs.into_iter().map(|it| it.name).collect())
    }

    async fn end_servers(&self, root: PathBuf) -> Answered<()> {
        let root = root.into_os_string().into_string().unwrap();
        let mut client = ServerServiceClient::new(self.channel.clone());
        client.end_servers(pb::EndServersRequest { root }).await?;
        Ok(())
    }

    async fn list_plugins(&self, of: Option<&TargetId>) -> Answered<Plugins> {
        let request = pb::ListPluginsRequest { target: of.map(target) };
        let listed = self.rules().list_plugins(request).await?.into_inner();
        Ok(Plugins {
            usable: listed.plugins.into_iter().map(|it| it.linter.unwrap().name).collect(),
            unusable: listed.unusable.into_iter().map(|it| (it.name, it.reason)).collect(),
        })
    }

    async fn list_rules(
        &self,
        of: Option<&TargetId>,
        linter: &str,
        page: &PageRequest,
    ) -> Answered<Paged<Rule>> {
        let PageRequest { size: page_size, token: page_token } = page.clone();
        let (linter, target) = (linter.to_owned(), of.map(target));
        let request = pb::ListRulesRequest { linter, page_size, page_token, target };
        let listed = self.rules().list_rules(request).await?.into_inner();
        let rule = |it: pb::Rule| Rule { linter: it.linter, code: it.code, default: it.default_on };
        Ok(Paged { items: listed.rules.into_iter().map(rule).collect(), next_token: listed.next_page_token })
    }

    async fn work(&self) -> Answered<Work> {
        let status = self.daemon().get_status(pb::GetStatusRequest {}).await?.into_inner();
        let scheduler = status.scheduler.unwrap();
        let running = scheduler.classes.iter().map(|it| it.running as usize).sum();
        Ok(Work { running, cancelled: scheduler.cancelled })
    }
}

fn within<T>(deadline: Option<Duration>, message: T) -> Request<T> {
    let mut request = Request::new(message);
    if let Some(deadline) = deadline {
        request.set_timeout(deadline);
    }
    request
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        from_wire::refusal(&status)
    }
}
