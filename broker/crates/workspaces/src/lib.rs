//! The daemon without its fronts: open workspaces, their branches, and one engine that checks them all.
//!
//! [`Workspaces`] is the one API under all fronts. [`Daemon`] implements it in this process: an operation takes a request as its
//! client sent it, in plain types, and checks every field, so that no front can forget a limit, that a request may come twice,
//! that an edit supersedes older work, or that what is written is written to its end. The crate `client` implements it over a
//! connection. A front translates, and calls what is here.
//!
//! Speaks no protocol. Everything that must survive the process is in each workspace's state folder, never in the
//! workspace.

mod api;
mod ask;
mod baselines;
mod branch;
mod branch_info;
mod branches;
mod check;
mod checked;
mod checks;
mod clean_commit;
mod clients;
mod commit;
mod diff;
mod editors;
mod edits;
mod error;
mod events;
mod fields;
mod file_change;
mod files;
mod fix;
mod life;
mod linters;
mod local;
mod measured;
mod memory;
mod merge_preview;
mod merged;
mod once;
mod opening;
mod options;
mod prepared;
mod query;
mod query_answer;
mod question;
pub mod random;
mod request_error;
mod rules;
mod run_output;
mod running;
#[cfg(target_os = "linux")]
mod runs;
mod servers;
mod setup;
mod states;
mod target;
mod task;
#[cfg(test)]
mod tests;
mod tournament;
mod view;
mod watch;
mod watchers;
mod watching;
mod workspace;
mod workspace_events;
mod workspace_watch;
mod worktree;

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Duration,
};

use ::linters::{
    Provider,
    native::external,
    plugins::{PluginProvider, Plugins},
    servers::Servers,
};
use check_engine::{Engine, pipeline::PolicyCache};
use dashmap::DashMap;
use overlay::{Branch, Revision};

use self::{
    branch::{BranchCell, Published},
    once::Repeatable,
    opening::Openings,
    running::RunningChecks,
    target::Target,
    view::OpenView,
    workspace::OpenWorkspace,
};

pub use self::{
    api::{Events, Workspaces},
    baselines::{BaselineRequest, ListedFiles, UpdatedBaseline},
    branch::MAX_BRANCH,
    branch_info::{BranchInfo, TRIAL_LABEL},
    branches::{BranchRequest, BranchState, ForkRequest, RevisionEntry, Undo, UndoRequest, Undone},
    check::{CheckEvents, CheckRequest},
    clients::{ClientLease, Clients},
    commit::{CommitRequest, Committed, RebaseRequest, Rebased, ResolvedConflict},
    diff::{Diff, DiffRequest, DiffSide},
    edits::{EditRequest, Expected, FileEdit},
    error::{DaemonError, ErrorKind, Facts, OPEN_FOR_WRITING, Obstacle},
    events::{CheckSummary, Event, FileFindings, Started, WatchEvent},
    fields::{PageRequest, Paged},
    file_change::FileChange,
    files::{Buffer, BufferRequest, BufferSet, DirectoryPage, FileContent, Side},
    fix::{FixRequest, FixedFile, FixedFiles, UnfixedFinding},
    life::{CacheStatus, ClassStatus, DaemonStatus, SchedulerStatus, ServersStatus},
    memory::resident_bytes,
    merge_preview::{
        DefinitionChange, DefinitionConflict, EditPlace, Landing, MergePreview, MergePreviewRequest,
        MergedFinding, PairPreview,
    },
    merged::{DiscardMergedRequest, JudgedBranch},
    options::{CheckOptions, FileText},
    query::{MethodReply, MethodRequest, QueryReply},
    query_answer::{QueryAnswer, QueryEdit, QueryItem, QueryLocation},
    question::{QueryKind, QueryRequest},
    request_error::RequestError,
    rules::{LinterRule, PluginInfo, PluginList, UnusablePlugin},
    run_output::RunOutput,
    servers::{ServerEnding, ServerInfo, ServerList, ServerPhase},
    setup::{BATCH, Ephemeral, Settings},
    states::{HeldState, KeptState, StaysError, journal_of, kept_states, note_root, state_of},
    target::TargetId,
    task::run_uncancellable,
    tournament::{
        Candidate, CandidateChange, CandidateResult, ChangedFiles, ChangedFinding, Criterion, Discard,
        FindingChanges, Ranked, TestCommand, TestEnd, TestResult, Tournament, TournamentBase,
        TournamentRequest,
    },
    view::{CheckedView, FixedView, LocalView, StaleBaseline, ViewChanges, ViewFiles},
    watch::WatchEvents,
    workspace::{OpenedWorkspace, WorkspaceInfo, id_of},
    workspace_events::{BranchChange, BranchChangeKind, BufferShown, EditorText, WorkspaceEvent},
    workspace_watch::{WorkspaceEvents, WorkspaceWatchRequest},
    worktree::{NOT_KEPT_ELSEWHERE, is_repository_elsewhere},
};

#[cfg(target_os = "linux")]
pub use self::{
    api::Run,
    runs::{
        DEFAULT_PROCESSES, DEFAULT_SPACE, HarvestRefused, LogEvent, LogEvents, OutputStream, PermissionKind,
        RunEvent, RunEvents, RunId, RunInfo, RunInput, RunLimits, RunRequest, RunResult, RunStarted,
        SandboxRequest, TerminalSize, WantedPermission, Written, how_to_isolate, memory_of_agents,
        run_settings,
    },
};

