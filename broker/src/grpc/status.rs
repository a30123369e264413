//! Errors as gRPC statuses: a code, a message, and details for programs. Reasons come from the table in `workspaces`.
//!
//! Every error carries an `ErrorInfo` with its reason and its facts. Details that go beyond are made from the facts.

use std::{collections::HashMap, time::Duration};

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt as _};
use workspaces::{ErrorKind, OPEN_FOR_WRITING, Obstacle, RequestError};

const DOMAIN: &str = "broker";

/// The error as a client sees it.
pub(super) fn of(error: impl Into<RequestError>) -> Status {
    let error = error.into();
    let facts = error.facts.iter().map(|(name, value)| (name.clone(), short(value)));
    let hint = error.hint.iter().map(|it| (HINT.to_owned(), short(it)));
    let facts: HashMap<_, _> = facts.chain(hint).collect();
    let mut details = ErrorDetails::with_error_info(&error.reason, DOMAIN, facts);
    describe(&error, &mut details);
    Status::with_error_details(code(error.kind), short(&error.sentence), details)
}

/// Key of the remedy among the facts.
const HINT: &str = "hint";

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

/// Bytes of the longest text of an error. An error is sent as headers, which clients refuse above 8 KiB, and it may quote what
/// the client sent.
const LONGEST: usize = 500;

/// Bytes for the conflicts of one error; `GetBranch` lists all.
const CONFLICTS: usize = 2_500;

fn short(text: &str) -> String {
    let cut = text.floor_char_boundary(LONGEST);
    if cut < text.len() { format!("{}…", &text[..cut]) } else { text.to_owned() }
}

/// A field that makes no sense.
pub(super) fn invalid(field: &'static str, message: impl ToString) -> Status {
    of(RequestError::invalid(field, message))
}

/// The details that go beyond the reason.
fn describe(error: &RequestError, details: &mut ErrorDetails) {
    if let (Some(kind), Some(name)) = (error.fact("resource_type"), error.fact("resource_name")) {
        details.set_resource_info(kind, short(name), "", "");
    } else if let Some((field, message)) = violation(error) {
        details.add_bad_request_violation(field, short(message));
    } else if let Some(after) = error.fact("retry_after_ms").and_then(|it| it.parse().ok()) {
        details.set_retry_info(Some(Duration::from_millis(after)));
    } else if let Some(path) = error.fact("path") {
        details.set_resource_info("file", short(path), "", "");
    }
    describe_obstacles(error.obstacles.to_vec(), details);
}

/// The field that makes no sense, or what of a request is too much, and why.
fn violation(error: &RequestError) -> Option<(&str, &str)> {
    let message = error.message();
    if let Some(field) = error.fact("field") {
        let prefix = format!("{field}: ");
        return Some((field, message.strip_prefix(prefix.as_str()).unwrap_or(message)));
    }
    let is_invalid = error.kind == ErrorKind::Invalid;
    match (error.fact("request_id"), error.fact("what")) {
        (Some(_), _) if is_invalid => Some(("request_id", message)),
        (None, Some(what)) if is_invalid => Some((what, message)),
        _ => None,
    }
}

/// The first of them that there is room for, and at least one. Conflicts come before files that another program has
/// open: a client may conclude from a list of only those that nothing but waiting helps.
fn describe_obstacles(mut obstacles: Vec<Obstacle>, details: &mut ErrorDetails) {
    obstacles.sort_by_key(|it| it.kind == OPEN_FOR_WRITING);
    let mut left = CONFLICTS;
    for Obstacle { kind, path, reason } in obstacles {
        let reason = short(&reason);
        let size = path.len() + reason.len();
        if size > left && left < CONFLICTS {
            break;
        }
        left = left.saturating_sub(size);
        details.add_precondition_failure_violation(&*kind, path, reason);
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use overlay::{CommitConflict, CommitError, DiskState, EditError, Expected, WorkspacePath};

    use workspaces::DaemonError;

    use super::*;

    #[test]
    fn a_conflict_is_listed_before_files_that_are_open() {
        let conflict = |index: usize| {
            let found = if index < 99 { DiskState::OpenForWriting } else { DiskState::Missing };
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
            // A byte that is not ASCII takes three in the message; the details take four bytes for three.
            let size = status.message().len() * 3 + status.details().len() * 4 / 3;
            assert!(size < 6_000, "{size} bytes");
        }
    }

    #[test]
    fn details_come_from_the_facts() {
        let of = |error: DaemonError| super::of(error).get_error_details();
        let violated = |it: &ErrorDetails| {
            let violation = it.bad_request().unwrap().field_violations[0].clone();
            (violation.field, violation.description)
        };
        let invalid = of(DaemonError::invalid("name", "it is empty").in_edit(1));
        assert_eq!(violated(&invalid), ("name".to_owned(), "it is empty".to_owned()));
        let too_much = DaemonError::TooMuch { what: "paths", limit: 1, actual: 2 };
        assert_eq!(violated(&of(too_much)).0, "paths");
        assert_eq!(violated(&of(DaemonError::RequestReused { id: "x".to_owned() })).0, "request_id");
        let differs = of(DaemonError::SandboxDiffers { what: "network".to_owned() });
        assert!(differs.bad_request().is_none());
        assert!(differs.error_info().unwrap().metadata["hint"].contains("--own-folder"));
        let busy = of(DaemonError::Busy { retry_after: Duration::from_millis(250) });
        assert_eq!(busy.retry_info().unwrap().retry_delay, Some(Duration::from_millis(250)));
        let path = WorkspacePath::new("a").unwrap();
        let missing = || DaemonError::File { path: path.clone(), source: io::ErrorKind::NotFound.into() };
        for error in [missing(), missing().in_edit(1)] {
            let file = of(error).resource_info().unwrap().clone();
            assert_eq!((file.resource_type.as_str(), file.resource_name.as_str()), ("file", "a"));
        }
    }
}
