//! Files of the base and of branches, as they are seen; and the texts that an editor has not saved.

use std::sync::Arc;

use bytes::Bytes;
use overlay::{
    BufferText, ContentHash, EditorId, Entry, FileKind, Listing, Metadata, Revision, View, WorkspacePath,
};

use super::{
    Daemon, DaemonError,
    fields::{self, Page, PageRequest, Paged},
    target::{ResolvedView, Target, TargetId},
    task::blocking,
};

/// Limit on reading a whole file. Larger files are no sources; clients can read them from the disk.
const MAX_READ: u64 = 256 << 20;

#[derive(Debug, Clone)]
pub struct FileContent {
    pub bytes: Bytes,
    pub content_hash: ContentHash,
    pub executable: bool,
    /// The branch's revision; 0 for the base.
    pub revision: Revision,
}

/// A page of a directory, and how many names are left out since they are no UTF-8.
#[derive(Debug, Clone)]
pub struct DirectoryPage {
    /// With where a symbolic link leads.
    pub entries: Paged<(Entry, Option<String>)>,
    pub not_utf8: u64,
}

/// An unsaved text that the daemon has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferSet {
    pub content: ContentHash,
    /// The base shows another editor's text of the file.
    pub is_hidden: bool,
}

/// An unsaved text that the base shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    pub path: WorkspacePath,
    pub content: ContentHash,
}

/// An unsaved text.
#[derive(Debug, Clone)]
pub struct BufferRequest {
    pub workspace: String,
    /// The editor whose text it is; `None` if it stays until it is closed.
    pub editor: Option<String>,
    pub path: String,
    pub content: Bytes,
    /// Nothing was typed: another editor's text is not hidden, and what the disk has is shown as it changes.
    pub is_opened: bool,
}

/// Which state of a target is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Now,
    /// The branch as it was then.
    Revision(Revision),
    /// The branch's parent as it was at the fork, or at the last rebase.
    Parent,
}

impl Side {
    async fn of(self, target: &Target) -> Result<ResolvedView, DaemonError> {
        match self {
            Self::Now => target.view(None).await,
            Self::Revision(revision) => target.view(Some(revision)).await,
            Self::Parent => target.parent().await,
        }
    }
}

impl Daemon {
    /// All that a target shows now, with its revision, which is 0 for the base.
    pub async fn view(&self, target: &TargetId) -> Result<(Arc<dyn View>, Revision), DaemonError> {
        let ResolvedView { view, revision, .. } = self.target(target)?.view(None).await?;
        Ok((view, revision))
    }

    /// A file whole.
    pub async fn read_file(
        &self,
        target: &TargetId,
        path: &str,
        side: Side,
    ) -> Result<FileContent, DaemonError> {
        let target = self.target(target)?;
        let path = fields::path("path", path)?;
        let resolved = side.of(&target).await?;
        blocking(move || read(&*resolved.view, &path, resolved.revision)).await
    }

    pub async fn list_directory(
        &self,
        target: &TargetId,
        path: &str,
        page: &PageRequest,
        side: Side,
    ) -> Result<DirectoryPage, DaemonError> {
        let target = self.target(target)?;
        let path = fields::path("path", path)?;
        let page = Page::of(page, 1000, 10_000)?;
        let view = side.of(&target).await?.view;
        blocking(move || {
            let wrong = |error| DaemonError::file(&path, error);
            let real = view.resolve(&path).map_err(wrong)?;
            let Listing { entries, not_utf8 } = view.list(&real).map_err(wrong)?;
            let Paged { items, next_token } = page.cut(entries.into_iter());
            let with_target = |it: Entry| {
                let is_link = it.kind == FileKind::Symlink;
                let target = is_link.then(|| view.read_link(&real.child(&it.name)).ok()).flatten();
                (it, target)
            };
            let items = items.into_iter().map(with_target).collect();
            Ok(DirectoryPage { entries: Paged { items, next_token }, not_utf8 })
        })
        .await
    }

    /// The unsaved texts of a workspace, by path.
    pub fn list_buffers(&self, workspace: &str) -> Result<Vec<Buffer>, DaemonError> {
        let buffers = self.workspace(workspace)?.base.buffers().into_iter();
        let mut buffers: Vec<_> = buffers.map(|(path, content)| Buffer { path, content }).collect();
        buffers.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Ok(buffers)
    }

    /// Shows a text in place of what the disk has, as an editor does that has not saved it.
    pub async fn set_buffer(&self, request: BufferRequest) -> Result<BufferSet, DaemonError> {
        let workspace = self.workspace(&request.workspace)?;
        let path = fields::path("path", &request.path)?;
        let (editor, is_opened) = (request.editor.map(editor), request.is_opened);
        let text = BufferText { editor, path, bytes: request.content, is_opened };
        let set = move || workspace.editors.set(text);
        blocking(move || set().map(|it| BufferSet { content: it.hash, is_hidden: it.is_hidden })).await
    }

    /// Takes the text of an editor away, so that another's or the disk's is shown. Whether there was a buffer.
    pub async fn close_buffer(
        &self,
        workspace: &str,
        path: &str,
        editor: Option<String>,
    ) -> Result<bool, DaemonError> {
        let workspace = self.workspace(workspace)?;
        let path = fields::path("path", path)?;
        let editor = editor.map(self::editor);
        blocking(move || workspace.editors.close(editor.as_ref(), &path)).await
    }
}

fn editor(handle: String) -> EditorId {
    EditorId(handle.into())
}

fn read(view: &dyn View, path: &WorkspacePath, revision: Revision) -> Result<FileContent, DaemonError> {
    let wrong = |error| DaemonError::file(path, error);
    let real = view.resolve(path).map_err(wrong)?;
    let Metadata { size: actual, executable, .. } = view.metadata(&real).map_err(wrong)?;
    if actual > MAX_READ {
        return Err(DaemonError::TooMuch { what: "bytes of a file", limit: MAX_READ, actual });
    }
    let bytes = view.read(&real).map_err(wrong)?;
    Ok(FileContent { content_hash: ContentHash::of(&bytes), bytes, executable, revision })
}
