//! Conversion of byte offsets to the lines and columns that people, editors and reports count in.

use std::sync::OnceLock;

use memchr::memchr2_iter;

use crate::Span;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Bytes between milestones, and how far into a line an offset may be before they are worth having.
const STRIDE: usize = if cfg!(test) { 4 } else { 1024 };

/// Table of the offsets at which the lines of a text start.
///
/// Lines end with `\n`, `\r\n` or a lone `\r`. A byte order mark at the start takes up no column. Bytes
/// that are not UTF-8 count as the replacement characters that `String::from_utf8_lossy` would put there.
#[derive(Debug, Clone)]
pub struct LineTable<'t> {
    text: &'t [u8],
    /// The offset of the first byte of each line; at least one.
    starts: Vec<u32>,
    /// Counts before a character in each stride, so that no offset is counted from the start of a long
    /// line; made when first needed.
    milestones: OnceLock<Vec<Counts>>,
}

/// Amount of text before an offset that is the start of a character.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    bytes: u32,
    scalars: u32,
    /// Scalar values that UTF-16 takes two units for.
    astrals: u32,
}

/// A position as people count it: from 1. What a column counts is said by who made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineColumn {
    pub line: u32,
    pub column: u32,
}

impl<'t> LineTable<'t> {
    /// A text beyond 4 GiB, which no [`Span`] can reach, is looked at only at its start.
    pub fn new(text: &'t [u8]) -> Self {
        let text = &text[..text.len().min(u32::MAX as usize)];
        let mut starts = vec![0];
        for newline in memchr2_iter(b'\n', b'\r', text) {
            let is_half = text[newline] == b'\r' && text.get(newline + 1) == Some(&b'\n');
            if !is_half {
                starts.push(offset(newline + 1));
            }
        }
        Self { text, starts, milestones: OnceLock::new() }
    }

    /// The column counts Unicode scalar values.
    ///
    /// Here and below, an offset inside a character stands for the character's start, and one past the
    /// end for the end.
    pub fn scalar(&self, offset: u32) -> LineColumn {
        self.position(offset, |it| it.scalars)
    }

    /// The column counts UTF-16 code units, as LSP does by default.
    pub fn utf16(&self, offset: u32) -> LineColumn {
        self.position(offset, |it| it.scalars + it.astrals)
    }

    /// The column counts bytes.
    pub fn utf8(&self, offset: u32) -> LineColumn {
        self.position(offset, |it| it.bytes)
    }

    /// Number of lines. The text after the last newline is a line, even if it is empty.
    pub fn line_count(&self) -> u32 {
        offset(self.starts.len())
    }

    /// The bytes of a line, counted from 1, without its newline and without the byte order mark.
    pub fn line_span(&self, line: u32) -> Option<Span> {
        let index = (line as usize).checked_sub(1)?;
        let start = self.content_start(*self.starts.get(index)?);
        let end = self.starts.get(index + 1).map_or(self.text.len(), |next| *next as usize);
        let content = &self.text[start..end];
        let content = content.strip_suffix(b"\n").unwrap_or(content);
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        Some(Span::new(offset(start), offset(start + content.len())))
    }

    /// Offset at which a line, counted from 1, begins; `None` if there is no such line.
    pub(crate) fn line_start(&self, line: u32) -> Option<u32> {
        self.starts.get((line as usize).checked_sub(1)?).copied()
    }

    fn position(&self, offset: u32, units: impl Fn(Counts) -> u32) -> LineColumn {
        let offset = (offset as usize).min(self.text.len());
        let line = self.starts.partition_point(|start| *start as usize <= offset);
        let start = self.content_start(self.starts[line - 1]);
        let offset = offset.max(start);
        let before = if offset - start <= STRIDE {
            units(Counts::default().advance(&self.text[start..], offset - start))
        } else {
            units(self.counts(offset)) - units(self.counts(start))
        };
        LineColumn { line: self::offset(line), column: before + 1 }
    }

    /// Counts from the start of the text to the character that `offset` is in.
    fn counts(&self, offset: usize) -> Counts {
        let milestones = self.milestones.get_or_init(|| milestones(self.text));
        let next = milestones.partition_point(|it| it.bytes as usize <= offset);
        // The first is at the start of the text.
        let near = milestones[next - 1];
        near.advance(&self.text[near.bytes as usize..], offset - near.bytes as usize)
    }

    /// Offset from which columns are counted in the line that starts at `start`.
    fn content_start(&self, start: u32) -> usize {
        if start == 0 && self.text.starts_with(BOM) { BOM.len() } else { start as usize }
    }
}

