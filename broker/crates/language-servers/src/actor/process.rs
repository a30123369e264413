//! The process that an actor has at the moment: started when it is needed, again after it died, and ready
//! only when what it says counts.

mod ask;
mod push;
mod tsserver;

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use lint::{Cancel, Completeness};
use overlay::{ContentHash, View, WorkspacePath};
use serde_json::{Value, json, value::RawValue};

use super::{
    DiskChange, FAREWELL, Setup,
    convert::Report,
    goal::Goal,
    shown::{Listener, Shown},
};
use crate::{
    Barrier, Broken, Call, Client, EditPolicy, Ending, Epoch, Event, EventKind, EventSink, Events,
    Initialize, Limits, Options, PositionEncoding, RequestError, ServerStatus, WorkspaceFolder,
    board::Post,
    events,
    outbox::TICK,
    profile::{Deletes, fill},
    uri::{Uris, of_folder},
};

const PULL: &str = "textDocument/diagnostic";
const BYTES_OF_EVENTS: usize = 64 << 20;
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How often the same is asked, if the server says meanwhile that its answers are others now.
const ROUNDS: u32 = 3;

pub(super) struct Process {
    setup: Arc<Setup>,
    uris: Uris,
    stop: Cancel,
    post: Arc<Post>,
    sink: EventSink,
    events: Events,
    epoch: u64,
    running: Option<Running>,
    failures: u32,
    /// After a failure there is no other process before.
    not_before: Option<Instant>,
    /// Why it could not be started, the last time.
    unable: Option<String>,
}

struct Running {
    client: Client,
    shown: Shown,
    /// Whether its answers count from now on.
    is_ready: bool,
    status: Option<ServerStatus>,
    /// Whether it said, since the last time it was asked, that its answers are others now.
    is_refreshed: bool,
    /// What it published since the last switch about the documents as they are now, if that is how it answers.
    heard: BTreeMap<WorkspacePath, Box<RawValue>>,
    /// What it wanted to change while a command of its ran.
    wanted: Vec<Box<RawValue>>,
}

/// A question under way.
enum Asked {
    Pull(Call<Report>),
    Tsserver(tsserver::Asked),
}

/// Why there is no answer to any of the units.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    #[error("{0}")]
    Pending(String),
    #[error("{0}")]
    Failed(String),
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// Whether the server had finished when it answered.
pub(super) enum Settled {
    Yes,
    /// It says of itself that something is wrong.
    Ill(String),
    No,
}

impl Trouble {
    pub(super) fn completeness(&self) -> Completeness {
        match self {
            Self::Pending(reason) => Completeness::Pending(reason.clone()),
            Self::Failed(reason) => Completeness::Failed(reason.clone()),
            Self::Request(error @ (RequestError::TimedOut | RequestError::Cancelled)) => {
                Completeness::Pending(error.to_string())
            }
            Self::Request(RequestError::ServerDied { exit, stderr }) => {
                let last = &stderr[stderr.len().saturating_sub(3)..];
                let said = if last.is_empty() { String::new() } else { format!(": {}", last.join("\n")) };
                Completeness::Failed(format!("the server {exit}{said}"))
            }
            Self::Request(error) => Completeness::Failed(error.to_string()),
        }
    }
}

impl Settled {
    /// Why there may be more to say.
    pub(super) fn reason(&self) -> Option<String> {
        match self {
            Self::Yes => None,
            Self::Ill(reason) => Some(reason.clone()),
            Self::No => Some("the server was still computing".to_owned()),
        }
    }
}

impl Process {
    pub(super) fn new(setup: Arc<Setup>, uris: Uris, stop: Cancel, post: Arc<Post>) -> Self {
        let (sink, events) = events(BYTES_OF_EVENTS);
        Self {
            setup,
            uris,
            stop,
            post,
            sink,
            events,
            epoch: 0,
            running: None,
            failures: 0,
            not_before: None,
            unable: None,
        }
    }

    /// Returns the name and version that it has.
    pub(super) fn start(&mut self, deadline: Instant, cancel: &Cancel) -> Result<Option<String>, Trouble> {
        self.listen();
        self.bury();
        if self.running.is_none() {
            self.wait_for_another(deadline, cancel)?;
            let is_wanted = || !cancel.is_cancelled() && !self.stop.is_cancelled();
            self.post.admit(deadline, &is_wanted).map_err(Trouble::Pending)?;
            self.epoch += 1;
            // Whoever waits for it may give up: the next one finds it started.
            match Client::start(&self.options(), &self.sink, &self.stop) {
                Ok(client) => {
                    self.post.started(&client);
                    self.running = Some(Running::new(client));
                }
                Err(error) => {
                    self.post.not_started(Epoch(self.epoch), &error);
                    self.unable = Some(error.to_string());
                    self.fail();
                    return Err(Trouble::Failed(error.to_string()));
                }
            }
            self.unable = None;
        }
        Ok(self.running.as_ref().and_then(|it| it.client.server().map(str::to_owned)))
    }

