//! An open document: its current text and version, and the last result of its check.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use gen_lsp_types::Diagnostic;
use overlay::WorkspacePath;
use tokio::{sync::watch, task::AbortHandle};

use super::{branch_uri::BranchFile, checking::Found, failure::Failure, folder::Folder, text::Text};

/// An open document. Dropping it, when the client closes it, aborts its task.
pub(super) struct Document {
    pub(super) uri: String,
    pub(super) place: DocumentLocation,
    /// [`Folder::resolved`] of a file of the base, as of the last look.
    resolved: RefCell<Option<WorkspacePath>>,
    state: watch::Sender<State>,
    /// Epoch of the connection and version of the text that the daemon has, or has refused.
    sent: watch::Sender<(u64, i32)>,
    /// The last result; of an older version while a newer one is checked.
    checked: watch::Sender<Option<Rc<Checked>>>,
    /// [`Folder::last_buffer_change`] at the start of the last check.
    checking: Cell<u64>,
    /// Version and number of the last result that the client pulled.
    reported: Cell<Option<(i32, u64)>>,
    task: Cell<Option<AbortHandle>>,
    /// Number of requests that wait for a result.
    waiting: Cell<usize>,
    /// Counts running checks that were given up because no request waits for them any more.
    given_up: watch::Sender<u64>,
    /// Whether the check of the current version was given up.
    is_given_up: Cell<bool>,
}

/// A request that waits for a result. When the last one is dropped, the check is given up.
pub(super) struct Waiting(Rc<Document>);

/// Which file a document shows.
#[derive(Clone)]
pub(super) enum DocumentLocation {
    /// A file of the base. Its content is the document's text while that is open.
    Base(Rc<Folder>, WorkspacePath),
    /// A file of a branch, read-only.
    Branch(Rc<Folder>, BranchFile),
    /// Not in a workspace: an untitled buffer, a settings page, a help page.
    Elsewhere,
}

/// A document at one version.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) version: i32,
    pub(super) text: Text,
    /// Whether the document was changed since it was opened or saved.
    pub(super) is_typed: bool,
    /// The version that was saved last.
    pub(super) saved: Option<i32>,
}

/// Result of the check of one version.
pub(super) struct Checked {
    pub(super) version: i32,
    pub(super) text: Text,
    pub(super) found: Found,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Hash of the diagnostics.
    pub(super) result_id: String,
    /// Diagnostics of other files that depend on this one, by URI. Only language servers have them.
    pub(super) related: Vec<(String, Vec<Diagnostic>)>,
    /// [`Folder::last_buffer_change`] at the start of the check.
    pub(super) buffers: u64,
    /// Counts results, to tell those of one version apart.
    pub(super) number: u64,
}

impl Document {
    pub(super) fn new(uri: String, place: DocumentLocation, version: i32, text: Text) -> Rc<Self> {
        let state = State { version, text, is_typed: false, saved: None };
        Rc::new(Self {
            uri,
            place,
            resolved: RefCell::default(),
            state: watch::Sender::new(state),
            sent: watch::Sender::new((0, i32::MIN)),
            checked: watch::Sender::new(None),
            checking: Cell::new(0),
            reported: Cell::new(None),
            task: Cell::new(None),
            waiting: Cell::new(0),
            given_up: watch::Sender::new(0),
            is_given_up: Cell::new(false),
        })
    }

    pub(super) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    pub(super) fn version(&self) -> i32 {
        self.state.borrow().version
    }

