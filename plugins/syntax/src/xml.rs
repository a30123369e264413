//! Rewrites XML that is valid and unknown to its grammar to equivalents that the grammar accepts.
//!
//! The grammar knows an instruction around the root only, on one line and with a line break after it. In a document type
//! it knows neither references to parameters (`%name;`) between declarations nor elements in the value of an entity.

use std::ops::Range;

use memchr::memmem;

/// Keeps the length of the text, and its lines.
pub(crate) fn fill(text: &mut [u8]) {
    let mut at = if is_declared(text) { 2 } else { 0 };
    while let Some(start) = text.get(at..).and_then(|it| memchr::memchr(b'<', it)).map(|it| at + it) {
        at = match &text[start..] {
            [b'<', b'!', b'D', b'O', b'C', b'T', b'Y', b'P', b'E', ..] => fill_type(text, start + 1),
            _ => fill_markup(text, start),
        };
    }
}

/// Whether the text begins with `<?xml … ?>`, which is a declaration and no instruction, unlike `<?xml-stylesheet … ?>`.
fn is_declared(text: &[u8]) -> bool {
    text.strip_prefix(b"<?xml").and_then(<[u8]>::first).is_some_and(u8::is_ascii_whitespace)
}

/// Blanks an instruction. The result is where to go on: after it, after a comment or a section, or after the `<`.
fn fill_markup(text: &mut [u8], start: usize) -> usize {
    let (begin, end) = match &text[start..] {
        [b'<', b'?', ..] => (2, "?>"),
        [b'<', b'!', b'-', b'-', ..] => (4, "-->"),
        it if it.starts_with(b"<![CDATA[") => (9, "]]>"),
        _ => return start + 1,
    };
    let Some(length) = memmem::find(&text[start + begin..], end.as_bytes()) else { return text.len() };
    let after = start + begin + length + end.len();
    if end == "?>" {
        blank(text, start..after);
    }
    after
}

/// Fills a document type declaration, from its name to its end.
fn fill_type(text: &mut [u8], start: usize) -> usize {
    let mut at = start;
    let mut is_inside = false;
    while let Some(byte) = text.get(at).copied() {
        at = match byte {
            b'<' => fill_markup(text, at),
            b'"' | b'\'' => fill_literal(text, at),
            b'%' if is_inside => fill_reference(text, at),
            b'>' if !is_inside => return at + 1,
            _ => at + 1,
        };
        is_inside = byte == b'[' || is_inside && byte != b']';
    }
    at
}

/// Puts something else for each `<` in a text in quotes.
fn fill_literal(text: &mut [u8], start: usize) -> usize {
    let quote = text[start];
    let Some(length) = memchr::memchr(quote, &text[start + 1..]) else { return text.len() };
    let end = start + 1 + length;
    text[start..end].iter_mut().filter(|it| **it == b'<').for_each(|it| *it = b'x');
    end + 1
}

/// Blanks `%name;`.
fn fill_reference(text: &mut [u8], start: usize) -> usize {
    let is_of_name = |it: &&u8| it.is_ascii_alphanumeric() || b"_:.-".contains(it) || !it.is_ascii();
    let end = start + 1 + text[start + 1..].iter().take_while(is_of_name).count();
    if end > start + 1 && text.get(end) == Some(&b';') {
        blank(text, start..end + 1);
    }
    end
}

fn blank(text: &mut [u8], range: Range<usize>) {
    text[range].iter_mut().filter(|it| **it != b'\n').for_each(|it| *it = b' ');
}
