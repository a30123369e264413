//! The table of all errors: what kind each is of, and the reason that stays the same from version to version.

use std::{borrow::Cow, io};

use language_servers::NoAnswer;
use overlay::{CommitError, DiskState, EditError, StoreError, WorkspacePath, io_reason};

use super::{DaemonError, Facts, facts};

/// Kinds of errors, by what a client can do about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request makes no sense, in whatever state the daemon is.
    Invalid,
    NotFound,
    AlreadyExists,
    /// Something else came first: look again, and ask again.
    Aborted,
    /// The state of the branch, the disk or the configuration forbids it.
    Refused,
    /// The system forbids it.
    Forbidden,
    Unauthenticated,
    /// A queue or a disk is full.
    Exhausted,
    /// Not now.
    Unavailable,
    Unsupported,
    DeadlineExceeded,
    DataLoss,
    Internal,
}

/// A path that a commit or a rebase cannot get past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// Stable, for programs.
    pub kind: Cow<'static, str>,
    /// Workspace path. Text, since the path of an answer may be one that is not known here.
    pub path: String,
    pub reason: String,
}

/// Kind of an obstacle: another program has the file open for writing, which no `force_paths` overrides.
pub const OPEN_FOR_WRITING: &str = "OPEN_FOR_WRITING";

/// Kind of an obstacle: something else is there than the branch was made on.
const CONFLICT: &str = "CONFLICT";

/// Kind of an obstacle: a text has the markers that a rebase wrote.
const MARKERS: &str = "MARKERS";
const NEW_ERROR: &str = "NEW_ERROR";

impl DaemonError {
    /// The reason of conflicts.
    pub(crate) const CONFLICT: &'static str = "CONFLICT";

    pub fn kind(&self) -> ErrorKind {
        row(self).0
    }

