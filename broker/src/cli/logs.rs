//! `broker logs`

use std::io::{self, Write as _};

use broker_proto::{v1 as pb, v1::read_log_response::Part};

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
    let request = pb::ReadLogRequest { run_id: run.run_id, follow: args.follow, ..Default::default() };
    let mut parts = client.call(client.runs().read_log(request))?;
    loop {
        match client.next(&mut parts) {
            Ok(Some(part)) => show(part, session)?,
            Ok(None) => return Ok(Exit::Clean),
            // Enough was seen.
            Err(_) if client.is_interrupted() && args.follow => return Ok(Exit::Clean),
            Err(status) => return Err(status.into()),
        }
    }
}

/// The daemon, which is there if something runs.
pub(super) fn client(session: &Session) -> Result<Client, CliError> {
    let client = Client::running(&session.process_context.cancel)?;
    client.ok_or_else(|| CliError::usage("no daemon is running, and so no command of it"))
}

fn show(part: pb::ReadLogResponse, session: &mut Session) -> Result<(), CliError> {
    match part.part {
        Some(Part::Output(it)) if it.is_stderr => {
            let mut errors = io::stderr();
            errors.write_all(&it.content).and_then(|()| errors.flush())?;
        }
        Some(Part::Output(it)) => {
            let out = &mut session.process_context.stdout;
            out.write_all(&it.content).and_then(|()| out.flush())?;
        }
        Some(Part::DroppedBytes(count)) => {
            session.messages.line(&format!("{count} bytes before this are not kept"));
        }
        Some(Part::End(_)) | None => {}
    }
    Ok(())
}
