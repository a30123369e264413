//! Identity of a finding that does not depend on its position.

use std::{collections::HashMap, fmt};

use crate::{FindingKey, LineTable, Span, finding_key::slice};

/// Lines that count of a longer span, so that an edit deep in a function leaves the
/// function's findings what they are.
const MAX_LINES: u32 = 5;

/// Longer lines, as of generated code, are not hashed once for each of their findings: the span stands
/// for them.
const MAX_BYTES: usize = 4096;

/// Stands for a finding by its rule, by the text it is about and by how many like it come before.
///
/// White space, the position and the path do not count: a finding keeps its fingerprint when its lines move,
/// are indented anew, or when the rest of the file is edited. Two files may hold the same one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The first in their order.
    pub const MIN: Self = Self([0; 32]);

    /// Returns a fingerprint for each finding, in the order given. Findings that are alike are numbered by their positions.
    pub fn of_file(text: &[u8], findings: &[FindingKey<'_>]) -> Vec<Self> {
        let kinds = Self::kinds(text, findings);
        let mut order: Vec<usize> = (0..findings.len()).collect();
        order.sort_by_key(|index| (findings[*index].cell, findings[*index].span));
        let mut seen: HashMap<Self, u32> = HashMap::new();
        let mut numbered = kinds.clone();
        for index in order {
            let count = seen.entry(kinds[index]).or_default();
            numbered[index] = kinds[index].numbered(*count);
            *count += 1;
        }
        numbered
    }

    /// Returns the fingerprints of [`of_file`](Self::of_file), but for all that are alike that of their first.
    pub fn kinds(text: &[u8], findings: &[FindingKey<'_>]) -> Vec<Self> {
        if findings.is_empty() {
            return Vec::new();
        }
        let contexts = Contexts::new(text, findings);
        findings.iter().map(|it| Self::of(it, &contexts.of(it))).collect()
    }

    /// 64 hexadecimal digits, as they are displayed.
    pub fn from_hex(hex: &str) -> Option<Self> {
        let digits = hex.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |it: u8| (it as char).to_digit(16);
            *byte = u8::try_from(digit(pair[0])? << 4 | digit(pair[1])?).ok()?;
        }
        Some(Self(bytes))
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    fn of(key: &FindingKey<'_>, context: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("broker finding fingerprint 1");
        let what = if context.is_empty() { key.message.as_bytes() } else { context };
        // Lengths keep the parts apart.
        for part in [key.linter.as_bytes(), key.code.as_bytes(), &[u8::from(context.is_empty())], what] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(*hasher.finalize().as_bytes())
    }

    fn numbered(self, count: u32) -> Self {
        if count == 0 {
            return self;
        }
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&count.to_le_bytes());
        Self(*hasher.finalize().as_bytes())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex()[..16])
    }
}

/// Finds the lines that findings are about.
pub(crate) struct Contexts<'a> {
    table: LineTable<'a>,
    text: &'a [u8],
    cells: HashMap<&'a str, LineTable<'a>>,
}

impl<'a> Contexts<'a> {
    pub(crate) fn new(text: &'a [u8], findings: &[FindingKey<'a>]) -> Self {
        let cells = findings.iter().filter_map(|it| it.cell);
        let cells = cells.map(|it| (it, LineTable::new(it.as_bytes()))).collect();
        Self { table: LineTable::new(text), text, cells }
    }

    /// The lines of the finding's span, with each run of white space as one space. Nothing for the empty span at the file's
    /// start, which stands for the whole file: its first line has no more to do with the finding than any other.
    pub(crate) fn of(&self, key: &FindingKey<'_>) -> Vec<u8> {
        if key.cell.is_none() && key.span == Span::new(0, 0) {
            return Vec::new();
        }
        let (text, table) = match key.cell {
            Some(cell) => (cell.as_bytes(), self.cells.get(cell)),
            None => (self.text, Some(&self.table)),
        };
        let Some(table) = table else { return Vec::new() };
        let lines = slice(text, lines(table, key.span));
        if lines.len() <= MAX_BYTES {
            return normalised(lines);
        }
        let own = slice(text, key.span);
        normalised(&own[..own.len().min(MAX_BYTES)])
    }
}

/// From the start of the first line to the end of the last. A span that ends where a line begins does not
/// reach into it.
fn lines(table: &LineTable<'_>, span: Span) -> Span {
    let first = table.utf8(span.start).line;
    let last = last_line(table, span).min(first + MAX_LINES - 1);
    let of = |line| table.line_span(line).unwrap_or(span);
    Span::new(of(first).start, of(last).end)
}

