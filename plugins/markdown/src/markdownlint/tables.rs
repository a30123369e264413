//! Rows of tables: MD055 and MD056.

use std::ops::Range;

use rumdl_lib::rule::LintWarning;

use super::page::{Page, Table};

/// A row of a table.
pub(super) struct Row<'a> {
    pub(super) text: &'a str,
    /// Offset of the row in the page.
    pub(super) start: usize,
    /// Offsets of its pipes, counted from its start.
    pub(super) pipes: Vec<usize>,
}

impl<'a> Row<'a> {
    fn new(page: &Page<'a>, range: &Range<usize>) -> Self {
        let text = &page.text[range.clone()];
        Self { text, start: range.start, pipes: pipes(text) }
    }

    fn edges(&self) -> Edges {
        let is_last = |it: &usize| it + 1 == self.text.len();
        Edges { leading: self.pipes.first() == Some(&0), trailing: self.pipes.last().is_some_and(is_last) }
    }

    fn cells(&self) -> usize {
        let Edges { leading, trailing } = self.edges();
        (self.pipes.len() + 1).saturating_sub(usize::from(leading) + usize::from(trailing))
    }

    fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    pub(super) fn pipe(&self, at: usize) -> Range<usize> {
        self.start + at..self.start + at + 1
    }
}

/// Pipes that no backslash makes part of a cell.
fn pipes(row: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut is_escaped = false;
    for (at, byte) in row.bytes().enumerate() {
        if byte == b'|' && !is_escaped {
            found.push(at);
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
    found
}

pub(super) fn rows<'a>(page: &Page<'a>, table: &Table) -> Vec<Row<'a>> {
    table.iter().map(|it| Row::new(page, it)).collect()
}

/// Pipes at the ends of a row.
#[derive(Clone, Copy, PartialEq)]
struct Edges {
    leading: bool,
    trailing: bool,
}

impl Edges {
    /// None: as those of the first row are.
    fn of_style(style: &str) -> Option<Self> {
        let edges = |leading, trailing| Some(Self { leading, trailing });
        match style {
            "consistent" => None,
            "leading_only" => edges(true, false),
            "trailing_only" => edges(false, true),
            "no_leading_or_trailing" => edges(false, false),
            _ => edges(true, true),
        }
    }
}

pub(super) fn pipe_style(page: &Page<'_>) -> Vec<LintWarning> {
    let mut wanted = Edges::of_style(page.style("MD055", "consistent"));
    let mut found = Vec::new();
    for row in page.tables.iter().flat_map(|it| rows(page, it)) {
        let wanted = *wanted.get_or_insert_with(|| row.edges());
        let has = row.edges();
        if has.leading != wanted.leading {
            found.push(leading(page, &row, wanted.leading));
        }
        if has.trailing != wanted.trailing {
            found.push(trailing(page, &row, wanted.trailing));
        }
    }
    found
}

fn leading(page: &Page<'_>, row: &Row<'_>, is_wanted: bool) -> LintWarning {
    let inner = row.text.strip_prefix('|').unwrap_or(row.text).trim_start();
    let (end, new) = if is_wanted { (row.start, "| ") } else { (row.range().end - inner.len(), "") };
    edge(page, row.start..end, new, is_wanted, "leading")
}

fn trailing(page: &Page<'_>, row: &Row<'_>, is_wanted: bool) -> LintWarning {
    let end = row.range().end;
    let inner = row.text.strip_suffix('|').unwrap_or(row.text).trim_end();
    let (start, new) = if is_wanted { (end, " |") } else { (row.start + inner.len(), "") };
    edge(page, start..end, new, is_wanted, "trailing")
}

fn edge(page: &Page<'_>, range: Range<usize>, new: &str, is_wanted: bool, side: &str) -> LintWarning {
    let what = if is_wanted { "Missing" } else { "Unexpected" };
    let mut found = page.finding("MD055", range.clone(), format!("{what} {side} pipe of a table's row"));
    found.fix = Some(page.edit(range, new));
    found
}

pub(super) fn column_count(page: &Page<'_>) -> Vec<LintWarning> {
    let of_table = |table: &Table| {
        let rows = rows(page, table);
        let wants = rows.first().map_or(0, Row::cells);
        let wrong = rows.into_iter().filter(move |it| it.cells() != wants);
        let found = wrong.map(move |it| {
            page.finding(
                "MD056",
                it.range(),
                format!("Table row has {} cells, but expected {wants}", it.cells()),
            )
        });
        found.collect::<Vec<_>>()
    };
    page.tables.iter().flat_map(of_table).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_rows() {
        let cells = |text: &str| {
            let row = Row { text, start: 0, pipes: pipes(text) };
            (row.cells(), row.edges().leading, row.edges().trailing)
        };
        assert_eq!(cells("| a | b |"), (2, true, true));
        assert_eq!(cells("a | `x || y` | b"), (5, false, false));
        assert_eq!(cells(r"| a \| b | c \\|"), (2, true, true));
        assert_eq!(cells(r"a \|"), (1, false, false));
    }
}
