//! Chunks of many contents in a file: which words each has.

use overlay::ContentHash;

use super::{embedding::BYTES, learn::Learned, words::Word};
use crate::store::Mapped;

/// Documents of a segment.
const MAX_DOCUMENTS: usize = 60_000;

/// Entries of a segment, each of which takes sixteen bytes while it is made.
const MAX_ENTRIES: usize = 4 << 20;

/// Numbers of a chunk.
const RECORD: usize = 5;

/// A segment in the making.
#[derive(Default)]
pub(super) struct Builder {
    hashes: Vec<ContentHash>,
    /// End of the chunks of each document.
    ends: Vec<u32>,
    /// First line, end, number of words, end of the symbol and 1 for a test, of each chunk.
    records: Vec<[u32; RECORD]>,
    chunk_hashes: Vec<ContentHash>,
    symbols: String,
    vectors: Vec<u8>,
    /// A word, a chunk in the upper 24 bits and a weight.
    entries: Vec<(Word, u32)>,
}

impl Builder {
    pub(super) fn add(&mut self, hash: ContentHash, chunks: &[Learned]) -> bool {
        let new: usize = chunks.iter().map(|it| it.words.weights.len()).sum();
        let has_room = self.hashes.len() < MAX_DOCUMENTS && self.entries.len() + new <= MAX_ENTRIES;
        if !has_room && !self.hashes.is_empty() {
            return false;
        }
        for chunk in chunks {
            let number = number(self.records.len()) << 8;
            self.entries
                .extend(chunk.words.weights.iter().map(|(word, it)| (*word, number | u32::from(*it))));
            self.symbols.push_str(&chunk.symbol);
            let (first, end, length) = (chunk.first_line, chunk.end_line, chunk.words.length);
            let symbol = self::number(self.symbols.len());
            self.records.push([first, end, length, symbol, chunk.is_test.into()]);
            self.chunk_hashes.push(chunk.hash);
            self.vectors.extend(chunk.words.vector.to_bytes());
        }
        self.hashes.push(hash);
        self.ends.push(number(self.records.len()));
        true
    }

    pub(super) fn into_sections(mut self) -> Vec<Vec<u8>> {
        self.entries.sort_unstable();
        let (mut words, mut ends, mut lists) = (Vec::new(), Vec::new(), Vec::new());
        for list in self.entries.chunk_by(|a, b| a.0 == b.0) {
            words.extend(list[0].0.0.to_le_bytes());
            for (_, entry) in list {
                lists.extend(entry.to_le_bytes());
            }
            ends.extend(number(lists.len() / 4).to_le_bytes());
        }
        let hashes = |all: &[ContentHash]| all.iter().flat_map(|it| *it.as_bytes()).collect();
        let numbers = |all: &[u32]| all.iter().flat_map(|it| it.to_le_bytes()).collect();
        vec![
            hashes(&self.hashes),
            numbers(&self.ends),
            numbers(self.records.as_flattened()),
            hashes(&self.chunk_hashes),
            self.symbols.into_bytes(),
            words,
            ends,
            lists,
            self.vectors,
        ]
    }
}

/// Segments are too small for other numbers.
fn number(it: usize) -> u32 {
    u32::try_from(it).unwrap_or(u32::MAX)
}

const HASHES: usize = 0;
const ENDS_OF_DOCUMENTS: usize = 1;
const RECORDS: usize = 2;
const CHUNK_HASHES: usize = 3;
const SYMBOLS: usize = 4;
const WORDS: usize = 5;
const ENDS: usize = 6;
const LISTS: usize = 7;
const VECTORS: usize = 8;
const SECTIONS: usize = 9;

pub(super) struct Segment {
    file: Mapped,
    /// Words of all chunks.
    words: u64,
}

/// A chunk as a segment has it.
pub(super) struct Entry {
    pub(super) first_line: u32,
    pub(super) end_line: u32,
    pub(super) hash: ContentHash,
    pub(super) symbol: String,
    pub(super) is_test: bool,
}

impl Segment {
    pub(super) fn new(file: Mapped) -> Option<Self> {
        let vectors = file.section(VECTORS).len() / BYTES;
        let has_all = file.section(WORDS).len() == file.section(ENDS).len() * 2
            && file.section(CHUNK_HASHES).len() / 32 == vectors;
        if file.sections() != SECTIONS || !has_all {
            return None;
        }
        let mut segment = Self { file, words: 0 };
        segment.words = (0..segment.chunks()).map(|it| u64::from(segment.length(it))).sum();
        Some(segment)
    }

    pub(super) fn file(&self) -> &Mapped {
        &self.file
    }

    pub(super) fn hashes(&self) -> impl Iterator<Item = ContentHash> {
        self.file.section(HASHES).as_chunks::<32>().0.iter().map(|it| ContentHash::from_bytes(*it))
    }

    pub(super) fn chunks(&self) -> usize {
        self.file.section(CHUNK_HASHES).len() / 32
    }

    pub(super) fn words(&self) -> u64 {
        self.words
    }

    /// The vector of each chunk.
    pub(super) fn vectors(&self) -> &[[u8; BYTES]] {
        self.file.section(VECTORS).as_chunks().0
    }

    fn numbers(&self, section: usize) -> &[[u8; 4]] {
        self.file.section(section).as_chunks::<4>().0
    }

    fn number(&self, section: usize, at: usize) -> u32 {
        self.numbers(section).get(at).map_or(0, |it| u32::from_le_bytes(*it))
    }

    /// Returns the number of words of a chunk.
    pub(super) fn length(&self, chunk: usize) -> u32 {
        self.number(RECORDS, chunk * RECORD + 2)
    }

    /// The number of the document that a chunk is of.
    pub(super) fn document(&self, chunk: usize) -> usize {
        self.numbers(ENDS_OF_DOCUMENTS).partition_point(|it| u32::from_le_bytes(*it) as usize <= chunk)
    }

    pub(super) fn entry(&self, chunk: usize) -> Option<Entry> {
        let hash = self.file.section(CHUNK_HASHES).as_chunks::<32>().0.get(chunk)?;
        let [first_line, end_line, end, test] =
            [0, 1, 3, 4].map(|it| self.number(RECORDS, chunk * RECORD + it));
        let start = if chunk == 0 { 0 } else { self.number(RECORDS, (chunk - 1) * RECORD + 3) };
        let symbol = self.file.section(SYMBOLS).get(start as usize..end as usize)?;
        let symbol = String::from_utf8_lossy(symbol).into_owned();
        let hash = ContentHash::from_bytes(*hash);
        Some(Entry { first_line, end_line, hash, symbol, is_test: test == 1 })
    }

    /// The chunks that have a word, each with the word's weight.
    pub(super) fn find(&self, word: Word) -> impl ExactSizeIterator<Item = (usize, u8)> {
        let words = self.file.section(WORDS).as_chunks::<8>().0;
        let range = match words.binary_search_by_key(&word.0, |it| u64::from_le_bytes(*it)) {
            Ok(0) => 0..self.number(ENDS, 0),
            Ok(at) => self.number(ENDS, at - 1)..self.number(ENDS, at),
            Err(_) => 0..0,
        };
        let list = self.numbers(LISTS).get(range.start as usize..range.end as usize).unwrap_or_default();
        list.iter().map(|it| u32::from_le_bytes(*it)).map(|it| ((it >> 8) as usize, it.to_le_bytes()[0]))
    }
}
