//! A terminal of the command's own: what is typed at ours goes there, and what it prints comes here.

use std::{
    fs::File,
    io::{self, Read as _, Write as _},
    os::fd::AsFd as _,
    thread,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize},
};
use shadow::{Ended, Running};
use signal_hook::{consts::SIGWINCH, iterator::Signals};

/// Ours passes every key on as it is until this is dropped.
struct Raw(Termios);

impl Raw {
    fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(io::stdin(), OptionalActions::Drain, &raw)?;
        Ok(Self(before))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Drain, &self.0);
    }
}

/// Until the command has ended.
pub(super) fn relay(running: &mut Running) -> io::Result<Ended> {
    let Some(terminal) = running.terminal.take() else { return Ok(running.wait()) };
    let terminal = File::from(terminal);
    let _raw = Raw::begin()?;
    let resized = follow_size(terminal.try_clone()?)?;
    // It ends with the program: nothing else waits for what is typed.
    let typed = terminal.try_clone()?;
    thread::spawn(move || send_typed(typed));
    let shown = terminal.try_clone()?;
    let shows = thread::spawn(move || show(shown));
    let ended = running.wait();
    // What is still in the terminal is shown first: its end comes when no program has it open.
    let _ = shows.join();
    resized.close();
    Ok(ended)
}

fn follow_size(terminal: File) -> io::Result<signal_hook::iterator::Handle> {
    let copy = move || tcgetwinsize(io::stdout()).and_then(|size| tcsetwinsize(&terminal, size));
    let _unknown = copy();
    let mut signals = Signals::new([SIGWINCH])?;
    let handle = signals.handle();
    thread::spawn(move || {
        for _ in signals.forever() {
            let _unknown = copy();
        }
    });
    Ok(handle)
}

fn send_typed(mut terminal: File) {
    let mut buffer = [0; 4096];
    loop {
        let input = io::stdin();
        let mut ready = [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN)];
        if poll(&mut ready, None).is_err() {
            return;
        }
        let Ok(length @ 1..) = io::stdin().read(&mut buffer) else { return };
        if terminal.write_all(&buffer[..length]).is_err() {
            return;
        }
    }
}

fn show(mut terminal: File) {
    let mut buffer = [0; 8192];
    // The last program that has it open closes it: an error on Linux.
    while let Ok(length @ 1..) = terminal.read(&mut buffer) {
        let mut output = io::stdout();
        if output.write_all(&buffer[..length]).and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}
