//! Conversion of lines and columns, as commands count them, to byte offsets of a text.

mod scalar;

use lint::{LineTable, Span};

use crate::{
    checker::Columns,
    output::{Extent, Position},
};

const BOM: &[u8] = b"\xef\xbb\xbf";

/// A text with its lines.
pub(crate) struct Places<'t> {
    text: &'t [u8],
    lines: LineTable<'t>,
}

impl<'t> Places<'t> {
    pub(crate) fn new(text: &'t [u8]) -> Self {
        Self { text, lines: LineTable::new(text) }
    }

    /// Returns the span of an extent. A place beyond the end of a line is its end, and one beyond the last line is the end of the
    /// text.
    pub(crate) fn span(&self, extent: Extent) -> Span {
        match extent {
            Extent::Offsets { start, end, columns } => {
                let (start, end) = (self.at_offset(start, columns), self.at_offset(end, columns));
                Span::new(start, end.max(start))
            }
            Extent::Lines { start, end: Some(end), columns } => {
                let start = self.at(start, columns);
                let end = match end.column {
                    Some(_) => self.at(end, columns),
                    None => self.line(end.line).end,
                };
                Span::new(start, end.max(start))
            }
            Extent::Lines { start: Position { line, column: None }, end: None, .. } => self.content(line),
            Extent::Lines { start, end: None, columns } => self.word(self.at(start, columns)),
        }
    }

    /// Returns the span of a finding for the file as a whole.
    pub(crate) fn whole(&self) -> Span {
        let start = if self.text.starts_with(BOM) { BOM.len() } else { 0 };
        Span::new(small(start), small(start))
    }

    fn at(&self, position: Position, columns: Columns) -> u32 {
        let line = self.line(position.line);
        let text = &self.text[line.start as usize..line.end as usize];
        let units = position.column.map_or(0, |it| it.saturating_sub(1));
        let in_scalar = (columns == Columns::Yaml && units > small(text.len()))
            .then(|| scalar::offset(text, &self.text[line.end as usize..], units))
            .flatten();
        in_scalar.map_or_else(|| line.start + advance(text, units, columns), |it| line.end + it)
    }

    /// A byte order mark is not counted.
    fn at_offset(&self, units: u32, columns: Columns) -> u32 {
        let start = self.whole().start;
        start + advance(&self.text[start as usize..], units, columns)
    }

    fn line(&self, line: u32) -> Span {
        let end = small(self.text.len());
        self.lines.line_span(line.max(1)).unwrap_or(Span::new(end, end))
    }

    /// A line without the white space around it.
    fn content(&self, line: u32) -> Span {
        let span = self.line(line);
        let text = &self.text[span.start as usize..span.end as usize];
        let start = text.iter().take_while(|it| it.is_ascii_whitespace()).count();
        Span::new(span.start + small(start), span.start + small(text.trim_ascii_end().len().max(start)))
    }

    /// The word that begins at the offset, or one character.
    fn word(&self, start: u32) -> Span {
        let rest = &self.text[start as usize..];
        let length = rest.iter().position(|it| matches!(it, b'\n' | b'\r')).unwrap_or(rest.len());
        let end = start + small(length);
        let rest = String::from_utf8_lossy(&rest[..length]);
        let is_part = |it: char| it.is_alphanumeric() || it == '_';
        let length: usize = rest.chars().take_while(|it| is_part(*it)).map(char::len_utf8).sum();
        let length = if length == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { length };
        Span::new(start, (start + small(length)).min(end))
    }
}

/// The bytes of so many units. What would end inside of a character ends before it.
fn advance(text: &[u8], units: u32, columns: Columns) -> u32 {
    let (mut bytes, mut counted) = (0, 0);
    for chunk in text.utf8_chunks() {
        let valid = chunk.valid().chars().map(|it| (it.len_utf8(), it.len_utf16()));
        let invalid = (!chunk.invalid().is_empty()).then_some((chunk.invalid().len(), 1));
        for (length, utf16) in valid.chain(invalid) {
            counted += match columns {
                Columns::Utf8 | Columns::Yaml => small(length),
                Columns::Utf16 => small(utf16),
                Columns::CodePoints => 1,
            };
            if counted > units {
                return bytes;
            }
            bytes += small(length);
        }
    }
    bytes
}

/// No text here is larger than 4 GiB.
fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, column: u32) -> Position {
        Position { line, column: Some(column) }
    }

    #[track_caller]
    fn check(text: &str, extent: Extent, want: &str) {
        let span = Places::new(text.as_bytes()).span(extent);
        assert_eq!(&text[span.start as usize..span.end as usize], want, "{span:?}");
    }

    #[test]
    fn columns_in_every_unit() {
        let text = "\u{feff}é𐐀x = 1\r\ny\r\n";
        for (columns, [start, end]) in
            [(Columns::Utf8, [7, 8]), (Columns::Utf16, [4, 5]), (Columns::CodePoints, [3, 4])]
        {
            let extent = |end| Extent::Lines { start: at(1, start), end, columns };
            check(text, extent(Some(at(1, end))), "x");
            check(text, extent(None), "x");
            check(text, extent(Some(at(2, 9))), "x = 1\r\ny");
            check(text, extent(Some(Position { line: 1, column: None })), "x = 1");
            check(text, Extent::Offsets { start: start - 1, end: end - 1, columns }, "x");
        }
    }

    #[test]
    fn what_lies_beyond_the_end() {
        let columns = Columns::Utf8;
        check("ab\n", Extent::Lines { start: at(1, 99), end: None, columns }, "");
        check("ab\n", Extent::Lines { start: at(9, 1), end: None, columns }, "");
        check("ab\n", Extent::Lines { start: at(1, 2), end: Some(at(1, 1)), columns }, "");
        check("ab", Extent::Offsets { start: 1, end: 99, columns }, "b");
        check("", Extent::Lines { start: at(1, 1), end: None, columns }, "");
        // In the middle of a character.
        check("é", Extent::Lines { start: at(1, 2), end: None, columns }, "é");
    }

    #[test]
    fn a_line_without_a_column() {
        let line =
            Extent::Lines { start: Position { line: 2, column: None }, end: None, columns: Columns::Utf8 };
        check("a\n\tb c \n", line, "b c");
        check("a\n   \n", line, "");
        check("a\n{ b\n", Extent::Lines { start: at(2, 1), end: None, columns: Columns::Utf8 }, "{");
    }
}
