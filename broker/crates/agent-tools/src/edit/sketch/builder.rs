//! A sketch and the file side by side, of which candidates are made.

use std::ops::Range;

use super::{
    super::parser::Parser,
    definitions::{Defined, Definitions},
    file_lines::{FileLines, STRONG, Score},
    rows::{Row, Sketch},
};

pub(super) struct Builder<'s, 'a> {
    pub(super) file: FileLines<'a>,
    pub(super) definitions: Definitions,
    pub(super) sketch: &'s Sketch<'s>,
    pub(super) parser: &'s Parser<'s>,
}

impl Builder<'_, '_> {
    /// Returns the first definition of a piece of the sketch, if nothing but comments is above it.
    pub(super) fn first_of(&self, start: usize) -> Option<&Defined> {
        let is_comment = |row: &Row<'_>| {
            let text = row.text.trim();
            let is_there = !self.file.places(text).is_empty() && self.file.weight(text) >= STRONG;
            let is_aside = self.parser.kind.is_aside(text) || text.starts_with('*');
            !row.is_marker && (row.is_blank() || (is_aside && !is_there))
        };
        let is_first =
            |it: &&Defined| it.it.lead >= start && self.sketch.rows[start..it.it.lead].iter().all(is_comment);
        self.definitions.sketch.iter().find(is_first)
    }

    pub(super) fn texts(&self, rows: Range<usize>) -> impl Iterator<Item = &str> {
        self.sketch.rows[rows].iter().map(|it| it.text.trim())
    }
}

/// A number of lines, to be counted with.
pub(super) fn count(of: usize) -> Score {
    Score::try_from(of).unwrap_or(10_000).min(10_000)
}
