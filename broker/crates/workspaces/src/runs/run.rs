//! A run as others see it: by name, with its log, for as long as it is remembered.

use std::{
    io,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use overlay::Revision;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::{log::Log, result::RunResult, target::RunTarget};
use crate::{DaemonError, random, workspace::now_ms};

/// Runs that may live at one time.
const MAX_RUNS: usize = 256;

/// Runs in the background that are remembered after their end, with their logs.
const MAX_ENDED_RUNS: usize = 32;

/// All runs of a daemon, in the order of their start.
#[derive(Default)]
pub(super) struct Registry(Mutex<Vec<Arc<Run>>>);

pub(super) struct Run {
    pub(super) id: Arc<str>,
    pub(super) name: String,
    pub(super) workspace: Arc<str>,
    pub(super) root: PathBuf,
    /// Handle and name; `None` for the base.
    pub(super) branch: Option<(Arc<str>, String)>,
    pub(super) command: Vec<String>,
    pub(super) started_ms: u64,
    /// In the background.
    pub(super) log: Option<Log>,
    state: watch::Sender<State>,
    /// Whether the run was cancelled and is not to be started any more.
    cancelled: watch::Sender<bool>,
    signal: OnceLock<Signal>,
    /// State that the folder of the run shows, once it has one.
    shown: OnceLock<Arc<Mutex<Shown>>>,
}

/// State of the branch that a folder shows.
#[derive(Debug, Clone, Default)]
pub(super) struct Shown {
    pub(super) revision: Revision,
    /// Why it does not show the newest revision, if that failed.
    pub(super) outdated: Option<String>,
}

type Signal = Box<dyn Fn(i32) -> io::Result<()> + Send + Sync>;

enum State {
    Starting,
    Running,
    Ended(Arc<RunResult>),
    /// The run was never started.
    Refused,
}

/// A run that is known for as long as it lives; afterwards only one in the background.
pub(super) struct Registered {
    registry: Arc<Registry>,
    pub(super) run: Arc<Run>,
}

impl Registry {
    /// Reserves the name for a new run.
    pub(super) fn add(
        self: &Arc<Self>,
        target: &RunTarget,
        name: String,
        command: Vec<String>,
        in_background: bool,
    ) -> Result<Registered, DaemonError> {
        let handle = random::handle()?;
        let name = if name.is_empty() { handle[..8].to_owned() } else { name };
        let workspace = target.workspace_id();
        let mut all = self.0.lock();
        let is_it = |it: &Arc<Run>| it.workspace == workspace && it.name == name;
        if all.iter().any(|it| is_it(it) && it.lives()) {
            return Err(DaemonError::RunNameTaken(name));
        }
        let living = all.iter().filter(|it| it.lives()).count();
        DaemonError::expect_at_most(MAX_RUNS, living + 1, "runs at one time")?;
        // A name leads to the newest run.
        all.retain(|it| !is_it(it));
        forget_old(&mut all);
        let run = Arc::new(Run {
            id: format!("{workspace}.run-{handle}").into(),
            name,
            workspace,
            root: target.root().to_owned(),
            branch: target.branch_name(),
            command,
            started_ms: now_ms(),
            log: in_background.then(Log::default),
            state: watch::channel(State::Starting).0,
            cancelled: watch::channel(false).0,
            signal: OnceLock::new(),
            shown: OnceLock::new(),
        });
        all.push(Arc::clone(&run));
        Ok(Registered { registry: Arc::clone(self), run })
    }

    /// By its handle; in a workspace by its name, too.
    pub(super) fn find(&self, workspace: Option<&str>, id: &str) -> Result<Arc<Run>, DaemonError> {
        let all = self.0.lock();
        let named = |it: &&Arc<Run>| workspace.is_some_and(|of| *it.workspace == *of && it.name == id);
        let found = all.iter().find(|it| *it.id == *id).or_else(|| all.iter().find(named));
        found.cloned().ok_or_else(|| DaemonError::NotFound { what: "run", id: id.to_owned() })
    }

    /// In the order of their start.
    pub(super) fn list(&self) -> Vec<Arc<Run>> {
        self.0.lock().clone()
    }

    /// Forgets what ended in a workspace.
    pub(super) fn forget(&self, workspace: &str) {
        self.0.lock().retain(|it| *it.workspace != *workspace || it.lives());
    }
}

fn forget_old(all: &mut Vec<Arc<Run>>) {
    let ended = all.iter().filter(|it| !it.lives()).count();
    let mut more = (ended + 1).saturating_sub(MAX_ENDED_RUNS);
    all.retain(|it| {
        let is_old = more > 0 && !it.lives();
        more -= usize::from(is_old);
        !is_old
    });
}

impl Run {
    pub(super) fn lives(&self) -> bool {
        matches!(&*self.state.borrow(), State::Starting | State::Running)
    }

    pub(super) fn result(&self) -> Option<Arc<RunResult>> {
        match &*self.state.borrow() {
            State::Ended(result) => Some(Arc::clone(result)),
            State::Starting | State::Running | State::Refused => None,
        }
    }

    pub(super) fn shown(&self) -> Shown {
        let shown = self.shown.get().map(|it| it.lock().clone());
        shown.unwrap_or_default()
    }

    pub(super) fn started(
        &self,
        shown: Arc<Mutex<Shown>>,
        signal: impl Fn(i32) -> io::Result<()> + Send + Sync + 'static,
    ) {
        let _only_once = self.shown.set(shown);
        let _only_once = self.signal.set(Box::new(signal));
        self.state.send_replace(State::Running);
    }

    pub(super) fn ended(&self, result: Arc<RunResult>) {
        self.state.send_replace(State::Ended(result));
    }

    /// Has it not started if it still waits for its folder.
    pub(super) fn cancel(&self) {
        self.cancelled.send_replace(true);
    }

    /// Waits until it is to be started no more.
    pub(super) fn cancelled(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut cancelled = self.cancelled.subscribe();
        async move {
            // The sender lives as long as the run.
            let _gone = cancelled.wait_for(|it| *it).await.map(drop);
        }
    }

    /// Waits until it is started, and says whether it was.
    pub(super) async fn running(&self) -> bool {
        let mut state = self.state.subscribe();
        // The sender lives as long as this.
        let begun = state.wait_for(|it| !matches!(it, State::Starting)).await;
        !begun.is_ok_and(|it| matches!(*it, State::Refused))
    }

    /// Waits for its end; `None` if it was never started.
    pub(super) async fn end(&self) -> Option<Arc<RunResult>> {
        let mut state = self.state.subscribe();
        // The sender lives as long as this.
        let _over = state.wait_for(|it| matches!(it, State::Ended(_) | State::Refused)).await.map(drop);
        self.result()
    }

    /// Sends a signal to its process group. What has ended hears nothing.
    pub(super) fn signal(&self, signal: i32) {
        if let Some(send) = self.signal.get() {
            // A folder that is closed has no run to be told.
            let _closed = send(signal);
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let is_kept = self.run.log.is_some() && self.run.result().is_some();
        if !is_kept {
            self.run.state.send_if_modified(|it| {
                let has_ended = matches!(it, State::Ended(_));
                if !has_ended {
                    *it = State::Refused;
                }
                !has_ended
            });
            self.registry.0.lock().retain(|it| !Arc::ptr_eq(it, &self.run));
        }
    }
}
