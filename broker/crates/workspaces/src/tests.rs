//! Operations as a front calls them.

use std::{
    task::{Context, Poll, Waker},
    time::Duration,
};

use check_engine::Engine;
use overlay::TextEdit;
use scheduler::Class;
use tempfile::TempDir;

use super::{
    BranchRequest, BufferRequest, CheckOptions, CheckRequest, CommitRequest, Daemon, DaemonError,
    EditRequest, Event, Expected, FileEdit, ForkRequest, PageRequest, Parts, TargetId, Undo, UndoRequest,
    WatchEvent, WorkspaceEvent, WorkspaceEvents, WorkspaceWatchRequest, setup::BATCH,
    workspace_events::MAX_WAITING,
};

struct Fixture {
    daemon: std::sync::Arc<Daemon>,
    workspace: TempDir,
    _state: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let (workspace, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        Self { daemon: Self::daemon(&state), workspace, _state: state }
    }

    fn daemon(state: &TempDir) -> std::sync::Arc<Daemon> {
        let options =
            scheduler::Options { workers: 1, interactive_workers: 0, ..scheduler::Options::default() };
        Daemon::new(Parts {
            plugins: linters::plugins::Plugins::none().unwrap(),
            servers: linters::servers::Servers::of_user(),
            others: Vec::new(),
            engine: Engine::new(options, 1, None, "test").unwrap(),
            state_dir: Some(state.path().to_owned()),
            batch: BATCH,
            idle_exit: Some(Duration::ZERO),
            policy_memory: 1 << 20,
            #[cfg(target_os = "linux")]
            launcher: shadow::Launcher::this_program(),
        })
    }

    async fn open(&self) -> TargetId {
        let opened = self.daemon.open_workspace(self.workspace.path().to_owned(), None).await.unwrap();
        TargetId::Workspace(opened.info.id.to_string())
    }

    fn fork(&self, parent: &TargetId, request_id: Option<&str>) -> ForkRequest {
        ForkRequest {
            parent: parent.clone(),
            name: String::new(),
            labels: [("a".to_owned(), "b".to_owned())].into(),
            request_id: request_id.map(str::to_owned),
        }
    }

    /// A new branch of the workspace that holds one empty file.
    async fn branch(&self) -> String {
        let base = self.open().await;
        let id = self.daemon.fork(self.fork(&base, None)).await.unwrap().id.to_string();
        self.daemon.edit_files(edit(&id, None, write("n.txt"))).await.unwrap();
        id
    }

    async fn revision(&self, branch: &str) -> u64 {
        let request = BranchRequest {
            workspace: None,
            branch: branch.to_owned(),
            with_tree_hash: false,
            with_conflicts: true,
        };
        self.daemon.get_branch(request).await.unwrap().info.revision.0
    }
}

fn edit(branch: &str, request_id: Option<&str>, edit: FileEdit) -> EditRequest {
    let request_id = request_id.map(str::to_owned);
    EditRequest { branch: branch.to_owned(), edits: vec![edit], if_revision: None, request_id }
}

fn write(path: &str) -> FileEdit {
    FileEdit::Write { path: path.to_owned(), content: Default::default(), expected: Expected::Anything }
}

fn insertion(text: &str) -> FileEdit {
    let edits = vec![TextEdit { start: 0, end: 0, replacement: text.to_owned() }];
    FileEdit::Text { path: "n.txt".to_owned(), edits, if_content_hash: None }
}

fn commit(branch: &str, request_id: Option<&str>) -> CommitRequest {
    CommitRequest {
        branch: branch.to_owned(),
        if_revision: None,
        force_paths: Vec::new(),
        rebase: false,
        if_clean: false,
        wait: None,
        dry_run: false,
        request_id: request_id.map(str::to_owned),
    }
}

fn check(branch: &str) -> CheckRequest {
    CheckRequest {
        target: TargetId::Branch(branch.to_owned()),
        paths: Vec::new(),
        only_paths: Vec::new(),
        revision: None,
        class: Class::Agent,
        dependents: false,
        new_only: false,
        select: Vec::new(),
        ignore: Vec::new(),
        kinds: Vec::new(),
        supersede: false,
        deadline: None,
        options: CheckOptions::default(),
    }
}

