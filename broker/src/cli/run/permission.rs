//! What a run asks for beyond what the workspace allows: flags are the person's own answer, other questions are put to them.

use std::io::{self, IsTerminal as _};

use broker_proto::{v1 as pb, v1::run_request::Message};
use lint::printable;
use tokio::sync::mpsc::Sender;

use crate::{
    CliError,
    cli::{Session, confirm},
};

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
    confirm(session, "run it this once?")
}
