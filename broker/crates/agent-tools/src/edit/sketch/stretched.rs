//! Pieces that reach too far: a line at an edge, added or changed, that also stands further away in the file.
//!
//! What lies between is removed then. It is doubtful if blocks are merged by that, and if the edge can as well be read as
//! new: it has one line that says where it is, and a line that goes is much like it or closes the piece as well.

use std::ops::Range;

use super::{
    super::{
        outcome::{Reason, Refused},
        text::{are_alike, indentation, is_blank, squeezed},
    },
    Work,
    brackets::Brackets,
    lines,
    place::{Placement, kept},
};

/// Near readings that are shown, and near places that are looked at.
const MOST_NEAR: usize = 2;
const MOST_LOOKED_AT: usize = 8;

/// Lines at an edge that say where it is, if more than one of them is telling or if they are more.
const MOST_WEAK: usize = 6;

/// Lines of the file that go, with the lines of the piece in their place.
struct Gap {
    piece: Range<usize>,
    file: Range<usize>,
}

/// A piece at its place.
struct Placed<'p> {
    lines: &'p [&'p str],
    place: &'p Placement,
    kept: Vec<(usize, usize)>,
}

impl Work<'_, '_> {
    pub(super) fn expect_not_stretched(
        &self,
        places: &[&Placement],
        text: &str,
        before: &str,
    ) -> Result<(), Refused> {
        let is_broken = self.is_balanced(before) && Brackets::of(text) != Brackets::NONE;
        for (at, place) in places.iter().enumerate() {
            let top = if at == 0 { self.ends.0 } else { 0 };
            let lines = &self.sketch.pieces[at].lines[top..];
            let placed = Placed { lines, place, kept: kept(&self.pieces[at], self.lines, place) };
            for gap in placed.gaps() {
                let near = self.near_places(at, &placed, &gap).into_iter().take(MOST_LOOKED_AT);
                let near = near.filter_map(|it| self.near_reading(at, places, it, before));
                let readings: Vec<_> = near.take(MOST_NEAR).collect();
                let merges =
                    self.merges_blocks(&placed, &gap) || (is_broken && self.unbalances(&placed, &gap));
                if merges || !readings.is_empty() {
                    return Err(self.stretched(at, &gap, readings, text, before));
                }
            }
        }
        Ok(())
    }

    fn stretched(
        &self,
        at: usize,
        gap: &Gap,
        mut readings: Vec<(String, String)>,
        text: &str,
        before: &str,
    ) -> Refused {
        let piece = &self.sketch.pieces[at];
        let count = self.file.lines()[gap.file.clone()].iter().filter(|it| !is_blank(it)).count();
        let reason = match readings.is_empty() {
            true => Reason::LargeDeletion { line: gap.file.start + 1, count },
            false => Reason::SeveralPlaces { first: piece.line, last: piece.last() },
        };
        readings.push((format!("{count} lines are removed"), text.to_owned()));
        Refused::with_readings(reason, before, readings)
    }

    /// Whether a line goes that stands less deep than those around, and none comes that does: it is the end of a block or
    /// the head of another.
    fn merges_blocks(&self, placed: &Placed<'_>, gap: &Gap) -> bool {
        let in_file = Around { lines: self.file.lines(), gap: &gap.file };
        let in_piece = Around { lines: placed.lines, gap: &gap.piece };
        in_file.leaves_block(self) && !in_piece.leaves_block(self)
    }

    /// Whether other brackets go than come, with less in their place.
    fn unbalances(&self, placed: &Placed<'_>, gap: &Gap) -> bool {
        let of = |lines: &[&str]| Brackets::of(&lines.join("\n"));
        gap.piece.len() < gap.file.len()
            && of(&self.file.lines()[gap.file.clone()]) != of(&placed.lines[gap.piece.clone()])
    }

    /// Whether a text is code with brackets that match.
    fn is_balanced(&self, text: &str) -> bool {
        self.parser.language.is_some() && Brackets::of(text) == Brackets::NONE
    }

