//! Converts offsets in the code that ruff concatenates from a notebook's cells to offsets in one cell.
//!
//! Every code cell is followed there by a line break that is not in the notebook. Leaves out the notebook's
//! outputs and metadata.

use broker_plugin_sdk::Span;
use ruff_notebook::{Cell, Notebook, SourceValue};
use ruff_text_size::TextRange;

/// A notebook's cells, and where ruff sees those that it reads.
pub(crate) struct Cells {
    texts: Vec<String>,
    seen: Vec<Seen>,
}

/// A cell that ruff reads.
struct Seen {
    /// Index of the cell in the notebook.
    index: u32,
    /// Start in the code that ruff reads.
    start: u32,
    /// End without the line break that ruff adds.
    end: u32,
}

impl Cells {
    pub(crate) fn new(notebook: &Notebook) -> Self {
        let texts = notebook.cells().iter().map(|it| text(source_of(it))).collect();
        let indices = notebook.index().iter().map(|it| it.cell_index().to_zero_indexed());
        let seen = indices.zip(notebook.cell_offsets().ranges()).map(|(index, range)| Seen {
            index: u32::try_from(index).unwrap_or(u32::MAX),
            start: range.start().to_u32(),
            end: range.end().to_u32().saturating_sub(1).max(range.start().to_u32()),
        });
        Self { texts, seen: seen.collect() }
    }

    /// The text of every cell, read or not.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.texts.clone()
    }

    /// The cell that `range` starts in. The first, for what stands in no cell.
    pub(crate) fn cell_at(&self, range: TextRange) -> u32 {
        let after = self.seen.partition_point(|it| it.start <= range.start().to_u32());
        after.checked_sub(1).and_then(|it| self.seen.get(it)).map_or(0, |it| it.index)
    }

    /// Returns the part of `range` that lies in `cell`.
    pub(crate) fn clamped(&self, range: TextRange, cell: u32) -> Span {
        let Some(seen) = self.seen(cell) else {
            return Span { start: 0, end: 0 };
        };
        let inside = |it: u32| it.clamp(seen.start, seen.end) - seen.start;
        Span { start: inside(range.start().to_u32()), end: inside(range.end().to_u32()) }
    }

    /// An edit within `cell`; none if it reaches into another. An edit may take in the line break between
    /// two cells: there it stops at the end of the first, as in ruff's own output.
    pub(crate) fn edit<'a>(&self, range: TextRange, content: &'a str, cell: u32) -> Option<(Span, &'a str)> {
        let seen = self.seen(cell)?;
        let (start, end) = (range.start().to_u32(), range.end().to_u32());
        if start < seen.start || start > seen.end + 1 || end > seen.end + 1 {
            return None;
        }
        // A replacement of the added line break ends in one: the notebook must not get it.
        let takes_break = end > seen.end;
        let content = if takes_break { content.strip_suffix('\n').unwrap_or(content) } else { content };
        Some((self.clamped(range, cell), content))
    }

    fn seen(&self, cell: u32) -> Option<&Seen> {
        self.seen.iter().find(|it| it.index == cell)
    }
}

fn source_of(cell: &Cell) -> &SourceValue {
    match cell {
        Cell::Code(it) => &it.source,
        Cell::Markdown(it) => &it.source,
        Cell::Raw(it) => &it.source,
    }
}

fn text(source: &SourceValue) -> String {
    match source {
        SourceValue::String(text) => text.clone(),
        SourceValue::StringArray(lines) => lines.concat(),
    }
}
