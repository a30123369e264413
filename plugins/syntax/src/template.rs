//! Whether a file is a template of a file: what it makes fits the grammar, and it does not.

use std::ops::Range;

/// Whether a template's tag is on the line of one of the first places that do not fit.
pub(crate) fn is_made<'a>(text: &[u8], places: impl Iterator<Item = &'a Range<usize>>) -> bool {
    places.take(LOOKED_AT).any(|it| has_tag(line(text, it.start)))
}

/// A template is wrong from its first tag on.
const LOOKED_AT: usize = 3;

fn line(text: &[u8], at: usize) -> &[u8] {
    let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |it| it + 1);
    let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |it| at + it);
    &text[start..end]
}

/// `{% … %}` of Jinja, Liquid and their like, `<% … %>` of ERB and its like, `{{ … }}` of all but these.
fn has_tag(line: &[u8]) -> bool {
    let has = |part: &[u8]| memchr::memmem::find(line, part).is_some();
    has(b"{%") || has(b"%}") || (has(b"<%") && has(b"%>")) || (has(b"{#") && has(b"#}")) || has_value(line)
}

/// Brackets that happen to stand side by side enclose more, or less, than a tag does.
fn has_value(line: &[u8]) -> bool {
    let Some(start) = memchr::memmem::find(line, b"{{") else { return false };
    let Some(length) = memchr::memmem::find(&line[start..], b"}}") else { return false };
    let inner = &line[start + 2..start + length];
    inner.iter().any(u8::is_ascii_alphanumeric) && !inner.iter().any(|it| matches!(it, b',' | b';' | b'{'))
}
