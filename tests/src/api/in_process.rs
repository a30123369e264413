//! The operations of `workspaces` themselves, on a daemon in the test's own process.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, LazyLock, Mutex},
};

use checker::{RuleRef, Subject, pipeline};
use linters::{
    plugins::{Loader, Plugins as Loaded},
    servers::Servers,
};
use overlay::{ContentHash, FileKind, Revision};
use plugin_host::Compiler;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio_stream::{StreamExt as _, wrappers::ReceiverStream};
use tonic::async_trait;
use workspaces::{
    BranchChangeKind, BranchInfo, BranchRequest, BranchState, BufferRequest, CheckRequest, CommitRequest,
    Daemon, DiffRequest, EditRequest, FileContent, FixRequest, FixedFile, ForkRequest, MethodRequest,
    PageRequest, Paged, QueryRequest, RebaseRequest, RunId, RunRequest, Settings, Side, TargetId,
    UndoRequest, Undone, WatchEvent, WorkspaceEvent, WorkspaceInfo, WorkspaceWatchRequest,
};

use super::{
    Answered, Api, BranchChange, Change, Changed, Committed, Diff, Event, Events, Exited, Finding, Fixed,
    Incomplete, LogPart, Plugins, Rebased, Refusal, Round, Rule, Run, Running, SetBuffer, Summary, Work,
    runs,
};

/// A daemon without a front. Its threads end when this goes.
pub struct InProcess {
    daemon: Arc<Daemon>,
    _state: TempDir,
}

/// As many as the program has on a machine with two processors.
const WORKERS: usize = 2;

/// Guests of all daemons of a process, which share their plugins.
const INSTANCES: usize = 32;

impl InProcess {
    /// A daemon with the plugins of the program and those in `named`.
    pub fn start(named: &[PathBuf]) -> Self {
        let state = tempfile::tempdir().unwrap();
        let settings = Settings {
            workers: WORKERS,
            memory: 64 << 20,
            answers: None,
            state_dir: state.path().to_owned(),
            idle_exit: None,
            build: "tests",
            launcher: shadow::Launcher::new(crate::broker()),
        };
        let daemon = Daemon::start(plugins(named), Servers::of_user(), settings).unwrap();
        Self { daemon, _state: state }
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        self.daemon.release();
    }
}

/// The plugins of the bundle and those in `named`, loaded once for all tests of a process.
fn plugins(named: &[PathBuf]) -> Arc<Loaded> {
    static LOADED: LazyLock<Mutex<HashMap<Vec<PathBuf>, Arc<Loaded>>>> = LazyLock::new(Mutex::default);
    let load = || {
        let loader = Loader {
            bundle: crate::bundle(),
            build: "tests",
            cache_dir: None,
            compiler: Compiler::Here,
            notify: Arc::new(|_| {}),
        };
        loader.load(named, INSTANCES).unwrap_or_else(|error| panic!("{}", error.message))
    };
    Arc::clone(LOADED.lock().unwrap().entry(named.to_owned()).or_insert_with(load))
}

#[async_trait]
impl Api for InProcess {
    async fn open_workspace(&self, root: PathBuf) -> Answered<(WorkspaceInfo, Vec<String>)> {
        let opened = self.daemon.open_workspace(root, None).await.map_err(Refusal::of)?;
        Ok((opened.info, opened.unreadable))
    }

    async fn list_workspaces(&self) -> Answered<Vec<WorkspaceInfo>> {
        Ok(self.daemon.list_workspaces())
    }

    async fn close_workspace(&self, workspace: &str) -> Answered<()> {
        self.daemon.close_workspace(workspace.to_owned()).await.map_err(Refusal::of)
    }

    async fn fork_branch(&self, request: ForkRequest) -> Answered<BranchInfo> {
        self.daemon.fork(request).await.map_err(Refusal::of)
    }

    async fn get_branch(&self, request: BranchRequest) -> Answered<BranchState> {
        self.daemon.get_branch(request).await.map_err(Refusal::of)
    }

    async fn list_branches(&self, workspace: &str, page: &PageRequest) -> Answered<Paged<BranchInfo>> {
        self.daemon.branches(workspace, page).map_err(Refusal::of)
    }