    pub(super) fn states(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    pub(super) fn change(&self, version: i32, text: Text) {
        self.state.send_modify(|it| {
            it.version = version;
            it.text = text;
            it.is_typed = true;
        });
    }

    pub(super) fn mark_sent(&self, epoch: u64, version: i32) {
        self.sent.send_replace((epoch, version));
    }

    /// Waits until the daemon has the text that the document has at this call. Ends as well if the document is closed, or its
    /// folder cannot be served. Does not keep the document.
    pub(super) fn until_sent(&self) -> impl Future<Output = ()> + use<> {
        let (version, mut sent, folder) = (self.version(), self.sent.subscribe(), self.folder().cloned());
        async move {
            let Some(folder) = folder else { return };
            let Ok(connection) = folder.served().await else { return };
            let _closed = sent.wait_for(|it| *it >= (connection.epoch, version)).await;
        }
    }

    /// Has its task check the same version again.
    pub(super) fn touch(&self) {
        self.state.send_modify(|_| {});
    }

    /// Notes that a check begins, as of this change of a buffer.
    pub(super) fn mark_checking(&self, buffers: u64) {
        self.checking.set(buffers);
    }

    /// [`Folder::last_buffer_change`] at the start of the last check.
    pub(super) fn last_check(&self) -> u64 {
        self.checking.get()
    }

    /// Starts the check again unless the last one began after this change of a buffer, be it of another document: findings may depend
    /// on that one.
    pub(super) fn check_since(&self, buffers: u64) {
        if self.last_check() < buffers {
            self.touch();
        }
    }

    /// Registers a request that waits for a result. Starts the check again if it was given up.
    pub(super) fn wait_for_result(self: &Rc<Self>) -> Waiting {
        self.waiting.set(self.waiting.get() + 1);
        if self.is_given_up.replace(false) {
            self.touch();
        }
        Waiting(Rc::clone(self))
    }

    /// Receives each time that a running check is given up.
    pub(super) fn give_ups(&self) -> watch::Receiver<u64> {
        self.given_up.subscribe()
    }

    pub(super) fn saved(&self) {
        self.state.send_modify(|it| {
            it.saved = Some(it.version);
            // The disk has this text, so that the base may show the disk again.
            it.is_typed = false;
        });
    }

    /// Sets the task that is aborted when the document is dropped.
    pub(super) fn set_task(&self, task: AbortHandle) {
        self.task.set(Some(task));
    }

    /// Aborts its task, so that no later text is sent.
    pub(super) fn end_task(&self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }

    /// The result for the current version, if it is there.
    pub(super) fn checked(&self) -> Option<Rc<Checked>> {
        let checked = self.checked.borrow().clone();
        checked.filter(|it| it.version == self.version())
    }

    /// Waits for the result for a version. An error if the document has changed since.
    pub(super) async fn result_of(&self, version: i32) -> Result<Rc<Checked>, Failure> {
        let (mut results, mut states) = (self.results(), self.states());
        loop {
            if self.version() != version {
                return Err(Failure::content_modified());
            }
            if let Some(checked) = self.checked() {
                return Ok(checked);
            }
            tokio::select! {
                changed = results.changed() => changed.map_err(Failure::internal)?,
                changed = states.changed() => changed.map_err(Failure::internal)?,
            }
        }
    }

    pub(super) fn results(&self) -> watch::Receiver<Option<Rc<Checked>>> {
        self.checked.subscribe()
    }

    /// Stores a result. `false` if it tells the client nothing new: it equals the last one, or is of an older version.
    pub(super) fn keep(&self, mut checked: Checked) -> bool {
        if checked.version != self.version() {
            return false;
        }
        let last = self.checked.borrow().clone();
        let is_same = |it: &Rc<Checked>| {
            it.version == checked.version
                && it.result_id == checked.result_id
                && it.related == checked.related
        };
        let is_new = !last.as_ref().is_some_and(is_same);
        checked.number = last.map_or(0, |it| it.number) + u64::from(is_new);
        self.checked.send_replace(Some(Rc::new(checked)));
        is_new
    }

    /// Notes that the client has pulled this result.
    pub(super) fn mark_reported(&self, checked: &Checked) {
        self.reported.set(Some((checked.version, checked.number)));
    }

    /// Whether the client has pulled an older result for the same version.
    pub(super) fn has_outdated_report(&self, checked: &Checked) -> bool {
        self.reported
            .get()
            .is_some_and(|(version, number)| version == checked.version && number < checked.number)
    }

    pub(super) fn folder(&self) -> Option<&Rc<Folder>> {
        match &self.place {
            DocumentLocation::Base(folder, _) | DocumentLocation::Branch(folder, _) => Some(folder),
            DocumentLocation::Elsewhere => None,
        }
    }

    /// Looks where links lead now; they may change while the document is open.
    pub(super) fn resolve(&self) {
        if let DocumentLocation::Base(folder, path) = &self.place {
            self.resolved.replace(Some(folder.resolved(path)));
        }
    }

    /// Whether the document is this file of the base, by whatever path it was opened.
    pub(super) fn shows(&self, folder: &Rc<Folder>, path: &str) -> bool {
        let is_resolved = || self.resolved.borrow().as_ref().is_some_and(|it| it.as_str() == path);
        matches!(&self.place, DocumentLocation::Base(of, at) if Rc::ptr_eq(of, folder) && (at.as_str() == path || is_resolved()))
    }

    /// The path in the workspace, for a file of a branch, too.
    pub(super) fn path(&self) -> Option<&WorkspacePath> {
        match &self.place {
            DocumentLocation::Base(_, path) => Some(path),
            DocumentLocation::Branch(_, file) => Some(&file.path),
            DocumentLocation::Elsewhere => None,
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let document = &self.0;
        document.waiting.set(document.waiting.get() - 1);
        if document.waiting.get() == 0 && document.checked().is_none() {
            document.is_given_up.set(true);
            document.given_up.send_modify(|it| *it += 1);
        }
    }
}

impl Drop for Document {
    fn drop(&mut self) {
        self.end_task();
    }
}
