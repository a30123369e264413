//! Sketches: the changed pieces of a file, with markers where lines of the file stay.
//!
//! A piece begins and ends with lines of the file, and takes the place of everything from the first of them to the last.
//! What stands between two pieces stays. So all that is to be found is where each piece begins and ends, for all pieces
//! at once; if more than one answer is as good, the sketch is refused.

mod addition;
mod blocks;
mod brackets;
mod edges;
mod emit;
mod lines;
mod markers;
mod order;
mod parse;
mod place;
mod stretched;

use self::{
    addition::added,
    brackets::Brackets,
    edges::Placer,
    emit::Emitted,
    lines::{FileLines, PieceLines},
    order::Arrangement,
    parse::{Piece, Sketch},
    place::Placement,
};
pub(super) use self::{
    markers::has_marker,
    parse::{expect_no_marker, whole_piece},
};
use super::{
    Parser,
    outcome::{Changed, Reason, Refused},
    syntax_errors,
    text::{Replacement, Text, is_blank},
};

/// Lines from which on half as many must come in their place. Otherwise a marker may have been forgotten, or a line at an
/// edge is elsewhere in the file by chance.
const MOST_REMOVED: usize = 10;

/// Lines outside of a sketch that stay though there is no marker for them: so many are removed in no other way.
const CLEARLY_OUTSIDE: usize = 20;

pub(super) fn apply(file: &Text<'_>, edit: &str, parser: &Parser<'_>) -> Result<Changed, Refused> {
    let sketch = parse::read(file, edit, parser.kind)?;
    place(file, &sketch, parser)
}

/// The text with each piece in its place.
pub(super) fn place(file: &Text<'_>, sketch: &Sketch<'_>, parser: &Parser<'_>) -> Result<Changed, Refused> {
    let mut lines = FileLines::new(file.lines());
    let mut placer = Placer::new(file, sketch, parser, &mut lines);
    placer.edges()?;
    let Placer { pieces, top, bottom, addition, notes, .. } = placer;
    let work = Work { file, sketch, lines: &lines, pieces, ends: (top, bottom), addition, parser };
    work.placed(notes)
}

/// A sketch whose edges are known, to be placed.
struct Work<'s, 'a> {
    file: &'s Text<'a>,
    sketch: &'s Sketch<'a>,
    lines: &'s FileLines,
    pieces: Vec<PieceLines>,
    /// How many lines of the first and the last piece go above and below all lines of the file.
    ends: (usize, usize),
    /// Line of the file above which the last piece goes, if it only adds definitions.
    addition: Option<usize>,
    parser: &'s Parser<'s>,
}

impl Work<'_, '_> {
    fn placed(&self, mut notes: Vec<String>) -> Result<Changed, Refused> {
        let before = self.file.replaced(&[], None);
        let arrangement = self.arrangement()?;
        let best =
            arrangement.best.iter().map(|(piece, at)| &arrangement.places[*piece][*at]).collect::<Vec<_>>();
        let emitted = self.emitted(&best).map_err(|it| self.indentation(it))?;
        let text = self.text(&emitted);
        self.expect_one(&arrangement, &text, &before)?;
        self.expect_clear_addition(&best, &text, &before)?;
        self.expect_strong(&best)?;
        self.expect_not_stretched(&best, &text, &before)?;
        self.expect_in_blocks(&best, &text, &before)?;
        self.expect_whole_ends(&best, &text, &before)?;
        self.expect_not_at_ends(&best)?;
        self.expect_same_gaps(&best, &text, &before)?;
        self.expect_little_removed(&best, &text, &before)?;
        self.expect_firm_edges(&best, &text, &before)?;
        self.expect_clear_ends_of_lines(&emitted, &text, &before)?;
        let is_exact = notes.is_empty() && emitted.iter().all(|it| it.is_exact);
        if !is_exact && self.breaks_syntax(&before, &text) {
            let reading = ("the pieces are put where they fit best".to_owned(), text);
            return Err(Refused::with_readings(Reason::BreaksSyntax, &before, vec![reading]));
        }
        for (piece, _) in self.sketch.pieces.iter().zip(&emitted).filter(|it| it.1.is_indented) {
            notes.push(format!(
                "lines {}-{} of the edit were indented as the file is",
                piece.line,
                piece.last()
            ));
        }
        Ok(Changed { text, notes })
    }

