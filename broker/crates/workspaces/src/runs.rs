//! Commands that run in shadow folders of branches and of the base: started, listed, read and ended.
//!
//! `request` says what may be asked, `start` makes a program of it, `follow` stays with it to its end; `folder` has the
//! folders that runs share, `harvest` makes what was written an edit.

mod folder;
mod follow;
mod harvest;
mod ignored;
mod log;
mod permission;
mod pipes;
mod repository;
mod request;
mod result;
mod run;
mod sandbox;
mod start;
mod target;

use std::{path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use overlay::Revision;
use shadow::Isolation;
use tokio::sync::mpsc;

use self::{
    folder::Folders,
    follow::{Followed, KILL, Sink},
    run::{Registered, Registry, Run},
    start::{Live, Prepared},
    target::RunTarget,
};
use crate::{
    Daemon, DaemonError, Repeatable, TargetId,
    measured::Measured,
    task::{blocking, run_uncancellable},
};

pub use self::{
    log::OutputStream,
    permission::{PermissionKind, WantedPermission, run_settings},
    request::{
        DEFAULT_PROCESSES, DEFAULT_SPACE, RunInput, RunLimits, RunRequest, SandboxRequest, TerminalSize,
        memory_of_agents,
    },
    result::{HarvestRefused, RunEvent, RunEvents, RunResult, RunStarted, Written},
    sandbox::how_to_isolate,
};

/// Events that may wait for a client before its command waits, too.
const CHANNEL_CAPACITY: usize = 4;

/// SIGTERM.
const TERMINATE: i32 = 15;

/// Signals that end what does not handle them, as nothing does that is not started yet: SIGHUP, SIGINT, SIGQUIT, SIGKILL and SIGTERM.
const ENDING: [i32; 5] = [1, 2, 3, KILL, TERMINATE];

/// Time that a command has to end by itself before it is killed.
const GRACE: Duration = Duration::from_secs(5);

/// All runs of a daemon, and the folders that they share.
#[derive(Default)]
pub(super) struct Runs {
    folders: Folders,
    registry: Arc<Registry>,
}

/// A run as it is now.
#[derive(Debug, Clone)]
pub struct RunInfo {
    pub id: Arc<str>,
    pub name: String,
    pub workspace: Arc<str>,
    pub root: PathBuf,
    /// Handle and name; `None` for the base.
    pub branch: Option<(Arc<str>, String)>,
    pub command: Vec<String>,
    pub background: bool,
    pub started_ms: u64,
    /// Revision that the folder of the run shows.
    pub revision: Revision,
    /// Why that is not the newest revision, if it could not be shown.
    pub outdated: Option<String>,
    /// Bytes that it has printed; 0 in the foreground.
    pub printed: u64,
    /// `None` while it lives.
    pub result: Option<Arc<RunResult>>,
}

/// A run by its handle; in a workspace by its name, too.
#[derive(Debug, Clone)]
pub struct RunId {
    pub workspace: Option<String>,
    pub run: String,
}

/// A part of a log; the end is the last.
#[derive(Debug, Clone)]
pub enum LogEvent {
    Output {
        offset: u64,
        stream: OutputStream,
        bytes: Bytes,
    },
    /// Bytes that are not kept.
    Dropped(u64),
    End {
        offset: u64,
        /// `None` while the run lives, and if it was never started.
        result: Option<Arc<RunResult>>,
    },
}

/// Parts of a log as they come, until they are dropped.
pub type LogEvents = mpsc::Receiver<LogEvent>;

impl Daemon {
    /// Runs a command. `inputs` is what its client sends; without a client that listens it is ended, unless it runs in
    /// the background.
    pub async fn run(
        self: &Arc<Self>,
        mut request: RunRequest,
        mut inputs: mpsc::Receiver<RunInput>,
    ) -> Result<RunEvents, DaemonError> {
        let target = self.run_target(&request.target)?;
        let daemon = Arc::clone(self);
        // Paths are looked up on the disk, which may be slow.
        let (request, prepared, wanted) = blocking(move || {
            let allowed = permission::run_settings(target.root(), target.configured_by())?;
            if request.sandbox.isolation != Isolation::Off {
                request.sandbox.read.extend(permission::shown_paths(&allowed));
            }
            let wanted = permission::wanted(&target, &allowed, &request);
            let prepared = daemon.prepare(&request, target, &allowed)?;
            Ok((request, prepared, wanted))
        })
        .await?;
        let (events, received) = mpsc::channel(CHANNEL_CAPACITY);
        if !wanted.is_empty() {
            let daemon = Arc::clone(self);
            tokio::spawn(telemetry::in_current_span(async move {
                let begun = match ask(wanted, &mut inputs, &events).await {
                    Ok(()) => daemon.run_permitted(request, prepared, inputs, events.clone()).await,
                    Err(error) => Err(error),
                };
                if let Err(error) = begun {
                    let _client_left = events.send(Err(error)).await;
                }
            }));
            return Ok(received);
        }
        self.run_permitted(request, prepared, inputs, events).await?;
        Ok(received)
    }

    async fn run_permitted(
        self: &Arc<Self>,
        request: RunRequest,
        prepared: Prepared,
        inputs: mpsc::Receiver<RunInput>,
        events: mpsc::Sender<Result<RunEvent, DaemonError>>,
    ) -> Result<(), DaemonError> {
        if request.background {
            let started = self.run_in_background(request, prepared).await?;
            // There is room for one.
            let _received = events.try_send(Ok(RunEvent::Started(started)));
        } else {
            let run = Arc::clone(self).run_in_foreground(request, prepared, inputs, events);
            tokio::spawn(telemetry::in_current_span(run));
        }
        Ok(())
    }

    async fn run_in_foreground(
        self: Arc<Self>,
        request: RunRequest,
        prepared: Prepared,
        inputs: mpsc::Receiver<RunInput>,
        events: mpsc::Sender<Result<RunEvent, DaemonError>>,
    ) {
        let _lease = self.clients.lease();
        let measured = Measured::run(prepared.target.branch_name());
        let begun = self.register_and_begin(&request, prepared, events.closed()).await;
        let (registered, live) = match begun {
            Ok(begun) => begun,
            Err(error) => {
                measured.failed(&error);
                let _client_left = events.send(Err(error)).await;
                return;
            }
        };
        let started = started(&registered.run, &live);
        let _client_left = events.send(Ok(RunEvent::Started(started))).await;
        let followed = self.follow(&registered.run, live, inputs, Sink::Client(events.clone())).await;
        let Followed { result, pumps } = followed;
        result.end(measured, registered.run.shown().revision);
        registered.run.ended(Arc::clone(&result));
        drop(registered);
        for pump in pumps {
            let _done = pump.await;
        }
        let _client_left = events.send(Ok(RunEvent::Exited(result))).await;
    }

    async fn run_in_background(
        self: &Arc<Self>,
        request: RunRequest,
        prepared: Prepared,
    ) -> Result<RunStarted, DaemonError> {
        let Some(workspace) = prepared.target.workspace().cloned() else {
            return Err(DaemonError::invalid("background", "a command of this process ends with it"));
        };
        let repeatable = Repeatable::of(&workspace.id, request.request_id.as_deref(), &request)?;
        let daemon = Arc::clone(self);
        run_uncancellable(async move {
            let start = async {
                let never = std::future::pending();
                let measured = Measured::run(prepared.target.branch_name());
                match daemon.register_and_begin(&request, prepared, never).await {
                    Ok((registered, live)) => {
                        let started = started(&registered.run, &live);
                        tokio::spawn(Arc::clone(&daemon).stay_with(registered, live, measured));
                        Ok(started)
                    }
                    Err(error) => {
                        measured.failed(&error);
                        Err(error)
                    }
                }
            };
            workspace.runs.run(repeatable, start).await
        })
        .await
    }

    /// Registers a run and starts it, unless its client leaves while it waits for its folder.
    async fn register_and_begin(
        self: &Arc<Self>,
        request: &RunRequest,
        prepared: Prepared,
        client_left: impl Future<Output = ()> + Send,
    ) -> Result<(Registered, Live), DaemonError> {
        let (name, command) = (request.name.clone(), request.words());
        let registered = self.runs.registry.add(&prepared.target, name, command, request.background)?;
        let live = {
            let mut begin = std::pin::pin!(self.begin(&registered.run, prepared));
            tokio::select! {
                live = &mut begin => live?,
                () = client_left => {
                    registered.run.cancel();
                    begin.await?
                }
            }
        };
        Ok((registered, live))
    }

    fn run_target(&self, id: &TargetId) -> Result<RunTarget, DaemonError> {
        match self.local_view(id) {
            Some(view) => Ok(RunTarget::View(view)),
            None => self.target(id).map(RunTarget::Open),
        }
    }

    /// Follows a run in the background; the daemon lives as long.
    async fn stay_with(self: Arc<Self>, registered: Registered, live: Live, measured: Measured) {
        let _lease = self.clients.lease();
        let sink = Sink::Log(Arc::clone(&registered.run));
        let Followed { result, pumps } = self.follow(&registered.run, live, mpsc::channel(1).1, sink).await;
        // The log is complete before the run counts as ended.
        for pump in pumps {
            let _done = pump.await;
        }
        result.end(measured, registered.run.shown().revision);
        registered.run.ended(result);
    }

    /// The runs of a workspace or of all, in the order of their start.
    pub fn runs(&self, workspace: Option<&str>) -> Result<Vec<RunInfo>, DaemonError> {
        workspace.map(|it| self.workspace(it)).transpose()?;
        let all = self.runs.registry.list();
        let wanted = all.iter().filter(|it| workspace.is_none_or(|id| *it.workspace == *id));
        Ok(wanted.map(|it| info(it)).collect())
    }

    /// Reads what a run in the background printed, from `offset` on.
    pub fn read_log(&self, id: &RunId, offset: u64, follow: bool) -> Result<LogEvents, DaemonError> {
        let run = self.run_named(id)?;
        if run.log.is_none() {
            return Err(DaemonError::NoLog(run.id.to_string()));
        }
        let (events, received) = mpsc::channel(CHANNEL_CAPACITY);
        tokio::spawn(async move { _ = tell_log(&run, offset, follow, &events).await });
        Ok(received)
    }

    /// Sends a signal to a run; without one, ends it and waits for its end. What became of it, if it has ended. A run that waits
    /// for its folder is not started any more.
    pub async fn kill(&self, id: &RunId, signal: Option<i32>) -> Result<Option<Arc<RunResult>>, DaemonError> {
        let run = self.run_named(id)?;
        if signal.is_some_and(|it| !(1..=64).contains(&it)) {
            return Err(DaemonError::invalid("signal", "it is a number from 1 to 64"));
        }
        if signal.is_none_or(|it| ENDING.contains(&it)) {
            run.cancel();
        }
        if !run.running().await {
            return Ok(None);
        }
        if let Some(signal) = signal {
            run.signal(signal);
            return Ok(run.result());
        }
        run.signal(TERMINATE);
        if let Ok(result) = tokio::time::timeout(GRACE, run.end()).await {
            return Ok(result);
        }
        run.signal(KILL);
        Ok(run.end().await)
    }

    fn run_named(&self, id: &RunId) -> Result<Arc<Run>, DaemonError> {
        if id.run.is_empty() {
            return Err(DaemonError::invalid("run_id", "it is empty"));
        }
        id.workspace.as_deref().map(|it| self.workspace(it)).transpose()?;
        self.runs.registry.find(id.workspace.as_deref(), &id.run)
    }

    /// The name of a command that runs on a branch.
    pub(super) fn run_on(&self, branch: &str) -> Option<String> {
        let is_on = |it: &&Arc<Run>| it.lives() && it.branch.as_ref().is_some_and(|it| *it.0 == *branch);
        self.runs.registry.list().iter().find(is_on).map(|it| it.name.clone())
    }

    /// Forgets what ended in a workspace that is closed.
    pub(super) fn forget_runs(&self, workspace: &str) {
        self.runs.registry.forget(workspace);
    }
}

/// Asks the client for permissions, and waits for its answer.
async fn ask(
    wanted: Vec<WantedPermission>,
    inputs: &mut mpsc::Receiver<RunInput>,
    events: &mpsc::Sender<Result<RunEvent, DaemonError>>,
) -> Result<(), DaemonError> {
    let _client_left = events.send(Ok(RunEvent::Permission(wanted.clone()))).await;
    loop {
        let input = tokio::select! {
            input = inputs.recv() => input,
            () = events.closed() => None,
        };
        match input {
            Some(RunInput::Permission(true)) => return Ok(()),
            Some(RunInput::Permission(false)) | None => return Err(permission::refused(&wanted)),
            // Input is dropped as long as no command runs.
            Some(RunInput::Stdin(_) | RunInput::StdinEnd | RunInput::Resize(_) | RunInput::Signal(_)) => {}
        }
    }
}

fn started(run: &Run, live: &Live) -> RunStarted {
    let (id, name) = (Arc::clone(&run.id), run.name.clone());
    let backend = live.folder.choice().backend.name().to_owned();
    RunStarted { id, name, revision: run.shown().revision, backend }
}

fn info(run: &Run) -> RunInfo {
    let shown = run.shown();
    RunInfo {
        id: Arc::clone(&run.id),
        name: run.name.clone(),
        workspace: Arc::clone(&run.workspace),
        root: run.root.clone(),
        branch: run.branch.clone(),
        command: run.command.clone(),
        background: run.log.is_some(),
        started_ms: run.started_ms,
        revision: shown.revision,
        outdated: shown.outdated,
        printed: run.log.as_ref().map_or(0, log::Log::printed),
        result: run.result(),
    }
}

/// Sends a log from `offset` on; an error if the client leaves.
async fn tell_log(
    run: &Run,
    mut offset: u64,
    follow: bool,
    events: &mpsc::Sender<LogEvent>,
) -> Result<(), mpsc::error::SendError<LogEvent>> {
    let Some(log) = &run.log else { return Ok(()) };
    let mut printed = log.subscribe();
    loop {
        printed.mark_unchanged();
        // Looked at first: what is printed before the end is in the log then.
        let (lives, result) = (run.lives(), run.result());
        let part = log.read(offset);
        if part.dropped > 0 {
            events.send(LogEvent::Dropped(part.dropped)).await?;
        }
        let is_all = part.pieces.is_empty();
        for (offset, stream, bytes) in part.pieces {
            events.send(LogEvent::Output { offset, stream, bytes }).await?;
        }
        offset = part.end;
        if is_all && !(lives && follow) {
            return events.send(LogEvent::End { offset, result }).await;
        }
        if is_all {
            tokio::select! {
                // The sender lives as long as the run.
                _ = printed.changed() => {}
                _ = run.end() => {}
                () = events.closed() => return Ok(()),
            }
        }
    }
}
