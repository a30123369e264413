//! What each row of a sketch may be in the file, with what that earns or costs: pairs of lines, definitions that take the
//! place of one of their name, and the costs of new and of deleted lines.
//!
//! The alignment looks only at columns, which are places between lines of the file where a row may begin or end something.

use std::{collections::HashMap, ops::Range};

use super::{
    super::{
        definitions::{Definition, Kind},
        parser::Parser,
    },
    definitions::{Defined, Definitions},
    file_lines::{FileLines, STRONG, Score, Token},
    rows::Sketch,
};

/// Costs and gains, in hundredths of what a line is worth that has four letters and stands in the file once.
mod price {
    use super::Score;

    /// For a change or a deletion between a marker and the nearest anchor.
    pub(in super::super) const EDGE: Score = 350;
    pub(in super::super) const INSERT: Score = 15;
    pub(in super::super) const INSERT_BLANK: Score = -1;
    /// For a new line that the file has once already; more if it stands next to it, or near.
    pub(super) const COPY: Score = 150;
    pub(super) const COPY_BESIDE: Score = 200;
    pub(super) const COPY_NEAR: Score = 300;
    pub(super) const DELETE_LINE: Score = 50;
    pub(super) const DELETE_BRACKET: Score = 35;
    pub(super) const DELETE_BLANK: Score = 5;
    /// For the head of a definition that the sketch does not name.
    pub(super) const DELETE_HEAD: Score = 300;
    pub(super) const HEAD: Score = 200;
    pub(super) const CHANGED_HEAD: Score = 300;
    pub(super) const OUT_OF_SCOPE: Score = 400;
    pub(super) const RENAMED: Score = 500;
    pub(super) const SAME_KEY: Score = 200;
    pub(super) const SAME_KEY_OF_DATA: Score = 800;
    pub(super) const REPLACED: Score = 600;
    /// Where the sketch has only the first lines of a definition: a marker was left out.
    pub(super) const CUT_SHORT: Score = 1200;
    pub(super) const OTHER_PARAMETERS: Score = 500;
    pub(super) const LOST_MEMBER: Score = 400;
    /// For a new definition, or new imports, where such things go.
    /// For the head of a definition that the file has.
    pub(super) const SECOND_HEAD: Score = 500;
    pub(super) const AT_PLACE: Score = 500;
}

pub(super) use price::{EDGE, INSERT, INSERT_BLANK};

/// Lines around a line that stands in the file once where another one of it would be its copy.
const NEAR: usize = 10;

/// Similarity of two lines from which on one may be the other after a change, in hundredths.
const SIMILAR: Score = 40;

/// Places of the rows around from which on the lines between are not looked at.
const MOST_BESIDE: usize = 20;

/// Similarity from which on a line is likely to be another one after a change, if its neighbours are less like it by so much.
const ALIKE: Score = 60;
const DISTINCT: Score = 15;
const BESIDE: usize = 4;

/// Pairs of a row with lines of the file that are looked at.
const MOST_PAIRS: usize = 4000;

pub(super) struct Candidates<'a> {
    pub(super) file: FileLines<'a>,
    pub(super) definitions: Definitions,
    /// Places between lines, as the number of lines before each, ascending.
    pub(super) columns: Vec<usize>,
    /// What it costs to delete all lines before each column.
    pub(super) gone: Vec<Score>,
    pub(super) rows: Vec<Candidate>,
    /// In the order of their last rows.
    pub(super) jumps: Vec<Jump>,
}

/// One row.
#[derive(Debug, Default)]
pub(super) struct Candidate {
    pub(super) is_marker: bool,
    pub(super) pairs: Vec<Pair>,
    /// What it costs to insert it, and what it costs more at some columns, or less.
    pub(super) insert: Score,
    pub(super) inserts: Vec<(usize, Score)>,
    /// The line of the file that it is a copy of, if it is inserted.
    pub(super) copy_of: Option<usize>,
    /// Whether it is of a definition that the file has not, so that it has no partner.
    pub(super) is_new: bool,
}

/// A row and a line that it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) line: usize,
    /// Number of the column above the line.
    pub(super) column: usize,
    pub(super) score: Score,
    pub(super) relation: Relation,
    /// What it costs that nothing but a marker is on one side of a change.
    pub(super) edge: Score,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// The same line, which says where it stands.
    Anchor,
    /// The same line, which stands at many places.
    Weak,
    /// The line after a change.
    Changed,
}

