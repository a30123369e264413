//! Files by a part of their path, spelled roughly.

use std::cmp::Reverse;

use nucleo_matcher::{
    Config, Matcher, Utf32Str,
    pattern::{CaseMatching, Normalization, Pattern},
};
use overlay::{View, WorkspacePath};
use parking_lot::Mutex;
use thiserror::Error;

use crate::{Cancelled, GlobError, Options, contents::files, globs::Globs, parallel};

/// Paths that one thread takes at a time.
const BATCH: usize = 2048;

/// A file that a query may mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFile {
    pub path: WorkspacePath,
    /// More is better; of no meaning but for the order in one answer.
    pub score: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFiles {
    /// The best first; of equally good ones, the shorter path first.
    pub files: Vec<FoundFile>,
    /// Number of files that match.
    pub total: usize,
}

/// The files whose paths have the query's characters in their order. Words match each for itself, in upper or lower case
/// unless they have an upper-case letter, and best in the file's name, at the beginnings of words and in a row. As in fzf, `^` and
/// `$` stand for the path's ends, `'` comes before what must be there as it is and `!` before what must not.
pub fn find_files(
    view: &dyn View,
    query: &str,
    limit: usize,
    options: &Options<'_>,
) -> Result<FoundFiles, Cancelled> {
    let paths = files(view, options)?;
    let pattern = Pattern::parse(query.trim(), CaseMatching::Smart, Normalization::Smart);
    let found = Mutex::new(Vec::new());
    let batches: Vec<_> = paths.chunks(BATCH).collect();
    let score = |scorer: &mut Scorer<'_>, batch: &[WorkspacePath]| {
        let scored: Vec<_> = batch.iter().filter_map(|it| Some((scorer.score(it)?, it.clone()))).collect();
        found.lock().extend(scored);
    };
    parallel::for_each(&batches, options, || Scorer::new(&pattern), |scorer, _, batch| score(scorer, batch))?;
    let mut found = found.into_inner();
    found.sort_by_cached_key(|(score, path)| (Reverse(*score), path.as_str().len(), path.clone()));
    let total = found.len();
    let files = found.into_iter().take(limit).map(|(score, path)| FoundFile { path, score });
    Ok(FoundFiles { files: files.collect(), total })
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FindError {
    #[error(transparent)]
    Glob(#[from] GlobError),
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// The files whose paths fit one of the globs, which are as in an ignore file. Sorted by path.
pub fn match_files(
    view: &dyn View,
    globs: &[String],
    limit: usize,
    options: &Options<'_>,
) -> Result<FoundFiles, FindError> {
    let globs = Globs::new(globs, &[])?;
    let mut paths = files(view, options)?;
    paths.retain(|it| globs.want(it));
    paths.sort();
    let total = paths.len();
    let files = paths.into_iter().take(limit).map(|path| FoundFile { path, score: 0 });
    Ok(FoundFiles { files: files.collect(), total })
}

struct Scorer<'a> {
    pattern: &'a Pattern,
    matcher: Matcher,
    characters: Vec<char>,
}

impl<'a> Scorer<'a> {
    fn new(pattern: &'a Pattern) -> Self {
        let matcher = Matcher::new(Config::DEFAULT.match_paths());
        Self { pattern, matcher, characters: Vec::new() }
    }

    /// Returns the score of a path. A match in the file's name alone counts twice.
    fn score(&mut self, path: &WorkspacePath) -> Option<u32> {
        let of_path = self.score_text(path.as_str())?;
        Some(of_path + path.file_name().and_then(|it| self.score_text(it)).unwrap_or_default())
    }

    fn score_text(&mut self, text: &str) -> Option<u32> {
        self.pattern.score(Utf32Str::new(text, &mut self.characters), &mut self.matcher)
    }
}

#[cfg(test)]
mod tests {
    use overlay::Memory;

    use super::*;
    use crate::walk_options;

    fn found(query: &str) -> Vec<String> {
        let files = [
            "src/walk/kept.rs",
            "src/walk.rs",
            "src/view.rs",
            "docs/walking/kept.md",
            "tests/walk_kept.rs",
            "w/a/l/k/x.rs",
            "README.md",
            "straße/über.txt",
        ];
        let tree = Memory::from_files(files.map(|it| (it, ""))).unwrap();
        let options = Options { walk: &walk_options(None), threads: 2, cancel: &|| false };
        let found = find_files(&tree, query, 3, &options).unwrap();
        assert!(found.total >= found.files.len());
        found.files.into_iter().map(|it| it.path.to_string()).collect()
    }

    #[test]
    fn globs_choose_by_path() {
        let tree = Memory::from_files(["a/b.rs", "a/c/d.rs", "e.rst", "tests/test_x.py"].map(|it| (it, "")))
            .unwrap();
        let options = Options { walk: &walk_options(None), threads: 1, cancel: &|| false };
        let of = |globs: &[&str]| {
            let globs: Vec<_> = globs.iter().map(|it| (*it).to_owned()).collect();
            let found = match_files(&tree, &globs, 9, &options).unwrap();
            found.files.into_iter().map(|it| it.path.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(of(&["**/*.rs"]), ["a/b.rs", "a/c/d.rs"]);
        assert_eq!(of(&["a/*.rs", "test_*.py"]), ["a/b.rs", "tests/test_x.py"]);
        assert_eq!(of(&["*.{rst,py}"]), ["e.rst", "tests/test_x.py"]);
    }

    #[test]
    fn the_best_comes_first() {
        assert_eq!(found("walk.rs")[0], "src/walk.rs");
        assert_eq!(found("walkept")[0], "tests/walk_kept.rs");
        assert_eq!(found("src kept"), ["src/walk/kept.rs"]);
        assert_eq!(found("walk/kept")[0], "src/walk/kept.rs");
        assert_eq!(found("readme"), ["README.md"]);
        assert_eq!(found("uber"), ["straße/über.txt"]);
        assert_eq!(found(".md$ !doc"), ["README.md"]);
        assert_eq!(found("zzz"), [""; 0]);
        assert_eq!(found("").len(), 3, "without a query, the first ones");
    }
}
