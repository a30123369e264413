//! Checks of a careful reader: whether a reading takes the lines of the sketch that the file has as they are.

use super::{
    alignment::{Arrangement, Op},
    judge::Judge,
};

/// Lines that may go in a reading whose pieces begin and end with lines of the file, so that no other one counts.
const MAX_GONE: usize = 8;

impl Judge<'_, '_> {
    /// Whether each piece begins and ends with lines of the file as they are, which fix its place, and little goes between.
    pub(super) fn is_literal(&self, arrangement: &Arrangement) -> bool {
        let gone = |ops: &[Op]| -> usize { ops.iter().map(|it| self.deleted(*it)).sum() };
        let is_held = |ops: &[Op]| {
            let said: Vec<_> = ops.iter().filter(|it| !self.is_blank(**it)).collect();
            let above = said.iter().take_while(|it| self.is_kept(***it));
            let below = said.iter().rev().take_while(|it| self.is_kept(***it));
            let says = |it: &&Op| self.is_firm(**it) || self.is_anchored(**it);
            let (is_above, is_below) = (above.clone().any(says), below.clone().any(says));
            let has_ends = above.count() > 0 && below.count() > 0;
            has_ends && if gone(ops) > 1 { is_above && is_below } else { is_above || is_below }
        };
        gone(&arrangement.ops) <= MAX_GONE && arrangement.pieces().into_iter().all(is_held)
    }

    /// Whether a piece has nothing but lines that are like some of the file, and none that is the same or of the same name.
    pub(super) fn has_no_base(&self, arrangement: &Arrangement) -> bool {
        let is_base = |op: &Op| match *op {
            Op::Match { row, line } => {
                let text = self.sketch.rows[row].text.trim();
                text == self.all.file.bare[line]
                    || self.all.has_same_key(text, line)
                    || self.all.definitions.head_of_sketch(row).is_some_and(|it| !it.same.is_empty())
            }
            Op::Substitution { .. } => true,
            _ => false,
        };
        arrangement.pieces().into_iter().any(|ops| {
            let said = || ops.iter().filter(|it| !self.is_blank(**it));
            said().any(|it| matches!(it, Op::Match { .. })) && !said().any(is_base)
        })
    }

    /// Whether nothing but brackets and the like is new in a piece.
    pub(super) fn adds_brackets(&self, arrangement: &Arrangement) -> bool {
        arrangement.pieces().into_iter().any(|ops| {
            let added = ops.iter().filter_map(|it| match it {
                Op::Insert { row, .. } => Some(&*self.sketch.rows[*row].text),
                _ => None,
            });
            let added: Vec<_> = added.filter(|it| !it.trim().is_empty()).collect();
            !added.is_empty() && added.iter().all(|it| !it.chars().any(char::is_alphanumeric))
        })
    }

    /// Lines that are no blank ones and go.
    pub(super) fn deleted(&self, op: Op) -> usize {
        match op {
            Op::Delete { from, upto } => {
                self.all.file.bare[from..upto].iter().filter(|it| !it.is_empty()).count()
            }
            _ => 0,
        }
    }

    fn is_blank(&self, op: Op) -> bool {
        let mut rows = self.rows(op);
        rows.len() == 1 && rows.all(|it| self.sketch.rows[it].is_blank())
    }

    /// Whether a step keeps a line of the file as it is, or puts in a whole definition.
    fn is_kept(&self, op: Op) -> bool {
        match op {
            Op::Match { row, line } => {
                self.sketch.rows[row].text.trim_end() == self.file.lines()[line].trim_end()
            }
            Op::Substitution { .. } => true,
            _ => false,
        }
    }

    fn is_anchored(&self, op: Op) -> bool {
        matches!(op, Op::Match { row, line } if self.all.is_anchor(row, line))
    }
}