/// Parts that a daemon is made of.
pub struct Parts {
    pub plugins: Arc<Plugins>,
    pub servers: Servers,
    /// Further kinds of linters.
    pub others: Vec<Arc<dyn Provider>>,
    pub engine: Engine,
    /// Folder in which branches are kept; without one, no workspace can be opened.
    pub state_dir: Option<PathBuf>,
    /// Number of files that a linter gets at once.
    pub batch: usize,
    /// Ends after so long without a client; `None` never does.
    pub idle_exit: Option<Duration>,
    /// Memory limit for judgements (answers after suppressions and severities), in bytes.
    pub policy_memory: u64,
    /// Launcher of shadow folders.
    #[cfg(target_os = "linux")]
    pub launcher: shadow::Launcher,
}

pub struct Daemon {
    /// Every kind of linters.
    providers: Vec<Arc<dyn Provider>>,
    /// Provider, one of `providers`, whose plugins are listed.
    plugins: Arc<PluginProvider>,
    /// Provider, one of `providers`, that answers queries as well.
    servers: Servers,
    engine: Engine,
    /// `None`: no workspace can be opened.
    state_dir: Option<PathBuf>,
    batch: usize,
    workspaces: DashMap<Arc<str>, Arc<OpenWorkspace>>,
    opening: Openings,
    /// View of this process that is checked.
    local: parking_lot::Mutex<Option<Arc<OpenView>>>,
    policy_cache: PolicyCache,
    started_ms: u64,
    idle_exit: Option<Duration>,
    /// TCP address that a front listens on, once it does.
    tcp: OnceLock<SocketAddr>,
    clients: Clients,
    running: RunningChecks,
    #[cfg(target_os = "linux")]
    launcher: shadow::Launcher,
    #[cfg(target_os = "linux")]
    runs: runs::Runs,
    /// Asks the process to end.
    stopping: tokio::sync::watch::Sender<bool>,
}

impl Daemon {
    pub fn new(parts: Parts) -> Arc<Self> {
        let plugins = Arc::new(PluginProvider::new(parts.plugins));
        let mut providers: Vec<Arc<dyn Provider>> = vec![Arc::clone(&plugins) as _];
        providers.extend(external(&parts.servers));
        providers.extend(parts.others);
        Arc::new(Self {
            providers,
            plugins,
            servers: parts.servers,
            engine: parts.engine,
            state_dir: parts.state_dir,
            batch: parts.batch,
            workspaces: DashMap::new(),
            opening: Openings::default(),
            local: parking_lot::Mutex::default(),
            policy_cache: PolicyCache::within(parts.policy_memory),
            idle_exit: parts.idle_exit,
            tcp: OnceLock::new(),
            started_ms: workspace::now_ms(),
            clients: Clients::default(),
            running: RunningChecks::default(),
            #[cfg(target_os = "linux")]
            launcher: parts.launcher,
            #[cfg(target_os = "linux")]
            runs: runs::Runs::default(),
            stopping: tokio::sync::watch::channel(false).0,
        })
    }

    fn workspace(&self, id: &str) -> Result<Arc<OpenWorkspace>, DaemonError> {
        self.workspaces.get(id).map(|it| Arc::clone(&it)).ok_or_else(|| DaemonError::no_workspace(id))
    }

    /// A branch by its handle, which names its workspace, too.
    fn branch(&self, id: &str) -> Result<(Arc<OpenWorkspace>, Arc<BranchCell>), DaemonError> {
        if id.is_empty() {
            return Err(DaemonError::invalid("branch_id", "it is empty"));
        }
        let workspace = id.split_once('.').map(|(workspace, _)| workspace);
        let workspace = workspace.and_then(|it| self.workspaces.get(it).map(|it| Arc::clone(&it)));
        let workspace = workspace.ok_or_else(|| DaemonError::no_branch(id))?;
        let branch = workspace.branch(id)?;
        Ok((workspace, branch))
    }

    /// Resolves the target of a request.
    fn target(&self, id: &TargetId) -> Result<Target, DaemonError> {
        match id {
            TargetId::Workspace(id) => self.workspace(id).map(Target::Base),
            TargetId::Branch(id) => {
                self.branch(id).map(|(workspace, branch)| Target::Branch(workspace, branch))
            }
        }
    }

    /// Changes a branch, also if the client leaves meanwhile. Supersedes work for its older revisions that may be given up.
    async fn edit<T: Send + 'static>(
        self: &Arc<Self>,
        cell: Arc<BranchCell>,
        if_revision: Option<Revision>,
        edit: impl FnOnce(&mut Branch) -> Result<T, DaemonError> + Send + 'static,
    ) -> Result<(T, Revision), DaemonError> {
        let daemon = Arc::clone(self);
        task::run_uncancellable(async move {
            let (answer, revision) = cell.edit(if_revision, edit).await?;
            daemon.engine.supersede(cell.key, revision.0);
            Ok((answer, revision))
        })
        .await
    }
}
