//! The way back from the best end of the alignment's table.

use super::{
    super::{
        costs::{DELETE_END, EDGE, NO_MARKER},
        file_lines::Score,
        layers::{ANCHORED, CHANGED, LOOSE, Layer, Step, parts},
    },
    Aligner, Arrangement, Op,
};

impl Aligner<'_, '_> {
    /// The best end, and the way to it.
    pub(super) fn finish(mut self, scores: &Layer<Score>) -> Option<Arrangement> {
        let last = self.all.rows.len().checked_sub(1)?;
        let end = self.width() - 1;
        if self.all.rows[last].is_marker {
            return self.traced(scores.score(LOOSE, end), LOOSE, end, false);
        }
        let is_deleted = |it: &Self, at: usize| {
            it.backs[last].get(CHANGED, at).is_some_and(|it| parts(it).0 == Step::Delete)
        };
        let at_end = |it: &Self, state: usize| {
            let cost = if state == CHANGED && is_deleted(it, end) { DELETE_END } else { 0 };
            scores.score(state, end) - cost
        };
        let (score, state) = [ANCHORED, LOOSE, CHANGED]
            .map(|it| (at_end(&self, it), it))
            .into_iter()
            .rev()
            .max_by_key(|it| it.0)?;
        // Lines below that stay.
        let mut open: Option<(Score, usize, usize)> = None;
        let ends = (scores.first..scores.end().min(end))
            .flat_map(|at| [ANCHORED, LOOSE, CHANGED].map(|state| (at, state)));
        for (at, state) in ends.filter(|(at, state)| *state != CHANGED || !is_deleted(&self, *at)) {
            let score = scores.score(state, at) - NO_MARKER - if state == CHANGED { EDGE } else { 0 };
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
        if score < self.least {
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
            let backs = &self.backs[here];
            let found = if after_deletion && state == CHANGED {
                self.before_deletion[here][at - backs.first]
            } else {
                backs.get(state, at)?
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
