//! A sketch and the file side by side, of which candidates are made.

use std::ops::Range;

use super::{
    super::parser::Parser,
    definitions::Definitions,
    file_lines::{FileLines, Score},
    rows::Sketch,
};

pub(super) struct Maker<'s, 'a> {
    pub(super) file: FileLines<'a>,
    pub(super) definitions: Definitions,
    pub(super) sketch: &'s Sketch<'s>,
    pub(super) parser: &'s Parser<'s>,
}

impl Maker<'_, '_> {
    pub(super) fn texts(&self, rows: Range<usize>) -> impl Iterator<Item = &str> {
        self.sketch.rows[rows].iter().map(|it| it.text.trim())
    }
}

/// A number of lines, to be counted with.
pub(super) fn count(of: usize) -> Score {
    Score::try_from(of).unwrap_or(10_000).min(10_000)
}
