//! The process that an actor has at the moment: what it is told and asked, and what it says by itself. How it is
//! started and ends is in `start.rs`.

mod ask;
mod pull;
mod push;
mod start;
mod tsserver;

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use lint::{Cancel, Completeness};
use lsp_client::{
    Broken, Client, Event, EventKind, EventSink, Events, PositionEncoding, RequestError, ServerStatus,
    events, uri::Uris,
};
use overlay::{ContentHash, View, WorkspacePath};
use serde_json::{Value, json, value::RawValue};

use super::{
    DiskChange, SHUTDOWN_TIMEOUT, Setup,
    convert::Report,
    open_documents::{Listener, OpenDocuments},
    target::TargetState,
};
use crate::{Barrier, Ending, configs, profile::Deletes, registry::StatusHandle, watched::Watched};

const BYTES_OF_EVENTS: usize = 64 << 20;

/// Request about a document that any server can answer soon.
const SYMBOLS: &str = "textDocument/documentSymbol";

/// Maximum number of times that the same is asked, if the server asks for a refresh meanwhile.
const ROUNDS: u32 = 3;

pub(super) struct Process {
    setup: Arc<Setup>,
    uris: Uris,
    stop: Cancel,
    status: Arc<StatusHandle>,
    sink: EventSink,
    events: Events,
    epoch: u64,
    running: Option<Running>,
    failures: u32,
    /// Time before which no other process is started, after a failure.
    not_before: Option<Instant>,
    /// Reason for which the last start failed.
    unable: Option<String>,
    watched: Arc<Watched>,
}

struct Running {
    client: Client,
    documents: OpenDocuments,
    /// Whether the answers of the process count from now on.
    is_ready: bool,
    status: Option<ServerStatus>,
    /// Whether the server asked for a refresh since the last request.
    is_refreshed: bool,
    /// Diagnostics published since the last switch for the current documents, if that is how the server reports them.
    heard: BTreeMap<WorkspacePath, Box<RawValue>>,
    /// Edits that the server requested while one of its commands ran.
    wanted: Vec<Box<RawValue>>,
    /// Ends the leases of its answers.
    revoked: Cancel,
    /// Whether the server has listed the workspace's files.
    has_listed_files: bool,
}

/// Reason for no answer to any of the units.
#[derive(Debug, thiserror::Error)]
pub(super) enum AskError {
    #[error("{0}")]
    Pending(String),
    #[error("{0}")]
    Failed(String),
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// Completion of the server's work at the time of its answer.
pub(super) enum Settled {
    Yes,
    /// Done, with a problem that the server reports of itself.
    Ill(String),
    No,
}

impl AskError {
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
    /// Reason for which the answer may be incomplete.
    pub(super) fn reason(&self) -> Option<String> {
        match self {
            Self::Yes => None,
            Self::Ill(reason) => Some(reason.clone()),
            Self::No => Some("the server was still computing".to_owned()),
        }
    }
}

impl Process {
    pub(super) fn new(
        setup: Arc<Setup>,
        stop: Cancel,
        status: Arc<StatusHandle>,
        watched: Arc<Watched>,
    ) -> Self {
        let (sink, events) = events(BYTES_OF_EVENTS);
        Self {
            uris: Uris::new(&setup.root),
            setup,
            stop,
            status,
            sink,
            events,
            epoch: 0,
            running: None,
            failures: 0,
            not_before: None,
            unable: None,
            watched,
        }
    }

    /// Whether the answers would be outdated: a file that the server watches outside has changed, or a file is on the
    /// disk now that the server cannot find since it was opened before it was there.
    pub(super) fn is_outdated(&self) -> bool {
        let Some(running) = &self.running else { return false };
        let is_there = |it: &WorkspacePath| self.setup.disk.metadata(it).is_ok();
        let loses = self.setup.profile.loses_new_files;
        self.watched.is_outdated() || loses && running.documents.ever_new().any(is_there)
    }

    /// Takes in what it has said of itself: what it watches, and whether it knows which files there are.
    pub(super) fn learn(&mut self) {
        if let Some(running) = &mut self.running {
            self.watched.learn(&running.client, &self.setup.root);
            let profile = &self.setup.profile;
            running.has_listed_files |= profile.has_listed_files(&running.client.messages());
        }
    }

    /// Set when answers of the process are not to be given again.
    pub(super) fn lease(&self) -> Cancel {
        self.running.as_ref().map_or_else(Cancel::default, |it| it.revoked.clone())
    }

    pub(super) fn switch(
        &mut self,
        target: &TargetState,
        view: &dyn View,
    ) -> Result<BTreeMap<WorkspacePath, String>, AskError> {
        self.make_quiet()?;
        let mut target = target.clone();
        let (documents, listener) = self.documents()?;
        if listener.profile.reads_late {
            target.open_too(view, &documents.kept());
        }
        let unreadable = documents.switch(&target, view, &listener)?;
        if listener.profile.sees.deletes == Deletes::Watched {
            documents.let_go(&target.gone, &listener)?;
        }
        Ok(unreadable)
    }

