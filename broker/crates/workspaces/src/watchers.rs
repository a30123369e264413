//! Clients that watch a workspace, each an editor with a handle and a queue of events.

use std::{collections::BTreeMap, sync::Arc};

use lint::is_invisible;
use overlay::{BufferChange, EditorId, ShownText};
use parking_lot::Mutex;

use super::{
    DaemonError, random,
    workspace_events::{BranchChange, BufferShown, EditorText, EventQueue, WorkspaceEvent},
};

/// Limit against runaway clients.
const MAX_EDITORS: usize = 256;

/// Limit on an editor's name, in bytes.
const LONGEST_NAME: usize = 100;

/// Name of an editor that gave none.
const UNNAMED: &str = "an editor";

/// Watching clients, by their handles as editors.
#[derive(Default)]
pub(super) struct Watchers(Mutex<BTreeMap<EditorId, Arc<Watcher>>>);

pub(super) struct Watcher {
    name: String,
    takes_commits: bool,
    pub(super) queue: EventQueue,
}

impl Watchers {
    /// Adds a client, which gets every later event.
    pub(super) fn add(
        &self,
        name: String,
        takes_commits: bool,
    ) -> Result<(EditorId, Arc<Watcher>), DaemonError> {
        expect_name(&name)?;
        let id = EditorId(random::handle()?.into());
        let watcher = Arc::new(Watcher { name, takes_commits, queue: EventQueue::default() });
        let mut all = self.0.lock();
        DaemonError::expect_at_most(MAX_EDITORS, all.len() + 1, "editors of a workspace")?;
        all.insert(id.clone(), Arc::clone(&watcher));
        Ok((id, watcher))
    }

    pub(super) fn remove(&self, id: &EditorId) {
        self.0.lock().remove(id);
    }

    pub(super) fn expect(&self, id: &EditorId) -> Result<(), DaemonError> {
        match self.0.lock().contains_key(id) {
            true => Ok(()),
            false => Err(DaemonError::EditorGone(id.0.to_string())),
        }
    }

    pub(super) fn takes_commits(&self, id: &EditorId) -> bool {
        self.0.lock().get(id).is_some_and(|it| it.takes_commits)
    }

    /// Queues a change of a branch for all clients. `change` is only called if there is a client.
    pub(super) fn send_branch(&self, change: impl FnOnce() -> BranchChange) {
        // `change` looks at the branch, which is slow: do not hold the lock meanwhile.
        if self.0.lock().is_empty() {
            return;
        }
        let change = Arc::new(change());
        self.0.lock().values().for_each(|it| it.queue.push(WorkspaceEvent::Branch(Arc::clone(&change))));
    }

    /// Queues a change of a buffer for all but the editor whose text the base shows.
    pub(super) fn send_buffer(&self, change: &BufferChange) {
        let all = self.0.lock();
        let owner = change.shown.as_ref().and_then(|it| it.editor.as_ref());
        let shown = change.shown.as_ref().map(|it| text(&all, it));
        let event = BufferShown { path: change.place.clone(), shown };
        for (id, watcher) in &*all {
            match Some(id) == owner {
                true => watcher.queue.forget(&change.place),
                false => watcher.queue.push(WorkspaceEvent::Buffer(event.clone())),
            }
        }
    }
}

fn text(all: &BTreeMap<EditorId, Arc<Watcher>>, it: &ShownText) -> EditorText {
    let name = it.editor.as_ref().and_then(|it| all.get(it)).map(|it| it.name.as_str());
    let name = name.filter(|it| !it.is_empty()).unwrap_or(UNNAMED);
    EditorText { client_name: name.to_owned(), content: it.hash }
}

fn expect_name(name: &str) -> Result<(), DaemonError> {
    DaemonError::expect_at_most(LONGEST_NAME, name.len(), "bytes of a client's name")?;
    if name.chars().any(is_invisible) {
        let message = "a name may not contain control characters or invisible ones";
        return Err(DaemonError::invalid("client_name", message));
    }
    Ok(())
}
