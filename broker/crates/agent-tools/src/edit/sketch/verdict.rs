//! Whether the best reading of a sketch is the one that is meant.

use std::{cell::OnceCell, collections::HashMap};

use super::{
    super::{
        definitions::{self, Kind},
        outcome::{Changed, Reason, Refused},
        parser::Parser,
        text::{Text, is_blank},
    },
    alignment::{Arrangement, Op},
    candidates::Candidates,
    definitions::Defined,
    file_lines::{STRONG, Score, is_closer},
    render::Renderer,
    rivals::{self, rivals},
    rows::Sketch,
    syntax::Syntax,
};

/// Two readings whose scores differ by less are as likely.
const MARGIN: Score = 180;

/// And where one of them uses a line of the file that the other puts there a second time.
const WIDE_MARGIN: Score = 800;

/// And where one of them keeps lines that the other deletes.
const KEPT_MARGIN: Score = 1500;

/// For a text that its grammar has no place for.
const BROKEN: Score = 900;

/// What may be deleted, in the costs of the alignment: more than 20 lines, or several definitions.
const MOST_DELETED: Score = 1500;

/// Readings whose rivals are asked for.
const MOST_EXPANDED: usize = 3;

/// Weight of a line that is more than a bracket.
const WORDS: Score = 50;

/// Readings that a refusal shows.
const SHOWN: usize = 2;

/// A sketch whose place is certain.
pub(in super::super) struct Placed {
    pub(in super::super) changed: Changed,
    /// Whether what is edited begins and ends with whole definitions.
    pub(in super::super) is_framed: bool,
}

/// A text that the sketch may mean.
struct Reading {
    arrangement: Arrangement,
    text: String,
    margin: Score,
    /// Whether its grammar has no place for it; looked at where it matters.
    is_broken: OnceCell<bool>,
}

pub(super) struct Judge<'j, 'a> {
    pub(super) file: &'j Text<'a>,
    pub(super) sketch: &'j Sketch<'j>,
    pub(super) all: &'j Candidates<'j>,
    pub(super) parser: &'j Parser<'j>,
}

impl Judge<'_, '_> {
    /// The text of the best reading, if no other one is as good.
    pub(super) fn judged(&self, best: Arrangement, mut notes: Vec<String>) -> Result<Placed, Refused> {
        let syntax = Syntax::of(self.file, self.parser);
        let readings = self.readings(best, &syntax);
        let refuse = |reason: Reason| self.refused(reason, &readings);
        let Some(best) = readings.first() else { return Err(refuse(self.several(&[]))) };
        if best.is_broken(&syntax) && !self.is_held(&best.arrangement) {
            return Err(refuse(Reason::BreaksSyntax));
        }
        if let Some(reason) = self.veto(best) {
            return Err(refuse(reason));
        }
        let own = squeezed(&best.text);
        let is_rival = |it: &&Reading| {
            best.arrangement.score - it.arrangement.score < it.margin
                && squeezed(&it.text) != own
                && !it.is_broken(&syntax)
        };
        if let Some(rival) = readings[1..].iter().find(is_rival) {
            return Err(refuse(self.several(&self.difference(best, rival))));
        }
        notes.extend(self.assumed(&best.arrangement));
        let is_framed = self.is_framed();
        Ok(Placed { changed: Changed { text: best.text.clone(), notes }, is_framed })
    }

