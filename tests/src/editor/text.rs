//! Positions of the protocol in a text, in each of its three encodings. A simple and slow reference implementation.

use std::ops::Range as Bytes;

use gen_lsp_types::{Position, Range};

/// Encoding of positions: the code units that `character` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    Utf16,
    Utf32,
}

impl Encoding {
    pub const ALL: [Self; 3] = [Self::Utf8, Self::Utf16, Self::Utf32];

    /// Name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
            Self::Utf32 => "utf-32",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    fn units(self, it: char) -> usize {
        match self {
            Self::Utf8 => it.len_utf8(),
            Self::Utf16 => it.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    /// Byte offset of a position, clamped to the end of the line and of the text.
    pub fn offset(self, text: &str, at: Position) -> usize {
        let lines = lines(text);
        let Some(line) = lines.get(at.line as usize) else { return text.len() };
        let mut units = 0;
        for (index, it) in text[line.clone()].char_indices() {
            if units >= at.character as usize {
                return line.start + index;
            }
            units += self.units(it);
        }
        line.end
    }

    /// Position of a byte offset. An offset between `\r` and `\n` has that of the line's end.
    pub fn position(self, text: &str, offset: usize) -> Position {
        let lines = lines(text);
        let number = lines.iter().rposition(|it| it.start <= offset).unwrap_or_default();
        let line = &lines[number];
        let before = &text[line.start..offset.min(line.end)];
        let character: usize = before.chars().map(|it| self.units(it)).sum();
        Position { line: number as u32, character: character as u32 }
    }

    pub fn range(self, text: &str, bytes: Bytes<usize>) -> Range {
        Range { start: self.position(text, bytes.start), end: self.position(text, bytes.end) }
    }

    /// Range of a part of the text, which must occur once.
    #[track_caller]
    pub fn range_of(self, text: &str, part: &str) -> Range {
        let mut found = text.match_indices(part);
        let (start, _) = found.next().unwrap_or_else(|| panic!("no {part:?} in {text:?}"));
        assert!(found.next().is_none(), "{part:?} is there twice in {text:?}");
        self.range(text, start..start + part.len())
    }

    /// Returns the fault of a range from a server: it must lie in the text and not end before it starts.
    pub fn fault(self, text: &str, range: Range) -> Option<String> {
        if (range.start.line, range.start.character) > (range.end.line, range.end.character) {
            return Some("it ends before it starts".to_owned());
        }
        [range.start, range.end].into_iter().find_map(|at| self.fault_at(text, at))
    }

    fn fault_at(self, text: &str, at: Position) -> Option<String> {
        let lines = lines(text);
        let Some(line) = lines.get(at.line as usize) else {
            return Some(format!("there is no line {}, only {}", at.line, lines.len()));
        };
        let (mut units, line_text) = (0, &text[line.clone()]);
        for it in line_text.chars() {
            if units >= at.character as usize {
                break;
            }
            units += self.units(it);
        }
        if units == at.character as usize {
            return None;
        }
        let Position { line, character } = at;
        Some(format!("character {character} is not one of line {line}, which is {line_text:?}"))
    }
}

/// Byte ranges of the lines, without their terminators `\n`, `\r\n` and `\r`.
pub fn lines(text: &str) -> Vec<Bytes<usize>> {
    let (mut lines, mut start) = (Vec::new(), 0);
    let bytes = text.as_bytes();
    for (index, it) in bytes.iter().enumerate() {
        let is_end = match it {
            b'\n' => true,
            b'\r' => bytes.get(index + 1) != Some(&b'\n'),
            _ => false,
        };
        if is_end {
            let is_pair = *it == b'\n' && index > start && bytes[index - 1] == b'\r';
            lines.push(start..index - usize::from(is_pair));
            start = index + 1;
        }
    }
    lines.push(start..text.len());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a𐐀b\r\né\rx\n\nend";

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn each_end_of_a_line_counts_once() {
        let texts: Vec<_> = lines(TEXT).into_iter().map(|it| &TEXT[it]).collect();
        assert_eq!(texts, ["a𐐀b", "é", "x", "", "end"]);
        assert_eq!(lines("").len(), 1);
        assert_eq!(lines("\n\r").len(), 3);
    }

    #[test]
    fn positions_and_offsets_are_inverse() {
        for encoding in Encoding::ALL {
            let places = TEXT.char_indices().map(|(index, _)| index).chain([TEXT.len()]);
            for offset in places.filter(|it| !TEXT[..*it].ends_with('\r') || TEXT[*it..].starts_with('x')) {
                let position = encoding.position(TEXT, offset);
                assert_eq!(encoding.offset(TEXT, position), offset, "{encoding:?} {position:?}");
                assert_eq!(encoding.fault_at(TEXT, position), None, "{encoding:?} {position:?}");
            }
        }
        let end_of_b = Encoding::ALL.map(|it| it.position(TEXT, 6).character);
        assert_eq!(end_of_b, [6, 4, 3]);
    }

    #[test]
    fn positions_outside_are_clamped_and_faults() {
        for encoding in Encoding::ALL {
            assert_eq!(encoding.offset(TEXT, at(0, 99)), 6);
            assert_eq!(encoding.offset(TEXT, at(99, 0)), TEXT.len());
            assert!(encoding.fault_at(TEXT, at(0, 99)).is_some());
            assert!(encoding.fault_at(TEXT, at(99, 0)).is_some());
        }
        assert!(Encoding::Utf16.fault_at(TEXT, at(0, 2)).is_some(), "between two surrogates");
        assert!(Encoding::Utf8.fault_at(TEXT, at(0, 3)).is_some(), "within a character");
    }
}
