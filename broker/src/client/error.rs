//! Errors of requests in words for people, with their remedies.

use ::client::{Endpoint, is_ended};
use lint::printable;
use workspaces::RequestError;

use crate::{CliError, ErrorKind};

impl From<RequestError> for CliError {
    fn from(error: RequestError) -> Self {
        Self::new(kind(&error.reason), message(&error)).maybe_hint(hint(&error))
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
fn message(error: &RequestError) -> String {
    let sentence = error.message().lines().map(printable).collect::<Vec<_>>().join("\n  ");
    let lines = |text: &str| text.lines().map(printable).collect::<Vec<_>>().join("\n  ");
    let news = error.obstacles.iter().map(|it| lines(&it.reason));
    let news: Vec<_> = news.filter(|it| !sentence.contains(it.as_str())).collect();
    news.iter().fold(sentence, |text, it| text + "\n  " + it)
}

fn hint(error: &RequestError) -> Option<String> {
    let hint = match error.reason.as_str() {
        "STALE_REVISION" => "the branch was edited meanwhile: look at it again, then repeat the command",
        "OTHER_CONTENT" => "the file was edited meanwhile: look at it again, then repeat the command",
        "CONFLICT" if error.is_only_open() => {
            "repeat the command when that program has closed the file; `--force` does not help, since later \
             writes of that program would be lost"
        }
        "CONFLICT" => "`broker branch rebase BRANCH` brings the branch up to date",
        "NAME_TAKEN" => "choose another name, or discard that branch",
        "RUN_NAME_TAKEN" => "choose another name, or end that run with `broker run kill`",
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
        "QUEUE_FULL" => return Some(retry(error)),
        _ if is_ended(error) => return Some(Endpoint::of_user().log_hint()),
        // A daemon behind a connection has it in its sentence.
        _ => return error.hint.clone(),
    };
    Some(hint.to_owned())
}

fn retry(error: &RequestError) -> String {
    match error.fact("retry_after_ms") {
        Some(delay) => format!("try again in {} ms", printable(delay)),
        None => "try again later".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ::client::DAEMON_GONE;
    use workspaces::{DaemonError, ErrorKind as Kind, OPEN_FOR_WRITING, Obstacle};

    use super::*;

    fn conflict(kinds: &[&'static str], sentence: &str) -> RequestError {
        let obstacle = |it: &&'static str| Obstacle {
            kind: (*it).into(),
            path: "a".to_owned(),
            reason: "`a` changed".to_owned(),
        };
        let obstacles = kinds.iter().map(obstacle).collect();
        RequestError { obstacles, ..RequestError::new(Kind::Aborted, "CONFLICT", sentence) }
    }

    #[test]
    fn conflicts_are_listed() {
        let error = CliError::from(conflict(&["CONFLICT"], "both sides changed one file: `a`"));
        assert_eq!(error.message, "both sides changed one file: `a`\n  `a` changed");
        assert!(error.hint.unwrap().contains("rebase"));
    }

    #[test]
    fn what_a_program_has_open_is_neither_rebased_nor_forced() {
        let open = conflict(&[OPEN_FOR_WRITING, OPEN_FOR_WRITING], "the workspace has changed");
        let hint = CliError::from(open).hint.unwrap();
        assert!(hint.contains("`--force` does not help") && !hint.contains("rebase"), "{hint}");
    }

    #[test]
    fn each_reason_says_what_to_do() {
        let busy = DaemonError::Busy { retry_after: Duration::from_millis(250) };
        assert_eq!(CliError::from(RequestError::from(busy)).hint.as_deref(), Some("try again in 250 ms"));
        let unknown = DaemonError::NotFound { what: "branch", id: "x".to_owned() };
        let unknown = CliError::from(RequestError::from(unknown));
        assert_eq!((unknown.kind, unknown.hint), (ErrorKind::Usage, None));
        let (message, hint) = ("wrong".to_owned(), Some("do it".to_owned()));
        let of_daemon = CliError::from(RequestError::from(DaemonError::Setup { message, hint }));
        assert_eq!((of_daemon.message.as_str(), of_daemon.hint.as_deref()), ("wrong", Some("do it")));
        let own = RequestError::new(Kind::Unavailable, "DAEMON_UNREACHABLE", "none").hint("look");
        assert_eq!(CliError::from(own).hint.as_deref(), Some("look"));
    }

    #[test]
    fn a_daemon_that_has_gone_is_told_as_such() {
        let error = CliError::from(RequestError::new(Kind::Unavailable, DAEMON_GONE, "the daemon has gone"));
        assert!(error.hint.unwrap().contains("is in "));
        assert_eq!(CliError::from(::client::interrupted()).message, "interrupted");
    }

    #[test]
    fn words_from_elsewhere_do_not_steer_the_terminal() {
        let error = CliError::from(RequestError::new(Kind::NotFound, "NOT_FOUND", "no `\u{1b}[2J`"));
        assert_eq!(error.message, "no `\\u{1b}[2J`");
    }

    #[test]
    fn lines_after_the_first_are_indented() {
        let sentence = "the daemon did not start (exit status: 1)\none\ntw\u{1b}o";
        let error = CliError::from(RequestError::new(Kind::Unavailable, "DAEMON_UNREACHABLE", sentence));
        assert_eq!(error.message, "the daemon did not start (exit status: 1)\n  one\n  tw\\u{1b}o");
    }
}