    /// Repeats the deletions before each question, about this open document or any. TypeScript 7.0.2 takes a delete
    /// only for the project that it is asked about next, and only if it has the file in it at that time; after a second
    /// one, or any other notification about files that are not open, it reads the disk again.
    fn remove_for(
        &mut self,
        document: Option<&WorkspacePath>,
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<(), AskError> {
        let (documents, listener) = self.documents()?;
        // Without a document nothing is asked, and so the deletes can wait.
        let Some(document) = document.or(documents.any_open()).cloned() else { return Ok(()) };
        if !documents.lacks_something() {
            return Ok(());
        }
        documents.tell_back(&listener)?;
        let params = json!({ "textDocument": { "uri": listener.uris.of(&document) } });
        // Whatever it answers, it has looked.
        match listener.client.request::<_, Value>(SYMBOLS, &params, deadline, cancel) {
            Ok(_) | Err(RequestError::Refused(_)) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(documents.tell_gone(&listener)?)
    }

    /// Notifies the process of changes on the disk, which a new process reads itself. A process is ended if its
    /// configuration names a changed file. A server that publishes once about each change is never notified, since it
    /// might publish at any time; its process is ended if its configuration has changed.
    pub(super) fn disk_changed(&mut self, changes: &[(WorkspacePath, DiskChange)]) {
        let profile = &self.setup.profile;
        let publishes_once = profile.barrier == Barrier::NextPublish;
        let is_outdated = publishes_once && changes.iter().any(|(path, _)| profile.is_config(path));
        if is_outdated || self.configures(changes) {
            return self.end(SHUTDOWN_TIMEOUT, Ending::Outdated);
        }
        if publishes_once {
            return;
        }
        if let Ok((documents, listener)) = self.documents() {
            // If it cannot be told, it is over.
            let _ = documents.disk_changed(changes, &listener);
        }
    }

    fn configures(&self, changes: &[(WorkspacePath, DiskChange)]) -> bool {
        let profile = &self.setup.profile;
        let may: Vec<_> =
            changes.iter().map(|it| &it.0).filter(|it| profile.is_config_if_named(it)).collect();
        if may.is_empty() || !self.is_running() {
            return false;
        }
        let named = configs::named(profile, &*self.setup.disk, may.iter().copied());
        may.into_iter().any(|it| named.contains(it))
    }

    /// Returns the findings in these open documents. Published ones are waited for, whether they come in time or not.
    pub(super) fn ask(
        &mut self,
        units: &[&WorkspacePath],
        deadline: Instant,
        cancel: &Cancel,
    ) -> Result<(Vec<Result<Report, RequestError>>, Settled), AskError> {
        if self.setup.profile.barrier.is_pull() {
            self.pull(units, deadline, cancel)
        } else {
            self.remove_for(units.first().copied(), deadline, cancel)?;
            self.published(units)
        }
    }

    /// Takes what it has said.
    pub(super) fn listen(&mut self) {
        while let Some(event) = self.events.try_next() {
            self.notice(event);
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Whether the server has not answered since a request was given up.
    pub(super) fn owes(&self) -> bool {
        self.running.as_ref().is_some_and(|it| it.client.owes())
    }

    pub(super) fn is_open(&self, path: &WorkspacePath) -> bool {
        self.running.as_ref().is_some_and(|it| it.documents.document(path).is_some())
    }

    /// The text and hash of an open document.
    pub(super) fn document(&self, path: &WorkspacePath) -> (&str, ContentHash) {
        let document = self.running.as_ref().and_then(|it| it.documents.document(path));
        document.map_or(("", ContentHash::of(b"")), |it| (it.text(), it.hash))
    }

    pub(super) fn encoding(&self) -> PositionEncoding {
        self.running.as_ref().map_or(PositionEncoding::Utf16, |it| it.client.encoding())
    }

    fn notice(&mut self, event: Event) {
        let Some(running) = self.running.as_mut().filter(|it| it.client.epoch() == event.epoch) else {
            return;
        };
        match event.kind {
            EventKind::Status(status) => {
                // The server may be done again before this is read.
                running.is_refreshed |= !status.quiescent;
                self.status.set_unwell(status.unwell());
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

    fn running(&mut self) -> Result<&mut Running, AskError> {
        self.running.as_mut().ok_or(AskError::Request(RequestError::Gone))
    }

    fn documents(&mut self) -> Result<(&mut OpenDocuments, Listener<'_>), AskError> {
        let running = self.running.as_mut().ok_or(AskError::Request(RequestError::Gone))?;
        let listener = Listener { client: &running.client, uris: &self.uris, profile: &self.setup.profile };
        Ok((&mut running.documents, listener))
    }

    fn check_alive(&mut self) -> Result<(), AskError> {
        let broken: Option<Broken> = self.running()?.client.broken();
        broken.map_or(Ok(()), |it| Err(RequestError::from(it).into()))
    }
}

impl Running {
    fn new(client: Client, revoked: Cancel) -> Self {
        Self {
            client,
            documents: OpenDocuments::default(),
            is_ready: false,
            status: None,
            is_refreshed: false,
            heard: BTreeMap::new(),
            wanted: Vec::new(),
            revoked,
            has_listed_files: false,
        }
    }
}

impl Drop for Running {
    /// Revokes the answers of the process, which are not given again once it is gone.
    fn drop(&mut self) {
        self.revoked.cancel();
    }
}
