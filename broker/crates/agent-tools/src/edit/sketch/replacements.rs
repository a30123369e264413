//! Definitions of a sketch in the place of those of the file that have their names.

use std::collections::HashMap;

use super::{
    super::definition::{Definition, Kind},
    builder::{Builder, count},
    candidate::Substitution,
    costs::{self, SIMILAR},
    definitions::Defined,
    file_lines::Score,
};

impl Builder<'_, '_> {
    /// Each whole definition in the place of each of its name.
    pub(super) fn substitutions(&self, new_rows: &[bool]) -> Vec<Substitution> {
        let mut substitutions = Vec::new();
        for (number, it) in self.definitions.sketch.iter().enumerate() {
            let is_line = it.it.kind == Kind::Value && it.it.end == it.it.head + 1;
            if !it.is_whole || is_line || it.it.kind == Kind::Entry || new_rows[it.it.head] {
                continue;
            }
            for at in &it.same {
                let there = &self.definitions.file[*at];
                let lost = self.definitions.lost_members(it, *at).count();
                let score = self.replacement(it, there) - costs::LOST_MEMBER * count(lost);
                let of = (number, *at);
                let may_go_on = self.may_go_on(&it.it, there);
                let plain = Substitution {
                    rows: it.it.body(),
                    lines: there.body(),
                    columns: (0, 0),
                    score,
                    of,
                    may_go_on,
                };
                substitutions.extend(self.with_lead(&it.it, there, &plain));
                if it.it.lead == it.it.head || there.lead == there.head {
                    // Lines above the head that the sketch does not show stay.
                    let rows = it.it.lines();
                    substitutions.push(Substitution { rows, ..plain });
                } else {
                    let shares = self
                        .texts(it.it.lead..it.it.head)
                        .any(|row| self.file.bare[there.lead..there.head].contains(&row));
                    substitutions
                        .push(Substitution { score: score - if shares { 100 } else { 300 }, ..plain });
                }
            }
        }
        substitutions
    }

    /// With the comments, attributes and decorators above both.
    fn with_lead(&self, it: &Definition, there: &Definition, plain: &Substitution) -> Option<Substitution> {
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
        let score = plain.score + kept - costs::DELETE_LINE * count(gone);
        let may_go_on = plain.may_go_on || !is_clear;
        Some(Substitution {
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
        // The first line may stand there several times: where most others follow it.
        let run = |at: &usize| lead[*at..].iter().zip(own).take_while(|(a, b)| a == b).count();
        let same = (0..lead.len()).filter(|it| lead[*it] == own[0]).max_by_key(run);
        let shares = || own.iter().any(|it| lead.contains(it) && it.chars().any(char::is_alphanumeric));
        let is_comment = || lead.iter().any(|it| !is_attribute(it)) && !is_attribute(own[0]);
        let shares_words = || !is_attribute(own[0]) && shares();
        if let Some(first) =
            same.or_else(|| if shares_words() { None } else { lead.iter().position(is_like) })
        {
            return (first, true);
        }
        if shares() || is_comment() {
            return (0, true);
        }
        // A new attribute may be one more, or in the place of another.
        (lead.len(), !lead.iter().any(|it| is_attribute(it)))
    }

    /// Returns the score of putting a definition in the place of another one.
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
        let mut score = costs::REPLACED + kept - 5 * count(gone) - 5 * count(added);
        if new.first() == old.first() {
            score += costs::HEAD;
        }
        if Self::is_cut_short(&new, old) {
            score -= costs::CUT_SHORT;
        }
        if it.it.kind == Kind::Function && self.parser.has_overloads() && it.it.parameters != there.parameters
        {
            score -= costs::OTHER_PARAMETERS * if it.same.len() > 1 { 2 } else { 1 };
        }
        score
    }

    /// Whether the new lines are the first of the old ones, though not all.
    fn is_cut_short(new: &[&str], old: &[&str]) -> bool {
        old.len() > new.len() + 2 && old.starts_with(new)
    }

    /// Whether lines at the end of the old definition are not in the new one, which ends by its indentation alone.
    fn may_go_on(&self, it: &Definition, there: &Definition) -> bool {
        let rows = &self.sketch.rows[it.body()];
        let is_said = |it: &&&str| it.chars().any(char::is_alphanumeric);
        if it.kind == Kind::Docstring || !self.parser.ends_by_indentation() || self.ends_by_leaving(it) {
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
        // A definition that ends within a block may go on behind it.
        let is_nested = self.ends_deeper(it);
        let is_gone = |it: &&&str| !new.contains(it) && (is_nested || !is_like(it));
        let gone = old[place + 1..].iter().filter(is_said).filter(is_gone).count();
        let added = added.iter().filter(|it| is_said(it)).count();
        gone > if is_nested || last == 0 { added.min(1) } else { added + 1 }
    }

    /// Whether the last line of a function leaves it, so that nothing can follow.
    fn ends_by_leaving(&self, it: &Definition) -> bool {
        let level = |row: usize| self.parser.kind.level(&self.sketch.rows[row].text);
        let body = || it.head + 1..it.end;
        let Some(last) = body().rev().find(|it| level(*it).is_some()) else { return false };
        let base = body().filter_map(level).min();
        let word = self.sketch.rows[last].text.split_whitespace().next().unwrap_or_default();
        level(last) == base && ["return", "raise", "pass"].contains(&word)
    }

    /// Whether the last line of a function stands deeper than its first one.
    fn ends_deeper(&self, it: &Definition) -> bool {
        let level = |row: usize| self.parser.kind.level(&self.sketch.rows[row].text);
        let levels: Vec<_> = (it.head + 1..it.end).filter_map(level).collect();
        levels.last() > levels.iter().min()
    }
}