/// Lets a call begin and drops it, as a front does with one whose client has gone.
async fn cut_off<T>(call: impl Future<Output = T>) {
    tokio::select! {
        biased;
        _ = call => panic!("it has to wait for the disk"),
        () = std::future::ready(()) => {}
    }
}

#[tokio::test]
async fn a_request_that_is_sent_again_is_done_once() {
    let it = Fixture::new();
    let id = it.branch().await;
    cut_off(it.daemon.edit_files(edit(&id, Some("r"), insertion("x")))).await;
    let again = it.daemon.edit_files(edit(&id, Some("r"), insertion("x"))).await.unwrap();
    assert_eq!((again.0, it.revision(&id).await), (2, 2));
    let other = it.daemon.edit_files(edit(&id, Some("r"), insertion("y"))).await.unwrap_err();
    assert!(matches!(other, DaemonError::RequestReused { .. }), "{other}");
    let base = it.open().await;
    let first = it.daemon.fork(it.fork(&base, Some("f"))).await.unwrap();
    assert_eq!(it.daemon.fork(it.fork(&base, Some("f"))).await.unwrap().id, first.id);
    let committed = it.daemon.commit(commit(&id, Some("c"))).await.unwrap();
    let again = it.daemon.commit(commit(&id, Some("c"))).await.unwrap();
    assert_eq!((again.revision, again.changes.len()), (committed.revision, committed.changes.len()));
}

#[tokio::test]
async fn what_was_cut_off_is_carried_through() {
    let it = Fixture::new();
    let id = it.branch().await;
    let (_, cell) = it.daemon.branch(&id).unwrap();
    let mut changes = cell.subscribe();
    let undo = UndoRequest { branch: id.clone(), undo: Undo::Step, if_revision: None };
    cut_off(it.daemon.undo(undo)).await;
    changes.wait_for(|it| it.snapshot.revision().0 == 2).await.unwrap();

    it.daemon.edit_files(edit(&id, None, write("new.txt"))).await.unwrap();
    cut_off(it.daemon.commit(commit(&id, None))).await;
    changes.wait_for(|it| it.snapshot.revision().0 == 4).await.unwrap();
    assert!(it.workspace.path().join("new.txt").exists());

    cut_off(it.daemon.discard(&id)).await;
    changes.wait_for(|it| it.gone).await.unwrap();
}

#[tokio::test]
async fn every_field_is_checked_here() {
    let it = Fixture::new();
    let id = it.branch().await;
    let reason = |error: DaemonError| (error.reason(), error.facts().first().map(|it| it.1.clone()));
    let field = |name: &str| Some(name.to_owned());
    let wrong = it.daemon.edit_files(edit(&id, None, write("../x"))).await.unwrap_err();
    assert_eq!(reason(wrong), ("INVALID_FIELD", field("edits.write.path")));
    let rename = FileEdit::Rename { from: "n.txt".to_owned(), to: "/x".to_owned() };
    let wrong = it.daemon.edit_files(edit(&id, None, rename)).await.unwrap_err();
    assert_eq!(reason(wrong), ("INVALID_FIELD", field("edits.rename.to_path")));
    let hash = FileEdit::Text { path: "n.txt".to_owned(), edits: Vec::new(), if_content_hash: field("0") };
    let wrong = it.daemon.edit_files(edit(&id, None, hash)).await.unwrap_err();
    assert_eq!(reason(wrong), ("INVALID_FIELD", field("edits.text.if_content_hash")));
    let force = CommitRequest { force_paths: vec!["/x".to_owned()], ..commit(&id, None) };
    assert_eq!(reason(it.daemon.commit(force).await.unwrap_err()), ("INVALID_FIELD", field("force_paths")));
    assert_eq!(reason(it.daemon.discard("").await.unwrap_err()), ("INVALID_FIELD", field("branch_id")));
    let page = PageRequest { size: 0, token: "x".to_owned() };
    let wrong = it.daemon.revisions(&id, &page).await.unwrap_err();
    assert_eq!(reason(wrong), ("INVALID_FIELD", field("page_token")));
    let many = CheckRequest { select: vec!["x".repeat(201)], ..check(&id) };
    assert_eq!(reason(it.daemon.check(many).unwrap_err()), ("LIMIT_EXCEEDED", field("bytes of a selector")));
    let long = edit(&id, Some(&"r".repeat(1025)), write("n.txt"));
    let wrong = it.daemon.edit_files(long).await.unwrap_err();
    assert_eq!(reason(wrong), ("LIMIT_EXCEEDED", field("bytes of a request_id")));
    let opened = it.daemon.open_workspace("/a\0b".into(), None).await;
    assert_eq!(reason(opened.err().unwrap()), ("INVALID_FIELD", field("root")));
    let environment = [("A=B".to_owned(), String::new())].into();
    let opened = it.daemon.open_workspace(it.workspace.path().to_owned(), Some(environment)).await;
    assert_eq!(reason(opened.err().unwrap()), ("INVALID_FIELD", field("environment")));
}

