//! Errors as gRPC statuses: a code, a message, and details for programs. Reasons come from the table in `workspaces`.
//!
//! Every error carries an `ErrorInfo` with its reason and its facts.

use std::collections::HashMap;

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt as _};
use workspaces::{DaemonError, ErrorKind, OPEN_FOR_WRITING, Obstacle};

const DOMAIN: &str = "broker";

/// The error as a client sees it.
pub(super) fn of(error: DaemonError) -> Status {
    let facts = error.facts().into_iter().map(|(name, value)| (name.to_owned(), short(&value)));
    let facts: HashMap<_, _> = facts.collect();
    let mut details = ErrorDetails::with_error_info(error.reason(), DOMAIN, facts);
    describe(&error, &mut details);
    Status::with_error_details(code(error.kind()), short(&error.sentence()), details)
}

fn code(kind: ErrorKind) -> Code {
    match kind {
        ErrorKind::Invalid => Code::InvalidArgument,
        ErrorKind::NotFound => Code::NotFound,
        ErrorKind::AlreadyExists => Code::AlreadyExists,
        ErrorKind::Aborted => Code::Aborted,
        ErrorKind::Refused => Code::FailedPrecondition,
        ErrorKind::Forbidden => Code::PermissionDenied,
        ErrorKind::Unauthenticated => Code::Unauthenticated,
        ErrorKind::Exhausted => Code::ResourceExhausted,
        ErrorKind::Unavailable => Code::Unavailable,
        ErrorKind::Unsupported => Code::Unimplemented,
        ErrorKind::DeadlineExceeded => Code::DeadlineExceeded,
        ErrorKind::DataLoss => Code::DataLoss,
        ErrorKind::Internal => Code::Internal,
    }
}

/// What a text of an error may take. An error is sent as headers, which clients refuse above 8 KiB, and it
/// may quote what the client sent.
const LONGEST: usize = 500;

/// Bytes for the conflicts of one error; `GetBranch` lists all.
const CONFLICTS: usize = 2_500;

fn short(text: &str) -> String {
    let cut = text.floor_char_boundary(LONGEST);
    if cut < text.len() { format!("{}…", &text[..cut]) } else { text.to_owned() }
}

/// A field that makes no sense.
pub(super) fn invalid(field: &'static str, message: impl ToString) -> Status {
    of(DaemonError::invalid(field, message))
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
        DaemonError::InEdit { error, .. } => describe(error, details),
        DaemonError::RequestReused { .. } => {
            details.add_bad_request_violation("request_id", short(&error.to_string()));
        }
        DaemonError::File { path, .. } => {
            details.set_resource_info("file", short(path.as_str()), "", "");
        }
        _ => describe_obstacles(error.obstacles(), details),
    }
}

/// The first of them that there is room for, and at least one. Conflicts come before files that another program has
/// open: a client may conclude from a list of only those that nothing but waiting helps.
fn describe_obstacles(mut obstacles: Vec<Obstacle<'_>>, details: &mut ErrorDetails) {
    obstacles.sort_by_key(|it| it.kind == OPEN_FOR_WRITING);
    let mut left = CONFLICTS;
    for Obstacle { kind, path, reason } in obstacles {
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
    use std::io;

    use overlay::{CommitConflict, CommitError, EditError, Expected, Found, WorkspacePath};

    use super::*;

    #[test]
    fn a_conflict_is_listed_before_files_that_are_open() {
        let conflict = |index: usize| {
            let found = if index < 99 { Found::OpenForWriting } else { Found::Missing };
            let path = WorkspacePath::new(&format!("{index}/{}", "x".repeat(100))).unwrap();
            CommitConflict { path, expected: Expected::Directory, found }
        };
        let status = of(DaemonError::Commit(CommitError::Conflicts((0..100).map(conflict).collect())));
        let listed = status.get_details_precondition_failure().unwrap().violations;
        assert!(listed.len() < 100, "there is no room for all");
        assert!(listed[0].subject.starts_with("99/") && listed[0].r#type == "CONFLICT", "{listed:?}");
        assert!(listed[1].subject.starts_with("0/") && listed[1].r#type == OPEN_FOR_WRITING, "{listed:?}");
    }

    #[test]
    fn an_error_fits_into_headers() {
        let long = "\u{fc}".repeat(100_000);
        let path = |text: &str| WorkspacePath::new(text).unwrap();
        let errors = [
            DaemonError::NotFound { what: "branch", id: long.clone() },
            DaemonError::invalid("name", &long),
            DaemonError::NameTaken(long.clone()),
            DaemonError::RequestReused { id: long.clone() },
            DaemonError::Edit(EditError::IntoItself { from: path(&long), to: path(&long) }),
            DaemonError::File { path: path(&long), source: io::ErrorKind::NotFound.into() },
            DaemonError::Setup { message: long.clone(), hint: Some(long) },
        ];
        for status in errors.map(of) {
            // What is not ASCII takes three bytes for one in the message, and the details four for three.
            let size = status.message().len() * 3 + status.details().len() * 4 / 3;
            assert!(size < 6_000, "{size} bytes");
        }
    }
}
