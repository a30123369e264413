//! Reasons to refuse the best reading, whatever its rivals are.

use std::ops::Range;

use super::{
    super::{
        definition::{Definition, Kind},
        outcome::Reason,
        text::{indentation, is_blank},
    },
    alignment::{Arrangement, Op},
    costs::WORDS,
    definitions::Defined,
    file_lines::{Score, is_closer},
    judge::Judge,
};

/// Cost of deletions from which on they are refused: 30 lines, or several definitions.
const MAX_DELETED: Score = 1500;

/// Words of lines behind which nothing of their block follows.
const LEAVES: [&str; 5] = ["return", "raise", "throw", "break", "continue"];

/// Lines that may be deleted though one of them is much like the line next to them.
const FEW: usize = 1;

impl Judge<'_, '_> {
    /// Whether the sketch begins and ends with whole definitions of names that the file has.
    pub(super) fn is_framed(&self) -> bool {
        let rows = self.sketch.rows.len();
        let known = || self.all.definitions.sketch.iter().filter(|it| it.is_whole && it.same.len() == 1);
        known().any(|it| it.it.lead == 0) && known().any(|it| it.it.end == rows)
    }

    pub(super) fn deletes_much(&self, ops: &[Op]) -> Option<Reason> {
        let cost = |line: usize| {
            let column = self.all.columns.binary_search(&line).unwrap_or_default();
            self.all.deletion_costs[column]
        };
        let deleted = ops.iter().filter_map(|it| match it {
            Op::Delete { from, upto } => Some((*from, *upto)),
            _ => None,
        });
        let deleted: Vec<_> = deleted.collect();
        let all: Score = deleted.iter().map(|it| cost(it.1) - cost(it.0)).sum();
        let (from, upto) = deleted.into_iter().max_by_key(|it| it.1 - it.0)?;
        let count = self.file.lines()[from..upto].iter().filter(|it| !is_blank(it)).count();
        (all > MAX_DELETED).then_some(Reason::LargeDeletion { line: from + 1, count })
    }

    /// A definition takes the place of one that may be longer than what the sketch shows of it.
    pub(super) fn may_go_on(&self, ops: &[Op]) -> Option<Reason> {
        let mut substitutions = ops.iter().filter_map(|it| match it {
            Op::Substitution { substitution } => Some(&self.all.substitutions[*substitution]),
            _ => None,
        });
        substitutions.find(|it| it.may_go_on).map(|it| self.several(&[it.rows.end - 1]))
    }

    /// The head of a definition goes while the rest of it stays, below what stood before it.
    pub(super) fn joins_definitions(&self, arrangement: &Arrangement) -> Option<Reason> {
        let definitions = &self.all.definitions;
        let ops = &arrangement.ops;
        for (at, it) in ops.iter().enumerate() {
            let Op::Delete { from, upto } = it else { continue };
            let is_cut =
                |it: &&Definition| !it.kind.is_value() && (*from..*upto).contains(&it.head) && it.end > *upto;
            // Another head may have come in its place.
            let heads: Vec<_> = definitions.file.iter().filter(is_cut).map(|it| it.head).collect();
            let is_head = |op: &Op| {
                self.rows(*op).any(|row| {
                    let is_like = |it: &usize| self.all.are_twins(&self.sketch.rows[row].text, *it);
                    definitions.head_of_sketch(row).is_some() || heads.iter().any(is_like)
                })
            };
            let is_new = |it: &&Op| matches!(it, Op::Insert { .. });
            let above = ops[..at].iter().rev().take_while(is_new);
            let has_head = above.chain(ops[at + 1..].iter().take_while(is_new)).any(is_head);
            if !has_head && !heads.is_empty() {
                let rows: Vec<_> = ops[at + 1..].iter().flat_map(|it| self.rows(*it)).take(1).collect();
                return Some(self.several(&rows));
            }
        }
        None
    }

