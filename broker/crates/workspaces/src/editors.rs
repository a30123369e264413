//! The unsaved texts of a workspace, by editor. An editor is a client that watches the workspace; its texts go when it leaves.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use overlay::{Base, BufferError, BufferText, EditorId, SetBuffer, WorkspacePath};

use super::{
    DaemonError,
    watchers::{Watcher, Watchers},
};

/// The editors of one workspace.
pub(super) struct Editors {
    base: Base,
    pub(super) watchers: Arc<Watchers>,
    /// Held from a change of texts until it is sent, so that all clients get the same order.
    changing: Mutex<()>,
}

/// An editor, for as long as this lives. Dropping it looks at files, and takes its time.
pub(super) struct EditorSession {
    pub(super) id: EditorId,
    pub(super) watcher: Arc<Watcher>,
    editors: Arc<Editors>,
}

impl Editors {
    pub(super) fn new(base: Base) -> Arc<Self> {
        Arc::new(Self { base, watchers: Arc::default(), changing: Mutex::default() })
    }

    pub(super) fn enter(
        self: &Arc<Self>,
        name: String,
        takes_commits: bool,
    ) -> Result<EditorSession, DaemonError> {
        let (id, watcher) = self.watchers.add(name, takes_commits)?;
        Ok(EditorSession { id, watcher, editors: Arc::clone(self) })
    }

    /// Lays a text over a file.
    pub(super) fn set(&self, text: BufferText) -> Result<SetBuffer, DaemonError> {
        let _in_turn = self.turn();
        text.editor.as_ref().map_or(Ok(()), |it| self.watchers.expect(it))?;
        let set = self.base.set_buffer_of(text).map_err(|error| match error {
            error @ BufferError::BuffersFull { .. } => DaemonError::Edit(error),
            error => DaemonError::invalid("path", error),
        })?;
        set.change.iter().for_each(|it| self.watchers.send_buffer(it));
        Ok(set)
    }

    /// Takes a text away. Whether there was one.
    pub(super) fn close(&self, editor: Option<&EditorId>, path: &WorkspacePath) -> Result<bool, DaemonError> {
        let _in_turn = self.turn();
        editor.map_or(Ok(()), |it| self.watchers.expect(it))?;
        let closed = self.base.close_buffer_of(editor, path);
        closed.change.iter().for_each(|it| self.watchers.send_buffer(it));
        Ok(closed.was_open)
    }

    /// Whether the text that is shown at `path` is one of an editor that takes commits into its texts.
    pub(super) fn take_commits(&self, path: &WorkspacePath) -> bool {
        self.base.editor_of(path).is_some_and(|it| self.watchers.takes_commits(&it))
    }

    fn leave(&self, editor: &EditorId) {
        let _in_turn = self.turn();
        // Texts that it sends later are refused, so that none stays.
        self.watchers.remove(editor);
        let changes = self.base.close_buffers_of(editor);
        changes.iter().for_each(|it| self.watchers.send_buffer(it));
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for EditorSession {
    fn drop(&mut self) {
        self.editors.leave(&self.id);
    }
}

#[cfg(test)]
mod tests;
