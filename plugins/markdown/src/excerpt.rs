//! Text of the line that a finding is about.

use rumdl_lib::rule::LintWarning;

/// Bytes.
const LONGEST_LINE: usize = 10_000;

/// A line, cut where a finding begins and where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Excerpt<'a> {
    pub(crate) before: &'a str,
    pub(crate) about: &'a str,
    pub(crate) after: &'a str,
}

impl<'a> Excerpt<'a> {
    /// None if the finding is about more than its line, or the line is longer than people write one: each look takes time by
    /// the length of the line.
    pub(crate) fn of(warning: &LintWarning, line: &'a str) -> Option<Self> {
        let is_within = warning.line == warning.end_line && warning.end_column >= warning.column;
        if !is_within || line.len() > LONGEST_LINE {
            return None;
        }
        let (before, rest) = line.split_at(offset(line, warning.column)?);
        let (about, after) = rest.split_at(offset(rest, warning.end_column - warning.column + 1)?);
        Some(Self { before, about, after })
    }
}

/// Offset of a column, which counts characters from one.
fn offset(text: &str, column: usize) -> Option<usize> {
    let ends = text.char_indices().map(|it| it.0).chain([text.len()]);
    ends.take(column).last().filter(|_| column > 0)
}
