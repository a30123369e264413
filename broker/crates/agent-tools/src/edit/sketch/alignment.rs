//! The arrangement of a sketch's rows on the lines of a file that earns most.
//!
//! A global alignment by dynamic programming with affine costs of deletions (Gotoh 1982) over rows and columns, in which a
//! marker skips any number of lines for nothing. Lines that stand in the file once are worth most, as in patience diff;
//! definitions are moved as a whole, as in tree differences (GumTree). Three states say whether a change is held on both
//! sides by lines of the file, since what stands next to a marker is new rather than changed.
//!
//! O(rows × columns) for one run. What else a sketch may mean is asked by running it again under constraints.

use std::{
    collections::{BTreeSet, HashSet},
    ops::Range,
};

use super::{
    candidate::{Candidates, Relation},
    costs::{DELETE, DELETE_END, EDGE, EMPTY_MARKER, FORBIDDEN, NO_MARKER, WEAK_EDGE, WORDS},
    file_lines::Score,
};

/// Less than any arrangement earns.
const NEVER: Score = -100_000_000;

/// What was done with rows and lines, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    /// Lines of the file that a marker stands for, or that an end without a marker leaves.
    Skip {
        from: usize,
        upto: usize,
    },
    Match {
        row: usize,
        line: usize,
    },
    Insert {
        row: usize,
        before: usize,
    },
    Delete {
        from: usize,
        upto: usize,
    },
    /// A definition in the place of another, by its number in [`Candidates::substitutions`].
    Substitution {
        substitution: usize,
    },
}

/// The best arrangement under some constraints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arrangement {
    pub(super) score: Score,
    pub(super) ops: Vec<Op>,
    /// Whether lines at the end of the file stay that no marker stands for.
    pub(super) is_open_below: bool,
    pub(super) is_open_above: bool,
}

/// What an arrangement must not do, to find another one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Constraints {
    /// Pairs of a row and a line.
    pub(super) pairs: BTreeSet<(usize, usize)>,
    /// Rows that have no partner.
    pub(super) unpaired: BTreeSet<usize>,
    /// Rows that are not inserted.
    pub(super) inserts: BTreeSet<usize>,
    /// Rows that are not inserted above a line.
    pub(super) inserts_at: BTreeSet<(usize, usize)>,
    /// Definitions of the sketch and the file that do not take each other's place.
    pub(super) substitutions: BTreeSet<(usize, usize)>,
    /// Lines that are not deleted.
    pub(super) kept: Option<Range<usize>>,
}

/// What was met last: nothing since a marker, an anchor, or a change.
const LOOSE: usize = 0;
const ANCHORED: usize = 1;
const CHANGED: usize = 2;
const STATES: usize = 3;

/// Where a cell comes from: the number of a step in the upper bits, then the state and the column before.
type Back = u32;

const COLUMN_BITS: u32 = 24;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
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

fn back(step: Step, state: usize, column: usize) -> Back {
    let column = u32::try_from(column).unwrap_or_default();
    (step as u32) << 28 | u32::try_from(state).unwrap_or_default() << COLUMN_BITS | column
}

fn parts(back: Back) -> (Step, usize, usize) {
    let state = (back >> COLUMN_BITS & 0xf) as usize;
    (STEPS[(back >> 28) as usize], state, (back & ((1 << COLUMN_BITS) - 1)) as usize)
}

/// Scores of all columns after a row, by state.
type Scores = [Vec<Score>; STATES];

struct Aligner<'c, 'a> {
    all: &'c Candidates<'a>,
    constraints: &'c Constraints,
    deletion_costs: Vec<Score>,
    /// By row and state. What a deletion after a row replaced is kept beside it.
    backs: Vec<[Vec<Back>; STATES]>,
    before_deletion: Vec<Vec<Back>>,
    /// Scores before the first rows of substitutions.
    kept: std::collections::HashMap<usize, Scores>,
    best_substitution: std::collections::HashMap<(usize, usize), usize>,
}

pub(super) fn align(all: &Candidates<'_>, constraints: &Constraints) -> Option<Arrangement> {
    let mut aligner = Aligner::new(all, constraints);
    let scores = aligner.run();
    aligner.finish(scores)
}

