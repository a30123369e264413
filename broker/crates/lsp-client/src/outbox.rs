//! Queue of the messages to a server. A server that does not read holds up the writer's thread only, and not for ever.

use std::{
    collections::VecDeque,
    io::{self, Write},
    os::fd::AsFd,
    time::{Duration, Instant},
};

use lint::Cancel;
use parking_lot::{Condvar, Mutex};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
};

/// Interval at which a wait checks whether it was cancelled.
pub const TICK: Duration = Duration::from_millis(10);

/// Frames in order, bounded by their bytes.
pub(crate) struct Outbox {
    inner: Mutex<Inner>,
    changed: Condvar,
    limit: usize,
}

#[derive(Default)]
struct Inner {
    frames: VecDeque<Vec<u8>>,
    bytes: usize,
    is_closed: bool,
}

/// Reason for which a frame was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotTaken {
    Full,
    Cancelled,
    Closed,
}

impl Outbox {
    pub(crate) fn new(limit: usize) -> Self {
        Self { inner: Mutex::default(), changed: Condvar::new(), limit }
    }

    /// Waits for room until `deadline`.
    pub(crate) fn push(&self, frame: Vec<u8>, deadline: Instant, cancel: &Cancel) -> Result<(), NotTaken> {
        let mut inner = self.inner.lock();
        loop {
            let now = Instant::now();
            if inner.is_closed {
                return Err(NotTaken::Closed);
            } else if inner.has_room(frame.len(), self.limit) {
                inner.bytes += frame.len();
                inner.frames.push_back(frame);
                self.changed.notify_all();
                return Ok(());
            } else if cancel.is_cancelled() {
                return Err(NotTaken::Cancelled);
            } else if now >= deadline {
                return Err(NotTaken::Full);
            }
            let wait = TICK.min(deadline - now);
            self.changed.wait_for(&mut inner, wait);
        }
    }

    /// Does not wait.
    pub(crate) fn offer(&self, frame: Vec<u8>) -> Result<(), NotTaken> {
        self.push(frame, Instant::now(), &Cancel::default())
    }

    /// Closes the outbox: no frame is taken any more, and those in it are not written.
    pub(crate) fn close(&self) {
        self.inner.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Writes what comes until this is closed, then closes `input`. An error says how long the server has
    /// read nothing.
    pub(crate) fn write_to(&self, input: impl Write + AsFd, patience: Duration) -> Result<(), Duration> {
        let mut input = Input { pipe: input, is_open: true, patience };
        let _ = input.do_not_block();
        while let Some(frame) = self.next() {
            input.write(&frame, || self.inner.lock().is_closed)?;
        }
        Ok(())
    }

    fn next(&self) -> Option<Vec<u8>> {
        let is_idle = |it: &mut Inner| it.frames.is_empty() && !it.is_closed;
        let mut inner = self.inner.lock();
        self.changed.wait_while(&mut inner, is_idle);
        if inner.is_closed {
            return None;
        }
        let frame = inner.frames.pop_front()?;
        inner.bytes -= frame.len();
        self.changed.notify_all();
        Some(frame)
    }
}

impl Inner {
    /// Whether a frame of this length fits. A single one always does, however large.
    fn has_room(&self, length: usize, limit: usize) -> bool {
        self.frames.is_empty() || self.bytes + length <= limit
    }
}

/// The server's standard input.
struct Input<P> {
    pipe: P,
    /// Not any more if its reader is gone: then the server's output ends, too, and that tells the reason.
    is_open: bool,
    patience: Duration,
}

impl<P: Write + AsFd> Input<P> {
    fn do_not_block(&self) -> io::Result<()> {
        let flags = fcntl_getfl(&self.pipe)?;
        Ok(fcntl_setfl(&self.pipe, flags | OFlags::NONBLOCK)?)
    }

    fn write(&mut self, mut frame: &[u8], is_closed: impl Fn() -> bool) -> Result<(), Duration> {
        let mut last_read = Instant::now();
        while self.is_open && !frame.is_empty() && !is_closed() {
            match self.pipe.write(frame) {
                Ok(written) => {
                    frame = &frame[written..];
                    last_read = Instant::now();
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.is_open = false,
            }
            if last_read.elapsed() > self.patience {
                return Err(self.patience);
            }
        }
        Ok(())
    }

    /// Waits until there is room, or for a tick.
    fn wait(&self) {
        let tick = Timespec { tv_sec: 0, tv_nsec: i64::from(TICK.subsec_nanos()) };
        let _ = poll(&mut [PollFd::new(&self.pipe, PollFlags::OUT)], Some(&tick));
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Read, thread};

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn what_is_pushed_is_written_in_order() {
        let (mut output, input) = io::pipe().unwrap();
        let outbox = Outbox::new(10);
        let text = thread::scope(|scope| {
            scope.spawn(|| outbox.write_to(input, Duration::from_secs(60)).unwrap());
            // More than the pipe holds, so that the writer waits for the reader.
            scope.spawn(|| {
                for number in 0..50_000 {
                    outbox.push(format!("{number}\n").into_bytes(), soon(), &Cancel::default()).unwrap();
                }
            });
            let mut text = vec![0; (0..50_000).map(|it| format!("{it}\n").len()).sum()];
            output.read_exact(&mut text).unwrap();
            outbox.close();
            String::from_utf8(text).unwrap()
        });
        assert!(text.lines().map(|it| it.parse::<i32>().unwrap()).eq(0..50_000));
    }

    #[test]
    fn a_full_outbox_takes_nothing() {
        let outbox = Outbox::new(10);
        outbox.offer(vec![0; 100]).unwrap();
        assert_eq!(outbox.offer(vec![0; 1]), Err(NotTaken::Full));
        let cancel = Cancel::default();
        cancel.cancel();
        assert_eq!(outbox.push(vec![0; 1], soon(), &cancel), Err(NotTaken::Cancelled));
        outbox.close();
        assert_eq!(outbox.offer(vec![0; 1]), Err(NotTaken::Closed));
        assert_eq!(outbox.next(), None);
    }

    #[test]
    fn who_does_not_read_is_found_out() {
        let (_output, input) = io::pipe().unwrap();
        let outbox = Outbox::new(10);
        outbox.offer(vec![0; 1 << 20]).unwrap();
        let patience = Duration::from_millis(50);
        assert_eq!(outbox.write_to(input, patience), Err(patience));
    }

    #[test]
    fn closing_frees_a_writer_that_waits() {
        let (mut output, input) = io::pipe().unwrap();
        let outbox = Outbox::new(10);
        outbox.offer(vec![0; 1 << 20]).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| outbox.write_to(input, Duration::from_secs(3600)).unwrap());
            output.read_exact(&mut [0]).unwrap();
            outbox.close();
        });
    }

    #[test]
    fn an_end_that_nobody_reads_is_no_error() {
        let (output, input) = io::pipe().unwrap();
        drop(output);
        let outbox = Outbox::new(10);
        outbox.offer(vec![0; 1]).unwrap();
        thread::scope(|scope| {
            let writer = scope.spawn(|| outbox.write_to(input, Duration::from_secs(60)));
            outbox.push(vec![0; 20], soon(), &Cancel::default()).unwrap();
            outbox.close();
            assert_eq!(writer.join().unwrap(), Ok(()));
        });
    }
}
