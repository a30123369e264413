//! Statuses as errors of requests, and which of them mean that the daemon or the workspace is gone.

use std::{borrow::Cow, collections::BTreeMap};

use tonic::{Code, Status};
use tonic_types::StatusExt as _;
use workspaces::{ErrorKind, Obstacle, RequestError};

/// Reason of errors of a connection that ended before an answer did. The daemon gives each of its own errors another one.
pub const DAEMON_GONE: &str = "DAEMON_GONE";

/// Reason of errors where no daemon can be found or started.
const UNREACHABLE: &str = "DAEMON_UNREACHABLE";

/// Reason of answers that only a daemon of another version gives.
const OTHER_VERSION: &str = "OTHER_VERSION";

/// Reasons that mean that the daemon has ended or is about to.
const ENDED: [&str; 2] = [DAEMON_GONE, "SHUTTING_DOWN"];

/// Reason of requests that are larger than the daemon takes, and of answers that are larger than a client takes.
const MESSAGE_TOO_LARGE: &str = "MESSAGE_TOO_LARGE";

/// Whether the workspace must be opened again: the daemon has ended or is about to, or it is a new one that knows neither the
/// workspace nor this editor.
pub fn is_gone(error: &RequestError) -> bool {
    is_ended(error) || is_not_open(error) || error.reason == "EDITOR_GONE"
}

/// Whether the daemon went away, or is about to: a request was cut off, or not begun.
pub fn is_ended(error: &RequestError) -> bool {
    ENDED.contains(&error.reason.as_str())
}

/// Whether the workspace is not open, or its folder was replaced since it was, so that nothing was done.
pub(crate) fn is_not_open(error: &RequestError) -> bool {
    match error.reason.as_str() {
        "NOT_FOUND" => error.fact("resource_type") == Some("workspace"),
        reason => reason == "WORKSPACE_GONE",
    }
}

/// An error without a daemon.
pub(crate) fn unreachable(sentence: impl Into<String>) -> RequestError {
    RequestError::new(ErrorKind::Unavailable, UNREACHABLE, sentence)
}

/// An answer that the daemon of this version does not give.
pub(crate) fn senseless(what: impl Into<String>) -> RequestError {
    let sentence = format!("the daemon's answer makes no sense: {}", what.into());
    let error = RequestError::new(ErrorKind::Internal, OTHER_VERSION, sentence);
    error.hint("is it of another version? `broker daemon stop` ends it, and the next command starts another")
}

/// The error of an interrupt by the user.
pub fn interrupted() -> RequestError {
    RequestError::new(ErrorKind::Aborted, "INTERRUPTED", "interrupted")
}

