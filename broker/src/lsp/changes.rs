//! Content changes of a document, made one after the other.
//!
//! The text is held in pieces that know how many line ends and characters they have, so that a change reads and copies the pieces
//! that it touches and skips the others by their counts.

use std::{borrow::Cow, ops::ControlFlow};

use gen_lsp_types::{Position, TextDocumentContentChangeEvent as Change};
use lsp_client::PositionEncoding;

/// Size of a piece, in bytes.
const SIZE: usize = 1024;

/// The text after changes. The range of each is in the text that the change before it has made.
pub(super) fn changed(text: &str, changes: &[Change], encoding: PositionEncoding) -> String {
    changed_by(text, changes, encoding, SIZE)
}

fn changed_by(text: &str, changes: &[Change], encoding: PositionEncoding, size: usize) -> String {
    let mut pieces = Pieces::new(text, encoding, size);
    for change in changes {
        match change {
            Change::TextDocumentContentChangeWholeDocument(it) => {
                pieces = Pieces::new(&it.text, encoding, size);
            }
            Change::TextDocumentContentChangePartial(it) => {
                let start = pieces.place(it.range.start);
                // A range that ends before it begins is empty.
                let end = pieces.place(it.range.end).max(start);
                pieces.replace(start, end, &it.text);
            }
        }
    }
    pieces.pieces.iter().map(|it| &*it.text).collect()
}

/// A text in pieces; at least one. A newline of two characters is never divided, and no piece is empty but that of an empty text.
struct Pieces<'t> {
    pieces: Vec<Piece<'t>>,
    encoding: PositionEncoding,
    size: usize,
}

struct Piece<'t> {
    text: Cow<'t, str>,
    line_ends: u32,
    /// Length in the units of the client's positions.
    units: u32,
}

/// A byte offset in a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TextOffset {
    piece: usize,
    offset: usize,
}

impl<'t> Pieces<'t> {
    fn new(text: &'t str, encoding: PositionEncoding, size: usize) -> Self {
        let pieces = cut(text, size).map(|it| Piece::new(Cow::Borrowed(it), encoding)).collect();
        Self { pieces, encoding, size }
    }

    /// Clamped as LSP demands: beyond the end of a line it is that end, beyond the last line the end of the text.
    fn place(&self, at: Position) -> TextOffset {
        match self.line_start(at.line) {
            Some(start) => self.in_line(start, at.character),
            None => self.end(),
        }
    }

    fn line_start(&self, line: u32) -> Option<TextOffset> {
        let mut left = line;
        for (piece, it) in self.pieces.iter().enumerate() {
            if left <= it.line_ends {
                return Some(TextOffset { piece, offset: after_line_ends(&it.text, left) });
            }
            left -= it.line_ends;
        }
        None
    }

    fn in_line(&self, start: TextOffset, character: u32) -> TextOffset {
        let (mut offset, mut left) = (start.offset, character);
        for (piece, it) in self.pieces.iter().enumerate().skip(start.piece) {
            match it.walk(offset, left, self.encoding) {
                ControlFlow::Break(offset) => return TextOffset { piece, offset },
                ControlFlow::Continue(units) => left = units,
            }
            offset = 0;
        }
        self.end()
    }

    fn end(&self) -> TextOffset {
        let piece = self.pieces.len() - 1;
        TextOffset { piece, offset: self.pieces[piece].text.len() }
    }

    fn replace(&mut self, start: TextOffset, end: TextOffset, text: &str) {
        let (mut first, mut last) = (start.piece, end.piece);
        let head = &self.pieces[first].text[..start.offset];
        let tail = &self.pieces[last].text[end.offset..];
        let mut joined = [head, text, tail].concat();
        while first > 0 && belong_together(&self.pieces[first - 1].text, &joined) {
            first -= 1;
            joined.insert_str(0, &self.pieces[first].text);
        }
        while last + 1 < self.pieces.len() && belong_together(&joined, &self.pieces[last + 1].text) {
            last += 1;
            joined.push_str(&self.pieces[last].text);
        }
        let new = cut(&joined, self.size).map(|it| Piece::new(Cow::Owned(it.to_owned()), self.encoding));
        self.pieces.splice(first..=last, new);
    }
}

