//! The daemon without its fronts: open workspaces, their branches, and one engine that checks them all.
//!
//! Speaks no protocol: a front translates, and calls what is here. Everything that must survive the process
//! is in each workspace's state folder, never in the workspace.

mod branch;
mod checks;
mod commit;
mod error;
mod judge;
mod linters;
mod once;
mod opening;
mod parent;
mod query;
pub mod random;
mod round;
mod similar;
mod watching;
mod workspace;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use ::linters::{plugins::Plugins, servers::Servers};
use checker::Engine;
use dashmap::DashMap;
use lint::Cancel;
use overlay::{Branch, Revision, Snapshot, View};
use scheduler::BranchKey;

use self::opening::Openings;

pub use self::{
    branch::{BranchCell, Shown},
    checks::{Ask, Change, Event, FileFindings, LinterSummary, Summary},
    commit::Committed,
    error::DaemonError,
    once::Repeatable,
    query::{Query, Replied, edits},
    watching::Watching,
    workspace::{Served, id_of, journal_of, prune_kept, state_of},
};

/// Each has a thread that watches, files that are open and caches of its own.
const MAX_WORKSPACES: usize = 500;

/// What a daemon is made of.
pub struct Parts {
    pub plugins: Arc<Plugins>,
    pub servers: Servers,
    pub engine: Engine,
    /// Where branches are kept.
    pub state_dir: PathBuf,
    /// Ends after so long without a client; `None` never does.
    pub idle_exit: Option<Duration>,
    /// Bytes of memory for what was made of answers.
    pub judgements: u64,
}

pub struct Daemon {
    pub plugins: Arc<Plugins>,
    pub servers: Servers,
    pub engine: Engine,
    state_dir: PathBuf,
    workspaces: DashMap<Arc<str>, Arc<Served>>,
    opening: Openings,
    linters: linters::Configured,
    judgements: judge::Judgements,
    pub started_ms: u64,
    pub idle_exit: Option<Duration>,
    /// Where a front listens for TCP, once it does.
    pub tcp: OnceLock<SocketAddr>,
    /// Asks the process to end.
    pub stop: Cancel,
    pub stopping: tokio::sync::watch::Sender<bool>,
}

/// What a request is about.
#[derive(Clone)]
pub enum Target {
    Base(Arc<Served>),
    Branch(Arc<Served>, Arc<BranchCell>),
}

impl Daemon {
    pub fn new(parts: Parts) -> Arc<Self> {
        Arc::new(Self {
            plugins: parts.plugins,
            servers: parts.servers,
            engine: parts.engine,
            state_dir: parts.state_dir,
            workspaces: DashMap::new(),
            opening: Openings::default(),
            linters: linters::Configured::default(),
            judgements: judge::Judgements::within(parts.judgements),
            idle_exit: parts.idle_exit,
            tcp: OnceLock::new(),
            started_ms: workspace::now_ms(),
            stop: Cancel::default(),
            stopping: tokio::sync::watch::channel(false).0,
        })
    }

    /// Serves the folder `root`, or finds that it is served already.
    pub async fn open(&self, root: &Path) -> Result<Arc<Served>, DaemonError> {
        if !root.is_absolute() {
            return Err(DaemonError::invalid("root", "the path of a workspace must be absolute"));
        }
        let unusable =
            |source| DaemonError::Io { message: format!("cannot open {}", root.display()), source };
        let root = std::fs::canonicalize(root).map_err(unusable)?;
        let id = workspace::id_of(&root);
        let _turn = self.opening.turn(&id).await;
        let known = self.workspaces.get(&id).map(|it| Arc::clone(&it));
        match known {
            Some(served) if served.is_there() => return Ok(served),
            // Another folder stands there now; the branches are those of the path.
            Some(served) => {
                self.workspaces.remove(&id);
                served.leave();
                drop(served);
            }
            None => {}
        }
        if self.workspaces.len() >= MAX_WORKSPACES {
            let (limit, actual) = (MAX_WORKSPACES as u64, self.workspaces.len() as u64 + 1);
            return Err(DaemonError::TooMuch { what: "open workspaces", limit, actual });
        }
        let state = workspace::state_of(&self.state_dir, &id);
        let open = move || Served::open(id, &root, &state);
        let served = tokio::task::spawn_blocking(open)
            .await
            .map_err(|error| DaemonError::Bug(format!("opening a workspace broke off: {error}")))??;
        self.workspaces.insert(Arc::clone(&served.id), Arc::clone(&served));
        Ok(served)
    }

