//! Differences of a view to the folder on the disk, as entries that lie over the folder.

use std::{io, path::Path};

use bytes::Bytes;
use overlay::{FileKind, View, WorkspacePath};
use serde::{Deserialize, Serialize};

/// The entries of a layer. A directory comes before what it holds.
#[derive(Debug, Default)]
pub struct Layer {
    pub entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub path: WorkspacePath,
    pub kind: EntryKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryKind {
    /// Absence of the entry that the folder has here.
    Removed,
    /// A directory that shows nothing of what the folder has in it.
    Directory,
    File {
        bytes: Bytes,
        executable: bool,
    },
    Link(String),
}

/// An entry as it is sent: the bytes of a file follow.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) path: String,
    pub(crate) kind: HeaderKind,
    /// Modification time, in nanoseconds since 1970; now if there is none.
    pub(crate) modified: Option<i64>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum HeaderKind {
    Removed,
    Directory,
    File {
        size: u64,
        executable: bool,
    },
    Link(String),
    /// Entry of the folder, with another time.
    Restamped,
}

impl Layer {
    /// Returns the differences of `view` to the folder on the disk that it lies over. Costs by the edits; a directory that is one
    /// whole edit, as after it was moved, is copied into memory.
    pub fn of(view: &dyn View) -> io::Result<Self> {
        Self::at(view, view.edits())
    }

    /// Returns the entries of `view` at these paths and below them. No path lies below another.
    pub fn at(view: &dyn View, paths: impl IntoIterator<Item = WorkspacePath>) -> io::Result<Self> {
        let mut layer = Self::default();
        for path in paths {
            layer.add(view, path)?;
        }
        Ok(layer)
    }

    fn add(&mut self, view: &dyn View, path: WorkspacePath) -> io::Result<()> {
        let metadata = match view.metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if is_nothing(&error) => {
                self.entries.push(Entry { path, kind: EntryKind::Removed });
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let kind = match metadata.kind {
            FileKind::File => EntryKind::File { bytes: view.read(&path)?, executable: metadata.executable },
            FileKind::Symlink => EntryKind::Link(view.read_link(&path)?),
            FileKind::Directory => EntryKind::Directory,
            // A branch makes none, so that this is the folder's own.
            FileKind::Other => return Ok(()),
        };
        let is_directory = kind == EntryKind::Directory;
        self.entries.push(Entry { path: path.clone(), kind });
        if is_directory {
            for entry in view.list(&path)?.entries {
                self.add(view, path.child(&entry.name))?;
            }
        }
        Ok(())
    }
}

/// The mode of a file that had `before`.
pub(crate) fn mode(before: Option<u32>, executable: bool) -> u32 {
    let mode = before.unwrap_or(0o644) & 0o777;
    // All who may read it may execute it.
    if executable { mode | ((mode & 0o444) >> 2) } else { mode & !0o111 }
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl Entry {
    pub(crate) fn header(&self) -> Header {
        let kind = match &self.kind {
            EntryKind::Removed => HeaderKind::Removed,
            EntryKind::Directory => HeaderKind::Directory,
            EntryKind::File { bytes, executable } => {
                HeaderKind::File { size: bytes.len() as u64, executable: *executable }
            }
            EntryKind::Link(to) => HeaderKind::Link(to.clone()),
        };
        Header { path: self.path.as_str().to_owned(), kind, modified: None }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.kind {
            EntryKind::File { bytes, .. } => bytes,
            _ => &[],
        }
    }
}

impl Header {
    pub(crate) fn path(&self) -> &Path {
        Path::new(&self.path)
    }

    pub(crate) fn is_file(&self) -> bool {
        matches!(self.kind, HeaderKind::File { .. })
    }

    /// Sets the size, if this is the header of a file.
    pub(crate) fn with_size(self, length: usize) -> Self {
        let kind = match self.kind {
            HeaderKind::File { executable, .. } => HeaderKind::File { size: length as u64, executable },
            kind => kind,
        };
        Self { kind, ..self }
    }

    /// Bytes that follow.
    pub(crate) fn size(&self) -> u64 {
        match self.kind {
            HeaderKind::File { size, .. } => size,
            _ => 0,
        }
    }

    /// `None` if the path is none of a workspace.
    pub(crate) fn into_entry(self, bytes: Vec<u8>) -> Option<Entry> {
        let kind = match self.kind {
            HeaderKind::Removed => EntryKind::Removed,
            HeaderKind::Directory => EntryKind::Directory,
            HeaderKind::File { executable, .. } => EntryKind::File { bytes: bytes.into(), executable },
            HeaderKind::Link(to) => EntryKind::Link(to),
            HeaderKind::Restamped => return None,
        };
        Some(Entry { path: WorkspacePath::new(&self.path).ok()?, kind })
    }
}