impl<'t> Piece<'t> {
    fn new(text: Cow<'t, str>, encoding: PositionEncoding) -> Self {
        let line_ends = count(line_ends(&text).count());
        let units = count(match encoding {
            PositionEncoding::Utf8 => text.len(),
            PositionEncoding::Utf16 => text.chars().map(char::len_utf16).sum(),
            PositionEncoding::Utf32 => text.chars().count(),
        });
        Self { text, line_ends, units }
    }

    /// Goes on by as many units as fit, from an offset to the end of its line. Continues with the units that are left at the end of
    /// the piece.
    fn walk(&self, offset: usize, units: u32, encoding: PositionEncoding) -> ControlFlow<usize, u32> {
        if offset == 0 && self.line_ends == 0 && self.units <= units {
            return ControlFlow::Continue(units - self.units);
        }
        let mut left = units;
        for (at, it) in self.text[offset..].char_indices() {
            match left.checked_sub(length(it, encoding)) {
                Some(rest) if !matches!(it, '\n' | '\r') => left = rest,
                _ => return ControlFlow::Break(offset + at),
            }
        }
        ControlFlow::Continue(left)
    }
}

/// Length of a character in the units of positions.
fn length(it: char, encoding: PositionEncoding) -> u32 {
    count(match encoding {
        PositionEncoding::Utf8 => it.len_utf8(),
        PositionEncoding::Utf16 => it.len_utf16(),
        PositionEncoding::Utf32 => 1,
    })
}

fn count(it: usize) -> u32 {
    u32::try_from(it).unwrap_or(u32::MAX)
}

/// Whether two neighbouring texts must be one piece.
fn belong_together(before: &str, after: &str) -> bool {
    before.is_empty() || after.is_empty() || (before.ends_with('\r') && after.starts_with('\n'))
}

/// Pieces of about this size; an empty one for an empty text.
fn cut(text: &str, size: usize) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let (piece, after) = text.split_at(end_of_piece(text, size));
        rest = Some(after).filter(|it| !it.is_empty());
        Some(piece)
    })
}

fn end_of_piece(text: &str, size: usize) -> usize {
    let is_end = |it: &usize| text.is_char_boundary(*it) && !belong_together(&text[..*it], &text[*it..]);
    (size..text.len()).find(is_end).unwrap_or(text.len())
}

/// Offsets behind the line ends of a text.
fn line_ends(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let is_end = |it: &usize| match bytes[*it] {
        b'\n' => true,
        b'\r' => bytes.get(*it + 1) != Some(&b'\n'),
        _ => false,
    };
    (0..bytes.len()).filter(is_end).map(|it| it + 1)
}