    /// Stable identifier of the error, for programs.
    pub fn reason(&self) -> &'static str {
        row(self).1
    }

    /// Facts about the error, for programs.
    pub fn facts(&self) -> Facts {
        facts::of(self)
    }

    /// The error for people, with its remedy.
    pub fn sentence(&self) -> String {
        match self {
            Self::Io { message, source } => format!("{message}: {}", io_reason(source)),
            Self::InEdit { error, .. } => error.sentence(),
            other => match other.hint() {
                Some(hint) => format!("{other} ({hint})"),
                None => other.to_string(),
            },
        }
    }

    /// Remedy, where it is no part of the message.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Setup { hint, .. } | Self::NoServer { hint, .. } | Self::NoFolder { hint, .. } => {
                hint.as_deref()
            }
            Self::SandboxDiffers { .. } => Some(
                "run it with the same options, end what runs (`broker run ps` lists it), or give it a folder of its own (`--own-folder`)",
            ),
            Self::Markers(_) => Some(
                "edit the lines between `<<<<<<<` and `>>>>>>>`, and remove these markers; a file that is to have them is written with `--force PATH`",
            ),
            Self::EditedMeanwhile { .. } => Some("run the command again"),
            Self::InEdit { error, .. } => error.hint(),
            _ => None,
        }
    }

    /// The paths that stand in the way.
    pub fn obstacles(&self) -> Vec<Obstacle> {
        match self {
            Self::Conflicts(conflicts) => {
                conflicts.iter().map(|it| Obstacle::new(CONFLICT, &it.path, &it.describe())).collect()
            }
            Self::Markers(places) => {
                let obstacle = |(path, lines): &(WorkspacePath, Vec<u32>)| {
                    let lines = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
                    let reason = format!("`{path}` has markers of conflicts at the lines {lines}");
                    Obstacle::new(MARKERS, path, &reason)
                };
                places.iter().map(obstacle).collect()
            }
            Self::NotClean { errors, .. } => {
                errors.iter().map(|(path, what)| Obstacle::new(NEW_ERROR, path, what)).collect()
            }
            Self::Commit(error) => {
                let conflicts = error.conflicts().unwrap_or_default().iter();
                let conflicts = conflicts.map(|it| Obstacle::new(kind_of(&it.found), &it.path, it));
                let left = error.leftovers().iter().map(|it| Obstacle::new(CONFLICT, &it.path, it));
                conflicts.chain(left).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Obstacle {
    fn new(kind: &'static str, path: &WorkspacePath, reason: &impl ToString) -> Self {
        Self { kind: Cow::Borrowed(kind), path: path.to_string(), reason: reason.to_string() }
    }
}

fn kind_of(found: &DiskState) -> &'static str {
    if *found == DiskState::OpenForWriting { OPEN_FOR_WRITING } else { CONFLICT }
}

/// Kind and reason of each error.
fn row(error: &DaemonError) -> (ErrorKind, &'static str) {
    match error {
        DaemonError::NotFound { .. } => (ErrorKind::NotFound, "NOT_FOUND"),
        DaemonError::EditorGone(_) => (ErrorKind::NotFound, "EDITOR_GONE"),
        DaemonError::ClientTooSlow { .. } => (ErrorKind::Exhausted, "CLIENT_TOO_SLOW"),
        DaemonError::NameTaken(_) => (ErrorKind::AlreadyExists, "NAME_TAKEN"),
        DaemonError::RunNameTaken(_) => (ErrorKind::AlreadyExists, "RUN_NAME_TAKEN"),
        DaemonError::Invalid { .. } => (ErrorKind::Invalid, "INVALID_FIELD"),
        DaemonError::TooMuch { .. } => (ErrorKind::Invalid, "LIMIT_EXCEEDED"),
        DaemonError::Stale { .. } => (ErrorKind::Aborted, "STALE_REVISION"),
        DaemonError::Conflicts(_) => (ErrorKind::Aborted, DaemonError::CONFLICT),
        DaemonError::Markers(_) => (ErrorKind::Refused, "UNRESOLVED_CONFLICTS"),
        DaemonError::NotClean { .. } => (ErrorKind::Refused, "NOT_CLEAN"),
        DaemonError::Edit(error) => edit(error),
        DaemonError::InEdit { error, .. } => row(error),
        DaemonError::RequestReused { .. } => (ErrorKind::Invalid, "REQUEST_ID_REUSED"),
        DaemonError::Patch(_) => (ErrorKind::Invalid, "PATCH_DOES_NOT_APPLY"),
        DaemonError::Store(error) => store(error),
        DaemonError::Commit(error) => commit(error),
        DaemonError::NotNoted { .. } => (ErrorKind::Refused, "WRITTEN_NOT_NOTED"),
        DaemonError::WorkspaceGone { .. } => (ErrorKind::NotFound, "WORKSPACE_GONE"),
        DaemonError::File { source, .. } | DaemonError::Io { source, .. } => file(source),
        DaemonError::Busy { .. } => (ErrorKind::Exhausted, "QUEUE_FULL"),
        DaemonError::Superseded => (ErrorKind::Aborted, "SUPERSEDED"),
        DaemonError::DeadlineExceeded => (ErrorKind::DeadlineExceeded, "DEADLINE_EXCEEDED"),
        DaemonError::NoToken => (ErrorKind::Unauthenticated, "NO_TOKEN"),
        DaemonError::WrongToken => (ErrorKind::Unauthenticated, "WRONG_TOKEN"),
        DaemonError::ShuttingDown => (ErrorKind::Unavailable, "SHUTTING_DOWN"),
        DaemonError::NoServer { .. } => (ErrorKind::Refused, "SERVER_UNAVAILABLE"),
        DaemonError::NoAnswer { why, .. } => match why {
            NoAnswer::Unsupported(_) => (ErrorKind::Unsupported, "SERVER_UNSUPPORTED"),
            NoAnswer::Pending(_) => (ErrorKind::Unavailable, "SERVER_PENDING"),
            NoAnswer::Failed(_) => (ErrorKind::Internal, "SERVER_FAILED"),
        },
        DaemonError::PluginFailed { .. } => (ErrorKind::Internal, "PLUGIN_FAILED"),
        DaemonError::NoFolder { .. } => (ErrorKind::Refused, "NO_FOLDER"),
        DaemonError::SandboxDiffers { .. } => (ErrorKind::Refused, "SANDBOX_DIFFERS"),
        DaemonError::EditedMeanwhile { .. } => (ErrorKind::Aborted, "EDITED_MEANWHILE"),
        DaemonError::NothingKept(_) => (ErrorKind::Aborted, "NOT_ENDED_BY_ITSELF"),
        DaemonError::RunCancelled => (ErrorKind::Aborted, "RUN_CANCELLED"),
        DaemonError::NotPermitted { .. } => (ErrorKind::Forbidden, "NOT_PERMITTED"),
        DaemonError::NoLog(_) => (ErrorKind::Refused, "NO_LOG"),
        DaemonError::Setup { .. } => (ErrorKind::Refused, "BAD_CONFIGURATION"),
        DaemonError::Bug(_) => (ErrorKind::Internal, "BUG"),
    }
}

fn commit(error: &CommitError) -> (ErrorKind, &'static str) {
    match error {
        error if error.conflicts().is_some() => (ErrorKind::Aborted, DaemonError::CONFLICT),
        CommitError::VersionControl { .. } => (ErrorKind::Refused, "VERSION_CONTROL"),
        CommitError::NotCleanedUp { .. } => (ErrorKind::Refused, "WRITTEN_NOT_CLEANED_UP"),
        CommitError::Journal { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
            (ErrorKind::Exhausted, "STATE_FOLDER_FULL")
        }
        _ => (ErrorKind::Refused, "COMMIT_FAILED"),
    }
}

fn edit(error: &EditError) -> (ErrorKind, &'static str) {
    match error {
        EditError::VersionControl(_) => (ErrorKind::Refused, "VERSION_CONTROL"),
        EditError::NothingToUndo => (ErrorKind::Invalid, "INVALID_FIELD"),
        EditError::NotFound(_) => (ErrorKind::NotFound, "FILE_NOT_FOUND"),
        EditError::AlreadyExists(_) => (ErrorKind::AlreadyExists, "FILE_EXISTS"),
        EditError::Stale { .. } => (ErrorKind::Aborted, "STALE_REVISION"),
        EditError::OtherContent { .. } => (ErrorKind::Refused, "OTHER_CONTENT"),
        EditError::Unreachable { .. } => (ErrorKind::Refused, "FILE_UNREACHABLE"),
        EditError::TooLong { .. }
        | EditError::NameTooLong { .. }
        | EditError::TooMuch { .. }
        | EditError::TooManyBytes { .. }
        | EditError::TooLarge { .. }
        | EditError::BuffersFull { .. }
        | EditError::TooDeep { .. } => (ErrorKind::Invalid, "LIMIT_EXCEEDED"),
        _ => (ErrorKind::Refused, "EDIT_REFUSED"),
    }
}

fn store(error: &StoreError) -> (ErrorKind, &'static str) {
    match error {
        StoreError::NoSpace { .. } => (ErrorKind::Exhausted, "STATE_FOLDER_FULL"),
        StoreError::Corrupt { .. } => (ErrorKind::DataLoss, "STATE_CORRUPT"),
        StoreError::InUse { .. } => (ErrorKind::Refused, "STATE_IN_USE"),
        _ => (ErrorKind::Refused, "STATE_UNUSABLE"),
    }
}

fn file(error: &io::Error) -> (ErrorKind, &'static str) {
    match error.kind() {
        io::ErrorKind::NotFound => (ErrorKind::NotFound, "FILE_NOT_FOUND"),
        io::ErrorKind::PermissionDenied => (ErrorKind::Forbidden, "FILE_FORBIDDEN"),
        io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory => {
            (ErrorKind::Refused, "WRONG_KIND_OF_FILE")
        }
        _ => (ErrorKind::Refused, "FILE_UNREADABLE"),
    }
}

#[cfg(test)]
mod tests {
    use overlay::Revision;

    use super::*;

    #[test]
    fn a_remedy_is_in_the_sentence_and_no_part_of_the_message() {
        let (message, hint) = ("not installed".to_owned(), Some("install it".to_owned()));
        let setup = DaemonError::Setup { message: message.clone(), hint: hint.clone() };
        for error in [setup, DaemonError::NoServer { server: None, message, hint }] {
            let error = error.in_edit(0);
            assert_eq!((error.to_string().as_str(), error.hint()), ("not installed", Some("install it")));
            assert_eq!(error.sentence(), "not installed (install it)");
        }
    }

    #[test]
    fn a_commit_that_was_written_is_told_as_such() {
        let full = StoreError::NoSpace { path: "/state".into() };
        let error = DaemonError::NotNoted { revision: Revision(7), source: Box::new(full.into()) };
        assert_eq!((error.kind(), error.reason()), (ErrorKind::Refused, "WRITTEN_NOT_NOTED"));
        assert_eq!(error.facts(), [("revision", "7".to_owned())]);
        let told = error.sentence();
        assert!(told.starts_with("all changes are on the disk, and the branch is at revision 7"), "{told}");
        let error = io::ErrorKind::PermissionDenied.into();
        let error = CommitError::Io { path: WorkspacePath::root(), doing: "remove", source: error };
        let (journal, committed) = ("/journal".into(), Box::default());
        let error = CommitError::NotCleanedUp { journal, error: Box::new(error), committed };
        assert_eq!(DaemonError::Commit(error).reason(), "WRITTEN_NOT_CLEANED_UP");
        let full = io::ErrorKind::StorageFull.into();
        let error = CommitError::Journal { path: "/state/journal/x".into(), doing: "write", source: full };
        assert_eq!(row(&DaemonError::Commit(error)), (ErrorKind::Exhausted, "STATE_FOLDER_FULL"));
    }
}