#[tokio::test]
async fn a_watch_is_round_after_round() {
    let it = Fixture::new();
    let id = it.branch().await;
    let older = CheckRequest { revision: Some(Default::default()), ..check(&id) };
    assert_eq!(it.daemon.watch(older).unwrap_err().reason(), "INVALID_FIELD");
    let mut events = it.daemon.watch(check(&id)).unwrap();
    let mut rounds = Vec::new();
    while rounds.last() != Some(&2) {
        if let WatchEvent::Check(Event::Summary(summary)) = events.recv().await.unwrap().unwrap() {
            rounds.push(summary.revision.0);
            if rounds == [1] {
                it.daemon.edit_files(edit(&id, None, insertion("x"))).await.unwrap();
            }
        }
    }
    it.daemon.discard(&id).await.unwrap();
    let end = loop {
        if let Err(error) = events.recv().await.unwrap() {
            break error;
        }
    };
    assert_eq!(end.reason(), "NOT_FOUND");
    assert!(events.recv().await.is_none(), "nothing comes after an error");
}

#[tokio::test]
async fn a_watch_ends_at_its_deadline() {
    let it = Fixture::new();
    let id = it.branch().await;
    let request = CheckRequest { deadline: Some(Duration::from_millis(1)), ..check(&id) };
    let mut events = it.daemon.watch(request).unwrap();
    let end = loop {
        if let Err(error) = events.recv().await.unwrap() {
            break error;
        }
    };
    assert_eq!(end.reason(), "DEADLINE_EXCEEDED");
}

/// The next event, if one waits.
fn waits(events: &mut WorkspaceEvents) -> Option<Result<WorkspaceEvent, DaemonError>> {
    let next = std::pin::pin!(events.recv());
    match next.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(event) => event,
        Poll::Pending => None,
    }
}

