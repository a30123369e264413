//! Calls that are cut off once they have begun, as by a deadline, and then sent again.

use std::sync::Arc;

use broker_proto::{
    v1 as pb,
    v1::{
        branch_service_server::BranchService, file_edit::Edit, file_service_server::FileService,
        workspace_service_server::WorkspaceService,
    },
};
use check_engine::Engine;
use linters::{plugins::Plugins, servers::Servers};
use tempfile::TempDir;
use tonic::{Request, Response, Status};
use workspaces::{Daemon, Parts};

use super::GrpcServer;

struct Fixture {
    front: GrpcServer,
    workspace: TempDir,
    _state: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let (workspace, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let options =
            scheduler::Options { workers: 1, interactive_workers: 0, ..scheduler::Options::default() };
        let daemon = Daemon::new(Parts {
            plugins: Plugins::none().unwrap(),
            servers: Servers::of_user(),
            others: Vec::new(),
            engine: Engine::new(options, 1, None, "test").unwrap(),
            state_dir: Some(state.path().to_owned()),
            batch: workspaces::BATCH,
            idle_exit: None,
            policy_memory: 1 << 20,
            #[cfg(target_os = "linux")]
            launcher: shadow::Launcher::this_program(),
        });
        Self { front: GrpcServer(Arc::new(daemon)), workspace, _state: state }
    }

    fn open(&self) -> impl Future<Output = Result<Response<pb::OpenWorkspaceResponse>, Status>> {
        let root = self.workspace.path().to_str().unwrap().to_owned();
        self.front.open_workspace(Request::new(pb::OpenWorkspaceRequest { root, environment: None }))
    }

    /// The handle of a new branch that holds one empty file.
    async fn branch(&self) -> String {
        let workspace = self.open().await.unwrap().into_inner().workspace.unwrap().workspace_id;
        let parent = pb::Target { target: Some(pb::target::Target::WorkspaceId(workspace)) };
        let request = pb::ForkBranchRequest { parent: Some(parent), ..pb::ForkBranchRequest::default() };
        let forked = self.front.fork_branch(Request::new(request)).await.unwrap().into_inner();
        let id = forked.branch.unwrap().branch_id;
        let write = pb::WriteFile { path: "n.txt".to_owned(), ..pb::WriteFile::default() };
        self.edit(&id, "", Edit::Write(write)).await.unwrap();
        id
    }

    fn edit(
        &self,
        id: &str,
        request_id: &str,
        edit: Edit,
    ) -> impl Future<Output = Result<Response<pb::EditFilesResponse>, Status>> {
        let request = pb::EditFilesRequest {
            branch_id: id.to_owned(),
            edits: vec![pb::FileEdit { edit: Some(edit) }],
            request_id: request_id.to_owned(),
            ..pb::EditFilesRequest::default()
        };
        self.front.edit_files(Request::new(request))
    }

    async fn revision(&self, id: &str) -> u64 {
        let request = pb::GetBranchRequest { branch_id: id.to_owned(), ..pb::GetBranchRequest::default() };
        let got = self.front.get_branch(Request::new(request)).await.unwrap().into_inner();
        got.branch.unwrap().revision
    }
}

fn insertion() -> Edit {
    let span = Some(pb::Span { start: 0, end: 0 });
    let edits = vec![pb::TextEdit { span, replacement: "x".to_owned(), range: None }];
    Edit::Text(pb::EditText { path: "n.txt".to_owned(), edits, ..pb::EditText::default() })
}

/// Lets a call begin and drops it, as the server does with one whose client has gone.
async fn cut_off<T>(call: impl Future<Output = T>) {
    tokio::select! {
        biased;
        _ = call => panic!("it has to wait for the disk"),
        () = std::future::ready(()) => {}
    }
}

#[tokio::test]
async fn an_edit_that_was_cut_off_and_is_sent_again_is_done_once() {
    let it = Fixture::new();
    let id = it.branch().await;
    cut_off(it.edit(&id, "r", insertion())).await;
    let again = it.edit(&id, "r", insertion()).await.unwrap().into_inner();
    assert_eq!((again.revision, it.revision(&id).await), (2, 2));
    let other = it.edit(&id, "s", insertion()).await.unwrap().into_inner();
    assert_eq!(other.revision, 3);
}

#[tokio::test]
async fn a_workspace_whose_opening_was_cut_off_can_be_opened_at_once() {
    let it = Fixture::new();
    cut_off(it.open()).await;
    it.open().await.unwrap();
    assert_eq!(it.front.0.list_workspaces().await.unwrap().len(), 1);
}