/// The offset behind a number of line ends, no more than the text has.
fn after_line_ends(text: &str, number: u32) -> usize {
    let index = (number as usize).checked_sub(1);
    index.and_then(|it| line_ends(text).nth(it)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use gen_lsp_types::{Range, TextDocumentContentChangeWholeDocument};
    use proptest::{prelude::*, test_runner::RngSeed};

    use super::*;

    const ENCODINGS: [PositionEncoding; 3] =
        [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32];

    /// The byte offset of a position, character by character.
    fn plain_offset(text: &str, at: Position, encoding: PositionEncoding) -> usize {
        let (mut line, mut offset) = (0, 0);
        let mut rest = text;
        while line < at.line {
            let Some(end) = rest.find(['\n', '\r']) else { return text.len() };
            let length = if rest[end..].starts_with("\r\n") { 2 } else { 1 };
            (offset, line) = (offset + end + length, line + 1);
            rest = &text[offset..];
        }
        let mut character = 0;
        for it in rest.chars() {
            character += length(it, encoding);
            if matches!(it, '\n' | '\r') || character > at.character {
                break;
            }
            offset += it.len_utf8();
        }
        offset
    }

    fn plain(text: &mut String, change: &Change, encoding: PositionEncoding) {
        match change {
            Change::TextDocumentContentChangeWholeDocument(it) => text.clone_from(&it.text),
            Change::TextDocumentContentChangePartial(it) => {
                let start = plain_offset(text, it.range.start, encoding);
                let end = plain_offset(text, it.range.end, encoding).max(start);
                text.replace_range(start..end, &it.text);
            }
        }
    }

    fn partial(range: Range, text: String) -> Change {
        let change = serde_json::json!({"range": range, "text": text});
        serde_json::from_value(change).unwrap()
    }

    fn changes() -> impl Strategy<Value = Vec<Change>> {
        let text = proptest::collection::vec(
            proptest::sample::select(vec!["a", "é", "𐐀", "\u{feff}", "\r\n", "\n", "\r", "\t", "👩‍👩‍👧", ""]),
            0..6,
        );
        let at = || (0..6u32, 0..12u32).prop_map(|(line, character)| Position { line, character });
        let piece = (at(), at(), text.clone()).prop_map(|(start, end, text)| {
            let range = Range { start, end };
            partial(range, text.concat())
        });
        let whole = text.prop_map(|it| {
            Change::TextDocumentContentChangeWholeDocument(TextDocumentContentChangeWholeDocument {
                text: it.concat(),
            })
        });
        proptest::collection::vec(prop_oneof![19 => piece, 1 => whole], 1..40)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

        #[test]
        fn changes_are_made_as_the_client_makes_them(changes in changes(), encoding in 0..3usize, size in 1..9usize) {
            let encoding = ENCODINGS[encoding];
            let mut text = String::new();
            for (number, change) in changes.iter().enumerate() {
                plain(&mut text, change, encoding);
                let changed = changed_by("", &changes[..=number], encoding, size);
                prop_assert_eq!(&changed, &text);
            }
        }
    }

    #[test]
    fn newlines_are_made_and_divided_across_pieces() {
        let at = |line, character| Position { line, character };
        let change = |start, end, text: &str| partial(Range { start, end }, text.to_owned());
        let made = |text: &str, changes: &[Change]| changed_by(text, changes, PositionEncoding::Utf16, 1);
        // The return and the line feed become one newline once what is between them has gone.
        let joins = [change(at(1, 0), at(1, 1), ""), change(at(1, 0), at(1, 0), "y")];
        assert_eq!(made("a\rx\nb", &joins), "a\r\nyb");
        let divides = [change(at(0, 1), at(1, 0), "\rx\n"), change(at(2, 0), at(2, 0), "y")];
        assert_eq!(made("a\r\nb", &divides), "a\rx\nyb");
        assert_eq!(made("a\nb", &[change(at(0, 0), at(9, 9), ""), change(at(0, 0), at(0, 0), "c")]), "c");
    }

    /// Replacements of `old` in each of these lines, or in a single line of as many parts.
    fn replacements(parts: &[u32], is_one_line: bool) -> Vec<Change> {
        let at = |part: u32, character| match is_one_line {
            true => Position { line: 0, character: 20 * part + character },
            false => Position { line: part, character },
        };
        let change = |it: &u32| partial(Range { start: at(*it, 8), end: at(*it, 11) }, "new".to_owned());
        parts.iter().map(change).collect()
    }

    /// Prints the time of each, which grows with their number. No assertion depends on it.
    #[test]
    fn thousands_of_changes_in_one_message() {
        for (count, end) in [(2_000, '\n'), (2_000, ' '), (4_000, '\n'), (4_000, ' ')] {
            let part = format!("let a = old + 12345{end}");
            let text = part.repeat(count as usize);
            let want = part.replace("old", "new").repeat(count as usize);
            let down: Vec<_> = (0..count).collect();
            let up: Vec<_> = (0..count).rev().collect();
            let mixed: Vec<_> = (0..count).map(|it| it * 1_009 % count).collect();
            for (order, parts) in [("down", down), ("up", up), ("mixed", mixed)] {
                let changes = replacements(&parts, end == ' ');
                let start = std::time::Instant::now();
                let made = changed(&text, &changes, PositionEncoding::Utf16);
                println!("{count} changes {order}, parts end with {end:?}: {:?}", start.elapsed());
                assert!(made == want, "{count} {order} {end:?}");
            }
        }
    }
}
