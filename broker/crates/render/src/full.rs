//! Each finding with the lines it is about, as a person reads it.

use std::io::{self, Write};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use check_engine::{Finding, Range, Related};
use lint::{Applicability, LineTable, Severity, Span, printable};

use super::{
    BOLD, DIM, HELP, Page, concise, first_line, further_lines, one_line, summary, text::Text, title,
};

/// Lines shown before and after those that a finding is about.
const CONTEXT: u32 = 2;

/// A finding about more lines than this is shown by its first and last ones.
const MANY_LINES: u32 = 10;

/// More text than this is no help to anybody: the lines of a minified file.
const LARGEST_FRAME: usize = 8 << 10;

pub(super) fn render(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    for of_file in page.shown().chunk_by(|a, b| a.file.path == b.file.path) {
        let text = Text::open(page.view, &of_file[0].file.path);
        let table = text.as_ref().map(|it| LineTable::new(&it.bytes));
        for finding in of_file {
            header(page, finding, out)?;
            let frame = match &finding.cell {
                // A check in another process does not report the text.
                Some(cell) if cell.text.is_empty() => None,
                Some(cell) => {
                    let text = cell.text.as_bytes();
                    frame(page, finding, text, &LineTable::new(text))
                }
                None => text.as_ref().zip(table.as_ref()).and_then(|(text, table)| {
                    text.is_that_of(finding).then(|| frame(page, finding, &text.bytes, table))?
                }),
            };
            match frame {
                Some(frame) => writeln!(out, "{frame}")?,
                None => origin(page, finding, out)?,
            }
            footer(page, finding, out)?;
        }
    }
    concise::fixed(page, out)?;
    summary::render(page, out)
}

fn header(page: &Page<'_>, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} {}", title(page, finding), first_line(&finding.message))?;
    further_lines(&finding.message).try_for_each(|line| writeln!(out, "  {line}"))
}

/// Writes the place of the finding, when there are no lines to show.
fn origin(page: &Page<'_>, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let (dim, at) = (page.style(DIM), finding.range.start);
    writeln!(out, " {dim}-->{dim:#} {}:{}:{}", page.shown_file(finding), at.line, at.column)
}

/// Writes notes and help, and the empty line that ends a finding.
fn footer(page: &Page<'_>, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    for related in &*finding.related {
        let note = page.style(BOLD);
        let place = related_place(page, finding, related);
        writeln!(out, "{note}note{note:#}: {} ({place})", one_line(&related.message))?;
    }
    for fix in &*finding.fixes {
        let Some(message) = &fix.message else { continue };
        let (help, unsafe_fix) = (page.style(HELP), fix.applicability == Applicability::Unsafe);
        let caveat = if unsafe_fix { " (unsafe)" } else { "" };
        writeln!(out, "{help}help{help:#}: {}{caveat}", one_line(message))?;
    }
    writeln!(out)
}

fn related_place(page: &Page<'_>, finding: &Finding, related: &Related) -> String {
    let path = match &related.path {
        Some(path) => printable(&page.workspace.display(path)).into_owned(),
        None => page.shown_file(finding),
    };
    match related.range {
        Some(Range { start, .. }) => format!("{path}:{}:{}", start.line, start.column),
        None => path,
    }
}

/// The lines around the finding, drawn; `None` if they would be too long to be read.
fn frame(page: &Page<'_>, finding: &Finding, text: &[u8], table: &LineTable<'_>) -> Option<String> {
    let Range { start, end } = finding.range;
    let first = start.line.saturating_sub(CONTEXT).max(1);
    let last = (end.line.max(start.line) + CONTEXT).min(table.line_count());
    let window = Span::new(table.line_span(first)?.start, table.line_span(last)?.end);
    if (window.end - window.start) as usize > LARGEST_FRAME {
        return None;
    }
    let (source, span) = cut(text, window, finding.span);
    let snippet = Snippet::source(source)
        .line_start(first as usize)
        .fold(last - first > MANY_LINES)
        .path(page.shown_file(finding))
        .annotation(AnnotationKind::Primary.span(span));
    let renderer = if page.color { Renderer::styled() } else { Renderer::plain() };
    Some(renderer.render(&[Group::with_level(level(finding.severity)).element(snippet)]))
}

/// The text of the window and where `span` is in it, even if it is not all UTF-8.
fn cut(text: &[u8], window: Span, span: Span) -> (String, std::ops::Range<usize>) {
    let inside = |offset: u32| start_of_character(text, offset.clamp(window.start, window.end), window.start);
    let part = |from: u32, to: u32| String::from_utf8_lossy(&text[from as usize..to.max(from) as usize]);
    let (start, end) = (inside(span.start), inside(span.end));
    let mut source = part(window.start, start).into_owned();
    let from = source.len();
    source += &part(start, end);
    let to = source.len();
    source += &part(end, window.end);
    (with_line_feeds(source), from..to)
}

/// Replaces each carriage return that ends a line by itself with a line feed: the renderer breaks at no other character.
fn with_line_feeds(text: String) -> String {
    let mut bytes = text.into_bytes();
    for at in 0..bytes.len() {
        if bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n') {
            bytes[at] = b'\n';
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// An offset inside a character stands for its start, as it does for columns.
fn start_of_character(text: &[u8], offset: u32, least: u32) -> u32 {
    let is_inside = |it: u32| text.get(it as usize).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    (least..=offset).rev().take(4).find(|it| !is_inside(*it)).unwrap_or(offset)
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
        Severity::Hint => Level::NOTE,
    }
}

#[cfg(test)]
mod tests {
    use lint::Span;

    use crate::{Format, fixture};

    #[test]
    fn lines_are_those_of_the_columns() {
        let (source, span) = super::cut(b"a\rb\r\nc", Span::new(0, 6), Span::new(2, 5));
        assert_eq!((source.as_str(), span), ("a\nb\r\nc", 2..5));
    }

    #[test]
    fn looks_so() {
        insta::assert_snapshot!(fixture::render(Format::Full));
    }

    #[test]
    fn looks_so_in_color() {
        let text = fixture::render_with(Format::Full, |page| page.color = true);
        insta::assert_snapshot!(text.replace('\u{1b}', "<esc>"));
    }
}