/// A definition that takes the place of one of its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Jump {
    pub(super) rows: Range<usize>,
    pub(super) lines: Range<usize>,
    pub(super) columns: (usize, usize),
    pub(super) score: Score,
    /// Numbers of the definitions of the sketch and of the file.
    pub(super) of: (usize, usize),
    /// Whether more of the file's definition may stay, as nothing shows where that of the sketch begins or ends.
    pub(super) may_go_on: bool,
}

impl<'a> Candidates<'a> {
    pub(super) fn new(sketch: &Sketch<'_>, lines: &'a [&'a str], parser: &Parser<'_>) -> Self {
        let maker = Maker {
            file: FileLines::new(lines),
            definitions: Definitions::new(sketch, lines, parser),
            sketch,
            parser,
        };
        let new_rows = maker.new_rows();
        let mut rows: Vec<_> = (0..sketch.rows.len()).map(|it| maker.candidate(it, new_rows[it])).collect();
        let mut jumps = maker.jumps(&new_rows);
        let at_place = maker.places(&new_rows);
        let columns = maker.columns(&rows, &jumps, &at_place);
        let number: HashMap<usize, usize> = columns.iter().enumerate().map(|(at, it)| (*it, at)).collect();
        for row in &mut rows {
            row.pairs.sort_by_key(|it| it.line);
            row.pairs.iter_mut().for_each(|it| it.column = number[&it.line]);
            row.inserts.retain(|it| number.contains_key(&it.0));
            row.inserts.iter_mut().for_each(|it| it.0 = number[&it.0]);
        }
        for (row, line) in at_place {
            rows[row].inserts.push((number[&line], -price::AT_PLACE));
        }
        for it in &mut jumps {
            it.columns = (number[&it.lines.start], number[&it.lines.end]);
        }
        jumps.sort_by_key(|it| it.rows.end);
        let gone = maker.gone(&columns);
        Self { columns, gone, rows, jumps, file: maker.file, definitions: maker.definitions }
    }

    /// Whether a row is a line of the file that says where it stands.
    pub(super) fn is_anchor(&self, row: usize, line: usize) -> bool {
        self.rows[row].pairs.iter().any(|it| it.line == line && it.relation == Relation::Anchor)
    }

    /// Whether two lines give a value to the same key, or are much alike.
    pub(super) fn are_twins(&self, text: &str, line: usize) -> bool {
        let there = self.file.bare[line];
        let same_key = key(text).is_some_and(|it| key(there) == Some(it));
        same_key || self.file.similarity(&self.file.tokens(text), line) >= ALIKE
    }

    /// What a row says by itself.
    pub(super) fn weight(&self, text: &str) -> Score {
        self.file.weight(text.trim())
    }
}

struct Maker<'s, 'a> {
    file: FileLines<'a>,
    definitions: Definitions,
    sketch: &'s Sketch<'s>,
    parser: &'s Parser<'s>,
}

impl Maker<'_, '_> {
    /// The rows of definitions that the file has not; and what follows below the last marker where it begins with one.
    fn new_rows(&self) -> Vec<bool> {
        let rows = &self.sketch.rows;
        let mut new = vec![false; rows.len()];
        let all = &self.definitions.sketch;
        for it in all.iter().filter(|it| it.is_new()) {
            it.it.lines().for_each(|row| new[row] = true);
        }
        let Some(last) = rows.iter().rposition(|it| it.is_marker).map(|it| it + 1) else { return new };
        let begins = |it: &Defined| it.it.lead == last && it.it.level == 0;
        if all.iter().any(|it| begins(it) && it.is_new()) {
            let is_known = |row: usize| all.iter().any(|it| !it.is_new() && it.it.body().contains(&row));
            (last..rows.len()).filter(|it| !is_known(*it)).for_each(|it| new[it] = true);
        }
        new
    }

