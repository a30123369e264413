//! Here-documents of scripts.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use memchr::memmem;

use super::examples::lines;

/// The line that ends a here-document.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct End<'a> {
    word: &'a [u8],
    /// Whether blanks may precede the word.
    is_indented: bool,
}

impl<'a> End<'a> {
    /// Returns both ends that a line may be: the whole line, and the line without the blanks around it.
    fn both(line: &'a [u8]) -> [Self; 2] {
        [(line, false), (line.trim_ascii(), true)].map(|(word, is_indented)| Self { word, is_indented })
    }
}

/// Every here-document whose end stands on a later line. Anything else behind `<<` is an operand.
pub(super) fn here_documents(text: &[u8], is_shell: bool) -> Vec<Range<usize>> {
    let last: HashMap<End<'_>, usize> =
        lines(text).flat_map(|(start, line)| End::both(line).map(|it| (it, start))).collect();
    let mut found = Vec::new();
    let mut open = VecDeque::new();
    let mut from = 0;
    for (start, line) in lines(text) {
        let is_inside = !open.is_empty();
        if !is_inside {
            from = start + line.len();
            open.extend(ends(line, is_shell));
        } else if End::both(line).contains(&open[0]) {
            open.pop_front();
        }
        while open.front().is_some_and(|it| last.get(it).is_none_or(|it| *it <= start)) {
            open.pop_front();
        }
        if is_inside && open.is_empty() {
            found.push(from..start);
        }
    }
    found
}

/// The ends of the here-documents that a line begins, if they are some.
fn ends(line: &[u8], is_shell: bool) -> impl Iterator<Item = End<'_>> {
    let is_comment = line.trim_ascii_start().starts_with(b"#");
    let signs = memmem::find_iter(line, b"<<").filter(move |_| !is_comment);
    signs.filter(|at| is_operator(line, *at)).filter_map(move |at| end(&line[at + 2..], is_shell))
}

/// Whether `<<` is neither part of a longer operator nor a shift in `((…))`.
fn is_operator(line: &[u8], at: usize) -> bool {
    let (before, after) = (&line[..at], &line[at + 2..]);
    let is_arithmetic =
        memmem::rfind(before, b"((").is_some_and(|it| memmem::find(&before[it..], b"))").is_none());
    !before.ends_with(b"<") && !after.starts_with(b"<") && !is_arithmetic
}

/// The end that what follows `<<` names. Only shells allow a blank there.
fn end(text: &[u8], is_shell: bool) -> Option<End<'_>> {
    let plain = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"~"));
    let is_indented = plain.is_some();
    let text = plain.unwrap_or(text);
    let text = if is_shell { text.trim_ascii_start() } else { text };
    let word = match text.split_first()? {
        (quote @ (b'\'' | b'"'), rest) => &rest[..memchr::memchr(*quote, rest)?],
        (b'\\', rest) => word(rest),
        _ => word(text),
    };
    (!word.is_empty()).then_some(End { word, is_indented })
}

/// The name that a text begins with.
fn word(text: &[u8]) -> &[u8] {
    let count = text.iter().take_while(|it| it.is_ascii_alphanumeric() || **it == b'_').count();
    if text.first().is_some_and(u8::is_ascii_digit) { &[] } else { &text[..count] }
}
