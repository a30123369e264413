//! Events of a workspace, and the queue of those that one client has not taken yet.

use std::{collections::VecDeque, sync::Arc};

use overlay::{ContentHash, EditorId, WorkspacePath};
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::{DaemonError, FileChange, branch_info::BranchInfo};

/// A change of a workspace, or the beginning of a watch.
#[derive(Debug, Clone)]
pub enum WorkspaceEvent {
    /// The watch has begun. The client is this editor until it ends the watch.
    Started(EditorId),
    /// The content of the base has changed.
    BaseChanged,
    Branch(Arc<BranchChange>),
    Buffer(BufferShown),
}

/// A change of a branch.
#[derive(Debug, Clone)]
pub struct BranchChange {
    pub kind: BranchChangeKind,
    /// The branch after the change; as it was before, if it was discarded.
    pub branch: BranchInfo,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchChangeKind {
    Forked,
    /// By an edit, an undo or a rebase.
    Edited,
    Committed {
        changes: Vec<FileChange>,
        /// Paths as in [`Committed::unsaved`](super::Committed::unsaved), and below as in
        /// [`Committed::left`](super::Committed::left).
        unsaved: Vec<WorkspacePath>,
        left: Vec<WorkspacePath>,
    },
    Discarded,
}

/// Which text the base shows for a file, after a change of buffers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BufferShown {
    pub path: WorkspacePath,
    /// `None` for that of the disk.
    pub shown: Option<EditorText>,
}

/// An unsaved text: its editor's name and its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorText {
    pub client_name: String,
    pub content: ContentHash,
}

/// Limit on events that wait for one client.
pub(super) const MAX_WAITING: usize = 1024;

/// Events that wait for one client. A buffer's event replaces an older one of the same file.
#[derive(Default)]
pub(super) struct EventQueue {
    waiting: Mutex<Waiting>,
    added: Notify,
}

#[derive(Default)]
struct Waiting {
    events: VecDeque<WorkspaceEvent>,
    /// The limit was exceeded, and the events are dropped.
    is_overrun: bool,
}

impl EventQueue {
    pub(super) fn push(&self, event: WorkspaceEvent) {
        self.change(|waiting| waiting.push(event));
    }

    /// Drops the waiting event of a file's buffer, which is outdated.
    pub(super) fn forget(&self, path: &WorkspacePath) {
        self.change(|waiting| waiting.events.retain(|it| it.file() != Some(path)));
    }

    fn change(&self, change: impl FnOnce(&mut Waiting)) {
        change(&mut self.waiting.lock());
        self.added.notify_one();
    }

    /// Waits for the next event. An error if the limit was exceeded. Only one task may wait.
    pub(super) async fn next(&self) -> Result<WorkspaceEvent, DaemonError> {
        loop {
            if let Some(next) = self.take() {
                return next;
            }
            self.added.notified().await;
        }
    }

    fn take(&self) -> Option<Result<WorkspaceEvent, DaemonError>> {
        let mut waiting = self.waiting.lock();
        match waiting.is_overrun {
            true => Some(Err(DaemonError::ClientTooSlow { limit: MAX_WAITING })),
            false => waiting.events.pop_front().map(Ok),
        }
    }
}

impl Waiting {
    fn push(&mut self, event: WorkspaceEvent) {
        if let Some(path) = event.file() {
            self.events.retain(|it| it.file() != Some(path));
        }
        if self.is_overrun || self.events.len() == MAX_WAITING {
            self.is_overrun = true;
            self.events = VecDeque::new();
            return;
        }
        self.events.push_back(event);
    }
}

impl WorkspaceEvent {
    /// The file of a buffer's event.
    fn file(&self) -> Option<&WorkspacePath> {
        match self {
            Self::Buffer(it) => Some(&it.path),
            _ => None,
        }
    }
}
