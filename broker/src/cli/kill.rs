//! `broker run kill`

use lint::printable;
use workspaces::RunId;

use super::{Session, logs, ps};
use crate::{CliError, Exit};

/// End a command that the daemon runs, or send it a signal
///
/// Sends SIGTERM and, if the command is there 5 seconds later, SIGKILL, and returns when it has ended with all that it
/// started. With --signal it sends that signal and returns. Exits with 2 if there is no such command.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The name of the run in this workspace, or its id
    name: String,

    /// Send this signal and no other, such as `HUP` or `10`
    #[arg(long, short, value_parser = signal, value_name = "SIGNAL")]
    signal: Option<i32>,
}

const SIGNALS: [(&str, i32); 10] = [
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("KILL", 9),
    ("USR1", 10),
    ("USR2", 12),
    ("TERM", 15),
    ("CONT", 18),
    ("STOP", 19),
    ("WINCH", 28),
];

pub(super) fn run(args: &Args, session: &mut Session) -> Result<Exit, CliError> {
    let client = logs::client(session)?;
    let run = ps::find(&client, &args.name, session)?;
    let name = printable(&run.name).into_owned();
    let id = RunId { workspace: None, run: run.id.to_string() };
    let killed = client.wait(client.daemon().kill(&id, args.signal))?;
    if let (None, Some(exited)) = (args.signal, killed) {
        session.messages.line(&format!("{name} ended with {}", exited.exit_code));
    }
    Ok(Exit::Clean)
}

fn signal(text: &str) -> Result<i32, String> {
    let name = text.to_uppercase();
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    let named = SIGNALS.iter().find(|(it, _)| *it == name).map(|(_, number)| *number);
    let number = || text.parse().ok().filter(|it| (1..=64).contains(it));
    named.or_else(number).ok_or_else(|| {
        let names: Vec<_> = SIGNALS.iter().map(|(name, _)| *name).collect();
        format!("there is no such signal; there are {}, and numbers from 1 to 64", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_names_or_numbers() {
        assert_eq!(["hup", "SIGKILL", "TERM", "12"].map(signal), [Ok(1), Ok(9), Ok(15), Ok(12)]);
        assert!(signal("0").is_err() && signal("x").is_err() && signal("65").is_err());
    }
}
