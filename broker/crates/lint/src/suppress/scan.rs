//! Finds suppressions in a text, line by line.

use memchr::memmem;

use super::{
    NEEDLE,
    comments::Comments,
    directive::{Directive, Kind, parse},
};
use crate::{LineTable, Span, finding_key::slice};

/// The suppressions of a text, from top to bottom.
pub(super) struct Suppressions<'t> {
    pub(super) table: LineTable<'t>,
    pub(super) text: &'t [u8],
    pub(super) found: Vec<Suppression>,
    /// Suppressions that are malformed, each with its problem.
    pub(super) malformed: Vec<(Span, String)>,
}

pub(super) struct Suppression {
    pub(super) directive: Directive,
    /// From the mark that begins the comment to its end.
    pub(super) comment: Span,
    /// The line it is on.
    pub(super) line: u32,
    /// The line it is for, of those that are for one; `None` if there is no such line.
    pub(super) target: Option<u32>,
}

pub(super) fn scan(comments: Comments, text: &[u8]) -> Suppressions<'_> {
    let mut suppressions =
        Suppressions { table: LineTable::new(text), text, found: Vec::new(), malformed: Vec::new() };
    let mut end = 0;
    for at in memmem::find_iter(text, NEEDLE) {
        let Ok(at) = u32::try_from(at) else { break };
        if at >= end
            && let Some(comment) = comment(&suppressions.table, text, comments, at)
        {
            end = comment.end;
            suppressions.add(comments, comment, at);
        }
    }
    suppressions
}

impl Suppressions<'_> {
    fn add(&mut self, comments: Comments, comment: Span, needle: u32) {
        let start = needle + u32::try_from(NEEDLE.len()).unwrap_or(u32::MAX);
        let inner = Span::new(start, inner_end(self.text, comments, comment).max(start));
        let body = String::from_utf8_lossy(slice(self.text, inner));
        match parse(&body, start) {
            None => {}
            Some(Err(why)) => self.malformed.push((comment, why)),
            Some(Ok(directive)) => {
                let line = self.table.utf8(comment.start).line;
                let target = match directive.kind {
                    Kind::Ignore if !self.is_alone(comment) => Some(line),
                    _ => self.next_code(comments, line),
                };
                self.found.push(Suppression { directive, comment, line, target });
            }
        }
    }

    /// Whether there is nothing else on the comment's line.
    pub(super) fn is_alone(&self, comment: Span) -> bool {
        let line = self.table.line_span(self.table.utf8(comment.start).line).unwrap_or(comment);
        let before = slice(self.text, Span::new(line.start, comment.start));
        let after = slice(self.text, Span::new(comment.end, line.end));
        before.trim_ascii().is_empty() && after.trim_ascii().is_empty()
    }

    /// The first line after `line` that has anything but a comment.
    fn next_code(&self, comments: Comments, line: u32) -> Option<u32> {
        let is_code = |line: &u32| {
            let span = self.table.line_span(*line);
            span.is_some_and(|it| !is_blank_or_comment(comments, slice(self.text, it)))
        };
        (line + 1..=self.table.line_count()).find(is_code)
    }
}

/// The comment whose mark stands right before the `broker:` at `needle`; `None` if there is none.
fn comment(table: &LineTable<'_>, text: &[u8], comments: Comments, needle: u32) -> Option<Span> {
    let line = table.line_span(table.utf8(needle).line)?;
    let before = slice(text, Span::new(line.start, needle)).trim_ascii_end();
    let (marker, ending) = marker(comments, before)?;
    let before = &before[..before.len() - marker.len()];
    // Lisp counts its semicolons; `///` documents, and `://` is an address.
    let before = match marker {
        b"#" | b";" | b"%" => {
            &before[..before.iter().rposition(|it| *it != marker[0]).map_or(0, |it| it + 1)]
        }
        b"//" if before.ends_with(b"/") || before.ends_with(b":") => return None,
        _ => before,
    };
    if in_string(comments, before) {
        return None;
    }
    let start = line.start + u32::try_from(before.len()).unwrap_or(u32::MAX);
    let rest = slice(text, Span::new(needle, line.end));
    let length = match ending {
        Some(ending) => memmem::find(rest, ending.as_bytes()).map_or(rest.len(), |it| it + ending.len()),
        None => next_comment(rest, marker).unwrap_or(rest.len()),
    };
    let length = rest[..length].trim_ascii_end().len();
    Some(Span::new(start, needle + u32::try_from(length).unwrap_or(u32::MAX)))
}

