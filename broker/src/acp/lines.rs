//! Messages over two byte streams, each a line: one thread reads, another writes.

use std::{
    io::{BufRead as _, BufReader, Read, Write},
    thread,
};

use tokio::sync::{mpsc, oneshot};

/// Bytes of a message.
const MAX_LINE: usize = 256 << 20;

/// Messages that are read before the proxy handles them.
const QUEUE: usize = 64;

/// A line, or the reason why there are no more that can be read.
pub(super) type Line = Result<Vec<u8>, String>;

/// Reads until the stream ends, on a thread of its own. Lines come without their end.
pub(super) fn read(input: impl Read + Send + 'static) -> mpsc::Receiver<Line> {
    let (sender, receiver) = mpsc::channel(QUEUE);
    thread::spawn(move || {
        let mut input = BufReader::new(input);
        while let Some(line) = read_line(&mut input, MAX_LINE).transpose() {
            let is_last = line.is_err();
            if sender.blocking_send(line).is_err() || is_last {
                return;
            }
        }
    });
    receiver
}

/// `None` at the end. What stands behind the last line end is a line, too.
fn read_line(input: &mut BufReader<impl Read>, limit: usize) -> Result<Option<Vec<u8>>, String> {
    let mut line = Vec::new();
    let read = input.take(limit as u64 + 1).read_until(b'\n', &mut line);
    if read.map_err(|error| format!("a message cannot be read: {error}"))? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > limit {
        return Err(format!("a message has more than {limit} bytes"));
    }
    Ok(Some(line))
}

/// Queue of a thread that writes lines. It has no limit: a side that does not read must not keep the other from being heard.
pub(super) struct Outbox(mpsc::UnboundedSender<Vec<u8>>);

impl Outbox {
    /// The thread ends when this is dropped and everything is written, or when the other side is gone; then the receiver is
    /// closed.
    pub(super) fn new(mut output: impl Write + Send + 'static) -> (Self, oneshot::Receiver<()>) {
        let (sender, mut receiver) = mpsc::unbounded_channel::<Vec<u8>>();
        let (ended, written) = oneshot::channel();
        thread::spawn(move || {
            let _ended: oneshot::Sender<()> = ended;
            while let Some(mut line) = receiver.blocking_recv() {
                line.push(b'\n');
                if output.write_all(&line).and_then(|()| output.flush()).is_err() {
                    return;
                }
            }
        });
        (Self(sender), written)
    }

    /// Queues a message. The reader of the other side tells that it is gone.
    pub(super) fn send(&self, line: impl Into<Vec<u8>>) {
        let _gone = self.0.send(line.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, limit: usize) -> Vec<Result<String, String>> {
        let mut input = BufReader::with_capacity(4, text.as_bytes());
        let mut lines = Vec::new();
        while let Some(line) = read_line(&mut input, limit).transpose() {
            let is_last = line.is_err();
            lines.push(line.map(|it| String::from_utf8(it).unwrap()));
            if is_last {
                break;
            }
        }
        lines
    }

    #[test]
    fn a_message_is_a_line_within_the_limit() {
        let ok = |it: &str| Ok(it.to_owned());
        assert_eq!(lines("one\n\ntwo\r\nlast", 5), [ok("one"), ok(""), ok("two\r"), ok("last")]);
        assert_eq!(
            lines("12345\n123456\n", 5),
            [ok("12345"), Err("a message has more than 5 bytes".to_owned())]
        );
        assert_eq!(lines("", 5), []);
    }
}
