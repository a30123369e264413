//! Errors of the store. Every text names the place and the remedy.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Error of opening, saving or reading branches. One failure may be reported to several callers.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    #[error("the branches in {} are in use by another process; stop that one, or let it do the work", dir.display())]
    InUse { dir: PathBuf },
    /// Nothing of the file was changed.
    #[error(
        "{} is damaged ({reason}); it was left as it is. To start without its branches move it away: mv {} {}.damaged",
        path.display(), path.display(), path.display()
    )]
    Corrupt { path: PathBuf, reason: String },
    #[error("{} cannot be written to; check its permissions and how its file system is mounted", path.display())]
    ReadOnly { path: PathBuf },
    #[error("no room is left for {}; free some, then try again", path.display())]
    NoSpace { path: PathBuf },
    #[error(
        "{} was written by another version of Broker (its schema is {found}, this Broker knows {known}); use \
         that version, or move the file away to start without its branches: mv {} {}.other",
        path.display(), path.display(), path.display()
    )]
    OtherVersion { path: PathBuf, found: u64, known: u64 },
    #[error("could not {doing} {}: {source}", path.display())]
    Io { path: PathBuf, doing: &'static str, source: Arc<io::Error> },
    #[error("no branch `{id}` was saved")]
    NoSuchBranch { id: String },
    #[error("the steps of branch `{id}` cannot be saved: {reason}")]
    Unsavable { id: String, reason: String },
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    pub(super) fn io(path: &Path, doing: &'static str, source: io::Error) -> Self {
        use io::ErrorKind as Kind;
        let path = path.to_owned();
        match source.kind() {
            Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => Self::NoSpace { path },
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => Self::ReadOnly { path },
            _ => Self::Io { path, doing, source: Arc::new(source) },
        }
    }

    pub(super) fn redb(path: &Path, doing: &'static str, error: impl Into<redb::Error>) -> Self {
        match error.into() {
            redb::Error::Io(source) => Self::io(path, doing, source),
            redb::Error::DatabaseAlreadyOpen => Self::InUse { dir: path.parent().unwrap_or(path).to_owned() },
            error @ (redb::Error::PreviousIo | redb::Error::ValueTooLarge(_)) => {
                Self::io(path, doing, io::Error::other(error.to_string()))
            }
            error => Self::Corrupt { path: path.to_owned(), reason: error.to_string() },
        }
    }
}
