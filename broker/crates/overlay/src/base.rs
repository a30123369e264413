//! The live workspace of a daemon: the disk, under the texts that editors have not saved.
//!
//! Contents once read are cached, and each use checks the entry with a `stat` of the path beneath the root: it counts
//! only if device, inode, size, permissions and both times are those of the read, and if at that time the file had
//! been at rest for longer than a tick of the file system. So no event that a watcher misses can make an answer
//! stale.
//!
//! Three things no stat tells, and so they are not noticed: a page that is written through a shared `mmap`
//! before the kernel moves the time; one `write` call in place that takes longer than the tick; and a file
//! system whose times are coarser than two seconds, or come from another machine's slow clock.
//!
//! Nothing of the workspace is ever written.

mod buffers;
mod changes;
mod journal;
mod live;
mod tracking;
mod watch;

use std::{
    io,
    path::Path,
    sync::{Arc, atomic::Ordering},
};

use buffers::Buffers;
pub use buffers::{BufferChange, BufferError, BufferText, ClosedBuffer, EditorId, SetBuffer, ShownText};
use bytes::Bytes;
use changes::Announcements;
pub use changes::Changes;
use live::Live;
pub use watch::{Degraded, SettleError, Watch, WatchError};

use crate::{ContentHash, Disk, Extensions, FileHash, Listing, Metadata, Tracked, View, WorkspacePath};

/// The disk under the editors' unsaved texts. Cloning it gives another handle of the same.
#[derive(Clone)]
pub struct Base {
    shared: Arc<Shared>,
}

struct Shared {
    live: Arc<Live>,
    buffers: Buffers,
    announcements: Announcements,
    extensions: Extensions,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseOptions {
    /// Bytes of file contents to keep in memory.
    pub text_budget: u64,
}

impl Default for BaseOptions {
    fn default() -> Self {
        Self { text_budget: 32 << 20 }
    }
}

impl Base {
    /// Opens a workspace folder, which must exist.
    pub fn open(root: &Path, options: BaseOptions) -> io::Result<Self> {
        let live = Arc::new(Live::new(Disk::new(root)?, options.text_budget));
        let buffers = Buffers::new(live.clone());
        let (announcements, extensions) = (Announcements::default(), Extensions::default());
        Ok(Self { shared: Arc::new(Shared { live, buffers, announcements, extensions }) })
    }

    /// The folder as it is on the disk, whatever unsaved texts lie over it.
    pub fn without_buffers(&self) -> Arc<dyn View> {
        self.shared.live.clone()
    }

    /// The folder itself, without what is kept and without unsaved texts.
    pub fn disk(&self) -> &Disk {
        self.shared.live.disk()
    }

    /// Lays an editor's unsaved text over the file at `path`, or replaces the one that is there.
    ///
    /// Links are followed, as an edit of a branch follows them; where that leads is found when the buffer is
    /// opened and kept until it is closed. The file need not exist. Whatever happens on the disk meanwhile,
    /// the text stays as it is, and stays executable or not as the file was.
    pub fn set_buffer(&self, path: &WorkspacePath, text: Bytes) -> Result<(), BufferError> {
        let (path, bytes) = (path.clone(), text);
        self.set_buffer_of(BufferText { editor: None, path, bytes, is_opened: false }).map(drop)
    }

    /// Sets the text of one of several editors. The text of the one that typed last is shown, and the others' are kept.
    pub fn set_buffer_of(&self, text: BufferText) -> Result<SetBuffer, BufferError> {
        let set = self.shared.buffers.set(text)?;
        self.announce(set.change.as_slice());
        Ok(set)
    }

    /// Lets the disk show through again. False if there was no buffer of that path.
    pub fn close_buffer(&self, path: &WorkspacePath) -> bool {
        self.close_buffer_of(None, path).was_open
    }

    /// Takes the text of one of several editors away. Then that of the one which typed before it is shown.
    pub fn close_buffer_of(&self, editor: Option<&EditorId>, path: &WorkspacePath) -> ClosedBuffer {
        let closed = self.shared.buffers.close(editor, path);
        self.announce(closed.change.as_slice());
        closed
    }