    async fn diff_branch(&self, request: DiffRequest) -> Answered<Diff> {
        let diff = self.daemon.diff(request).await.map_err(Refusal::of)?;
        Ok(Diff { changes: changes(diff.changes), patch: diff.patch.unwrap_or_default() })
    }

    async fn list_revisions(&self, branch: &str, page: &PageRequest) -> Answered<Paged<Revision>> {
        let Paged { items, next_token } = self.daemon.revisions(branch, page).await.map_err(Refusal::of)?;
        Ok(Paged { items: items.iter().map(|it| it.revision).collect(), next_token })
    }

    async fn undo_branch(&self, request: UndoRequest) -> Answered<Undone> {
        self.daemon.undo(request).await.map_err(Refusal::of)
    }

    async fn rebase_branch(&self, request: RebaseRequest) -> Answered<Rebased> {
        let rebased = self.daemon.rebase(request).await.map_err(Refusal::of)?;
        Ok(Rebased { revision: rebased.revision, merged: texts(&rebased.merged) })
    }

    async fn commit_branch(&self, request: CommitRequest) -> Answered<Committed> {
        let done = self.daemon.commit(request).await.map_err(Refusal::of)?;
        let changes = changes(done.changes);
        Ok(Committed {
            revision: done.revision,
            changes,
            unsaved: texts(&done.unsaved),
            left: texts(&done.left),
        })
    }

    async fn discard_branch(&self, branch: &str) -> Answered<()> {
        self.daemon.discard(branch).await.map_err(Refusal::of)
    }

    async fn read_file(&self, target: &TargetId, path: &str, side: Side) -> Answered<FileContent> {
        self.daemon.read_file(target, path, side).await.map_err(Refusal::of)
    }

    async fn list_directory(
        &self,
        target: &TargetId,
        path: &str,
        page: &PageRequest,
        side: Side,
    ) -> Answered<Paged<(String, FileKind)>> {
        let listed = self.daemon.list_directory(target, path, page, side).await.map_err(Refusal::of)?;
        let Paged { items, next_token } = listed.entries;
        Ok(Paged { items: items.into_iter().map(|(it, _)| (it.name, it.kind)).collect(), next_token })
    }

    async fn edit_files(&self, request: EditRequest) -> Answered<Revision> {
        self.daemon.edit_files(request).await.map_err(Refusal::of)
    }

    async fn set_buffer(&self, request: BufferRequest) -> Answered<SetBuffer> {
        let set = self.daemon.set_buffer(request).await.map_err(Refusal::of)?;
        Ok(SetBuffer { hash: set.hash, is_hidden: set.is_hidden })
    }

    async fn close_buffer(&self, workspace: &str, path: &str, editor: Option<&str>) -> Answered<bool> {
        let editor = editor.map(str::to_owned);
        self.daemon.close_buffer(workspace, path, editor).await.map_err(Refusal::of)
    }

    async fn watch_workspace(
        &self,
        workspace: &str,
        client_name: &str,
        takes_commits: bool,
    ) -> Answered<Events<Change>> {
        let (workspace, client_name) = (workspace.to_owned(), client_name.to_owned());
        let request = WorkspaceWatchRequest { workspace, client_name, takes_commits, deadline: None };
        let mut events = self.daemon.watch_workspace(request).map_err(Refusal::of)?;
        // None is taken before the test asks for it.
        let (sender, received) = mpsc::channel(1);
        tokio::spawn(async move {
            while let Ok(room) = sender.reserve().await
                && let Some(event) = tokio::select! {
                    event = events.recv() => event,
                    () = sender.closed() => None,
                }
            {
                room.send(event.map(changed).map_err(Refusal::of));
            }
        });
        Ok(Box::pin(ReceiverStream::new(received)))
    }

    async fn begin_check(&self, request: CheckRequest) -> Answered<Events<Event>> {
        let events = ReceiverStream::new(self.daemon.check(request).map_err(Refusal::of)?);
        Ok(Box::pin(events.map(|it| it.map(event).map_err(Refusal::of))))
    }