    /// The best arrangement and its rivals as texts, the likeliest first.
    fn readings(&self, best: Arrangement, syntax: &Syntax<'_>) -> Vec<Reading> {
        let renderer = Renderer {
            file: self.file,
            sketch: self.sketch,
            all: self.all,
            is_python: self.parser.language.is_some_and(|it| it.name() == "python"),
        };
        let reading = |arrangement: Arrangement, margin| {
            let text = renderer.text(&arrangement);
            Reading { arrangement, text, margin, is_broken: OnceCell::new() }
        };
        let mut readings = vec![reading(best, MARGIN)];
        let mut expanded: Vec<Vec<Op>> = Vec::new();
        // Where a rival turns out to be better, as the first one breaks the syntax, its own rivals count.
        while let Some(best) = readings.first().filter(|it| !expanded.contains(&it.arrangement.ops)) {
            if expanded.len() == MOST_EXPANDED {
                break;
            }
            expanded.push(best.arrangement.ops.clone());
            let least = best.arrangement.score - BROKEN;
            for it in rivals(&best.arrangement, self.all, self.sketch) {
                let Some(found) = it.arrangement(self.all) else { continue };
                let margin = match it.kind {
                    rivals::Kind::Other => MARGIN,
                    rivals::Kind::OfCopy | rivals::Kind::Appends => WIDE_MARGIN,
                    rivals::Kind::Keeps if self.copies_at_edge(&found) => MARGIN,
                    rivals::Kind::Keeps => KEPT_MARGIN,
                };
                if it.kind == rivals::Kind::Other && self.makes_copies(&found) {
                    continue;
                }
                let is_known = |it: &Reading| it.arrangement.ops == found.ops && it.margin >= margin;
                if found.score >= least - margin && !readings.iter().any(is_known) {
                    readings.push(reading(found, margin));
                }
            }
            sort(&mut readings, syntax);
        }
        readings
    }

    fn refused(&self, reason: Reason, readings: &[Reading]) -> Refused {
        let mut shown: Vec<(String, String)> = Vec::new();
        for it in readings {
            if !shown.iter().any(|known| squeezed(&known.1) == squeezed(&it.text)) {
                shown.push((self.described(&it.arrangement), it.text.clone()));
            }
        }
        shown.truncate(SHOWN);
        Refused::with_readings(reason, &self.file.replaced(&[], None), shown)
    }

    fn several(&self, rows: &[usize]) -> Reason {
        let number = |it: &usize| self.sketch.rows[*it].number;
        let all = self.sketch.rows.iter().filter(|it| !it.is_marker).map(|it| it.number);
        let first = rows.iter().map(number).min().or_else(|| all.clone().min()).unwrap_or(1);
        let last = rows.iter().map(number).max().or_else(|| all.max()).unwrap_or(1);
        Reason::SeveralPlaces { first, last }
    }

    /// Rows of which two readings make something else.
    fn difference(&self, best: &Reading, rival: &Reading) -> Vec<usize> {
        let of = |it: &Reading| -> HashMap<usize, Op> {
            let ops = it.arrangement.ops.iter();
            ops.flat_map(|op| self.rows(*op).map(|row| (row, *op))).collect()
        };
        let (a, b) = (of(best), of(rival));
        let mut rows: Vec<_> = a.keys().filter(|it| a.get(it) != b.get(it)).copied().collect();
        rows.retain(|it| !self.sketch.rows[*it].is_blank());
        rows.sort_unstable();
        rows
    }

    /// What a reading does, as a sentence.
    fn described(&self, arrangement: &Arrangement) -> String {
        let (mut replaced, mut added) = (Vec::new(), 0);
        for piece in arrangement.pieces() {
            let lines = piece.iter().filter_map(|it| match it {
                Op::Match { line, .. } => Some(*line..line + 1),
                Op::Delete { from, upto } => Some(*from..*upto),
                Op::Jump { jump } => Some(self.all.jumps[*jump].lines.clone()),
                Op::Insert { .. } | Op::Skip { .. } => None,
            });
            let lines: Vec<_> = lines.collect();
            match (lines.first(), lines.last()) {
                (Some(first), Some(last)) => replaced.push(format!("{}-{}", first.start + 1, last.end)),
                _ => added += 1,
            }
        }
        let added = if added > 0 { ", and new lines are added" } else { "" };
        match replaced.is_empty() {
            true => "new lines are added".to_owned(),
            false => format!("the edit takes the place of lines {}{added}", replaced.join(", ")),
        }
    }

    /// What the sketch left open, and what was made of it.
    fn assumed(&self, arrangement: &Arrangement) -> Vec<String> {
        let mut assumed = Vec::new();
        if arrangement.is_open_above {
            assumed.push("the lines above stay, though no marker stands for them".to_owned());
        }
        if arrangement.is_open_below {
            assumed.push("the lines below stay, though no marker stands for them".to_owned());
        }
        assumed
    }