    /// Stops serving a workspace; its branches are kept on the disk.
    pub async fn close(&self, id: &str) -> Result<(), DaemonError> {
        let _turn = self.opening.turn(id).await;
        let (_, served) = self.workspaces.remove(id).ok_or_else(|| DaemonError::no_workspace(id))?;
        served.leave();
        Ok(())
    }

    pub fn workspace(&self, id: &str) -> Result<Arc<Served>, DaemonError> {
        self.workspaces.get(id).map(|it| Arc::clone(&it)).ok_or_else(|| DaemonError::no_workspace(id))
    }

    /// The open workspaces, by root.
    pub fn workspaces(&self) -> Vec<Arc<Served>> {
        let mut all: Vec<_> = self.workspaces.iter().map(|it| Arc::clone(&it)).collect();
        all.sort_by(|a, b| a.root().cmp(b.root()));
        all
    }

    /// A branch by its handle, which names its workspace, too.
    pub fn branch(&self, id: &str) -> Result<(Arc<Served>, Arc<BranchCell>), DaemonError> {
        let workspace = id.split_once('.').map(|(workspace, _)| workspace);
        let served = workspace.and_then(|it| self.workspaces.get(it).map(|it| Arc::clone(&it)));
        let served = served.ok_or_else(|| DaemonError::no_branch(id))?;
        let branch = served.branch(id)?;
        Ok((served, branch))
    }

    /// Changes a branch; what runs for its older revisions and may be given up is given up.
    pub async fn edit<T: Send + 'static>(
        &self,
        cell: &Arc<BranchCell>,
        if_revision: Option<Revision>,
        edit: impl FnOnce(&mut Branch) -> Result<T, DaemonError> + Send + 'static,
    ) -> Result<(T, Revision), DaemonError> {
        let (answer, revision) = cell.edit(if_revision, edit).await?;
        self.changed(cell, revision);
        Ok((answer, revision))
    }

    /// Asks the process to end.
    pub fn shut_down(&self) {
        self.stop.cancel();
        self.stopping.send_replace(true);
    }
}

impl Target {
    pub fn served(&self) -> &Arc<Served> {
        match self {
            Self::Base(served) | Self::Branch(served, _) => served,
        }
    }

    /// Fails if there is nothing more to ask about.
    fn expect_here(&self) -> Result<(), DaemonError> {
        self.served().expect_there()?;
        match self {
            Self::Base(_) => Ok(()),
            Self::Branch(_, cell) => cell.expect_here(),
        }
    }

    /// What the scheduler calls it.
    fn key(&self) -> BranchKey {
        match self {
            Self::Base(served) => served.key,
            Self::Branch(_, cell) => cell.key,
        }
    }

    /// The branch's revision; 0 for the base.
    pub fn revision(&self) -> Revision {
        match self {
            Self::Base(_) => Revision::default(),
            Self::Branch(_, cell) => cell.revision(),
        }
    }

    /// Tells of changes from now on.
    pub fn changes(&self) -> Watching {
        Watching::new(self)
    }

    /// What is seen of the target, at an older revision if asked.
    pub async fn sight(&self, revision: Option<Revision>) -> Result<Sight, DaemonError> {
        self.expect_here()?;
        match (self, revision) {
            (Self::Base(served), None) => Ok(Sight::of_base(served)),
            (Self::Base(_), Some(_)) => Err(DaemonError::invalid("revision", "the base has no revisions")),
            (Self::Branch(_, cell), None) => Ok(Sight::of_branch(cell.snapshot())),
            (Self::Branch(_, cell), Some(revision)) => {
                let then = cell.look(|it| it.at(revision)).await?;
                then.map(Sight::of_branch).ok_or_else(|| {
                    DaemonError::invalid(
                        "revision",
                        format!("the branch does not remember revision {revision}"),
                    )
                })
            }
        }
    }
}

/// The base, or a branch at one revision.
pub struct Sight {
    pub view: Arc<dyn View>,
    /// 0 for the base.
    pub revision: Revision,
    /// `None` for the base.
    snapshot: Option<Snapshot>,
}

impl Sight {
    fn of_base(served: &Served) -> Self {
        Self { view: Arc::clone(&served.view), revision: Revision::default(), snapshot: None }
    }

    fn of_branch(snapshot: Snapshot) -> Self {
        Self { view: Arc::new(snapshot.clone()), revision: snapshot.revision(), snapshot: Some(snapshot) }
    }

    /// The branch, and its parent as it was at the fork, or at the last rebase before this revision.
    fn parent(&self) -> Result<(Snapshot, Snapshot), DaemonError> {
        let Some(snapshot) = &self.snapshot else {
            return Err(DaemonError::invalid("new_only", "the base has no parent; name a branch"));
        };
        Ok((snapshot.clone(), snapshot.fork_point()))
    }
}
