//! A part of the index, in a file that is never changed.

use overlay::ContentHash;

use super::{Needs, Trigram, builder::is_dense};
use crate::store::Mapped;

/// Segment: the documents that have each trigram.
pub(crate) struct Segment {
    file: Mapped,
    documents: usize,
    encoded: Documents,
}

const HASHES: usize = 0;
const ENCODED: usize = 1;
const TRIGRAMS: usize = 2;
const ENDS: usize = 3;
const LISTS: usize = 4;
pub(crate) const SECTIONS: usize = 5;

impl Segment {
    /// `None` if the sections do not fit each other. Their content is believed, since the file has a checksum.
    pub(crate) fn new(file: Mapped) -> Option<Self> {
        let fits = file.sections() == SECTIONS
            && file.section(HASHES).len().is_multiple_of(32)
            && file.section(TRIGRAMS).len() == file.section(ENDS).len();
        let documents = file.section(HASHES).len() / 32;
        if !fits || documents > usize::from(u16::MAX) + 1 {
            return None;
        }
        let mut encoded = Documents::none(documents);
        let numbers = file.section(ENCODED).as_chunks::<2>().0;
        numbers.iter().for_each(|it| encoded.insert(u16::from_le_bytes(*it).into()));
        Some(Self { file, documents, encoded })
    }

    /// Returns the hashes by which the documents are known, in their order.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = ContentHash> {
        self.file.section(HASHES).as_chunks::<32>().0.iter().map(|it| ContentHash::from_bytes(*it))
    }

    pub(crate) fn file(&self) -> &Mapped {
        &self.file
    }

    /// The documents that may match.
    pub(crate) fn find(&self, needs: &Needs) -> Documents {
        let mut found = self.have(needs);
        found.add(&self.encoded);
        found
    }

    fn have(&self, needs: &Needs) -> Documents {
        match needs {
            Needs::Nothing => Documents::all(self.documents),
            Needs::Trigram(it) => {
                self.list(*it).map_or_else(|| Documents::none(self.documents), |it| self.read(it))
            }
            Needs::Any(any) => {
                let mut found = Documents::none(self.documents);
                any.iter().for_each(|it| found.add(&self.have(it)));
                found
            }
            Needs::All(all) => self.have_all(all),
        }
    }

    /// Begins with the shortest lists, and ends when nothing is left.
    fn have_all(&self, all: &[Needs]) -> Documents {
        let (mut lists, mut others) = (Vec::new(), Vec::new());
        for needs in all {
            match needs {
                Needs::Trigram(it) => match self.list(*it) {
                    Some(list) => lists.push(list),
                    None => return Documents::none(self.documents),
                },
                needs => others.push(needs),
            }
        }
        lists.sort_unstable_by_key(|it| it.count);
        let mut found = Documents::all(self.documents);
        for list in lists {
            if !found.is_empty() {
                found.keep(&self.read(list));
            }
        }
        for needs in others {
            if !found.is_empty() {
                found.keep(&self.have(needs));
            }
        }
        found
    }

    fn list(&self, trigram: Trigram) -> Option<List<'_>> {
        let number = |section, at: usize| {
            let bytes = self.file.section(section).as_chunks::<4>().0.get(at)?;
            Some(u32::from_le_bytes(*bytes))
        };
        let trigrams = self.file.section(TRIGRAMS).as_chunks::<4>().0;
        let at = trigrams.binary_search_by_key(&trigram.0, |it| u32::from_le_bytes(*it)).ok()?;
        let start = if at == 0 { 0 } else { number(ENDS, at - 1)? };
        let mut bytes = self.file.section(LISTS).get(start as usize..number(ENDS, at)? as usize)?;
        let count = take_number(&mut bytes)? as usize;
        Some(List { count, bytes })
    }

    fn read(&self, list: List<'_>) -> Documents {
        let mut found = Documents::none(self.documents);
        if is_dense(list.count, self.documents) {
            for (word, bytes) in found.bits.iter_mut().zip(list.bytes.chunks(8)) {
                let mut whole = [0; 8];
                whole[..bytes.len()].copy_from_slice(bytes);
                *word = u64::from_le_bytes(whole);
            }
            return found;
        }
        let (mut bytes, mut last) = (list.bytes, 0);
        while let Some(distance) = take_number(&mut bytes) {
            last += distance as usize;
            found.insert(last);
        }
        found
    }
}

