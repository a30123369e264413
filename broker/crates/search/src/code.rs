//! Chunks of a workspace's code by what they are about.
//!
//! A chunk is a function, a class or a section (`chunk.rs`), and has the words of its identifiers (`words.rs`), which are scored
//! by BM25 (`score.rs`) with a boost for what it defines, and a vector of what it is about (`embedding.rs`). Both make one score
//! (`fusion.rs`), with a boost for its path. Segments have the chunks of contents, as those of the trigram index have their
//! trigrams. What is not in a segment, as texts that a branch edits, is learned when it is searched and remembered by chunk: an
//! edit has the words of the chunks that it touches learned anew, and no others.

mod chunk;
mod embedding;
mod fusion;
mod learn;
mod live;
mod places;
mod rank;
mod score;
mod segment;
mod test_files;
mod words;

use std::{io, path::Path, sync::Arc};

use bytes::Bytes;
use fusion::fuse;
use learn::{Learned, Reader};
use live::Live;
use overlay::{ContentHash, View, WorkspacePath};
use parking_lot::Mutex;
use places::Places;
use score::Question;
use segment::{Builder, Segment};
use syntax::Trees;

use crate::{
    Cancelled, IndexOptions, IndexStats, Options, Progress, UpdateError,
    contents::{Contents, Kind},
    parallel,
    store::Mapped,
};

/// Bytes of trees that are remembered; a tree is needed once.
const TREES: u64 = 4 << 20;

/// Files that are learned for one question; the rest waits for the index.
const MAX_LEARNED: usize = 500;

/// Best chunks by their words that paths and scorers put into order, for each that is asked for.
const CONSIDERED: usize = 8;

/// Score that a path with all words of the question adds to the chunks of its file.
const PATH_BOOST: f32 = 0.5;

/// Share of the score that a chunk of a test keeps, unless the question is about tests.
const TEST_SHARE: f32 = 0.7;

/// Bytes of a chunk that are shown.
const SHOWN: usize = 2000;

/// Request of a search for code.
#[derive(Clone, Copy)]
pub struct CodeRequest<'a> {
    pub query: &'a str,
    pub limit: usize,
    /// Another opinion on the best chunks.
    pub scorer: Option<&'a dyn Scorer>,
}

/// Judges chunks by something else than their words, such as embeddings. Knows them by their hash, which is that of the chunk's
/// text and of what it defines: what is known of a chunk stays true wherever it is.
pub trait Scorer: Sync {
    /// The scores that take the place of those by words, in the order of the chunks.
    fn score(&self, query: &str, chunks: &[(ContentHash, f32)]) -> Vec<f32>;
}

/// A chunk that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeMatch {
    pub path: WorkspacePath,
    /// Number of the first line, from 1.
    pub first_line: u32,
    pub last_line: u32,
    /// Definition in the chunk, as `Outer.inner`; empty if there is none.
    pub symbol: String,
    /// Whether it is a part of a test, by its definition.
    pub is_test: bool,
    pub score: f32,
    pub chunk: ContentHash,
    /// Text of the chunk, or the beginning of a long one.
    pub text: String,
}

/// Number of files that were considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coverage {
    pub indexed: usize,
    pub total: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CodeAnswer {
    /// The best first; of equal chunks one.
    pub matches: Vec<CodeMatch>,
    pub coverage: Coverage,
}

/// The code index of one workspace. Searches go on while it is updated.
pub struct CodeIndex {
    contents: Contents<Chunks>,
    live: Live,
}

/// Contents are known by their chunks.
struct Chunks {
    trees: Trees,
}

impl CodeIndex {
    /// Opens the index in `folder`, which is made if it is not there. What is broken there is removed.
    pub fn open(folder: &Path, options: IndexOptions) -> io::Result<Self> {
        let kind = Chunks { trees: Trees::new(TREES) };
        Ok(Self { contents: Contents::open(kind, folder, options)?, live: Live::default() })
    }

    pub fn stats(&self) -> IndexStats {
        self.contents.stats()
    }

    /// Chunks whose words were learned for searches, since no segment had their file.
    pub fn learned(&self) -> u64 {
        self.live.learned()
    }

    /// Updates the index, as [`Index::update`](crate::Index::update).
    pub fn update(
        &self,
        view: &dyn View,
        options: &Options<'_>,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<IndexStats, UpdateError> {
        self.contents.update(view, options, progress)
    }