impl<'c, 'a> Aligner<'c, 'a> {
    fn new(all: &'c Candidates<'a>, constraints: &'c Constraints) -> Self {
        let mut deletion_costs = all.deletion_costs.clone();
        if let Some(kept) = &constraints.kept {
            let mut more = 0;
            for (at, it) in deletion_costs.iter_mut().enumerate() {
                // Lines that must stay lie between the column before and this one.
                let above = at.checked_sub(1).map_or(0, |it| all.columns[it]);
                more += if above < kept.end && all.columns[at] > kept.start { FORBIDDEN } else { 0 };
                *it += more;
            }
        }
        Self {
            all,
            constraints,
            deletion_costs,
            backs: Vec::with_capacity(all.rows.len()),
            before_deletion: Vec::with_capacity(all.rows.len()),
            kept: std::collections::HashMap::new(),
            best_substitution: std::collections::HashMap::new(),
        }
    }

    fn width(&self) -> usize {
        self.all.columns.len()
    }

    fn run(&mut self) -> Scores {
        let starts: HashSet<usize> = self.all.substitutions.iter().map(|it| it.rows.start).collect();
        let mut scores = self.start();
        for row in 0..self.all.rows.len() {
            if starts.contains(&row) {
                self.kept.insert(row, scores.clone());
            }
            scores = if self.all.rows[row].is_marker { self.marker(&scores) } else { self.line(row, scores) };
        }
        scores
    }

    /// Above the first row: the start of the file, or what a sketch without a marker leaves or deletes.
    fn start(&self) -> Scores {
        let mut scores = [(); STATES].map(|()| vec![NEVER; self.width()]);
        scores[ANCHORED][0] = 0;
        if self.all.rows.first().is_some_and(|it| !it.is_marker) {
            scores[LOOSE][1..].fill(-NO_MARKER);
            for (at, it) in scores[CHANGED].iter_mut().enumerate().skip(1) {
                *it = -DELETE - DELETE_END - self.deletion_costs[at];
            }
        }
        scores
    }

    fn marker(&mut self, before: &Scores) -> Scores {
        let mut after = [(); STATES].map(|()| vec![NEVER; self.width()]);
        let mut backs = [(); STATES].map(|()| Vec::new());
        backs[LOOSE] = vec![0; self.width()];
        let mut best: Option<(Score, usize, usize)> = None;
        for at in 0..self.width() {
            let (score, state) = leaving(before, at);
            let mut here = (score - EMPTY_MARKER, back(Step::Skip, state, at));
            if let Some((score, state, from)) = best.filter(|it| it.0 > here.0) {
                here = (score, back(Step::Skip, state, from));
            }
            after[LOOSE][at] = here.0;
            backs[LOOSE][at] = here.1;
            // The nearer one of two that earn the same skips less.
            if score > NEVER / 2 && best.is_none_or(|it| score >= it.0) {
                best = Some((score, state, at));
            }
        }
        self.backs.push(backs);
        self.before_deletion.push(Vec::new());
        after
    }

    fn line(&mut self, row: usize, before: Scores) -> Scores {
        let it = &self.all.rows[row];
        let is_forbidden = self.constraints.inserts.contains(&row);
        let cost = it.insert + if is_forbidden { FORBIDDEN } else { 0 };
        let mut after = before.clone();
        let mut backs = [(); STATES].map(|()| Vec::with_capacity(self.width()));
        for state in 0..STATES {
            after[state].iter_mut().for_each(|it| *it -= cost);
            let base = back(Step::Insert, state, 0);
            backs[state].extend((0..u32::try_from(self.width()).unwrap_or_default()).map(|it| base | it));
        }
        if let Some(blocks) = &it.blocks {
            let is_outside = |at: &usize| !blocks.iter().any(|it| (it.0..=it.1).contains(at));
            for at in (0..self.width()).filter(is_outside) {
                after.iter_mut().for_each(|it| it[at] -= FORBIDDEN);
            }
        }
        for &(column, more) in &it.inserts {
            after.iter_mut().for_each(|it| it[column] -= more);
        }
        for &(_, line) in self.constraints.inserts_at.range((row, 0)..=(row, usize::MAX)) {
            if let Ok(column) = self.all.columns.binary_search(&line) {
                after.iter_mut().for_each(|it| it[column] -= FORBIDDEN);
            }
        }
        self.pairs(row, &before, &mut after, &mut backs);
        self.substitutions(row, &mut after, &mut backs);
        self.deletions(&mut after, &mut backs);
        self.backs.push(backs);
        after
    }

