//! Permissions beyond those of the workspace: flags are the person's own answer, other questions are put to them.

use std::io::{self, IsTerminal as _};

use lint::printable;
use tokio::sync::mpsc::Sender;
use workspaces::{PermissionKind, RunInput, WantedPermission};

use crate::{
    CliError,
    cli::{Session, confirm},
};

/// Answers a question of the daemon. Only a command that the workspace does not list is said by no flag.
pub(in crate::cli) fn answer(
    wanted: &[WantedPermission],
    inputs: &Sender<RunInput>,
    session: &Session,
) -> Result<(), CliError> {
    let unsaid: Vec<_> = wanted.iter().filter(|it| it.kind == PermissionKind::Allow).collect();
    let allowed = unsaid.is_empty() || ask(&unsaid, session)?;
    // A run that is over needs no answer.
    let _over = inputs.try_send(RunInput::Permission(allowed));
    Ok(())
}

/// Asks the person at the terminal; without one, the answer is no.
fn ask(wanted: &[&WantedPermission], session: &Session) -> Result<bool, CliError> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Ok(false);
    }
    for it in wanted {
        session.messages.line(&printable(&it.reason()));
        session.messages.line(&format!("  for good: {} in [run] of broker.toml", printable(&it.remedy())));
    }
    confirm(session, "run it this once?")
}
