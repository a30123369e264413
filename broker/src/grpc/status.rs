//! Errors as gRPC tells them: a code, a sentence, and details that a program can read.
//!
//! Every error carries an `ErrorInfo` with a reason that stays the same from version to version, and with the
//! [`facts`] of it.

use std::{collections::HashMap, io};

use language_servers::NoAnswer;
use overlay::{CommitError, EditError, Found, StoreError, WorkspacePath, io_reason};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt as _};
use workspaces::DaemonError;

use super::facts;

const DOMAIN: &str = "broker";

/// A configuration file or a selector is wrong.
pub(super) const BAD_CONFIGURATION: &str = "BAD_CONFIGURATION";

/// The error as a client sees it.
pub(super) fn of(error: DaemonError) -> Status {
    let (code, reason) = kind(&error);
    let facts = facts::of(&error).into_iter().map(|(name, value)| (name.to_owned(), short(&value)));
    let facts: HashMap<_, _> = facts.collect();
    let mut details = ErrorDetails::with_error_info(reason, DOMAIN, facts);
    describe(&error, &mut details);
    Status::with_error_details(code, short(&sentence(&error)), details)
}

/// An error of the protocol itself.
pub(super) fn other(code: Code, reason: &str, message: &str) -> Status {
    Status::with_error_details(code, message, ErrorDetails::with_error_info(reason, DOMAIN, []))
}

/// Type of a violation: another program has the file open for writing, which no `force_paths` overrides.
pub(crate) const OPEN_FOR_WRITING: &str = "OPEN_FOR_WRITING";

/// What a text of an error may take. An error is sent as headers, which clients refuse above 8 KiB, and it
/// may quote what the client sent.
const LONGEST: usize = 500;

/// What the conflicts of one error may take; `GetBranch` tells of all.
const CONFLICTS: usize = 2_500;

fn short(text: &str) -> String {
    let cut = text.floor_char_boundary(LONGEST);
    if cut < text.len() { format!("{}…", &text[..cut]) } else { text.to_owned() }
}

/// A field that makes no sense.
pub(super) fn invalid(field: &'static str, message: impl ToString) -> Status {
    of(DaemonError::invalid(field, message))
}

fn sentence(error: &DaemonError) -> String {
    match error {
        DaemonError::Io { message, source } => format!("{message}: {}", io_reason(source)),
        DaemonError::Setup { message, hint: Some(hint) } => format!("{message} ({hint})"),
        DaemonError::InEdit { error, .. } => sentence(error),
        other => other.to_string(),
    }
}

/// What stays the same, for programs.
fn kind(error: &DaemonError) -> (Code, &'static str) {
    match error {
        DaemonError::NotFound { .. } => (Code::NotFound, "NOT_FOUND"),
        DaemonError::NameTaken(_) => (Code::AlreadyExists, "NAME_TAKEN"),
        DaemonError::Invalid { .. } => (Code::InvalidArgument, "INVALID_FIELD"),
        DaemonError::TooMuch { .. } => (Code::InvalidArgument, "LIMIT_EXCEEDED"),
        DaemonError::Stale { .. } => (Code::Aborted, "STALE_REVISION"),
        DaemonError::Conflicts(_) => (Code::Aborted, "CONFLICT"),
        DaemonError::Edit(error) => edit(error),
        DaemonError::InEdit { error, .. } => kind(error),
        DaemonError::RequestReused { .. } => (Code::InvalidArgument, "REQUEST_ID_REUSED"),
        DaemonError::Patch(_) => (Code::InvalidArgument, "PATCH_DOES_NOT_APPLY"),
        DaemonError::Store(error) => store(error),
        DaemonError::Commit(error) => commit(error),
        DaemonError::NotNoted { .. } => (Code::FailedPrecondition, "WRITTEN_NOT_NOTED"),
        DaemonError::WorkspaceGone { .. } => (Code::NotFound, "WORKSPACE_GONE"),
        DaemonError::File { source, .. } | DaemonError::Io { source, .. } => file(source),
        DaemonError::Busy { .. } => (Code::ResourceExhausted, "QUEUE_FULL"),
        DaemonError::Superseded => (Code::Aborted, "SUPERSEDED"),
        DaemonError::ShuttingDown => (Code::Unavailable, "SHUTTING_DOWN"),
        DaemonError::NoServer { .. } => (Code::FailedPrecondition, "SERVER_UNAVAILABLE"),
        DaemonError::NoAnswer { why, .. } => match why {
            NoAnswer::Unsupported(_) => (Code::Unimplemented, "SERVER_UNSUPPORTED"),
            NoAnswer::Pending(_) => (Code::Unavailable, "SERVER_PENDING"),
            NoAnswer::Failed(_) => (Code::Internal, "SERVER_FAILED"),
        },
        DaemonError::Setup { .. } => (Code::FailedPrecondition, BAD_CONFIGURATION),
        DaemonError::Bug(_) => (Code::Internal, "BUG"),
    }
}