    fn candidate(&self, row: usize, is_new: bool) -> Candidate {
        let it = &self.sketch.rows[row];
        let text = it.text.trim();
        if it.is_marker {
            return Candidate { is_marker: true, ..Candidate::default() };
        }
        let places = self.file.places(text);
        let is_said = text.chars().any(char::is_alphanumeric);
        let is_copy = places.len() == 1 && is_said;
        let insert = if text.is_empty() { INSERT_BLANK } else { INSERT };
        let near = is_copy && !is_new && self.file.times(&it.text) == 1 && self.file.weight(text) >= 200;
        let copy_of = near.then(|| places[0]);
        let pairs = if is_new { Vec::new() } else { self.pairs(row, text) };
        Candidate {
            is_marker: false,
            insert: insert
                + if is_copy && !is_new { price::COPY } else { 0 }
                + if self.definitions.head_of_sketch(row).is_some_and(|it| !it.same.is_empty()) {
                    price::SECOND_HEAD
                } else {
                    0
                },
            inserts: if is_said && !is_new { self.copies(places, copy_of) } else { Vec::new() },
            pairs,
            copy_of,
            is_new,
        }
    }

    /// What it costs more to insert a line next to others that are the same, by lines.
    fn copies(&self, places: &[usize], copy_of: Option<usize>) -> Vec<(usize, Score)> {
        let mut more: HashMap<usize, Score> = HashMap::new();
        for it in places.iter().take(MOST_PAIRS) {
            *more.entry(*it).or_default() += price::COPY_BESIDE;
            *more.entry(it + 1).or_default() += price::COPY_BESIDE;
        }
        if let Some(it) = copy_of {
            let near = it.saturating_sub(NEAR)..=(it + NEAR + 1).min(self.file.count());
            near.for_each(|it| *more.entry(it).or_default() += price::COPY_NEAR);
        }
        let mut more: Vec<_> = more.into_iter().collect();
        more.sort_unstable();
        more
    }

    fn pairs(&self, row: usize, text: &str) -> Vec<Pair> {
        let (above, below) = (self.neighbour(row, true), self.neighbour(row, false));
        let head = self.definitions.head_of_sketch(row);
        let mut pairs = Vec::new();
        let same = self.file.places(text);
        // Of a line that is everywhere, those next to the lines that it stands next to here.
        let looked =
            same.iter().copied().filter(|it| same.len() <= MOST_PAIRS || self.is_beside(*it, above, below));
        for line in looked.take(MOST_PAIRS) {
            let is_in = self.definitions.is_in_scope(row, line);
            let same_indent = self.is_indented_alike(row, line);
            let weight = self.file.weight_beside(line, same_indent, above, below);
            let mut score = weight;
            if !text.is_empty() {
                if !same_indent {
                    score = score * 7 / 10 - 20;
                }
                if !is_in {
                    score = if head.is_some() { score - price::OUT_OF_SCOPE } else { score / 2 };
                }
                if head.is_some() && is_in && self.definitions.head_of_file(line).is_some() {
                    score += price::HEAD;
                }
            }
            let is_anchor = score >= STRONG && same_indent;
            let relation = if is_anchor {
                Relation::Anchor
            } else if same_indent || text.is_empty() {
                Relation::Weak
            } else {
                Relation::Changed
            };
            pairs.push(Pair { line, column: 0, score, relation, edge: EDGE });
        }
        if !text.is_empty() {
            self.changed(row, text, head, (above, below), &mut pairs);
        }
        pairs
    }

    /// Lines that may be this one before a change.
    fn changed(
        &self,
        row: usize,
        text: &str,
        head: Option<&Defined>,
        (above, below): (Option<&str>, Option<&str>),
        pairs: &mut Vec<Pair>,
    ) {
        let tokens = self.file.tokens(text);
        let known: std::collections::HashSet<usize> = pairs.iter().map(|it| it.line).collect();
        if let Some(head) = head {
            for at in &head.same {
                let line = self.definitions.file[*at].head;
                if !known.contains(&line) {
                    let relation = Relation::Anchor;
                    pairs.push(Pair { line, column: 0, score: price::CHANGED_HEAD, relation, edge: EDGE });
                }
            }
        }
        let mut related = self.file.related(&tokens);
        let between = self.between(above, below);
        related.extend(&between);
        related.sort_unstable();
        related.dedup();
        for line in related {
            let is_known = known.contains(&line)
                || pairs.iter().any(|it| it.line == line && it.relation == Relation::Anchor);
            let there = self.definitions.head_of_file(line);
            if is_known || !self.definitions.is_in_scope(row, line) || head.is_some() != there.is_some() {
                continue;
            }
            let same_indent = self.is_indented_alike(row, line);
            if same_indent && self.file.is_close(&tokens, line) {
                let score = self.file.weight(self.file.bare[line]) * 9 / 10;
                let relation = if score >= STRONG { Relation::Anchor } else { Relation::Weak };
                pairs.push(Pair { line, column: 0, score, relation, edge: EDGE });
                continue;
            }
            let similarity = self.file.similarity(&tokens, line);
            if similarity < SIMILAR {
                continue;
            }
            let mut score = (similarity - SIMILAR) * 3 / 2 - 20;
            // A line that the file has is rather that one than another one after a change.
            if self.file.places(text).len() == 1 {
                score -= price::COPY;
            }
            if head.zip(there).is_some_and(|(a, b)| a.it.name != b.name) {
                score -= price::RENAMED;
            }
            if same_indent && key(text).is_some_and(|it| key(self.file.bare[line]) == Some(it)) {
                let is_beside = between.contains(&line) && self.parser.is_data();
                score += if is_beside { price::SAME_KEY_OF_DATA } else { price::SAME_KEY };
            }
            let edge = self.edge(&tokens, similarity, line, (above, below));
            pairs.push(Pair { line, column: 0, score, relation: Relation::Changed, edge });
        }
    }