/// A character, or what stands in for one.
#[derive(Clone, Copy)]
struct Character {
    /// In bytes.
    length: u32,
    /// Whether UTF-16 takes two units for the character.
    is_astral: bool,
}

impl Counts {
    /// With the characters that `text` starts with and that end at `offset` in it or before.
    fn advance(self, text: &[u8], offset: usize) -> Self {
        if text[..offset].is_ascii() {
            let passed = self::offset(offset);
            return Self { bytes: self.bytes + passed, scalars: self.scalars + passed, ..self };
        }
        let end = self.bytes as usize + offset;
        // A character ends at most three bytes after the offset that lies in it.
        let with_next = characters(&text[..text.len().min(offset + 3)]).scan(self, |counts, it| {
            *counts = counts.with(it);
            Some(*counts)
        });
        with_next.take_while(|it| it.bytes as usize <= end).last().unwrap_or(self)
    }

    fn with(self, it: Character) -> Self {
        Self {
            bytes: self.bytes + it.length,
            scalars: self.scalars + 1,
            astrals: self.astrals + u32::from(it.is_astral),
        }
    }
}

/// The counts at about every [`STRIDE`]th byte.
fn milestones(text: &[u8]) -> Vec<Counts> {
    let mut milestones = vec![Counts::default()];
    let mut counts = Counts::default();
    for character in characters(text) {
        counts = counts.with(character);
        if (counts.bytes - milestones[milestones.len() - 1].bytes) as usize >= STRIDE {
            milestones.push(counts);
        }
    }
    milestones
}

fn characters(text: &[u8]) -> impl Iterator<Item = Character> {
    text.utf8_chunks().flat_map(|chunk| {
        let valid = chunk
            .valid()
            .chars()
            .map(|it| Character { length: offset(it.len_utf8()), is_astral: it.len_utf16() == 2 });
        let invalid = (!chunk.invalid().is_empty())
            .then(|| Character { length: offset(chunk.invalid().len()), is_astral: false });
        valid.chain(invalid)
    })
}

