//! The files of a branch at one revision, fetched when they are looked at.

use std::{collections::HashMap, io};

use bytes::Bytes;
use overlay::{FileKind, Listing, Metadata, Revision, View, WorkspacePath};
use parking_lot::Mutex;
use workspaces::{ErrorKind, FileText, Side};

use crate::client::Opened;

/// Texts that findings are about, links followed. Folders are not listed.
pub(super) struct Texts<'a> {
    open: &'a Opened,
    branch: &'a str,
    revision: Revision,
    /// `None` for what could not be had.
    known: Mutex<HashMap<WorkspacePath, Option<Bytes>>>,
}

impl<'a> Texts<'a> {
    /// The files of `branch`; those of `shown` have that content instead.
    pub(super) fn new(open: &'a Opened, branch: &'a str, revision: Revision, shown: &[FileText]) -> Self {
        let text = |it: &FileText| Some((WorkspacePath::new(&it.path).ok()?, Some(it.content.clone())));
        let known = shown.iter().filter_map(text).collect();
        Self { open, branch, revision, known: Mutex::new(known) }
    }
}

impl View for Texts<'_> {
    fn read(&self, path: &WorkspacePath) -> io::Result<Bytes> {
        let mut known = self.known.lock();
        if let Some(text) = known.get(path) {
            return text.clone().ok_or_else(|| io::ErrorKind::NotFound.into());
        }
        let read = self.open.read(self.branch, path.as_str(), Side::Revision(self.revision));
        let read = read.map(|it| it.bytes);
        known.insert(path.clone(), read.as_ref().ok().cloned());
        read.map_err(|error| match error.kind {
            ErrorKind::NotFound => io::ErrorKind::NotFound.into(),
            _ => io::Error::other(error),
        })
    }

    fn metadata(&self, path: &WorkspacePath) -> io::Result<Metadata> {
        let size = self.read(path)?.len() as u64;
        Ok(Metadata { kind: FileKind::File, size, executable: false })
    }

    fn list(&self, _: &WorkspacePath) -> io::Result<Listing> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn read_link(&self, _: &WorkspacePath) -> io::Result<String> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
