//! Where a command's input comes from and its output goes.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, IsTerminal as _, Read as _, Write},
    os::fd::{AsFd as _, OwnedFd},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread::{self, JoinHandle},
    time::Duration,
};

use lint::Cancel;
use shadow::{Ended, Program, Running, Shadow};

use super::{Args, terminal};
use crate::CliError;

/// Bytes of each output that are kept for `--json`.
const KEPT: usize = 64 << 10;

/// Poll interval for the cancel flag, which has no wake-up.
const GLANCE: Duration = Duration::from_millis(20);

pub(super) enum Output {
    /// What comes out is written to ours.
    Passed {
        pipes: [(OwnedFd, OwnedFd); 2],
    },
    /// A terminal of the command's own, which ours shows.
    Terminal,
    Captured {
        pipes: [(OwnedFd, OwnedFd); 2],
    },
}

/// The last part of what was printed.
#[derive(Default)]
pub(super) struct Printed {
    last: VecDeque<u8>,
    /// Bytes before that.
    pub(super) omitted: u64,
}

impl Output {
    pub(super) fn new(args: &Args) -> Result<Self, CliError> {
        if args.json {
            return Ok(Self::Captured { pipes: [pipe()?, pipe()?] });
        }
        let ours = [io::stdin().is_terminal(), io::stdout().is_terminal(), io::stderr().is_terminal()];
        match ours {
            [true, true, true] => Ok(Self::Terminal),
            [true, true, _] if args.interactive => Ok(Self::Terminal),
            _ if args.interactive => Err(CliError::usage("--interactive needs a terminal")),
            _ => Ok(Self::Passed { pipes: [pipe()?, pipe()?] }),
        }
    }

    pub(super) fn start(&self, shadow: &Shadow, program: Program) -> Result<Running, CliError> {
        let started = match self {
            Self::Terminal => shadow.run(Program { terminal: true, ..program }, None),
            Self::Passed { pipes: [first, second] } | Self::Captured { pipes: [first, second] } => {
                let input = input()?;
                shadow.run(program, Some([input.as_fd(), first.1.as_fd(), second.1.as_fd()]))
            }
        };
        started.map_err(|error| CliError::files(error.to_string()))
    }

    /// Until the command has ended. The first interrupt goes to the command.
    pub(super) fn follow(
        self,
        running: &mut Running,
        cancel: &Cancel,
    ) -> Result<(Ended, [Printed; 2]), CliError> {
        let is_over = AtomicBool::new(false);
        let signal = running.signals();
        thread::scope(|scope| {
            let watch = scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    if cancel.is_cancelled() {
                        // A command that is gone has no use for it.
                        let _ = signal(INTERRUPT);
                        return;
                    }
                    thread::park_timeout(GLANCE);
                }
            });
            let followed = self.follow_output(running);
            is_over.store(true, Relaxed);
            // The command's end is not to wait for the next poll.
            watch.thread().unpark();
            followed
        })
        .map_err(|error| CliError::files(format!("cannot follow the command: {error}")))
    }

    fn follow_output(self, running: &mut Running) -> io::Result<(Ended, [Printed; 2])> {
        match self {
            Self::Passed { pipes: [first, second] } => {
                let relays = [relay(first, io::stdout()), relay(second, io::stderr())];
                let ended = running.wait();
                relays.into_iter().for_each(|it| _ = it.join());
                Ok((ended, Default::default()))
            }
            Self::Terminal => Ok((terminal::relay(running)?, Default::default())),
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
fn relay((reader, writer): (OwnedFd, OwnedFd), mut to: impl Write + Send + 'static) -> JoinHandle<()> {
    drop(writer);
    thread::spawn(move || {
        let (mut from, mut buffer) = (File::from(reader), [0; 8192]);
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            if to.write_all(&buffer[..length]).and_then(|()| to.flush()).is_err() {
                return;
            }
        }
    })
}

/// SIGINT.
const INTERRUPT: i32 = 2;

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

impl Printed {
    fn add(&mut self, bytes: &[u8]) {
        self.last.extend(bytes);
        let more = self.last.len().saturating_sub(KEPT);
        self.last.drain(..more);
        self.omitted += more as u64;
    }

    pub(super) fn text(&self) -> String {
        let (first, second) = self.last.as_slices();
        String::from_utf8_lossy(&[first, second].concat()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_is_kept() {
        let mut printed = Printed::default();
        printed.add(&[b'a'; KEPT]);
        printed.add(b"end");
        assert_eq!((printed.omitted, printed.text().len()), (3, KEPT));
        assert!(printed.text().ends_with("aend"));
    }
}