    async fn watch(&self, request: CheckRequest) -> Answered<Events<Round>> {
        let events = ReceiverStream::new(self.daemon.watch(request).map_err(Refusal::of)?);
        Ok(Box::pin(events.map(|it| it.map(round).map_err(Refusal::of))))
    }

    async fn fix_files(&self, request: FixRequest) -> Answered<Fixed> {
        let fixed = self.daemon.fix_files(request).await.map_err(Refusal::of)?;
        let note = |it: &pipeline::FixNote| match it {
            pipeline::FixNote::NotEdited { path, .. } => (path.to_string(), String::new(), it.to_string()),
            pipeline::FixNote::Harmful { path, rule, .. } => (path.to_string(), rule.clone(), it.to_string()),
            _ => (String::new(), String::new(), it.to_string()),
        };
        Ok(Fixed {
            revision: fixed.revision,
            count: fixed.count,
            paths: texts(&fixed.paths),
            patch: fixed.patch,
            files: fixed.files.iter().map(fixed_file).collect(),
            notes: fixed.notes.iter().map(note).collect(),
        })
    }

    async fn query(&self, request: QueryRequest) -> Answered<String> {
        Ok(self.daemon.query(request).await.map_err(Refusal::of)?.server)
    }

    async fn call_method(&self, request: MethodRequest) -> Answered<(String, String)> {
        let reply = self.daemon.call_method(request).await.map_err(Refusal::of)?;
        Ok((reply.server, reply.result))
    }

    async fn begin_run(&self, request: RunRequest) -> Answered<Running> {
        runs::begin(&self.daemon, request).await
    }

    async fn list_runs(&self, workspace: Option<&str>) -> Answered<Vec<Run>> {
        let all = self.daemon.runs(workspace).map_err(Refusal::of)?;
        Ok(all.into_iter().map(runs::listed).collect())
    }

    async fn read_log(&self, id: &RunId, offset: u64, follow: bool) -> Answered<Events<LogPart>> {
        let events = self.daemon.read_log(id, offset, follow).map_err(Refusal::of)?;
        Ok(Box::pin(ReceiverStream::new(events).map(|it| Ok(runs::log_part(it)))))
    }

    async fn kill(&self, id: &RunId, signal: Option<i32>) -> Answered<Option<Exited>> {
        let killed = self.daemon.kill(id, signal).await.map_err(Refusal::of)?;
        Ok(killed.map(|it| runs::exited(&it)))
    }

    async fn server_logs(&self, name: &str) -> Answered<Vec<String>> {
        let logs = self.daemon.server_logs(name).map_err(Refusal::of)?;
        Ok(logs.into_iter().map(|it| it.name).collect())
    }

    async fn end_servers(&self, root: PathBuf) -> Answered<()> {
        self.daemon.end_servers(root).await.map_err(Refusal::of)
    }

    async fn list_plugins(&self, target: Option<&TargetId>) -> Answered<Plugins> {
        let plugins = self.daemon.plugins(target).await.map_err(Refusal::of)?;
        let broken = plugins.broken.iter();
        let unusable = broken.map(|it| (it.linter.as_deref().unwrap_or_default().into(), it.reason.clone()));
        let usable = plugins.usable.iter().map(|it| it.manifest().name.clone()).collect();
        Ok(Plugins { usable, unusable: unusable.collect() })
    }

    async fn list_rules(
        &self,
        target: Option<&TargetId>,
        linter: &str,
        page: &PageRequest,
    ) -> Answered<Paged<Rule>> {
        let rules = self.daemon.rules(target, linter.to_owned(), page).await.map_err(Refusal::of)?;
        let rule = |it: workspaces::LinterRule| Rule {
            linter: it.linter,
            code: it.rule.code,
            default: it.rule.default,
        };
        Ok(Paged { items: rules.items.into_iter().map(rule).collect(), next_token: rules.next_token })
    }

    async fn work(&self) -> Answered<Work> {
        let stats = self.daemon.status().await.map_err(Refusal::of)?.scheduler;
        let running = [stats.interactive, stats.agent, stats.background].map(|it| it.running);
        Ok(Work { running: running.into_iter().sum(), cancelled: stats.cancelled + stats.withdrawn })
    }
}

