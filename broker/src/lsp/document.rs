//! One open document: its text, version by version, and what was found in it.

use std::{cell::Cell, rc::Rc};

use gen_lsp_types::Diagnostic;
use overlay::WorkspacePath;
use tokio::{sync::watch, task::AbortHandle};

use super::{branch_uri::BranchFile, checking::Found, folder::Folder, text::Text};

/// An open document. It ends, with its task, when the client closes it.
pub(super) struct Document {
    pub(super) uri: String,
    pub(super) place: Place,
    state: watch::Sender<State>,
    /// What was found last; of an older version while a newer one is checked.
    checked: watch::Sender<Option<Rc<Checked>>>,
    /// Version and result that the client was told last.
    told: Cell<Option<(i32, u64)>>,
    task: Cell<Option<AbortHandle>>,
    /// How many requests wait for a result.
    waiting: Cell<usize>,
    /// Counts the times that none waits any more for a check that runs.
    given_up: watch::Sender<u64>,
    is_given_up: Cell<bool>,
}

/// One that waits for a result: a check that none of them waits for any more is ended.
pub(super) struct Waiting(Rc<Document>);

/// What a document stands for.
#[derive(Clone)]
pub(super) enum Place {
    /// A file of a folder; the document is its text.
    Base(Rc<Folder>, WorkspacePath),
    /// A file of a branch; the document shows its text.
    Branch(Rc<Folder>, BranchFile),
    /// Nothing that is served: an unsaved file without a name, a setting, a page of a manual.
    Elsewhere,
}

/// A document at one version.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) version: i32,
    pub(super) text: Text,
    /// Whether the person has changed it since it was opened.
    pub(super) is_typed: bool,
    /// The version that was saved last, or nothing.
    pub(super) saved: Option<i32>,
}

/// What was found in a document at one version.
pub(super) struct Checked {
    pub(super) version: i32,
    pub(super) text: Text,
    pub(super) found: Found,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The same diagnostics have the same.
    pub(super) result_id: String,
    /// Findings in other files that follow from this one, if they were asked for.
    pub(super) related: Vec<(String, Vec<Diagnostic>)>,
    /// Told apart from an earlier result for the same version.
    pub(super) number: u64,
}

impl Document {
    pub(super) fn new(uri: String, place: Place, version: i32, text: Text) -> Rc<Self> {
        let state = State { version, text, is_typed: false, saved: None };
        Rc::new(Self {
            uri,
            place,
            state: watch::Sender::new(state),
            checked: watch::Sender::new(None),
            told: Cell::new(None),
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

    /// Has its task do its work again.
    pub(super) fn touch(&self) {
        self.state.send_modify(|_| {});
    }

    /// Has the text checked, if its check was given up, and keeps it from that.
    pub(super) fn wait_for_result(self: &Rc<Self>) -> Waiting {
        self.waiting.set(self.waiting.get() + 1);
        if self.is_given_up.replace(false) {
            self.touch();
        }
        Waiting(Rc::clone(self))
    }

    /// Tells when the running check is to end.
    pub(super) fn give_ups(&self) -> watch::Receiver<u64> {
        self.given_up.subscribe()
    }

    pub(super) fn saved(&self) {
        self.state.send_modify(|it| {
            it.saved = Some(it.version);
            // The disk has it, so that the base follows the disk again.
            it.is_typed = false;
        });
    }

    /// Its task, which ends with it.
    pub(super) fn runs(&self, task: AbortHandle) {
        self.task.set(Some(task));
    }

    /// What was found in the text as it is now.
    pub(super) fn checked(&self) -> Option<Rc<Checked>> {
        let checked = self.checked.borrow().clone();
        checked.filter(|it| it.version == self.version())
    }

    pub(super) fn results(&self) -> watch::Receiver<Option<Rc<Checked>>> {
        self.checked.subscribe()
    }

    /// Keeps a result; `false` if it says what the last one said, or is of an older version.
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
        if last.as_ref().is_some_and(is_same) {
            return false;
        }
        checked.number = last.map_or(0, |it| it.number) + 1;
        self.checked.send_replace(Some(Rc::new(checked)));
        true
    }

    /// Notes that the client knows a result.
    pub(super) fn told(&self, checked: &Checked) {
        self.told.set(Some((checked.version, checked.number)));
    }

    /// Whether the client asked about this version and knows an older result of it.
    pub(super) fn is_told_otherwise(&self, checked: &Checked) -> bool {
        self.told.get().is_some_and(|(version, number)| version == checked.version && number < checked.number)
    }

    pub(super) fn folder(&self) -> Option<&Rc<Folder>> {
        match &self.place {
            Place::Base(folder, _) | Place::Branch(folder, _) => Some(folder),
            Place::Elsewhere => None,
        }
    }

    /// The file in its folder, also that of a branch.
    pub(super) fn path(&self) -> Option<&WorkspacePath> {
        match &self.place {
            Place::Base(_, path) => Some(path),
            Place::Branch(_, file) => Some(&file.path),
            Place::Elsewhere => None,
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
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}