    fn arrangement(&self) -> Result<Arrangement, Refused> {
        let mut places = Vec::new();
        for (at, (piece, lines)) in self.sketch.pieces.iter().zip(&self.pieces).enumerate() {
            let is_open =
                (at > 0 || self.sketch.starts_open, at + 1 < self.pieces.len() || self.sketch.ends_open);
            match place::placements(lines, self.lines, is_open, self.is_at_ends(at)) {
                Some(found) if !found.is_empty() => places.push(found),
                Some(_) => return Err(Reason::OutOfOrder { first: piece.line, last: piece.last() }.into()),
                None => return Err(Reason::SeveralPlaces { first: piece.line, last: piece.last() }.into()),
            }
        }
        order::arrange(places).map_err(|at| {
            let piece = &self.sketch.pieces[at];
            Reason::OutOfOrder { first: piece.line, last: piece.last() }.into()
        })
    }

    /// Whether a piece goes above the first line of the file, and below the last one.
    fn is_at_ends(&self, piece: usize) -> (bool, bool) {
        (piece == 0 && self.ends.0 > 0, piece + 1 == self.pieces.len() && self.ends.1 > 0)
    }

    /// Each piece as the lines that take the place of others; the number of a piece whose indentation has no rule.
    fn emitted(&self, places: &[&Placement]) -> Result<Vec<Emitted>, usize> {
        let pieces = self.sketch.pieces.iter().zip(&self.pieces).zip(places).enumerate();
        let emit = |(at, ((piece, lines), place)): (usize, ((&Piece<'_>, &PieceLines), &&Placement))| {
            let top = if at == 0 { self.ends.0 } else { 0 };
            let bottom = if at + 1 == self.pieces.len() { self.ends.1 } else { 0 };
            emit::emit(&piece.lines, (top, bottom), lines, self.file.lines(), self.lines, place).ok_or(at)
        };
        pieces.map(emit).collect()
    }

    fn text(&self, emitted: &[Emitted]) -> String {
        let mut replacements: Vec<Replacement> = emitted.iter().map(|it| it.replacement.clone()).collect();
        if let Some((at, piece)) = self.addition.zip(self.sketch.pieces.last()) {
            replacements.push(added(self.file, at, piece));
        }
        self.file.replaced(&replacements, None)
    }

    fn indentation(&self, at: usize) -> Refused {
        let piece = &self.sketch.pieces[at];
        Reason::Indentation { first: piece.line, last: piece.last() }.into()
    }

    /// No other arrangement is as good and leads to another text.
    fn expect_one(&self, arrangement: &Arrangement, text: &str, before: &str) -> Result<(), Refused> {
        let brackets = Brackets::of(before);
        // In code that is balanced, a reading that is not is none.
        let is_code = self.parser.language.is_some() && brackets == Brackets::NONE;
        let is_balanced = is_code && Brackets::of(text) == brackets;
        let mut readings = vec![("the pieces are put where most lines fit".to_owned(), text.to_owned())];
        let mut doubtful = None;
        for (looked, (piece, chosen)) in arrangement.alternatives().enumerate() {
            if looked >= MOST_LOOKED_AT {
                doubtful.get_or_insert(piece);
                break;
            }
            let Ok(emitted) = self.emitted(&chosen) else { continue };
            let other = self.text(&emitted);
            if other == text || (is_balanced && Brackets::of(&other) != brackets) {
                continue;
            }
            doubtful.get_or_insert(piece);
            let Piece { line, .. } = self.sketch.pieces[piece];
            let (start, end) = (chosen[piece].start + 1, chosen[piece].end);
            let what = format!("the piece at line {line} of the edit takes the place of lines {start}-{end}");
            readings.push((what, other));
            if readings.len() > MOST_READINGS {
                break;
            }
        }
        let Some(piece) = doubtful.map(|it| &self.sketch.pieces[it]) else { return Ok(()) };
        let reason = Reason::SeveralPlaces { first: piece.line, last: piece.last() };
        Err(Refused::with_readings(reason, before, readings))
    }

    /// A sketch without a marker at an end may be of that end of the file, though its first or last line is elsewhere, too.
    fn expect_not_at_ends(&self, places: &[&Placement]) -> Result<(), Refused> {
        let (Some(first), Some(last)) = (self.pieces.first(), self.pieces.last()) else { return Ok(()) };
        let at_top = !self.sketch.starts_open && places.first().is_some_and(|it| it.start > 0);
        let count = self.file.lines().len();
        let at_bottom = !self.sketch.ends_open
            && self.addition.is_none()
            && places.last().is_some_and(|it| it.end < count);
        let common = |piece: &[u32], file: &[u32]| {
            piece.iter().any(|it| file.contains(it) && self.lines.weight(*it) >= lines::TELLING)
        };
        let keys = &self.lines.keys;
        let head = |keys: &[u32]| keys[..keys.len().min(NEAR)].to_vec();
        let tail = |keys: &[u32]| keys[keys.len().saturating_sub(NEAR)..].to_vec();
        for (is_doubtful, at) in [
            (at_top && common(&head(&first.keys), &head(keys)), 0),
            (at_bottom && common(&tail(&last.keys), &tail(keys)), self.pieces.len() - 1),
        ] {
            if is_doubtful {
                let piece = &self.sketch.pieces[at];
                return Err(Reason::SeveralPlaces { first: piece.line, last: piece.last() }.into());
            }
        }
        Ok(())
    }

    /// A blank line between a marker and a piece is one of the file, or else lines between may be meant to go.
    fn expect_same_gaps(&self, places: &[&Placement], text: &str, before: &str) -> Result<(), Refused> {
        for (at, (piece, place)) in self.sketch.pieces.iter().zip(places).enumerate() {
            let is_open = (
                at > 0 || self.sketch.starts_open,
                at + 1 < self.sketch.pieces.len() || self.sketch.ends_open,
            );
            let (start, end) = (place.start, place.end);
            let above =
                is_open.0 && piece.blank_before > 0 && start > 0 && self.lines.blank_above(start) == 0;
            let is_inside = end < self.file.lines().len();
            let below = is_open.1 && piece.blank_after > 0 && is_inside && self.lines.blank_from(end) == 0;
            if above || below {
                let reason = Reason::BlankLines { first: piece.line, last: piece.last() };
                let reading = ("nothing goes next to the markers".to_owned(), text.to_owned());
                return Err(Refused::with_readings(reason, before, vec![reading]));
            }
        }
        Ok(())
    }

    /// Each piece has a line of the file that is more than a bracket.
    fn expect_strong(&self, places: &[&Placement]) -> Result<(), Refused> {
        for ((piece, lines), place) in self.sketch.pieces.iter().zip(&self.pieces).zip(places) {
            let kept = place::kept(lines, self.lines, place);
            if !kept.iter().any(|it| lines.weights[it.0] >= lines::TELLING) {
                return Err(Reason::NoAnchor { first: piece.line, last: piece.last() }.into());
            }
        }
        Ok(())
    }

    /// Few lines above or below all pieces may have been meant to go, if nothing stands for them.
    fn expect_whole_ends(&self, places: &[&Placement], text: &str, before: &str) -> Result<(), Refused> {
        let (Some(first), Some(last)) = (places.first(), places.last()) else { return Ok(()) };
        let above = if self.sketch.starts_open { 0..0 } else { 0..first.start };
        let is_closed = !self.sketch.ends_open && self.addition.is_none();
        let below = if is_closed { last.end..self.file.lines().len() } else { 0..0 };
        for (end, outside) in [("start", above), ("end", below)] {
            let count = outside.len();
            if (1..=CLEARLY_OUTSIDE).contains(&count) {
                let gone = Replacement { range: outside, lines: Vec::new() };
                let mut all = self.emitted(places).map_err(|it| self.indentation(it))?;
                let at = if end == "start" { 0 } else { all.len() };
                all.insert(at, Emitted::exactly(gone));
                let readings = vec![
                    ("these lines stay".to_owned(), text.to_owned()),
                    ("these lines go".to_owned(), self.text(&all)),
                ];
                return Err(Refused::with_readings(Reason::OpenEnd { end, count }, before, readings));
            }
        }
        Ok(())
    }

    fn expect_little_removed(&self, places: &[&Placement], text: &str, before: &str) -> Result<(), Refused> {
        for (lines, place) in self.pieces.iter().zip(places) {
            let kept = place::kept(lines, self.lines, place);
            for pair in kept.windows(2) {
                let ((from, old), (to, new)) = (pair[0], pair[1]);
                let gone = self.file.lines()[old + 1..new].iter().filter(|it| !is_blank(it)).count();
                if gone >= MOST_REMOVED && (to - from - 1) * 2 < gone {
                    let reason = Reason::LargeDeletion { line: old + 2, count: gone };
                    let reading = (format!("{gone} lines are removed"), text.to_owned());
                    return Err(Refused::with_readings(reason, before, vec![reading]));
                }
            }
        }
        Ok(())
    }

    /// An edge that is no more than brackets says too little to remove lines next to it.
    fn expect_firm_edges(&self, places: &[&Placement], text: &str, before: &str) -> Result<(), Refused> {
        for ((piece, lines), place) in self.sketch.pieces.iter().zip(&self.pieces).zip(places) {
            let kept = place::kept(lines, self.lines, place);
            let said = |from: usize, upto: usize| {
                self.file.lines()[from..upto].iter().filter(|it| !is_blank(it)).count()
            };
            let is_telling = |(line, _): &(usize, usize)| lines.weights[*line] >= lines::TELLING;
            let is_gap = |it: &[(usize, usize)]| it[1].0 != it[0].0 + 1 || it[1].1 != it[0].1 + 1;
            let gone = |it: &[(usize, usize)]| said(it[0].1 + 1, it[1].1) >= MOST_AT_BRACKETS;
            let first = kept.windows(2).position(is_gap);
            let last = kept.windows(2).rposition(is_gap);
            let above =
                first.is_some_and(|it| gone(&kept[it..it + 2]) && !kept[..=it].iter().any(is_telling));
            let below =
                last.is_some_and(|it| gone(&kept[it..it + 2]) && !kept[it + 1..].iter().any(is_telling));
            if (above && !place.lead.is_certain()) || (below && !place.trail.is_certain()) {
                let reason = Reason::SeveralPlaces { first: piece.line, last: piece.last() };
                let reading = ("the pieces are put where most lines fit".to_owned(), text.to_owned());
                return Err(Refused::with_readings(reason, before, vec![reading]));
            }
        }
        Ok(())
    }

    fn expect_clear_ends_of_lines(
        &self,
        emitted: &[Emitted],
        text: &str,
        before: &str,
    ) -> Result<(), Refused> {
        let Some(at) = emitted.iter().position(|it| it.trimmed.is_some()) else { return Ok(()) };
        let mut all = emitted.to_vec();
        for it in &mut all {
            if let Some(lines) = it.trimmed.take() {
                it.replacement.lines = lines;
            }
        }
        let readings = vec![
            ("whitespace at the ends of unchanged lines stays".to_owned(), text.to_owned()),
            ("whitespace at the ends of lines goes".to_owned(), self.text(&all)),
        ];
        let piece = &self.sketch.pieces[at];
        let reason = Reason::TrailingWhitespace { first: piece.line, last: piece.last() };
        Err(Refused::with_readings(reason, before, readings))
    }

    fn breaks_syntax(&self, before: &str, after: &str) -> bool {
        !syntax_errors::new_errors(before, after, self.parser.language, self.parser.trees).is_empty()
    }
}

/// Lines next to an edge that is no more than brackets, from which on it counts as too little.
const MOST_AT_BRACKETS: usize = 3;

/// Lines at an end of a file and of a sketch that are compared to see if the sketch is of that end.
const NEAR: usize = 5;

/// Arrangements that are compared before a sketch counts as ambiguous.
const MOST_LOOKED_AT: usize = 40;

/// Readings that a refusal shows besides the best one.
const MOST_READINGS: usize = 3;
