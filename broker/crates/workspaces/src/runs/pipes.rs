//! This side of a command's pipes and terminal, which no thread waits for.

use std::{io, os::fd::OwnedFd};

use rustix::{
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    pipe::{PipeFlags, pipe_with},
    termios::{Winsize, tcsetwinsize},
};
use tokio::io::{Interest, unix::AsyncFd};

use super::request::TerminalSize;

/// The end of a pipe, or the other side of a terminal.
pub(super) struct End(AsyncFd<OwnedFd>);

impl End {
    pub(super) fn new(file: OwnedFd, interest: Interest) -> io::Result<Self> {
        fcntl_setfl(&file, fcntl_getfl(&file)? | OFlags::NONBLOCK)?;
        // SAFETY: the file is owned here, so that it stays open and the same for as long as it is registered.
        #[expect(unsafe_code, reason = "see above")]
        let registered = unsafe { AsyncFd::register_with_interest(file, interest) };
        Ok(Self(registered?))
    }

    /// Waits for bytes; 0 at the end.
    pub(super) async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.async_io(Interest::READABLE, |it| Ok(rustix::io::read(it, &mut *buffer)?)).await
    }

    /// Reads the bytes that are there already.
    pub(super) fn read_now(&self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(self.0.get_ref(), buffer)?)
    }

    pub(super) async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = self.0.async_io(Interest::WRITABLE, |it| Ok(rustix::io::write(it, bytes)?)).await?;
            bytes = &bytes[written..];
        }
        Ok(())
    }

    /// Tells a terminal its size.
    pub(super) fn resize(&self, size: TerminalSize) -> io::Result<()> {
        let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
        Ok(tcsetwinsize(self.0.get_ref(), size)?)
    }
}

/// A pipe that the daemon reads, and the end for the command.
pub(super) fn output() -> io::Result<(End, OwnedFd)> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok((End::new(reader, Interest::READABLE)?, writer))
}

/// A pipe that the daemon writes to, and the end for the command.
pub(super) fn input() -> io::Result<(End, OwnedFd)> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    Ok((End::new(writer, Interest::WRITABLE)?, reader))
}

/// An input that is at its end.
#[expect(clippy::disallowed_methods, reason = "/dev/null is no workspace file")]
pub(super) fn no_input() -> io::Result<OwnedFd> {
    Ok(std::fs::File::open("/dev/null")?.into())
}
