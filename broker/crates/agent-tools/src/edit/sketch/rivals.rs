//! Other meanings of a sketch: the best arrangements under constraints that forbid what the best one did.

use std::{
    collections::{BTreeSet, HashSet},
    ops::RangeInclusive,
};

use super::{
    alignment::{Arrangement, Constraints, Op, align},
    bounds::Bounds,
    candidate::Candidates,
    file_lines::{Score, is_closer},
    rows::Sketch,
};

/// Weight from which on a line says much of where it stands.
const TELLING: Score = 200;

/// Runs of the alignment for one sketch, and changes of one piece that are looked at one by one.
const MAX_RUNS: usize = 40;
const MAX_PER_PIECE: usize = 6;

/// Another arrangement that is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Rival {
    constraints: Constraints,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Other,
    /// Uses a line of the file that the best arrangement puts there a second time.
    OfCopy,
    /// Keeps lines that the best arrangement deletes.
    Keeps,
    /// Puts everything below the last marker at the end of the file as new.
    Appends,
}

impl Rival {
    /// The best arrangement of it that earns at least so much.
    pub(super) fn arrangement(
        &self,
        all: &Candidates<'_>,
        bounds: &Bounds,
        least: Score,
    ) -> Option<Arrangement> {
        align(all, &self.constraints, bounds, least)
    }
}

/// Rivals of an arrangement: those of all pieces in turn, so that the limit leaves out no piece.
pub(super) fn rivals(best: &Arrangement, all: &Candidates<'_>, sketch: &Sketch<'_>) -> Vec<Rival> {
    let mut found = Rivals { all, sketch, rivals: Vec::new() };
    found.appended(best);
    let mut rivals = std::mem::take(&mut found.rivals);
    let of_piece = |ops: &[Op]| {
        found.of_piece(ops);
        std::mem::take(&mut found.rivals)
    };
    let of_pieces: Vec<_> = best.pieces().into_iter().map(of_piece).collect();
    let most = of_pieces.iter().map(Vec::len).max().unwrap_or_default();
    rivals.extend((0..most).flat_map(|at| of_pieces.iter().filter_map(move |it| it.get(at).cloned())));
    let mut seen = HashSet::new();
    rivals.retain(|it| seen.insert(it.clone()));
    rivals.truncate(MAX_RUNS.max(of_pieces.len()));
    rivals
}

struct Rivals<'r, 'a> {
    all: &'r Candidates<'a>,
    sketch: &'r Sketch<'r>,
    rivals: Vec<Rival>,
}

impl Rivals<'_, '_> {
    fn add(&mut self, constraints: Constraints) {
        self.rivals.push(Rival { constraints, kind: Kind::Other });
    }

    /// Adds the rival in which all lines below the last marker are new, if they begin with a new one and have no marker below.
    fn appended(&mut self, best: &Arrangement) {
        let is_last = self.sketch.has_marker() && self.sketch.rows.last().is_some_and(|it| !it.is_marker);
        let Some(ops) = best.pieces().pop().filter(|_| is_last) else { return };
        let begins_new = match ops.first() {
            Some(Op::Match { row, line }) => self.sketch.rows[*row].text.trim() != self.all.file.bare[*line],
            Some(Op::Insert { .. } | Op::Delete { .. }) => true,
            _ => false,
        };
        // A piece that the file ends with is at the end already.
        let count = self.all.file.bare.iter().rposition(|it| !it.is_empty());
        let ends_file = ops
            .iter()
            .any(|it| matches!(it, Op::Match { line, .. } if Some(*line) == count && !is_closer(self.all.file.bare[*line])));
        let deletes = ops.iter().any(|it| matches!(it, Op::Delete { from, upto } if from < upto));
        if (begins_new || deletes) && !ends_file && ops.iter().any(|it| matches!(it, Op::Match { .. })) {
            let unpaired = ops.iter().filter_map(|it| row(*it)).collect();
            let constraints = Constraints { unpaired, ..Constraints::default() };
            self.rivals.push(Rival { constraints, kind: Kind::Appends });
        }
    }

    fn of_piece(&mut self, ops: &[Op]) {
        let pairs: Vec<_> = ops.iter().filter_map(|it| pair(*it)).collect();
        let substitutions: BTreeSet<_> = ops.iter().filter_map(|it| self.substitution(*it)).collect();
        if !pairs.is_empty() || !substitutions.is_empty() {
            let pairs = pairs.iter().copied().collect();
            self.add(Constraints { pairs, substitutions: substitutions.clone(), ..Constraints::default() });
        }
        self.of_ends(&pairs);
        self.of_telling(ops);
        self.of_changes(&pairs);
        self.of_inserts(ops, pairs.is_empty() && substitutions.is_empty());
        self.of_deletions(ops);
        if substitutions.len() > 1 {
            for it in substitutions {
                self.add(Constraints { substitutions: [it].into(), ..Constraints::default() });
            }
        }
    }

    /// Each deletion, and the line next to it, which may be new instead.
    fn of_deletions(&mut self, ops: &[Op]) {
        for (at, it) in ops.iter().enumerate() {
            let Op::Delete { from, upto } = it else { continue };
            let kept = Some(*from..*upto);
            let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
            let pairs = beside.filter_map(|it| ops.get(it).copied().and_then(pair)).map(|it| [it].into());
            for pairs in std::iter::once(BTreeSet::new()).chain(pairs) {
                let constraints = Constraints { pairs, kept: kept.clone(), ..Constraints::default() };
                self.rivals.push(Rival { constraints, kind: Kind::Keeps });
            }
        }
    }

