//! Files of the base and of branches, as they are seen; and the texts that an editor has not saved.

use std::sync::Arc;

use bytes::Bytes;
use overlay::{BufferError, ContentHash, Entry, Listing, Metadata, Revision, View, WorkspacePath};

use super::{
    Daemon, DaemonError,
    fields::{self, Page, PageRequest, Paged},
    target::TargetId,
    task::blocking,
};

/// Bytes of a file that is read whole. What is larger is no source, and on the disk for who needs it.
const MAX_READ: u64 = 256 << 20;

pub struct FileContent {
    pub bytes: Bytes,
    pub content_hash: ContentHash,
    pub executable: bool,
    /// Of the branch; 0 for the base.
    pub revision: Revision,
}

/// A page of a directory, and how many names are left out since they are no UTF-8.
pub struct DirectoryPage {
    pub entries: Paged<Entry>,
    pub not_utf8: u64,
}

impl Daemon {
    /// A file whole, at an older revision of the branch if asked.
    pub async fn read_file(
        &self,
        target: &TargetId,
        path: &str,
        revision: Option<Revision>,
    ) -> Result<FileContent, DaemonError> {
        let target = self.target(target)?;
        let path = fields::path("path", path)?;
        let resolved = target.view(revision).await?;
        blocking(move || read(&*resolved.view, &path, resolved.revision)).await
    }

    pub async fn list_directory(
        &self,
        target: &TargetId,
        path: &str,
        page: &PageRequest,
    ) -> Result<DirectoryPage, DaemonError> {
        let target = self.target(target)?;
        let path = fields::path("path", path)?;
        let page = Page::of(page, 1000, 10_000)?;
        let view = target.view(None).await?.view;
        let Listing { entries, not_utf8 } = blocking(move || {
            let listing = view.resolve(&path).and_then(|it| view.list(&it));
            listing.map_err(|error| DaemonError::file(&path, error))
        })
        .await?;
        Ok(DirectoryPage { entries: page.cut(entries.into_iter()), not_utf8 })
    }

    /// Shows `content` in place of what the disk has, as an editor does that has not saved it.
    pub async fn set_buffer(
        &self,
        workspace: &str,
        path: &str,
        content: Bytes,
    ) -> Result<ContentHash, DaemonError> {
        let served = self.workspace(workspace)?;
        let path = fields::path("path", path)?;
        blocking(move || {
            let content_hash = ContentHash::of(&content);
            let set = served.base.set_buffer(&path, content);
            set.map(|_| content_hash).map_err(|error| match error {
                error @ BufferError::BuffersFull { .. } => DaemonError::Edit(error),
                error => DaemonError::invalid("path", error),
            })
        })
        .await
    }

    /// Shows what the disk has again. Whether there was a buffer.
    pub async fn close_buffer(&self, workspace: &str, path: &str) -> Result<bool, DaemonError> {
        let served = Arc::clone(&self.workspace(workspace)?);
        let path = fields::path("path", path)?;
        blocking(move || Ok(served.base.close_buffer(&path))).await
    }
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
