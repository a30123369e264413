//! Listings of documents: in Markdown, which may lack their end, and in AsciiDoc, whose delimiters also underline titles.

use std::collections::HashMap;
use std::ops::Range;

use super::examples::lines;

/// A line of backticks or tildes.
#[derive(Clone, Copy)]
struct Fence {
    sign: u8,
    count: usize,
    /// Whether text follows the fence, such as a language.
    is_labelled: bool,
}

impl Fence {
    /// The fence that a line is, a list's item or a quotation as well.
    fn new(line: &[u8]) -> Option<Self> {
        let lead = line.iter().take_while(|it| b" \t>-*+.)0123456789".contains(it));
        let line = line[lead.count()..].trim_ascii_end();
        let sign = *line.first().filter(|it| matches!(it, b'`' | b'~'))?;
        let count = line.iter().take_while(|it| **it == sign).count();
        let label = &line[count..];
        // Code within a line has backticks again.
        let is_fence = count >= 3 && !(sign == b'`' && label.contains(&b'`'));
        is_fence.then_some(Self { sign, count, is_labelled: !label.is_empty() })
    }

    fn closes(self, first: Self) -> bool {
        self.sign == first.sign && self.count >= first.count && !self.is_labelled
    }
}

pub(super) fn of_markdown(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<(usize, Fence)> = None;
    for (start, line) in lines(text) {
        let Some(fence) = Fence::new(line) else { continue };
        match open {
            None => open = Some((start, fence)),
            Some((from, first)) if fence.closes(first) => {
                found.push(from..start);
                open = None;
            }
            Some(_) => {}
        }
    }
    found.extend(open.map(|(from, _)| from..text.len()));
    found
}

/// Listings and literal blocks that have an end.
pub(super) fn of_asciidoc(text: &[u8]) -> Vec<Range<usize>> {
    let lines = || lines(text).map(|(start, line)| (start, line.trim_ascii_end()));
    // The last place of each delimiter.
    let last: HashMap<&[u8], usize> =
        lines().filter(|it| delimiter(it.1) == Some(it.1)).map(|(start, line)| (line, start)).collect();
    let mut found = Vec::new();
    let mut open: Option<(usize, &[u8])> = None;
    let mut before: [&[u8]; 2] = [b"", b""];
    for (start, line) in lines() {
        match (open, delimiter(line)) {
            (Some((from, first)), _) if line == first => {
                found.push(from..start);
                open = None;
            }
            (None, Some(sign)) if !is_title(before, line) => {
                open = last.get(sign).filter(|it| **it > start).map(|_| (start, sign));
            }
            _ => {}
        }
        before = [before[1], line];
    }
    found
}

/// Returns the delimiter that ends the block whose first line is `line`.
fn delimiter(line: &[u8]) -> Option<&[u8]> {
    let first = *line.first()?;
    let count = line.iter().take_while(|it| **it == first).count();
    match first {
        b'-' | b'.' => (count >= 4 && count == line.len()).then_some(line),
        b'`' => (count == 3).then(|| &line[..3]),
        _ => None,
    }
}

/// Whether a line of hyphens underlines the line above, which starts its paragraph and has the same length but for one character,
/// the rule of Asciidoctor.
fn is_title(before: [&[u8]; 2], line: &[u8]) -> bool {
    let [above, title] = before;
    let length = String::from_utf8_lossy(title).chars().count();
    let is_text = |it: &[u8]| it.first().is_some_and(|it| it.is_ascii_alphanumeric() || !it.is_ascii());
    line.starts_with(b"-") && is_text(title) && !is_text(above) && length.abs_diff(line.len()) <= 1
}