    /// The first and the last line of the file in a piece.
    fn of_ends(&mut self, pairs: &[(usize, usize)]) {
        let said: Vec<_> = pairs.iter().filter(|it| !self.sketch.rows[it.0].is_blank()).collect();
        let ends: BTreeSet<_> = [said.first(), said.last()].into_iter().flatten().map(|it| **it).collect();
        if pairs.len() > 1 {
            ends.into_iter()
                .for_each(|it| self.add(Constraints { pairs: [it].into(), ..Constraints::default() }));
        }
    }

    /// All that stands before the first line that says much, or behind the last one, as new lines: git shows a new block
    /// that begins as the one below it, or ends as the one above, with the ends changed.
    fn of_telling(&mut self, ops: &[Op]) {
        let telling: Vec<_> = (0..ops.len()).filter(|it| self.is_telling(ops[*it])).collect();
        let (Some(first), Some(last)) = (telling.first(), telling.last()) else { return };
        for outside in [&ops[last + 1..], &ops[..*first]] {
            if outside.iter().any(|it| matches!(it, Op::Match { .. })) {
                self.unpaired(outside);
            }
        }
        match ops[*first] {
            Op::Match { .. } if first < last => self.unpaired(&ops[first + 1..]),
            // The head of a definition as the line above a new one.
            Op::Substitution { substitution } => {
                let it = &self.all.substitutions[substitution];
                let head = self.all.definitions.sketch[it.of.0].it.head;
                let rest = ops[first + 1..].iter().filter_map(|it| row(*it));
                let unpaired = (head + 1..it.rows.end).chain(rest).collect();
                self.add(Constraints { unpaired, substitutions: [it.of].into(), ..Constraints::default() });
            }
            _ => {}
        }
    }

    fn unpaired(&mut self, ops: &[Op]) {
        let unpaired = ops.iter().filter_map(|it| row(*it)).collect();
        self.add(Constraints { unpaired, ..Constraints::default() });
    }

    /// Each changed line, and all of them.
    fn of_changes(&mut self, pairs: &[(usize, usize)]) {
        let is_changed =
            |it: &&(usize, usize)| self.sketch.rows[it.0].text.trim() != self.all.file.bare[it.1];
        let changed: Vec<_> = pairs.iter().filter(is_changed).copied().collect();
        for it in changed.iter().take(MAX_PER_PIECE) {
            self.add(Constraints { pairs: [*it].into(), ..Constraints::default() });
        }
        if changed.len() > 1 {
            self.add(Constraints { pairs: changed.into_iter().collect(), ..Constraints::default() });
        }
    }

    /// The first and the last line of each insertion; the place of a piece of nothing else.
    fn of_inserts(&mut self, ops: &[Op], is_all: bool) {
        let inserts = ops.iter().filter_map(|it| match it {
            Op::Insert { row, before } => Some((*row, *before)),
            _ => None,
        });
        let inserts: Vec<_> = inserts.collect();
        let has_place = |it: &(usize, usize)| self.all.rows[it.0].inserts.iter().any(|it| it.1 < 0);
        if is_all && !inserts.is_empty() && !inserts.iter().any(has_place) {
            let around =
                |it: &(usize, usize)| self.beside_blank(it.1).map(|line| (it.0, line)).collect::<Vec<_>>();
            let inserts_at = inserts.iter().flat_map(around).collect();
            self.add(Constraints { inserts_at, ..Constraints::default() });
        }
        let runs = inserts.chunk_by(|a, b| a.0 + 1 == b.0 && a.1 == b.1);
        for run in runs.take(MAX_PER_PIECE) {
            let said: Vec<_> =
                run.iter().map(|it| it.0).filter(|it| !self.sketch.rows[*it].is_blank()).collect();
            let ends: BTreeSet<_> = [said.first(), said.last()].into_iter().flatten().copied().collect();
            for it in ends {
                self.add(Constraints { inserts: [it].into(), ..Constraints::default() });
            }
            let copies: Vec<_> = said.iter().copied().filter(|it| self.is_copy(*it)).collect();
            let ends: BTreeSet<_> = [copies.first(), copies.last()].into_iter().flatten().copied().collect();
            for it in ends {
                let constraints = Constraints { inserts: [it].into(), ..Constraints::default() };
                self.rivals.push(Rival { constraints, kind: Kind::OfCopy });
            }
        }
    }

    /// A place between two lines, and those that only blank lines are between.
    fn beside_blank(&self, line: usize) -> RangeInclusive<usize> {
        let bare = &self.all.file.bare;
        let above = bare[..line].iter().rev().take_while(|it| it.is_empty()).count();
        let below = bare[line..].iter().take_while(|it| it.is_empty()).count();
        line - above..=line + below
    }

    fn substitution(&self, op: Op) -> Option<(usize, usize)> {
        match op {
            Op::Substitution { substitution } => Some(self.all.substitutions[substitution].of),
            _ => None,
        }
    }

    fn is_telling(&self, op: Op) -> bool {
        match op {
            Op::Substitution { .. } => true,
            Op::Match { row, .. } => self.all.weight(&self.sketch.rows[row].text) >= TELLING,
            _ => false,
        }
    }

    fn is_copy(&self, row: usize) -> bool {
        let text = self.sketch.rows[row].text.trim();
        self.all.file.places(text).len() == 1 && self.all.weight(text) >= TELLING
    }
}

fn pair(op: Op) -> Option<(usize, usize)> {
    match op {
        Op::Match { row, line } => Some((row, line)),
        _ => None,
    }
}

fn row(op: Op) -> Option<usize> {
    match op {
        Op::Match { row, .. } | Op::Insert { row, .. } => Some(row),
        _ => None,
    }
}
