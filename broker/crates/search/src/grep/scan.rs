//! Matching lines of one file, as ripgrep finds them.

use std::{borrow::Cow, io, mem};

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};

use super::{GrepError, GrepRequest};
use crate::trigram::is_marked;

/// Bytes of a line that are shown.
const LONGEST: usize = 1000;

/// Bytes of a long line that are shown before its match.
const BEFORE: usize = 200;

/// A line that matches; see [`Match`](crate::Match).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) number: u64,
    pub(super) column: u64,
    pub(super) text: String,
    pub(super) before: Vec<String>,
    pub(super) after: Vec<String>,
}

/// A query as ripgrep has it without any flags, or with `--multiline --multiline-dotall`.
pub(super) fn matcher(request: &GrepRequest) -> Result<RegexMatcher, GrepError> {
    let GrepRequest { query, multiline, case_sensitive, .. } = request;
    RegexMatcherBuilder::new()
        .multi_line(true)
        .unicode(true)
        .dot_matches_new_line(*multiline)
        .line_terminator((!multiline).then_some(b'\n'))
        .ban_byte(Some(b'\0'))
        .case_insensitive(!case_sensitive)
        .build(query)
        .map_err(|it| GrepError::Query { query: query.clone(), reason: it.to_string() })
}

/// Searches one file after the other, on one thread.
pub(super) struct Scanner {
    matcher: RegexMatcher,
    showing: Searcher,
    counting: Searcher,
}

impl Scanner {
    pub(super) fn new(matcher: &RegexMatcher, request: &GrepRequest) -> Self {
        let mut builder = SearcherBuilder::new();
        builder.binary_detection(BinaryDetection::quit(b'\0')).multi_line(request.multiline);
        let counting = builder.line_number(false).build();
        let [before, after] = request.context;
        let showing = builder.line_number(true).before_context(before).after_context(after).build();
        Self { matcher: matcher.clone(), showing, counting }
    }

    /// Returns the number of lines that match, of which the first `limit` are added to `lines`.
    pub(super) fn scan(&mut self, bytes: &[u8], limit: usize, lines: &mut Vec<Line>) -> u64 {
        let searcher = if limit == 0 { &mut self.counting } else { &mut self.showing };
        let mut sink = Lines { matcher: &self.matcher, limit, lines, count: 0, before: Vec::new() };
        let bytes = &*with_newlines(bytes);
        let done = if is_plain(bytes) {
            searcher.search_slice(&self.matcher, bytes, &mut sink)
        } else {
            // In pieces, as ripgrep reads files: it ends at the first piece that has a NUL.
            searcher.search_reader(&self.matcher, bytes, &mut sink)
        };
        // The sink fails never, and memory is no file.
        debug_assert!(done.is_ok(), "{done:?}");
        sink.count
    }
}

/// A text with newlines in the place of carriage returns that end lines by themselves: findings count lines so, and ripgrep does not.
fn with_newlines(bytes: &[u8]) -> Cow<'_, [u8]> {
    let is_alone = |it: &usize| bytes.get(it + 1) != Some(&b'\n');
    let mut alone = memchr::memchr_iter(b'\r', bytes).filter(is_alone).peekable();
    // At the end of a text it is part of the last line.
    if alone.peek().is_none_or(|it| it + 1 == bytes.len()) || !is_plain(bytes) {
        return Cow::Borrowed(bytes);
    }
    let mut bytes = bytes.to_vec();
    alone.for_each(|it| bytes[it] = b'\n');
    Cow::Owned(bytes)
}

/// Whether a text is searched to its end, byte by byte as it is.
fn is_plain(bytes: &[u8]) -> bool {
    !is_marked(bytes) && memchr::memchr(b'\0', bytes).is_none()
}

struct Lines<'a> {
    matcher: &'a RegexMatcher,
    limit: usize,
    lines: &'a mut Vec<Line>,
    count: u64,
    /// Lines above the next match.
    before: Vec<String>,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.count += found.lines().count() as u64;
        // Lines below a match that is not shown belong to none that is.
        let is_shown = self.lines.len() < self.limit;
        if !is_shown {
            self.limit = 0;
        }
        if is_shown {
            let line = found.bytes().strip_suffix(b"\n").unwrap_or(found.bytes());
            let start = match self.matcher.find(line) {
                Ok(Some(it)) => it.start(),
                Ok(None) | Err(_) => 0,
            };
            let number = found.line_number().unwrap_or_default();
            let (column, text, before) = (start as u64 + 1, shown(line, start), mem::take(&mut self.before));
            self.lines.push(Line { number, column, text, before, after: Vec::new() });
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> io::Result<bool> {
        let line = around.bytes().strip_suffix(b"\n").unwrap_or(around.bytes());
        match (around.kind(), self.lines.last_mut()) {
            _ if self.limit == 0 => {}
            (SinkContextKind::After, Some(it)) => it.after.push(shown(line, 0)),
            _ => self.before.push(shown(line, 0)),
        }
        Ok(true)
    }
}

/// The part of a line around what begins at `start`.
fn shown(line: &[u8], start: usize) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= LONGEST {
        return String::from_utf8_lossy(line).into_owned();
    }
    let is_boundary = |at: &usize| line.get(*at).is_none_or(|it| !matches!(it, 0x80..0xc0));
    let from = start.saturating_sub(BEFORE).min(line.len() - LONGEST);
    let from = (from..line.len()).find(is_boundary).unwrap_or(line.len());
    let to = (from..=from + LONGEST).rev().find(|it| *it <= line.len() && is_boundary(it));
    String::from_utf8_lossy(&line[from..to.unwrap_or(line.len())]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carriage_returns_end_lines() {
        let request = GrepRequest::new("needle");
        let matcher = matcher(&request).unwrap();
        let scan = |text: &[u8]| {
            let mut lines = Vec::new();
            let count = Scanner::new(&matcher, &request).scan(text, 9, &mut lines);
            let lines = lines.into_iter().map(|it| format!("{}:{}:{}", it.number, it.column, it.text));
            (count, lines.collect::<Vec<_>>())
        };
        let found = |lines: &[&str]| (lines.len() as u64, lines.iter().map(|it| (*it).to_owned()).collect());
        assert_eq!(scan(b"a\rthe needle\ra\r\na\rneedle"), found(&["2:5:the needle", "5:1:needle"]));
        assert_eq!(scan(b"a\r\nneedle\r\n"), found(&["2:1:needle"]));
        assert_eq!(scan(b"needle\r"), found(&["1:1:needle"]));
    }

    #[test]
    fn of_a_long_line_a_part_around_the_match_is_shown() {
        let line = format!("{}needle{}", "é".repeat(1000), "x".repeat(5000));
        let text = shown(line.as_bytes(), 2000);
        assert_eq!(text.len(), LONGEST);
        assert!(text.starts_with('é') && text.contains("needlexx"), "{text}");
        let end = shown(line.as_bytes(), 7000);
        assert_eq!(end, "x".repeat(LONGEST));
        let start = shown("é".repeat(600).as_bytes(), 0);
        assert_eq!(start, "é".repeat(500));
        assert_eq!(shown(b"short\r", 2), "short");
    }
}