    fn pairs(&self, row: usize, before: &Scores, after: &mut Scores, backs: &mut [Vec<Back>; STATES]) {
        if self.constraints.unpaired.contains(&row) {
            return;
        }
        for pair in &self.all.rows[row].pairs {
            if self.constraints.pairs.contains(&(row, pair.line)) {
                continue;
            }
            let (from, to) = (pair.column, pair.column + 1);
            let mut take = |score: Score, state: usize, of: usize| {
                if score > after[state][to] {
                    after[state][to] = score;
                    backs[state][to] = back(Step::Match, of, from);
                }
            };
            match pair.relation {
                Relation::Weak => {
                    for (state, before) in before.iter().enumerate() {
                        take(before[from] + pair.score, state, state);
                    }
                    if pair.score >= WORDS {
                        for of in [CHANGED, LOOSE] {
                            take(before[of][from] + pair.score - WEAK_EDGE, ANCHORED, of);
                        }
                    }
                }
                Relation::Anchor => {
                    for of in [ANCHORED, CHANGED, LOOSE] {
                        take(before[of][from] + pair.score, ANCHORED, of);
                    }
                }
                Relation::Changed => {
                    for (of, cost) in [(ANCHORED, 0), (CHANGED, 0), (LOOSE, pair.edge)] {
                        take(before[of][from] + pair.score - cost, CHANGED, of);
                    }
                    for (of, cost) in [(ANCHORED, pair.edge), (CHANGED, EDGE)] {
                        take(before[of][from] + pair.score - cost, ANCHORED, of);
                    }
                }
            }
        }
    }

    fn substitutions(&mut self, row: usize, after: &mut Scores, backs: &mut [Vec<Back>; STATES]) {
        let from = self.all.substitutions.partition_point(|it| it.rows.end < row + 1);
        for (number, substitution) in
            self.all.substitutions.iter().enumerate().skip(from).take_while(|it| it.1.rows.end == row + 1)
        {
            let Some(before) = self.kept.get(&substitution.rows.start) else { continue };
            if self.constraints.substitutions.contains(&substitution.of) {
                continue;
            }
            let (from, to) = substitution.columns;
            for state in [ANCHORED, CHANGED, LOOSE] {
                let score = before[state][from] + substitution.score;
                if score > after[ANCHORED][to] {
                    after[ANCHORED][to] = score;
                    backs[ANCHORED][to] = back(Step::Substitution, state, from);
                    self.best_substitution.insert((row, to), number);
                }
            }
        }
    }

    /// Deletions below a row: from the best column above, as far as each column.
    fn deletions(&mut self, after: &mut Scores, backs: &mut [Vec<Back>; STATES]) {
        self.before_deletion.push(backs[CHANGED].clone());
        let unchanged = after[CHANGED].clone();
        let mut best: Option<(Score, Back)> = None;
        for at in 0..self.width() {
            if let Some((score, from)) = best {
                let score = score - self.deletion_costs[at] - DELETE;
                if score > after[CHANGED][at] {
                    after[CHANGED][at] = score;
                    backs[CHANGED][at] = from;
                }
            }
            let ways =
                [(after[ANCHORED][at], ANCHORED), (unchanged[at], CHANGED), (after[LOOSE][at] - EDGE, LOOSE)];
            for (score, state) in ways {
                let score = score + self.deletion_costs[at];
                if score > NEVER / 2 && best.is_none_or(|it| score >= it.0) {
                    best = Some((score, back(Step::Delete, state, at)));
                }
            }
        }
    }

