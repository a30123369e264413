//! The Reviewdog Diagnostic Format: columns count bytes, from 1.
//!
//! A suggestion replaces one range, and reviewdog offers each by itself: a fix of several edits, each of
//! which is wrong without the others, is none. If the text has changed meanwhile, only lines are reported. An
//! incomplete answer is an error without a range.

use std::io::{self, Write};

use check_engine::{Finding, Fix, Incomplete};
use lint::{Applicability, LineTable, Severity, Span};
use serde::Serialize;

use super::{INCOMPLETE, Page, placed_message, summary, text::Text};

const BOM: &[u8] = b"\xef\xbb\xbf";

#[derive(Serialize)]
struct Diagnostic<'a> {
    message: String,
    location: Location<'a>,
    severity: &'static str,
    source: Source,
    code: Code<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<Suggestion<'a>>,
}

#[derive(Serialize)]
struct Location<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<Range>,
}

#[derive(Serialize)]
struct Range {
    start: Position,
    end: Position,
}

#[derive(Serialize)]
struct Position {
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
}

#[derive(Serialize)]
struct Source {
    name: &'static str,
}

#[derive(Serialize)]
struct Code<'a> {
    value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
}

#[derive(Serialize)]
struct Suggestion<'a> {
    range: Range,
    text: &'a str,
}

const SOURCE: Source = Source { name: "broker" };

/// Writes one document.
pub(super) fn render(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{\"source\":{},\"diagnostics\":[", serde_json::to_string(&SOURCE)?)?;
    let mut separator = "";
    each(page, |it| {
        writeln!(out, "{separator}")?;
        separator = ",";
        Ok(serde_json::to_writer(&mut *out, it)?)
    })?;
    writeln!(out, "\n]}}")
}

/// Writes one object per line.
pub(super) fn render_lines(page: &Page<'_>, out: &mut dyn Write) -> io::Result<()> {
    each(page, |it| {
        serde_json::to_writer(&mut *out, it)?;
        writeln!(out)
    })
}

/// Hands out one after the other, so that none is held longer than it is written.
fn each(page: &Page<'_>, mut take: impl FnMut(&Diagnostic<'_>) -> io::Result<()>) -> io::Result<()> {
    for of_file in page.report.findings.chunk_by(|a, b| a.file.path == b.file.path) {
        let path = page.workspace.display(&of_file[0].file.path);
        let text = Text::open(page.view, &of_file[0].file.path);
        let table = text.as_ref().map(|it| (it, Columns::new(&it.bytes)));
        for it in of_file {
            let columns = table.as_ref().filter(|(text, _)| text.is_that_of(it));
            take(&finding(it, &path, columns.map(|(_, columns)| columns)))?;
        }
    }
    page.report.incomplete.iter().try_for_each(|it| {
        let path = page.shown_subject(&it.subject);
        take(&incomplete(it, &path))
    })
}

fn finding<'a>(it: &'a Finding, path: &'a str, columns: Option<&Columns<'_>>) -> Diagnostic<'a> {
    let lines = |it: &Finding| {
        let position = |line| Position { line, column: None };
        Range { start: position(it.range.start.line), end: position(it.range.end.line) }
    };
    let range = it.cell.is_none().then(|| columns.map_or_else(|| lines(it), |of| of.range(it.span)));
    let columns = columns.filter(|_| it.cell.is_none());
    Diagnostic {
        message: placed_message(it).into_owned(),
        location: Location { path, range },
        severity: match it.severity {
            Severity::Error => "ERROR",
            Severity::Warning => "WARNING",
            Severity::Info | Severity::Hint => "INFO",
        },
        source: SOURCE,
        code: Code { value: it.rule.to_string(), url: it.rule.url.as_deref() },
        suggestions: columns.map(|of| suggestions(&it.fixes, of)).unwrap_or_default(),
    }
}

fn suggestions<'a>(fixes: &'a [Fix], columns: &Columns<'_>) -> Vec<Suggestion<'a>> {
    let applicable = fixes.iter().filter(|it| it.applicability != Applicability::DisplayOnly);
    let edits = applicable.filter_map(|it| match &*it.edits {
        [edit] => Some(edit),
        [..] => None,
    });
    edits.map(|it| Suggestion { range: columns.range(it.span), text: &it.replacement }).collect()
}

fn incomplete<'a>(it: &Incomplete, path: &'a str) -> Diagnostic<'a> {
    Diagnostic {
        message: summary::incomplete(it),
        location: Location { path, range: None },
        severity: "ERROR",
        source: SOURCE,
        code: Code { value: INCOMPLETE.to_owned(), url: None },
        suggestions: Vec::new(),
    }
}

/// The bytes of a text, counted as reviewdog does, which cuts lines at columns and knows no byte order mark.
struct Columns<'t> {
    table: LineTable<'t>,
    /// The length of the byte order mark.
    mark: u32,
}

impl<'t> Columns<'t> {
    fn new(text: &'t [u8]) -> Self {
        Self { table: LineTable::new(text), mark: if text.starts_with(BOM) { 3 } else { 0 } }
    }

    fn range(&self, span: Span) -> Range {
        Range { start: self.position(span.start), end: self.position(span.end) }
    }

    fn position(&self, offset: u32) -> Position {
        let at = self.table.utf8(offset);
        let mark = if at.line == 1 && offset >= self.mark { self.mark } else { 0 };
        Position { line: at.line, column: Some(at.column + mark) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, fixture};

    #[test]
    fn looks_so() {
        insta::assert_snapshot!(fixture::render(Format::Rdjson));
    }

    #[test]
    fn looks_so_in_lines() {
        insta::assert_snapshot!(fixture::render(Format::Rdjsonl));
    }

    #[track_caller]
    fn check(text: &str, offset: u32, line: u32, column: u32) {
        let at = Columns::new(text.as_bytes()).position(offset);
        assert_eq!((at.line, at.column), (line, Some(column)), "{text:?} {offset}");
    }

    #[test]
    fn columns_count_bytes() {
        check("a𐐀b", 5, 1, 6);
        check("\ta\r\n\tb", 5, 2, 2);
        check("\u{feff}ab\nc", 4, 1, 5);
        check("\u{feff}ab\nc", 3, 1, 4);
        check("\u{feff}ab\nc", 0, 1, 1);
        check("\u{feff}ab\nc", 6, 2, 1);
    }
}
