//! Resources that a guest makes the host keep: its memory, the files that it has open, the streams that it reads.
//!
//! All of it counts against one limit. Few guests may have much of it at the same time; others wait until they may.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use lint::Cancel;
use wasmtime_wasi::p2::{InputStream, Pollable, StreamError, StreamResult};

use crate::host::{Permit, Permits};

/// Bytes of what is open. Clones share the count.
#[derive(Debug, Clone, Default)]
struct Open(Arc<AtomicU64>);

/// Something open, whose bytes count until it is dropped.
#[derive(Debug)]
pub(crate) struct Counted<T> {
    pub(crate) it: T,
    bytes: u64,
    open: Open,
}

impl<T> Drop for Counted<T> {
    fn drop(&mut self) {
        self.open.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The bytes that one guest may have, and those that it has.
pub(crate) struct Budget {
    limit: u64,
    /// All of its memories together.
    memory: u64,
    open: Open,
    /// The most that its memories had together.
    pub(crate) most: u64,
    /// Whether memory was refused: to the guest a refusal and a bug of its own both end in `unreachable`.
    pub(crate) refused: bool,
    large: Arc<Permits>,
    /// Held from when the guest becomes large to its end.
    place: Option<Permit>,
    cancel: Cancel,
    /// Time that the guest waited for its place, or for the grammars, which is not its fault.
    pub(crate) waited: Duration,
}

/// Bytes that any guest may have. Those of the bundle need a tenth of it.
const SMALL: u64 = 256 << 20;

impl Budget {
    pub(crate) fn new(limit: usize, large: Arc<Permits>, cancel: Cancel) -> Self {
        let (limit, open) = (limit as u64, Open::default());
        let waited = Duration::ZERO;
        Self { limit, memory: 0, open, most: 0, refused: false, large, place: None, cancel, waited }
    }

    /// The flag that ends the guest's work, and what the host does for it.
    pub(crate) fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }

    /// Replaces the flag that ends the guest's work.
    pub(crate) fn set_cancel(&mut self, cancel: Cancel) {
        self.cancel = cancel;
    }

    /// Whether the guest holds a place for large guests.
    pub(crate) fn is_large(&self) -> bool {
        self.place.is_some()
    }

    /// Makes room for a memory that grows; whether there is some.
    pub(crate) fn grow(&mut self, current: usize, desired: usize) -> bool {
        let more = desired.saturating_sub(current) as u64;
        self.refused |= self.with(more) > self.limit;
        let fits = self.fits(more);
        if fits {
            self.memory += more;
            self.most = self.most.max(self.memory);
        }
        fits
    }

    /// Counts what is opened, if there is room for it.
    pub(crate) fn count<T>(&mut self, it: T, bytes: u64) -> Option<Counted<T>> {
        self.fits(bytes).then(|| {
            self.open.0.fetch_add(bytes, Ordering::Relaxed);
            Counted { it, bytes, open: self.open.clone() }
        })
    }

    /// Whether there is room for `more` bytes. May wait for a place for large guests.
    pub(crate) fn fits(&mut self, more: u64) -> bool {
        let all = self.with(more);
        all <= self.limit && (all <= SMALL || self.may_be_large())
    }

    fn with(&self, more: u64) -> u64 {
        self.memory.saturating_add(self.open.0.load(Ordering::Relaxed)).saturating_add(more)
    }

    fn may_be_large(&mut self) -> bool {
        if self.place.is_none() {
            let since = Instant::now();
            self.place = self.large.take(&self.cancel);
            self.waited += since.elapsed();
        }
        self.place.is_some()
    }
}

/// The rest of a file, which the guest has open as long as the stream.
pub(crate) struct FileStream {
    text: Arc<Counted<Bytes>>,
    at: usize,
}

/// A guest may ask for any length; more than this comes in a second read.
pub(crate) const MAX_READ: usize = 1 << 20;

impl FileStream {
    pub(crate) fn new(text: Arc<Counted<Bytes>>, offset: u64) -> Self {
        let at = usize::try_from(offset).unwrap_or(usize::MAX).min(text.it.len());
        Self { text, at }
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for FileStream {
    async fn ready(&mut self) {}
}

#[wasmtime_wasi::async_trait]
impl InputStream for FileStream {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        let rest = self.text.it.slice(self.at..);
        if rest.is_empty() {
            return Err(StreamError::Closed);
        }
        let part = rest.slice(..rest.len().min(size).min(MAX_READ));
        self.at += part.len();
        Ok(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn budget(large: &Arc<Permits>) -> Budget {
        Budget::new(1 << 30, Arc::clone(large), Cancel::default())
    }

    #[test]
    fn memories_and_open_files_count_together() {
        let mut budget = budget(&Permits::new(1));
        assert!(budget.grow(0, 600 * MIB) && budget.grow(0, 100 * MIB), "two memories");
        let file = Arc::new(budget.count(Bytes::from_static(b"text"), 300 * MIB as u64).unwrap());
        let stream = FileStream::new(Arc::clone(&file), 0);
        drop(file);
        assert!(!budget.fits(100 * MIB as u64), "the stream keeps the file");
        drop(stream);
        assert!(budget.fits(100 * MIB as u64));
        assert!(!budget.grow(600 * MIB, 1000 * MIB) && budget.refused);
        assert_eq!(budget.most, 700 * MIB as u64);
    }

    #[test]
    fn few_guests_are_large_at_once() {
        let large = Permits::new(1);
        let (mut first, mut second, mut third) = (budget(&large), budget(&large), budget(&large));
        assert!(first.grow(0, 512 * MIB));
        assert!(second.grow(0, 200 * MIB), "a small one needs no place");
        third.cancel.cancel();
        assert!(!third.grow(0, 512 * MIB), "nobody wants what this one waits for");
        assert!(!third.refused, "it has not too much");
        drop(first);
        assert!(second.grow(200 * MIB, 512 * MIB));
    }

    #[test]
    fn a_stream_ends_with_its_file() {
        let text = budget(&Permits::new(1)).count(Bytes::from(vec![b'x'; MAX_READ + 5]), 0).unwrap();
        let mut stream = FileStream::new(Arc::new(text), 3);
        assert_eq!(stream.read(2).unwrap().len(), 2);
        assert_eq!(stream.read(usize::MAX).unwrap().len(), MAX_READ);
        assert!(matches!(stream.read(1), Err(StreamError::Closed)));
    }
}