/// The line that holds the last byte of a span, or its start if it is empty.
pub(crate) fn last_line(table: &LineTable<'_>, span: Span) -> u32 {
    table.utf8(span.end.saturating_sub(1).max(span.start)).line
}

fn normalised(text: &[u8]) -> Vec<u8> {
    let words = text.split(u8::is_ascii_whitespace).filter(|it| !it.is_empty());
    let mut normal = Vec::with_capacity(text.len());
    for word in words {
        if !normal.is_empty() {
            normal.push(b' ');
        }
        normal.extend_from_slice(word);
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at<'a>(text: &str, part: &str, code: &'a str) -> FindingKey<'a> {
        let start = text.find(part).unwrap() as u32;
        let span = Span::new(start, start + part.len() as u32);
        FindingKey { linter: "l", code, name: None, message: "m", cell: None, span }
    }

    fn one(text: &str, part: &str, code: &str) -> Fingerprint {
        Fingerprint::of_file(text.as_bytes(), &[at(text, part, code)])[0]
    }

    #[test]
    fn survives_moves_indentation_and_edits_elsewhere() {
        let before = one("a\nlet  x = 1;\nb\n", "x", "R");
        assert_eq!(before, one("b\n\n\n    let x\t= 1;\r\nc", "x", "R"));
        assert_ne!(before, one("let y = x;\n", "x", "R"), "another text");
        assert_ne!(before, one("let x = 1;\n", "x", "S"), "another rule");
    }

    #[test]
    fn those_alike_are_numbered_from_the_top() {
        let text = "x\ny\nx\n";
        let (first, last) = (at(text, "x", "R"), FindingKey { span: Span::new(4, 5), ..at(text, "x", "R") });
        let forth = Fingerprint::of_file(text.as_bytes(), &[first, last]);
        let back = Fingerprint::of_file(text.as_bytes(), &[last, first]);
        assert_eq!(forth, [back[1], back[0]]);
        assert_ne!(forth[0], forth[1]);
        assert_eq!(Fingerprint::kinds(text.as_bytes(), &[first, last]), [forth[0]; 2]);
    }

    #[test]
    fn the_message_counts_where_there_is_no_text() {
        let key = |message| FindingKey { message, ..at("", "", "R") };
        let of = |message| Fingerprint::of_file(b"\n", &[key(message)])[0];
        assert_ne!(of("a"), of("b"));
        assert_eq!(of("a"), of("a"));
    }

    #[test]
    fn what_is_about_the_whole_file_does_not_depend_on_its_first_line() {
        let at = |end| FindingKey { span: Span::new(0, end), ..at("", "", "R") };
        let of = |text: &[u8], end| Fingerprint::of_file(text, &[at(end)])[0];
        assert_eq!(of(b"x = 1\n", 0), of(b"# comment\nx = 1\n", 0));
        assert_ne!(of(b"x = 1\n", 1), of(b"# comment\nx = 1\n", 1));
    }

    #[test]
    fn a_long_span_is_known_by_its_first_lines() {
        let text = |last: &str| format!("def f():\n  1\n  2\n  3\n  4\n  {last}\n");
        let of = |text: &str| one(text, text, "R");
        assert_eq!(of(&text("5")), of(&text("6")));
    }

    #[test]
    fn of_a_very_long_line_the_span_counts() {
        let text = |rest: &str| format!("var a; {}", rest.repeat(MAX_BYTES));
        assert_eq!(one(&text("b"), "var a", "R"), one(&text("c"), "var a", "R"));
    }

    #[test]
    fn the_text_of_a_cell_counts_in_a_notebook() {
        let key = |cell| FindingKey { cell: Some(cell), ..at("import os", "import os", "R") };
        let of = |text: &[u8], cell| Fingerprint::of_file(text, &[key(cell)])[0];
        assert_eq!(of(b"{}", "import os\n"), of(b"{ }", " import os"));
        assert_ne!(of(b"{}", "import os\n"), of(b"{}", "import sys\n"));
    }

    #[test]
    fn hexadecimal_there_and_back() {
        let it = one("x", "x", "R");
        assert_eq!(Fingerprint::from_hex(&it.to_string()), Some(it));
        let bad = ["".to_owned(), "0".repeat(63), "g".repeat(64), "é".repeat(32)];
        assert!(bad.iter().all(|it| Fingerprint::from_hex(it).is_none()));
    }

    #[test]
    fn nothing_is_believed_of_spans() {
        let key = FindingKey { span: Span::new(9, 3), ..at("x", "x", "R") };
        assert_eq!(Fingerprint::of_file(b"x", &[key]).len(), 1);
    }
}
