//! Our terminal as the command's own: every key goes to the command as it is, and the command knows the size.

use std::{
    io::{self, Read as _},
    os::fd::AsFd as _,
    thread,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr},
};
use shadow::TerminalSize;
use signal_hook::{consts::SIGWINCH, iterator::Signals};

/// Ours passes every key on as it is until this is dropped.
pub(super) struct Raw(Termios);

impl Raw {
    pub(super) fn begin() -> io::Result<Self> {
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

/// The size of our own terminal; what is usual if it is unknown.
pub(super) fn size() -> TerminalSize {
    match tcgetwinsize(io::stdout()) {
        Ok(it) if it.ws_row > 0 && it.ws_col > 0 => TerminalSize { rows: it.ws_row, columns: it.ws_col },
        _ => TerminalSize { rows: 24, columns: 80 },
    }
}

/// Calls `changed` at each change of the size, until the handle is closed.
pub(super) fn follow_size(
    changed: impl Fn(TerminalSize) + Send + 'static,
) -> io::Result<signal_hook::iterator::Handle> {
    let mut signals = Signals::new([SIGWINCH])?;
    let handle = signals.handle();
    thread::spawn(move || {
        for _ in signals.forever() {
            changed(size());
        }
    });
    Ok(handle)
}

/// Sends what is typed until `send` says that nothing takes it. Ends with the program: nothing else waits for it.
pub(super) fn pass_typed(mut send: impl FnMut(&[u8]) -> bool + Send + 'static) {
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        loop {
            let input = io::stdin();
            let mut ready = [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN)];
            if poll(&mut ready, None).is_err() {
                return;
            }
            let Ok(length @ 1..) = io::stdin().read(&mut buffer) else { return };
            if !send(&buffer[..length]) {
                return;
            }
        }
    });
}
