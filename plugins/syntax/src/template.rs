//! Whether a file is a template of a file: what it makes fits the grammar, and it does not. One that starts with `---`, as
//! site generators have it, is one whatever else is in it.

use std::ops::Range;

/// Whether a template's tag is on the line of one of the first places that do not fit.
pub(crate) fn is_made<'a>(text: &[u8], places: impl Iterator<Item = &'a Range<usize>>) -> bool {
    has_front_matter(text) || places.take(LOOKED_AT).any(|it| has_tag(line(text, it.start)))
}

/// Whether it starts with a block of YAML between lines of three dashes.
fn has_front_matter(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut lines = text.split(|it| *it == b'\n').map(<[u8]>::trim_ascii_end);
    lines.next() == Some(b"---") && lines.any(|it| it == b"---")
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
