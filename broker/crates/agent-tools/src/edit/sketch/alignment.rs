//! The arrangement of a sketch's rows on the lines of a file that earns most.
//!
//! A global alignment by dynamic programming with affine costs of deletions (Gotoh 1982) over rows and columns, in which a
//! marker skips any number of lines for nothing. Lines that stand in the file once are worth most, as in patience diff;
//! definitions are moved as a whole, as in tree differences (GumTree). Three states say whether a change is held on both
//! sides by lines of the file, since what stands next to a marker is new rather than changed.
//!
//! O(rows × columns) for the first run. What else a sketch may mean is asked by running it again under constraints, over the
//! columns only that [`super::bounds`] leaves.

mod trace;

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ops::Range,
};

use super::{
    bounds::Bounds,
    candidate::{Candidates, Relation, Substitution},
    costs::{DELETE, DELETE_END, EDGE, EMPTY_MARKER, FORBIDDEN, NO_MARKER, WEAK_EDGE, WORDS},
    file_lines::Score,
    layers::{ANCHORED, Back, CHANGED, LOOSE, Layer, NEVER, STATES, Step, back},
};

/// Distance below the highest possible score within which arrangements are searched first.
const FIRST_LESS: Score = 1000;

/// Lower limit of the score of every possible arrangement.
pub(super) const POSSIBLE: Score = NEVER / 2;

/// Step of an arrangement, which takes rows and lines in their order.
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
    /// Whether lines at the end of the file stay for which there is no marker.
    pub(super) is_open_below: bool,
    pub(super) is_open_above: bool,
}

/// Constraints that an arrangement must keep, to find another one than the best.
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

struct Aligner<'c, 'a> {
    all: &'c Candidates<'a>,
    constraints: &'c Constraints,
    bounds: &'c Bounds,
    /// Score below which arrangements are not searched.
    least: Score,
    deletion_costs: Vec<Score>,
    /// By row. What a deletion after a row replaced is kept beside it.
    backs: Vec<Layer<Back>>,
    before_deletion: Vec<Vec<Back>>,
    /// Scores before the first rows of substitutions.
    kept: HashMap<usize, Layer<Score>>,
    best_substitution: HashMap<(usize, usize), usize>,
}

/// The best arrangement under some constraints, if it earns at least so much. It is looked for near the most that the rows can
/// earn first, as few columns lead to that.
pub(super) fn align(
    all: &Candidates<'_>,
    constraints: &Constraints,
    bounds: &Bounds,
    least: Score,
) -> Option<Arrangement> {
    let mut less = FIRST_LESS;
    loop {
        let enough = (bounds.below[0][0] - less).max(least);
        let mut aligner = Aligner::new(all, constraints, bounds, enough);
        let scores = aligner.run();
        let found = aligner.finish(&scores);
        if found.is_some() || enough == least {
            return found;
        }
        less = less.saturating_mul(3);
    }
}