    /// The nearest row above or below that is not blank, up to a marker.
    fn neighbour(&self, row: usize, above: bool) -> Option<&str> {
        let rows = &self.sketch.rows;
        let next =
            |it: usize| if above { it.checked_sub(1) } else { Some(it + 1).filter(|it| *it < rows.len()) };
        let mut at = next(row)?;
        while !rows[at].is_marker && rows[at].is_blank() {
            at = next(at)?;
        }
        (!rows[at].is_marker).then(|| rows[at].text.trim())
    }

    /// The cost of a change next to a marker: less for a line that is more like the one in the file than like its neighbours.
    fn edge(
        &self,
        tokens: &[Token],
        similarity: Score,
        line: usize,
        (above, below): (Option<&str>, Option<&str>),
    ) -> Score {
        let of_rows = [above, below].into_iter().flatten();
        let of_rows = of_rows.map(|it| self.file.similarity_of(tokens, &self.file.tokens(it))).max();
        let around = line.saturating_sub(BESIDE)..(line + BESIDE + 1).min(self.file.count());
        let of_file = around.filter(|it| *it != line).map(|it| self.file.similarity(tokens, it)).max();
        let least = of_rows.max(of_file).unwrap_or_default() + DISTINCT;
        if similarity < ALIKE || similarity < least { EDGE } else { EDGE - (similarity - ALIKE) * 8 }
    }

    /// Lines below one that is the row above, and above one that is the row below, where those stand at few places.
    fn between(&self, above: Option<&str>, below: Option<&str>) -> Vec<usize> {
        let places = |text: Option<&str>| {
            let places = text.map_or(&[][..], |it| self.file.places(it));
            if places.len() > MOST_BESIDE { &[] } else { places }
        };
        let under = places(above).iter().map(|it| it + 1).filter(|it| *it < self.file.count());
        let over = places(below).iter().filter_map(|it| it.checked_sub(1));
        under.chain(over).collect()
    }

    fn is_beside(&self, line: usize, above: Option<&str>, below: Option<&str>) -> bool {
        let at = |it: Option<usize>| it.and_then(|it| self.file.bare.get(it).copied());
        (above.is_some() && at(line.checked_sub(1)) == above)
            || (below.is_some() && at(Some(line + 1)) == below)
    }

    fn is_indented_alike(&self, row: usize, line: usize) -> bool {
        let indent = super::super::text::indentation;
        indent(&self.sketch.rows[row].text) == indent(self.file.lines[line])
    }

    /// Each whole definition in the place of each of its name.
    fn jumps(&self, new_rows: &[bool]) -> Vec<Jump> {
        let mut jumps = Vec::new();
        for (number, it) in self.definitions.sketch.iter().enumerate() {
            let is_line = it.it.kind == Kind::Value && it.it.end == it.it.head + 1;
            if !it.is_whole || is_line || it.it.kind == Kind::Entry || new_rows[it.it.head] {
                continue;
            }
            for at in &it.same {
                let there = &self.definitions.file[*at];
                let score = self.replacement(it, there);
                let of = (number, *at);
                let may_go_on = self.may_go_on(&it.it, there);
                let plain =
                    Jump { rows: it.it.body(), lines: there.body(), columns: (0, 0), score, of, may_go_on };
                jumps.extend(self.with_lead(&it.it, there, &plain));
                if it.it.lead == it.it.head || there.lead == there.head {
                    // What the sketch does not show above the head stays.
                    let rows = it.it.lines();
                    jumps.push(Jump { rows, ..plain });
                } else {
                    let shares = self
                        .texts(it.it.lead..it.it.head)
                        .any(|row| self.file.bare[there.lead..there.head].contains(&row));
                    jumps.push(Jump { score: score - if shares { 100 } else { 300 }, ..plain });
                }
            }
        }
        jumps
    }

