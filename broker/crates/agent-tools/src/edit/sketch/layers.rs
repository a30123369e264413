//! Rows of the alignment's table: scores of the columns that are still looked at, and the way to each of them.

use super::file_lines::Score;

/// Less than any arrangement earns.
pub(super) const NEVER: Score = -100_000_000;

/// States by what was met last: nothing since a marker, an anchor, or a change.
pub(super) const LOOSE: usize = 0;
pub(super) const ANCHORED: usize = 1;
pub(super) const CHANGED: usize = 2;
pub(super) const STATES: usize = 3;

/// Origin of a cell: the number of a step in the upper bits, then the state and the column before.
pub(super) type Back = u32;

const COLUMN_BITS: u32 = 24;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Start,
    Insert,
    Match,
    Substitution,
    /// Within a row, after its own step.
    Delete,
    Skip,
}

const STEPS: [Step; 6] =
    [Step::Start, Step::Insert, Step::Match, Step::Substitution, Step::Delete, Step::Skip];

pub(super) fn back(step: Step, state: usize, column: usize) -> Back {
    let column = u32::try_from(column).unwrap_or_default();
    (step as u32) << 28 | u32::try_from(state).unwrap_or_default() << COLUMN_BITS | column
}

pub(super) fn parts(back: Back) -> (Step, usize, usize) {
    let state = (back >> COLUMN_BITS & 0xf) as usize;
    (STEPS[(back >> 28) as usize], state, (back & ((1 << COLUMN_BITS) - 1)) as usize)
}

/// Values by state and column, from the first column that is looked at.
#[derive(Debug, Clone)]
pub(super) struct Layer<T> {
    pub(super) first: usize,
    pub(super) values: [Vec<T>; STATES],
}

impl<T: Copy> Layer<T> {
    pub(super) fn new(first: usize, length: usize, value: T) -> Self {
        Self { first, values: [(); STATES].map(|()| vec![value; length]) }
    }

    /// Returns the column after the last one.
    pub(super) fn end(&self) -> usize {
        self.first + self.values[LOOSE].len()
    }

    pub(super) fn get(&self, state: usize, column: usize) -> Option<T> {
        self.values[state].get(column.checked_sub(self.first)?).copied()
    }

    pub(super) fn at(&mut self, state: usize, column: usize) -> Option<&mut T> {
        self.values[state].get_mut(column.checked_sub(self.first)?)
    }

    /// Leaves out columns at both ends.
    pub(super) fn cut(&mut self, first: usize, end: usize) {
        let (from, length) = (first - self.first, end.saturating_sub(first));
        for it in &mut self.values {
            it.drain(..from);
            it.truncate(length);
        }
        self.first = first;
    }
}

impl Layer<Score> {
    pub(super) fn score(&self, state: usize, column: usize) -> Score {
        self.get(state, column).unwrap_or(NEVER)
    }

    pub(super) fn best(&self, column: usize) -> Score {
        [LOOSE, ANCHORED, CHANGED].map(|it| self.score(it, column)).into_iter().max().unwrap_or(NEVER)
    }

    pub(super) fn highest(&self) -> Score {
        self.values.iter().flatten().copied().max().unwrap_or(NEVER)
    }

    /// Changes the scores of a column in all states.
    pub(super) fn add(&mut self, column: usize, more: Score) {
        for state in 0..STATES {
            if let Some(it) = self.at(state, column) {
                *it += more;
            }
        }
    }
}
