//! `broker daemon stop`

use super::Session;
use crate::{CliError, Exit, client::Client};

/// End the daemon
///
/// What is running is finished first, and branches are kept: the next command that needs a daemon starts one
/// and finds them again. Exits with 0 if no daemon runs any more, whether or not one did.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let Some(client) = Client::running(&session.process_context.cancel)? else {
        session.messages.line("no daemon is running");
        return Ok(Exit::Clean);
    };
    let pid = client.wait(client.daemon().status())?.pid;
    client.wait(client.daemon().stop())?;
    // A connection that stays open is one that the daemon would wait for.
    drop(client);
    if ::client::wait_for_end() {
        session.messages.line(&format!("the daemon (process {pid}) has ended"));
        return Ok(Exit::Clean);
    }
    let error = CliError::files(format!("the daemon (process {pid}) has not ended yet"));
    Err(error.hint(format!("`kill -9 {pid}` ends it at once; what was acknowledged is kept")))
}
