//! Input and output of a command.

use std::{
    fs::File,
    io::{self, Read as _, Write},
    os::fd::{AsFd as _, OwnedFd},
    thread::{self, JoinHandle},
};

use lint::Cancel;
use rustix::termios::{Winsize, tcsetwinsize};
use shadow::{Ended, Program, Running, Shadow, TerminalSize};

use super::{
    Ours,
    printed::Printed,
    terminal::{self, Raw},
};
use crate::{CliError, console};

pub(super) enum Output {
    /// The command's output is written to our streams.
    Passed {
        pipes: [(OwnedFd, OwnedFd); 2],
    },
    /// A terminal of the command's own, which ours shows.
    Terminal,
    Captured {
        pipes: [(OwnedFd, OwnedFd); 2],
    },
}

impl Output {
    pub(super) fn new(ours: Ours) -> Result<Self, CliError> {
        Ok(match ours {
            Ours::Captured => Self::Captured { pipes: [pipe()?, pipe()?] },
            Ours::Terminal => Self::Terminal,
            Ours::Passed => Self::Passed { pipes: [pipe()?, pipe()?] },
        })
    }

    pub(super) fn start(&self, shadow: &Shadow, program: Program) -> Result<Running, CliError> {
        let started = match self {
            Self::Terminal => shadow.run(Program { terminal: Some(terminal::size()), ..program }, None),
            Self::Passed { pipes: [first, second] } | Self::Captured { pipes: [first, second] } => {
                let input = input()?;
                shadow.run(program, Some([input.as_fd(), first.1.as_fd(), second.1.as_fd()]))
            }
        };
        started.map_err(|error| CliError::files(error.to_string()))
    }

    /// Passes input and output until the command has ended. The first interrupt goes to the command.
    pub(super) fn follow(
        self,
        running: &mut Running,
        cancel: &Cancel,
    ) -> Result<(Ended, [Printed; 2]), CliError> {
        let signal = running.signals();
        // A command that is gone has no use for it.
        let _passes = cancel.on_cancel(move || _ = signal(console::interrupted_by()));
        match self {
            Self::Passed { pipes: [first, second] } => {
                let relays = [relay(first, io::stdout()), relay(second, io::stderr())];
                let ended = running.wait();
                for relay in relays {
                    relay.join().unwrap_or(Ok(()))?;
                }
                Ok((ended, Default::default()))
            }
            Self::Terminal => match in_terminal(running) {
                Ok(ended) => Ok((ended, Default::default())),
                Err(error) => Err(CliError::files(format!("cannot use the terminal: {error}"))),
            },
            Self::Captured { pipes } => {
                let readers = pipes.map(|(reader, writer)| {
                    drop(writer);
                    read(reader)
                });
                let ended = running.wait();
                let printed = readers.map(|it| it.join().unwrap_or_default());
                Ok((ended, printed))
            }
        }
    }
}

/// Passes input and output of a terminal until the command has ended.
fn in_terminal(running: &mut Running) -> io::Result<Ended> {
    let Some(terminal) = running.terminal.take() else { return Ok(running.wait()) };
    let terminal = File::from(terminal);
    let _raw = Raw::begin()?;
    let sized = terminal.try_clone()?;
    let resize = move |size: TerminalSize| {
        let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
        let _gone = tcsetwinsize(&sized, size);
    };
    let resized = terminal::follow_size(resize)?;
    let mut typed = terminal.try_clone()?;
    terminal::pass_typed(move |it| typed.write_all(it).is_ok());
    // The last program that has it open closes it: an error on Linux.
    let shows = copied(terminal, io::stdout());
    let ended = running.wait();
    // The rest of the terminal's output is shown first: its end comes when no program has it open.
    let _ = shows.join();
    resized.close();
    Ok(ended)
}

fn pipe() -> Result<(OwnedFd, OwnedFd), CliError> {
    let (reader, writer) =
        io::pipe().map_err(|error| CliError::files(format!("cannot make a pipe: {error}")))?;
    Ok((reader.into(), writer.into()))
}

/// A pipe with what comes in. A command that had our own file could open it anew, and for more than to read.
fn input() -> Result<OwnedFd, CliError> {
    let (reader, writer) = pipe()?;
    thread::spawn(move || io::copy(&mut io::stdin(), &mut File::from(writer)));
    Ok(reader)
}

/// Writes what comes to ours, until either is closed.
fn relay(
    (reader, writer): (OwnedFd, OwnedFd),
    to: impl Write + Send + 'static,
) -> JoinHandle<io::Result<()>> {
    drop(writer);
    copied(File::from(reader), to)
}

/// Copies a stream in a thread of its own. A reader that closes it is no error: the system signals that to the command, as its
/// pipe is closed.
fn copied(mut from: File, mut to: impl Write + Send + 'static) -> JoinHandle<io::Result<()>> {
    thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            match to.write_all(&buffer[..length]).and_then(|()| to.flush()) {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
                written => written?,
            }
        }
        Ok(())
    })
}

fn read(from: OwnedFd) -> JoinHandle<Printed> {
    thread::spawn(move || {
        let mut printed = Printed::default();
        let (mut from, mut buffer) = (File::from(from), [0; 8192]);
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            printed.add(&buffer[..length]);
        }
        printed
    })
}