    /// Places that end or start within the lines that go.
    fn near_places(&self, at: usize, placed: &Placed<'_>, gap: &Gap) -> Vec<Placement> {
        let (piece, count) = (&self.pieces[at], placed.lines.len().min(self.pieces[at].keys.len()));
        let is_weak = |lines: Range<usize>| {
            let telling = lines.clone().filter(|it| piece.weights[*it] >= lines::TELLING);
            lines.len() <= MOST_WEAK && telling.count() <= 1 && placed.is_unbroken(lines)
        };
        let mut found = Vec::new();
        if is_weak(gap.piece.end..count) {
            let ends = gap.file.clone().filter(|it| self.may_be(placed, gap, *it, gap.piece.end, count - 1));
            found.extend(ends.map(|it| Placement { end: it + 1, ..*placed.place }));
        }
        if is_weak(0..gap.piece.start) {
            let starts = gap.file.clone().filter(|it| self.may_be(placed, gap, *it, gap.piece.start - 1, 0));
            found.extend(starts.map(|it| Placement { start: it, ..*placed.place }));
        }
        found
    }

    /// Whether a line of the file that goes may be what the piece ends with: its edge, or the line next to the gap as it
    /// was before it was changed.
    fn may_be(&self, placed: &Placed<'_>, gap: &Gap, there: usize, inner: usize, edge: usize) -> bool {
        let old = self.file.lines()[there];
        let is_level = |line: usize| {
            let file = placed.in_file(line).map(|it| self.file.lines()[it]);
            file.is_some_and(|it| indentation(it) == indentation(old))
        };
        let is_edge = squeezed(old) == squeezed(placed.lines[edge]);
        let is_taken = || gap.piece.clone().any(|it| is_version(placed.lines[it], old));
        (is_edge && is_level(edge))
            || (inner == edge && is_level(inner) && is_version(placed.lines[inner], old) && !is_taken())
    }

    /// The text with a piece at a near place. An edge as in the file leaves brackets that match as they are.
    fn near_reading(
        &self,
        at: usize,
        places: &[&Placement],
        near: Placement,
        before: &str,
    ) -> Option<(String, String)> {
        let mut chosen = places.to_vec();
        chosen[at] = &near;
        let text = self.text(&self.emitted(&chosen).ok()?);
        let edge = |place: &Placement| [place.start, place.end - 1].map(|it| squeezed(self.file.lines()[it]));
        let is_broken = self.is_balanced(before) && Brackets::of(&text) != Brackets::NONE;
        let what = format!("the edit takes the place of lines {}-{}", near.start + 1, near.end);
        (!is_broken || edge(&near) != edge(places[at])).then_some((what, text))
    }
}

impl Placed<'_> {
    /// Where lines of the file go.
    fn gaps(&self) -> Vec<Gap> {
        let pairs = self.kept.windows(2).filter(|it| it[1].1 > it[0].1 + 1);
        pairs.map(|it| Gap { piece: it[0].0 + 1..it[1].0, file: it[0].1 + 1..it[1].1 }).collect()
    }

    /// Whether lines of the piece stand in the file one after the other.
    fn is_unbroken(&self, lines: Range<usize>) -> bool {
        let Some(first) = self.in_file(lines.start) else { return false };
        lines.clone().all(|it| self.in_file(it) == Some(first + it - lines.start))
    }

    fn in_file(&self, line: usize) -> Option<usize> {
        self.kept.binary_search_by_key(&line, |it| it.0).ok().map(|it| self.kept[it].1)
    }
}

/// Lines with the lines around them.
struct Around<'l> {
    lines: &'l [&'l str],
    gap: &'l Range<usize>,
}

impl Around<'_> {
    /// Whether one of the lines stands less deep than the line above and the one below them; or only as deep as the line
    /// above, which the one below is in the block of.
    fn leaves_block(&self, work: &Work<'_, '_>) -> bool {
        let kind = work.parser.kind;
        let level = |it: &usize| kind.level(self.lines[*it]);
        let above = (0..self.gap.start).rev().find_map(|it| level(&it));
        let below = (self.gap.end..self.lines.len()).find_map(|it| level(&it));
        let (Some(above), Some(below)) = (above, below) else { return false };
        let mut levels =
            self.gap.clone().filter(|it| !kind.is_aside(self.lines[*it])).filter_map(|it| level(&it));
        levels.any(|it| it < above.min(below) || (it == above && above < below))
    }
}

/// Whether a line may be another after a change of its value: it has the same key, or most of its words.
fn is_version(new: &str, old: &str) -> bool {
    let key = |line: &'_ str| -> Option<String> {
        let (key, _) = line.trim().split_once([':', '='])?;
        let key = key.trim();
        (key.chars().any(char::is_alphanumeric)).then(|| key.to_owned())
    };
    (key(new).is_some() && key(new) == key(old)) || are_alike(new, old)
}
