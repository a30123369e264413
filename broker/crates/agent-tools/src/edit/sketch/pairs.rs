//! Which lines of the file each row may be: the same line, or the line before a change.

use std::collections::{HashMap, HashSet};

use super::{
    super::text::indentation,
    builder::Builder,
    candidate::{Pair, Relation, key},
    costs::{self, ALIKE, BESIDE, DISTINCT, EDGE, NEAR, SIMILAR},
    definitions::Defined,
    file_lines::{STRONG, Score, Token},
};

/// Places of the rows around from which on the lines between are not looked at.
const MAX_BESIDE: usize = 20;

/// Pairs of a row with lines of the file that are looked at.
const MAX_PAIRS: usize = 4000;

impl Builder<'_, '_> {
    /// Returns the additional cost of inserting a line next to others that are the same, by lines.
    pub(super) fn copies(&self, places: &[usize], copy_of: Option<usize>) -> Vec<(usize, Score)> {
        let mut more: HashMap<usize, Score> = HashMap::new();
        for it in places.iter().take(MAX_PAIRS) {
            *more.entry(*it).or_default() += costs::COPY_BESIDE;
            *more.entry(it + 1).or_default() += costs::COPY_BESIDE;
        }
        if let Some(it) = copy_of {
            let near = it.saturating_sub(NEAR)..=(it + NEAR + 1).min(self.file.count());
            near.for_each(|it| *more.entry(it).or_default() += costs::COPY_NEAR);
        }
        let mut more: Vec<_> = more.into_iter().collect();
        more.sort_unstable();
        more
    }

    pub(super) fn pairs(&self, row: usize, text: &str) -> Vec<Pair> {
        let (above, below) = (self.neighbour(row, true), self.neighbour(row, false));
        let indent = indentation(&self.sketch.rows[row].text);
        let head = self.definitions.head_of_sketch(row);
        let mut pairs = Vec::new();
        let same = self.file.places(text);
        // Places of a line that is everywhere: next to the lines that it stands next to here.
        let looked =
            same.iter().copied().filter(|it| same.len() <= MAX_PAIRS || self.is_beside(*it, above, below));
        for line in looked.take(MAX_PAIRS) {
            let is_in = self.definitions.is_in_scope(row, line);
            let same_indent = self.file.indents[line] == indent;
            let weight = self.file.weight_beside(line, same_indent, above, below);
            let mut score = weight;
            if !text.is_empty() {
                if !same_indent {
                    score = score * 7 / 10 - 20;
                }
                if !is_in {
                    score = if head.is_some() { score - costs::OUT_OF_SCOPE } else { score / 2 };
                }
                if head.is_some() && is_in && self.definitions.head_of_file(line).is_some() {
                    score += costs::HEAD;
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
        let (tokens, indent) = (self.file.tokens(text), indentation(&self.sketch.rows[row].text));
        let known: HashSet<usize> = pairs.iter().map(|it| it.line).collect();
        if let Some(head) = head {
            for at in &head.same {
                let line = self.definitions.file[*at].head;
                if !known.contains(&line) {
                    let relation = Relation::Anchor;
                    pairs.push(Pair { line, column: 0, score: costs::CHANGED_HEAD, relation, edge: EDGE });
                }
            }
        }
        let value = self.file.only_value(&self.sketch.rows[row].text);
        if let Some(line) = value.filter(|it| head.is_none() && !known.contains(it)) {
            let score = costs::CHANGED_VALUE;
            pairs.push(Pair { line, column: 0, score, relation: Relation::Anchor, edge: EDGE });
        }
        let mut related = self.file.related(&tokens);
        let between = self.between(above, below);
        related.extend(&between);
        related.sort_unstable();
        related.dedup();
        // A line like several of the file is one more of them rather than one of them changed.
        let is_alike = |line: &&usize| {
            self.file.indents[**line] == indent && self.file.similarity(&tokens, **line) >= ALIKE
        };
        let has_siblings = related.iter().filter(is_alike).nth(1).is_some();
        for line in related {
            let is_known = known.contains(&line)
                || pairs.iter().any(|it| it.line == line && it.relation == Relation::Anchor);
            let there = self.definitions.head_of_file(line);
            // A value may be one of a function, which is no definition there.
            let is_head = head.is_some_and(|it| !it.it.kind.is_value());
            let is_head_there = there.is_some_and(|it| !it.kind.is_value());
            if is_known || !self.definitions.is_in_scope(row, line) || is_head != is_head_there {
                continue;
            }
            let same_indent = self.file.indents[line] == indent;
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
            let same_key = same_indent && key(text).is_some_and(|it| key(self.file.bare[line]) == Some(it));
            // A line that the file has is rather that one than another one after a change.
            if self.file.places(text).len() == 1 {
                let is_there =
                    self.file.times(&self.sketch.rows[row].text) == 1 && self.file.weight(text) >= 200;
                score -= costs::COPY + if is_there && !same_key { costs::COPY_NEAR } else { 0 };
            }
            if head.zip(there).is_some_and(|(a, b)| a.it.name != b.name) {
                score -= costs::RENAMED;
            }
            if same_key {
                let is_beside = between.contains(&line) && self.parser.is_data();
                score += if is_beside { costs::SAME_KEY_OF_DATA } else { costs::SAME_KEY };
            }
            let edge = match has_siblings && !same_key {
                true => EDGE,
                false => self.edge(&tokens, similarity, line, (above, below)),
            };
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
            if places.len() > MAX_BESIDE { &[] } else { places }
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
}
