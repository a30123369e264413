//! Changes of a workspace as events, and the queue of those that wait for one client.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use overlay::{Change, ContentHash, EditorId, WorkspacePath};
use tokio::sync::Notify;

use super::{DaemonError, branch_info::BranchInfo};

/// A change of a workspace, or of who watches it.
#[derive(Debug, Clone)]
pub enum WorkspaceEvent {
    /// The watch has begun; the client is this editor as long as it takes events.
    Started(EditorId),
    /// The base shows something else.
    BaseChanged,
    Branch(Arc<BranchChange>),
    Buffer(BufferShown),
}

/// What became of a branch.
#[derive(Debug, Clone)]
pub struct BranchChange {
    pub kind: BranchChangeKind,
    /// The branch after that; as it was, if it is gone.
    pub branch: BranchInfo,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchChangeKind {
    Forked,
    /// Also by an undo or a rebase.
    Edited,
    Committed {
        changes: Vec<Change>,
        /// As those of [`Committed`](super::Committed).
        unsaved: Vec<WorkspacePath>,
        left: Vec<WorkspacePath>,
    },
    Discarded,
}

/// Whose text of a file is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BufferShown {
    pub path: WorkspacePath,
    /// `None` if the disk's is.
    pub shown: Option<EditorText>,
}

/// An unsaved text by the name of its editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorText {
    pub client_name: String,
    pub content: ContentHash,
}

/// Events that may wait for one client.
pub(super) const MOST_WAITING: usize = 1024;

/// Events that wait for one client. That of a file takes the place of an older one of the same.
#[derive(Default)]
pub(super) struct EventQueue {
    waiting: Mutex<Waiting>,
    added: Notify,
}

#[derive(Default)]
struct Waiting {
    events: VecDeque<WorkspaceEvent>,
    /// There were more than may wait.
    is_overrun: bool,
}

impl EventQueue {
    pub(super) fn push(&self, event: WorkspaceEvent) {
        self.change(|waiting| waiting.push(event));
    }

    /// Takes back what waits of the file: it is not true any more.
    pub(super) fn forget(&self, path: &WorkspacePath) {
        self.change(|waiting| waiting.events.retain(|it| it.file() != Some(path)));
    }

    fn change(&self, change: impl FnOnce(&mut Waiting)) {
        change(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        self.added.notify_one();
    }

    /// Waits for the next; an error if there were too many. For one task.
    pub(super) async fn next(&self) -> Result<WorkspaceEvent, DaemonError> {
        loop {
            if let Some(next) = self.take() {
                return next;
            }
            self.added.notified().await;
        }
    }

    fn take(&self) -> Option<Result<WorkspaceEvent, DaemonError>> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        match waiting.is_overrun {
            true => Some(Err(DaemonError::ClientTooSlow { limit: MOST_WAITING })),
            false => waiting.events.pop_front().map(Ok),
        }
    }
}

impl Waiting {
    fn push(&mut self, event: WorkspaceEvent) {
        if let Some(path) = event.file() {
            self.events.retain(|it| it.file() != Some(path));
        }
        if self.is_overrun || self.events.len() == MOST_WAITING {
            self.is_overrun = true;
            self.events = VecDeque::new();
            return;
        }
        self.events.push_back(event);
    }
}

impl WorkspaceEvent {
    /// The file whose text it is about.
    fn file(&self) -> Option<&WorkspacePath> {
        match self {
            Self::Buffer(it) => Some(&it.path),
            _ => None,
        }
    }
}
