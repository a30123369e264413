//! What a run asks for beyond what the workspace allows: flags are the person's own answer, other questions are put to them.

use std::io::{self, BufRead as _, IsTerminal as _};

use broker_proto::{v1 as pb, v1::run_request::Message};
use lint::printable;
use tokio::sync::mpsc::Sender;

use crate::{CliError, cli::Session};

/// The kind of what no flag says: a command that the workspace does not list.
const COMMAND: &str = "allow";

/// Answers a question of the daemon.
pub(super) fn answer(
    asked: &pb::PermissionRequest,
    requests: &Sender<pb::RunRequest>,
    session: &Session,
) -> Result<(), CliError> {
    let unsaid: Vec<_> = asked.wanted.iter().filter(|it| it.kind == COMMAND).collect();
    let allowed = unsaid.is_empty() || ask(&unsaid, session)?;
    let message = Some(Message::Permission(pb::PermissionAnswer { allowed }));
    // A run that is over needs no answer.
    let _over = requests.try_send(pb::RunRequest { message });
    Ok(())
}

/// Asks the person at the terminal; without one, the answer is no.
fn ask(wanted: &[&pb::WantedPermission], session: &Session) -> Result<bool, CliError> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Ok(false);
    }
    for it in wanted {
        session.messages.line(&printable(&it.reason));
        session.messages.line(&format!("  for good: {} in [run] of broker.toml", printable(&it.remedy)));
    }
    session.messages.line("run it this once? [y/N]");
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.map_err(|error| CliError::files(format!("cannot read the answer: {error}")))?;
    Ok(is_yes(&line))
}

fn is_yes(line: &str) -> bool {
    matches!(line.trim().to_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_counts() {
        assert!(is_yes("y\n") && is_yes("Yes\n"));
        assert!(!is_yes("\n") && !is_yes("n\n") && !is_yes("yy\n"));
    }
}