fn changes(all: Vec<overlay::Change>) -> Vec<Changed> {
    all.into_iter().map(|it| (it.path.to_string(), it.kind)).collect()
}

fn texts(paths: &[overlay::WorkspacePath]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

fn round(event: WatchEvent) -> Round {
    match event {
        WatchEvent::Check(it) => Round::Check(self::event(it)),
        WatchEvent::Superseded(revision) => Round::Superseded(revision),
        WatchEvent::Refused(error) => {
            Round::Refused { reason: error.reason().to_owned(), message: error.to_string() }
        }
    }
}

fn event(event: workspaces::Event) -> Event {
    use workspaces::Event as It;
    match event {
        It::Started(it) => Event::Started { revision: it.revision, files: it.files },
        It::Files(files) => Event::Findings(files.iter().flat_map(findings).collect()),
        It::Incomplete(all) => Event::Incomplete(all.into_iter().map(incomplete).collect()),
        It::Excluded(_) => Event::Excluded,
        It::Summary(it) => Event::Summary(summary(&it)),
    }
}

fn findings(file: &workspaces::FileFindings) -> impl Iterator<Item = Finding> {
    file.findings.iter().map(|it| Finding {
        path: it.0.file.path.to_string(),
        line: it.0.range.start.line,
        code: it.0.rule.code.clone(),
        content: it.0.file.content,
        change: file.change,
        tags: tags(&it.0.rule),
    })
}

fn tags(it: &RuleRef) -> Vec<String> {
    let all = [
        (it.is_unnecessary, "Unnecessary"),
        (it.is_deprecated, "Deprecated"),
        (it.is_syntax_error, "SyntaxError"),
    ];
    all.into_iter().filter(|(is_so, _)| *is_so).map(|(_, tag)| tag.to_owned()).collect()
}

fn fixed_file(it: &FixedFile) -> (String, ContentHash, String) {
    let text = String::from_utf8(it.content.to_vec()).unwrap();
    (it.path.to_string(), it.checked, text)
}

fn changed(event: WorkspaceEvent) -> Change {
    match event {
        WorkspaceEvent::Started(editor) => Change::Started(editor.0.to_string()),
        WorkspaceEvent::BaseChanged => Change::Base,
        WorkspaceEvent::Branch(it) => Change::Branch(branch_change(&it)),
        WorkspaceEvent::Buffer(it) => {
            let (name, hash) =
                it.shown.map(|it| (it.client_name, it.content.to_string())).unwrap_or_default();
            Change::Buffer(it.path.to_string(), name, hash)
        }
    }
}

fn branch_change(it: &workspaces::BranchChange) -> BranchChange {
    let (kind, changed, unsaved, left) = match it.kind.clone() {
        BranchChangeKind::Forked => ("forked", Vec::new(), Vec::new(), Vec::new()),
        BranchChangeKind::Edited => ("edited", Vec::new(), Vec::new(), Vec::new()),
        BranchChangeKind::Committed { changes, unsaved, left } => ("committed", changes, unsaved, left),
        BranchChangeKind::Discarded => ("discarded", Vec::new(), Vec::new(), Vec::new()),
    };
    BranchChange {
        kind,
        branch: it.branch.id.to_string(),
        revision: it.branch.revision.0,
        changes: changes(changed),
        unsaved: texts(&unsaved),
        left: texts(&left),
    }
}

fn incomplete(it: checker::Incomplete) -> Incomplete {
    let path = match it.subject {
        Subject::Everything => String::new(),
        Subject::Argument(given) => given,
        Subject::Path(path) => path.to_string(),
    };
    Incomplete { path, reason: it.reason }
}

fn summary(it: &pipeline::Summary) -> Summary {
    Summary {
        revision: it.revision,
        content: it.content,
        level: it.level,
        files: it.files,
        findings: it.findings,
        fixed: it.fixed,
        cached: it.linters.iter().map(|it| (it.linter.name.clone(), it.cached)).collect(),
    }
}
