//! A file's bytes as rumdl reads them, and the way back from its places to offsets into the bytes.
//!
//! rumdl looks at LF text in which bytes that are not UTF-8 were replaced, and counts columns in characters.

use std::cell::Cell;
use std::ops::Range;

use rumdl_lib::encoding::{Decoded, InvalidSeq, decode};
use rumdl_lib::merge_conflict::ConflictScan;
use rumdl_lib::rule::LintWarning;
use rumdl_lib::utils::NormalizedLineEndingMap;

/// Length of the character that stands for bytes that are not UTF-8.
const REPLACEMENT: usize = '\u{fffd}'.len_utf8();

/// A text file.
pub(crate) struct Document<'a> {
    scan: ConflictScan<'a>,
    endings: NormalizedLineEndingMap,
    invalid: Option<Vec<InvalidSeq>>,
    /// Offsets of replacements, and the number of bytes by which the file is shorter than the text from there on.
    shorter: Vec<(usize, usize)>,
    lines: Vec<Line>,
    /// The last column that was looked up, so that long lines are not counted from the start each time.
    last: Cell<Column>,
    length: usize,
}

/// Range of a line in rumdl's text, without its end.
struct Line {
    start: usize,
    end: usize,
    is_ascii: bool,
}

#[derive(Clone, Copy, Default)]
struct Column {
    line: usize,
    /// Characters and bytes from the line's start.
    characters: usize,
    bytes: usize,
}

/// A file that is no text.
pub(crate) struct Binary {
    pub(crate) utf16: bool,
}

pub(crate) fn read(bytes: &[u8]) -> Result<Document<'_>, Binary> {
    match decode(bytes) {
        Decoded::Utf8(text) => Ok(Document::new(ConflictScan::new(text), None, bytes.len())),
        Decoded::Lossy { text, invalid } => {
            Ok(Document::new(ConflictScan::new(text), Some(invalid), bytes.len()))
        }
        Decoded::Binary { utf16 } => Err(Binary { utf16 }),
    }
}

impl<'a> Document<'a> {
    fn new(scan: ConflictScan<'a>, invalid: Option<Vec<InvalidSeq>>, length: usize) -> Self {
        let endings = NormalizedLineEndingMap::new(scan.content());
        let scan = scan.normalize_lf();
        let lines = lines(scan.content());
        let shorter = shorter(invalid.as_deref().unwrap_or_default());
        Self { scan, endings, invalid, shorter, lines, last: Cell::default(), length }
    }

    /// For rumdl.
    pub(crate) fn scan(&self) -> &ConflictScan<'a> {
        &self.scan
    }

    /// The text that rumdl looks at.
    pub(crate) fn text(&self) -> &str {
        self.scan.content()
    }

    pub(crate) fn invalid(&self) -> Option<&[InvalidSeq]> {
        self.invalid.as_deref()
    }

    /// Range of the file that the finding is about. rumdl sometimes points past the end of a line or of the text.
    pub(crate) fn range(&self, warning: &LintWarning) -> Range<usize> {
        let start = self.offset(warning.line, warning.column);
        let end = self.offset(warning.end_line, warning.end_column).max(start);
        self.original(start)..self.original(end)
    }

    /// Converts a range of the text to the file's bytes; none if it does not lie between characters of the text.
    pub(crate) fn original_range(&self, range: &Range<usize>) -> Option<Range<usize>> {
        self.text().get(range.clone())?;
        Some(self.original(range.start)..self.original(range.end))
    }

    /// Text with the file's own line ends, for the place where it will stand.
    pub(crate) fn original_text(&self, text: &str, at: usize) -> String {
        self.endings.original_text_at(text, at).into_owned()
    }

    fn original(&self, offset: usize) -> usize {
        let offset = self.endings.original_offset(offset);
        let after = self.shorter.partition_point(|(start, _)| *start < offset);
        let shorter = after.checked_sub(1).map_or(0, |it| self.shorter[it].1);
        offset.saturating_sub(shorter).min(self.length)
    }

    /// Line and column count from one.
    fn offset(&self, line: usize, column: usize) -> usize {
        let number = line.saturating_sub(1);
        let Some(line) = self.lines.get(number) else {
            return self.text().len();
        };
        let characters = column.saturating_sub(1);
        if line.is_ascii {
            return (line.start + characters).min(line.end);
        }
        line.start + self.bytes_to(number, line, characters)
    }

    /// Number of bytes of the first `characters` of the line.
    fn bytes_to(&self, number: usize, line: &Line, characters: usize) -> usize {
        let last = self.last.get();
        let is_ahead = last.line == number && last.characters <= characters;
        let from = if is_ahead { last } else { Column { line: number, characters: 0, bytes: 0 } };
        let rest = &self.text()[line.start + from.bytes..line.end];
        let ahead = characters - from.characters;
        let Some((bytes, _)) = rest.char_indices().nth(ahead) else {
            return line.end - line.start;
        };
        let bytes = from.bytes + bytes;
        self.last.set(Column { line: number, characters, bytes });
        bytes
    }
}

fn shorter(invalid: &[InvalidSeq]) -> Vec<(usize, usize)> {
    let mut shorter = 0;
    let places = invalid.iter().map(|it| {
        let start = it.byte_offset + shorter;
        shorter += REPLACEMENT - it.bytes.len();
        (start, shorter)
    });
    places.collect()
}

/// The byte order mark counts as no column.
fn lines(text: &str) -> Vec<Line> {
    let mut start = text.len() - text.trim_start_matches('\u{feff}').len().max(text.len().saturating_sub(3));
    let mut lines = Vec::new();
    for line in text[start..].split('\n') {
        lines.push(Line { start, end: start + line.len(), is_ascii: line.is_ascii() });
        start += line.len() + 1;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(bytes: &[u8]) -> Document<'_> {
        read(bytes).unwrap_or_else(|_| panic!("binary"))
    }

    #[test]
    fn places_in_other_encodings_and_line_ends() {
        let offset = |bytes: &[u8], line, column| {
            let document = document(bytes);
            document.original(document.offset(line, column))
        };
        assert_eq!(offset(b"ab\ncd\n", 2, 2), 4);
        assert_eq!(offset(b"ab\r\ncd\r\n", 2, 2), 5);
        assert_eq!(offset("\u{feff}äb\r\ncd".as_bytes(), 1, 2), 5, "the mark is no column");
        assert_eq!(offset(b"\xe9b\ncd", 1, 2), 1, "one byte for one replacement");
        assert_eq!(offset(b"\xe9b\xe9\r\ncd", 2, 1), 5);
        assert_eq!(offset(b"ab", 1, 99), 2, "past the end");
        assert_eq!(offset(b"ab", 9, 1), 2);
        assert_eq!(offset(b"", 1, 1), 0);
    }

    #[test]
    fn columns_in_any_order() {
        let document = document("äöü äöü".as_bytes());
        for (column, offset) in [(4, 6), (2, 2), (3, 4), (7, 11), (8, 13), (9, 13), (1, 0)] {
            assert_eq!(document.offset(1, column), offset, "{column}");
        }
    }
}