struct List<'a> {
    count: usize,
    bytes: &'a [u8],
}

fn take_number(bytes: &mut &[u8]) -> Option<u32> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 || shift > 28 {
            return Some(number);
        }
    }
}

/// A set of a segment's documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Documents {
    bits: Vec<u64>,
}

impl Documents {
    fn none(documents: usize) -> Self {
        Self { bits: vec![0; documents.div_ceil(64)] }
    }

    fn all(documents: usize) -> Self {
        let mut all = Self { bits: vec![u64::MAX; documents.div_ceil(64)] };
        if let (Some(last), rest @ 1..) = (all.bits.last_mut(), documents % 64) {
            *last = (1 << rest) - 1;
        }
        all
    }

    /// Inserts a document. One beyond the last document is passed over.
    fn insert(&mut self, document: usize) {
        if let Some(word) = self.bits.get_mut(document / 64) {
            *word |= 1 << (document % 64);
        }
    }

    pub(crate) fn has(&self, document: usize) -> bool {
        self.bits.get(document / 64).is_some_and(|it| it >> (document % 64) & 1 == 1)
    }

    fn add(&mut self, others: &Self) {
        self.bits.iter_mut().zip(&others.bits).for_each(|(own, other)| *own |= other);
    }

    fn keep(&mut self, others: &Self) {
        self.bits.iter_mut().zip(&others.bits).for_each(|(own, other)| *own &= other);
    }

    fn is_empty(&self) -> bool {
        self.bits.iter().all(|it| *it == 0)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.bits.iter().enumerate().flat_map(|(index, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(index * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        store::Store,
        trigram::{Builder, Extractor},
    };

    fn segment(texts: &[&str]) -> (tempfile::TempDir, Segment) {
        let (mut builder, mut extractor) = (Builder::default(), Extractor::new());
        for text in texts {
            assert!(builder.add(ContentHash::of(text.as_bytes()), &extractor.extract(text.as_bytes())));
        }
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), "test", 1).unwrap();
        let file = store.add(&builder.into_sections()).unwrap();
        (folder, Segment::new(file).unwrap())
    }

    #[test]
    fn documents_are_found_by_what_they_have() {
        let others: Vec<_> = (0..70).map(|it| format!("number{it} common")).collect();
        let mut texts = vec!["fn needle() {}", "common haystack", "\u{feff}marked"];
        texts.extend(others.iter().map(String::as_str));
        let (_folder, segment) = segment(&texts);
        let find = |query: &str| segment.find(&Needs::of(query, true)).iter().collect::<Vec<_>>();
        assert_eq!(find("needle"), [0, 2]);
        assert_eq!(find("NEEDLE"), [0, 2], "case is for the search to tell");
        assert_eq!(find("hay.*stack|number69"), [1, 2, 72]);
        assert_eq!(find("common").len(), 72);
        assert_eq!(find("absent"), [2]);
        assert_eq!(find(".").len(), 73);
        assert_eq!(segment.hashes().count(), 73);
        assert_eq!(segment.hashes().next(), Some(ContentHash::of(b"fn needle() {}")));
    }

    #[test]
    fn a_set_of_documents_ends_with_the_last() {
        assert_eq!(Documents::all(64).iter().count(), 64);
        assert_eq!(Documents::all(65).iter().last(), Some(64));
        assert!(Documents::none(0).is_empty());
    }
}
