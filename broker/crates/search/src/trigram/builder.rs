//! Gathers the trigrams of documents and makes a segment of them.
//!
//! Documents are numbered in the order in which they come.

use overlay::ContentHash;

use super::{Extracted, Trigram};

/// Documents of a segment: their numbers have 16 bits.
const MAX_DOCUMENTS: usize = 60_000;

/// Entries of a segment, each of which takes eight bytes while it is made.
const MAX_ENTRIES: usize = 8 << 20;

/// A segment in the making.
#[derive(Default)]
pub(crate) struct Builder {
    hashes: Vec<ContentHash>,
    encoded: Vec<u16>,
    entries: Vec<Entry>,
}

/// A trigram and a document that has it, in the order in which they are written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u64);

impl Entry {
    fn new(trigram: Trigram, document: u16) -> Self {
        Self(u64::from(trigram.0) << 16 | u64::from(document))
    }

    fn trigram(self) -> u32 {
        (self.0 >> 16) as u32
    }

    fn document(self) -> u16 {
        (self.0 & 0xffff) as u16
    }
}

impl Builder {
    /// Adds a document; false if there is no room for it any more.
    pub(crate) fn add(&mut self, hash: ContentHash, document: &Extracted) -> bool {
        let room = MAX_ENTRIES.saturating_sub(self.entries.len());
        let has_room = self.hashes.len() < MAX_DOCUMENTS && document.trigrams.len() <= room;
        if !has_room && !self.is_empty() {
            return false;
        }
        let Ok(number) = u16::try_from(self.hashes.len()) else { return false };
        if document.is_encoded {
            self.encoded.push(number);
        }
        self.hashes.push(hash);
        self.entries.extend(document.trigrams.iter().map(|it| Entry::new(*it, number)));
        true
    }

    fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// The sections of a segment's file.
    pub(crate) fn into_sections(mut self) -> [Vec<u8>; 5] {
        self.entries.sort_unstable();
        let hashes = self.hashes.iter().flat_map(|it| *it.as_bytes()).collect();
        let encoded = self.encoded.iter().flat_map(|it| it.to_le_bytes()).collect();
        let (mut trigrams, mut ends, mut lists) = (Vec::new(), Vec::new(), Vec::new());
        for list in self.entries.chunk_by(|a, b| a.trigram() == b.trigram()) {
            push_list(&mut lists, list, self.hashes.len());
            trigrams.extend(list[0].trigram().to_le_bytes());
            ends.extend(u32::try_from(lists.len()).unwrap_or(u32::MAX).to_le_bytes());
        }
        [hashes, encoded, trigrams, ends, lists]
    }
}

/// Whether a list is kept as a bit for each document, which is shorter where there are many.
pub(super) fn is_dense(count: usize, documents: usize) -> bool {
    count * 8 > documents
}

/// The number of documents, then bits or the distances between them.
fn push_list(lists: &mut Vec<u8>, list: &[Entry], documents: usize) {
    push_number(lists, u32::try_from(list.len()).unwrap_or(u32::MAX));
    if is_dense(list.len(), documents) {
        let start = lists.len();
        lists.resize(start + documents.div_ceil(8), 0);
        let documents = list.iter().map(|it| it.document());
        documents.for_each(|it| lists[start + usize::from(it / 8)] |= 1 << (it % 8));
        return;
    }
    let mut last = 0;
    for document in list.iter().map(|it| it.document()) {
        push_number(lists, u32::from(document - last));
        last = document;
    }
}

/// Seven bits in each byte, the lowest first.
fn push_number(to: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        to.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    to.push(number.to_le_bytes()[0]);
}
