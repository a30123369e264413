//! Candidates for each row of a sketch: what it may be in the file, with the gains and costs of that.
//!
//! The alignment looks only at columns, which are places between lines of the file where a row may begin or end something.

use std::ops::Range;

use super::{
    costs::ALIKE,
    definitions::Definitions,
    file_lines::{FileLines, Score},
};

pub(super) struct Candidates<'a> {
    pub(super) file: FileLines<'a>,
    pub(super) definitions: Definitions,
    /// Places between lines, as the number of lines before each, ascending.
    pub(super) columns: Vec<usize>,
    /// Cost of deleting all lines before each column.
    pub(super) deletion_costs: Vec<Score>,
    pub(super) rows: Vec<Candidate>,
    /// In the order of their last rows.
    pub(super) substitutions: Vec<Substitution>,
}

/// A row, with the lines that it may be and the costs of inserting it.
#[derive(Debug, Default)]
pub(super) struct Candidate {
    pub(super) is_marker: bool,
    pub(super) pairs: Vec<Pair>,
    /// Cost of inserting the row, and the difference from that at some columns.
    pub(super) insert: Score,
    pub(super) inserts: Vec<(usize, Score)>,
    /// First and last columns of the blocks that it is inserted in, if the rows above name one.
    pub(super) blocks: Option<Vec<(usize, usize)>>,
    /// The line of the file that it is a copy of, if it is inserted.
    pub(super) copy_of: Option<usize>,
    /// Whether the row is of a definition that the file has not, so that it has no partner.
    pub(super) is_new: bool,
}

/// A row and a line that it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) line: usize,
    /// Number of the column above the line.
    pub(super) column: usize,
    pub(super) score: Score,
    pub(super) relation: Relation,
    /// Cost of a change that has nothing but a marker on one side.
    pub(super) edge: Score,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// An equal line, rare enough to fix the place of the row.
    Anchor,
    /// An equal line, which stands at many places.
    Weak,
    /// The line after a change.
    Changed,
}

/// A definition that takes the place of one of its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Substitution {
    pub(super) rows: Range<usize>,
    pub(super) lines: Range<usize>,
    pub(super) columns: (usize, usize),
    pub(super) score: Score,
    /// Numbers of the definitions of the sketch and of the file.
    pub(super) of: (usize, usize),
    /// Whether more of the file's definition may stay, as nothing shows where that of the sketch begins or ends.
    pub(super) may_go_on: bool,
}

impl Candidates<'_> {
    /// Whether a row is a line of the file that fixes its place.
    pub(super) fn is_anchor(&self, row: usize, line: usize) -> bool {
        self.rows[row].pairs.iter().any(|it| it.line == line && it.relation == Relation::Anchor)
    }

    /// Whether two lines give a value to the same key, or are much alike.
    pub(super) fn are_twins(&self, text: &str, line: usize) -> bool {
        self.has_same_key(text, line) || self.file.similarity(&self.file.tokens(text), line) >= ALIKE
    }

    pub(super) fn has_same_key(&self, text: &str, line: usize) -> bool {
        key(text).is_some_and(|it| key(self.file.bare[line]) == Some(it))
    }

    /// Returns the weight of a row by itself.
    pub(super) fn weight(&self, text: &str) -> Score {
        self.file.weight(text.trim())
    }
}

/// Returns the key that a line gives a value to: `key: value`, `let key = value`; of an import the file it is from.
pub(super) fn key(text: &str) -> Option<&str> {
    if let Some((_, file)) = text.strip_prefix("import ").and_then(|it| it.split_once(" from ")) {
        return Some(file);
    }
    const WORDS: [&str; 8] = ["export", "pub", "let", "const", "var", "static", "final", "mut"];
    let mut rest = text;
    while let Some(it) = WORDS.iter().find_map(|it| rest.strip_prefix(it)?.strip_prefix(' ')) {
        rest = it.trim_start();
    }
    let end = rest.find(|it: char| !(it.is_alphanumeric() || "_.\"'[]-$".contains(it)))?;
    let (name, behind) = rest.split_at(end);
    let behind = behind.trim_start();
    let is_key =
        (behind == ":" || behind.starts_with(": ")) || (behind.starts_with('=') && !behind.starts_with("=="));
    (is_key && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_what_gets_a_value() {
        for (text, want) in [
            ("a: 1", Some("a")),
            ("let mut a.b = 1", Some("a.b")),
            ("\"a\": 1,", Some("\"a\"")),
            ("a == 1", None),
            ("a::b()", None),
            ("call(a)", None),
            ("import { a } from 'b';", Some("'b';")),
            ("import a", None),
        ] {
            assert_eq!(key(text), want, "{text}");
        }
    }
}
