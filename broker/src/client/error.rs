//! What the daemon refuses, in words for people, with what to do about it.

use lint::printable;
use tonic::{Code, Status};
use tonic_types::StatusExt as _;
use workspaces::OPEN_FOR_WRITING;

use crate::{CliError, ErrorKind, endpoint::Endpoint};

/// The stable name of the reason; empty if the transport failed.
pub(crate) fn reason(status: &Status) -> String {
    status.get_details_error_info().map(|it| it.reason).unwrap_or_default()
}

/// The server that the error is about.
pub(crate) fn server(status: &Status) -> Option<String> {
    status.get_details_error_info()?.metadata.remove("server")
}

/// Whether two sides could not be brought together, which a rebase can help with, or overwriting one of them.
pub(crate) fn is_conflict(status: &Status) -> bool {
    reason(status) == "CONFLICT" && !is_only_open(status)
}

/// Whether nothing is in the way but programs that have the files open for writing.
fn is_only_open(status: &Status) -> bool {
    let violations = status.get_details_precondition_failure().map(|it| it.violations).unwrap_or_default();
    !violations.is_empty() && violations.iter().all(|it| it.r#type == OPEN_FOR_WRITING)
}

/// Whether the connection ended before an answer did: the daemon gives each of its own errors a reason.
pub(crate) fn is_gone(status: &Status) -> bool {
    matches!(status.code(), Code::Unknown | Code::Unavailable | Code::Internal) && reason(status).is_empty()
}

/// Whether there is no such branch or workspace, as against no such file.
pub(super) fn is_unknown_handle(status: &Status) -> bool {
    reason(status) == "NOT_FOUND"
}

impl From<Status> for CliError {
    fn from(status: Status) -> Self {
        let reason = reason(&status);
        Self::new(kind(&reason), message(&status)).maybe_hint(hint(&reason, &status))
    }
}

/// Whose fault it is.
fn kind(reason: &str) -> ErrorKind {
    match reason {
        "NOT_FOUND"
        | "NAME_TAKEN"
        | "RUN_NAME_TAKEN"
        | "INVALID_FIELD"
        | "LIMIT_EXCEEDED"
        | "PATCH_DOES_NOT_APPLY" => ErrorKind::Usage,
        _ => ErrorKind::Files,
    }
}

/// The sentence, and below it each path that stands in the way.
fn message(status: &Status) -> String {
    let sentence = match (status.code(), status.message()) {
        // What its connection says of that are words of a protocol.
        _ if is_gone(status) => "the daemon has gone: it was ended, or broke off".to_owned(),
        (code, "") => code.description().to_owned(),
        (_, text) => text.lines().map(printable).collect::<Vec<_>>().join("\n  "),
    };
    let violations = status.get_details_precondition_failure().map(|it| it.violations).unwrap_or_default();
    let news = violations.iter().map(|it| printable(&it.description));
    let news: Vec<_> = news.filter(|it| !sentence.contains(&**it)).collect();
    news.iter().fold(sentence, |text, it| text + "\n  " + it)
}

fn hint(reason: &str, status: &Status) -> Option<String> {
    let hint = match reason {
        "STALE_REVISION" => "the branch was edited meanwhile: look at it again, then repeat the command",
        "OTHER_CONTENT" => "the file was edited meanwhile: look at it again, then repeat the command",
        "CONFLICT" if is_only_open(status) => {
            "repeat the command when that program has closed the file; `--force` does not help, since later \
             writes of that program would be lost"
        }
        "CONFLICT" => "`broker branch rebase BRANCH` brings the branch up to date",
        "NAME_TAKEN" => "choose another name, or discard that branch",
        "RUN_NAME_TAKEN" => "choose another name, or end that run with `broker kill`",
        "PATCH_DOES_NOT_APPLY" => "the patch must fit the files as the branch has them now",
        "STATE_FOLDER_FULL" => {
            "nothing was changed; make room, or set BROKER_STATE_DIR to a folder elsewhere"
        }
        "WRITTEN_NOT_NOTED" => "nothing needs to be repeated; make the state folder writable",
        "WRITTEN_NOT_CLEANED_UP" => {
            "nothing needs to be repeated; the next commit or check removes the leftovers"
        }
        "STATE_CORRUPT" => "nothing was changed; the folder for state is damaged",
        "STATE_IN_USE" => "another daemon uses this folder for state; set BROKER_STATE_DIR to another one",
        "SHUTTING_DOWN" => "repeat the command: it starts another daemon",
        "SERVER_PENDING" => "repeat the command: the server may be ready by then",
        "QUEUE_FULL" => return Some(retry(status)),
        _ if is_gone(status) => return Some(super::log(&Endpoint::of_user())),
        _ => return None,
    };
    Some(hint.to_owned())
}

fn retry(status: &Status) -> String {
    let delay = status.get_details_retry_info().and_then(|it| it.retry_delay);
    match delay {
        Some(delay) => format!("try again in {} ms", delay.as_millis()),
        None => "try again later".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tonic_types::ErrorDetails;

    use super::*;

    fn status(code: Code, reason: &str, message: &str, add: impl FnOnce(&mut ErrorDetails)) -> Status {
        let mut details = ErrorDetails::with_error_info(reason, "broker", []);
        add(&mut details);
        Status::with_error_details(code, message, details)
    }

    #[test]
    fn conflicts_are_listed() {
        let status = status(Code::Aborted, "CONFLICT", "both sides changed one file: `a`", |it| {
            it.add_precondition_failure_violation("CONFLICT", "a", "`a` was added on both sides");
        });
        assert!(is_conflict(&status));
        let error = CliError::from(status);
        let want = "both sides changed one file: `a`\n  `a` was added on both sides";
        assert_eq!(error.message, want);
        assert!(error.hint.unwrap().contains("rebase"));
    }

    #[test]
    fn what_a_program_has_open_is_neither_rebased_nor_forced() {
        let conflict = |kinds: &[&str]| {
            status(Code::Aborted, "CONFLICT", "the workspace has changed: `a` is open", |it| {
                for kind in kinds {
                    it.add_precondition_failure_violation(*kind, "a", "`a` is open");
                }
            })
        };
        let open = conflict(&[OPEN_FOR_WRITING, OPEN_FOR_WRITING]);
        assert!(!is_conflict(&open));
        let hint = CliError::from(open).hint.unwrap();
        assert!(hint.contains("`--force` does not help") && !hint.contains("rebase"), "{hint}");
        assert!(is_conflict(&conflict(&[OPEN_FOR_WRITING, "CONFLICT"])));
    }

    #[test]
    fn each_reason_says_what_to_do() {
        let busy = status(Code::ResourceExhausted, "QUEUE_FULL", "too much is waiting", |it| {
            it.set_retry_info(Some(Duration::from_millis(250)));
        });
        assert_eq!(CliError::from(busy).hint.as_deref(), Some("try again in 250 ms"));
        let unknown = CliError::from(status(Code::NotFound, "NOT_FOUND", "there is no branch `x`", |_| {}));
        assert_eq!((unknown.kind, unknown.hint), (ErrorKind::Usage, None));
        let stale = CliError::from(status(Code::Aborted, "STALE_REVISION", "it is at 2, not 1", |_| {}));
        assert_eq!((stale.kind, stale.message.as_str()), (ErrorKind::Files, "it is at 2, not 1"));
        assert!(stale.hint.is_some());
    }

    #[test]
    fn a_daemon_that_has_gone_is_told_as_such() {
        let error = CliError::from(Status::unavailable("tcp connect error"));
        assert_eq!(error.message, "the daemon has gone: it was ended, or broke off");
        assert!(error.hint.unwrap().contains("is in "));
        assert_eq!(CliError::from(Status::cancelled("interrupted")).message, "interrupted");
    }

    #[test]
    fn words_from_elsewhere_do_not_steer_the_terminal() {
        let error = CliError::from(status(Code::NotFound, "NOT_FOUND", "no `\u{1b}[2J`", |_| {}));
        assert_eq!(error.message, "no `\\u{1b}[2J`");
    }
}
