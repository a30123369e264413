//! Brings the indentation of a sketch to that of the file, piece by piece.

use std::{collections::HashMap, ops::Range};

use super::{
    super::{
        indents::Indents,
        text::{indentation, is_blank},
    },
    rows::{Row, Sketch},
};

/// Letters and digits from which on a line says where it stands.
const TELLING: usize = 3;

/// Lines after which it is clear what a file is indented by.
const CLEARLY: usize = 5;

/// A rule counts if one of so many lines is in the file, too.
const LEAST_KNOWN: usize = 3;

/// Indents pieces as the file is, where the lines that both have follow one rule. A note for each such piece.
pub(super) fn adapt(sketch: &mut Sketch<'_>, file: &[&str]) -> Vec<String> {
    let known = Known::new(file);
    let all = known.pairs(sketch, &(0..sketch.rows.len()));
    let of_sketch = other_units(sketch, file)
        .or_else(|| Indents::of(&borrowed(&all)).filter(|it| !it.changes_level() && !known.has_unit(it)));
    let mut notes = Vec::new();
    // Indentation at which the pieces that were moved begin, as they were written.
    let mut moved: Option<usize> = None;
    for piece in sketch.pieces() {
        let pairs = known.pairs(sketch, &piece);
        let least = least_of(&sketch.rows[piece.clone()]);
        let is_inside = pairs.is_empty() && moved.is_some_and(|it| least.is_some_and(|least| least > it));
        // Below a head that is in its place, only the units may be others.
        let is_units = |it: &&Indents| matches!(it, Indents::Units { more: 0, .. });
        let of_sketch = of_sketch.as_ref().filter(|it| !known.is_below_head(sketch, &piece) || is_units(it));
        if of_sketch.is_none() && known.is_below_head(sketch, &piece) {
            continue;
        }
        // New lines below a head that was moved go with it.
        let goes_along = of_sketch.filter(|_| is_inside).and_then(|it| moved_by(sketch, &piece, it));
        let Some(texts) =
            goes_along.or_else(|| adapted(sketch, &piece, &borrowed(&pairs), of_sketch, &known))
        else {
            continue;
        };
        moved = moved.or(least).min(least.or(moved));
        for (row, text) in sketch.rows[piece.clone()].iter_mut().zip(texts) {
            row.text = text.into();
        }
        let (first, last) = sketch.numbers(&piece);
        notes.push(format!("lines {first}-{last} of the edit were indented as the file is"));
    }
    notes
}

/// The lines of a piece with other indentation; `None` where it stays.
fn adapted(
    sketch: &Sketch<'_>,
    piece: &Range<usize>,
    pairs: &[(&str, &str)],
    of_sketch: Option<&Indents>,
    known: &Known<'_>,
) -> Option<Vec<String>> {
    let rows = &sketch.rows[piece.clone()];
    let fits = |rule: &&Indents| pairs.iter().all(|(from, to)| rule.converts(from, to));
    let is_own = |it: &Indents| !pairs.is_empty() && !it.changes_level() && !known.has_unit(it);
    let own = Indents::of(pairs).filter(is_own).or_else(|| usual(pairs));
    let rule = of_sketch.filter(fits).cloned().or(own);
    let telling = || rows.iter().filter(|it| is_telling(&it.text));
    let least = least_of(rows);
    // If all that stands at the left of a piece is new, the lines that the file has may have moved.
    let is_known =
        pairs.len() * LEAST_KNOWN >= telling().count() && pairs.iter().any(|it| Some(it.0.len()) == least);
    if let Some(rule) = rule.filter(|it| is_known || matches!(it, Indents::Units { more: 0, .. })) {
        return moved_by(sketch, piece, &rule).filter(|_| rule != Indents::Same);
    }
    // Agents begin a piece at its first word.
    let ((_, to), rest) = pairs.split_first()?;
    let is_cut = indentation(&rows[0].text).is_empty() && !to.is_empty();
    let is_rest_same = rest.iter().all(|(a, b)| a == b);
    (is_cut && is_rest_same && !rest.is_empty() && pairs[0].0.is_empty()).then(|| {
        let mut texts: Vec<_> = rows.iter().map(|it| it.text.to_string()).collect();
        texts[0].insert_str(0, to);
        texts
    })
}

fn moved_by(sketch: &Sketch<'_>, piece: &Range<usize>, rule: &Indents) -> Option<Vec<String>> {
    sketch.rows[piece.clone()].iter().map(|it| rule.apply(&it.text)).collect()
}