    /// Lines are found outside of the block whose head the sketch has above them.
    pub(super) fn leaves_a_block(&self, arrangement: &Arrangement) -> Option<Reason> {
        for ops in arrangement.pieces() {
            let is_outside = |op: &Op| match op {
                Op::Match { row, line } => {
                    let text = &self.sketch.rows[*row].text;
                    !is_closer(text) && self.all.definitions.is_outside(*row, *line)
                }
                _ => false,
            };
            if ops.iter().any(is_outside) {
                let rows: Vec<_> = ops.iter().flat_map(|it| self.rows(*it)).collect();
                let number = |row: Option<&usize>| row.map_or(1, |it| self.sketch.rows[*it].number);
                return Some(Reason::OtherBlock { first: number(rows.first()), last: number(rows.last()) });
            }
        }
        None
    }

    /// A function that takes its object as an argument goes to the margin, though it may be meant for a type.
    pub(super) fn may_be_member(&self, arrangement: &Arrangement) -> Option<Reason> {
        let definitions = &self.all.definitions;
        let takes_object = |it: &str| {
            ["(self", "(&self", "(&mut self", "(mut self", "(cls"].iter().any(|own| it.starts_with(own))
        };
        let inserted = arrangement.ops.iter().filter_map(|it| match it {
            Op::Insert { row, .. } => definitions.head_of_sketch(*row),
            _ => None,
        });
        let known =
            || definitions.file.iter().filter(|it| it.kind == Kind::Function && takes_object(&it.parameters));
        let is_usual = known().any(|it| it.level > 0) && !known().any(|it| it.level == 0);
        let mut lost = inserted
            .filter(|it| is_usual && it.is_new() && it.it.level == 0 && takes_object(&it.it.parameters));
        lost.next().map(|it| self.several(&[it.it.head]))
    }

    /// Lines are deleted up to a single line at the edge of a piece, and one of them is much like it: that one may be meant to
    /// become the line, which is further away in the file by chance.
    pub(super) fn deletes_a_twin(&self, arrangement: &Arrangement) -> Option<Reason> {
        for ops in arrangement.pieces() {
            for (at, it) in ops.iter().enumerate() {
                let Op::Delete { from, upto } = it else { continue };
                let said = |ops: &[Op]| -> Vec<usize> {
                    let rows = ops.iter().flat_map(|it| self.rows(*it));
                    rows.filter(|it| !is_closer(&self.sketch.rows[*it].text)).collect()
                };
                for edge in [said(&ops[..at]), said(&ops[at + 1..])] {
                    let [row] = edge[..] else { continue };
                    let text = self.sketch.rows[row].text.trim();
                    let is_twin = |line: usize| {
                        self.all.has_same_key(text, line)
                            || (self.deleted(*it) > FEW && self.all.are_twins(text, line))
                    };
                    if (*from..*upto).any(is_twin) {
                        return Some(self.several(&[row]));
                    }
                }
            }
        }
        None
    }

    /// A new line at the edge of a piece, next to one of the file that it may be after a change: one that gives a value to the
    /// same key, leaves the same block, or begins alike.
    pub(super) fn doubles_a_line(&self, arrangement: &Arrangement) -> Option<Reason> {
        let bare = &self.all.file.bare;
        for ops in arrangement.pieces() {
            let said: Vec<_> = ops
                .iter()
                .filter(|it| self.rows(**it).any(|row| !self.sketch.rows[row].is_blank()))
                .collect();
            let edges = [(said.first(), true), (said.last(), false)];
            for (edge, is_above) in edges {
                let Some(Op::Insert { row, before }) = edge else { continue };
                let is_open = if is_above { *row > 0 } else { *row + 1 < self.sketch.rows.len() };
                let beside = match is_above {
                    // Above the first new line stand lines that a marker stands for.
                    true => bare[..*before].iter().rposition(|it| !it.is_empty()),
                    false => (*before..bare.len()).find(|it| !bare[*it].is_empty()),
                };
                let is_twin = |line: usize| self.is_changed_twin(*row, line);
                if is_open && !self.all.rows[*row].is_new && beside.is_some_and(is_twin) {
                    return Some(self.several(&[*row]));
                }
            }
        }
        None
    }

