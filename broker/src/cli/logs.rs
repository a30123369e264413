//! `broker run logs`

use std::io::{self, Write as _};

use workspaces::{LogEvent, OutputStream, RunId};

use super::{Session, ps};
use crate::{CliError, Exit, client::Client};

/// Show what a command in the background printed, as far as it is kept
///
/// What it printed to its standard error goes to ours. The last 2 MiB are kept, also after its end. Exits with 2 if there
/// is no such command. Never starts a daemon.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The name of the run in this workspace, or its id
    name: String,

    /// Go on with what it prints from now on, until it ends
    #[arg(long, short)]
    follow: bool,
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let client = client(session)?;
    let run = ps::find(&client, &args.name, session)?;
    let id = RunId { workspace: None, run: run.id.to_string() };
    let mut parts = client.wait(client.daemon().read_log(&id, 0, args.follow))?;
    loop {
        match client.next(&mut parts) {
            Ok(Some(part)) => show(part, session)?,
            Ok(None) => return Ok(Exit::Clean),
            // Enough was seen.
            Err(_) if client.is_interrupted() && args.follow => return Ok(Exit::Clean),
            Err(error) => return Err(error.into()),
        }
    }
}

/// The daemon, which is there if something runs.
pub(super) fn client(session: &Session) -> Result<Client, CliError> {
    let client = Client::running(&session.process_context.cancel)?;
    client.ok_or_else(|| CliError::usage("no daemon is running, and so no command of it"))
}

fn show(part: LogEvent, session: &mut Session) -> Result<(), CliError> {
    match part {
        LogEvent::Output { stream: OutputStream::Stderr, bytes, .. } => {
            let mut errors = io::stderr();
            errors.write_all(&bytes).and_then(|()| errors.flush())?;
        }
        LogEvent::Output { stream: OutputStream::Stdout, bytes, .. } => {
            let out = &mut session.process_context.stdout;
            out.write_all(&bytes).and_then(|()| out.flush())?;
        }
        LogEvent::Dropped(count) => {
            session.messages.line(&format!("{count} bytes before this are not kept"));
        }
        LogEvent::End { .. } => {}
    }
    Ok(())
}