    fn veto(&self, best: &Reading) -> Option<Reason> {
        let ops = &best.arrangement.ops;
        self.deletes_much(ops)
            .or_else(|| self.may_go_on(ops))
            .or_else(|| self.joins_definitions(&best.arrangement))
            .or_else(|| self.leaves_a_block(&best.arrangement))
            .or_else(|| self.deletes_a_twin(&best.arrangement))
            .or_else(|| self.may_be_member(&best.arrangement))
            .or_else(|| self.has_no_anchor(&best.arrangement))
            .or_else(|| self.has_open_end(&best.arrangement))
            .or_else(|| self.has_open_edges(ops))
            .or_else(|| self.inserts_copies(&best.arrangement))
            .or_else(|| self.defines_twice(ops))
    }

    /// Whether each piece begins and ends with lines of the file or whole definitions, so that its place is certain.
    fn is_held(&self, arrangement: &Arrangement) -> bool {
        let is_held = |op: Option<&Op>| op.is_some_and(|it| self.is_firm(*it));
        arrangement.pieces().into_iter().all(|it| is_held(it.first()) && is_held(it.last()))
    }

    /// Whether the sketch begins and ends with whole definitions of names that the file has.
    fn is_framed(&self) -> bool {
        let rows = self.sketch.rows.len();
        let known = || self.all.definitions.sketch.iter().filter(|it| it.is_whole && it.same.len() == 1);
        known().any(|it| it.it.lead == 0) && known().any(|it| it.it.end == rows)
    }

    fn deletes_much(&self, ops: &[Op]) -> Option<Reason> {
        let cost = |line: usize| {
            let column = self.all.columns.binary_search(&line).unwrap_or_default();
            self.all.gone[column]
        };
        let deleted = ops.iter().filter_map(|it| match it {
            Op::Delete { from, upto } => Some((*from, *upto)),
            _ => None,
        });
        let deleted: Vec<_> = deleted.collect();
        let all: Score = deleted.iter().map(|it| cost(it.1) - cost(it.0)).sum();
        let (from, upto) = deleted.into_iter().max_by_key(|it| it.1 - it.0)?;
        let count = self.file.lines()[from..upto].iter().filter(|it| !is_blank(it)).count();
        (all > MOST_DELETED).then_some(Reason::LargeDeletion { line: from + 1, count })
    }

    /// A definition takes the place of one that may be longer than what the sketch shows of it.
    fn may_go_on(&self, ops: &[Op]) -> Option<Reason> {
        let mut jumps = ops.iter().filter_map(|it| match it {
            Op::Jump { jump } => Some(&self.all.jumps[*jump]),
            _ => None,
        });
        jumps.find(|it| it.may_go_on).map(|it| self.several(&[it.rows.end - 1]))
    }

    /// The head of a definition goes while the rest of it stays, below what stood before it.
    fn joins_definitions(&self, arrangement: &Arrangement) -> Option<Reason> {
        let definitions = &self.all.definitions;
        let ops = &arrangement.ops;
        for (at, it) in ops.iter().enumerate() {
            let Op::Delete { from, upto } = it else { continue };
            let is_cut = |it: &&definitions::Definition| {
                it.kind != Kind::Value && (*from..*upto).contains(&it.head) && it.end > *upto
            };
            // Another head may have come in its place.
            let is_head = |op: &Op| self.rows(*op).any(|row| definitions.head_of_sketch(row).is_some());
            let is_new = |it: &&Op| matches!(it, Op::Insert { .. });
            let above = ops[..at].iter().rev().take_while(is_new);
            let has_head = above.chain(ops[at + 1..].iter().take_while(is_new)).any(is_head);
            if !has_head && definitions.file.iter().any(|it| is_cut(&it)) {
                let rows: Vec<_> = ops[at + 1..].iter().flat_map(|it| self.rows(*it)).take(1).collect();
                return Some(self.several(&rows));
            }
        }
        None
    }