    /// The chunks of a view that fit a question best, of the files that are indexed and of those that can be learned now.
    pub fn search(
        &self,
        view: &dyn View,
        request: &CodeRequest<'_>,
        options: &Options<'_>,
    ) -> Result<CodeAnswer, Cancelled> {
        let state = self.contents.state();
        let places = Places::of(view, &self.contents, &state, options)?;
        let (learned, left) = self.learn(view, &places.unknown, options)?;
        let coverage = Coverage { indexed: places.total - left, total: places.total };
        let words = words::of_question(request.query);
        let question = rank::question(&words, &state, &learned);
        let best = rank::best(request.query, &question, &state, &learned, options)?;
        let [by_words, by_cosine] = [best.by_words, best.by_cosine]
            .map(|it| places.resolve(it, &state, &learned, request.limit.saturating_mul(CONSIDERED)));
        let mut matches = fuse(request.query, by_words, by_cosine);
        judge(&mut matches, &question, request);
        matches.truncate(request.limit);
        matches.iter_mut().for_each(|it| it.text = text(view, it));
        Ok(CodeAnswer { matches, coverage })
    }

    /// The chunks of files that no segment has, and how many files are too many.
    fn learn(
        &self,
        view: &dyn View,
        unknown: &[WorkspacePath],
        options: &Options<'_>,
    ) -> Result<(Vec<LearnedFile>, usize), Cancelled> {
        let now = &unknown[..unknown.len().min(MAX_LEARNED)];
        let learned = Mutex::new(Vec::new());
        let learn = |reader: &mut Reader, path: &WorkspacePath| {
            // Paths that are gone, links or unreadable have no chunks.
            let Ok((bytes, hash)) = view.read_hashed(path) else { return };
            let chunks = self.live.read(reader, path, &bytes, hash);
            learned.lock().push(LearnedFile { path: path.clone(), chunks });
        };
        parallel::for_each(
            now,
            options,
            || self.contents.kind.reader(),
            |reader, _, path| learn(reader, path),
        )?;
        let mut learned = learned.into_inner();
        learned.sort_by(|a, b| a.path.cmp(&b.path));
        Ok((learned, unknown.len() - now.len()))
    }
}

/// A file that no segment has.
struct LearnedFile {
    path: WorkspacePath,
    chunks: Arc<[Learned]>,
}

/// Puts the best chunks into their order by their paths, too, tests below sources, and by the scorer.
fn judge(matches: &mut [CodeMatch], question: &Question, request: &CodeRequest<'_>) {
    let wants_tests = test_files::wants_tests(request.query);
    for it in matches.iter_mut() {
        let mut words = Vec::new();
        words::Reader::default().read(it.path.as_str(), |it| words.push(it));
        it.score *= 1.0 + PATH_BOOST * question.share(&words);
        if !wants_tests && (it.is_test || test_files::is_test_file(&it.path)) {
            it.score *= TEST_SHARE;
        }
    }
    if let Some(scorer) = request.scorer {
        let chunks: Vec<_> = matches.iter().map(|it| (it.chunk, it.score)).collect();
        let scores = scorer.score(request.query, &chunks);
        matches.iter_mut().zip(scores).for_each(|(it, score)| it.score = score);
    }
    matches.sort_by(|a, b| b.score.total_cmp(&a.score));
}

fn text(view: &dyn View, found: &CodeMatch) -> String {
    let Ok(bytes) = view.read(&found.path) else { return String::new() };
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.split_inclusive('\n').skip(found.first_line as usize - 1);
    let mut shown = String::new();
    for line in lines.take((found.last_line + 1 - found.first_line) as usize) {
        if shown.len() + line.len() > SHOWN {
            break;
        }
        shown.push_str(line);
    }
    shown
}

impl Kind for Chunks {
    const ENDING: &'static str = "chunks";
    const VERSION: u32 = 3;
    const LARGEST: usize = learn::LARGEST;

    type Reader = Reader;
    type Document = Vec<Learned>;
    type Builder = Builder;
    type Segment = Segment;

    fn reader(&self) -> Reader {
        Reader::new(self.trees.clone())
    }

    fn read(reader: &mut Reader, path: &WorkspacePath, bytes: &Bytes, hash: ContentHash) -> Vec<Learned> {
        reader.read(path, bytes, hash, &|_| None)
    }

    fn add(builder: &mut Builder, hash: ContentHash, document: &Vec<Learned>) -> bool {
        builder.add(hash, document)
    }

    fn sections(builder: Builder) -> Vec<Vec<u8>> {
        builder.into_sections()
    }

    fn segment(file: Mapped) -> Option<Segment> {
        Segment::new(file)
    }

    fn file(segment: &Segment) -> &Mapped {
        segment.file()
    }

    fn hashes(segment: &Segment) -> Vec<ContentHash> {
        segment.hashes().collect()
    }
}

#[cfg(test)]
mod tests;
