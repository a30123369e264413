//! Context in which a reading is judged: the file, the sketch, and the candidates for its rows.

use std::ops::Range;

use super::{
    super::{outcome::Reason, parser::Parser, text::Text},
    alignment::Op,
    bounds::Bounds,
    candidate::Candidates,
    file_lines::STRONG,
    rows::Sketch,
};

pub(super) struct Judge<'j, 'a> {
    pub(super) file: &'j Text<'a>,
    pub(super) sketch: &'j Sketch<'j>,
    pub(super) all: &'j Candidates<'j>,
    pub(super) bounds: &'j Bounds,
    pub(super) parser: &'j Parser<'j>,
    /// Whether markers were put into the sketch, to see what it means with them.
    pub(super) is_retry: bool,
}

impl Judge<'_, '_> {
    pub(super) fn several(&self, rows: &[usize]) -> Reason {
        let number = |it: &usize| self.sketch.rows[*it].number;
        let all = self.sketch.rows.iter().filter(|it| !it.is_marker).map(|it| it.number);
        let first = rows.iter().map(number).min().or_else(|| all.clone().min()).unwrap_or(1);
        let last = rows.iter().map(number).max().or_else(|| all.max()).unwrap_or(1);
        Reason::SeveralPlaces { first, last }
    }

    pub(super) fn rows(&self, op: Op) -> Range<usize> {
        match op {
            Op::Match { row, .. } | Op::Insert { row, .. } => row..row + 1,
            Op::Substitution { substitution } => self.all.substitutions[substitution].rows.clone(),
            Op::Skip { .. } | Op::Delete { .. } => 0..0,
        }
    }

    pub(super) fn first_line(&self, op: Op) -> usize {
        match op {
            Op::Match { line, .. } => line,
            Op::Insert { before, .. } => before,
            Op::Substitution { substitution } => self.all.substitutions[substitution].lines.start,
            Op::Skip { from, .. } | Op::Delete { from, .. } => from,
        }
    }

    /// Whether a row begins something new that has a place: a definition, or imports.
    pub(super) fn is_placed(&self, row: usize) -> bool {
        self.all.rows[row].inserts.iter().any(|it| it.1 < 0)
    }

    pub(super) fn is_firm(&self, op: Op) -> bool {
        match op {
            Op::Substitution { .. } => true,
            Op::Match { row, .. } => self.all.weight(&self.sketch.rows[row].text) >= STRONG,
            _ => false,
        }
    }
}
