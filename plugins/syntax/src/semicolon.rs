//! Semicolons that were forgotten at the end of a line.
//!
//! tree-sitter often rather skips what is before or after the place than to put a semicolon there. So one is put there,
//! and if that makes the text better, it was missing.

use crate::places::{Place, What};

/// Says of the first place that a semicolon is missing, if that is so.
pub(crate) fn look(language: &str, text: &[u8], found: &mut [Place], is_better: impl Fn(Vec<u8>) -> bool) {
    let Some(first) = found.first_mut() else { return };
    if first.what != What::Unexpected || !ends_statements(language) {
        return;
    }
    let Some(at) = line_end(text, first.range.start) else { return };
    let with = [&text[..at], b";", &text[at..]].concat();
    if is_better(with) {
        *first = Place { range: at..at, what: What::Missing { kind: ";".to_owned(), is_named: false } };
    }
}

fn ends_statements(language: &str) -> bool {
    matches!(language, "csharp" | "dart" | "java" | "php" | "proto" | "rust" | "zig")
}

/// The end of the place's line, or of the one before if the place is the first in its line. `None`: nothing ends there.
fn line_end(text: &[u8], place: usize) -> Option<usize> {
    let line = memchr::memrchr(b'\n', &text[..place]).map_or(0, |it| it + 1);
    let is_first = text[line..place].trim_ascii().is_empty();
    let end = memchr::memchr(b'\n', &text[place..]).map_or(text.len(), |it| place + it);
    let at = text[..if is_first { line } else { end }].trim_ascii_end().len();
    let last = *text[..at].last()?;
    (last.is_ascii_alphanumeric() || matches!(last, b')' | b']' | b'}' | b'"' | b'\'' | b'_' | b'?'))
        .then_some(at)
}