    /// Lines are found outside of the block whose head the sketch has above them.
    fn leaves_a_block(&self, arrangement: &Arrangement) -> Option<Reason> {
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
    fn may_be_member(&self, arrangement: &Arrangement) -> Option<Reason> {
        let definitions = &self.all.definitions;
        let takes_object = |it: &str| {
            ["(self", "(&self", "(&mut self", "(mut self", "(cls"].iter().any(|own| it.starts_with(own))
        };
        let inserted = arrangement.ops.iter().filter_map(|it| match it {
            Op::Insert { row, .. } => definitions.head_of_sketch(*row),
            _ => None,
        });
        let known = || definitions.file.iter().filter(|it| takes_object(&it.parameters));
        let is_usual = known().any(|it| it.level > 0) && !known().any(|it| it.level == 0);
        let mut lost = inserted
            .filter(|it| is_usual && it.is_new() && it.it.level == 0 && takes_object(&it.it.parameters));
        lost.next().map(|it| self.several(&[it.it.head]))
    }

    /// Lines are deleted up to a single line at the edge of a piece, and one of them is much like it: that one may be meant to
    /// become the line, which is further away in the file by chance.
    fn deletes_a_twin(&self, arrangement: &Arrangement) -> Option<Reason> {
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
                    if (*from..*upto).any(|it| self.all.are_twins(text, it)) {
                        return Some(self.several(&[row]));
                    }
                }
            }
        }
        None
    }

    /// No line of the file says where a piece goes.
    fn has_no_anchor(&self, arrangement: &Arrangement) -> Option<Reason> {
        let is_placed = |op: &Op| match op {
            Op::Jump { .. } => true,
            Op::Match { row, line } => {
                self.all.is_anchor(*row, *line) || self.all.weight(&self.sketch.rows[*row].text) >= WORDS
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

    /// New lines at an end without a marker, though lines of the file are beyond it: those may go or stay.
    fn has_open_end(&self, arrangement: &Arrangement) -> Option<Reason> {
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

    /// Whether lines that no marker stands for may be meant to go: no more than the edit has, and no definition among them.
    fn may_go(&self, lines: &std::ops::Range<usize>) -> bool {
        let said = self.all.file.bare[lines.clone()].iter().filter(|it| !it.is_empty()).count();
        let own = self.sketch.rows.iter().filter(|it| !it.is_marker && !it.is_blank()).count();
        let defines = |it: &definitions::Definition| it.kind != Kind::Value && lines.contains(&it.head);
        let is_defined = self.all.definitions.file.iter().any(defines);
        self.sketch.has_marker() && (1..=own).contains(&said) && !is_defined
    }

    /// Whether a row begins something new that has a place: a definition, or imports.
    fn is_placed(&self, row: usize) -> bool {
        self.all.rows[row].inserts.iter().any(|it| it.1 < 0)
    }

    fn rows(&self, op: Op) -> std::ops::Range<usize> {
        match op {
            Op::Match { row, .. } | Op::Insert { row, .. } => row..row + 1,
            Op::Jump { jump } => self.all.jumps[jump].rows.clone(),
            Op::Skip { .. } | Op::Delete { .. } => 0..0,
        }
    }

    /// Without any marker, the edit begins and ends with lines of the file.
    fn has_open_edges(&self, ops: &[Op]) -> Option<Reason> {
        if self.sketch.has_marker() || self.is_framed() {
            return None;
        }
        let said = ops.iter().filter(|op| match op {
            Op::Insert { row, .. } | Op::Match { row, .. } => !self.sketch.rows[*row].is_blank(),
            Op::Jump { .. } | Op::Delete { .. } => true,
            Op::Skip { .. } => false,
        });
        let said: Vec<_> = said.collect();
        let is_firm = |op: Option<&&Op>| match op {
            Some(Op::Jump { .. }) => true,
            Some(Op::Match { row, line }) => self.all.file.bare[*line] == self.sketch.rows[*row].text.trim(),
            _ => false,
        };
        (!is_firm(said.first()) || !is_firm(said.last())).then_some(Reason::WholeOrPart)
    }

    /// A telling line is put into the file a second time at the edge of a piece, or lines that stand there already.
    fn inserts_copies(&self, arrangement: &Arrangement) -> Option<Reason> {
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

    /// Whether a line that stands in the file once, and stays, is also new, or what another line becomes.
    fn makes_copies(&self, arrangement: &Arrangement) -> bool {
        let ops = &arrangement.ops;
        let stays = |line: usize| {
            !ops.iter().any(|it| matches!(it, Op::Delete { from, upto } if (*from..*upto).contains(&line)))
        };
        let is_copy = |row: usize, there: Option<usize>| {
            let text = self.sketch.rows[row].text.trim();
            match self.all.file.places(text) {
                [place] => Some(*place) != there && self.all.weight(text) >= STRONG && stays(*place),
                _ => false,
            }
        };
        ops.iter().any(|it| match *it {
            Op::Insert { row, .. } => !self.all.rows[row].is_new && is_copy(row, None),
            Op::Match { row, line } => is_copy(row, Some(line)),
            _ => false,
        })
    }

    /// Whether a line of the file is put there a second time with nothing of the file between it and a marker.
    fn copies_at_edge(&self, arrangement: &Arrangement) -> bool {
        let is_copy = |op: &Op| match op {
            Op::Insert { row, .. } => {
                let text = self.sketch.rows[*row].text.trim();
                self.all.weight(text) >= STRONG && !self.all.file.places(text).is_empty()
            }
            _ => false,
        };
        let is_firm = |op: &Op| matches!(op, Op::Match { .. } | Op::Jump { .. });
        arrangement.pieces().into_iter().any(|ops| {
            let first = ops.iter().position(is_firm).unwrap_or(ops.len());
            let last = ops.iter().rposition(is_firm).map_or(0, |it| it + 1);
            ops[..first].iter().chain(&ops[last..]).any(is_copy)
        })
    }

    fn first_line(&self, op: Op) -> usize {
        match op {
            Op::Match { line, .. } => line,
            Op::Insert { before, .. } => before,
            Op::Jump { jump } => self.all.jumps[jump].lines.start,
            Op::Skip { from, .. } | Op::Delete { from, .. } => from,
        }
    }

    fn copied(
        &self,
        edge: &[Op],
        is_above: bool,
        beyond: &std::ops::Range<usize>,
        text: &str,
    ) -> Option<usize> {
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

    fn is_firm(&self, op: Op) -> bool {
        match op {
            Op::Jump { .. } => true,
            Op::Match { row, .. } => self.all.weight(&self.sketch.rows[row].text) >= STRONG,
            _ => false,
        }
    }

    /// The head of a definition is new, though the file has one of its name in that scope.
    fn defines_twice(&self, ops: &[Op]) -> Option<Reason> {
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

/// The likeliest reading first, the others by what they earn. Each look at the syntax costs as much as all else.
fn sort(readings: &mut [Reading], syntax: &Syntax<'_>) {
    readings.sort_by_key(|it| std::cmp::Reverse(it.arrangement.score));
    let (mut best, mut at) = (None, 0);
    while let Some(it) = readings.get(at) {
        let most: Score = it.arrangement.score;
        if best.is_some_and(|(score, _)| score >= most) {
            break;
        }
        let score = most - if it.is_broken(syntax) { BROKEN } else { 0 };
        if best.is_none_or(|(known, _)| score > known) {
            best = Some((score, at));
        }
        at += 1;
    }
    if let Some((_, at)) = best {
        readings[..=at].rotate_right(1);
    }
}

impl Reading {
    fn is_broken(&self, syntax: &Syntax<'_>) -> bool {
        *self.is_broken.get_or_init(|| syntax.is_worse(&self.text))
    }
}

/// A text without whitespace at the ends of lines, and without lines that say nothing, such as blank ones and empty ones of
/// comments: two that differ in nothing else are one.
fn squeezed(text: &str) -> String {
    let is_said = |it: &char| it.is_alphanumeric() || "{}()[]".contains(*it);
    let lines = text.lines().map(str::trim_end).filter(|it| it.chars().any(|it| is_said(&it)));
    lines.collect::<Vec<_>>().join("\n")
}