/// The longest mark that `before` ends with, and what ends its comment.
fn marker(comments: Comments, before: &[u8]) -> Option<(&'static [u8], Option<&'static str>)> {
    let line = comments.line.iter().map(|it| (it.as_bytes(), None));
    let block = comments.block.iter().map(|(begin, end)| (begin.as_bytes(), Some(*end)));
    let fits = |marker: &[u8]| {
        let start = before.len().checked_sub(marker.len());
        start.is_some_and(|start| {
            let is_apart = !marker[0].is_ascii_alphabetic()
                || before[..start].last().is_none_or(|it| !it.is_ascii_alphanumeric());
            is_apart && before[start..].eq_ignore_ascii_case(marker)
        })
    };
    line.chain(block).filter(|(marker, _)| fits(marker)).max_by_key(|(marker, _)| marker.len())
}

/// Offset at which another comment begins in the rest of a line comment: `# broker: ignore # noqa`. Dashes stand
/// before a reason as well, and so begin none.
fn next_comment(rest: &[u8], marker: &[u8]) -> Option<usize> {
    let next = [b" ", marker, b" "].concat();
    if marker == b"--" { None } else { memmem::find(rest, &next) }
}

/// Offset at which the text of a comment ends.
fn inner_end(text: &[u8], comments: Comments, comment: Span) -> u32 {
    let whole = slice(text, comment);
    let ending = comments.block.iter().filter(|(begin, _)| whole.starts_with(begin.as_bytes()));
    let ending = ending.map(|(_, end)| end).find(|end| whole.ends_with(end.as_bytes()));
    comment.end - ending.map_or(0, |it| u32::try_from(it.len()).unwrap_or(0))
}

/// Whether a string that begins in `before`, the start of a line, is still open at its end.
fn in_string(comments: Comments, before: &[u8]) -> bool {
    let mut rest = before;
    while let Some(&byte) = rest.first() {
        if begins_comment(comments, rest) {
            return false;
        }
        let length = match rest {
            // Character literals, where a quotation mark begins no string.
            [b'\'', b'"', b'\'', ..] => 3,
            [b'\'', b'\\', b'"', b'\'', ..] => 4,
            _ if !comments.quotes.contains(&byte) => 1,
            _ => match string(rest) {
                Some(length) => length,
                None => return true,
            },
        };
        rest = &rest[length..];
    }
    false
}

/// Length of the string that `text` begins with; `None` if it does not end.
///
/// Strings that may go over several lines leave it unknown whether a lone mark begins or ends one. It is
/// taken to end it: suppressions stand after strings, hardly in them.
fn string(text: &[u8]) -> Option<usize> {
    let quote = text[0];
    let triple = [quote; 3];
    if text.starts_with(&triple) {
        return Some(memmem::find(&text[3..], &triple).map_or(3, |it| it + 6));
    }
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 1,
            it if it == quote => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
    (quote == b'`').then_some(1)
}

/// Whether a line comment begins right here. Words and quotation marks are too easily something else.
fn begins_comment(comments: Comments, rest: &[u8]) -> bool {
    let is_sure = |it: &&&str| it.len() > 1 || matches!(**it, "#" | ";" | "%");
    comments.line.iter().filter(is_sure).any(|it| rest.starts_with(it.as_bytes()))
}

fn is_blank_or_comment(comments: Comments, line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let starts = |marker: &str| {
        let is_word = marker.as_bytes()[0].is_ascii_alphabetic();
        let rest = line.get(marker.len()..).unwrap_or_default();
        line.get(..marker.len()).is_some_and(|it| it.eq_ignore_ascii_case(marker.as_bytes()))
            && (!is_word || rest.first().is_none_or(|it| !it.is_ascii_alphanumeric()))
    };
    let is_block = |(begin, end): &(&str, &str)| {
        starts(begin) && memmem::find(line, end.as_bytes()).is_none_or(|it| it + end.len() == line.len())
    };
    line.is_empty() || comments.line.iter().any(|it| starts(it)) || comments.block.iter().any(is_block)
}
