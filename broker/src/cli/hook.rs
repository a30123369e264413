//! `broker agent hook`

mod answer;
mod ask;
mod change;
mod event;
mod install;

use std::{
    io::{self, Write as _},
    path::PathBuf,
    process,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use clap::Subcommand;

use self::{ask::Findings, change::Change, event::Event};
use super::Session;
use crate::{CliError, Exit};

/// Answer the hook of an agent that edits the disk itself, with what its edit brings
///
/// Reads what Claude Code, Cursor or Codex send to a hook before or after an edit, and answers in their format with the
/// findings that are new; with `{}` where there is nothing to say. `broker agent hook install` puts it into their settings. Exits
/// with 0, or with 1 if nothing could be found out, which is no reason for an agent to stop; never with 2, which is one.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Action>,

    /// Refuse an edit that would bring errors, and have one that brought them mended, instead of only saying so
    #[arg(long)]
    block: bool,

    /// How long an answer may take
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=600))]
    timeout: u64,
}

#[derive(Debug, Subcommand)]
enum Action {
    Install(install::Args),
    Remove(install::RemoveArgs),
}

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    match &args.command {
        Some(Action::Install(args)) => return install::run(args, session),
        Some(Action::Remove(args)) => return install::remove(args, session),
        None => {}
    }
    let watchdog = Watchdog::start(Duration::from_secs(args.timeout));
    let answered = answer(args, session);
    watchdog.stop();
    match answered {
        Ok(()) => Ok(Exit::Clean),
        // The exit code of an error would have the agent's edit refused.
        Err(error) => {
            session.messages.error(&error);
            Ok(Exit::Findings)
        }
    }
}

/// Ends the process in time, whatever keeps it: an agent waits for its hook.
struct Watchdog {
    ended: mpsc::Sender<()>,
}

impl Watchdog {
    /// Time that an answer takes with the results so far.
    const GRACE: Duration = Duration::from_millis(500);

    fn start(time: Duration) -> Self {
        let (ended, end) = mpsc::channel();
        thread::spawn(move || {
            if end.recv_timeout(time + Self::GRACE) == Err(mpsc::RecvTimeoutError::Timeout) {
                let _nobody_left_to_tell = writeln!(io::stdout(), "{{}}");
                let _nobody_left_to_tell =
                    writeln!(io::stderr(), "error: no answer within {} s", time.as_secs());
                // The process may be kept by a read that does not end.
                process::exit(1);
            }
        });
        Self { ended }
    }

    fn stop(self) {
        let _ended_already = self.ended.send(());
    }
}

fn answer(args: &Args, session: &mut Session) -> Result<(), CliError> {
    let deadline = Instant::now() + Duration::from_secs(args.timeout);
    let input = session.read_stdin()?;
    let event = Event::parse(&input).map_err(|why| {
        CliError::usage(format!("standard input is nothing that an agent sends to a hook: {why}"))
    })?;
    let found = findings(&event, deadline, session)?;
    session.print(&answer::of(&event, found.as_ref(), args.block))
}

/// `None` if there is nothing to say: the event is about no edit, or about files elsewhere.
fn findings(event: &Event, deadline: Instant, session: &mut Session) -> Result<Option<Findings>, CliError> {
    let Some(edit) = &event.edit else { return Ok(None) };
    session.process_context.cwd = Ok(folder(event, session)?);
    session.quiet = true;
    let opened = session.open()?;
    let Some(change) = Change::of(event.moment, edit, &opened)? else { return Ok(None) };
    ask::ask(&change, &opened, deadline)
}

/// Returns the folder in which the agent works; where the hook was started if the event has none.
fn folder(event: &Event, session: &Session) -> Result<PathBuf, CliError> {
    match &event.folder {
        Some(folder) => Ok(folder.clone()),
        None => session.cwd(),
    }
}
