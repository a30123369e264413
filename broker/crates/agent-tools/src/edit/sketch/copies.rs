//! Lines of the file that a reading puts there a second time.

use std::ops::Range;

use super::{
    super::outcome::Reason,
    alignment::{Arrangement, Op},
    file_lines::STRONG,
    judge::Judge,
};

impl Judge<'_, '_> {
    /// A telling line is put into the file a second time at the edge of a piece, or lines that stand there already.
    pub(super) fn inserts_copies(&self, arrangement: &Arrangement) -> Option<Reason> {
        let said: Vec<&str> =
            self.file.lines().iter().map(|it| it.trim_end()).filter(|it| !it.is_empty()).collect();
        let text = format!("\n{}\n", said.join("\n"));
        for ops in arrangement.pieces() {
            let firm: Vec<_> = (0..ops.len()).filter(|it| self.is_firm(ops[*it])).collect();
            let edges = match (firm.first(), firm.last()) {
                (Some(first), Some(last)) => vec![(&ops[..*first], true), (&ops[last + 1..], false)],
                _ => vec![(ops, false)],
            };
            for (edge, is_above) in edges {
                let beyond = match (firm.first(), firm.last()) {
                    (Some(first), _) if is_above => 0..self.first_line(ops[*first]),
                    (_, Some(last)) => self.first_line(ops[*last])..self.file.lines().len(),
                    _ => 0..self.file.lines().len(),
                };
                if let Some(row) = self.copied(edge, is_above && !firm.is_empty(), &beyond, &text) {
                    let it = &self.sketch.rows[row];
                    return Some(Reason::Copy { line: it.number, text: it.text.trim().to_owned() });
                }
            }
        }
        None
    }

    /// Whether a line that stands in the file once, and stays, is also inserted, or another line becomes it.
    pub(super) fn makes_copies(&self, arrangement: &Arrangement) -> bool {
        let inserts = |op: &Op| match *op {
            Op::Insert { row, .. } => !self.all.rows[row].is_new && self.is_copy(arrangement, row, None),
            _ => false,
        };
        arrangement.ops.iter().any(inserts) || self.turns_into_copies(arrangement)
    }

    /// Whether a line becomes one that stands in the file once, and stays there.
    pub(super) fn turns_into_copies(&self, arrangement: &Arrangement) -> bool {
        arrangement.ops.iter().any(|it| match *it {
            Op::Match { row, line } => {
                self.is_copy(arrangement, row, Some(line))
                    && !self.all.has_same_key(self.sketch.rows[row].text.trim(), line)
            }
            _ => false,
        })
    }

    fn is_copy(&self, arrangement: &Arrangement, row: usize, there: Option<usize>) -> bool {
        let text = self.sketch.rows[row].text.trim();
        let goes =
            |line: usize, op: &Op| matches!(op, Op::Delete { from, upto } if (*from..*upto).contains(&line));
        match *self.all.file.places(text) {
            [place] => {
                Some(place) != there
                    && self.all.weight(text) >= STRONG
                    && !arrangement.ops.iter().any(|it| goes(place, it))
            }
            _ => false,
        }
    }

    /// Whether a line of the file is put there a second time, as a new line or for another one, with nothing of the file between
    /// it and a marker.
    pub(super) fn copies_at_edge(&self, arrangement: &Arrangement) -> bool {
        let is_known = |row: usize| {
            let text = self.sketch.rows[row].text.trim();
            self.all.weight(text) >= STRONG && !self.all.file.places(text).is_empty()
        };
        let is_changed =
            |row: usize, line: usize| self.sketch.rows[row].text.trim() != self.all.file.bare[line];
        let is_copy = |op: &Op| match *op {
            Op::Insert { row, .. } => is_known(row),
            Op::Match { row, line } => is_changed(row, line) && is_known(row),
            _ => false,
        };
        let is_firm = |op: &Op| match *op {
            Op::Match { row, line } => !is_changed(row, line),
            Op::Substitution { .. } => true,
            _ => false,
        };
        arrangement.pieces().into_iter().any(|ops| {
            let first = ops.iter().position(is_firm).unwrap_or(ops.len());
            let last = ops.iter().rposition(is_firm).map_or(0, |it| it + 1);
            ops[..first].iter().chain(&ops[last..]).any(is_copy)
        })
    }

    fn copied(&self, edge: &[Op], is_above: bool, beyond: &Range<usize>, text: &str) -> Option<usize> {
        let inserted = |op: &Op| match op {
            Op::Insert { row, .. } => Some(*row),
            _ => None,
        };
        let is_telling = |row: &usize| self.all.weight(&self.sketch.rows[*row].text) >= STRONG;
        let telling: Vec<_> = edge.iter().filter_map(inserted).filter(is_telling).collect();
        // The outermost line is the one that is likely to be meant as context.
        let outermost = if is_above { telling.first() } else { telling.last() };
        let is_copy = |row: &usize| self.all.rows[*row].copy_of.is_some_and(|it| beyond.contains(&it));
        let copies = telling.iter().filter(|it| is_copy(it));
        if outermost.is_some_and(is_copy) || copies.count() * 2 > telling.len() {
            return outermost.copied();
        }
        let has_words = |row: &usize| self.sketch.rows[*row].text.chars().any(char::is_alphanumeric);
        let first = edge.iter().filter_map(inserted).find(has_words)?;
        let rows = edge.iter().filter_map(|op| match op {
            Op::Insert { row, .. } | Op::Match { row, .. } => Some(*row),
            _ => None,
        });
        let mut lines: Vec<&str> =
            rows.map(|it| self.sketch.rows[it].text.trim_end()).filter(|it| !it.is_empty()).collect();
        let begins_new = edge.iter().take(2).filter_map(inserted).any(|it| has_words(&it));
        if is_above && begins_new && !self.all.rows[first].is_new {
            lines.truncate(2);
        }
        (lines.len() > 1 && text.contains(&format!("\n{}\n", lines.join("\n")))).then_some(first)
    }
}