    /// Takes all texts of an editor away.
    pub fn close_buffers_of(&self, editor: &EditorId) -> Vec<BufferChange> {
        let changes = self.shared.buffers.close_all(editor);
        self.announce(&changes);
        changes
    }

    fn announce(&self, changes: &[BufferChange]) {
        for change in changes.iter().filter(|it| it.is_other_content) {
            self.shared.announcements.buffer(change.place.clone());
            // Folders that are there for the text's sake come and go with it.
            let folders = std::iter::successors(change.place.parent(), WorkspacePath::parent);
            let is_shown_only = |it: &WorkspacePath| !it.is_root() && self.disk().metadata(it).is_err();
            folders.take_while(is_shown_only).for_each(|it| self.shared.announcements.buffer(it));
        }
    }

    /// The editor whose unsaved text is shown at this link-free path.
    pub fn editor_of(&self, path: &WorkspacePath) -> Option<EditorId> {
        self.shared.buffers.editor_of(path)
    }

    /// The unsaved texts that are shown, by the link-free path of the file that each stands for.
    pub fn buffers(&self) -> Vec<(WorkspacePath, ContentHash)> {
        self.shared.buffers.list()
    }

    /// Counts the batches of changes that were announced to watches.
    pub fn generation(&self) -> u64 {
        self.shared.announcements.generation().load(Ordering::Acquire)
    }

    /// Tells of changes on the disk and of buffers, a few milliseconds after they happen.
    ///
    /// Changes are a hint, for pushing and warming: the answers of a base never depend on them. `private` is an
    /// existing folder that only this process writes to, best outside of the workspace: see [`Watch::settle`]. When
    /// this returns the whole workspace is watched, or [`Watch::degraded`] gives the reason why not.
    pub fn watch(
        &self,
        private: &Path,
        on_change: impl Fn(Changes) + Send + Sync + 'static,
    ) -> Result<Watch, WatchError> {
        watch::start(&self.shared.live, &self.shared.announcements, private, Box::new(on_change))
    }
}

impl View for Base {
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        match &*self.shared.buffers.current() {
            None => self.shared.live.read(path),
            Some(buffered) => buffered.read(path),
        }
    }

    fn read_hashed(&self, path: &WorkspacePath) -> io::Result<(Bytes, ContentHash)> {
        match &*self.shared.buffers.current() {
            None => self.shared.live.read_hashed(path),
            Some(buffered) => buffered.read_hashed(path),
        }
    }

    fn hash(&self, path: &WorkspacePath) -> io::Result<ContentHash> {
        match &*self.shared.buffers.current() {
            None => self.shared.live.hash(path),
            Some(buffered) => buffered.hash(path),
        }
    }

    fn file_hash(&self, path: &WorkspacePath) -> io::Result<FileHash> {
        match &*self.shared.buffers.current() {
            None => self.shared.live.file_hash(path),
            Some(buffered) => buffered.file_hash(path),
        }
    }

    fn hash_all(&self, directory: &WorkspacePath, names: &[&str], largest: u64) -> Vec<io::Result<FileHash>> {
        match &*self.shared.buffers.current() {
            None => self.shared.live.hash_all(directory, names, largest),
            Some(buffered) => buffered.hash_all(directory, names, largest),
        }
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        match &*self.shared.buffers.current() {
            None => self.shared.live.metadata(path),
            Some(buffered) => buffered.metadata(path),
        }
    }

    fn list(&self, path: &WorkspacePath) -> io::Result<Listing> {
        match &*self.shared.buffers.current() {
            None => self.shared.live.list(path),
            Some(buffered) => buffered.list(path),
        }
    }

    fn read_link(&self, path: &WorkspacePath) -> io::Result<String> {
        match &*self.shared.buffers.current() {
            None => self.shared.live.read_link(path),
            Some(buffered) => buffered.read_link(path),
        }
    }

    fn saved(&self) -> Option<Arc<dyn View>> {
        self.shared.buffers.current().is_some().then(|| self.without_buffers())
    }

    fn tracked(&self) -> Option<Tracked> {
        Some(Tracked { log: self.shared.clone(), folder: Arc::new(self.clone()), edits: Vec::new() })
    }

    fn edits(&self) -> Vec<WorkspacePath> {
        self.shared.buffers.current().as_ref().map_or_else(Vec::new, |it| it.edits())
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
