//! The last part of what a command in the background printed.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use parking_lot::Mutex;
use tokio::sync::watch;

/// Which of its outputs a command printed to; a terminal's is `Stdout`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    Stdout,
    Stderr,
}

/// Bytes that are kept.
const KEPT: u64 = 2 << 20;

/// Bytes of a piece at which the next one begins.
const CHUNK_SIZE: usize = 8 << 10;

pub(super) struct Log {
    state: Mutex<State>,
    /// Number of bytes that were printed.
    printed: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    pieces: VecDeque<(OutputStream, BytesMut)>,
    /// Bytes before the first piece.
    dropped: u64,
    /// All bytes, those too that are not kept.
    printed: u64,
}

/// Part of a log from some offset on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Bytes that were asked for and are not kept.
    pub(super) dropped: u64,
    /// Each with its offset.
    pub(super) pieces: Vec<(u64, OutputStream, Bytes)>,
    /// The offset after them.
    pub(super) end: u64,
}

impl Default for Log {
    fn default() -> Self {
        Self { state: Mutex::default(), printed: watch::channel(0).0 }
    }
}

impl Log {
    pub(super) fn add(&self, stream: OutputStream, bytes: &[u8]) {
        let mut state = self.state.lock();
        state.add(stream, bytes);
        self.printed.send_replace(state.printed);
    }

    pub(super) fn printed(&self) -> u64 {
        *self.printed.borrow()
    }

    /// Tells of what is printed from now on.
    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.printed.subscribe()
    }

    /// From `offset` on, some [`CHUNK_SIZE`]s at most.
    pub(super) fn read(&self, offset: u64) -> Part {
        self.state.lock().read(offset)
    }
}

impl State {
    fn add(&mut self, stream: OutputStream, bytes: &[u8]) {
        self.printed += bytes.len() as u64;
        match self.pieces.back_mut() {
            Some((last, piece)) if *last == stream && piece.len() < CHUNK_SIZE => {
                piece.extend_from_slice(bytes)
            }
            _ => self.pieces.push_back((stream, bytes.into())),
        }
        while self.printed - self.dropped > KEPT
            && let Some((_, piece)) = self.pieces.pop_front()
        {
            self.dropped += piece.len() as u64;
        }
    }

    fn read(&self, offset: u64) -> Part {
        const PIECES: usize = 16;
        let offset = offset.min(self.printed);
        let begin = offset.max(self.dropped);
        let (mut at, mut pieces) = (self.dropped, Vec::new());
        for (stream, piece) in &self.pieces {
            let end = at + piece.len() as u64;
            if end > begin {
                let skipped = usize::try_from(begin.saturating_sub(at)).unwrap_or_default();
                pieces.push((at.max(begin), *stream, Bytes::copy_from_slice(&piece[skipped..])));
            }
            at = end;
            if pieces.len() == PIECES {
                break;
            }
        }
        let end = pieces.last().map_or(begin, |(at, _, piece)| at + piece.len() as u64);
        Part { dropped: begin - offset, pieces, end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(part: &Part) -> String {
        part.pieces.iter().map(|(_, _, it)| String::from_utf8_lossy(it)).collect()
    }

    #[test]
    fn it_is_read_from_any_offset() {
        let log = Log::default();
        log.add(OutputStream::Stdout, b"one ");
        log.add(OutputStream::Stdout, b"two ");
        log.add(OutputStream::Stderr, b"three");
        let all = log.read(0);
        assert_eq!((text(&all).as_str(), all.pieces.len(), all.end), ("one two three", 2, 13));
        let rest = log.read(5);
        assert_eq!((text(&rest).as_str(), rest.pieces[0].0), ("wo three", 5));
        assert_eq!(log.read(13), Part { dropped: 0, pieces: Vec::new(), end: 13 });
        assert_eq!(log.read(99).end, 13);
    }

    #[test]
    fn the_last_part_is_kept_and_the_rest_is_counted() {
        let log = Log::default();
        for _ in 0..3 * (KEPT as usize >> 10) {
            log.add(OutputStream::Stdout, &[b'x'; 1 << 10]);
        }
        log.add(OutputStream::Stdout, b"end");
        let mut part = log.read(0);
        let (dropped, mut length, mut last) = (part.dropped, 0, String::new());
        while !part.pieces.is_empty() {
            length += part.pieces.iter().map(|it| it.2.len() as u64).sum::<u64>();
            last = text(&part);
            part = log.read(part.end);
        }
        assert!(length <= KEPT && length > KEPT - 2 * CHUNK_SIZE as u64, "{length}");
        assert_eq!((dropped + length, part.end), (log.printed(), log.printed()));
        assert!(last.ends_with("xend"));
    }
}