/// Everything here is an offset into, or a count within, a text of at most `u32::MAX` bytes.
fn offset(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, test_runner::RngSeed};

    use super::*;

    fn at(line: u32, column: u32) -> LineColumn {
        LineColumn { line, column }
    }

    /// The three columns of an offset, which must agree on the line.
    #[track_caller]
    fn check(text: &[u8], offset: u32, line: u32, [scalar, utf16, utf8]: [u32; 3]) {
        let table = LineTable::new(text);
        assert_eq!(table.scalar(offset), at(line, scalar), "scalar values");
        assert_eq!(table.utf16(offset), at(line, utf16), "UTF-16");
        assert_eq!(table.utf8(offset), at(line, utf8), "UTF-8");
    }

    #[track_caller]
    fn check_lines(text: &[u8], want: &[&[u8]]) {
        let table = LineTable::new(text);
        let span = |line| table.line_span(line).map(|it| &text[it.start as usize..it.end as usize]);
        let lines: Vec<_> = (1..=table.line_count()).map(|line| span(line).unwrap()).collect();
        assert_eq!(lines, want);
        assert_eq!((span(0), span(table.line_count() + 1)), (None, None));
    }

    #[test]
    fn nothing_is_one_empty_line() {
        check(b"", 0, 1, [1, 1, 1]);
        check(b"", 7, 1, [1, 1, 1]);
        check_lines(b"", &[b""]);
    }

    #[test]
    fn every_kind_of_newline() {
        let text = b"a\nb\r\nc\rd\n\n\r\r\n";
        check_lines(text, &[b"a", b"b", b"c", b"d", b"", b"", b"", b""]);
        check(text, 1, 1, [2, 2, 2]);
        check(text, 2, 2, [1, 1, 1]);
        check(text, 4, 2, [3, 3, 3]);
        check(text, 5, 3, [1, 1, 1]);
        check(text, 7, 4, [1, 1, 1]);
    }

    #[test]
    fn the_last_line_needs_no_newline() {
        check_lines(b"a\nbc", &[b"a", b"bc"]);
        check(b"a\nbc", 4, 2, [3, 3, 3]);
        check(b"a\nbc", 99, 2, [3, 3, 3]);
        check(b"a\n", 2, 2, [1, 1, 1]);
    }

    #[test]
    fn a_tab_is_one_character() {
        check(b"\t\tx", 2, 1, [3, 3, 3]);
    }

    #[test]
    fn columns_differ_beyond_ascii() {
        let text = "é𝒳z\n𝒳".as_bytes();
        check(text, 2, 1, [2, 2, 3]);
        check(text, 6, 1, [3, 4, 7]);
        check(text, 7, 1, [4, 5, 8]);
        check(text, 12, 2, [2, 3, 5]);
    }

    #[test]
    fn an_offset_inside_a_character_is_its_start() {
        let text = "a𝒳b".as_bytes();
        for inside in 1..5 {
            check(text, inside, 1, [2, 2, 2]);
        }
        check(text, 5, 1, [3, 4, 6]);
        check("éé".as_bytes(), 3, 1, [2, 2, 3]);
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        let text = "\u{feff}ab\n\u{feff}c".as_bytes();
        for inside in 0..=3 {
            check(text, inside, 1, [1, 1, 1]);
        }
        check(text, 4, 1, [2, 2, 2]);
        check(text, 9, 2, [2, 2, 4]);
        check_lines(text, &[b"ab", "\u{feff}c".as_bytes()]);
        check_lines(BOM, &[b""]);
    }

    #[test]
    fn invalid_bytes_count_as_their_replacements() {
        // A lone byte, a character cut short (one replacement), and two that never start anything.
        let text = b"\xffa\xf0\x9f\x98b\xc0\xafc";
        check(text, 1, 1, [2, 2, 2]);
        check(text, 3, 1, [3, 3, 3]);
        check(text, 5, 1, [4, 4, 6]);
        check(text, 7, 1, [6, 6, 8]);
        check(text, 8, 1, [7, 7, 9]);
        check(b"\xf0\x9f\n", 2, 1, [2, 2, 3]);
    }

    /// Slow and obvious: replace, then count.
    fn naive(text: &[u8], offset: usize) -> (u32, [u32; 3]) {
        let offset = offset.min(text.len());
        let mut starts = vec![0];
        for end in 1..=text.len() {
            let ends = text[end - 1] == b'\n' || (text[end - 1] == b'\r' && text.get(end) != Some(&b'\n'));
            starts.extend(ends.then_some(end));
        }
        let line = starts.iter().filter(|it| **it <= offset).count();
        let start = starts[line - 1];
        let start = if start == 0 && text.starts_with(BOM) { 3 } else { start };
        let snapped =
            (start..=offset).rev().find(|end| is_boundary(&text[start..], end - start)).unwrap_or(start);
        let before = String::from_utf8_lossy(&text[start..snapped]);
        let columns = [before.chars().count(), before.encode_utf16().count(), snapped - start];
        (line as u32, columns.map(|it| it as u32 + 1))
    }

    /// Whether to cut here leaves both sides as they are: no character and no replacement is torn.
    fn is_boundary(text: &[u8], at: usize) -> bool {
        let (before, after) = text.split_at(at);
        let whole = String::from_utf8_lossy(text);
        whole == format!("{}{}", String::from_utf8_lossy(before), String::from_utf8_lossy(after))
    }

    fn odd_text() -> impl Strategy<Value = Vec<u8>> {
        let pieces = prop::sample::select(vec![
            &b"a"[..],
            b"\t",
            b"\n",
            b"\r",
            b"\r\n",
            "é".as_bytes(),
            "€".as_bytes(),
            "𝒳".as_bytes(),
            BOM,
            b"\xff",
            b"\x80",
            b"\xf0\x9f",
            b"\xe2\x82",
            b"\xed\xa0\x80",
        ]);
        prop::collection::vec(pieces, 0..12).prop_map(|it| it.concat())
    }

    /// Configuration with a fixed seed: the same cases each time.
    fn config() -> ProptestConfig {
        ProptestConfig { rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() }
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn agrees_with_the_naive_way(text in odd_text()) {
            let table = LineTable::new(&text);
            for offset in 0..=text.len() + 1 {
                let (line, [scalar, utf16, utf8]) = naive(&text, offset);
                let offset = offset as u32;
                prop_assert_eq!(table.scalar(offset), at(line, scalar));
                prop_assert_eq!(table.utf16(offset), at(line, utf16));
                prop_assert_eq!(table.utf8(offset), at(line, utf8));
            }
        }

        #[test]
        fn spans_and_newlines_make_up_the_text(text in odd_text()) {
            let table = LineTable::new(&text);
            for line in 1..=table.line_count() {
                let span = table.line_span(line).unwrap();
                prop_assert_eq!(table.scalar(span.start), at(line, 1));
                prop_assert_eq!(table.scalar(span.end).line, line);
                let content = &text[span.start as usize..span.end as usize];
                prop_assert!(!content.contains(&b'\n') && !content.contains(&b'\r'));
            }
        }
    }
}