    fn is_changed_twin(&self, row: usize, line: usize) -> bool {
        let (text, there) = (&self.sketch.rows[row].text, self.file.lines()[line]);
        if indentation(text) != indentation(there) {
            return false;
        }
        let (text, there) = (text.trim(), there.trim());
        let word =
            |it: &str| it.split(|it: char| !it.is_alphanumeric()).next().unwrap_or_default().to_owned();
        let same_word = !word(text).is_empty() && word(text) == word(there);
        let opens = |it: &str| it.ends_with(['{', ':', '(']) || it.ends_with("do") || it.ends_with("then");
        let tag = |it: &str| it.strip_prefix('<').map(word);
        let is_only_tag = || {
            let own = tag(text).filter(|it| !it.is_empty());
            let same = |it: &&&str| own.is_some() && tag(it) == own;
            own == tag(there) && self.all.file.bare.iter().filter(same).count() == 1
        };
        self.all.has_same_key(text, line)
            || (same_word && LEAVES.contains(&&*word(text)))
            || (same_word && opens(text) && opens(there) && self.all.are_twins(text, line))
            || (text.starts_with('<') && is_only_tag())
    }

    /// No line of the file says where a piece goes.
    pub(super) fn has_no_anchor(&self, arrangement: &Arrangement) -> Option<Reason> {
        let is_placed = |op: &Op| match op {
            Op::Substitution { .. } => true,
            Op::Match { row, line } => {
                self.all.is_anchor(*row, *line)
                    || self.all.weight(&self.sketch.rows[*row].text) >= WORDS
                    || self.closes_named(*row, *line)
                    || self.all.file.times(&self.sketch.rows[*row].text) == 1
            }
            Op::Insert { row, .. } => self.is_placed(*row),
            Op::Skip { .. } | Op::Delete { .. } => false,
        };
        let rows_of = |ops: &[Op]| -> Vec<usize> { ops.iter().flat_map(|it| self.rows(*it)).collect() };
        let rows = &self.sketch.rows;
        // A line of the file above all others is rather where it stands already.
        let is_unknown = |it: &usize| self.all.file.places(rows[*it].text.trim()).is_empty();
        for ops in arrangement.pieces() {
            let own = rows_of(ops);
            let is_top = own.first() == Some(&0) && !arrangement.is_open_above && own.iter().all(is_unknown);
            let is_bottom = own.last() == Some(&(rows.len() - 1)) && !arrangement.is_open_below;
            let is_closer = own.iter().all(|it| is_closer(&rows[*it].text));
            if !is_closer && !ops.iter().any(is_placed) && !is_top && !is_bottom {
                let (first, last) = (rows[*own.first()?].number, rows[*own.last()?].number);
                return Some(Reason::NoAnchor { first, last });
            }
        }
        None
    }

    /// Whether a line ends the block whose head stands alone above it.
    fn closes_named(&self, row: usize, line: usize) -> bool {
        let blocks = self.all.definitions.named[row].as_deref().unwrap_or_default();
        blocks.len() == 1 && is_closer(&self.sketch.rows[row].text) && blocks[0].end == line + 1
    }

    /// New lines at an end without a marker, though lines of the file are beyond it: those may go or stay.
    pub(super) fn has_open_end(&self, arrangement: &Arrangement) -> Option<Reason> {
        let is_unplaced = |op: &Op| match op {
            Op::Insert { row, .. } => !self.is_placed(*row),
            Op::Match { row, line } => {
                let is_head = self.all.definitions.head_of_sketch(*row).is_some();
                !is_head && self.all.file.bare[*line] != self.sketch.rows[*row].text.trim()
            }
            _ => false,
        };
        let pieces = arrangement.pieces();
        let above = arrangement.is_open_above
            && pieces
                .first()
                .is_some_and(|it| is_unplaced(&it[0]) || self.may_go(&(0..self.first_line(it[0]))));
        // A definition that goes to the end of its scope ends there.
        let is_placed = |it: &&[Op]| matches!(it[0], Op::Insert { row, .. } if self.is_placed(row));
        let last = pieces.last().filter(|it| !is_placed(it));
        let end = match arrangement.ops.last() {
            Some(Op::Skip { from, upto }) => *from..*upto,
            _ => 0..0,
        };
        let below = arrangement.is_open_below
            && last.is_some_and(|it| is_unplaced(&it[it.len() - 1]) || self.may_go(&end));
        let end = match (above, below) {
            (true, _) => "above",
            (_, true) => "below",
            _ => return None,
        };
        Some(Reason::OpenEnd { end })
    }

