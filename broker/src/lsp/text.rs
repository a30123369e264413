//! The client's text of a document, and positions in it in the client's encoding.

use std::sync::Arc;

use gen_lsp_types::{Position, Range, TextDocumentContentChangeEvent as Change, TextEdit};
use lint::Span;
use lsp_client::{PositionEncoding, Positions};

use super::changes;

/// A shared text with the encoding of its positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    text: Arc<str>,
    encoding: PositionEncoding,
}

/// Byte order mark. A client that sends one counts it as a character; [`Positions`] does not.
const BOM: char = '\u{feff}';

impl Text {
    pub(super) fn new(text: impl Into<Arc<str>>, encoding: PositionEncoding) -> Self {
        Self { text: text.into(), encoding }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// The text after changes. The range of each is in the text that the change before it has made.
    pub(super) fn changed(&self, changes: &[Change]) -> Self {
        Self::new(changes::changed(&self.text, changes, self.encoding), self.encoding)
    }

    /// Index for several conversions of positions.
    pub(super) fn index(&self) -> Index<'_> {
        let mark = match (self.text.starts_with(BOM), self.encoding) {
            (false, _) => 0,
            (true, PositionEncoding::Utf8) => 3,
            (true, PositionEncoding::Utf16 | PositionEncoding::Utf32) => 1,
        };
        Index { positions: Positions::new(&self.text, self.encoding), mark }
    }

    /// Edits that turn this text into `other`, from a diff by lines.
    pub(super) fn edits_to(&self, other: &str) -> Vec<TextEdit> {
        let index = self.index();
        let diff = similar::TextDiff::from_lines(self.as_str(), other);
        let (old, new) = (offsets(diff.iter_old_slices()), offsets(diff.iter_new_slices()));
        let edit = |op: &similar::DiffOp| {
            let (from, to) = (op.old_range(), op.new_range());
            let span = Span::new(old[from.start], old[from.end]);
            let new_text = other[new[to.start] as usize..new[to.end] as usize].to_owned();
            TextEdit { range: index.range(span), new_text }
        };
        diff.ops().iter().filter(|it| it.tag() != similar::DiffTag::Equal).map(edit).collect()
    }
}

/// Byte offsets of the start of each line, and of the end of the last one.
fn offsets<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<u32> {
    let mut offsets = vec![0];
    let mut end = 0;
    for line in lines {
        end += line.len();
        offsets.push(u32::try_from(end).unwrap_or(u32::MAX));
    }
    offsets
}

/// Converts between byte offsets and the client's positions.
pub(super) struct Index<'t> {
    positions: Positions<'t>,
    /// Characters of the byte order mark, in the client's encoding; 0 without one.
    mark: u32,
}

/// Bytes of the byte order mark.
const MARK_BYTES: u32 = 3;

impl Index<'_> {
    pub(super) fn position(&self, offset: u32) -> Position {
        let at = self.positions.position(offset);
        let is_behind_mark = at.line == 0 && self.mark > 0 && offset >= MARK_BYTES;
        Position { line: at.line, character: at.character + if is_behind_mark { self.mark } else { 0 } }
    }

    pub(super) fn range(&self, span: Span) -> Range {
        Range { start: self.position(span.start), end: self.position(span.end) }
    }

    /// Clamped as LSP demands: beyond the end of a line it is that end, beyond the last line the end of the text.
    pub(super) fn offset(&self, at: Position) -> u32 {
        if at.line == 0 && self.mark > 0 && at.character < self.mark {
            return 0;
        }
        let character = if at.line == 0 { at.character - self.mark } else { at.character };
        self.positions.offset(lsp_client::Position { line: at.line, character })
    }

    /// A range that ends before it begins is empty.
    pub(super) fn span(&self, range: Range) -> Span {
        let start = self.offset(range.start);
        Span::new(start, self.offset(range.end).max(start))
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, test_runner::RngSeed};

    use super::*;

    const ENCODINGS: [PositionEncoding; 3] =
        [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32];

    fn partial(range: Range, text: String) -> Change {
        let change = serde_json::json!({"range": range, "text": text});
        serde_json::from_value(change).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

        #[test]
        fn edits_make_the_other_text(old in "[ab\r\n𐐀]{0,12}", new in "[ab\r\n𐐀]{0,12}", encoding in 0..3usize) {
            let text = Text::new(old.as_str(), ENCODINGS[encoding]);
            // From the last one, so that none moves another.
            let edits = text.edits_to(&new).into_iter().rev();
            let changes: Vec<_> = edits.map(|it| {
                partial(it.range, it.new_text)
            }).collect();
            let changed = text.changed(&changes);
            prop_assert_eq!(changed.as_str(), &new);
        }
    }

    #[test]
    fn a_byte_order_mark_is_a_character_of_the_client() {
        let text = Text::new("\u{feff}ab\nc", PositionEncoding::Utf16);
        let index = text.index();
        for (offset, character) in [(0, 0), (3, 1), (4, 2)] {
            assert_eq!(index.position(offset), Position { line: 0, character });
            assert_eq!(index.offset(Position { line: 0, character }), offset);
        }
        assert_eq!(index.position(6), Position { line: 1, character: 0 });
    }
}