#[tokio::test]
async fn a_client_that_does_not_take_events_is_told_so() {
    let it = Fixture::new();
    let TargetId::Workspace(workspace) = it.open().await else { panic!("it is a workspace") };
    let watch = |name: &str| {
        let (workspace, client_name) = (workspace.clone(), name.to_owned());
        it.daemon
            .watch_workspace(WorkspaceWatchRequest {
                workspace,
                client_name,
                takes_commits: false,
                deadline: None,
            })
            .unwrap()
    };
    let (mut slow, mut quick) = (watch("slow"), watch("quick"));
    let Some(Ok(WorkspaceEvent::Started(editor))) = slow.recv().await else { panic!("it begins") };
    let text = |path: &str, content: String| BufferRequest {
        workspace: workspace.clone(),
        editor: None,
        path: path.to_owned(),
        content: content.into(),
        is_opened: false,
    };
    let own = BufferRequest { editor: Some(editor.0.to_string()), ..text("own", String::new()) };
    it.daemon.set_buffer(own.clone()).await.unwrap();
    for number in 0..3000 {
        it.daemon.set_buffer(text("a", number.to_string())).await.unwrap();
    }
    let mut waiting = 0;
    while let Some(Ok(event)) = waits(&mut slow) {
        waiting += usize::from(matches!(event, WorkspaceEvent::Buffer(_)));
    }
    assert_eq!(waiting, 1, "the newest text of a file is enough");
    for number in 0..=MAX_WAITING {
        it.daemon.set_buffer(text(&number.to_string(), String::new())).await.unwrap();
        while waits(&mut quick).is_some() {}
    }
    let end = loop {
        if let Err(error) = slow.recv().await.unwrap() {
            break error;
        }
    };
    assert_eq!(end.reason(), "CLIENT_TOO_SLOW");
    assert!(slow.recv().await.is_none());
    while !matches!(it.daemon.set_buffer(own.clone()).await, Err(DaemonError::EditorGone(_))) {}
    assert!(it.daemon.list_buffers(&workspace).unwrap().iter().all(|it| it.path.as_str() != "own"));
    it.daemon.shut_down();
    let end = loop {
        if let Err(error) = quick.recv().await.unwrap() {
            break error;
        }
    };
    assert_eq!(end.reason(), "SHUTTING_DOWN");
}

#[tokio::test]
async fn without_clients_the_daemon_ends() {
    let it = Fixture::new();
    let client = it.daemon.clients().lease();
    let daemon = std::sync::Arc::clone(&it.daemon);
    let end = tokio::spawn(async move { daemon.wait_for_end().await });
    it.open().await;
    assert!(!end.is_finished());
    drop(client);
    end.await.unwrap();
    it.daemon.stopped().await;
}

#[tokio::test]
async fn what_a_killed_daemon_only_tried_is_gone() {
    let Fixture { daemon, workspace, _state: state } = Fixture::new();
    let first = Fixture { daemon, workspace, _state: state };
    let base = first.open().await;
    let mut trial = first.fork(&base, None);
    trial.labels.insert(crate::TRIAL_LABEL.to_owned(), String::new());
    first.daemon.fork(trial).await.unwrap();
    let kept = first.daemon.fork(first.fork(&base, None)).await.unwrap();
    let Fixture { daemon, workspace, _state: state } = first;
    drop(daemon);
    let second = Fixture { daemon: Fixture::daemon(&state), workspace, _state: state };
    let TargetId::Workspace(id) = second.open().await else { unreachable!("it is a workspace") };
    let branches = second.daemon.branches(&id, &PageRequest::default()).unwrap().items;
    assert_eq!(branches.iter().map(|it| &it.id).collect::<Vec<_>>(), [&kept.id]);
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the user replaces the folder")]
async fn a_replaced_folder_is_opened_once_what_ran_in_the_old_one_has_ended() {
    let it = Fixture::new();
    let TargetId::Workspace(id) = it.open().await else { panic!("no workspace") };
    let running = std::sync::Arc::clone(&it.daemon.workspaces.get(&*id).unwrap());
    std::fs::rename(it.workspace.path(), it.workspace.path().with_extension("old")).unwrap();
    std::fs::create_dir(it.workspace.path()).unwrap();
    let ends = async {
        while it.daemon.workspaces.contains_key(&*id) {
            tokio::task::yield_now().await;
        }
        drop(running);
    };
    let (opened, ()) = tokio::join!(it.daemon.open_workspace(it.workspace.path().to_owned(), None), ends);
    assert_eq!(*opened.unwrap().info.id, *id);
    std::fs::remove_dir_all(it.workspace.path().with_extension("old")).unwrap();
}

#[tokio::test]
async fn a_request_that_a_discard_overtook_names_the_branch() {
    let it = Fixture::new();
    let base = it.open().await;
    let named = ForkRequest { name: "mine".to_owned(), ..it.fork(&base, None) };
    let id = it.daemon.fork(named).await.unwrap().id.to_string();
    it.daemon.discard(&id).await.unwrap();
    let error = it.daemon.edit_files(edit(&id, None, write("n.txt"))).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no branch `mine`");
}