impl<'c, 'a> Aligner<'c, 'a> {
    fn new(all: &'c Candidates<'a>, constraints: &'c Constraints, bounds: &'c Bounds, least: Score) -> Self {
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
            bounds,
            least,
            deletion_costs,
            backs: Vec::with_capacity(all.rows.len()),
            before_deletion: Vec::with_capacity(all.rows.len()),
            kept: HashMap::new(),
            best_substitution: HashMap::new(),
        }
    }

    fn width(&self) -> usize {
        self.all.columns.len()
    }

    fn run(&mut self) -> Layer<Score> {
        let starts: HashSet<usize> = self.all.substitutions.iter().map(|it| it.rows.start).collect();
        let mut scores = self.start();
        for row in 0..self.all.rows.len() {
            if starts.contains(&row) {
                self.kept.insert(row, scores.clone());
            }
            scores = if self.all.rows[row].is_marker {
                self.marker(row, &scores)
            } else {
                self.line(row, &scores)
            };
            self.narrow(row, &mut scores);
        }
        scores
    }

    /// Above the first row: the start of the file, or what a sketch without a marker leaves or deletes.
    fn start(&self) -> Layer<Score> {
        let mut scores = Layer::new(0, self.width(), NEVER);
        scores.values[ANCHORED][0] = 0;
        if self.all.rows.first().is_some_and(|it| !it.is_marker) {
            scores.values[LOOSE][1..].fill(-NO_MARKER);
            for (at, it) in scores.values[CHANGED].iter_mut().enumerate().skip(1) {
                *it = -DELETE - DELETE_END - self.deletion_costs[at];
            }
        }
        scores
    }

    /// Returns the column after the last one that is worth a look after a row, where none earns more than `highest` by then.
    fn end(&self, row: usize, highest: Score) -> usize {
        self.bounds.below[row + 1].partition_point(|it| highest + it >= self.least)
    }

    /// Leaves out the columns at both ends that lead to nothing worth a look.
    fn narrow(&mut self, row: usize, scores: &mut Layer<Score>) {
        let bounds = &self.bounds.below[row + 1];
        let is_worth = |at: &usize| scores.best(*at) + bounds[*at] >= self.least;
        let first = (scores.first..scores.end()).find(is_worth).unwrap_or(scores.end());
        let last = (first..scores.end()).rev().find(is_worth);
        scores.cut(first, last.map_or(first, |it| it + 1));
    }

    fn marker(&mut self, row: usize, before: &Layer<Score>) -> Layer<Score> {
        let first = before.first;
        let length = self.end(row, before.highest()).max(before.end()) - first;
        let mut after = Layer::new(first, length, NEVER);
        let mut backs = Layer::new(first, length, 0);
        let mut best: Option<(Score, usize, usize)> = None;
        for at in 0..length {
            let (score, state) = leaving(before, first + at);
            let mut here = (score - EMPTY_MARKER, back(Step::Skip, state, first + at));
            if let Some((score, state, from)) = best.filter(|it| it.0 > here.0) {
                here = (score, back(Step::Skip, state, from));
            }
            (after.values[LOOSE][at], backs.values[LOOSE][at]) = here;
            // The nearer one of two that earn the same skips less.
            if score > NEVER / 2 && best.is_none_or(|it| score >= it.0) {
                best = Some((score, state, first + at));
            }
        }
        self.backs.push(backs);
        self.before_deletion.push(Vec::new());
        after
    }

    fn line(&mut self, row: usize, before: &Layer<Score>) -> Layer<Score> {
        let it = &self.all.rows[row];
        let is_forbidden = self.constraints.inserts.contains(&row);
        let cost = it.insert + if is_forbidden { FORBIDDEN } else { 0 };
        let (mut after, mut backs) = self.layers(row, before);
        for state in 0..STATES {
            after.values[state].iter_mut().for_each(|it| *it -= cost);
        }
        if let Some(blocks) = &it.blocks {
            let is_outside = |at: &usize| !blocks.iter().any(|it| (it.0..=it.1).contains(at));
            (after.first..after.end()).filter(is_outside).for_each(|it| after.add(it, -FORBIDDEN));
        }
        it.inserts.iter().for_each(|&(column, more)| after.add(column, -more));
        for &(_, line) in self.constraints.inserts_at.range((row, 0)..=(row, usize::MAX)) {
            if let Ok(column) = self.all.columns.binary_search(&line) {
                after.add(column, -FORBIDDEN);
            }
        }
        self.pairs(row, before, &mut after, &mut backs);
        self.substitutions(row, &mut after, &mut backs);
        self.deletions(&mut after, &mut backs);
        self.backs.push(backs);
        after
    }

    /// The scores before a row, and insertions as the ways there, with room for all columns that the row may lead to.
    fn layers(&self, row: usize, before: &Layer<Score>) -> (Layer<Score>, Layer<Back>) {
        let substitutions = self.substitutions_to(row).map(|(_, it, score)| (it.columns.1, score));
        let there: Vec<_> =
            substitutions.filter(|it| it.1 + self.bounds.below[row + 1][it.0] >= self.least).collect();
        let highest = before.highest() + self.bounds.alone[row];
        let highest = there.iter().map(|it| it.1).fold(highest, Score::max);
        let first = there.iter().map(|it| it.0).fold(before.first, usize::min);
        let end = self.end(row, highest).max(before.end());
        let mut after = Layer::new(first, end - first, NEVER);
        let mut backs = Layer::new(first, end - first, 0);
        for state in 0..STATES {
            let from = before.first - first;
            let old = &before.values[state];
            after.values[state][from..from + old.len()].copy_from_slice(old);
            let base = back(Step::Insert, state, first);
            backs.values[state].iter_mut().zip(0..).for_each(|(it, at)| *it = base + at);
        }
        (after, backs)
    }

    fn pairs(&self, row: usize, before: &Layer<Score>, after: &mut Layer<Score>, backs: &mut Layer<Back>) {
        if self.constraints.unpaired.contains(&row) {
            return;
        }
        let pairs = &self.all.rows[row].pairs;
        let from = pairs.partition_point(|it| it.column < before.first);
        for pair in pairs[from..].iter().take_while(|it| it.column < before.end()) {
            if self.constraints.pairs.contains(&(row, pair.line)) {
                continue;
            }
            let (from, to) = (pair.column, pair.column + 1);
            let mut take = |score: Score, state: usize, of: usize| {
                put(after, backs, (state, to), score, back(Step::Match, of, from));
            };
            match pair.relation {
                Relation::Weak => {
                    for state in 0..STATES {
                        take(before.score(state, from) + pair.score, state, state);
                    }
                    if pair.score >= WORDS {
                        for of in [CHANGED, LOOSE] {
                            take(before.score(of, from) + pair.score - WEAK_EDGE, ANCHORED, of);
                        }
                    }
                }
                Relation::Anchor => {
                    for of in [ANCHORED, CHANGED, LOOSE] {
                        take(before.score(of, from) + pair.score, ANCHORED, of);
                    }
                }
                Relation::Changed => {
                    for (of, cost) in [(ANCHORED, 0), (CHANGED, 0), (LOOSE, pair.edge)] {
                        take(before.score(of, from) + pair.score - cost, CHANGED, of);
                    }
                    for (of, cost) in [(ANCHORED, pair.edge), (CHANGED, EDGE)] {
                        take(before.score(of, from) + pair.score - cost, ANCHORED, of);
                    }
                }
            }
        }
    }

    /// The substitutions that end with a row, by their numbers, and what each earns by then.
    fn substitutions_to(&self, row: usize) -> impl Iterator<Item = (usize, &Substitution, Score)> {
        let all = &self.all.substitutions;
        let from = all.partition_point(|it| it.rows.end < row + 1);
        let ending = all.iter().enumerate().skip(from).take_while(move |it| it.1.rows.end == row + 1);
        ending.filter(|it| !self.constraints.substitutions.contains(&it.1.of)).filter_map(|(number, it)| {
            let before = self.kept.get(&it.rows.start)?.best(it.columns.0);
            Some((number, it, before + it.score))
        })
    }

    fn substitutions(&mut self, row: usize, after: &mut Layer<Score>, backs: &mut Layer<Back>) {
        let mut best = Vec::new();
        for (number, it, _) in self.substitutions_to(row) {
            let (from, to) = it.columns;
            for state in [ANCHORED, CHANGED, LOOSE] {
                let score = self.kept[&it.rows.start].score(state, from) + it.score;
                if put(after, backs, (ANCHORED, to), score, back(Step::Substitution, state, from)) {
                    best.push(((row, to), number));
                }
            }
        }
        self.best_substitution.extend(best);
    }

    /// Deletions below a row: from the best column above, as far as each column.
    fn deletions(&mut self, after: &mut Layer<Score>, backs: &mut Layer<Back>) {
        self.before_deletion.push(backs.values[CHANGED].clone());
        let unchanged = after.values[CHANGED].clone();
        let mut best: Option<(Score, Back)> = None;
        for at in after.first..after.end() {
            if let Some((score, from)) = best {
                let score = score - self.deletion_costs[at] - DELETE;
                put(after, backs, (CHANGED, at), score, from);
            }
            let ways = [
                (after.score(ANCHORED, at), ANCHORED),
                (unchanged[at - after.first], CHANGED),
                (after.score(LOOSE, at) - EDGE, LOOSE),
            ];
            for (score, state) in ways {
                let score = score + self.deletion_costs[at];
                if score > NEVER / 2 && best.is_none_or(|it| score >= it.0) {
                    best = Some((score, back(Step::Delete, state, at)));
                }
            }
        }
    }
}

/// Takes a way to a cell that earns more than the one known.
fn put(
    scores: &mut Layer<Score>,
    backs: &mut Layer<Back>,
    (state, column): (usize, usize),
    score: Score,
    way: Back,
) -> bool {
    let (Some(it), Some(back)) = (scores.at(state, column), backs.at(state, column)) else { return false };
    let is_better = score > *it;
    if is_better {
        (*it, *back) = (score, way);
    }
    is_better
}

/// The best state to leave a column in by a marker.
fn leaving(before: &Layer<Score>, at: usize) -> (Score, usize) {
    let ways = [
        (before.score(CHANGED, at) - EDGE, CHANGED),
        (before.score(LOOSE, at), LOOSE),
        (before.score(ANCHORED, at), ANCHORED),
    ];
    ways.into_iter().max_by_key(|it| it.0).unwrap_or((NEVER, LOOSE))
}

impl Arrangement {
    /// The operations between two markers.
    pub(super) fn pieces(&self) -> Vec<&[Op]> {
        let pieces = self.ops.split(|it| matches!(it, Op::Skip { .. }));
        pieces.filter(|it| !it.is_empty()).collect()
    }
}