    /// The best end, and the way to it.
    fn finish(mut self, scores: Scores) -> Option<Arrangement> {
        let last = self.all.rows.len().checked_sub(1)?;
        let end = self.width() - 1;
        if self.all.rows[last].is_marker {
            return self.traced(scores[LOOSE][end], LOOSE, end, false);
        }
        let is_deleted = |it: &Self, at: usize| parts(it.backs[last][CHANGED][at]).0 == Step::Delete;
        let at_end = |it: &Self, state: usize| {
            let cost = if state == CHANGED && is_deleted(it, end) { DELETE_END } else { 0 };
            scores[state][end] - cost
        };
        let (score, state) = [ANCHORED, LOOSE, CHANGED]
            .map(|it| (at_end(&self, it), it))
            .into_iter()
            .rev()
            .max_by_key(|it| it.0)?;
        // Lines below that stay.
        let mut open: Option<(Score, usize, usize)> = None;
        let ends = (0..end).flat_map(|at| [ANCHORED, LOOSE, CHANGED].map(|state| (at, state)));
        for (at, state) in ends.filter(|(at, state)| *state != CHANGED || !is_deleted(&self, *at)) {
            let score = scores[state][at] - NO_MARKER - if state == CHANGED { EDGE } else { 0 };
            if open.is_none_or(|it| score > it.0) {
                open = Some((score, state, at));
            }
        }
        match open.filter(|it| it.0 > score) {
            Some((score, state, at)) => self.traced(score, state, at, true),
            None => self.traced(score, state, end, false),
        }
    }

    fn traced(
        &mut self,
        score: Score,
        mut state: usize,
        mut at: usize,
        is_open_below: bool,
    ) -> Option<Arrangement> {
        if score < NEVER / 2 {
            return None;
        }
        let columns = &self.all.columns;
        let mut ops = Vec::new();
        if is_open_below {
            ops.push(Op::Skip { from: columns[at], upto: self.all.file.count() });
        }
        let mut row = self.all.rows.len();
        let mut after_deletion = false;
        while row > 0 {
            let here = row - 1;
            let found = if after_deletion && state == CHANGED {
                self.before_deletion[here][at]
            } else {
                self.backs[here][state][at]
            };
            after_deletion = false;
            let (step, of, from) = parts(found);
            match step {
                Step::Delete => {
                    ops.push(Op::Delete { from: columns[from], upto: columns[at] });
                    after_deletion = true;
                }
                Step::Skip => {
                    ops.push(Op::Skip { from: columns[from], upto: columns[at] });
                    row -= 1;
                }
                Step::Match => {
                    ops.push(Op::Match { row: here, line: columns[from] });
                    row -= 1;
                }
                Step::Insert | Step::Start => {
                    ops.push(Op::Insert { row: here, before: columns[at] });
                    row -= 1;
                }
                Step::Substitution => {
                    let substitution = *self.best_substitution.get(&(here, at))?;
                    ops.push(Op::Substitution { substitution });
                    row = self.all.substitutions[substitution].rows.start;
                }
            }
            (state, at) = (of, from);
        }
        let is_open_above = at > 0 && state == LOOSE;
        if at > 0 {
            let upto = columns[at];
            ops.push(if is_open_above { Op::Skip { from: 0, upto } } else { Op::Delete { from: 0, upto } });
        }
        ops.reverse();
        Some(Arrangement { score, ops, is_open_below, is_open_above })
    }
}

/// The best state to leave a column in by a marker.
fn leaving(before: &Scores, at: usize) -> (Score, usize) {
    let ways =
        [(before[CHANGED][at] - EDGE, CHANGED), (before[LOOSE][at], LOOSE), (before[ANCHORED][at], ANCHORED)];
    ways.into_iter().max_by_key(|it| it.0).unwrap_or((NEVER, LOOSE))
}

impl Arrangement {
    /// The operations between two markers.
    pub(super) fn pieces(&self) -> Vec<&[Op]> {
        let pieces = self.ops.split(|it| matches!(it, Op::Skip { .. }));
        pieces.filter(|it| !it.is_empty()).collect()
    }
}