    /// With the comments, attributes and decorators above both.
    fn with_lead(&self, it: &Definition, there: &Definition, plain: &Jump) -> Option<Jump> {
        if it.lead == it.head || there.lead == there.head {
            return None;
        }
        let own: Vec<_> = self.texts(it.lead..it.head).collect();
        let begins = it.lead == 0 || self.sketch.rows[it.lead - 1].is_marker;
        let lead = &self.file.bare[there.lead..there.head];
        let (first, is_clear) = if begins { self.begin_of_lead(&own, lead) } else { (0, true) };
        let kept: Score =
            own.iter().filter(|it| lead.contains(*it)).map(|it| self.file.weight_in_context(it)).sum();
        let gone = lead[first..].iter().filter(|it| !own.contains(*it)).count();
        let score = plain.score + kept - price::DELETE_LINE * count(gone);
        let may_go_on = plain.may_go_on || !is_clear;
        Some(Jump {
            rows: it.lines(),
            lines: there.lead + first..there.end,
            score,
            may_go_on,
            ..plain.clone()
        })
    }

    /// The first line above a head that goes when a sketch shows other ones below a marker, which may stand for some of them;
    /// and whether that is certain.
    fn begin_of_lead(&self, own: &[&str], lead: &[&str]) -> (usize, bool) {
        let is_attribute = |it: &str| it.starts_with(['@', '[']) || it.starts_with("#[");
        let name = |it: &str| it.split(['(', ']', '=']).next().unwrap_or_default().trim().to_owned();
        let is_like = |text: &&str| match (is_attribute(text), is_attribute(own[0])) {
            (true, true) => name(text) == name(own[0]),
            (false, false) => {
                let tokens = self.file.tokens(own[0]);
                self.file.places(text).first().is_some_and(|it| self.file.similarity(&tokens, *it) >= SIMILAR)
            }
            _ => false,
        };
        let same = lead.iter().position(|it| *it == own[0]);
        let shares = || own.iter().any(|it| lead.contains(it) && it.chars().any(char::is_alphanumeric));
        let is_comment = || lead.iter().any(|it| !is_attribute(it)) && !is_attribute(own[0]);
        if let Some(first) = same.or_else(|| lead.iter().position(is_like)) {
            return (first, true);
        }
        if shares() || is_comment() {
            return (0, true);
        }
        // A new attribute may be one more, or in the place of another.
        (lead.len(), !lead.iter().any(|it| is_attribute(it)))
    }

    fn texts(&self, rows: Range<usize>) -> impl Iterator<Item = &str> {
        self.sketch.rows[rows].iter().map(|it| it.text.trim())
    }

    /// What it earns that a definition takes the place of another one.
    fn replacement(&self, it: &Defined, there: &Definition) -> Score {
        let new: Vec<_> = self.texts(it.it.body()).collect();
        let old = &self.file.bare[there.body()];
        let mut counts: HashMap<&str, usize> = HashMap::new();
        old.iter().for_each(|it| *counts.entry(it).or_default() += 1);
        let (mut kept, mut alike) = (0, 0);
        for text in &new {
            if let Some(left) = counts.get_mut(text).filter(|it| **it > 0) {
                *left -= 1;
                kept += self.file.weight_in_context(text);
                alike += 1;
            }
        }
        let (gone, added) = (old.len() - alike, new.len() - alike);
        let mut score = price::REPLACED + kept - 5 * count(gone) - 5 * count(added);
        if new.first() == old.first() {
            score += price::HEAD;
        }
        if Self::is_cut_short(&new, old) {
            score -= price::CUT_SHORT;
        }
        if it.it.kind == Kind::Function && self.parser.has_overloads() && it.it.parameters != there.parameters
        {
            score -= price::OTHER_PARAMETERS * if it.same.len() > 1 { 2 } else { 1 };
        }
        score - price::LOST_MEMBER * count(self.lost_members(it, there))
    }

