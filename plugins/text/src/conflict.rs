//! Unresolved merge conflicts. A lone line of `=======` is no finding: it underlines headings; nor are examples in tests.

mod examples;
mod here_document;
mod listing;
mod literal;

use std::path::Path;

use broker_plugin_sdk::{Diagnostic, Severity};
use memchr::memmem;

use crate::rules::MERGE_CONFLICT;
use examples::Examples;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Kind of conflict marker at the start of a line.
#[derive(Clone, Copy, PartialEq)]
enum Marker {
    Ours,
    Base,
    Split,
    Theirs,
}

/// Reports each complete conflict at its first marker.
pub(crate) fn check(path: &Path, content: &[u8], found: &mut Vec<Diagnostic>) {
    let mut from = 0;
    let mut examples = None;
    while let Some(start) = next_opening(content, from) {
        let Some(end) = closing(content, start) else {
            from = line_end(content, start);
            continue;
        };
        let examples = examples.get_or_insert_with(|| Examples::new(path, content));
        if is_edit_block(&content[start..end]) || examples.contains(start) {
            from = end;
            continue;
        }
        let mut diagnostic =
            Diagnostic::new(MERGE_CONFLICT, message(content, start), start..line_text_end(content, start));
        diagnostic.severity = Severity::Error;
        found.push(diagnostic);
        from = end;
    }
}

/// Whether lines are an edit block in the form that models are asked for, which git never writes.
fn is_edit_block(lines: &[u8]) -> bool {
    let first = &lines[..line_text_end(lines, 0)];
    first.trim_ascii_end() == b"<<<<<<< SEARCH" && lines.trim_ascii_end().ends_with(b"\n>>>>>>> REPLACE")
}

/// The next line that opens a conflict.
fn next_opening(content: &[u8], from: usize) -> Option<usize> {
    let rest = content.get(from..)?;
    let hits = memmem::find_iter(rest, b"<<<<<<<").map(|it| from + it);
    let mut starts =
        hits.filter(|it| content[..*it].ends_with(b"\n") || matches!(&content[..*it], b"" | BYTE_ORDER_MARK));
    starts.find(|it| marker(&content[*it..line_text_end(content, *it)]) == Some(Marker::Ours))
}

/// Returns the end of the conflict that opens at `start`, if its markers follow in order.
fn closing(content: &[u8], start: usize) -> Option<usize> {
    let mut last = Marker::Ours;
    let mut at = line_end(content, start);
    while at < content.len() {
        let end = line_end(content, at);
        let next = match (last, marker(&content[at..line_text_end(content, at)])) {
            (_, None) => last,
            (Marker::Ours, Some(Marker::Base)) => Marker::Base,
            (Marker::Ours | Marker::Base, Some(Marker::Split)) => Marker::Split,
            (Marker::Split, Some(Marker::Split)) => Marker::Split, // a heading in their side
            (Marker::Split, Some(Marker::Theirs)) => return Some(end),
            _ => return None,
        };
        last = next;
        at = end;
    }
    None
}

fn marker(line: &[u8]) -> Option<Marker> {
    let kind = match line.first()? {
        b'<' => Marker::Ours,
        b'|' => Marker::Base,
        b'=' => Marker::Split,
        b'>' => Marker::Theirs,
        _ => return None,
    };
    let sign = line[0];
    let count = line.iter().take_while(|it| **it == sign).count();
    let label = &line[count..];
    let labelled = match kind {
        Marker::Ours | Marker::Theirs => label.len() > 1 && label[0] == b' ',
        Marker::Base => label.is_empty() || label[0] == b' ',
        Marker::Split => label.is_empty(),
    };
    (count == 7 && labelled).then_some(kind)
}

fn message(content: &[u8], start: usize) -> String {
    let label = String::from_utf8_lossy(&content[start + 8..line_text_end(content, start)]);
    format!("unresolved merge conflict with `{}`", label.trim())
}

/// After the line break.
fn line_end(content: &[u8], from: usize) -> usize {
    memchr::memchr(b'\n', &content[from..]).map_or(content.len(), |it| from + it + 1)
}

/// Before the line break.
fn line_text_end(content: &[u8], from: usize) -> usize {
    let end = memchr::memchr(b'\n', &content[from..]).map_or(content.len(), |it| from + it);
    if end > from && content[end - 1] == b'\r' { end - 1 } else { end }
}

#[cfg(test)]
mod tests;
