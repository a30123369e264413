//! Sketches: the changed pieces of a file, with markers where lines of the file stay.
//!
//! The deciding principle: of all arrangements of the sketch's lines on the file's, the one counts that changes least,
//! which keeps what the sketch does not mention. [`candidates`] finds what each line of the sketch may be, [`alignment`]
//! finds the best arrangement and [`render`] makes its text. [`rivals`] asks for others; where one that leads to another
//! text is as good, [`verdict`] refuses the sketch and shows both.

mod alignment;
mod bounds;
mod builder;
mod candidate;
mod candidates;
mod copies;
mod costs;
mod definitions;
mod file_lines;
mod indentation;
mod judge;
mod layers;
mod literal;
mod markers;
mod members;
mod pairs;
mod places;
mod render;
mod replacements;
mod rivals;
mod rows;
mod siblings;
mod syntax;
mod verdict;
mod vetoes;

use self::{
    alignment::{Constraints, POSSIBLE, align},
    bounds::Bounds,
    candidate::Candidates,
    file_lines::FileLines,
    judge::Judge,
    rows::Row,
    verdict::Placed,
};
pub(super) use self::{
    markers::has_marker,
    rows::{Sketch, read},
};
use super::{
    outcome::{Changed, Reason, Refused},
    parser::Parser,
    text::Text,
};

/// Rows times lines from which on not even what each row may be is looked at.
const MAX_PLACES: usize = 40 << 20;

/// Lines of the file that the rows may be, as far as they are the same.
const MAX_PAIRS: usize = 1 << 20;

/// Rows times columns of all runs, of which there is one for each piece at least.
const MAX_RIVAL_CELLS: usize = 128 << 20;

/// Rows times columns of one run of the alignment.
const MAX_CELLS: usize = 4 << 20;

/// The text that a file has after a sketch.
pub(super) fn apply(file: &Text<'_>, edit: &str, parser: &Parser<'_>) -> Result<Changed, Refused> {
    place(file, read(file.lines(), edit, parser.kind)?, parser).map(|it| it.changed)
}

pub(super) fn place(file: &Text<'_>, sketch: Sketch<'_>, parser: &Parser<'_>) -> Result<Placed, Refused> {
    placed(file, sketch, parser, false)
}

fn placed(
    file: &Text<'_>,
    mut sketch: Sketch<'_>,
    parser: &Parser<'_>,
    is_retry: bool,
) -> Result<Placed, Refused> {
    if sketch.rows.len().saturating_mul(file.lines().len()) > MAX_PLACES {
        return Err(Reason::LongSketch { rows: sketch.rows.len() }.into());
    }
    let notes = indentation::adapt(&mut sketch, file.lines());
    let lines = FileLines::new(file.lines());
    let is_row = |it: &&Row<'_>| !it.is_marker && !it.is_blank();
    let pairs = sketch.rows.iter().filter(is_row).map(|it| lines.places(it.text.trim()).len());
    if pairs.sum::<usize>() > MAX_PAIRS {
        return Err(Reason::LongSketch { rows: sketch.rows.len() }.into());
    }
    let all = Candidates::new(&sketch, lines, parser);
    let cells = all.rows.len().saturating_mul(all.columns.len());
    if cells > MAX_CELLS || cells.saturating_mul(sketch.pieces().len()) > MAX_RIVAL_CELLS {
        return Err(Reason::LongSketch { rows: all.rows.len() }.into());
    }
    parser.tools.go_on()?;
    let bounds = Bounds::new(&all);
    let Some(best) = align(&all, &Constraints::default(), &bounds, POSSIBLE) else {
        let said = || sketch.rows.iter().filter(|it| !it.is_marker).map(|it| it.number);
        let (first, last) = (said().min().unwrap_or(1), said().max().unwrap_or(1));
        return Err(Reason::NoAnchor { first, last }.into());
    };
    Judge { file, sketch: &sketch, all: &all, bounds: &bounds, parser, is_retry }.judged(best, notes)
}