    /// Whether the new lines are the first of the old ones, though not all.
    fn is_cut_short(new: &[&str], old: &[&str]) -> bool {
        old.len() > new.len() + 2 && old.starts_with(new)
    }

    /// Whether lines at the end of the old definition are not in the new one, which ends by its indentation alone.
    fn may_go_on(&self, it: &Definition, there: &Definition) -> bool {
        let rows = &self.sketch.rows[it.body()];
        let is_said = |it: &&&str| it.chars().any(char::is_alphanumeric);
        if !self.parser.ends_by_indentation() || self.ends_with_a_jump(it) {
            return false;
        }
        let new: Vec<_> = rows.iter().map(|it| it.text.trim()).collect();
        let old = &self.file.bare[there.body()];
        // Behind the last line that both have.
        let last = new.iter().rposition(|it| is_said(&it) && old.contains(it)).unwrap_or_default();
        let place = old.iter().rposition(|it| *it == new[last]).unwrap_or_default();
        let added = &new[last + 1..];
        let is_like = |it: &&str| {
            let tokens = self.file.tokens(it);
            added.iter().any(|it| self.file.similarity_of(&tokens, &self.file.tokens(it)) >= SIMILAR)
        };
        let gone =
            old[place + 1..].iter().filter(is_said).filter(|it| !new.contains(it) && !is_like(it)).count();
        gone > usize::from(added.iter().any(|it| is_said(&it)))
    }

    /// Whether the last line of a function leaves it, so that nothing can follow.
    fn ends_with_a_jump(&self, it: &Definition) -> bool {
        let level = |row: usize| self.parser.kind.level(&self.sketch.rows[row].text);
        let body = || it.head + 1..it.end;
        let Some(last) = body().rev().find(|it| level(*it).is_some()) else { return false };
        let base = body().filter_map(level).min();
        let word = self.sketch.rows[last].text.split_whitespace().next().unwrap_or_default();
        level(last) == base && ["return", "raise", "pass"].contains(&word)
    }

    /// How many members of a type would go that the sketch does not name.
    fn lost_members(&self, it: &Defined, there: &Definition) -> usize {
        if !it.it.kind.has_members() {
            return 0;
        }
        let own = |name: &str| {
            self.definitions
                .sketch
                .iter()
                .any(|own| own.it.name == name && it.it.body().contains(&own.it.head))
        };
        let is_member = |it: &&Definition| {
            there.body().contains(&it.head) && it.head > there.head && it.kind == Kind::Function
        };
        self.definitions.file.iter().filter(is_member).filter(|it| !own(&it.name)).count()
    }

    /// Columns where a row that begins new things goes: definitions to the end of their scope, imports to the others.
    fn places(&self, new: &[bool]) -> Vec<(usize, usize)> {
        let mut places = Vec::new();
        for piece in self.sketch.pieces() {
            let begins = |it: &&Defined| it.it.lead == piece.start && it.is_new();
            let first = self.definitions.sketch.iter().find(begins);
            if let Some(it) = first.filter(|it| new[it.it.lead]) {
                places.extend(self.ends_of_scope(&it.it).into_iter().map(|line| (piece.start, line)));
            } else if let Some(line) =
                self.end_of_imports(&piece).filter(|_| piece.end < self.sketch.rows.len())
            {
                places.push((piece.start, line));
            }
        }
        places
    }

    /// Behind the last line of each block that a definition may be in.
    fn ends_of_scope(&self, it: &Definition) -> Vec<usize> {
        let without_blank = |mut line: usize| {
            while line > 0 && self.file.bare[line - 1].is_empty() {
                line -= 1;
            }
            line
        };
        match &self.definitions.scopes[it.head] {
            None if it.level == 0 => vec![without_blank(self.file.count())],
            None => Vec::new(),
            Some(blocks) => {
                let closes = |line: usize| {
                    let text = self.file.bare[line];
                    !self.parser.ends_by_indentation()
                        && (text.starts_with(['}', ')', ']']) || text.starts_with("end"))
                };
                let end = |it: &Range<usize>| if closes(it.end - 1) { it.end - 1 } else { it.end };
                blocks.iter().map(|it| without_blank(end(it))).collect()
            }
        }
    }

