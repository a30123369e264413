//! Unsaved texts of a workspace, by editor. An editor is a client that watches the workspace; its buffers end with the watch.

use std::sync::Arc;

use overlay::{Base, BufferError, BufferText, EditorId, SetBuffer, WorkspacePath};
use parking_lot::Mutex;

use super::{
    DaemonError,
    watchers::{Watcher, Watchers},
};

/// The editors of one workspace.
pub(super) struct Editors {
    base: Base,
    pub(super) watchers: Arc<Watchers>,
    /// Held from a change of a buffer until its event is queued, so that all clients get events in the same order.
    changing: Mutex<()>,
}

/// An editor's session. Dropping it closes the editor's buffers, which reads files and may block.
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

    /// Sets the buffer of a file.
    pub(super) fn set(&self, text: BufferText) -> Result<SetBuffer, DaemonError> {
        let _in_turn = self.changing.lock();
        text.editor.as_ref().map_or(Ok(()), |it| self.watchers.expect(it))?;
        let set = self.base.set_buffer_of(text).map_err(|error| match error {
            error @ BufferError::BuffersFull { .. } => DaemonError::Edit(error),
            error => DaemonError::invalid("path", error),
        })?;
        set.change.iter().for_each(|it| self.watchers.send_buffer(it));
        Ok(set)
    }

    /// Closes the buffer of a file. Returns whether there was one.
    pub(super) fn close(&self, editor: Option<&EditorId>, path: &WorkspacePath) -> Result<bool, DaemonError> {
        let _in_turn = self.changing.lock();
        editor.map_or(Ok(()), |it| self.watchers.expect(it))?;
        let closed = self.base.close_buffer_of(editor, path);
        closed.change.iter().for_each(|it| self.watchers.send_buffer(it));
        Ok(closed.was_open)
    }

    /// Whether the base shows the text of an editor at `path` that applies commits to its unsaved texts by itself.
    pub(super) fn take_commits(&self, path: &WorkspacePath) -> bool {
        self.base.editor_of(path).is_some_and(|it| self.watchers.takes_commits(&it))
    }

    fn leave(&self, editor: &EditorId) {
        let _in_turn = self.changing.lock();
        // First, so that a buffer that it sets from now on is refused rather than left behind.
        self.watchers.remove(editor);
        let changes = self.base.close_buffers_of(editor);
        changes.iter().for_each(|it| self.watchers.send_buffer(it));
    }
}

impl Drop for EditorSession {
    fn drop(&mut self) {
        self.editors.leave(&self.id);
    }
}

#[cfg(test)]
mod tests;
