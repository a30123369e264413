//! Chunks of a text, and the words of each.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use overlay::{ContentHash, WorkspacePath};
use syntax::{Language, Trees};

use super::{
    chunk::{Chunk, chunks},
    embedding::{Model, Vector},
    words::{self, Word},
};

/// Bytes of a text; what is larger is generated, or data.
pub(super) const LARGEST: usize = 1 << 20;

/// Bytes of a text in a language of data, whose files are rarely asked for by meaning.
const LARGEST_DATA: usize = 64 << 10;
const DATA: [&str; 7] = ["json", "yaml", "xml", "toml", "css", "html", "dtd"];

/// Bytes of a line on average; what has more was written by a program.
const LONGEST_LINES: usize = 300;

/// Time for which a text is parsed. Then it is cut by length.
const PARSING: Duration = Duration::from_secs(2);

/// Number of times that a word counts which the chunk defines, and one that the definitions around it define.
const DEFINED: u32 = 6;
const AROUND: u32 = 2;

/// A chunk and its words.
#[derive(Debug, Clone)]
pub(super) struct Learned {
    pub(super) hash: ContentHash,
    pub(super) first_line: u32,
    pub(super) end_line: u32,
    pub(super) symbol: String,
    pub(super) is_test: bool,
    pub(super) words: Arc<Words>,
}

/// The words of a chunk, with how much each weighs in it, and its vector.
#[derive(Debug, Clone)]
pub(super) struct Words {
    /// Sorted.
    pub(super) weights: Vec<(Word, u8)>,
    /// All words of its text.
    pub(super) length: u32,
    pub(super) vector: Vector,
}

impl Words {
    pub(super) fn weight(&self, word: Word) -> u8 {
        self.weights.binary_search_by_key(&word, |it| it.0).map_or(0, |at| self.weights[at].1)
    }
}

/// Learns one text after the other.
pub(super) struct Reader {
    trees: Trees,
    words: words::Reader,
}

impl Reader {
    pub(super) fn new(trees: Trees) -> Self {
        Self { trees, words: words::Reader::default() }
    }

    /// The chunks of a text, by `known` words or new ones. What is no text has none.
    pub(super) fn read(
        &mut self,
        path: &WorkspacePath,
        bytes: &Bytes,
        hash: ContentHash,
        known: &dyn Fn(ContentHash) -> Option<Arc<Words>>,
    ) -> Vec<Learned> {
        let language = Language::of(path);
        let Some(text) = readable(bytes, language) else { return Vec::new() };
        let start = Instant::now();
        let give_up = || start.elapsed() > PARSING;
        let tree = self.trees.of_file(path, bytes, hash, &give_up);
        let chunks = chunks(path, text, tree.as_deref());
        let learn = |chunk: Chunk| {
            let hash = chunk.hash(text);
            let words = known(hash).unwrap_or_else(|| Arc::new(self.words(&chunk, text)));
            let Chunk { first_line, end_line, symbol, is_test, .. } = chunk;
            Learned { hash, first_line, end_line, symbol, is_test, words }
        };
        chunks.into_iter().map(learn).collect()
    }

    fn words(&mut self, chunk: &Chunk, text: &str) -> Words {
        let (mut counts, mut length) = (HashMap::<Word, u32>::new(), 0);
        self.words.read(&text[chunk.start..chunk.end], |it| {
            *counts.entry(it).or_default() += 1;
            length += 1;
        });
        self.words.read(&chunk.defines, |it| *counts.entry(it).or_default() += DEFINED);
        self.words.read(&chunk.symbol, |it| *counts.entry(it).or_default() += AROUND);
        let weight = |(word, count): (Word, u32)| (word, u8::try_from(count).unwrap_or(u8::MAX));
        let mut weights: Vec<_> = counts.into_iter().map(weight).collect();
        weights.sort_unstable();
        let vector = Model::own().of_code(&text[chunk.start..chunk.end], &chunk.symbol);
        Words { weights, length, vector }
    }
}

fn readable(bytes: &Bytes, language: Option<Language>) -> Option<&str> {
    let is_data = language.is_some_and(|it| DATA.contains(&it.name()));
    let largest = if is_data { LARGEST_DATA } else { LARGEST };
    if bytes.len() > largest || memchr::memchr(b'\0', bytes).is_some() {
        return None;
    }
    let lines = memchr::memchr_iter(b'\n', bytes).count() + 1;
    std::str::from_utf8(bytes).ok().filter(|it| it.len() / lines < LONGEST_LINES)
}