    /// Behind the last import of a file, for a piece of nothing but imports that the file has not.
    fn end_of_imports(&self, piece: &Range<usize>) -> Option<usize> {
        let rows = &self.sketch.rows[piece.clone()];
        let said = || rows.iter().map(|it| &*it.text).filter(|it| !it.trim().is_empty());
        let is_new = said().all(|it| is_import(it) && self.file.places(it.trim()).is_empty());
        if !is_new || self.parser.language.is_none() {
            return None;
        }
        let word = |it: &str| it.split_whitespace().next().map(str::to_owned);
        let first = said().next().and_then(word);
        let lines = self.file.lines;
        let last = lines.iter().rposition(|it| is_import(it) && word(it) == first)?;
        Some(last + 1)
    }

    /// All columns that something begins or ends at.
    fn columns(&self, rows: &[Candidate], jumps: &[Jump], places: &[(usize, usize)]) -> Vec<usize> {
        let count = self.file.count();
        let mut is_column = vec![false; count + 1];
        let mut take = |it: usize| is_column[it.min(count)] = true;
        take(0);
        take(count);
        for row in rows {
            for pair in &row.pairs {
                take(pair.line);
                take(pair.line + 1);
            }
            row.copy_of.into_iter().for_each(|it| {
                take(it);
                take(it + 1)
            });
        }
        for it in jumps {
            take(it.lines.start);
            take(it.lines.end);
        }
        for it in &self.definitions.file {
            take(it.lead);
            take(it.end);
        }
        places.iter().for_each(|it| take(it.1));
        (0..=count).filter(|it| is_column[*it]).collect()
    }

    fn gone(&self, columns: &[usize]) -> Vec<Score> {
        let mut heads = vec![false; self.file.count() + 1];
        for it in &self.definitions.file {
            let is_in_function = it
                .parent
                .is_some_and(|it| matches!(self.definitions.file[it].kind, Kind::Function | Kind::Value));
            heads[it.head] |= it.kind != Kind::Value && !is_in_function && !self.definitions.names(&it.name);
        }
        let mut sum = 0;
        let mut sums = vec![0];
        for (line, text) in self.file.bare.iter().enumerate() {
            sum += match text {
                &"" => price::DELETE_BLANK,
                it if it.chars().any(char::is_alphanumeric) => price::DELETE_LINE,
                _ => price::DELETE_BRACKET,
            };
            sum += if heads[line] { price::DELETE_HEAD } else { 0 };
            sums.push(sum);
        }
        columns.iter().map(|it| sums[*it]).collect()
    }
}

fn count(of: usize) -> Score {
    Score::try_from(of).unwrap_or(10_000).min(10_000)
}

/// Whether a line at the margin takes something in from another file.
pub(super) fn is_import(line: &str) -> bool {
    const WORDS: [&str; 8] =
        ["import", "from", "use", "using", "#include", "require", "require_relative", "export"];
    let mut words = line.split_whitespace();
    let is_word = words.next().is_some_and(|it| WORDS.contains(&it));
    is_word
        && (!line.starts_with("export") || line.contains(" from "))
        && !line.starts_with(char::is_whitespace)
}

/// What a line gives a value to: `key: value`, `let key = value`.
fn key(text: &str) -> Option<&str> {
    const WORDS: [&str; 8] = ["export", "pub", "let", "const", "var", "static", "final", "mut"];
    let mut rest = text;
    while let Some(it) = WORDS.iter().find_map(|it| rest.strip_prefix(it)?.strip_prefix(' ')) {
        rest = it.trim_start();
    }
    let end = rest.find(|it: char| !(it.is_alphanumeric() || "_.\"'[]-$".contains(it)))?;
    let (name, behind) = rest.split_at(end);
    let behind = behind.trim_start();
    let is_key =
        (behind == ":" || behind.starts_with(": ")) || (behind.starts_with('=') && !behind.starts_with("=="));
    (is_key && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_what_gets_a_value() {
        for (text, want) in [
            ("a: 1", Some("a")),
            ("let mut a.b = 1", Some("a.b")),
            ("\"a\": 1,", Some("\"a\"")),
            ("a == 1", None),
            ("a::b()", None),
            ("call(a)", None),
        ] {
            assert_eq!(key(text), want, "{text}");
        }
    }
}
