//! Conversion between byte offsets, in which everything here counts, and the positions of LSP.

use lint::{LineColumn, LineTable, Span};
use serde::{Deserialize, Serialize};

/// A place in a text, both counted from 0. What `character` counts is the session's [`PositionEncoding`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    pub line: u32,
    pub character: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Range {
    pub start: Position,
    /// Exclusive.
    pub end: Position,
}

/// Unit of a position's character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PositionEncoding {
    Utf8,
    /// Supported by every server.
    Utf16,
    Utf32,
}

impl PositionEncoding {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
            Self::Utf32 => "utf-32",
        }
    }
}

/// The positions of one text, as a server has it.
///
/// A byte order mark is not part of what a server is told, and takes up no column here.
#[derive(Debug)]
pub struct Positions<'t> {
    text: &'t str,
    lines: LineTable<'t>,
    encoding: PositionEncoding,
}

impl<'t> Positions<'t> {
    pub fn new(text: &'t str, encoding: PositionEncoding) -> Self {
        Self { text, lines: LineTable::new(text.as_bytes()), encoding }
    }

    /// An offset inside a character stands for the character's start, and one past the end for the end.
    pub fn position(&self, offset: u32) -> Position {
        let at = match self.encoding {
            PositionEncoding::Utf8 => self.lines.utf8(offset),
            PositionEncoding::Utf16 => self.lines.utf16(offset),
            PositionEncoding::Utf32 => self.lines.scalar(offset),
        };
        Position { line: at.line - 1, character: at.column - 1 }
    }

    /// Returns line and column, from 1; columns count Unicode scalar values.
    pub fn line_column(&self, offset: u32) -> LineColumn {
        self.lines.scalar(offset)
    }

    pub fn range(&self, span: Span) -> Range {
        Range { start: self.position(span.start), end: self.position(span.end) }
    }

    /// A character beyond the line stands for the line's end, before its newline; a line beyond the text for
    /// the text's end; a position inside a character for the character's start.
    pub fn offset(&self, position: Position) -> u32 {
        let Some(line) = self.lines.line_span(position.line.saturating_add(1)) else {
            return self.position_of_end();
        };
        let mut offset = self.last_at(line, position.character);
        while !self.text.is_char_boundary(offset as usize) {
            offset -= 1;
        }
        offset
    }

    /// A range that ends before it starts is empty.
    pub fn span(&self, range: Range) -> Span {
        let start = self.offset(range.start);
        Span::new(start, self.offset(range.end).max(start))
    }

    fn position_of_end(&self) -> u32 {
        self.lines.line_span(self.lines.line_count()).map_or(0, |it| it.end)
    }

    /// The last offset of the line that is not beyond the character. Bisects: columns grow with offsets, and
    /// the table finds one without counting a long line from its start.
    fn last_at(&self, line: Span, character: u32) -> u32 {
        let (mut low, mut high) = (line.start, line.end);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if self.position(middle).character <= character {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, test_runner::RngSeed};

    use super::*;

    const ALL: [PositionEncoding; 3] =
        [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32];

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    /// The line of an offset and its characters in each encoding; each of these leads back.
    #[track_caller]
    fn check(text: &str, offset: u32, line: u32, characters: [u32; 3]) {
        for (encoding, character) in ALL.into_iter().zip(characters) {
            let positions = Positions::new(text, encoding);
            assert_eq!(positions.position(offset), at(line, character), "{encoding:?}");
            assert_eq!(positions.offset(at(line, character)), offset, "{encoding:?}");
        }
    }

    #[track_caller]
    fn check_offset(text: &str, encoding: PositionEncoding, position: Position, offset: u32) {
        assert_eq!(Positions::new(text, encoding).offset(position), offset);
    }

    #[test]
    fn characters_are_counted_as_agreed() {
        check("a𐐀b", 1, 0, [1, 1, 1]);
        check("a𐐀b", 5, 0, [5, 3, 2]);
        check("a𐐀b", 6, 0, [6, 4, 3]);
        check("é\n\té", 4, 1, [1, 1, 1]);
        check("é\n\té", 6, 1, [3, 2, 2]);
    }

    #[test]
    fn inside_a_character_is_its_start() {
        for inside in 1..5 {
            check_offset("a𐐀b", PositionEncoding::Utf8, at(0, inside), 1);
        }
        check_offset("a𐐀b", PositionEncoding::Utf16, at(0, 2), 1);
        check_offset("a𐐀b", PositionEncoding::Utf16, at(0, 3), 5);
    }

    #[test]
    fn every_kind_of_line_end() {
        check("ab\r\ncd\re\n", 2, 0, [2, 2, 2]);
        check("ab\r\ncd\re\n", 4, 1, [0, 0, 0]);
        check("ab\r\ncd\re\n", 7, 2, [0, 0, 0]);
        check("ab\r\ncd\re\n", 9, 3, [0, 0, 0]);
        check("ab", 2, 0, [2, 2, 2]);
        check("", 0, 0, [0, 0, 0]);
    }

    #[test]
    fn what_is_out_of_range_is_brought_in() {
        for encoding in ALL {
            check_offset("ab\r\ncd", encoding, at(0, 3), 2);
            check_offset("ab\r\ncd", encoding, at(0, u32::MAX), 2);
            check_offset("ab\r\ncd", encoding, at(1, 9), 6);
            check_offset("ab\r\ncd", encoding, at(2, 0), 6);
            check_offset("ab\r\n", encoding, at(u32::MAX, u32::MAX), 4);
            check_offset("", encoding, at(7, 7), 0);
            assert_eq!(Positions::new("ab\r\ncd", encoding).position(99), at(1, 2));
        }
    }

    #[test]
    fn a_byte_order_mark_is_not_told() {
        check("\u{feff}ab", 3, 0, [0, 0, 0]);
        check("\u{feff}ab", 4, 0, [1, 1, 1]);
    }

    #[test]
    fn spans() {
        let positions = Positions::new("é=1\nb", PositionEncoding::Utf16);
        let range = Range { start: at(0, 1), end: at(1, 1) };
        assert_eq!(positions.range(Span::new(2, 6)), range);
        assert_eq!(positions.span(range), Span::new(2, 6));
        assert_eq!(positions.span(Range { start: at(1, 1), end: at(0, 0) }), Span::new(6, 6));
    }

    /// Returns a configuration with a fixed seed: the same cases each time.
    fn config() -> ProptestConfig {
        ProptestConfig { rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() }
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn there_and_back(text in "[a\t\r\néß€𐐀]{0,12}") {
            for encoding in ALL {
                let positions = Positions::new(&text, encoding);
                // Between the halves of a newline is no place in a line: it stands for the line's end.
                let is_inside = |it: usize| text[..it].ends_with('\r') && text[it..].starts_with('\n');
                let starts = (0..=text.len()).filter(|it| text.is_char_boundary(*it) && !is_inside(*it));
                for start in starts {
                    let offset = u32::try_from(start).unwrap();
                    prop_assert_eq!(positions.offset(positions.position(offset)), offset);
                }
            }
        }
    }
}