    /// Has it started, and waits until its answers count.
    pub(super) fn make_ready(&mut self, deadline: Instant, cancel: &Cancel) -> Result<(), Trouble> {
        self.start(deadline, cancel)?;
        if self.running()?.is_ready {
            return Ok(());
        }
        let setup = Arc::clone(&self.setup);
        for method in self.method().into_iter().chain(setup.profile.registers.as_deref()) {
            self.running()?.client.wait_for(method, deadline, cancel).map_err(|error| match error {
                RequestError::TimedOut => {
                    Trouble::Pending(format!("the server does not offer `{method}` yet"))
                }
                other => other.into(),
            })?;
        }
        self.send_canary(deadline, cancel)?;
        self.running()?.is_ready = true;
        Ok(())
    }

    /// What it has to offer before it is asked.
    fn method(&self) -> Option<&'static str> {
        match self.setup.profile.barrier {
            Barrier::Pull | Barrier::PullWhenQuiescent => Some(PULL),
            Barrier::Tsserver => Some(tsserver::METHOD),
            Barrier::Version | Barrier::NextPublish | Barrier::Reopen => None,
        }
    }

    pub(super) fn switch(
        &mut self,
        goal: &Goal,
        view: &dyn View,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<BTreeMap<WorkspacePath, String>, Trouble> {
        self.make_quiet()?;
        let mut goal = goal.clone();
        let (shown, listener) = self.shown()?;
        if listener.profile.reads_late {
            goal.keep(view, shown.kept());
        }
        let unreadable = shown.switch(&goal, view, &listener)?;
        if self.setup.profile.sees.deletes == Deletes::Watched {
            self.switch_deletes(&goal, deadline, cancel)?;
        }
        Ok(unreadable)
    }

    fn switch_deletes(&mut self, goal: &Goal, deadline: Instant, cancel: &Cancel) -> Result<(), Trouble> {
        let (shown, _) = self.shown()?;
        if shown.must_answer_first(&goal.gone) {
            // Without a document nothing is asked, and so the deletes can wait.
            let Some(document) = shown.any_open().cloned() else { return Ok(()) };
            let _ = self.call(&document, deadline, cancel)??.wait(deadline, cancel)?;
            self.shown()?.0.answered();
        }
        let (shown, listener) = self.shown()?;
        Ok(shown.tell_deletes(&goal.gone, &listener)?)
    }

    /// One that is not there yet will see for itself. So does one that is started again: what publishes once
    /// about each change is not told, since it might publish at a time that nobody knows.
    pub(super) fn disk_changed(&mut self, changes: &[(WorkspacePath, DiskChange)]) {
        let profile = &self.setup.profile;
        if profile.barrier == Barrier::NextPublish {
            if changes.iter().any(|(path, _)| profile.is_config(path)) {
                self.end(FAREWELL, Ending::Outdated);
            }
            return;
        }
        if let Ok((shown, listener)) = self.shown() {
            // If it cannot be told, it is over.
            let _ = shown.disk_changed(changes, &listener);
        }
    }

    /// What it says of these open documents. Whatever it publishes is waited for, whether it comes in time or not.
    pub(super) fn ask(
        &mut self,
        units: &[&WorkspacePath],
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<(Vec<Result<Report, RequestError>>, Settled), Trouble> {
        if self.setup.profile.barrier.is_pull() {
            self.pull(units, deadline, cancel)
        } else {
            self.published(units)
        }
    }

    /// Asks for these open documents, in this order, and again if the server has not settled meanwhile.
    fn pull(
        &mut self,
        units: &[&WorkspacePath],
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<(Vec<Result<Report, RequestError>>, Settled), Trouble> {
        let mut round = 1;
        loop {
            self.wait_for_rest(deadline, cancel)?;
            let reports = self.pull_once(units, deadline, cancel)?;
            self.listen();
            let settled = self.settled()?;
            let is_late = reports.iter().any(|it| matches!(it, Err(RequestError::TimedOut)));
            if round == ROUNDS || is_late || cancel.is_cancelled() || !matches!(settled, Settled::No) {
                // An answer ends a row of failures.
                self.failures = if is_late { self.failures } else { 0 };
                return Ok((reports, settled));
            }
            round += 1;
        }
    }

    /// Why a process that was there has died, which is now accounted for.
    pub(super) fn bury(&mut self) -> Option<Broken> {
        self.running.as_ref().inspect(|it| it.client.stop_if_it_hangs());
        let reason = self.running.as_ref().and_then(|it| it.client.broken())?;
        // It may be that only its connection is broken.
        let _ = self.running.take().map(|it| it.client.kill());
        self.fail();
        self.post.died(reason.to_string());
        Some(reason)
    }

    /// Takes what it has said.
    pub(super) fn listen(&mut self) {
        while let Some(event) = self.events.try_next() {
            self.notice(event);
        }
    }

    /// Without failure: the next one is started as soon as it is needed.
    pub(super) fn end(&mut self, grace: Duration, why: Ending) {
        if let Some(running) = self.running.take() {
            running.client.shutdown(grace.min(FAREWELL));
            self.post.ended(why);
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Whether it has not answered yet since a request was given up.
    pub(super) fn owes(&self) -> bool {
        self.running.as_ref().is_some_and(|it| it.client.owes())
    }

    pub(super) fn is_open(&self, path: &WorkspacePath) -> bool {
        self.running.as_ref().is_some_and(|it| it.shown.document(path).is_some())
    }

    /// The text and hash of an open document.
    pub(super) fn document(&self, path: &WorkspacePath) -> (&str, ContentHash) {
        let document = self.running.as_ref().and_then(|it| it.shown.document(path));
        document.map_or(("", ContentHash::of(b"")), |it| (it.text(), it.hash))
    }

    pub(super) fn encoding(&self) -> PositionEncoding {
        self.running.as_ref().map_or(PositionEncoding::Utf16, |it| it.client.encoding())
    }

    fn pull_once(
        &mut self,
        units: &[&WorkspacePath],
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<Vec<Result<Report, RequestError>>, Trouble> {
        let calls: Vec<Result<Asked, _>> =
            units.iter().map(|it| self.call(it, deadline, cancel)).collect::<Result<_, Trouble>>()?;
        let wait = |it: Result<Asked, _>| it.and_then(|it| it.wait(deadline, cancel));
        let reports: Vec<_> = calls.into_iter().map(wait).collect();
        self.check_alive()?;
        if reports.iter().any(Result::is_ok) {
            self.running()?.shown.answered();
        }
        Ok(reports)
    }

    fn call(
        &mut self,
        unit: &WorkspacePath,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<Result<Asked, RequestError>, Trouble> {
        let uri = self.uris.of(unit);
        let barrier = self.setup.profile.barrier;
        let running = self.running()?;
        running.is_refreshed = false;
        Ok(if barrier == Barrier::Tsserver {
            tsserver::ask(&running.client, &uri, deadline, cancel).map(Asked::Tsserver)
        } else {
            let params = json!({ "textDocument": { "uri": uri } });
            running.client.call(PULL, &params, deadline, cancel).map(Asked::Pull)
        })
    }

    /// Waits until it finds something where there surely is something.
    fn send_canary(&mut self, deadline: Instant, cancel: &Cancel) -> Result<(), Trouble> {
        let setup = Arc::clone(&self.setup);
        let Some(canary) = &setup.profile.canary else { return Ok(()) };
        let path = WorkspacePath::new(&canary.path).map_err(|it| Trouble::Failed(it.to_string()))?;
        let (shown, listener) = self.shown()?;
        if shown.document(&path).is_none() {
            shown.open_text(&path, &canary.text, &listener)?;
        }
        if !setup.profile.barrier.is_pull() {
            self.await_canary(&path, deadline, cancel)?;
        }
        let mut pause = TICK;
        while setup.profile.barrier.is_pull() && !self.finds_something(&path, deadline, cancel)? {
            rest(Instant::now() + pause, deadline, cancel)
                .ok_or_else(|| Trouble::Pending("the server does not find anything yet".to_owned()))?;
            pause *= 2;
        }
        let (shown, listener) = self.shown()?;
        Ok(shown.close(&path, &listener)?)
    }

    fn finds_something(
        &mut self,
        path: &WorkspacePath,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<bool, Trouble> {
        let report = self.call(path, deadline, cancel)??.wait(deadline, cancel)?;
        self.listen();
        Ok(matches!(report, Report::Full { items } if !items.is_empty()))
    }

    /// A server that says when it has finished loading is not asked before.
    fn wait_for_rest(&mut self, deadline: Instant, cancel: &Cancel) -> Result<(), Trouble> {
        self.listen();
        while self.is_loading()? {
            let Some(event) = self.events.next(deadline, cancel) else {
                return Err(Trouble::Pending("the server is still loading".to_owned()));
            };
            self.notice(event);
            self.check_alive()?;
        }
        Ok(())
    }

    fn is_loading(&mut self) -> Result<bool, Trouble> {
        let tells = self.setup.profile.barrier == Barrier::PullWhenQuiescent;
        Ok(tells && !self.running()?.status.as_ref().is_some_and(|it| it.quiescent))
    }

    fn settled(&mut self) -> Result<Settled, Trouble> {
        if self.is_loading()? || self.running()?.is_refreshed {
            return Ok(Settled::No);
        }
        let status = self.running()?.status.as_ref().filter(|it| it.health == "error");
        let reason = |it: &ServerStatus| {
            it.message.clone().unwrap_or_else(|| "the server says that it has an error".to_owned())
        };
        Ok(status.map_or(Settled::Yes, |it| Settled::Ill(reason(it))))
    }

    fn notice(&mut self, event: Event) {
        let Some(running) = self.running.as_mut().filter(|it| it.client.epoch() == event.epoch) else {
            return;
        };
        match event.kind {
            EventKind::Status(status) => {
                // It may be over again before anybody looks.
                running.is_refreshed |= !status.quiescent;
                running.status = Some(status);
            }
            EventKind::Edit { edit, .. } => running.wanted.push(edit),
            EventKind::Refresh { method } if method == "workspace/diagnostic/refresh" => {
                running.is_refreshed = true;
            }
            EventKind::Diagnostics { uri, version, diagnostics } => self.hear(&uri, version, diagnostics),
            _ => {}
        }
    }

    fn running(&mut self) -> Result<&mut Running, Trouble> {
        self.running.as_mut().ok_or(Trouble::Request(RequestError::Gone))
    }

    fn shown(&mut self) -> Result<(&mut Shown, Listener<'_>), Trouble> {
        let running = self.running.as_mut().ok_or(Trouble::Request(RequestError::Gone))?;
        let listener = Listener { client: &running.client, uris: &self.uris, profile: &self.setup.profile };
        Ok((&mut running.shown, listener))
    }

    fn check_alive(&mut self) -> Result<(), Trouble> {
        let broken: Option<Broken> = self.running()?.client.broken();
        broken.map_or(Ok(()), |it| Err(RequestError::from(it).into()))
    }

    /// After a crash another process is only waited for; one that cannot be started is not tried each time.
    fn wait_for_another(&self, deadline: Instant, cancel: &Cancel) -> Result<(), Trouble> {
        let Some(time) = self.not_before.filter(|it| *it > Instant::now()) else { return Ok(()) };
        if let Some(reason) = &self.unable {
            return Err(Trouble::Failed(reason.clone()));
        }
        let late = || Trouble::Pending("the server died, and is started again later".to_owned());
        rest(time, deadline, cancel).ok_or_else(late)
    }

    fn fail(&mut self) {
        let pause = self.setup.pause.saturating_mul(1 << self.failures.min(16));
        self.failures += 1;
        self.not_before = Some(Instant::now() + pause.min(LONGEST_PAUSE));
    }

    fn options(&self) -> Options {
        let Setup { profile, root, launch, limits, .. } = &*self.setup;
        let name = root.file_name().map_or_else(String::new, |it| it.to_string_lossy().into_owned());
        let folder = WorkspaceFolder { uri: of_folder(root), name };
        let mut initialize = Initialize::new(vec![folder]);
        initialize.options = fill(&profile.options, root);
        initialize.capabilities = profile.capabilities.clone();
        let settings: Value = fill(&profile.settings, root);
        Options {
            launch: launch.clone(),
            initialize,
            settings,
            edits: EditPolicy::Refuse,
            epoch: Epoch(self.epoch),
            limits: Limits { cancels: profile.cancels, ..limits.clone() },
        }
    }
}

impl Running {
    fn new(client: Client) -> Self {
        Self {
            client,
            shown: Shown::default(),
            is_ready: false,
            status: None,
            is_refreshed: false,
            heard: BTreeMap::new(),
            wanted: Vec::new(),
        }
    }
}

impl Asked {
    fn wait(self, deadline: Instant, cancel: &Cancel) -> Result<Report, RequestError> {
        match self {
            Self::Pull(call) => call.wait(deadline, cancel),
            Self::Tsserver(asked) => asked.wait(deadline, cancel),
        }
    }
}

/// `None` if the deadline or a cancel came first.
fn rest(until: Instant, deadline: Instant, cancel: &Cancel) -> Option<()> {
    loop {
        let now = Instant::now();
        if now >= until {
            return Some(());
        } else if now >= deadline || cancel.is_cancelled() {
            return None;
        }
        std::thread::sleep(TICK.min(until - now));
    }
}