fn commit(error: &CommitError) -> (Code, &'static str) {
    match error {
        error if error.conflicts().is_some() => (Code::Aborted, "CONFLICT"),
        CommitError::VersionControl { .. } => (Code::FailedPrecondition, "VERSION_CONTROL"),
        CommitError::NotCleanedUp { .. } => (Code::FailedPrecondition, "WRITTEN_NOT_CLEANED_UP"),
        CommitError::Journal { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
            (Code::ResourceExhausted, "STATE_FOLDER_FULL")
        }
        _ => (Code::FailedPrecondition, "COMMIT_FAILED"),
    }
}

fn edit(error: &EditError) -> (Code, &'static str) {
    match error {
        EditError::VersionControl(_) => (Code::FailedPrecondition, "VERSION_CONTROL"),
        EditError::NotFound(_) => (Code::NotFound, "FILE_NOT_FOUND"),
        EditError::AlreadyExists(_) => (Code::AlreadyExists, "FILE_EXISTS"),
        EditError::Stale { .. } => (Code::Aborted, "STALE_REVISION"),
        EditError::OtherContent { .. } => (Code::FailedPrecondition, "OTHER_CONTENT"),
        EditError::Unreachable { .. } => (Code::FailedPrecondition, "FILE_UNREACHABLE"),
        EditError::TooLong { .. }
        | EditError::NameTooLong { .. }
        | EditError::TooMuch { .. }
        | EditError::TooManyBytes { .. }
        | EditError::TooLarge { .. }
        | EditError::BuffersFull { .. }
        | EditError::TooDeep { .. } => (Code::InvalidArgument, "LIMIT_EXCEEDED"),
        _ => (Code::FailedPrecondition, "EDIT_REFUSED"),
    }
}

fn store(error: &StoreError) -> (Code, &'static str) {
    match error {
        StoreError::NoSpace { .. } => (Code::ResourceExhausted, "STATE_FOLDER_FULL"),
        StoreError::Corrupt { .. } => (Code::DataLoss, "STATE_CORRUPT"),
        StoreError::InUse { .. } => (Code::FailedPrecondition, "STATE_IN_USE"),
        _ => (Code::FailedPrecondition, "STATE_UNUSABLE"),
    }
}

fn file(error: &io::Error) -> (Code, &'static str) {
    match error.kind() {
        io::ErrorKind::NotFound => (Code::NotFound, "FILE_NOT_FOUND"),
        io::ErrorKind::PermissionDenied => (Code::PermissionDenied, "FILE_FORBIDDEN"),
        io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory => {
            (Code::FailedPrecondition, "WRONG_KIND_OF_FILE")
        }
        _ => (Code::FailedPrecondition, "FILE_UNREADABLE"),
    }
}