/// The least indentation of lines that say something.
fn least_of(rows: &[Row<'_>]) -> Option<usize> {
    rows.iter().filter(|it| is_telling(&it.text)).map(|it| indentation(&it.text).len()).min()
}

/// The rule of most lines that both have, where some stand elsewhere in the file by chance.
fn usual(pairs: &[(&str, &str)]) -> Option<Indents> {
    let follows = |rule: &Indents| pairs.iter().filter(|(from, to)| rule.converts(from, to)).count();
    let rules = pairs.iter().filter_map(|it| Indents::of(&[*it]));
    let best = rules.max_by_key(|it| follows(it))?;
    (best != Indents::Same && follows(&best) * 3 >= pairs.len() * 2 && follows(&Indents::Same) == 0)
        .then_some(best)
}

fn is_telling(line: &str) -> bool {
    line.chars().filter(|it| it.is_alphanumeric()).count() >= TELLING
}

fn borrowed<'a>(pairs: &'a [(String, &'a str)]) -> Vec<(&'a str, &'a str)> {
    pairs.iter().map(|it| (&*it.0, it.1)).collect()
}

/// Lines that begin with a tab, or with spaces, in a file of the other kind.
fn other_units(sketch: &Sketch<'_>, file: &[&str]) -> Option<Indents> {
    let count = |with: &str| file.iter().filter(|it| it.starts_with(with) && !is_blank(it)).count();
    let (tabs, spaces) = (count("\t"), count("  "));
    let lines = sketch.rows.iter().filter(|it| !it.is_marker && !it.is_blank());
    let indents: Vec<_> = lines.map(|it| indentation(&it.text)).filter(|it| !it.is_empty()).collect();
    let is_all = |with: char| !indents.is_empty() && indents.iter().all(|it| it.chars().all(|it| it == with));
    let unit = |of: usize| indents.iter().all(|it| it.len().is_multiple_of(of));
    if tabs >= CLEARLY && spaces == 0 && is_all(' ') {
        let from = if unit(4) { "    " } else { "  " };
        Some(Indents::Units { from, to: "\t", more: 0 })
    } else if spaces >= CLEARLY && tabs == 0 && is_all('\t') {
        let steps = file.iter().map(|it| indentation(it).len()).filter(|it| *it > 0).min();
        let to = if steps == Some(2) { "  " } else { "    " };
        Some(Indents::Units { from: "\t", to, more: 0 })
    } else {
        None
    }
}

/// Indentations of the lines of a file, by their text.
struct Known<'a>(HashMap<&'a str, Vec<&'a str>>);

impl<'a> Known<'a> {
    fn new(file: &[&'a str]) -> Self {
        let mut known: HashMap<_, Vec<_>> = HashMap::new();
        for line in file {
            let indents = known.entry(line.trim()).or_default();
            if !indents.contains(&indentation(line)) {
                indents.push(indentation(line));
            }
        }
        Self(known)
    }

    /// Whether a rule takes the unit of the file for another one.
    fn has_unit(&self, rule: &Indents) -> bool {
        let Indents::Units { from, .. } = rule else { return false };
        // A single space is that of a comment's second line.
        let indents = self.0.iter().filter(|it| !it.0.is_empty()).flat_map(|it| it.1);
        let least = indents.filter(|it| it.len() > 1 || **it == "\t").min_by_key(|it| it.len());
        least.is_some_and(|it| it == from)
    }

    /// Whether the line next to the marker above a piece stands less deep, as it does in the file: the piece is in its block.
    fn is_below_head(&self, sketch: &Sketch<'_>, piece: &Range<usize>) -> bool {
        let Some(above) = piece.start.checked_sub(2).map(|it| &sketch.rows[it]) else { return false };
        let (head, own) = (indentation(&above.text), indentation(&sketch.rows[piece.start].text));
        let is_known = self.0.get(above.text.trim()).is_some_and(|it| it.contains(&head));
        is_known && is_telling(&above.text) && own.len() > head.len() && own.starts_with(head)
    }

    /// Indentation in the sketch and in the file, of lines that both have.
    fn pairs(&self, sketch: &Sketch<'_>, rows: &Range<usize>) -> Vec<(String, &'a str)> {
        let pair = |text: &str| {
            let own = indentation(text);
            let there = self.0.get(text.trim())?;
            match there.iter().find(|it| **it == own) {
                Some(same) => Some((own.to_owned(), *same)),
                None if there.len() == 1 => Some((own.to_owned(), there[0])),
                None => None,
            }
        };
        let lines = sketch.rows[rows.clone()].iter().filter(|it| !it.is_marker);
        lines.filter(|it| is_telling(&it.text)).filter_map(|it| pair(&it.text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::file_kind::FileKind, *};

    fn adapted(file: &str, edit: &str) -> Vec<String> {
        let file: Vec<_> = file.lines().collect();
        let mut sketch = super::super::rows::read(&file, edit, FileKind::Code).unwrap();
        adapt(&mut sketch, &file);
        sketch.rows.into_iter().map(|it| it.text.into_owned()).collect()
    }

    const FILE: &str = "head():\n    first\n    if second:\n        third\n";

    #[test]
    fn a_piece_is_moved_as_a_whole() {
        let moved = adapted(FILE, "first\nnew\nif second:\n    third\n");
        assert_eq!(moved, ["    first", "    new", "    if second:", "        third"]);
    }

    #[test]
    fn the_first_line_may_stand_at_the_margin() {
        assert_eq!(adapted(FILE, "first\n    new\n    if second:\n")[..2], ["    first", "    new"]);
    }

    #[test]
    fn what_the_edit_indents_stays() {
        let edit = ["head():", "    if new:", "        first", "    if second:"];
        assert_eq!(adapted(FILE, &edit.join("\n")), edit);
    }

    #[test]
    fn units_are_those_of_the_file() {
        let file = "a:\n\tone\n\ttwo\n\tthree\n\t\tfour\n\tfive\n";
        assert_eq!(adapted(file, "# ...\n    new\n        more\n")[1..], ["\tnew", "\t\tmore"]);
        assert_eq!(adapted(file, "    three\n        new\n"), ["\tthree", "\t\tnew"]);
    }
}