    /// Whether lines that no marker stands for may be meant to go: no more than the edit has, no definition among them, and not
    /// only comments and what frames a file.
    fn may_go(&self, lines: &Range<usize>) -> bool {
        let is_comment = |it: &&str| {
            it.is_empty()
                || self.parser.kind.is_aside(it)
                || it.starts_with(['*', '#'])
                || it.starts_with("<!--")
        };
        let stays = |it: &&str| frames(it) || (lines.start == 0 && is_comment(it));
        if self.all.file.bare[lines.clone()].iter().all(stays) {
            return false;
        }
        let said = self.all.file.bare[lines.clone()].iter().filter(|it| !it.is_empty()).count();
        let own = self.sketch.rows.iter().filter(|it| !it.is_marker && !it.is_blank()).count();
        let defines = |it: &Definition| !it.kind.is_value() && lines.contains(&it.head);
        let is_defined = self.all.definitions.file.iter().any(defines);
        self.sketch.has_marker() && (1..=own).contains(&said) && !is_defined
    }

    /// Without any marker, an edit that begins or ends with a line that the file has not.
    pub(super) fn has_open_edges(&self, ops: &[Op]) -> Option<Reason> {
        if self.sketch.has_marker() || self.is_framed() {
            return None;
        }
        let said = ops.iter().filter(|op| match op {
            Op::Insert { row, .. } | Op::Match { row, .. } => !self.sketch.rows[*row].is_blank(),
            Op::Substitution { .. } | Op::Delete { .. } => true,
            Op::Skip { .. } => false,
        });
        let said: Vec<_> = said.collect();
        let is_firm = |op: Option<&&Op>| match op {
            Some(Op::Substitution { .. }) => true,
            Some(Op::Match { row, line }) => self.all.file.bare[*line] == self.sketch.rows[*row].text.trim(),
            _ => false,
        };
        (!is_firm(said.first()) || !is_firm(said.last())).then_some(Reason::WholeOrPart)
    }

    /// The head of a definition is new, though the file has one of its name in that scope.
    pub(super) fn defines_twice(&self, ops: &[Op]) -> Option<Reason> {
        let inserted = ops.iter().filter_map(|it| match it {
            Op::Insert { row, .. } if !self.all.rows[*row].is_new => {
                self.all.definitions.head_of_sketch(*row)
            }
            _ => None,
        });
        let is_twice = |it: &&Defined| {
            matches!(it.it.kind, Kind::Function | Kind::Type)
                && it.it.end > it.it.head + 1
                && !it.same.is_empty()
        };
        let mut twice = inserted.filter(is_twice).filter(|_| !self.parser.has_overloads());
        twice.next().map(|it| Reason::Twice { name: it.it.name.clone() })
    }
}

/// Whether a line frames a whole file, such as a directive on how it is read, or a macro that opens or ends a namespace.
fn frames(line: &str) -> bool {
    const BEGINNINGS: [&str; 6] = ["package ", "'use ", "\"use ", "<?php", "from __future__ ", "#endif"];
    let is_macro = |it: &str| it.len() > 3 && it.chars().all(|it| it.is_ascii_uppercase() || it == '_');
    line.is_empty() || BEGINNINGS.iter().any(|it| line.starts_with(it)) || is_macro(line)
}
