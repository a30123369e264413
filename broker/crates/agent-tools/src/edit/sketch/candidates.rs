//! Makes the candidates of a sketch: pairs of lines, definitions that take the place of others, and costs.

use std::collections::HashMap;

use super::{
    super::{definition::Kind, parser::Parser},
    builder::Builder,
    candidate::{Candidate, Candidates, Substitution},
    costs,
    definitions::Definitions,
    file_lines::{FileLines, STRONG, Score, is_closer},
    rows::{Row, Sketch},
};

impl<'a> Candidates<'a> {
    pub(super) fn new(sketch: &Sketch<'_>, file: FileLines<'a>, parser: &Parser<'_>) -> Self {
        let builder =
            Builder { definitions: Definitions::new(sketch, file.lines, parser), file, sketch, parser };
        let new_rows = builder.new_rows();
        let mut rows: Vec<_> = (0..sketch.rows.len()).map(|it| builder.candidate(it, new_rows[it])).collect();
        let mut substitutions = builder.substitutions(&new_rows);
        let at_place = builder.places(&new_rows);
        let columns = builder.columns(&rows, &substitutions, &at_place);
        let number: HashMap<usize, usize> = columns.iter().enumerate().map(|(at, it)| (*it, at)).collect();
        for row in &mut rows {
            row.pairs.sort_by_key(|it| it.line);
            row.pairs.iter_mut().for_each(|it| it.column = number[&it.line]);
            row.inserts.retain(|it| number.contains_key(&it.0));
            row.inserts.iter_mut().for_each(|it| it.0 = number[&it.0]);
            let blocks = row.blocks.iter_mut().flatten();
            blocks.for_each(|it| *it = (number[&it.0], number[&it.1]));
        }
        for (row, line) in at_place {
            rows[row].inserts.push((number[&line], -costs::AT_PLACE));
        }
        for it in &mut substitutions {
            it.columns = (number[&it.lines.start], number[&it.lines.end]);
        }
        substitutions.sort_by_key(|it| it.rows.end);
        let deletion_costs = builder.deletion_costs(&columns);
        Self {
            columns,
            deletion_costs,
            rows,
            substitutions,
            file: builder.file,
            definitions: builder.definitions,
        }
    }
}

impl Builder<'_, '_> {
    /// The rows of definitions that the file has not; and what follows below the last marker where it begins with one.
    fn new_rows(&self) -> Vec<bool> {
        let rows = &self.sketch.rows;
        let mut new = vec![false; rows.len()];
        let all = &self.definitions.sketch;
        for it in all.iter().filter(|it| it.is_new()) {
            it.it.lines().for_each(|row| new[row] = true);
        }
        let Some(last) = rows.iter().rposition(|it| it.is_marker).map(|it| it + 1) else { return new };
        if self.first_of(last).is_some_and(|it| it.it.level == 0 && it.is_new()) {
            let is_known = |row: usize| all.iter().any(|it| !it.is_new() && it.it.body().contains(&row));
            // A line that the file has once ends what is new above it.
            let is_there = |row: &usize| {
                let it = &rows[*row];
                self.file.times(&it.text) == 1 && self.file.weight(it.text.trim()) >= STRONG
            };
            let own = all.iter().filter(|it| it.is_new()).map(|it| it.it.end).max().unwrap_or_default();
            let end = (own.max(last)..rows.len()).find(is_there).unwrap_or(rows.len());
            (last..end).filter(|it| !is_known(*it)).for_each(|it| new[it] = true);
        }
        new
    }

    /// Whether the piece of a row has nothing but ends of blocks.
    fn only_closes(&self, row: usize) -> bool {
        let rows = &self.sketch.rows;
        let closes = |it: &&Row<'_>| !it.is_marker && is_closer(&it.text);
        let ends = |it: Option<&Row<'_>>| it.is_none_or(|it| it.is_marker);
        let above = rows[..row].iter().rev().take_while(closes).count();
        let below = rows[row..].iter().take_while(closes).count();
        below > 0 && ends(row.checked_sub(above + 1).map(|it| &rows[it])) && ends(rows.get(row + below))
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
        let insert = if text.is_empty() { costs::INSERT_BLANK } else { costs::INSERT };
        // A line that only closes a block is there already.
        let closes = !places.is_empty() && !text.is_empty() && self.only_closes(row);
        let near = is_copy && !is_new && self.file.times(&it.text) == 1 && self.file.weight(text) >= 200;
        let copy_of = near.then(|| places[0]);
        let pairs = if is_new { Vec::new() } else { self.pairs(row, text) };
        Candidate {
            is_marker: false,
            insert: insert
                + if closes { costs::FORBIDDEN } else { 0 }
                + if is_copy && !is_new { costs::COPY } else { 0 }
                + if self.definitions.head_of_sketch(row).is_some_and(|it| !it.same.is_empty()) {
                    costs::SECOND_HEAD
                } else {
                    0
                },
            inserts: if is_said && !is_new { self.copies(places, copy_of) } else { Vec::new() },
            pairs,
            blocks: self.blocks(row),
            copy_of,
            is_new,
        }
    }

    /// All columns that something begins or ends at.
    fn columns(
        &self,
        rows: &[Candidate],
        substitutions: &[Substitution],
        places: &[(usize, usize)],
    ) -> Vec<usize> {
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
        for it in substitutions {
            take(it.lines.start);
            take(it.lines.end);
        }
        for (start, end) in rows.iter().flat_map(|it| it.blocks.iter().flatten()) {
            take(*start);
            take(*end);
        }
        for it in &self.definitions.file {
            take(it.lead);
            take(it.end);
        }
        places.iter().for_each(|it| take(it.1));
        (0..=count).filter(|it| is_column[*it]).collect()
    }

    fn deletion_costs(&self, columns: &[usize]) -> Vec<Score> {
        let mut heads = vec![false; self.file.count() + 1];
        for it in &self.definitions.file {
            let is_in_function = it
                .parent
                .is_some_and(|it| matches!(self.definitions.file[it].kind, Kind::Function | Kind::Value));
            heads[it.head] |=
                !it.kind.is_value() && !is_in_function && !self.definitions.names(it, self.parser);
        }
        let mut sum = 0;
        let mut sums = vec![0];
        for (line, text) in self.file.bare.iter().enumerate() {
            sum += match text {
                &"" => costs::DELETE_BLANK,
                it if it.chars().any(char::is_alphanumeric) => costs::DELETE_LINE,
                _ => costs::DELETE_BRACKET,
            };
            sum += if heads[line] { costs::DELETE_HEAD } else { 0 };
            sums.push(sum);
        }
        columns.iter().map(|it| sums[*it]).collect()
    }
}