/// The details that go beyond the reason.
fn describe(error: &DaemonError, details: &mut ErrorDetails) {
    match error {
        DaemonError::NotFound { what, id } => {
            details.set_resource_info(*what, short(id), "", "");
        }
        DaemonError::Invalid { field, message } => {
            details.add_bad_request_violation(*field, short(message));
        }
        DaemonError::TooMuch { what, .. } => {
            details.add_bad_request_violation(*what, short(&error.to_string()));
        }
        DaemonError::Busy { retry_after } => {
            details.set_retry_info(Some(*retry_after));
        }
        DaemonError::Conflicts(conflicts) => {
            describe_conflicts(conflicts.iter().map(|it| (CONFLICT, &it.path, it.to_string())), details);
        }
        DaemonError::Commit(error) => {
            let conflicts = error.conflicts().unwrap_or_default().iter();
            let conflicts = conflicts.map(|it| (of_conflict(&it.found), &it.path, it.to_string()));
            let left = error.leftovers().iter().map(|it| (CONFLICT, &it.path, it.to_string()));
            describe_conflicts(conflicts.chain(left), details);
        }
        DaemonError::InEdit { error, .. } => describe(error, details),
        DaemonError::RequestReused { .. } => {
            details.add_bad_request_violation("request_id", short(&error.to_string()));
        }
        DaemonError::File { path, .. } => {
            details.set_resource_info("file", short(path.as_str()), "", "");
        }
        _ => {}
    }
}

/// Type of a violation: something else is there than the branch was made on.
const CONFLICT: &str = "CONFLICT";

fn of_conflict(found: &Found) -> &'static str {
    if *found == Found::OpenForWriting { OPEN_FOR_WRITING } else { CONFLICT }
}

/// The first of them that there is room for, and at least one.
fn describe_conflicts<'a>(
    conflicts: impl Iterator<Item = (&'static str, &'a WorkspacePath, String)>,
    details: &mut ErrorDetails,
) {
    let mut left = CONFLICTS;
    for (kind, path, reason) in conflicts {
        let reason = short(&reason);
        let size = path.as_str().len() + reason.len();
        if size > left && left < CONFLICTS {
            break;
        }
        left = left.saturating_sub(size);
        details.add_precondition_failure_violation(kind, path.as_str(), reason);
    }
}

#[cfg(test)]
mod tests {
    use overlay::Revision;

    use super::*;

    #[test]
    fn a_commit_that_was_written_is_told_as_such() {
        let full = overlay::StoreError::NoSpace { path: "/state".into() };
        let error = DaemonError::NotNoted { revision: Revision(7), source: Box::new(full.into()) };
        let status = of(error);
        let info = status.get_details_error_info().unwrap();
        assert_eq!((status.code(), info.reason.as_str()), (Code::FailedPrecondition, "WRITTEN_NOT_NOTED"));
        assert_eq!(info.metadata["revision"], "7");
        let told = status.message();
        assert!(told.starts_with("all changes are on the disk and the branch is at revision 7"), "{told}");
        let error = io::ErrorKind::PermissionDenied.into();
        let error = CommitError::Io { path: WorkspacePath::root(), doing: "remove", source: error };
        let (journal, committed) = ("/journal".into(), Box::default());
        let error = CommitError::NotCleanedUp { journal, error: Box::new(error), committed };
        assert_eq!(kind(&DaemonError::Commit(error)).1, "WRITTEN_NOT_CLEANED_UP");
        let full = io::ErrorKind::StorageFull.into();
        let error = CommitError::Journal { path: "/state/journal/x".into(), doing: "write", source: full };
        assert_eq!(kind(&DaemonError::Commit(error)), (Code::ResourceExhausted, "STATE_FOLDER_FULL"));
    }

    #[test]
    fn an_error_fits_into_headers() {
        let long = "\u{fc}".repeat(100_000);
        let path = |text: &str| WorkspacePath::new(text).unwrap();
        let errors = [
            DaemonError::no_branch(&long),
            DaemonError::invalid("name", &long),
            DaemonError::NameTaken(long.clone()),
            DaemonError::RequestReused { id: long.clone() },
            DaemonError::Edit(EditError::IntoItself { from: path(&long), to: path(&long) }),
            DaemonError::file(&path(&long), io::ErrorKind::NotFound.into()),
            DaemonError::Setup { message: long.clone(), hint: Some(long) },
        ];
        for status in errors.map(of) {
            // What is not ASCII takes three bytes for one in the message, and the details four for three.
            let size = status.message().len() * 3 + status.details().len() * 4 / 3;
            assert!(size < 6_000, "{size} bytes");
        }
    }
}
