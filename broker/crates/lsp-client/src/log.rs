//! The last lines of a server's standard error and of its messages to the user, kept to explain a failure.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read},
};

use parking_lot::Mutex;

const MAX_LINES: usize = 200;

/// Maximum length of a line in bytes; the rest is left out.
const LONGEST_LINE: usize = 1 << 10;

/// The newest lines of a stream, at most 200.
#[derive(Debug, Default)]
pub struct Log(Mutex<VecDeque<String>>);

impl Log {
    pub fn push(&self, line: &str) {
        let mut lines = self.0.lock();
        if lines.len() == MAX_LINES {
            lines.pop_front();
        }
        lines.push_back(line[..line.floor_char_boundary(LONGEST_LINE)].to_owned());
    }

    /// The newest, at most so many.
    pub fn tail(&self, count: usize) -> Vec<String> {
        let lines = self.0.lock();
        lines.iter().skip(lines.len().saturating_sub(count)).cloned().collect()
    }

    /// Keeps the lines of a stream until it ends.
    pub(crate) fn follow(&self, stream: impl Read) {
        let mut stream = BufReader::new(stream);
        while let Ok(Some(line)) = next_line(&mut stream) {
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end();
            if !line.is_empty() {
                self.push(line);
            }
        }
    }
}

/// The start of the next line; however long the line is, no more is held.
fn next_line(stream: &mut impl BufRead) -> std::io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let mut is_end = true;
    loop {
        let piece = stream.fill_buf()?;
        if piece.is_empty() {
            return Ok((!is_end).then_some(line));
        }
        is_end = false;
        let newline = piece.iter().position(|it| *it == b'\n');
        let end = newline.unwrap_or(piece.len());
        // With what lossy conversion may add or cut, still enough for a whole line.
        let room = (LONGEST_LINE + 4).saturating_sub(line.len());
        line.extend_from_slice(&piece[..end.min(room)]);
        let used = newline.map_or(piece.len(), |it| it + 1);
        stream.consume(used);
        if newline.is_some() {
            return Ok(Some(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_last_lines() {
        let log = Log::default();
        let text: String = (0..1000).map(|it| format!("line {it}\r\n\n")).collect();
        log.follow(text.as_bytes());
        assert_eq!(log.tail(usize::MAX).len(), MAX_LINES);
        assert_eq!(log.tail(2), ["line 998", "line 999"]);
    }

    #[test]
    fn keeps_the_start_of_a_long_line() {
        let log = Log::default();
        let text = format!("{}\nshort\n{}", "é".repeat(100_000), "no newline");
        log.follow(text.as_bytes());
        assert_eq!(log.tail(3), [&*"é".repeat(LONGEST_LINE / 2), "short", "no newline"]);
    }

    #[test]
    fn odd_bytes_are_kept_as_they_can_be() {
        let log = Log::default();
        log.follow(&b"\xff\xfe ok\n"[..]);
        assert_eq!(log.tail(1), ["\u{fffd}\u{fffd} ok"]);
    }
}