/// The error in a status.
pub(crate) fn error(status: &Status) -> RequestError {
    let Some(info) = status.get_details_error_info() else { return of_transport(status) };
    let mut facts: BTreeMap<_, _> = info.metadata.into_iter().collect();
    let hint = facts.remove("hint");
    let violations = status.get_details_precondition_failure().map(|it| it.violations).unwrap_or_default();
    let obstacle = |it: tonic_types::PreconditionViolation| Obstacle {
        kind: Cow::Owned(it.r#type),
        path: it.subject,
        reason: it.description,
    };
    RequestError {
        kind: kind(status.code()),
        reason: info.reason,
        facts,
        obstacles: violations.into_iter().map(obstacle).collect(),
        sentence: sentence(status),
        hint,
    }
}

/// An error of the connection, or of what serves it.
fn of_transport(status: &Status) -> RequestError {
    match status.code() {
        // The client's own clock is the first to notice.
        Code::Cancelled if status.message() == "Timeout expired" => deadline_exceeded(),
        Code::DeadlineExceeded => deadline_exceeded(),
        Code::Unknown | Code::Unavailable | Code::Internal | Code::Cancelled => {
            let sentence = "the daemon has gone: it was ended, or broke off";
            RequestError::new(ErrorKind::Unavailable, DAEMON_GONE, sentence)
        }
        Code::Unimplemented => {
            let sentence =
                "the daemon that runs is of another version of Broker; `broker daemon stop` ends it";
            RequestError::new(ErrorKind::Unsupported, OTHER_VERSION, sentence)
        }
        Code::OutOfRange => RequestError::new(kind(Code::OutOfRange), MESSAGE_TOO_LARGE, sentence(status)),
        code => RequestError::new(kind(code), String::new(), sentence(status)),
    }
}

fn deadline_exceeded() -> RequestError {
    workspaces::DaemonError::DeadlineExceeded.into()
}

fn sentence(status: &Status) -> String {
    let sentence = status.message();
    if sentence.is_empty() { status.code().description().to_owned() } else { sentence.to_owned() }
}

fn kind(code: Code) -> ErrorKind {
    match code {
        Code::InvalidArgument => ErrorKind::Invalid,
        Code::NotFound => ErrorKind::NotFound,
        Code::AlreadyExists => ErrorKind::AlreadyExists,
        Code::Aborted => ErrorKind::Aborted,
        Code::FailedPrecondition => ErrorKind::Refused,
        Code::PermissionDenied => ErrorKind::Forbidden,
        Code::Unauthenticated => ErrorKind::Unauthenticated,
        Code::ResourceExhausted | Code::OutOfRange => ErrorKind::Exhausted,
        Code::Unavailable => ErrorKind::Unavailable,
        Code::Unimplemented => ErrorKind::Unsupported,
        Code::DeadlineExceeded => ErrorKind::DeadlineExceeded,
        Code::DataLoss => ErrorKind::DataLoss,
        Code::Ok | Code::Cancelled | Code::Unknown | Code::Internal => ErrorKind::Internal,
    }
}

#[cfg(test)]
mod tests {
    use tonic_types::ErrorDetails;

    use super::*;

    fn of(code: Code, reason: &str, facts: &[(&str, &str)]) -> RequestError {
        let facts = facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let mut details = ErrorDetails::with_error_info(
            reason,
            "broker",
            facts.collect::<std::collections::HashMap<_, _>>(),
        );
        details.add_precondition_failure_violation("CONFLICT", "a/b", "it changed");
        details.add_precondition_failure_violation("CONFLICT", "", "a path that is none");
        error(&Status::with_error_details(code, "no (do it)", details))
    }

    #[test]
    fn an_error_of_the_daemon_is_whole_again() {
        let error = of(Code::Aborted, "CONFLICT", &[("conflicts", "1"), ("hint", "do it")]);
        assert_eq!((error.kind, error.reason.as_str()), (ErrorKind::Aborted, "CONFLICT"));
        assert_eq!((error.message(), error.hint.as_deref()), ("no", Some("do it")));
        assert_eq!((error.fact("conflicts"), error.fact("hint")), (Some("1"), None));
        let obstacles: Vec<_> = error.obstacles.iter().map(|it| (&*it.path, &*it.reason)).collect();
        assert_eq!(obstacles, [("a/b", "it changed"), ("", "a path that is none")]);
        assert!(error.is_conflict() && !is_gone(&error));
    }

    #[test]
    fn what_is_gone_is_in_one_list() {
        for code in [Code::Unavailable, Code::Unknown, Code::Internal, Code::Cancelled] {
            let error = error(&Status::new(code, "broken pipe"));
            assert!(is_ended(&error) && is_gone(&error) && !is_not_open(&error), "{code:?}");
        }
        let workspace = of(Code::NotFound, "NOT_FOUND", &[("resource_type", "workspace")]);
        assert!(is_gone(&workspace) && is_not_open(&workspace) && !is_ended(&workspace));
        assert!(!is_gone(&of(Code::NotFound, "NOT_FOUND", &[("resource_type", "branch")])));
        let replaced = of(Code::NotFound, "WORKSPACE_GONE", &[]);
        assert!(is_gone(&replaced) && is_not_open(&replaced) && !is_ended(&replaced));
        let editor = of(Code::NotFound, "EDITOR_GONE", &[]);
        assert!(is_gone(&editor) && !is_not_open(&editor));
        assert!(is_ended(&of(Code::Unavailable, "SHUTTING_DOWN", &[])));
        assert!(!is_gone(&of(Code::Unavailable, "SERVER_PENDING", &[])));
    }

    #[test]
    fn errors_of_the_transport_have_words() {
        let late = error(&Status::cancelled("Timeout expired"));
        assert_eq!(late.reason, "DEADLINE_EXCEEDED");
        let old = error(&Status::unimplemented(""));
        assert!(old.sentence.contains("`broker daemon stop`"), "{old}");
        let large = error(&Status::out_of_range("too large"));
        assert_eq!((large.kind, large.reason.as_str()), (ErrorKind::Exhausted, "MESSAGE_TOO_LARGE"));
        assert_eq!(large.sentence, "too large");
        assert_eq!(
            error(&Status::permission_denied("")).sentence,
            "The caller does not have permission to execute the specified operation"
        );
    }
}
